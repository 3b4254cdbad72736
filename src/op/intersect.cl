/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segmented intersection over one segment of oriented lists, as kernels (Gunrock, section
 * 4.3). The defines and the program stand before this text. A pair is an edge {u, v} of the
 * segment for which the list of v lies in the block. Two kernels look at all pairs, and
 * each leaves the pairs of the other alone (is_searched). two_small merges the lists of a
 * pair in one work-item. small_large searches for the elements of the shorter list in the
 * longer one, with a team of work-items.
 */

/*
 * Two lists of at most SMALL elements are merged. The work-items of a warp wait for the
 * longest merge among them, so no merge must be much longer than usual. If one list is
 * longer, the elements of the shorter list are searched in it. On a CPU a team is one core
 * and shares nothing; there a list is searched only if it is SEARCH_RATIO times longer than
 * the other, because otherwise a search is more work than a merge. (CPU time of kron 16 on
 * PoCL, three rounds each: relative to a ratio of 16, a ratio of 2 takes 1.4 to 1.7 times as
 * long, a ratio of 4 takes 1.2 times, a ratio of 8 takes 1.05 times as long.)
 */
#define SMALL 64u
#if CHUNKED
#define SEARCH_RATIO 16u
#else
#define SEARCH_RATIO 1u
#endif
/* The number of work-items that share a pair: a warp on a GPU. */
#define TEAM (GROUP % 32 ? GROUP : 32)
#define TEAMS (GROUP / TEAM)

/* The lists of n_rows vertices from `first` on. weight may be null. */
struct lists {
	GLOBAL const u32 *row, *neighbour, *weight;
	u32 first, n_rows;
};

#define INTERSECT_PARAMS \
	FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS, GLOBAL const u32 *block, \
	u32 block_neighbour_at, u32 block_weight_at, u32 block_first, u32 block_rows, \
	GLOBAL u64 *counts
#define INTERSECT_STATE \
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true }; \
	struct lists here = { ROWS, NEIGHBOURS, weights ? weights + weight_at : 0, first, \
			      n_rows }; \
	struct lists there = { block, block + block_neighbour_at, \
			       weights ? block + block_weight_at : 0, block_first, block_rows }

/*
 * Edge uv of the segment. u's list is [i, i_end) of the segment, v's [j, j_end) of the
 * block.
 */
struct pair {
	u32 u, v, uv, i, i_end, j, j_end;
};

/*
 * Returns the row of edge e: the last row that begins at or before e. It is not before row
 * r.
 */
static inline u32 row_of(struct lists l, u32 r, u32 e)
{
	u32 end = l.n_rows, step = 1;

	while (r + step < end && l.row[r + step] <= e) {
		r += step;
		step *= 2;
	}
	end = min(end, r + step);
	while (end - r > 1) {
		u32 middle = r + (end - r) / 2;

		if (l.row[middle] <= e)
			r = middle;
		else
			end = middle;
	}
	return r;
}

/* Returns the pair of edge e in row r. v's list is empty if there is nothing to intersect. */
static inline struct pair pair_of(struct lists here, struct lists there, u32 r, u32 e)
{
	struct pair p = {
		here.first + r, here.neighbour[e], e, here.row[r], here.row[r + 1], 0, 0
	};
	u32 other = p.v - there.first;

	if (p.v >= there.first && other < there.n_rows && p.i_end - p.i > 1) {
		p.j = there.row[other];
		p.j_end = there.row[other + 1];
	}
	return p;
}

/* Returns true if small_large takes the pair, false if two_small does. */
static inline bool is_searched(struct pair p)
{
	u32 a = p.i_end - p.i, b = p.j_end - p.j, longer = max(a, b), shorter = min(a, b);

	return shorter && longer > SMALL && longer >= SEARCH_RATIO * shorter;
}

/* Calls the program for the common element at i in u's list and at j in v's. */
static inline void call_found(struct PROGRAM s, struct lists here, struct lists there,
			      struct pair p, u32 i, u32 j)
{
	OF(PROGRAM, found)(s, 0, p.u, p.v, here.neighbour[i], here.weight ? here.weight[p.uv] : 1,
			   here.weight ? here.weight[i] : 1, there.weight ? there.weight[j] : 1);
}

