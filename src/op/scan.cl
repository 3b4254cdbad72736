/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scan over one segment, as a kernel. skip: the number of edges of the first row's list
 * that lie in earlier segments. [from, to): the window, positions in a list.
 */

/* Edges after which cond is asked again, as on the host. */
#define SCAN_BLOCK 4u

__kernel void OF(PROGRAM, scan)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
				GLOBAL u64 *counts, u64 skip, u64 from, u64 to)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 updates = 0, edges = 0;

	FOR_ROWS(r) {
		u64 n = row[r + 1] - row[r], before = r ? 0 : skip;
		u32 i = row[r] + (u32)(from > before ? min(from - before, n) : 0), begin = i;
		u32 end = row[r] + (u32)(to > before ? min(to - before, n) : 0);

		while (i < end && WANTS(s, first + r))
			for (u32 stop = end - i > SCAN_BLOCK ? i + SCAN_BLOCK : end; i < stop; i++)
				updates += AT_EDGE(s, first + r, neighbour[i], i);
		edges += i - begin;
	}
	count_add(counts, COUNT_EDGES, edges);
	count_add(counts, COUNT_UPDATES, updates);
}
