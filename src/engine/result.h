/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run: columns by vertex, given out by original id, as values, files and a hash. */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "engine/run.h"

/* Of the first column by ascending original id, widened to 8 bytes: the same for every way to compute it. */
mill_err result_hash(struct mill_run *r);
/* Keeps the largest values of a column for the report, ties by the smaller id. */
mill_err result_top(struct mill_run *r, const struct vec *v, enum mill_type type, f64 scale);
/*
 * A column of ids holds ranks. The original ids by rank, freed with the run's result; NULL where they are an
 * unbroken range from the store's min_id on. What they take on the host.
 */
mill_err result_ids(struct mill_run *r, const u64 **out);
u64 result_ids_bytes(const struct store *st);
/* The rank of each vertex (vid) on the run's device; made once, freed with the result. */
mill_err result_ranks(struct mill_run *r, struct vec **out);

#endif
