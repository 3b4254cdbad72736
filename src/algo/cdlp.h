/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALGO_CDLP_H
#define ALGO_CDLP_H

#include "op/op.h"

/* Certifies column 0: the labels that follow from those before, of u32. */
mill_err cdlp_check(struct mill_run *r, const struct vec *before);
u64 cdlp_check_bytes(const struct store *st);

#endif