__kernel void OF(PROGRAM, two_small)(INTERSECT_PARAMS)
{
	INTERSECT_STATE;
	u64 looked_at = 0, shared = 0;
	u32 r = 0, begin = here.row[0];

	FOR_MINE(e, n_edges, ITEM_PAIRS) {
		struct pair p;
		u32 n = 0;

		r = row_of(here, r, begin + e);
		p = pair_of(here, there, r, begin + e);
		if (is_searched(p))
			continue;
		looked_at += p.j_end - p.j;
		for (u32 i = p.i, j = p.j; i < p.i_end && j < p.j_end;) {
			u32 x = here.neighbour[i], y = there.neighbour[j];

			if (x == y) {
				call_found(s, here, there, p, i, j);
				n++;
			}
			i += x <= y;
			j += y <= x;
		}
		if (n)
			OF(PROGRAM, pair)(s, 0, p.u, p.v, n);
		shared += n;
	}
	count_add(counts, COUNT_EDGES, looked_at);
	count_add(counts, COUNT_UPDATES, shared);
}

/* Returns the first position in [from, end) with an element that is not below w. */
static inline u32 search(GLOBAL const u32 *list, u32 from, u32 end, u32 w)
{
	while (from < end) {
		u32 middle = from + (end - from) / 2;

		if (list[middle] < w)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

/*
 * Searches for every TEAM-th element of the shorter list, from `lane` on. Returns the
 * number found by this work-item.
 */
static inline u32 search_share(struct PROGRAM s, struct lists here, struct lists there,
			       struct pair p, u32 lane)
{
	bool swap = p.i_end - p.i > p.j_end - p.j;	/* u's list is the longer one */
	GLOBAL const u32 *few = swap ? there.neighbour : here.neighbour,
			 *many = swap ? here.neighbour : there.neighbour;
	u32 at = swap ? p.j : p.i, end = swap ? p.j_end : p.i_end, low = swap ? p.i : p.j,
	    high = swap ? p.i_end : p.j_end;
	u32 n = 0;

	for (u32 k = at + lane; k < end && low < high; k += TEAM) {
		low = search(many, low, high, few[k]);
		if (low < high && many[low] == few[k]) {
			call_found(s, here, there, p, swap ? low : k, swap ? k : low);
			n++;
		}
	}
	return n;
}

/*
 * A work-group collects the pairs that are searched. Its teams take one pair after the
 * other. Then the numbers of elements found are added up.
 */
__kernel void OF(PROGRAM, small_large)(INTERSECT_PARAMS)
{
	INTERSECT_STATE;
	SHARED u32 edge[GROUP * ITEM_PAIRS], of_row[GROUP * ITEM_PAIRS], hits[GROUP * ITEM_PAIRS],
		n;
	u32 id = get_local_id(0), r = 0, begin = here.row[0];
	u64 looked_at = 0, shared = 0;

	if (id == 0)
		n = 0;
	BARRIER();
	FOR_MINE(e, n_edges, ITEM_PAIRS) {
		struct pair p;

		r = row_of(here, r, begin + e);
		p = pair_of(here, there, r, begin + e);
		if (is_searched(p)) {
			u32 at = local_add_u32(&n, 1);

			edge[at] = begin + e;
			of_row[at] = r;
			hits[at] = 0;
			looked_at += p.j_end - p.j;
		}
	}
	BARRIER();
	for (u32 k = id / TEAM; k < n; k += TEAMS) {
		u32 found = search_share(s, here, there, pair_of(here, there, of_row[k], edge[k]),
					 id % TEAM);

		if (found)
			local_add_u32(&hits[k], found);
	}
	BARRIER();
	for (u32 k = id; k < n; k += GROUP) {
		if (!hits[k])
			continue;
		OF(PROGRAM, pair)(s, 0, here.first + of_row[k], here.neighbour[edge[k]], hits[k]);
		shared += hits[k];
	}
	count_add(counts, COUNT_EDGES, looked_at);
	count_add(counts, COUNT_UPDATES, shared);
}
