/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native forms of programs, one struct for each operator. The templates in op/ make the
 * instances; nothing else does.
 */
#ifndef OP_PROGRAM_H
#define OP_PROGRAM_H

#include "engine/bins.h"
#include "engine/emit.h"
#include "transfer/program.h"

/* The types of weights and of distances, which are sums of weights: op/by_weight.inc. */
enum weight_kind {
	WEIGHT_UNIT,	/* every edge has weight 1, distances are u32 */
	WEIGHT_SHORT,	/* u32 weights, and all distances fit u32 */
	WEIGHT_LONG,	/* u32 weights, u64 distances */
	WEIGHT_F32,	/* f32 weights, f64 distances */
	WEIGHT_F64,	/* f64 weights, f64 distances */
	WEIGHT_KINDS
};

/* ---- Native forms ---- */

/*
 * NUMBER_AT: the number of edge i of seg. OWN_NUMBER: the same for an edge of u's list that u owns.
 * OWNS: true if u owns the edge to v (transfer/number.h).
 */
#define NUMBER_AT(i) (seg->number ? seg->number[i] : (u32)seg->first_edge + (i))
#define OWN_NUMBER(u, i) ((u32)seg->first_edge + (i) + (seg->base ? seg->base[u] : 0))
#define OWNS(u, v) (!seg->base || (v) >= (u))

/* How far ahead of its use memory is prefetched: a few hundred nanoseconds of work. */
#define PULL_AHEAD 16u	/* rows */
#define PUSH_AHEAD 16u	/* edges; with it SSSP on kron 22 takes 0.65 of the time */
#define GATHER_AHEAD 32u	/* edges */
/* An asynchronous advance leaves a page when it has processed this multiple of the page's edges. */
#define REENTRY 16u
#define LIST_AHEAD 8u	/* vertices of a list */
#define SCAN_BLOCK 4u	/* edges after which cond is asked again */
#define SCAN_AHEAD 16u	/* rows, when few edges of each row are looked at */

/* advance: op/advance.inc, push.inc. begin and end are rows of the segment. */
struct push_code {
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end,
		     const u64 *front, struct emit *emit);
	void (*list)(const void *args, const struct segment *seg, const vid *list, u64 n,
		     struct emit *emit);
	/* Asynchronous only: processes the rows that became active in the meantime, repeatedly. */
	void (*again)(const void *args, const struct segment *seg, vid begin, vid end,
		      struct emit *emit);
};

struct advance_program {
	struct program program;
	bool weighted;
	bool unique;		/* edge is true at most once per vertex and step */
	bool pull;		/* pulling can pay, because cond becomes false */
	bool cascade;		/* a worker may process at once what it activates */
	struct push_code steps;
	struct push_code async;	/* for asynchronous runs; all NULL: the program needs steps */
	void (*pull_rows)(const void *args, const struct segment *seg, vid begin, vid end,
			  const u64 *front, struct emit *emit);
	struct own_forms own;	/* for policies with kernels of their own */
	/* Returns true if cond holds for any vertex of the range. */
	bool (*wanted)(const void *args, u64 begin, u64 end);
	/*
	 * Distributes the vertices that wait in words [begin, end) of bucket `from`; vertices with
	 * keys below `settled` are dropped. NULL without NEAR_FAR.
	 */
	void (*split)(const void *args, u64 begin, u64 end, u32 from, u64 settled,
		      struct emit *emit);
};

/*
 * reduce: op/reduce.inc. The sums of the blocks of a list that spans segments are stored in
 * `partial`. Here a slot is an element of it.
 */
struct split_list {
	vid vertex;
	u64 first_slot;		/* in partial */
	u64 n_slots;
};

#define NO_SLOT UINT64_MAX	/* the list lies whole in the segment: no slots */
#define APPLY_BLOCK 256u	/* number of vertices that are summed before apply is called */

