/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of a search: its parents, and its certificate. */
#ifndef ALGO_TREE_H
#define ALGO_TREE_H

#include "op/op.h"

/* Can an edge lead from a distance to the same one? */
bool tree_may_add_nothing(const struct mill_run *r, enum weight_kind kind);
/* Declares what settling the parents, if they are asked for, and checking the tree takes. */
void declare_tree(struct declaration *d, enum weight_kind kind);
/*
 * Ends a search whose distances are column 0: settles the parents of the vertices that have one, if they are asked for, as column "parent" of ranks: the
 * one with the smallest original id. The cost is kept apart from the run's.
 */
mill_err tree_settle(struct mill_run *r, enum weight_kind kind);
/* Certifies distances and, where there are any, parents: columns 0 and 1 of the result. */
mill_err tree_check(struct mill_run *r);

#endif
