/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS's kernels (Kim et al., SIGMOD 2016, appendix B): the join of one page with the attributes; the defines and the program stand before.
 * What a source gives (RA) lies beside its page, `given` with an element for each row; or, where it is NULL, is the writable attribute
 * itself, all of which is here then. What edges write (WA) are the vertices [begin, end): an edge that leads elsewhere is left to who has
 * its end. A vertex that changed sets a flag of the page where its list ends (nextPIDSet), or begins where ids are addresses.
 *
 * Three ways to give edges to work-items: a vertex each (vertex-centric), a virtual warp for each vertex (edge-centric; 4 to 32 work-items), and for
 * a page of one list, a large page, all of them. Corrected against the paper: loops go on to the next vertex or edge that is theirs.
 */
/* Lanes of a warp, for who counts them. */
#define WARP 32u

#define JOIN_PARAMS \
	FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS, GLOBAL const HELD *given, u32 begin, u32 end, \
	GLOBAL const u32 *start, u32 n_pages, u32 slots, u32 flags, u32 warp, u32 page, u32 n_vertices, GLOBAL u64 *fault, GLOBAL u64 *counts

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

/* The last page that begins at or before v: the one where its list ends. */
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

/* Apart: its first row, of which a part may lie in the pages before. */
static inline void flag_page(GLOBAL u64 *counts, u32 page, bool head)
{
	dev_or_u32(true, (GLOBAL u32 *)counts + PAGE_COUNTS + page, head ? PAGE_HEAD : PAGE_OTHERS);
}

/* The vertex of an address; of one that does not exist, none. No list begins in a page whose first vertex is that of the next one. */
static inline u32 vertex_of(GLOBAL const u32 *start, u32 n_pages, u32 to, u32 slot, u32 n_vertices)
{
	u32 most = (to == n_pages ? n_vertices : start[to + 1]) - start[to];

	return slot < most ? start[to] + slot : NO_VERTEX;
}

/*
 * start: the first vertex of each page, or the first whose list begins there where ids are addresses; start[n_pages]: how many vertices
 * have rows. slots: of a page where ids are addresses; 0: they are numbers.
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

/* Lanes of the warps that take rows [r, r + WARP / warp): each as long as the longest of its lists. */
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
	if (!slots && (i) + JOIN_AHEAD < n_edges && NEIGHBOURS[(i) + JOIN_AHEAD] - begin < end - begin) \
	FETCH(s, NEIGHBOURS[(i) + JOIN_AHEAD] - begin)
#else
#define JOIN_TOUCH(i)
#endif

/* warp is 1. */
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

	if (!warp)	/* who warms kernels up has nothing for them */
		return;
	n_warps = (u32)get_global_size(0) / warp;
	lane = id & (warp - 1);	/* a power of two: oclgrind knows no remainder beside a quotient */
	/* What is left over of the last warp has no partners. */
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

/* One row, or the part of one that lies here. */
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
