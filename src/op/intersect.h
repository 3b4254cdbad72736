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
 * of larger degree first (op/orient.h), in memory if the graph is one resident segment, else as a temporary store of which one
 * block after the other is held in memory while all of it streams past. On a device other than the host blocks are held and
 * passed there, whichever form the lists have here. Lanes: intersect_lanes(), one per worker of the host.
 */
mill_err op_intersect(struct mill_run *r, const struct intersect_program *p, const void *args, struct vec *degree);
/*
 * Declares a program of op_intersect, the degrees that it is given, and the view of the graph that it takes: the simple one; with `arcs` the
 * number of arcs is the weight of an edge, which a program that takes numbers does not get. On a device other than the host no page
 * of the graph crosses then: op_scan and the like have nothing to work on.
 */
mill_err declare_intersect(struct declaration *d, const struct intersect_program *p, struct vec **degree, bool arcs, const char *what);
u32 intersect_lanes(const struct mill_run *r);
/* Host bytes besides the graph, where that is resident, and in any case; what the smallest budget has is left out. */
u64 intersect_resident_bytes(const struct mill_run *r, bool weights);
u64 intersect_bytes(const struct mill_run *r, bool weights);
/* Device bytes at least, besides the program's vectors; 0 where the host is the device. */
u64 intersect_device_bytes(const struct mill_run *r, bool weights);

/* op_intersect on a device: how lists become blocks and pass them. */
struct oriented;
mill_err intersect_device(struct mill_run *r, const struct intersect_program *p, const void *args, struct oriented *lists,
			  struct mill_step *step);

/* Only counts: of the triangles through each vertex (u64, zero before). Where the whole graph is one resident segment, on the host. */
bool op_can_count(const struct mill_run *r);
mill_err op_intersect_count(struct mill_run *r, struct vec *count);
/* Host bytes that this takes besides the graph. */
u64 intersect_count_bytes(const struct mill_run *r);

#endif
