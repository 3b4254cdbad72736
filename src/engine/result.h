/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a run: columns by vertex, in the order of the original ids, as values,
 * files and a hash. The hash is XXH3 of the first column by ascending original id, widened
 * to 8 bytes. So it is the same for every device, policy, budget and order of vertices.
 */
#ifndef ENGINE_RESULT_H
#define ENGINE_RESULT_H

#include "engine/run.h"

/* Computes the hash of the result. */
mill_err result_hash(struct mill_run *r);
/*
 * Keeps the largest values of the first column for the report. Of equal values the smaller
 * id is first.
 */
mill_err result_top(struct mill_run *r);
/*
 * A column of ids holds ranks: the place of a vertex, by ascending original id, among the
 * vertices that have edges. The output turns them into ranks among all vertices
 * (run_result.rank_of).
 */

/*
 * Returns the original ids by rank among all vertices, freed with the result. NULL: they are an
 * unbroken range from the store's min_id on.
 */
mill_err result_ids(struct mill_run *r, const u64 **out);
/* Returns the host bytes of the original ids. */
u64 result_ids_bytes(const struct store *st);
/*
 * Returns the rank (vid) of each vertex among those that have edges, on the run's device.
 * Made once, freed with the result.
 */
mill_err result_ranks(struct mill_run *r, struct vec **out);
/* Reads the same ranks into store->n_linked elements in host memory. */
mill_err result_read_ranks(struct mill_run *r, vid *to);
/*
 * Returns the host bytes that result_ranks and result_read_ranks take: the table from these
 * ranks to the ranks among all vertices.
 */
u64 result_ranks_bytes(const struct store *st);

#endif