struct reduce_program {
	struct program program;
	u32 sum_size;		/* bytes of a partial sum */
	/*
	 * With GIVEN: the offset, in the arguments, of the vector that gather reads at u; the bytes
	 * of its elements (0 without GIVEN); and whether sums are f64 (true) or u64.
	 */
	u32 given;
	u32 given_size;
	bool real;
	u32 spread_size;	/* with SPREAD: bytes that gather reads at u; 0 without */
	bool weighted;
	u32 n_counts;		/* COUNTS: the number of elements of `count` below */
	/*
	 * Reduces rows [begin, end), or only those that `front` contains (NULL: all). head_slot,
	 * tail_slot: the slots for the block sums of the segment's first and last row, or NO_SLOT.
	 * Returns the number of edges gathered.
	 */
	u64 (*rows)(const void *args, const struct segment *seg, vid begin, vid end,
		    const u64 *front, void *partial, u64 head_slot, u64 tail_slot, u64 *count);
	/*
	 * Applies the result of an empty list to vertices [begin, end), which have no row, or only
	 * to those that `front` contains.
	 */
	void (*rest)(const void *args, u64 begin, u64 end, const u64 *front, u64 *count);
	/* Reduces the rows of n vertices, over all segments of a resident topology. */
	u64 (*list)(const void *args, const struct segment *seg, u32 n_segments, const vid *list,
		    u64 n, u64 *count);
	/* Combines the slots of n lists that span segments, and applies the results. */
	void (*finish)(const void *args, const void *partial, const struct split_list *list, u64 n,
		       const u64 *front, u64 *count);
	/*
	 * Applies sums that were made elsewhere to vertices [begin, end), or only to those that
	 * `front` contains.
	 */
	void (*sums)(const void *args, u64 begin, u64 end, const void *sum, const u64 *front,
		     u64 *count);
	/* Reduces a bin (engine/bins.h). sum: 2 * BIN_VERTICES elements. NULL without SPREAD. */
	void (*bin)(const void *args, const struct bin *bin, void *sum, u64 *count);
};

/* scan: op/scan.inc. The edges at positions [from, to) of every list. */
struct scan_window {
	u64 from, to;
};

/*
 * A window that ends here or before is narrow: each list is a memory access of its own, so lists
 * are prefetched.
 */
#define SCAN_FEW 4u

struct compute_program;

struct scan_program {
	struct program program;
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end,
		     const struct scan_window *window, struct tally *tally);
	/* Returns true if cond holds for any row of the range. */
	bool (*wanted)(const void *args, u64 begin, u64 end);
};

/*
 * The operators that op/by_precision.inc makes of a program for one precision. compute: in the
 * order of COMPUTE_1, COMPUTE_2, COMPUTE_3.
 */
struct by_precision {
	const struct reduce_program *reduce;
	const struct scan_program *scan;
	const struct compute_program *compute[3];
};

/*
 * filter: op/filter.inc. A filter of vertices has `words`, a filter of edges has the other
 * functions. Bits of edges are by position in the lists of the direction.
 */
struct filter_program {
	struct program program;
	/* Clears the bits of the vertices in words [begin, end) that the program does not keep. */
	void (*words)(const void *args, u64 begin, u64 end, u64 *bits, struct tally *tally);
	/* Clears the bits of the edges that the program does not keep. */
	void (*rows)(const void *args, const struct segment *seg, vid begin, vid end, u64 *bits,
		     struct tally *tally);
	/* Sets the bits of the edges of active vertices that the program keeps. */
	void (*expand)(const void *args, const struct segment *seg, vid begin, vid end,
		       const u64 *front, u64 *bits, struct tally *tally);
	/* Returns true if the program keeps edge i of the segment, an edge of u's list. */
	bool (*one)(const void *args, const struct segment *seg, vid u, u32 i);
};

/*
 * intersect: op/intersect.inc. Intersects rows of a segment of oriented lists with the lists in a
 * block of segments.
 */
#define ITEM_PAIRS 8u	/* edges of a segment that a work-item looks at */

struct intersect_program {
	struct program program;
	bool numbers;		/* found gets edge numbers in place of weights */
	/* copy: the worker's copy of counters. bits: one per vertex, all 0 before and after. */
	void (*rows)(const void *args, u32 copy, u64 *bits, const struct segment *seg, vid begin,
		     vid end, const struct segment *block, u32 n_block, struct tally *tally);
};

/* compute: op/compute.inc. Sums what the program returns, in blocks. */
#define COMPUTE_BLOCK 1024	/* vertices */
#define EDGE_BLOCK 256		/* positions in the lists of the direction */

struct compute_program {
	struct program program;
	bool weighted;
	/* Returns the sum over vertices [begin, end). */
	f64 (*vertices)(const void *args, u64 begin, u64 end);
	/* Returns the sum over the active vertices of [begin, end). NULL without FRONT. */
	f64 (*active)(const void *args, u64 begin, u64 end, const u64 *bits);
	/*
	 * Adds the values of the active edges of [begin, end), which lie in the segment, to `sum`
	 * in order, and returns it. NULL: the program computes at vertices.
	 */
	f64 (*edges)(const void *args, const struct segment *seg, u64 begin, u64 end,
		     const u64 *bits, f64 sum);
};

#endif
