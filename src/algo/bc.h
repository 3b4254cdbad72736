/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness: the struct of a run, which the certificate reads too. It still holds the
 * search from the last source.
 *
 * A source takes two reductions per level, without atomics. Path counts and shares are 0
 * until they are made, and even and odd levels have arrays of their own, so `gather` need
 * not test the level of a neighbour (bc.op.h). If a double cannot count the paths (as on a
 * grid), the run goes on with numbers that have exponents of their own (bc_wide.op.h).
 */
#ifndef ALGO_BC_H
#define ALGO_BC_H

#include "engine/levels.h"
#include "op/op.h"

/* All sources use the same vectors, one after another. */
struct bc_run {
	struct frontier *front;
	struct levels levels;
	/*
	 * Depths during the search. After it `levels` has them, and this holds exponents of
	 * wide numbers.
	 */
	struct vec *depth;
	/*
	 * Paths of vertices on even levels [0] and on odd levels [1]. Later the place of a
	 * vertex in the other array holds its dependency.
	 */
	struct vec *paths[2];
	struct vec *share[2];		/* shares of vertices on even and odd levels */
	struct vec *score;
	struct reducer *in, *out;
	/* Made when a source has too many paths for doubles. NULL: all exponents are 0. */
	struct reducer *wide_in, *wide_out;
	bool all, normalized;		/* all vertices are sources; scores are normalized */
	u64 n_sources;			/* isolated sources included */
	f64 scale;			/* factor of the scores: halved, normalized */
	struct bc_loop {		/* sums over all sources so far */
		u64 source;		/* number of sources done */
		u64 reached, edges, deepest;
		/* Number of inner vertices of shortest paths, one path for each end. */
		f64 hops;
	} loop;
};

u64 bc_check_bytes(const struct store *st);
mill_err bc_check(struct mill_run *r);

#endif
