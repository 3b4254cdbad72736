/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbourhood reduction over one page, as kernels; the defines and the program stand before. One work-item
 * per row, the same order of additions as on the host. front (may be NULL): the vertices that take part, as 32-bit words.
 */
#define BIT(bits, v) ((bits)[(v) / 32] >> ((v) % 32) & 1)
#define NO_SLOT 0xfffffffffffffffful

#if COUNTS
#define APPLY(s, v, sum) \
	do { \
		u64 mine[COUNTS] = { 0 }; \
		OF(PROGRAM, apply)(s, v, sum, mine); \
		for (u32 k = 0; k < COUNTS; k++) \
			if (mine[k]) \
				atom_add(&count[get_group_id(0) % COUNT_LANES * COUNT_STRIDE + k], mine[k]); \
	} while (0)
#else
#define APPLY(s, v, sum) OF(PROGRAM, apply)(s, v, sum)
#endif

#ifdef WEIGHT
#define GATHER(s, u, v, i) OF(PROGRAM, gather)(s, u, v, WEIGHTS[i])
#else
#define GATHER(s, u, v, i) OF(PROGRAM, gather)(s, u, v, 1)
#endif

__kernel void OF(PROGRAM, rows)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) PAGE_PARAMS,
				GLOBAL const u32 *front, GLOBAL SUM *partial, u64 head_slot, u64 tail_slot,
				GLOBAL u64 *count)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 r = get_global_id(0), v = first + r, begin, end;
	u64 slot = NO_SLOT;
	SUM sum;

	if (r >= n_rows || (front && !BIT(front, v)))
		return;
	if (r == 0 && head_slot != NO_SLOT)
		slot = head_slot;
	else if (r + 1 == n_rows && tail_slot != NO_SLOT)
		slot = tail_slot;
	begin = row[r];
	end = row[r + 1];
	sum = OF(PROGRAM, start)(s);
	while (begin < end) {
		u32 stop = end - begin > LIST_BLOCK ? begin + LIST_BLOCK : end;
		SUM block = OF(PROGRAM, start)(s);

		for (u32 i = begin; i < stop; i++)
			block = OF(PROGRAM, combine)(block, GATHER(s, neighbour[i], v, i));
		if (slot != NO_SLOT)
			partial[slot++] = block;
		else
			sum = OF(PROGRAM, combine)(sum, block);
		begin = stop;
	}
	if (slot == NO_SLOT)
		APPLY(s, v, sum);
}

/* One work-item per vertex without a row. */
__kernel void OF(PROGRAM, rest)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) u32 begin, u32 end,
				GLOBAL const u32 *front, GLOBAL u64 *count)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 i = get_global_id(0);

	if (i < end - begin && (!front || BIT(front, begin + i)))
		APPLY(s, begin + i, OF(PROGRAM, start)(s));
}

/* One work-item per list that spans pages. */
__kernel void OF(PROGRAM, finish)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *front,
				  GLOBAL const SUM *partial, GLOBAL const u64 *split, u32 n_splits,
				  GLOBAL u64 *count)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 i = get_global_id(0);
	SUM sum;

	if (i >= n_splits || (front && !BIT(front, (vid)split[3 * i])))
		return;
	sum = OF(PROGRAM, start)(s);
	for (u64 j = 0; j < split[3 * i + 2]; j++)
		sum = OF(PROGRAM, combine)(sum, partial[split[3 * i + 1] + j]);
	APPLY(s, (vid)split[3 * i], sum);
}
