/* SPDX-License-Identifier: Apache-2.0 */
/* Filters as kernels: over the edges of one segment, or over the words of a vertex bitmap. */
#ifdef KEEP_EDGE
#define KEPT(s, u, v, i) CALL_EDGE(KEEP_EDGE, s, u, v, i)

/*
 * Clears the bits of the active edges that the program does not keep. first_edge: the position
 * of the segment's first edge in the direction. Rows share words of the bitmap, here and
 * below, so bits are changed by atomics.
 */
__kernel void OF(KEEP_EDGE, rows)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
				  GLOBAL u32 *bits, GLOBAL u64 *counts, u64 first_edge)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 edges = 0, kept = 0;

	FOR_ROWS(r)
		for (u32 i = row[r]; i < row[r + 1]; i++) {
			u64 e = first_edge + i;
			u32 bit = 1u << (u32)(e % 32);

			if (!(dev_load_u32(&bits[e / 32]) & bit))
				continue;
			edges++;
			if (KEPT(s, first + r, neighbour[i], i))
				kept++;
			else
				raw_and_u32(&bits[e / 32], ~bit);
		}
	count_add(counts, COUNT_EDGES, edges);
	count_add(counts, COUNT_EMITTED, kept);
}

/*
 * Activates the edges of the rows in `front` that the program keeps. Bits of one word are set
 * together.
 */
__kernel void OF(KEEP_EDGE, expand)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
				    GLOBAL const u32 *front, GLOBAL u32 *bits, GLOBAL u64 *counts,
				    u64 first_edge)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 edges = 0, kept = 0;

	FOR_ROWS(r) {
		u32 i, end;

		if (!BIT(front, first + r))
			continue;
		i = row[r];
		end = row[r + 1];
		edges += end - i;
		while (i < end) {
			u64 e = first_edge + i;
			u32 word = 0,
			    stop = end - i > 32 - (u32)(e % 32) ? i + 32 - (u32)(e % 32) : end;

			for (u32 bit = 1u << (u32)(e % 32); i < stop; i++, bit <<= 1)
				if (KEPT(s, first + r, neighbour[i], i))
					word |= bit;
			if (word)
				raw_or_u32(&bits[e / 32], word);
			kept += popcount(word);
		}
	}
	count_add(counts, COUNT_EDGES, edges);
	count_add(counts, COUNT_EMITTED, kept);
}
#else
__kernel void OF(KEEP_VERTEX, words)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL u32 *bits,
				     GLOBAL u64 *counts, u32 n_words)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	u32 n = 0;

	FOR_MINE(w, n_words, ITEM_WORDS) {
		u32 kept = bits[w];

		for (u32 word = kept; word; word &= word - 1) {
			u32 bit = word & -word;

			if (!KEEP_VERTEX(s, w * 32 + 31 - clz(bit)))
				kept &= ~bit;
		}
		bits[w] = kept;
		n += popcount(kept);
	}
	count_add(counts, COUNT_EMITTED, n);
}
#endif
