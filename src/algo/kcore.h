/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ALGO_KCORE_H
#define ALGO_KCORE_H

#include "op/op.h"

/*
 * Core numbers of a streamed graph in few passes: core holds the degrees and becomes the core numbers. The frontier has no
 * part in the result: its bitmaps say which vertices to look at.
 */
mill_err kcore_settle(struct mill_run *r, struct vec *core, struct frontier *front);
/* Host bytes that it takes besides. */
u64 kcore_settle_bytes(const struct mill_run *r);

/* Certifies column 0. */
mill_err kcore_check(struct mill_run *r);
u64 kcore_check_bytes(const struct store *st);

#endif
