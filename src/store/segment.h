/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment: consecutive vertices with their neighbour lists, as operators see them. A page
 * decodes into one; a graph resident in RAM is a single one (or a few, each below 2^32 edges).
 */
#ifndef STORE_SEGMENT_H
#define STORE_SEGMENT_H

#include "base/types.h"

/*
 * The sum over a neighbour list is defined as the sum, in order, of the sums of its blocks of so
 * many neighbours, counted from the list's beginning. A list that spans pages is cut only between such
 * blocks: so the bits of the result depend neither on the page size nor on the threads.
 */
#define LIST_BLOCK 1024u

struct segment {
	vid first;		/* vertex of row 0 */
	vid n_rows;
	u32 n_edges;
	eid first_edge;		/* number of edge 0 in the whole direction */
	u64 skip;		/* edges of row 0's list that lie in earlier segments */
	bool continues;		/* the last row's list goes on in the next segment */
	const u32 *row;		/* n_rows + 1 offsets into neighbour, from 0 */
	const vid *neighbour;	/* ascending within a list */
	const void *weight;	/* n_edges of the store's weight type, or NULL */
	/* Edge numbers, where a run has them: see transfer/number.h. */
	const u32 *number;	/* of each edge; NULL: first_edge + i */
	const u32 *base;	/* by vertex: number less position of the edges that it owns; NULL: positions are the numbers */
};

/* Says for which vertices there is anything to do: the lists of others need not be decoded. */
struct row_filter {
	bool (*wanted)(void *arg, u64 begin, u64 end);	/* any of [begin, end)? */
	void *arg;
};

/* A row of which other segments hold parts too. */
static inline bool segment_row_is_partial(const struct segment *s, vid i)
{
	return (i == 0 && s->skip) || (s->continues && i + 1 == s->n_rows);
}

/* The row that has edge i: the last that begins at or before it and is not empty. */
static inline vid segment_row_of(const struct segment *s, u32 i)
{
	vid low = 0, high = s->n_rows;

	while (high - low > 1) {
		vid middle = (vid)(low + (high - low) / 2);

		if (s->row[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The same for walkers: edges ascend, and the last one was of `row`. */
static inline vid segment_row_on(const struct segment *s, vid row, u32 i)
{
	while (s->row[row + 1] <= i)
		row++;
	return row;
}

/* Of segments in order: the one that holds the beginning of v's row. n > 0. */
static inline u32 segment_find(const struct segment *s, u32 n, vid v)
{
	u32 low = 0, high = n - 1;

	/* The first segment whose last row is not before v: a list that is cut begins there. */
	while (low < high) {
		u32 middle = (low + high) / 2;

		if ((u64)s[middle].first + s[middle].n_rows <= v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
