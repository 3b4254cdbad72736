/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's kernels (Kim et al., SIGMOD 2016, appendix B): the join of one page with the vertex
 * state, the paper's attributes. The defines and the program stand before this text. The
 * values that sources give (RA) are beside their page: `given` has an element per row. If
 * given is NULL, sources give their values in the writable attribute (WA), all of which is
 * then on the device. The device has the vertices [begin, end) of WA: an edge to another
 * vertex is left to the device or chunk that has the vertex. A vertex that changed sets a
 * flag of the page where its list ends (nextPIDSet) or, if ids are addresses, begins.
 *
 * There are three ways to give edges to work-items: one work-item per vertex
 * (vertex-centric), a virtual warp of 4 to 32 work-items per vertex (edge-centric), and all
 * work-items for a page of one list, a large page. Corrected against the paper: loops go on
 * to the next vertex or edge of the same work-item.
 *
 * A reduction is a join in the other direction. Elsewhere op_reduce gathers values over
 * in-edges; here sources give these values along out-edges, edges add them to sums of 64
 * bits, and `apply` follows on the host. Pages without a source that gives a value do not
 * pass, so a level of bc moves only the pages of that level. Floats are added in any
 * order, so their last bits differ; with --exact the bits are the same on any number of
 * devices and chunks.
 */
/* Lanes of a hardware warp, for the statistics of lanes. */
#define WARP 32u

#define JOIN_PARAMS \
	FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS, \
	GLOBAL const HELD *given, u32 begin, u32 end, \
	GLOBAL const u32 *start, u32 n_pages, u32 slots, u32 flags, u32 warp, u32 page, \
	u32 n_vertices, GLOBAL u64 *fault, GLOBAL u64 *counts

/* The counts of one work-item. */
struct mine {
	u32 edges, updates, atomics;
	u64 lanes;
};

static inline void mine_add(GLOBAL u64 *counts, struct mine m)
{
	count_add(counts, COUNT_EDGES, m.edges);
	count_add(counts, COUNT_UPDATES, m.updates);
	if (LANES) {
		count_add(counts, COUNT_SLOTS, m.lanes);
		count_add(counts, COUNT_ATOMICS, m.atomics);
	}
}

