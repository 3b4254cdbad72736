/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns edges between names into edges between numbers. The number of a name is its rank among
 * all names, ordered by bytes.
 *
 * Names are sorted in batches. A batch holds as many names as fit in a quarter of the budget,
 * numbered as they come. When it is full, its names are sorted and put aside in a temporary
 * file; its edges are there already, as pairs of these numbers. After the last edge the sorted
 * batches are merged, which gives every name of every batch its rank. Then the edges are read
 * once more and go to the builder as if their ids had been ranks. So any number of names fits,
 * as long as the budget has a few KiB for each batch.
 *
 * Only text (results, edge lists, the report) shows names; the engine knows only ranks. When a
 * result is printed, a cache of blocks looks up names by rank (store/names.h).
 *
 * Bytes on disk: 8 per edge, 8 more with weights; and for each name of each batch its length
 * and 10 more.
 */
#ifndef IMPORT_NAMER_H
#define IMPORT_NAMER_H

#include "import/builder.h"
#include "import/field.h"
#include "store/writer.h"

struct namer;

/* Borrows all arguments. dir: the directory of the temporary files. */
mill_err namer_new(struct namer **out, struct budget *budget, struct pool *pool,
		   struct ticker *ticker, const char *dir);
void namer_free(struct namer *n);	/* NULL is fine */

/* Adds an edge. weight: NULL for every edge or for none. */
mill_err namer_add(struct namer *n, struct name from, struct name to, const u64 *weight);
/*
 * Ranks all names, after the last edge has been added. Fails with MILL_ELIMIT if there are more
 * names than a store holds.
 */
mill_err namer_settle(struct namer *n, u64 *vertices);
/* Calls take for all edges, between ranks, some at a time, in the order in which they came. */
mill_err namer_edges(struct namer *n,
		     mill_err (*take)(void *arg, const struct raw_edge *edge, u64 n), void *arg);
/* Computes a hash of all names, after namer_settle. */
mill_err namer_fingerprint(struct namer *n, u64 *out);
/*
 * Fails with a message about an edge: it is listed more than once (code MILL_EINPUT), or its
 * weights add up to too much (other codes). n NULL: the message shows numbers.
 */
mill_err namer_fail_edge(struct namer *n, mill_err code, u64 from, u64 to);
/* Writes the files of names into the store. */
mill_err namer_write(struct namer *n, struct store_writer *w);

#endif
