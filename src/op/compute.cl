/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compute at vertices or edges, as kernels: one work-item per block, summed in order as on
 * the host.
 */
#ifdef EDGE
/*
 * Computes at the active edges of a segment. The sum of a block that lies whole in the
 * segment goes to sums[block]. If a block is cut at the beginning or the end of the segment,
 * its values are not added up; they go to the EDGE_BLOCK places from sums[head] or
 * sums[tail] on. all: the number of edges of the direction.
 */
__kernel void OF(EDGE, edges)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
			      GLOBAL const u32 *bits, u64 first_edge, u64 all, GLOBAL f64 *sums,
			      u64 head, u64 tail)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u64 block = first_edge / EDGE_BLOCK + get_global_id(0), begin = block * EDGE_BLOCK,
	    end = min(begin + EDGE_BLOCK, all);
	u64 from = max(begin, first_edge), to = min(end, first_edge + n_edges),
	    cut = from > begin ? head : tail;
	u32 r = 0;
	bool known = false;
	f64 sum = 0;

	if (from >= to)
		return;
	for (u64 w = from / 32; w < (to + 31) / 32; w++)
		for (u32 word = window(bits, w, from, to); word; word &= word - 1) {
			u64 e = w * 32 + 31 - clz(word & -word);
			u32 i = (u32)(e - first_edge);
			f64 x;

			if (!known)
				r = entry_of(row, 0, n_rows, i);
			known = true;
			while (row[r + 1] <= i)
				r++;
			x = EDGE(s, first + r, neighbour[i], WEIGHT_AT(i));
			if (to - from < end - begin)
				sums[cut + e % EDGE_BLOCK] = x;
			sum += x;
		}
	if (to - from == end - begin)
		sums[block] = sum;
}
#else
__kernel void OF(VERTEX, blocks)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) u64 begin, u64 end,
				 GLOBAL f64 *sums, u32 n_blocks)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 block = get_global_id(0);
	u64 from = begin + (u64)block * COMPUTE_BLOCK;
	u64 to = min(end, from + COMPUTE_BLOCK);
	f64 sum = 0;

	if (block >= n_blocks)
		return;
	for (u64 v = from; v < to; v++)
		sum += VERTEX(s, (vid)v);
	sums[block] = sum;
}

#ifdef FRONT
/* Computes at active vertices. Each block begins at a word of the bitmap. */
__kernel void OF(VERTEX, active)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *bits,
				 u32 n_words, GLOBAL f64 *sums, u32 n_blocks)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 block = get_global_id(0), to = min(n_words, (block + 1) * (COMPUTE_BLOCK / 32));
	f64 sum = 0;

	if (block >= n_blocks)
		return;
	for (u32 w = block * (COMPUTE_BLOCK / 32); w < to; w++)
		for (u32 word = bits[w]; word; word &= word - 1)
			sum += VERTEX(s, w * 32 + 31 - clz(word & -word));
	sums[block] = sum;
}
#endif
#endif
