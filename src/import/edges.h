/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of a graph as sorted keys: row << bits | column, both vertex numbers. An
 * undirected edge has its lower end as the row; edges_mirror makes the other direction.
 */
#ifndef IMPORT_EDGES_H
#define IMPORT_EDGES_H

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

/* Set in the key of an undirected edge that was read as (high, low); edges_reduce clears it. */
#define EDGE_REVERSED ((u64)1 << 63)

struct edges {
	u64 *key;
	u64 *weight;	/* bits of the weight type, in the low part; NULL: no weights */
	u64 n;
	unsigned bits;	/* bits of a vertex number */
	bool undirected;
	enum mill_weight type;
	/* borrowed */
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
};

/* What edges_reduce found. A listing is one occurrence of an edge in the input. */
struct edges_found {
	u64 loops;		/* self-loops that remain */
	u64 duplicates;		/* repeated listings in the same direction */
	u64 merged;		/* undirected: listings of both directions that became one edge */
	bool symmetric;		/* every arc had its reverse */
	/*
	 * `symmetric` follows from these, after they have been added up over all pieces.
	 * Directed: sums of hashes over the distinct arcs and over their reverses.
	 * Undirected: some edge was listed in one direction only.
	 */
	u64 forward, backward;
	bool one_way;
	mill_err err;		/* not MILL_OK: an edge violates the rule */
	u64 key;		/* key of that edge: the lowest one */
};

/* Convert weights to f64 and back. Exact for every type, except that f32 rounds. */
f64 weight_value(enum mill_weight type, u64 bits);
u64 weight_bits(enum mill_weight type, f64 value);

static inline u64 edge_mask(const struct edges *e) { return ((u64)1 << e->bits) - 1; }

/* Allocates room for e->n edges. The caller must call edges_release even if this fails. */
mill_err edges_alloc(struct edges *e);
void edges_release(struct edges *e);

/* Sort by row and column, or by the column only. Both are stable. */
mill_err edges_sort(struct edges *e);
mill_err edges_sort_by_column(struct edges *e);

/*
 * Merges parallel edges into one by the rule. Without a rule (NONE) an undirected {u, v}
 * keeps as many edges as it has listings in its more frequent direction. Clears EDGE_REVERSED.
 * The edges are sorted before and after.
 */
mill_err edges_reduce(struct edges *e, enum mill_dedup rule, struct edges_found *found);

/* Does what edges_reduce does, on the calling thread. */
void edges_reduce_alone(struct edges *e, enum mill_dedup rule, struct edges_found *found);
/*
 * Adds what was found in a piece, except for `symmetric`: the caller computes it from the sums.
 * Of two errors the one with the lower key stays.
 */
void edges_found_add(struct edges_found *sum, const struct edges_found *f);

/* The state of a group of equal keys that comes in several pieces. */
struct edges_group {
	u64 count[2];		/* listings in each direction */
	u64 made;		/* edges made so far */
	u64 best;		/* bits of the first, lowest or highest weight */
	__int128 whole;		/* sum of integer weights */
	f64 real;		/* sum of floating-point weights */
};

/*
 * Does what edges_reduce does, if e is one piece of a single group of equal keys. The pieces come
 * in order; g is zero before the first. With a rule, only the last piece leaves an edge. Each piece
 * reports the loops among its own edges; the last piece reports all else.
 */
void edges_reduce_partial(struct edges *e, enum mill_dedup rule, struct edges_group *g, bool last,
			  struct edges_found *found);

/* Makes the other direction of an undirected graph: all edges except loops, sorted by column. */
mill_err edges_mirror(struct edges *out, const struct edges *e, u64 n_loops);

#endif
