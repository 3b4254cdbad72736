/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment: consecutive vertices with their neighbour lists, as operators see them. A page is
 * decoded into one segment. A graph that is resident in RAM is one segment, or a few if it has
 * 2^32 edges or more.
 *
 * Row offsets are 32-bit and relative to the segment. That is half the memory traffic of 64-bit
 * offsets, and several segments cost nothing extra, since a streamed graph has many anyway.
 */
#ifndef STORE_SEGMENT_H
#define STORE_SEGMENT_H

#include "base/types.h"

/*
 * Number of neighbours in a block of a list; the first block begins with the list. To sum over a
 * list, operators sum each block and then add these sums in order. A list that spans pages is cut
 * only between blocks, so the bits of a sum depend neither on the page size nor on the threads.
 */
#define LIST_BLOCK 1024u

struct segment {
	vid first;		/* vertex of row 0 */
	vid n_rows;
	u32 n_edges;
	eid first_edge;		/* position of edge 0 among all edges of the direction */
	u64 skip;		/* edges of row 0's list that lie in earlier segments */
	bool continues;		/* the last row's list goes on in the next segment */
	const u32 *row;		/* n_rows + 1 offsets into neighbour; row[0] is 0 */
	const vid *neighbour;	/* ascending within a list */
	const void *weight;	/* n_edges of the store's weight type, or NULL */
	/* Edge numbers, if the run has them (transfer/number.h): */
	const u32 *number;	/* by edge; NULL: edge i has number first_edge + i */
	/*
	 * By vertex: number minus position, which is the same for all edges that the vertex owns.
	 * NULL: 0 for all vertices.
	 */
	const u32 *base;
};

/* Tells which vertices are wanted. The lists of others need not be decoded. */
struct row_filter {
	/* Returns true if any vertex of [begin, end) is wanted. */
	bool (*wanted)(void *arg, u64 begin, u64 end);
	void *arg;
};

/* Returns true if other segments hold pieces of row i's list too. */
static inline bool segment_row_is_partial(const struct segment *s, vid i)
{
	return (i == 0 && s->skip) || (s->continues && i + 1 == s->n_rows);
}

/* Returns the row that has edge i: the last row that begins at or before it. */
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

/*
 * Returns the row that has edge i, for callers that walk over edges in ascending order. row: the
 * row of an earlier edge.
 */
static inline vid segment_row_on(const struct segment *s, vid row, u32 i)
{
	while (s->row[row + 1] <= i)
		row++;
	return row;
}

/* Returns which of n ascending segments holds the beginning of v's row. n > 0. */
static inline u32 segment_find(const struct segment *s, u32 n, vid v)
{
	u32 low = 0, high = n - 1;

	/* Finds the first segment that has v or a later vertex. A list that is cut begins there. */
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
