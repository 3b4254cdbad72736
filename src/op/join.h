/* SPDX-License-Identifier: Apache-2.0 */
/* What other operators use of op/join.c; algorithms see op/op.h. */
#ifndef OP_JOIN_H
#define OP_JOIN_H

#include "engine/run.h"

/*
 * sum[v] becomes the sum of what the sources of edges to v give, over out-edges or in-edges: `given` has f32, f64 or u64, the sums are
 * f64 (real) or u64. Both vectors are on the host.
 */
mill_err join_sums(struct mill_run *r, const struct vec *given, struct vec *sum, bool real, bool in, struct mill_step *step);
mill_err join_prepare_sums(struct mill_run *r, u32 given_size, bool real);

#endif
