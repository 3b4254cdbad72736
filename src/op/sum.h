/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions for runs in which the state's home is the host (GTS), as sums of the values
 * that sources give. Only op/reduce.c calls these functions; algorithms use op/op.h.
 */
#ifndef OP_SUM_H
#define OP_SUM_H

#include "engine/run.h"
#include "op/program.h"

/*
 * Sets sum[v] to the sum of the values in `given` of all sources of edges to v, over
 * out-edges or in-edges. `given` holds f32, f64 or u64; the sums are f64 (real) or u64. Both
 * vectors are on the host.
 */
mill_err sum_given(struct mill_run *r, struct vec *given, struct vec *sum, bool real, bool in,
		   struct mill_step *step);
/* Builds the kernels that sum_given launches. */
mill_err sum_prepare(struct mill_run *r, u32 given_size, bool real);
/* Returns the forms of a reduction that policies may take, or NULL without GIVEN. */
const struct own_forms *sum_forms(const struct reduce_program *p);

#endif
