/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection: for every edge {u, v} of a simple graph the neighbours that u and v share. Each triangle is met
 * once, at the edge of its two vertices of smallest degree.
 */
#ifndef OP_INTERSECT_H
#define OP_INTERSECT_H

#include "op/op.h"

/* Only counts: of the triangles through each vertex (u64, zero before). Where the whole graph is one resident segment. */
bool op_can_count(const struct mill_run *r);
mill_err op_intersect_count(struct mill_run *r, struct vec *count);
/* Host bytes that this takes besides the graph. */
u64 intersect_count_bytes(const struct mill_run *r);

#endif
