/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a graph as sorted keys: row << bits | column, both vertex numbers. An
 * undirected edge has its lower end as the row until edges_mirror gives the other
 * direction.
 */
#ifndef IMPORT_EDGES_H
#define IMPORT_EDGES_H

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

/* In the key of an undirected edge, until it is reduced: it was read as (high, low). */
#define EDGE_REVERSED ((u64)1 << 63)

struct edges {
	u64 *key;
	u64 *weight;	/* bits of the type in the low part; NULL without weights */
	u64 n;
	unsigned bits;	/* of a vertex number */
	bool undirected;
	enum mill_weight type;
	/* borrowed */
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
};

/* What edges_reduce found. */
struct edges_found {
	u64 loops;		/* that stay */
	u64 duplicates;		/* further listings in the same direction */
	u64 merged;		/* undirected: listings of both directions made one */
	bool symmetric;		/* every arc had its reverse */
	/* Of which it comes, to be added over pieces: sums over distinct arcs; an edge read one way only. */
	u64 forward, backward;
	bool one_way;
	mill_err err;		/* the rule cannot be kept ... */
	u64 key;		/* ... at this edge: the lowest */
};

/* Exact for every type (f32 rounds). */
f64 weight_value(enum mill_weight type, u64 bits);
u64 weight_bits(enum mill_weight type, f64 value);

static inline u64 edge_mask(const struct edges *e) { return ((u64)1 << e->bits) - 1; }

/* Room for e->n of them; on failure edges_release is still due. */
mill_err edges_alloc(struct edges *e);
void edges_release(struct edges *e);

/* Sorts by row and column, or by the column only; stable. */
mill_err edges_sort(struct edges *e);
mill_err edges_sort_by_column(struct edges *e);

/*
 * Makes parallel edges one by the rule. Without one (NONE) an undirected {u, v} keeps the
 * larger of its counts in the two directions. Clears EDGE_REVERSED. The edges are sorted
 * before and after.
 */
mill_err edges_reduce(struct edges *e, enum mill_dedup rule, struct edges_found *found);

/* The same on the calling thread. */
void edges_reduce_alone(struct edges *e, enum mill_dedup rule, struct edges_found *found);
/* Adds what a piece told; symmetric is told by the sum. Of failures the one at the lowest key stays. */
void edges_found_add(struct edges_found *sum, const struct edges_found *f);

/* A group of equal keys that comes in parts. */
struct edges_group {
	u64 count[2];		/* listings in each direction */
	u64 made;		/* edges */
	u64 best;		/* weight */
	__int128 whole;
	f64 real;
};

/*
 * The same if e is a part of one group, whose parts come in order; g is zero before the first. A rule leaves
 * an edge of the last part only. What was found is said with the last.
 */
void edges_reduce_partial(struct edges *e, enum mill_dedup rule, struct edges_group *g, bool last,
		       struct edges_found *found);

/* The other directions of an undirected graph: all edges but the loops, sorted by column. */
mill_err edges_mirror(struct edges *out, const struct edges *e, u64 n_loops);

#endif
