/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie's PartitionKernelV3 over one partition. The defines and the program stand before
 * this text. A work-group takes one tile of edges at a time; a work-item takes one edge of
 * the tile, on a CPU a few neighbouring edges. First the values of the tile's sources are
 * copied to local memory. Then every edge is relaxed in place (UP). A work-item that changes
 * a vertex with out-edges sets the flag of that vertex's partition; flags are in local
 * memory until the work-group ends. All edges of an active partition are processed: an edge
 * from a source without a new value changes nothing. An idle partition (active is 0) has no
 * active source: its edges are only read.
 *
 * Ids are virtual (policy/partition.h): the partition of an id is id / range, and the index
 * of its state is id - pre_sum[id / range]. Ids beyond all ranges are vertices without
 * out-edges. If pages cross packed, neighbours are the indexes themselves, and their
 * partitions are looked up among the first sources of all partitions.
 */
#define UP(s, x, v, i) (!OF(PROGRAM, idle)(s, x) && AT_EDGE(s, x, v, i))

#if CHUNKED
#define TILE (GROUP * TILE_EDGES)
#define FOR_TILE(i, at, end) \
	for (u32 i = (at) + (u32)get_local_id(0) * TILE_EDGES, \
		 i##_end = min(end, i + TILE_EDGES); \
	     i < i##_end; i++)
#else
#define TILE GROUP
#define FOR_TILE(i, at, end) for (u32 i = (at) + (u32)get_local_id(0); i < (end); i += GROUP)
#endif

#define PARTITION_PARAMS \
	FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *lists, GLOBAL const u32 *weights, \
	u32 source_at, u32 neighbour_at, u32 weight_at, u32 n_edges, GLOBAL const u32 *pre_sum, \
	u32 n_partitions, u32 range, u32 staging, u32 active, GLOBAL u64 *counts, LOCAL u32 *flag, \
	u32 n_words

/*
 * Marks partition i as active in the next superstep: in local memory or, if that has no
 * room for flags (n_words is 0), directly in the global flags.
 */
static inline void activate(u32 i, LOCAL u32 *flag, u32 n_words, GLOBAL u64 *counts)
{
	GLOBAL u32 *all = (GLOBAL u32 *)counts + PAGE_COUNTS;

	if (!n_words) {
		if (!dev_load_u32(&all[i]))
			dev_store_u32(&all[i], 1u);
		return;
	}
#ifndef RACE_CHECK
	if (((volatile LOCAL u32 *)flag)[i / 32] >> i % 32 & 1)
		return;
#endif
	local_or_u32(&flag[i / 32], 1u << i % 32);
}

static inline void flags_begin(LOCAL u32 *flag, u32 n_words)
{
	for (u32 w = get_local_id(0); w < n_words; w += GROUP)
		flag[w] = 0;
}

static inline void flags_end(LOCAL const u32 *flag, u32 n_words, GLOBAL u64 *counts)
{
	GLOBAL u32 *all = (GLOBAL u32 *)counts + PAGE_COUNTS;

	for (u32 w = get_local_id(0); w < n_words; w += GROUP)
		for (u32 word = flag[w]; word; word &= word - 1) {
			u32 i = w * 32 + 31 - clz(word & -word);

			if (!dev_load_u32(&all[i]))
				dev_store_u32(&all[i], 1u);
		}
}

static inline void counts_end(GLOBAL u64 *counts, u32 updates, u32 atomics)
{
	count_add(counts, COUNT_UPDATES, updates);
	if (LANES)
		count_add(counts, COUNT_ATOMICS, atomics);
}

static inline u32 index_of(u32 id, GLOBAL const u32 *pre_sum, u32 n_partitions, u32 range)
{
	return id - pre_sum[min(id / range, n_partitions)];
}

/* Processes a partition that crossed as edges with their sources. */
__kernel void OF(PROGRAM, partition_edges)(PARTITION_PARAMS)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	SHARED HELD held[TILE];
	GLOBAL const u32 *source = lists + source_at, *neighbour = lists + neighbour_at;
	u32 updates = 0, atomics = 0;

	flags_begin(flag, n_words);
	for (u64 tile = (u64)get_group_id(0) * TILE; tile < n_edges;
	     tile += (u64)get_num_groups(0) * TILE) {
		u32 at = (u32)tile, end = n_edges - at < TILE ? n_edges : at + TILE;
		/*
		 * The indexes of sources are contiguous. Their ids have a gap after a list
		 * that continues from an earlier partition.
		 */
		u32 first = index_of(source[at], pre_sum, n_partitions, range);
		u32 distinct = index_of(source[end - 1], pre_sum, n_partitions, range) - first + 1;
		bool staged = staging && distinct <= TILE;

		for (u32 k = get_local_id(0); staged && k < distinct; k += GROUP)
			held[k] = OF(PROGRAM, value)(s, first + k);
		BARRIER();
		FOR_TILE(i, at, end) {
			u32 u = index_of(source[i], pre_sum, n_partitions, range);
			u32 id = neighbour[i], to = min(id / range, n_partitions),
			    v = id - pre_sum[to];
			HELD x = staged ? held[u - first] : OF(PROGRAM, value)(s, u);

			if (!active || !UP(s, x, v, i))
				continue;
			updates++;
			atomics += 1 + (to < n_partitions);
			if (to < n_partitions)
				activate(to, flag, n_words, counts);
		}
		BARRIER();
	}
	flags_end(flag, n_words, counts);
	counts_end(counts, updates, atomics);
}

