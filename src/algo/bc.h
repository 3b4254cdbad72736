/* SPDX-License-Identifier: Apache-2.0 */
/* Betweenness as its certificate knows it: the search from the last source, as it was left, is there too. */
#ifndef ALGO_BC_H
#define ALGO_BC_H

#include "engine/levels.h"
#include "op/op.h"

/* One source after the other uses the same vectors. */
struct bc_run {
	struct frontier *front;
	struct levels levels;
	struct vec *depth;		/* then the levels hold them, and this the exponents of wide numbers */
	struct vec *paths[2];		/* of even and odd levels; the dependency is where the other would have them */
	struct vec *share[2];
	struct vec *score;
	struct reducer *in, *out;
	struct reducer *wide_in, *wide_out;	/* once a source has too many paths; else NULL, and all exponents are 0 */
	bool all, normalized;		/* sources; scores */
	u64 n_sources;			/* isolated ones among them */
	f64 scale;			/* of the scores: halved, normalized */
	struct bc_loop {		/* over all sources so far */
		u64 source;		/* so many are done */
		u64 reached, edges, deepest;
		f64 hops;		/* inner vertices of a path, over all vertices reached */
	} loop;
};

u64 bc_check_bytes(const struct store *st);
mill_err bc_check(struct mill_run *r);

#endif