/* Returns the last page that begins at or before v: the page where the list of v ends. */
static inline u32 page_of(GLOBAL const u32 *start, u32 n_pages, u32 v)
{
	u32 low = 0, high = n_pages;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (start[middle] <= v)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Flags a page. head: the changed vertex has the page's first row, which may have begun in
 * an earlier page; such rows have a flag of their own.
 */
static inline void flag_page(GLOBAL u64 *counts, u32 page, bool head)
{
	dev_or_u32(true, (GLOBAL u32 *)counts + PAGE_COUNTS + page, head ? PAGE_HEAD : PAGE_OTHERS);
}

/*
 * Returns the vertex of an address, or NO_VERTEX if the address does not exist. If two
 * neighbouring pages have the same first vertex, no list begins in the first of them.
 */
static inline u32 vertex_of(GLOBAL const u32 *start, u32 n_pages, u32 to, u32 slot, u32 n_vertices)
{
	u32 most = (to == n_pages ? n_vertices : start[to + 1]) - start[to];

	return slot < most ? start[to] + slot : NO_VERTEX;
}

/*
 * Processes edge i of the page: gives x, the value of its source, to its neighbour. start:
 * the first vertex of each page or, if ids are addresses, the first vertex with a list that
 * begins in the page; start[n_pages] is the number of vertices that have rows. slots: the
 * slots of a page if ids are addresses; 0: ids are numbers.
 */
#define JOIN_EDGE(x, i) \
	do { \
		u32 id_ = NEIGHBOURS[i], page_ = n_pages, v_ = id_; \
		if (slots) { \
			page_ = min(id_ / slots, n_pages); \
			v_ = vertex_of(start, n_pages, page_, id_ - page_ * slots, n_vertices); \
			if (v_ == NO_VERTEX) \
				dev_store_u64(fault, (u64)page + 1); \
		} \
		if (v_ - begin < end - begin && AT_EDGE(s, x, v_ - begin, i)) { \
			m.updates++; \
			m.atomics++; \
			if (flags && v_ < start[n_pages]) { \
				if (!slots) \
					page_ = page_of(start, n_pages, v_); \
				flag_page(counts, page_, v_ == start[page_]); \
			} \
		} \
	} while (0)

#define JOIN_STATE struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true, ORDERED }
#define JOIN_GIVEN(r) (given ? given[r] : OF(PROGRAM, value)(s, first + (r)))

/*
 * Counts the lanes of the hardware warp that takes rows [r, r + WARP / warp): it runs as
 * long as the longest of these lists takes.
 */
#if LANES
#define JOIN_LANES(r) \
	do { \
		u32 most_ = 0; \
		for (u32 k_ = (r); k_ < n_rows && k_ < (r) + WARP / warp; k_++) { \
			HELD x_ = JOIN_GIVEN(k_); \
			if (!OF(PROGRAM, idle)(s, x_)) \
				most_ = max(most_, (ROWS[k_ + 1] - ROWS[k_] + warp - 1) / warp); \
		} \
		m.lanes += (u64)most_ * WARP; \
	} while (0)
#else
#define JOIN_LANES(r) ((void)0)
#endif

#if CHUNKED
#define JOIN_AHEAD 16u
#define JOIN_TOUCH(i) \
	if (!slots && (i) + JOIN_AHEAD < n_edges && \
	    NEIGHBOURS[(i) + JOIN_AHEAD] - begin < end - begin) \
	FETCH(s, NEIGHBOURS[(i) + JOIN_AHEAD] - begin)
#else
#define JOIN_TOUCH(i)
#endif

/* One work-item per vertex; warp is 1. */
__kernel void OF(PROGRAM, join_vertex)(JOIN_PARAMS)
{
	JOIN_STATE;
	struct mine m = { 0, 0, 0, 0 };

	FOR_ROWS(r) {
		HELD x = JOIN_GIVEN(r);

		if (r % WARP == 0)
			JOIN_LANES(r);
		if (OF(PROGRAM, idle)(s, x))
			continue;
		for (u32 i = ROWS[r], stop = ROWS[r + 1]; i < stop; i++) {
			JOIN_TOUCH(i);
			JOIN_EDGE(x, i);
		}
		m.edges += ROWS[r + 1] - ROWS[r];
	}
	mine_add(counts, m);
}

__kernel void OF(PROGRAM, join_warp)(JOIN_PARAMS)
{
	JOIN_STATE;
	u32 id = (u32)get_global_id(0), n_warps, lane;
	struct mine m = { 0, 0, 0, 0 };

	if (!warp)	/* a launch that only warms the kernel up */
		return;
	n_warps = (u32)get_global_size(0) / warp;
	lane = id & (warp - 1);	/* a power of two: oclgrind knows no remainder beside a quotient */
	/* Work-items of an incomplete last warp do nothing. */
	for (u32 r = id / warp; id / warp < n_warps && r < n_rows; r += n_warps) {
		HELD x = JOIN_GIVEN(r);

		if (lane == 0 && r % (WARP / warp) == 0)
			JOIN_LANES(r);
		if (OF(PROGRAM, idle)(s, x))
			continue;
		for (u32 i = ROWS[r] + lane, stop = ROWS[r + 1]; i < stop; i += warp) {
			JOIN_EDGE(x, i);
			m.edges++;
		}
	}
	mine_add(counts, m);
}

/* A large page: one row, or a piece of one. All work-items share its edges. */
__kernel void OF(PROGRAM, join_large)(JOIN_PARAMS)
{
	JOIN_STATE;
	HELD x = JOIN_GIVEN(0);
	struct mine m = { 0, 0, 0, 0 };

	if (OF(PROGRAM, idle)(s, x))
		return;
	FOR_MINE(i, n_edges, ITEM_EDGES) {
		JOIN_TOUCH(i);
		JOIN_EDGE(x, i);
		m.edges++;
	}
	if (get_global_id(0) == 0)
		m.lanes = ((u64)n_edges + WARP - 1) / WARP * WARP;
	mine_add(counts, m);
}
