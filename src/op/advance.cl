/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advance operator over one page, as kernels; the defines and the program stand before. One
 * work-item per row. Bitmaps are the host's, seen as 32-bit words. counts: edges, updates, smallest key.
 */
#ifdef WEIGHT
#define EDGE(s, u, v, i) OF(PROGRAM, edge)(s, u, v, WEIGHTS[i])
#else
#define EDGE(s, u, v, i) OF(PROGRAM, edge)(s, u, v, 1)
#endif

#define BIT(bits, v) ((bits)[(v) / 32] >> ((v) % 32) & 1)

/* True if it was clear. */
static inline bool set_bit(GLOBAL u32 *bits, u32 v)
{
	u32 bit = 1u << (v % 32);

	return !(dev_load_u32(&bits[v / 32]) & bit) && !(raw_or_u32(&bits[v / 32], bit) & bit);
}

static inline void count(GLOBAL u64 *counts, u32 edges, u32 updates)
{
	if (edges)
		atom_add(&counts[0], (u64)edges);
	if (updates)
		atom_add(&counts[1], (u64)updates);
}

__kernel void OF(PROGRAM, push)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) PAGE_PARAMS, GLOBAL const u32 *front,
				GLOBAL u32 *next, GLOBAL u32 *far, GLOBAL u64 *counts, u64 limit)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 r = get_global_id(0), u = first + r, updates = 0;

	if (r >= n_rows || !BIT(front, u))
		return;
	for (u32 i = row[r]; i < row[r + 1]; i++) {
		u32 v = neighbour[i];

		if (!EDGE(s, u, v, i))
			continue;
		updates += !IDEMPOTENT;
#if NEAR_FAR
		if (OF(PROGRAM, key)(s, v) >= limit)
			set_bit(far, v);
		else
#endif
			if (set_bit(next, v))
				updates += IDEMPOTENT;
	}
	count(counts, row[r + 1] - row[r], updates);
}

__kernel void OF(PROGRAM, pull)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) PAGE_PARAMS, GLOBAL const u32 *front,
				GLOBAL u32 *next, GLOBAL u64 *counts)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	GLOBAL const u32 *row = ROWS, *neighbour = NEIGHBOURS;
	u32 r = get_global_id(0), v = first + r, updates = 0, i;

	if (r >= n_rows || !OF(PROGRAM, cond)(s, v))
		return;
	for (i = row[r]; i < row[r + 1]; i++) {
		u32 u = neighbour[i];

		if (!BIT(front, u) || !EDGE(s, u, v, i))
			continue;
		updates++;
		if (!OF(PROGRAM, cond)(s, v)) {
			i++;
			break;
		}
	}
	if (updates)
		set_bit(next, v);
	count(counts, i - row[r], updates);
}

#if NEAR_FAR
/* One work-item per word of the bitmap of waiting vertices. */
__kernel void OF(PROGRAM, near)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL u32 *far, GLOBAL u32 *next,
				GLOBAL u64 *counts, u64 old, u64 limit, u32 n_words)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false };
	u32 w = get_global_id(0), keep = 0, near = 0;

	if (w >= n_words)
		return;
	for (u32 word = far[w]; word; word &= word - 1) {
		u32 bit = word & -word;
		u64 key = OF(PROGRAM, key)(s, w * 32 + 31 - clz(bit));

		if (key >= limit) {
			keep |= bit;
			atom_min(&counts[2], key);
		} else if (key >= old) {
			near |= bit;
		}
	}
	far[w] = keep;
	next[w] |= near;
}
#endif
