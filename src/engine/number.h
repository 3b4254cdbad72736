/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes edge numbers (transfer/number.h says what they are) in one pass over the lists, in
 * row order, when the graph is loaded.
 *
 * An edge has one number in all lists that show it, and numbers are dense. The edges {u, v}
 * of u with v >= u have consecutive numbers, so 4 bytes per vertex are enough to number them
 * from u's side. The other side, and in-lists, have a table of 4 bytes per stored edge,
 * which crosses to devices with its page. One pass makes the table with a cursor for each
 * vertex: the k-th list that shows x shows the k-th edge of x.
 */
#ifndef ENGINE_NUMBER_H
#define ENGINE_NUMBER_H

#include "engine/run.h"

/* Returns an upper bound of the numbers of this store's edges, or of those of a view of it. */
u64 numbers_most(const struct store *st);
/*
 * Adds the bytes of the need's numbers to the need. Fails with MILL_ELIMIT if there are too
 * many edges.
 */
mill_err numbers_need(const struct mill_run *r, struct need *n);
/* Makes the numbers that r->need asks for. The graph is loaded or, if streamed, chosen. */
mill_err numbers_make(struct mill_run *r);
/* Copies the numbers that kernels need to the device. */
mill_err numbers_place(struct mill_run *r);
void numbers_release(struct edge_numbers *n);
/* Gives the segment of a streamed page its numbers. Adds the bytes read from disk to *bytes. */
mill_err numbers_attach(struct mill_run *r, bool in, enum numbers which, u32 page, unsigned worker,
			struct segment *seg, u64 *bytes);

/*
 * Numbers the edges of symmetric lists. The caller takes all lists in row order. The k-th
 * row that shows v as its smaller end shows the k-th edge that v owns, because both are in
 * the order of the larger ends.
 */
struct numberer {
	u32 *next;	/* by vertex: its first own edge that no other list has shown yet */
	u64 n;		/* edges numbered */
};

/* Begins the list of u. */
static inline void numberer_row(struct numberer *m, vid u) { m->next[u] = (u32)m->n; }

/* Returns the number of the next edge of u's list. */
static inline u32 numberer_take(struct numberer *m, vid u, vid v)
{
	if (v < u)
		return m->next[v]++;
	m->n++;
	if (v == u)
		m->next[u] = (u32)m->n;
	return (u32)m->n - 1;
}

#endif
