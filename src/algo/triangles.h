/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of triangles. How triangles are counted (a matrix of bits for resident
 * hubs, blocks of oriented pages for streamed graphs, pieces of lists on devices) is in
 * op/intersect.c and op/intersect_device.c.
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
