/* SPDX-License-Identifier: Apache-2.0 */
/* The native forms of programs, one struct for each operator. Instances are made by the templates in op/, never by hand. */
#ifndef OP_PROGRAM_H
#define OP_PROGRAM_H

#include "engine/bins.h"
#include "engine/emit.h"
#include "transfer/program.h"

/* How weights, and distances that are sums of them, are kept: op/by_weight.inc. */
enum weight_kind {
	WEIGHT_UNIT,	/* every edge counts 1, u32 */
	WEIGHT_SHORT,	/* u32 weights, sums fit u32 */
	WEIGHT_LONG,	/* u32 weights, u64 */
	WEIGHT_F32,	/* f32 weights, f64 */
	WEIGHT_F64,
	WEIGHT_KINDS
};

/* ---- Native forms ---- */

/* The number of edge i of seg, of u's list there; with OWN_ only where u owns it, which OWNS says. */
#define NUMBER_AT(i) (seg->number ? seg->number[i] : (u32)seg->first_edge + (i))
#define OWN_NUMBER(u, i) ((u32)seg->first_edge + (i) + (seg->base ? seg->base[u] : 0))
#define OWNS(u, v) (!seg->base || (v) >= (u))

/* How far to ask for memory ahead of its use: some hundred nanoseconds of work. */
#define PULL_AHEAD 16u	/* rows */
#define PUSH_AHEAD 16u	/* edges; SSSP on kron 22 takes 0.65 of the time so */
#define GATHER_AHEAD 32u	/* edges */
/* An asynchronous advance stays with a page for so many times its edges. */
#define REENTRY 16u
#define LIST_AHEAD 8u	/* vertices of a list */
#define SCAN_BLOCK 4u	/* edges after which cond is asked again */
#define SCAN_AHEAD 16u	/* rows of which few edges are looked at */

/* advance: op/advance.inc, push.inc. Rows are counted within the segment. */
struct push_code {
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end, const u64 *front, struct emit *emit);
	void (*list)(const void *args, const struct segment *seg, const vid *list, u64 n, struct emit *emit);
	/* Goes on with those of the rows that became active in this step. */
	void (*again)(const void *args, const struct segment *seg, vid begin, vid end, struct emit *emit);
};

struct advance_program {
	struct program program;
	bool weighted;
	bool unique;		/* edge is true at most once per vertex and step */
	bool pull;		/* worth pulling: cond becomes false */
	bool cascade;		/* what becomes active may go on in the same step */
	struct push_code steps;
	struct push_code async;	/* of asynchronous runs; all NULL: the program needs its steps */
	void (*pull_rows)(const void *args, const struct segment *seg, vid begin, vid end, const u64 *front,
			  struct emit *emit);
	struct own_forms own;	/* for policies with kernels of their own */
	/* Does any vertex of the range still want something (cond)? */
	bool (*wanted)(const void *args, u64 begin, u64 end);
	/* Parts the vertices that wait in words [begin, end) of a bucket; keys below `settled` are dropped. NULL without keys. */
	void (*split)(const void *args, u64 begin, u64 end, u32 from, u64 settled, struct emit *emit);
};

/* reduce: op/reduce.inc. A list that spans segments leaves the sums of its blocks in `partial`. */
struct split_list {
	vid vertex;
	u64 first_slot;		/* in partial */
	u64 n_slots;
};

#define NO_SLOT UINT64_MAX	/* the row is whole */
#define APPLY_BLOCK 256u	/* sums that are made before they are applied */

