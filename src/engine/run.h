/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: one execution on one store. It owns all memory (algorithms own nothing), the budget, the
 * topology in the form that fits the budget, the devices, the ledger and the result.
 */
#ifndef ENGINE_RUN_H
#define ENGINE_RUN_H

#include "base/bitmap.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/trace.h"
#include "engine/bins.h"
#include "engine/emit.h"
#include "engine/ledger.h"
#include "model/machine.h"
#include "engine/topology.h"
#include "engine/view.h"
#include "policy/policy.h"
#include "transfer/transfer.h"
#include "store/store.h"
#include "stream/stream.h"

#define RUN_VECS 64
#define RUN_FACTS 16
#define RUN_COLUMNS 4
#define RUN_TOP 10

/* The least host bytes beyond the state: frames, buffers, the process itself. */
#define RUN_ROOM (64 * MIB)
/* The number of frames through which a resident topology is read. */
#define LOAD_FRAMES 8

/*
 * A column of the result. Isolated vertices (those without an edge) are numbered last and have no
 * state: vectors by vertex have store->n_linked elements (see result.c).
 */
struct result_column {
	struct mill_column column;
	struct vec *vec;
	f64 scale;		/* the output's factor for fixed point; 0: values are as stored */
	u64 isolated;		/* the value of isolated vertices, as 8 bytes, or OWN_RANK */
	u64 chosen;		/* the same for those in run_result.chosen */
};

/* The value of each isolated vertex is its own rank. */
#define OWN_RANK (UINT64_MAX - 1)

/* The result that an algorithm leaves. */
struct run_result {
	struct result_column column[RUN_COLUMNS];
	u32 n_columns;
	struct mill_fact fact[RUN_FACTS];
	u32 n_facts;
	struct mill_top top[RUN_TOP];
	u32 n_top;
	const struct vec *distribution;	/* struct mill_bin on the host; NULL: none */
	mill_err (*check)(struct mill_run *r);	/* set last; NULL: there is no result */
	const u64 *chosen;		/* isolated vertices that the user named, ascending */
	u64 n_chosen;
	/* By rank among linked vertices: the rank among all. NULL: both ranks are the same. */
	const vid *rank_of;
	u64 hash;
};

/* Where a search begins (engine/sources.h). */
struct run_search {
	vid root;
	u32 kind;			/* enum weight_kind: the type of its distances */
	vid *source;			/* the sources of several searches, without isolated ones */
	u64 n_sources, n_isolated;	/* sources in `source`; isolated sources, which are not */
	vid isolated_source;		/* the last isolated source */
	u64 isolated_root;		/* the source of a search, if it has no edge */
};

/* Settings for tests, benchmarks and measurements. */
struct run_hook {
	u32 only_frames;		/* not 0: stream through this number of frames */
	/* Called with the active units of each superstep. */
	void (*see_step)(struct mill_run *r, const u32 *active, u32 n);
	enum { BINS_AUTO, BINS_NEVER, BINS_ALWAYS } only_bins;
};

struct mill_run {
	struct store *store;
	const struct budget *store_budget;
	struct mill_options options;
	char device_name[MILL_DEVICES_MOST * DEVICE_NAME];	/* the list that was asked for */
	char device_failed[512];	/* why the run fell back to the cpu; "": it did not */
	struct budget budget;
	struct pool *pool;
	struct device *device;		/* has the state and computes: opened[0] or `host` */
	struct device *opened[MILL_DEVICES_MOST];	/* none on the cpu; see engine/devices.h */
	u32 n_opened;
	struct mill_device_use *use;	/* of each open device, for the report */
	struct topology out, in;	/* `in` is unused if the store is undirected */
	struct topology view;		/* used instead of both if need.view asks for a view */
	struct store *view_store;	/* the pages of a view that is streamed, else NULL */
	const struct store *graph;	/* the store that is streamed: `store` or `view_store` */
	struct edge_numbers numbers;	/* of the graph's edges, if need.numbers asks for them */
	bool spills;			/* state by edge that is declared BESIDE is streamed */
	/* Bytes of state by edge that a pass has read. It has written as many. Atomic. */
	u64 edge_state_bytes;
	struct stream *stream;		/* of `graph`; NULL: the topology is resident as rows */
	struct bins *bins;		/* resident bins; `stream` serves passes that need rows */
	u64 frame_bytes, most_frames;	/* the limits with which the stream was opened */
	enum reader_way way;		/* of reading: as asked for, later as the system allows */
	const struct policy *policy;
	struct transfer transfer;	/* to devices; no stations while no graph is loaded */
	struct mill_report layout;	/* the policy's facts of its units, for the report */
	struct need need;		/* the need for which the run has loaded the graph */
	bool loaded;
	struct machine machine;		/* valid if machine_known */
	bool machine_known;
	struct mill_prediction predicted;	/* for the present or last algorithm */
	struct device *host;		/* the cpu device: run->device itself if that is native */

