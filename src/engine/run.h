/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run: one execution on one store. It owns all memory (algorithms own nothing), its budget, the
 * topology in whichever form fits, the device, the ledger and the result.
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

/* What the smallest budget has beyond the state: the page pool, buffers, the program itself. */
#define RUN_ROOM (64 * MIB)
/* Frames while a resident topology is read. */
#define LOAD_FRAMES 8

/*
 * Vertices without an edge are the last ones and have no state: no vector is longer than store->n_linked. The result gives them
 * the value that they must have.
 */
struct result_column {
	struct mill_column column;
	struct vec *vec;
	f64 scale;		/* pagerank's fixed point: multiplied on the way out; 0: as it is */
	u64 isolated;		/* of isolated vertices, as 8 bytes, or OWN_RANK ... */
	u64 chosen;		/* ... and of those of them that the user named, run->result.chosen: 0 unless it is set */
};

#define OWN_RANK (UINT64_MAX - 1)

/* What the algorithm leaves. */
struct run_result {
	struct result_column column[RUN_COLUMNS];
	u32 n_columns;
	struct mill_fact fact[RUN_FACTS];
	u32 n_facts;
	struct mill_top top[RUN_TOP];
	u32 n_top;
	const struct vec *distribution;	/* struct mill_bin on the host; NULL: none */
	mill_err (*check)(struct mill_run *r);	/* set last: without it there is no result to give out */
	const u64 *chosen;		/* isolated vertices that the user named, ascending */
	u64 n_chosen;
	const vid *rank_of;		/* of a column of ids: see result_ranks. NULL: none of them is isolated */
	u64 hash;
};

/* Where a search begins; see engine/sources.h. */
struct run_search {
	vid root;
	u32 kind;			/* how its distances are kept */
	vid *source;			/* of one from several, without isolated ones */
	u64 n_sources, n_isolated;	/* in it; left out of it */
	vid isolated_source;		/* the last of the latter */
	u64 alone;			/* the source of a search, if it has no edge */
};

/* What tests and benchmarks ask for. */
struct run_hook {
	u32 only_frames;		/* not 0: streams through so many frames, whatever would fit */
	void (*see_step)(struct mill_run *r, const u32 *active, u32 n);	/* is shown the active units of a superstep */
	enum { BINS_AUTO, BINS_NEVER, BINS_ALWAYS } only_bins;
};

struct mill_run {
	struct store *store;
	const struct budget *store_budget;
	struct mill_options options;
	char device_name[MILL_DEVICES_MOST * DEVICE_NAME];	/* a list, as it was asked for */
	char device_failed[512];	/* why it is the cpu and not what was asked for; "": it is that */
	struct budget budget;
	struct pool *pool;
	struct device *device;		/* where operators compute and the state is: the first that was opened, or the host */
	struct device *opened[MILL_DEVICES_MOST];	/* none on the cpu; see engine/devices.h */
	u32 n_opened;
	struct mill_device_use *use;	/* of each, for the report */
	struct topology out, in;	/* in is unused where the store has in == out */
	struct topology view;		/* instead of both, where need.view asks for it */
	struct store *view_store;	/* its pages, where it is not resident */
	const struct store *graph;	/* whose pages are streamed: the store, or view_store */
	struct edge_numbers numbers;	/* of its edges, where need.numbers asks for them */
	bool spills;			/* state by edge that may be streamed is */
	u64 slice_bytes;		/* of it that a pass has read, and written as many; atomic */
	struct stream *stream;		/* of graph; NULL while the topology is resident on the host, as rows */
	struct bins *bins;		/* or as bins; then it is also streamed, for whoever wants rows */
	u64 frame_bytes, most_frames;	/* with which it was opened */
	enum reader_way way;		/* how pages are read: as asked for, then as the system allows */
	const struct policy *policy;
	struct transfer transfer;	/* to devices; without stations while nothing is there */
	struct mill_report layout;	/* what the policy says of its units, for the report */
	struct need need;		/* what was made room for */
	bool loaded;
	struct machine machine;		/* once it is known */
	bool machine_known;
	struct mill_prediction predicted;	/* of the algorithm under way, or the last one */
	struct device *host;		/* the cpu device: run->device itself where that is native */

