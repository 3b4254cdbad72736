/* SPDX-License-Identifier: Apache-2.0 */
/* How edges get their numbers (transfer/number.h says what they are): one pass over the lists in row order, when the graph is loaded. */
#ifndef ENGINE_NUMBER_H
#define ENGINE_NUMBER_H

#include "engine/run.h"

/* How many numbers a graph of this store, or a view of it, has at most. */
u64 numbers_most(const struct store *st);
/* Adds what the need's numbers take; MILL_ELIMIT if there are too many edges. */
mill_err numbers_need(const struct mill_run *r, struct need *n);
/* Makes those that r->need asks for, of the graph that was loaded or chosen; then takes to the device what kernels need. */
mill_err numbers_make(struct mill_run *r);
mill_err numbers_place(struct mill_run *r);
void numbers_release(struct edge_numbers *n);
/* Gives the segment of a streamed page its numbers; adds to *bytes what was read for it. */
mill_err numbers_lay(struct mill_run *r, bool in, enum numbers which, u32 page, unsigned worker, struct segment *seg, u64 *bytes);

/*
 * Numbers the edges of symmetric lists, all of them in row order. The k-th row that shows v as its smaller end shows the k-th edge that
 * v owns, because both are in the order of the larger ends.
 */
struct numberer {
	u32 *next;	/* by vertex: of the edges that it owns, the first that no other list has shown */
	u64 n;
};

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
