/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbourhood reduction over one segment, as kernels. The defines and the program
 * stand before this text. Additions have the same order as on the host, and contraction is
 * off (page.cl), so sums have the same bits. front (may be NULL): the bitmap of the
 * vertices that are reduced.
 */
#define NO_SLOT 0xfffffffffffffffful
#define NO_SPLIT 0xffffffffu

#if COUNTS
#define COUNTED u64 mine[COUNTS] = { 0 }
#define APPLY(s, v, sum) OF(PROGRAM, apply)(s, v, sum, mine)
#define COUNTED_ADD \
	for (u32 k = 0; k < COUNTS; k++) \
		count_add(counts, k, mine[k])
#else
#define COUNTED
#define APPLY(s, v, sum) OF(PROGRAM, apply)(s, v, sum)
#define COUNTED_ADD
#endif

static inline SUM block_sum(struct PROGRAM s, SEGMENT_PARAMS, u32 v, u32 begin, u32 end)
{
	GLOBAL const u32 *neighbour = NEIGHBOURS;
	SUM sum = START(s);
	u32 i = begin;

#if SPREAD && CHUNKED
	for (; i < end && n_edges - i > GATHER_AHEAD; i++) {
		FETCH(s, neighbour[i + GATHER_AHEAD]);
		sum = COMBINE(sum, GATHER(s, neighbour[i], v, WEIGHT_AT(i)));
	}
#endif
	for (; i < end; i++)
		sum = COMBINE(sum, GATHER(s, neighbour[i], v, WEIGHT_AT(i)));
	return sum;
}

/*
 * Reduces rows. head_slot, tail_slot: the first slots for the block sums of the first and
 * the last row, or NO_SLOT. If list number head_split ends in the first row of this segment
 * (else NO_SPLIT), its number of slots is set: head_first, the blocks in earlier segments,
 * plus those of the row.
 */
__kernel void OF(PROGRAM, rows)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
				GLOBAL const u32 *front, GLOBAL SUM *partial_sum, u64 head_slot,
				u64 tail_slot, GLOBAL u64 *split, u32 head_split, u64 head_first,
				GLOBAL u64 *counts)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	GLOBAL const u32 *row = ROWS;
	COUNTED;

	FOR_ROWS(r) {
		u32 v = first + r, begin, end;
		u64 slot = NO_SLOT;
		SUM sum;

		if (front && !BIT(front, v))
			continue;
		begin = row[r];
		end = row[r + 1];
		if (r == 0 && head_slot != NO_SLOT) {
			slot = head_slot;
			if (head_split != NO_SPLIT)
				split[3 * head_split + 2] =
					head_first + (end - begin + LIST_BLOCK - 1) / LIST_BLOCK;
		} else if (r + 1 == n_rows && tail_slot != NO_SLOT) {
			slot = tail_slot;
		}
		sum = START(s);
		if (slot == NO_SLOT && end - begin <= LIST_BLOCK) {
			sum = block_sum(s, lists, weights, row_at, neighbour_at, weight_at, first,
					n_rows, n_edges, partial, v, begin, end);
			begin = end;
		}
		while (begin < end) {
			u32 stop = end - begin > LIST_BLOCK ? begin + LIST_BLOCK : end;
			SUM block = block_sum(s, lists, weights, row_at, neighbour_at, weight_at,
					      first, n_rows, n_edges, partial, v, begin, stop);

			if (slot != NO_SLOT)
				partial_sum[slot++] = block;
			else
				sum = COMBINE(sum, block);
			begin = stop;
		}
		if (slot == NO_SLOT)
			APPLY(s, v, sum);
	}
	COUNTED_ADD;
}

/* Applies the result of an empty list to vertices [begin, end), which have no row. */
__kernel void OF(PROGRAM, rest)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) u32 begin, u32 end,
				GLOBAL const u32 *front, GLOBAL u64 *counts)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	COUNTED;

	FOR_MINE(i, end - begin, ITEM_ROWS)
		if (!front || BIT(front, begin + i))
			APPLY(s, begin + i, START(s));
	COUNTED_ADD;
}

/* Combines the slots of the lists that span segments, one work-item per list. */
__kernel void OF(PROGRAM, finish)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *front,
				  GLOBAL const SUM *partial_sum, GLOBAL const u64 *split,
				  u32 n_splits, GLOBAL u64 *counts)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 i = get_global_id(0);
	SUM sum;
	COUNTED;

	if (i >= n_splits || (front && !BIT(front, (vid)split[3 * i])))
		return;
	sum = START(s);
	for (u64 j = 0; j < split[3 * i + 2]; j++)
		sum = COMBINE(sum, partial_sum[split[3 * i + 1] + j]);
	APPLY(s, (vid)split[3 * i], sum);
	COUNTED_ADD;
}
