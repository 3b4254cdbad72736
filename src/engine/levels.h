/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vertices that a search has reached, level by level, in host memory: for algorithms
 * that visit the levels again. One array holds the vertices in the order of their levels.
 * Bit i of `begins` says that order[i] is the first of its level, so there may be as many
 * levels as vertices.
 */
#ifndef ENGINE_LEVELS_H
#define ENGINE_LEVELS_H

#include "engine/declaration.h"

struct levels {
	struct mill_run *run;
	vid *order;
	u64 *begins;
	u64 n_reached, n_levels;
	u64 n_edges;				/* stored out-edges of the vertices reached */
	const u32 *degree;			/* out-degree of each vertex that has out-edges */
	struct vec *order_vec, *begins_vec, *degree_vec;	/* own the arrays */
};

void declare_levels(struct declaration *d, struct levels *l);
/* Removes all levels. */
void levels_clear(struct levels *l);
/* Adds the vertices of the frontier as the next level. The frontier is not empty. */
mill_err levels_keep(struct levels *l, struct frontier *f);
/*
 * Finds all levels of a finished search from the depths (u32; UINT32_MAX: not reached). For
 * searches with a frontier of units, which has no vertices to keep.
 */
mill_err levels_find(struct levels *l, const struct vec *depth);
/*
 * levels_end returns the end of the level that begins at order[i]. levels_begin returns the
 * beginning of the level that ends before order[i].
 */
u64 levels_end(const struct levels *l, u64 i);
u64 levels_begin(const struct levels *l, u64 i);

#endif
