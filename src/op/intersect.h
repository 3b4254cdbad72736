/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection: for every edge {u, v} of a simple graph the neighbours that u and v share. Each triangle is met
 * once, at the edge of its two vertices of smallest degree.
 */
#ifndef OP_INTERSECT_H
#define OP_INTERSECT_H

#include "op/op.h"

/*
 * Gives the program what the lists of the two ends of every edge share. The run's graph is simple; its edges are led to the end
 * of larger degree first (ties: to the larger number), in memory if the graph is one resident segment, else as a
 * temporary store of which one block after the other is held in memory while all of it streams past. Lanes: one per
 * worker, intersect_lanes().
 */
mill_err op_intersect(struct mill_run *r, const struct intersect_program *p, const void *args, struct vec *degree);
u32 intersect_lanes(const struct mill_run *r);
/* Host bytes besides the graph, where that is resident, and in any case; what the smallest budget has is left out. */
u64 intersect_resident_bytes(const struct mill_run *r, bool weights);
u64 intersect_bytes(const struct mill_run *r, bool weights);

/* Only counts: of the triangles through each vertex (u64, zero before). Where the whole graph is one resident segment. */
bool op_can_count(const struct mill_run *r);
mill_err op_intersect_count(struct mill_run *r, struct vec *count);
/* Host bytes that this takes besides the graph. */
u64 intersect_count_bytes(const struct mill_run *r);

#endif
