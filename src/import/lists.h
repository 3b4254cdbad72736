/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sorted edges into the store, list after list. */
#ifndef IMPORT_LISTS_H
#define IMPORT_LISTS_H

#include "import/edges.h"
#include "store/writer.h"

/*
 * A stream of sorted edges, perhaps in several pieces. The row is the vertex and the column its
 * neighbour; with by_column the other way round.
 */
struct edge_stream {
	struct edges *e;	/* the present piece */
	bool by_column;
	u64 total;		/* number of edges in all pieces */
	/* Puts the next piece into e; e->n = 0 at the end. NULL: there is no other piece. */
	mill_err (*more)(struct edge_stream *s);
	void *arg;
	u64 at;			/* index of the next edge in e */
	u64 done;		/* number of edges in the pieces before e */
};

/*
 * Writes the out-lists or in-lists of vertices 0 .. n - 1. A list is the edges of the vertex in
 * `low` (in an undirected graph: its lower neighbours), then those in `high`. Either stream may
 * be NULL. Fails with MILL_ELIMIT if a degree is above 2^32 - 1.
 */
mill_err lists_write(struct store_writer *w, bool in, struct edge_stream *low,
		     struct edge_stream *high, u64 n);

#endif
