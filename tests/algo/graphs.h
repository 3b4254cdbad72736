/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs in memory, the stores made of them, and the configurations in which algorithms must agree. */
#ifndef GRAPHS_H
#define GRAPHS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run.h"
#include "unit/unit.h"

#define OK(call)                                                                   \
	do {                                                                       \
		mill_err ok_err_ = (call);                                         \
		if (ok_err_)                                                       \
			fail_msg("%s: %d, %s", #call, (int)ok_err_, mill_error()); \
	} while (0)

/* The call must fail with this code; `name` says in which case. */
#define REFUSED(code, call, name)                                                           \
	do {                                                                                \
		mill_err refused_err_ = (call);                                             \
		if (refused_err_ != (code))                                                 \
			fail_msg("%s: %s gives %d, not %d", name, #call, (int)refused_err_, \
				 (int)(code));                                              \
		if (!*mill_error())                                                         \
			fail_msg("%s: %s fails without a word", name, #call);               \
	} while (0)

/* ---- Graphs ---- */

struct arc {
	u32 from, to;
	f64 weight;	/* every type's values fit */
};

/* Vertices are 0 .. n - 1 in ascending order of their original ids, base + i x stride. */
struct graph {
	const char *name;
	u32 n;
	bool undirected;
	bool out_only;
	enum mill_weight weight;
	u32 page_size;
	/* Of its store; paged: raw, with page addresses, of which narrow builds have too few. In turn: every test meets all. */
	enum { CODEC_IN_TURN, CODEC_PACKED, CODEC_RAW, CODEC_PAGED } codec;
	u64 base, stride;
	u64 n_arcs, capacity;
	struct arc *arc;	/* as given: undirected ones once, from <= to */
	/* Made on demand: the arcs as stored, by source. */
	u64 n_stored;
	u64 *row;
	struct arc *stored;
};

#define CODEC_LAST (MILL_VID_BITS == 32 ? CODEC_PAGED : CODEC_RAW)
extern const char *const codec_names[];

void graph_init(struct graph *g, const char *name, u32 n);
void graph_release(struct graph *g);
void graph_add(struct graph *g, u32 from, u32 to);
void graph_index(struct graph *g);
static inline u64 graph_id(const struct graph *g, u32 v) { return g->base + v * g->stride; }
/* Narrow test builds cannot hold every graph. */
bool graph_fits(const struct graph *g);

/* How weights are chosen; rounded to the graph's type. */
enum weighing {
	WEIGH_SMALL,	/* 1 .. 255; reals in (0, 1] */
	WEIGH_ZEROS,	/* 0 two times in three, else 1 or 2 */
	WEIGH_HUGE,	/* within 1000 of the type's largest; reals around 1e30 */
	WEIGH_MIXED,	/* reals of which many vanish beside others; integers of all sizes */
};
void graph_weigh(struct graph *g, enum mill_weight type, enum weighing how, u64 seed);
const char *weighing_name(enum weighing how);

/* n_arcs arcs between random vertices, loops and parallels included. */
void graph_random(struct graph *g, u32 n, u64 n_arcs, u64 seed);

/* The odd and the ordinary graphs that every algorithm is tried on. */
struct shape {
	const char *name;
	void (*make)(struct graph *g);
	bool undirected;
	u64 base, stride;
	bool large;		/* takes more than a moment */
};
extern const struct shape shapes[];
extern const size_t n_shapes;
/* False if this build cannot hold it. */
bool shape_make(struct graph *g, const struct shape *s);
/* The same; a graph without vertices is left out too. */
bool shape_make_some(struct graph *g, const struct shape *s);
const struct shape *shape_named(const char *name);

/* ---- Scratch and stores ---- */

/* For cmocka's groups. */
int scratch_make(void **state);
int scratch_remove(void **state);
/* Good until the eighth call after. */
const char *scratch_path(const char *name);

mill_store *graph_store(const struct graph *g);
/* Removes it from disk too. */
void graph_store_drop(mill_store *store);
/* Every shape as a store, with codecs and weights in turn. */
void shapes_each(void (*each)(mill_store *store, const char *name, const struct shape *s, void *arg), void *arg);

/* ---- Configurations ---- */

#define AMPLE UINT32_MAX

struct config {
	const char *name;
	u32 threads;
	u32 frames;		/* not 0: streamed through so many */
	bool device;		/* OpenCL ... */
	u32 pages;		/* ... with room for so many pages; AMPLE: for all */
	bool quick;		/* one of the few for the long lists of graphs */
};
extern const struct config configs[];
extern const size_t n_configs;
/* No OpenCL, or ThreadSanitizer, which would report the driver. */
bool config_usable(const struct config *c);
const struct config *config_named(const char *name);
bool have_opencl(void);

/* o is completed by the configuration. The algorithm is named because its state decides the device's memory. */
mill_run *run_open(mill_store *store, const struct config *c, struct mill_options o, const char *algorithm,
		   const void *how);
/* Streams through so many frames, whatever would fit; 0: as usual. */
void run_force_frames(mill_run *run, u32 frames);
/* BINS_ALWAYS or BINS_NEVER: reductions by bins, or by rows, whatever seems faster; BINS_AUTO: as usual. */
void run_force_bins(mill_run *run, int bins);

#endif