	/* The algorithm under way, or the last one. */
	const char *algorithm;
	const struct mill_algorithm *row;	/* names all that its result has; NULL: it has none, and need not */
	void *self;			/* what it knows of itself: its certificate may read that */
	struct vec *vec[RUN_VECS];
	u32 n_vecs;
	struct emit *emit;		/* one per worker */
	char told[64];			/* what the watcher is told */
	struct ticker ticker;
	struct ledger ledger;
	struct trace *trace;		/* NULL: nobody asked for it */
	f64 began;
	struct run_result result;
	struct run_search search;
	struct run_hook hook;
};

/* Frees the last result, makes room and loads the topology; refuses a budget that is too small. */
mill_err run_begin(struct mill_run *r, const struct need *need);
/* A stream of any store with the run's threads, way of reading and policy. */
mill_err run_open_stream(struct mill_run *r, struct stream **out, const struct store *st, u64 bytes, u64 most);
/* Gives the frames of a streamed graph back, for an operator that streams another; and takes them again. */
void run_pause_stream(struct mill_run *r);
mill_err run_resume_stream(struct mill_run *r);
/* Starts and stops the clock of the algorithm itself: making its state is part of it, building kernels and reading ids are not. */
void run_start(struct mill_run *r);
mill_err run_end(struct mill_run *r);
/* Fills in what the need means for this run's budgets, but for what is predicted. */
void run_plan(const struct mill_run *r, const struct need *need, struct mill_plan *out);
/* Adds that: plan is of run_plan. */
void run_predict(struct mill_run *r, const struct need *need, struct mill_plan *plan);
const struct machine *run_machine(struct mill_run *r);
bool run_may_have_bins(const struct mill_run *r, const struct need *n);
/* Does the policy own the run, with the state on the host? */
static inline bool run_home_is_host(const struct mill_run *r) { return r->need.own && r->policy->home == HOME_HOST; }
/* Changes between the policy's units and pages, where the policy has the state on the device. */
mill_err run_turn(struct mill_run *r, bool own);
/* Host bytes of flags for units of the store, in two vectors. */
u64 run_flags_bytes(const struct store *st);
/* Was no device asked for? With one the run's may be the host's all the same, if the need says so. */
static inline bool run_is_native(const struct mill_run *r) { return !r->n_opened; }
/* The first of its devices, whichever has the state: that whose constants are measured. */
static inline struct device *run_first_device(const struct mill_run *r) { return r->n_opened ? r->opened[0] : r->host; }
/* What the stream of a run may take, and the most frames that are of use. */
u64 run_frame_bytes(const struct mill_run *r, const struct need *n);
u64 run_most_frames(const struct mill_run *r, const struct store *graph);
/* GTS's MMBuf: what was asked for, else all that --memory leaves. */
u64 run_buffer_frames(const struct mill_run *r, const struct store *graph);

/* A vector of n elements on the run's device, each set to `fill` (NULL: zero). */
mill_err run_vec(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size,
		 const void *fill);
/* The same in host memory, whatever the device. */
mill_err run_vec_host(struct mill_run *r, struct vec **out, const char *name, u64 n, size_t size);
void run_vec_free(struct mill_run *r, struct vec *v);
mill_err vec_set(struct vec *v, u64 i, const void *element);
mill_err vec_get(const struct vec *v, u64 i, void *element);
/* The vector's elements in host memory: itself on a native device, else a copy to be freed with vec_unmap. */
mill_err vec_map(struct mill_run *r, const struct vec *v, void *out_pointer);
void vec_unmap(const struct vec *v, void *p);

void run_column(struct mill_run *r, const char *name, enum mill_type type, struct vec *v, u64 none, u64 isolated);
/* Vertices that have no edge, and so no state. */
static inline u64 run_isolated(const struct mill_run *r) { return r->store->vertices - r->store->n_linked; }
void run_fact(struct mill_run *r, const char *name, u64 value);
void run_fact_real(struct mill_run *r, const char *name, f64 value);
mill_err run_fact_id(struct mill_run *r, const char *name, vid v);

/* What the watcher is told is going on: "bfs step 3". */
void run_announce(struct mill_run *r, const char *format, u64 number);

/* The number of out-neighbours of each vertex (u32) in the graph that the run reads: a view has its own. */
mill_err run_degrees(struct mill_run *r, struct vec *to);
/* The out-degree (u32) of each vertex in the store, or 1 if it has none. */
mill_err run_divisors(struct mill_run *r, struct vec *to);

/* The direction's topology: in is out for an undirected store, and for a view. */
struct topology *run_direction(struct mill_run *r, bool in);

#endif
