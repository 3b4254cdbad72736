/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges between names on their way to edges between numbers: the rank of a name among all, by bytes.
 *
 * Names are numbered as they come, as many as a part of the budget holds: a batch, whose edges are put aside as
 * pairs of such numbers and whose names are sorted and put aside too. When all have come, the sorted batches
 * are merged, which gives every name of every batch its rank, and the edges are gone through once more.
 * So any number of names fits, as long as a few KiB for each batch do.
 *
 * On disk: 8 bytes an edge, 8 more with weights, and for each name of each batch its bytes and 10 more.
 */
#ifndef IMPORT_NAMER_H
#define IMPORT_NAMER_H

#include "import/builder.h"
#include "import/field.h"
#include "store/writer.h"

struct namer;

/* dir: of temporary files; borrowed, as the others are. */
mill_err namer_new(struct namer **out, struct budget *budget, struct pool *pool, struct ticker *ticker,
		   const char *dir);
void namer_free(struct namer *n);	/* NULL is fine */

/* weight: NULL for all edges, or for none. */
mill_err namer_add(struct namer *n, struct name from, struct name to, const u64 *weight);
/* No more will come: numbers all names. MILL_ELIMIT if they are more than a store holds. */
mill_err namer_settle(struct namer *n, u64 *vertices);
/* All edges as they came, by rank, some at a time. */
mill_err namer_edges(struct namer *n, mill_err (*take)(void *arg, const struct raw_edge *edge, u64 n),
		     void *arg);
/* After namer_settle: a number that other names would hardly have given. */
mill_err namer_fingerprint(struct namer *n, u64 *out);
/* A sentence about an edge: listed more than once (MILL_EINPUT), or of too large a weight. n NULL: numbers. */
mill_err namer_fail_edge(struct namer *n, mill_err code, u64 from, u64 to);
/* The name-files of the store. */
mill_err namer_write(struct namer *n, struct store_writer *w);

#endif
