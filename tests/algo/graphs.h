/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs in memory, the stores made of them, and the configurations in which every algorithm
 * must give the same result.
 */
#ifndef GRAPHS_H
#define GRAPHS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run.h"
#include "unit/unit.h"

/* Fails the test unless the call fails with this code and an error text. name: the case. */
#define REFUSED(code, call, name)                                                           \
	do {                                                                                \
		mill_err refused_err_ = (call);                                             \
		if (refused_err_ != (code))                                                 \
			fail_msg("%s: %s gives %d, not %d", name, #call, (int)refused_err_, \
				 (int)(code));                                              \
		if (!*mill_error())                                                         \
			fail_msg("%s: %s sets no error text", name, #call);                 \
	} while (0)

/* ---- Graphs ---- */

struct arc {
	u32 from, to;
	f64 weight;	/* holds all values of every type */
};

/* The original id of vertex i is base + i x stride, for i in 0 .. n - 1. */
struct graph {
	const char *name;
	u32 n;
	bool undirected;
	bool out_only;
	enum mill_weight weight;
	u32 page_size;
	/*
	 * The codec of the graph's store. CODEC_IN_TURN: stores take turns, so that every
	 * test uses all. CODEC_PAGED: raw with page addresses; ids of narrow builds are too
	 * short for these.
	 */
	enum { CODEC_IN_TURN, CODEC_PACKED, CODEC_RAW, CODEC_PAGED } codec;
	u64 base, stride;
	u64 n_arcs, capacity;
	struct arc *arc;	/* as added; an undirected edge is here once, from <= to */
	/* The arcs as stored, by source: set by graph_index. */
	u64 n_stored;
	u64 *row;
	struct arc *stored;
};

/* The last codec that this build has. */
#define CODEC_LAST (MILL_VID_BITS == 32 ? CODEC_PAGED : CODEC_RAW)
extern const char *const codec_names[];

void graph_init(struct graph *g, const char *name, u32 n);
void graph_release(struct graph *g);
void graph_add(struct graph *g, u32 from, u32 to);
void graph_index(struct graph *g);
static inline u64 graph_id(const struct graph *g, u32 v) { return g->base + v * g->stride; }
/* Returns false if the graph is too large for the ids of a narrow build. */
bool graph_fits(const struct graph *g);

/* How weights are chosen. They are rounded to the graph's type. */
enum weighing {
	WEIGH_SMALL,	/* 1 .. 255; reals in (0, 1] */
	WEIGH_ZEROS,	/* 0 two times in three, else 1 or 2 */
	WEIGH_HUGE,	/* within 1000 of the type's largest; reals around 1e30 */
	WEIGH_MIXED,	/* integers of all sizes; reals from 2^-60 to 2^60: sums lose bits */
};
void graph_weigh(struct graph *g, enum mill_weight type, enum weighing how, u64 seed);
const char *weighing_name(enum weighing how);

/* Adds n_arcs arcs between random vertices, with self-loops and parallel arcs. */
void graph_random(struct graph *g, u32 n, u64 n_arcs, u64 seed);

/* A graph that all algorithms are tried on. */
struct shape {
	const char *name;
	void (*make)(struct graph *g);
	bool undirected;
	u64 base, stride;
	bool large;		/* naive answers take long */
};
extern const struct shape shapes[];
extern const size_t n_shapes;
/*
 * Makes the graph and its index. Returns false, and makes nothing, if a narrow build cannot
 * hold it.
 */
bool shape_make(struct graph *g, const struct shape *s);
/* The same, but returns false for a graph without vertices too. */
bool shape_make_some(struct graph *g, const struct shape *s);
const struct shape *shape_named(const char *name);

/* ---- Scratch and stores ---- */

/* Make and remove a temporary directory: setup and teardown of a suite. */
int scratch_make(void **state);
int scratch_remove(void **state);
/* Returns a path in that directory. It stays valid for the next seven calls. */
const char *scratch_path(const char *name);

/* Writes the graph to a new store in that directory and opens it. */
mill_store *graph_store(const struct graph *g);
/* Closes the store and removes it from disk. */
void graph_store_drop(mill_store *store);
/* Calls `each` with a store of every shape. Codecs and types of weights take turns. */
void shapes_each(void (*each)(mill_store *store, const char *name, const struct shape *s,
			      void *arg),
		 void *arg);

/* ---- Configurations ---- */

#define AMPLE UINT32_MAX

struct config {
	const char *name;
	u32 threads;
	u32 frames;		/* not 0: pages are streamed through this number of frames */
	bool device;		/* runs on OpenCL */
	u32 pages;		/* that fit in device memory; AMPLE: all */
	bool quick;		/* also used by tests with many graphs */
};
extern const struct config configs[];
extern const size_t n_configs;
/* Returns false if the configuration needs OpenCL and there is none. */
bool config_usable(const struct config *c);
const struct config *config_named(const char *name);
/* Returns false also under ThreadSanitizer, because it reports races of the driver. */
bool have_opencl(void);

/*
 * Opens a run. The configuration sets threads, device and memory in o. The algorithm and its
 * options are needed to compute the device memory.
 */
mill_run *run_open(mill_store *store, const struct config *c, struct mill_options o,
		   const char *algorithm, const void *how);
/* Streams pages through this number of frames, even if all would fit. 0: as usual. */
void run_force_frames(mill_run *run, u32 frames);
/* Makes reductions use bins (BINS_ALWAYS) or rows (BINS_NEVER). BINS_AUTO: as usual. */
void run_force_bins(mill_run *run, int bins);

#endif
