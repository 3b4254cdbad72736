/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALGO_TRIANGLES_H
#define ALGO_TRIANGLES_H

#include "op/op.h"

/* Certifies column 0 and, where there is one, the coefficients in column 1, of arcs or edges. */
mill_err triangles_check(struct mill_run *r, bool arcs);
u64 triangles_check_bytes(const struct store *st);

#endif