	/* The present algorithm, or the last one. */
	const char *algorithm;
	/*
	 * Lists the names of columns and facts that a result may have. NULL: any name is
	 * allowed.
	 */
	const struct mill_algorithm *row;
	void *self;			/* the algorithm's struct; its certificate reads it too */
	struct vec *vec[RUN_VECS];
	u32 n_vecs;
	struct emit *emit;		/* one for each worker */
	char progress[64];		/* the text for the watcher: "bfs step 3" */
	struct ticker ticker;
	struct ledger ledger;
	struct trace *trace;		/* NULL: no trace is written */
	f64 began;
	struct run_result result;
	struct run_search search;
	struct run_hook hook;
};

/*
 * Frees the last result, makes room and loads the topology. Fails with MILL_ENOMEM if a
 * budget is too small for the need.
 */
mill_err run_begin(struct mill_run *r, const struct need *need);
/* Opens a stream of any store, with the run's threads, way of reading and policy. */
mill_err run_open_stream(struct mill_run *r, struct stream **out, const struct store *st, u64 bytes,
			 u64 most);
/*
 * Closes the stream of the graph, so that an operator can use its memory to stream another
 * store.
 */
void run_pause_stream(struct mill_run *r);
/* Opens the stream of the graph again. */
mill_err run_resume_stream(struct mill_run *r);
/*
 * Start and stop the clock of the algorithm. Making the state counts; building kernels and
 * reading ids do not. run_end also computes the hash of the result.
 */
void run_start(struct mill_run *r);
mill_err run_end(struct mill_run *r);
/* Fills in the bytes that the need takes of this run's budgets. run_predict fills in the rest. */
void run_plan(const struct mill_run *r, const struct need *need, struct mill_plan *out);
/* Adds the predicted cost to a plan of run_plan. */
void run_predict(struct mill_run *r, const struct need *need, struct mill_plan *plan);
/* Returns the constants of this machine: those in the cache, or defaults. */
const struct machine *run_machine(struct mill_run *r);
/* Returns true if bins are allowed and the values are too many for a core's cache. */
bool run_may_have_bins(const struct mill_run *r, const struct need *n);
/* Returns true if the policy owns the run and the host has the state, or a master of it. */
static inline bool run_home_is_host(const struct mill_run *r)
{
	return r->need.own && r->policy->home != HOME_DEVICE;
}
/*
 * Changes from pages to the policy's units (own) or back. Does nothing if the policy has
 * the state on the host.
 */
mill_err run_turn(struct mill_run *r, bool own);
/* Returns the host bytes of a frontier's two vectors of flags by unit. */
u64 run_flags_bytes(const struct store *st);
/*
 * Returns true if the run has no device but the host. If it returns false, run->device may
 * still be the host: the policy may have the state there.
 */
static inline bool run_is_native(const struct mill_run *r) { return !r->n_opened; }
/* Returns the device that is measured for the cost model: the first one, or the host. */
static inline struct device *run_first_device(const struct mill_run *r)
{
	return r->n_opened ? r->opened[0] : r->host;
}
/* Returns the bytes that the stream of a run may take. */
u64 run_frame_bytes(const struct mill_run *r, const struct need *n);
/* Returns the largest number of frames that is of use: all pages of the graph. */
u64 run_most_frames(const struct mill_run *r, const struct store *graph);
/* Returns the frames of GTS's MMBuf: as many as the user asked for, else one for each page. */
u64 run_buffer_frames(const struct mill_run *r, const struct store *graph);

/* Makes a vector of n elements on the run's device, each set to `fill` (NULL: zero). */
mill_err run_vec(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size,
		 const void *fill);
/* Makes a vector in host memory, whatever the run's device is. All elements are zero. */
mill_err run_vec_host(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size);
void run_vec_free(struct mill_run *r, struct vec *v);
mill_err vec_set(struct vec *v, u64 i, const void *element);
mill_err vec_get(const struct vec *v, u64 i, void *element);
/*
 * Returns the vector's elements in host memory: the elements themselves on a native device,
 * else a copy. The caller calls vec_unmap, which frees a copy.
 */
mill_err vec_map(struct mill_run *r, const struct vec *v, void *out_pointer);
void vec_unmap(const struct vec *v, void *p);

/*
 * Adds a column to the result. none: the value that means "no value". isolated: the value
 * of vertices without an edge, as 8 bytes, or OWN_RANK.
 */
void run_column(struct mill_run *r, const char *name, enum mill_type type, struct vec *v, u64 none,
		u64 isolated);
/* Returns the number of vertices without an edge, which have no state. */
static inline u64 run_isolated(const struct mill_run *r)
{
	return r->store->vertices - r->store->n_linked;
}
void run_fact(struct mill_run *r, const char *name, u64 value);
void run_fact_real(struct mill_run *r, const char *name, f64 value);
mill_err run_fact_id(struct mill_run *r, const char *name, vid v);

/* Tells the watcher the name of the algorithm and what it does now: "bfs step 3". */
void run_announce(struct mill_run *r, const char *format, u64 number);

/*
 * Writes the out-degree (u32) of each vertex in the graph that the run reads: the store, or
 * a view.
 */
mill_err run_degrees(struct mill_run *r, struct vec *to);
/* Writes the out-degree (u32) of each vertex in the store, or 1 if it has no out-edge. */
mill_err run_divisors(struct mill_run *r, struct vec *to);

/*
 * Returns the topology of a direction. In and out are the same for an undirected store or a
 * view.
 */
struct topology *run_direction(struct mill_run *r, bool in);

#endif
