/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a search: its distances' types, its parents. */
#ifndef ALGO_TREE_H
#define ALGO_TREE_H

#include "op/op.h"

/* How weights and distances of a search are kept. */
enum tree_kind {
	TREE_UNIT,	/* every edge counts 1, u32 */
	TREE_SHORT,	/* u32 weights, distances fit u32 */
	TREE_LONG,	/* u32 weights, u64 */
	TREE_F32,	/* f32 weights, f64 */
	TREE_F64,
	TREE_KINDS
};

/* Can an edge lead from a distance to the same one? */
bool tree_may_add_nothing(const struct mill_run *r, enum tree_kind kind);
/* Adds what settling the parents (and checking the tree) takes. */
void tree_need(const struct mill_run *r, enum tree_kind kind, struct need *n);
/*
 * Settles the parents of the vertices that have a distance, as column "parent" of ranks: the one with the smallest
 * original id. The cost is kept apart from the run's.
 */
mill_err tree_settle(struct mill_run *r, enum tree_kind kind, struct vec *distance, vid root);
/* Certifies distances and, where there are any, parents: columns 0 and 1 of the result. */
mill_err tree_check(struct mill_run *r, enum tree_kind kind, vid root);

#endif
