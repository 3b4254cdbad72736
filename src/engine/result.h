/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a run: columns by vertex, given out by original id, as values, files and a hash. */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "engine/run.h"

/* Of the first column by ascending original id, widened to 8 bytes: the same for every way to compute it. */
mill_err result_hash(struct mill_run *r);
/* Keeps the largest values of the first column for the report, ties by the smaller id. */
mill_err result_top(struct mill_run *r);
/*
 * A column of ids holds ranks among the vertices that have edges, the order of whose ids is theirs. The original ids by rank
 * among all, freed with the run's result; NULL where they are an
 * unbroken range from the store's min_id on. What they take on the host.
 */
mill_err result_ids(struct mill_run *r, const u64 **out);
u64 result_ids_bytes(const struct store *st);
/* The rank of each vertex (vid) among those with edges on the run's device; made once, freed with the result. */
mill_err result_ranks(struct mill_run *r, struct vec **out);
/* The same into store->n_linked elements on the host. */
mill_err result_read_ranks(struct mill_run *r, vid *to);
/* What both take on the host: to lead from these ranks to those among all. */
u64 result_ranks_bytes(const struct store *st);

#endif
