/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros and functions that all kernel skeletons share: a program's fields as parameters,
 * the layout of a segment, and the share of rows that a work-item takes.
 *
 * Two numbers shape all kernels. GROUP is the number of work-items of a work-group. CHUNKED
 * is 1 on a CPU: there a work-item takes a run of neighbouring rows, so that it walks
 * through memory. On a GPU a work-item takes every GROUP-th row, so that work-items walk
 * side by side. Each counter has COUNT_COPIES (64) copies, so that work-groups seldom meet
 * at one, and a work-item adds to each counter once, after all of its rows (ITEM_ROWS, 32).
 */
#define PARAM_ARRAY(type, name) GLOBAL type *field_##name,
#define PARAM_SCALAR(type, name) type field_##name,
#define LOCAL_ARRAY(type, name) field_##name,
#define LOCAL_SCALAR(type, name) field_##name,

/*
 * The parameters of a segment. Offsets are in 32-bit words. partial: PARTIAL_HEAD,
 * PARTIAL_TAIL. A program with EDGE_AT also gets `numbers` (one per edge, with OWNED one per
 * vertex; may be null; see transfer/number.h) and the position of the segment's first edge.
 * Edge numbers are computed from both.
 */
#if EDGE_AT
#define NUMBER_PARAMS , GLOBAL const u32 *numbers, u64 first_position
#define NUMBER_ARGS , numbers, first_position
#define NUMBER_AT(i) (numbers ? numbers[i] : (u32)first_position + (i))
#define OWN_NUMBER(u, i) ((u32)first_position + (i) + (numbers ? numbers[u] : 0))
#define OWNS(u, v) (!numbers || (v) >= (u))
#else
#define NUMBER_PARAMS
#define NUMBER_ARGS
#endif
#define SEGMENT_PARAMS \
	GLOBAL const u32 *lists, GLOBAL const u32 *weights, u32 row_at, u32 neighbour_at, \
	u32 weight_at, u32 first, u32 n_rows, u32 n_edges, u32 partial NUMBER_PARAMS
#define SEGMENT_ARGS \
	lists, weights, row_at, neighbour_at, weight_at, first, n_rows, n_edges, partial NUMBER_ARGS
#define ROWS (lists + row_at)
#define NEIGHBOURS (lists + neighbour_at)
#define WEIGHTS ((GLOBAL const WEIGHT *)(weights + weight_at))

/* FOR_MINE gives a work-item its share of the indexes below n, at most `most` of them. */
#if CHUNKED
#define MINE(k, most) ((u32)get_global_id(0) * (most) + (k))
#else
#define MINE(k, most) (((u32)get_group_id(0) * (most) + (k)) * GROUP + (u32)get_local_id(0))
#endif
#define FOR_MINE(i, n, most) \
	for (u32 i##_k = 0, i = MINE(0u, most); i##_k < (most) && i < (n); \
	     i##_k++, i = MINE(i##_k, most))
#define FOR_ROWS(r) FOR_MINE(r, n_rows, ITEM_ROWS)

#define BIT(bits, v) ((bits)[(v) / 32] >> ((v) % 32) & 1)

/* Returns word w of the bitmap, without the bits outside of [begin, end). */
DEVICE u32 window(GLOBAL const u32 *bits, u64 w, u64 begin, u64 end)
{
	u32 word = bits[w];

	if (w == begin / 32)
		word &= 0xffffffffu << (u32)(begin % 32);
	if (w == end / 32)
		word &= (1u << (u32)(end % 32)) - 1;
	return word;
}

/*
 * Returns the row, or list entry, of [low, high) that contains edge e: the last one that
 * begins at or before e. offset[low] <= e < offset[high].
 */
static inline u32 entry_of(GLOBAL const u32 *offset, u32 low, u32 high, u32 e)
{
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (offset[middle] <= e)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Sets the bit of v. Returns true if it was clear. */
static inline bool set_bit(GLOBAL u32 *bits, u32 v)
{
	u32 bit = 1u << (v % 32);

	return !(dev_load_u32(&bits[v / 32]) & bit) && !(raw_or_u32(&bits[v / 32], bit) & bit);
}

static inline void count_add(GLOBAL u64 *counts, u32 which, u64 n)
{
	if (n)
		atom_add(&counts[get_group_id(0) % COUNT_COPIES * COUNT_STRIDE + which], n);
}

/* Rounds after every operation, as the host does, so that sums have the same bits. */
#pragma OPENCL FP_CONTRACT OFF
