/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of a search: its parents, and its certificate.
 *
 * A search keeps no parents: any vertex one level nearer is a valid one. If parents are
 * asked for, tree.op.h finds the one with the smallest id afterwards, for bfs and sssp
 * alike, and reports the time apart (`seconds.parents`). Where an edge adds nothing to a
 * distance, parents are settled in rounds, so that they cannot form a circle.
 */
#ifndef ALGO_TREE_H
#define ALGO_TREE_H

#include "op/op.h"

/* Returns true if both ends of an edge on a shortest path may have the same distance. */
bool tree_may_add_nothing(const struct mill_run *r, enum weight_kind kind);
/* Declares the programs and bytes of parents, if they are asked for, and of the certificate. */
void declare_tree(struct declaration *d, enum weight_kind kind);
/*
 * Ends a search with its distances in column 0. If parents are asked for, finds them and
 * adds the column "parent": the rank of the parent with the smallest original id. The cost
 * of finding parents is not counted in the run.
 */
mill_err tree_settle(struct mill_run *r, enum weight_kind kind);
/* Certifies the distances in column 0 and, if there are any, the parents in column 1. */
mill_err tree_check(struct mill_run *r);

#endif
