/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted edges on their way into the store: list after list. */
#ifndef IMPORT_LISTS_H
#define IMPORT_LISTS_H

#include "import/edges.h"
#include "store/writer.h"

/*
 * Sorted edges, perhaps in several pieces. By row: a vertex's neighbours are the columns; by_column:
 * the other way round.
 */
struct edge_stream {
	struct edges *e;	/* the piece at hand */
	bool by_column;
	u64 total;		/* edges of all pieces */
	/* Puts the next piece into e; n = 0 at the end. NULL: e is all. */
	mill_err (*more)(struct edge_stream *s);
	void *arg;
	u64 at;			/* in e */
	u64 done;		/* edges of the pieces before */
};

/*
 * Writes the out- or in-lists of vertices 0 .. n - 1: what `low` has of a vertex (the lower neighbours of
 * an undirected graph), then what `high` has. Either may be NULL. A degree above 2^32 - 1 is
 * MILL_ELIMIT.
 */
mill_err lists_write(struct store_writer *w, bool in, struct edge_stream *low,
		     struct edge_stream *high, u64 n);

#endif
