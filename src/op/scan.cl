/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan operator over one page, as a kernel: one work-item per row. skip: edges of the first row's list in earlier
 * pages; the window [from, to) is of positions in a list. counts: edges, updates.
 */
#ifdef WEIGHT
#define EDGE(s, u, v, i) OF(PROGRAM, edge)(s, u, v, WEIGHTS[i])
#else
#define EDGE(s, u, v, i) OF(PROGRAM, edge)(s, u, v, 1)
#endif

__kernel void OF(PROGRAM, scan)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) PAGE_PARAMS, GLOBAL u64 *counts, u64 skip,
				u64 from, u64 to)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 r = get_global_id(0), u = first + r, updates = 0, begin, end;
	u64 n, before = r ? 0 : skip;

	if (r >= n_rows || !OF(PROGRAM, cond)(s, u))
		return;
	n = row[r + 1] - row[r];
	begin = row[r] + (u32)(from > before ? min(from - before, n) : 0);
	end = row[r] + (u32)(to > before ? min(to - before, n) : 0);
	for (u32 i = begin; i < end; i++)
		updates += EDGE(s, u, neighbour[i], i);
	if (begin < end)
		atom_add(&counts[0], (u64)(end - begin));
	if (updates)
		atom_add(&counts[1], (u64)updates);
}
