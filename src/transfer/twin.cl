/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of the exchange between twin masters: transfer/twin.h. */

/* Counts the changed vertices of each tile of TWIN_TILE words. A work-group takes a tile. */
__kernel void twin_count(GLOBAL const u32 *changed, u32 n_words, GLOBAL u32 *count, u32 n_tiles)
{
	SHARED u32 sum;

	for (u32 tile = (u32)get_group_id(0); tile < n_tiles; tile += (u32)get_num_groups(0)) {
		u32 mine = 0;

		BARRIER();
		if (get_local_id(0) == 0)
			sum = 0;
		BARRIER();
		for (u32 k = (u32)get_local_id(0); k < TWIN_TILE; k += GROUP)
			if (tile * TWIN_TILE + k < n_words)
				mine += popcount(changed[tile * TWIN_TILE + k]);
		if (mine)
			local_add_u32(&sum, mine);
		BARRIER();
		if (get_local_id(0) == 0)
			count[tile] = sum;
	}
}

/*
 * Writes id, value and `sent` of the changed vertices in words [begin, end), in any order, and
 * clears their bits. count: the number of entries so far.
 */
#define TWIN_COLLECT(name, type) \
__kernel void name(GLOBAL u32 *changed, u32 begin, u32 end, GLOBAL const type *value, \
		   GLOBAL const type *sent, GLOBAL u32 *count, GLOBAL u32 *id, GLOBAL type *x, \
		   GLOBAL type *y) \
{ \
	for (u32 w = begin + (u32)get_global_id(0); w < end; w += (u32)get_global_size(0)) { \
		u32 word = changed[w], at; \
\
		if (!word) \
			continue; \
		changed[w] = 0; \
		at = raw_add_u32(count, popcount(word)); \
		for (; word; word &= word - 1, at++) { \
			u32 v = w * 32 + 31 - clz(word & -word); \
\
			id[at] = v; \
			x[at] = value[v]; \
			y[at] = sent[v]; \
		} \
	} \
}

TWIN_COLLECT(twin_collect_u32, u32)
TWIN_COLLECT(twin_collect_u64, u64)

/* Stores n entries. y may be null: `sent` stays. */
#define TWIN_SCATTER(name, type) \
__kernel void name(GLOBAL const u32 *id, GLOBAL const type *x, GLOBAL const type *y, u32 n, \
		   GLOBAL type *value, GLOBAL type *sent) \
{ \
	for (u32 i = (u32)get_global_id(0); i < n; i += (u32)get_global_size(0)) { \
		value[id[i]] = x[i]; \
		if (y) \
			sent[id[i]] = y[i]; \
	} \
}

TWIN_SCATTER(twin_scatter_u32, u32)
TWIN_SCATTER(twin_scatter_u64, u64)
