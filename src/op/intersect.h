/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection: for every edge {u, v} of a simple graph the neighbours that u and
 * v share. Each triangle is met once, at the edge of its two vertices of smallest degree.
 * intersect.inc says what the program gives.
 */
#ifndef OP_INTERSECT_H
#define OP_INTERSECT_H

#include "op/op.h"

/*
 * Calls the program with the common neighbours of the two ends of every edge. The run's
 * graph is simple. Its edges are oriented first, to the end of larger degree (op/orient.h):
 * in memory if the graph is one resident segment, else as a temporary store. Of that store
 * one block after the other is held in memory while all pages stream past. On a device
 * other than the host the block is held on the device, whether the lists are in memory or
 * on disk.
 */
mill_err op_intersect(struct mill_run *r, const struct intersect_program *p, const void *args,
		      struct vec *degree);
/*
 * Declares a program of op_intersect, the vector of degrees that it takes, and the simple
 * view of the graph. With `arcs` the weight of an edge is the number of its arcs; a program
 * with NUMBERS does not get weights. On a device other than the host no page of the graph
 * is sent in such a run, so op_scan and other operators cannot be used. what: the
 * algorithm, as errors name it.
 */
mill_err declare_intersect(struct declaration *d, const struct intersect_program *p,
			   struct vec **degree, bool arcs, const char *what);
/*
 * Returns the number of copies of its counters that a program has: one per worker of the
 * host, one on another device.
 */
u32 intersect_copies(const struct mill_run *r);
/* Returns the host bytes needed besides the graph, if the graph is resident. */
u64 intersect_resident_bytes(const struct mill_run *r, bool weights);
/* Returns the host bytes that are always needed, in addition to RUN_ROOM. */
u64 intersect_bytes(const struct mill_run *r, bool weights);
/*
 * Returns the least device bytes needed besides the program's vectors; 0 if the host is the
 * device.
 */
u64 intersect_device_bytes(const struct mill_run *r, bool weights);

/* Does the work of op_intersect on a device other than the host. */
struct oriented;
mill_err intersect_device(struct mill_run *r, const struct intersect_program *p, const void *args,
			  struct oriented *lists, struct mill_step *step);

/*
 * Counts the triangles through each vertex (u64, zero before), without a program. Only on
 * the host, and only if the whole graph is one resident segment: op_can_count.
 */
bool op_can_count(const struct mill_run *r);
mill_err op_intersect_count(struct mill_run *r, struct vec *count);
/* Returns the host bytes that op_intersect_count takes besides the graph. */
u64 intersect_count_bytes(const struct mill_run *r);

#endif