/*
 * The edge at which row r begins. row[0] may belong to another partition, so row 0 begins
 * at 0.
 */
#define BEGINS(r) ((r) ? row[r] - base : 0)

/* Returns the row of [low, high) that has edge i: the last one that begins at or before i. */
static inline u32 row_of(GLOBAL const u32 *row, u32 base, u32 low, u32 high, u32 i)
{
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (BEGINS(middle) <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Returns the partition that has source v; n_partitions for a vertex without out-edges. */
static inline u32 partition_of(GLOBAL const u32 *first, u32 n_partitions, u32 v)
{
	u32 low = 0, high = n_partitions;

	if (v >= first[n_partitions])
		return n_partitions;
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (first[middle] <= v)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Processes a partition that crossed as rows. first_of: NULL if neighbours are ids, else
 * the first source of each partition.
 */
__kernel void OF(PROGRAM, partition_rows)(PARTITION_PARAMS, u32 first, u32 n_rows, u32 base,
					  GLOBAL const u32 *first_of)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true };
	SHARED HELD held[TILE];
	SHARED u32 bound[2];
	GLOBAL const u32 *row = lists + source_at, *neighbour = lists + neighbour_at;
	u32 updates = 0, atomics = 0;

	flags_begin(flag, n_words);
	for (u64 tile = (u64)get_group_id(0) * TILE; tile < n_edges;
	     tile += (u64)get_num_groups(0) * TILE) {
		u32 at = (u32)tile, end = n_edges - at < TILE ? n_edges : at + TILE, low, high, r,
		    next = 0;
		bool staged;

		if (get_local_id(0) == 0) {
			bound[0] = row_of(row, base, 0, n_rows, at);
			bound[1] = row_of(row, base, bound[0], n_rows, end - 1) + 1;
		}
		BARRIER();
		low = bound[0];
		high = bound[1];
		staged = staging && high - low <= TILE;
		for (u32 k = low + get_local_id(0); staged && k < high; k += GROUP)
			held[k - low] = OF(PROGRAM, value)(s, first + k);
		BARRIER();
		r = low;
		FOR_TILE(i, at, end) {
			u32 v = neighbour[i], to;
			HELD x;

			if (i >= next) {
				r = row_of(row, base, r, high, i);
				next = r + 1 < n_rows ? BEGINS(r + 1) : n_edges;
			}
			x = staged ? held[r - low] : OF(PROGRAM, value)(s, first + r);
			if (first_of) {
				if (!active || !UP(s, x, v, i))
					continue;
				to = partition_of(first_of, n_partitions, v);
			} else {
				to = min(v / range, n_partitions);
				if (!active || !UP(s, x, v - pre_sum[to], i))
					continue;
			}
			updates++;
			atomics += 1 + (to < n_partitions);
			if (to < n_partitions)
				activate(to, flag, n_words, counts);
		}
		BARRIER();
	}
	flags_end(flag, n_words, counts);
	counts_end(counts, updates, atomics);
}
