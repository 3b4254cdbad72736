/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vertices that a search has reached, level by level, on the host: for algorithms that go through the levels again. One array holds them in
 * the order of their levels; bit i of `begins` says that order[i] is the first of its level, so levels may be as many as vertices.
 */
#ifndef ENGINE_LEVELS_H
#define ENGINE_LEVELS_H

#include "engine/declaration.h"

struct levels {
	struct mill_run *run;
	vid *order;
	u64 *begins;
	u64 n_reached, n_levels;
	u64 n_edges;				/* stored edges out of those reached */
	const u32 *degree;			/* of vertices with out-edges */
	struct vec *order_vec, *begins_vec, *degree_vec;	/* own the arrays */
};

void declare_levels(struct declaration *d, struct levels *l);
/* Forgets all levels. */
void levels_clear(struct levels *l);
/* The vertices of the frontier, which has some, are the next level. */
mill_err levels_keep(struct levels *l, struct frontier *f);
/* Finds all levels of a search that had a frontier of units, from its depths (u32; UINT32_MAX: not reached). */
mill_err levels_find(struct levels *l, const struct vec *depth);
/* The end of the level that begins at order[i]; the beginning of the one that ends there. */
u64 levels_end(const struct levels *l, u64 i);
u64 levels_begin(const struct levels *l, u64 i);

#endif
