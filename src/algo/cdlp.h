/* SPDX-License-Identifier: Apache-2.0 */
/* The certificate of label propagation. */
#ifndef ALGO_CDLP_H
#define ALGO_CDLP_H

#include "op/op.h"

/* Certifies that the labels in column 0 follow from the labels before the last iteration (u32). */
mill_err cdlp_check(struct mill_run *r, const struct vec *before);
u64 cdlp_check_bytes(const struct store *st);

#endif
