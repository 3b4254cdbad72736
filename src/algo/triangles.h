/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of triangles. Triangles are counted in src/op: with a matrix of bits for
 * the hubs of a resident graph (intersect_count.c), by blocks of oriented pages of a
 * streamed graph (intersect.c), and by pieces of lists on a device (intersect_device.c).
 */
#ifndef ALGO_TRIANGLES_H
#define ALGO_TRIANGLES_H

#include "op/op.h"

/*
 * Certifies the counts in column 0 and, if there are any, the coefficients in column 1.
 * arcs: they count arcs, not edges.
 */
mill_err triangles_check(struct mill_run *r, bool arcs);
u64 triangles_check_bytes(const struct store *st);

#endif