struct reduce_program {
	struct program program;
	u32 sum_size;		/* of a partial sum */
	u32 given;		/* with GIVEN: the offset, in the arguments, of the vector that gather reads at u, */
	u32 given_size;		/* and the size of its elements; 0 without */
	bool real;		/* and sums are f64, not u64 */
	u32 spread_size;	/* with SPREAD: of what gather reads at u; 0 without */
	bool weighted;
	u32 n_counts;		/* COUNTS; `count` below: so many */
	/*
	 * Rows [begin, end), or of them those whose vertices are in `front` (NULL: all). head_slot, tail_slot: where the first
	 * and the last row's blocks go, or NO_SLOT. Returns the edges gathered.
	 */
	u64 (*rows)(const void *args, const struct segment *seg, vid begin, vid end, const u64 *front, void *partial,
		    u64 head_slot, u64 tail_slot, u64 *count);
	/* Applies what an empty list gives to vertices [begin, end), or those in `front`, which have no row. */
	void (*rest)(const void *args, u64 begin, u64 end, const u64 *front, u64 *count);
	/* The rows of n vertices, over all segments of a resident topology. */
	u64 (*list)(const void *args, const struct segment *seg, u32 n_segments, const vid *list, u64 n,
		    u64 *count);
	void (*finish)(const void *args, const void *partial, const struct split_list *list, u64 n,
		       const u64 *front, u64 *count);
	/* Sums of vertices [begin, end), or of those of them in `front`, that were made elsewhere. */
	void (*sums)(const void *args, u64 begin, u64 end, const void *sum, const u64 *front, u64 *count);
	/* NULL without SPREAD. sum: room for twice BIN_VERTICES. */
	void (*bin)(const void *args, const struct bin *bin, void *sum, u64 *count);
};

/* scan: op/scan.inc. Of every list the edges at positions [from, to). */
struct scan_window {
	u64 from, to;
};

#define SCAN_FEW 4u	/* a window at the beginning, so narrow that each list is a memory access of its own */

struct compute_program;

struct scan_program {
	struct program program;
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end,
		     const struct scan_window *window, struct tally *tally);
	/* Are the edges of any row of the range wanted (cond)? */
	bool (*wanted)(const void *args, u64 begin, u64 end);
};

/* What op/by_precision.inc makes of a program for one precision; compute in the order of COMPUTE_1 and so on. */
struct by_precision {
	const struct reduce_program *reduce;
	const struct scan_program *scan;
	const struct compute_program *compute[3];
};

/* filter: op/filter.inc. Of vertices: words. Of edges: the others; bits are by edge number. */
struct filter_program {
	struct program program;
	/* Clears the bits of vertices in words [begin, end) that do not stay. */
	void (*words)(const void *args, u64 begin, u64 end, u64 *bits, struct tally *tally);
	/* Clears the bits of edges that do not stay. */
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end, u64 *bits, struct tally *tally);
	/* Sets those of the edges of active vertices that are to be active. */
	void (*expand)(const void *args, const struct segment *seg, vid begin, vid end, const u64 *front, u64 *bits,
		       struct tally *tally);
	/* Does edge i of the segment stay? */
	bool (*one)(const void *args, const struct segment *seg, vid u, u32 i);
};

/* intersect: op/intersect.inc. Rows of a segment of oriented lists against the lists in a block of segments. */
#define ITEM_PAIRS 8u	/* edges of a segment that a work-item looks at */

struct intersect_program {
	struct program program;
	bool numbers;		/* found gets edge numbers in place of weights */
	/* bits: one per vertex, all 0 before and after. */
	void (*rows)(const void *args, u32 lane, u64 *bits, const struct segment *seg, vid begin, vid end,
		     const struct segment *block, u32 n_block, struct tally *tally);
};

/* compute: op/compute.inc. Sums what the program returns, at vertices by blocks of their numbers, at edges by blocks of their places in the lists. */
#define COMPUTE_BLOCK 1024
#define EDGE_BLOCK 256

struct compute_program {
	struct program program;
	bool weighted;
	/* Over vertices [begin, end); of those the active ones (with FRONT; else NULL). */
	f64 (*vertices)(const void *args, u64 begin, u64 end);
	f64 (*active)(const void *args, u64 begin, u64 end, const u64 *bits);
	/* Goes on with a sum over the active edges of [begin, end), which lie in the segment. NULL: it computes at vertices. */
	f64 (*edges)(const void *args, const struct segment *seg, u64 begin, u64 end, const u64 *bits, f64 sum);
};

#endif
