/* SPDX-License-Identifier: Apache-2.0 */
/* What the certificate of betweenness knows of a run: the search from the last source, as it was left. */
#ifndef ALGO_BC_H
#define ALGO_BC_H

#include "op/op.h"

struct bc_settings {
	const struct vec *score;
	const struct vec *paths[2];	/* of even and odd levels; the dependency is where the other would have them */
	const struct vec *exponent;	/* NULL: of all paths it is 0 */
	const vid *order;		/* the vertices reached, by level ... */
	const u64 *begins;		/* ... of which bit i says that order[i] is the first of its level */
	u64 n_reached;
	u64 n_sources;
	f64 scale;			/* of the scores: halved, normalized */
	f64 hops;			/* over all sources and vertices reached: inner vertices of a path */
};

u64 bc_check_bytes(const struct store *st);
mill_err bc_check(struct mill_run *r);

#endif
