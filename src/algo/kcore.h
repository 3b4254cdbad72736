/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-cores in two ways. If passes over the edges cost nothing, vertices are peeled (kcore.c:
 * four buckets, with cascades). For a streamed graph each vertex has an upper bound, which
 * falls to the h-index of the neighbours' bounds (kcore_settle.c: 34 passes instead of 656
 * steps on kron 20). A list that spans pages is counted in a few hundred counters, so it
 * need not be in memory.
 */
#ifndef ALGO_KCORE_H
#define ALGO_KCORE_H

#include "op/op.h"

/*
 * Finds the core numbers of a streamed graph in few passes. core holds the degrees and
 * becomes the core numbers. The frontier's bitmaps are scratch: they say which vertices to
 * look at.
 */
mill_err kcore_settle(struct mill_run *r, struct vec *core, struct frontier *front);
/* Returns the additional host bytes that kcore_settle takes. */
u64 kcore_settle_bytes(const struct mill_run *r);

/* Certifies column 0. */
mill_err kcore_check(struct mill_run *r);
u64 kcore_check_bytes(const struct store *st);

#endif
