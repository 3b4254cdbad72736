/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advance over one segment, as kernels. The defines and the program stand before this text.
 *
 * Mappings are the four of Gunrock's section 5.1, over one form of the frontier. The bitmap
 * is compacted to a list of the active rows of the segment, with the prefix sums of the
 * lengths of their lists (pages_select_* in transfer/pages.cl). A mapping says which
 * work-item takes which of those edges. Gunrock's rule chooses the mapping, and --mapping
 * overrides it; both apply to pushes only. A pull has one kernel: a work-item takes rows.
 *
 * A push sets the bit of a vertex that it activates in the bitmap of the next frontier.
 * That is Gunrock's fused filter (--filter fused). With --filter exact or inexact it writes
 * a queue instead, with one place for each edge of the list. The queue is compacted by
 * prefix sums, or culled by hash tables, in the kernels below.
 */
#define EDGE(s, u, v, i) AT_EDGE(s, HELD_BY(s, u), v, i)

/*
 * TEAM: the number of work-items that run in lockstep, a warp on a GPU. Teams fill a
 * work-group of any size.
 */
#if GROUP >= 64 && GROUP % 32 == 0
#define TEAM 32
#elif GROUP % 2 == 0
#define TEAM (GROUP / 2)
#else
#define TEAM 1
#endif
#define TEAMS (GROUP / TEAM)

/* The counters of a work-item. slots: SIMD lanes issued. slots, atomics: only with LANES. */
struct mine {
	u32 edges, updates, emitted, atomics;
	u64 slots, filled;
};

static inline void mine_add(GLOBAL u64 *counts, struct mine m)
{
	count_add(counts, COUNT_EDGES, m.edges);
	count_add(counts, COUNT_UPDATES, m.updates);
	count_add(counts, COUNT_EMITTED, m.emitted);
#if NEAR_FAR
	if (m.filled)
		atom_or(&counts[get_group_id(0) % COUNT_COPIES * COUNT_STRIDE + COUNT_FILLED],
			m.filled);
#endif
#if LANES
	count_add(counts, COUNT_SLOTS, m.slots);
	count_add(counts, COUNT_ATOMICS, m.atomics);
#endif
}

/*
 * The buckets in which vertices wait (engine/piles.h), bitmaps of `words` words. far: the last
 * bucket. waiting: the buckets between near and far, side by side.
 */
#define BUCKET_PARAMS \
	GLOBAL u32 *far, GLOBAL u32 *waiting, GLOBAL const u64 *border, u64 limit, u32 near, \
	u32 last, u32 words
#define BUCKETS far, waiting, border, limit, near, last, words

/* Returns the bitmap of the bucket that a key belongs to; the key is not near. */
static inline GLOBAL u32 *waits_in(BUCKET_PARAMS, u64 key, struct mine *m)
{
	u32 to = dev_bucket(border, near + 1, last, key);

	if (to == last)
		return far;
	m->filled |= (u64)1 << to;
	return waiting + (u64)(to - 1) * words;
}

/* Activates v, or lets it wait in the bucket of its key. */
static inline void mark(struct PROGRAM s, u32 v, GLOBAL u32 *next, BUCKET_PARAMS, struct mine *m)
{
	bool fresh;

#if LANES
	m->atomics++;
#endif
#if NEAR_FAR
	u64 key = OF(PROGRAM, key)(s, v);

	if (key >= limit) {
		set_bit(waits_in(BUCKETS, key, m), v);
		return;
	}
#endif
	fresh = set_bit(next, v);
	m->emitted += fresh;
	m->updates += fresh && IDEMPOTENT;
}

#define PUSH_PARAMS \
	FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS, GLOBAL const u32 *list, \
	GLOBAL const u32 *offset, GLOBAL const u32 *total, GLOBAL u32 *next, GLOBAL u32 *queue, \
	GLOBAL u64 *counts, BUCKET_PARAMS
#define PUSH_STATE struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true, ORDERED }

/* Processes edge i of row r; q is its place in the queue. */
#define PUSH_EDGE(r, i, q) \
	do { \
		u32 v_ = NEIGHBOURS[i]; \
		bool hit_ = EDGE(s, first + (r), v_, i); \
		m.updates += hit_ && !IDEMPOTENT; \
		if (queue) \
			queue[q] = hit_ ? v_ : NO_VERTEX; \
		else if (hit_) \
			mark(s, v_, next, BUCKETS, &m); \
	} while (0)

#if CHUNKED
#define PUSH_AHEAD 16u
#define PUSH_TOUCH(i) \
	if ((i) + PUSH_AHEAD < n_edges) \
	FETCH(s, NEIGHBOURS[(i) + PUSH_AHEAD])
#else
#define PUSH_TOUCH(i)
#endif

/*
 * Returns the SIMD slots that a team issues if its lanes take list entries [i, i + TEAM):
 * TEAM times the length of the longest of those lists. Lists longer than `most` do not
 * count.
 */
static inline u64 team_slots(GLOBAL const u32 *offset, u32 i, u32 n, u32 most)
{
	u32 longest = 0;

	for (u32 k = i; k < n && k < i + TEAM; k++) {
		u32 degree = offset[k + 1] - offset[k];

		if (degree <= most)
			longest = max(longest, degree);
	}
	return (u64)longest * TEAM;
}

/* Mapping `thread`: a work-item takes the list of a vertex. */
__kernel void OF(PROGRAM, push_thread)(PUSH_PARAMS)
{
	PUSH_STATE;
	u32 n = total[0];
	struct mine m = { 0, 0, 0, 0, 0, 0 };

	FOR_MINE(k, n, ITEM_ENTRIES) {
		u32 r = list[k], begin = ROWS[r], end = ROWS[r + 1];

		for (u32 i = begin; i < end; i++) {
			PUSH_TOUCH(i);
			PUSH_EDGE(r, i, offset[k] + (i - begin));
		}
		m.edges += end - begin;
#if LANES
		if (k % TEAM == 0)
			m.slots += team_slots(offset, k, n, 0xffffffffu);
#endif
	}
	mine_add(counts, m);
}

/* Processes the edges of list entry `entry` with n work-items; this one is number `id`. */
#define STRIDE_LIST(entry, id, n) \
	do { \
		u32 e_ = (entry), r_ = list[e_], begin_ = ROWS[r_], end_ = ROWS[r_ + 1]; \
		for (u32 i_ = begin_ + (id); i_ < end_; i_ += (n)) { \
			PUSH_EDGE(r_, i_, offset[e_] + (i_ - begin_)); \
			m.edges++; \
		} \
		if (LANES && (id) == 0) \
			m.slots += (end_ - begin_ + (n) - 1) / (n) * (n); \
	} while (0)

/*
 * Mapping `group`: dynamic grouping (Merrill). A work-group takes GROUP vertices. The whole
 * group takes each list longer than GROUP, a team each other list longer than TEAM, a
 * work-item each remaining list.
 */
__kernel void OF(PROGRAM, push_group)(PUSH_PARAMS)
{
	PUSH_STATE;
	SHARED u32 large[GROUP], medium[GROUP], n_large, n_medium;
	u32 n = total[0], id = get_local_id(0), team = id / TEAM, lane = id % TEAM;
	u32 k = get_group_id(0) * GROUP + id, degree = 0;
	struct mine m = { 0, 0, 0, 0, 0, 0 };

	if (id == 0)
		n_large = n_medium = 0;
	BARRIER();
	if (k < n) {
		degree = offset[k + 1] - offset[k];
		if (degree > GROUP)
			large[atomic_inc(&n_large)] = k;
		else if (degree > TEAM)
			medium[atomic_inc(&n_medium)] = k;
	}
	BARRIER();
	for (u32 j = 0; j < n_large; j++)
		STRIDE_LIST(large[j], id, GROUP);
	for (u32 j = team; j < n_medium; j += TEAMS)
		STRIDE_LIST(medium[j], lane, TEAM);
	if (k < n && degree <= TEAM) {
		u32 r = list[k], begin = ROWS[r];

		for (u32 i = begin; i < begin + degree; i++)
			PUSH_EDGE(r, i, offset[k] + (i - begin));
		m.edges += degree;
	}
#if LANES
	if (k < n && lane == 0)
		m.slots += team_slots(offset, k, n, TEAM);
#endif
	mine_add(counts, m);
}

/*
 * Processes edges [from, to) of list entries [low, high) with the whole work-group, in
 * equal shares for all work-items.
 */
#if CHUNKED
#define SHARE_EDGES(from, to, low, high) \
	do { \
		u32 each_ = ((to) - (from) + GROUP - 1) / GROUP, \
		    e_ = min((to), (from) + (u32)get_local_id(0) * each_); \
		u32 stop_ = min((to), e_ + each_), \
		    k_ = e_ < stop_ ? entry_of(offset, low, high, e_) : 0; \
		m.edges += stop_ - e_; \
		while (e_ < stop_) { \
			u32 r_ = list[k_], upto_ = min(stop_, offset[k_ + 1]), \
			    i_ = ROWS[r_] + (e_ - offset[k_]); \
			for (; e_ < upto_; e_++, i_++) { \
				PUSH_TOUCH(i_); \
				PUSH_EDGE(r_, i_, e_); \
			} \
			k_++; \
		} \
	} while (0)
#else
#define SHARE_EDGES(from, to, low, high) \
	do { \
		u32 k_ = (low); \
		for (u32 e_ = (from) + (u32)get_local_id(0); e_ < (to); e_ += GROUP) { \
			k_ = entry_of(offset, k_, high, e_); \
			PUSH_EDGE(list[k_], ROWS[list[k_]] + (e_ - offset[k_]), e_); \
			m.edges++; \
		} \
	} while (0)
#endif

/*
 * Mapping `input`, balanced over the input: a work-group takes as many vertices as it has
 * work-items, and shares their edges.
 */
__kernel void OF(PROGRAM, push_input)(PUSH_PARAMS)
{
	PUSH_STATE;
	u32 n = total[0], low = min(n, (u32)get_group_id(0) * GROUP), high = min(n, low + GROUP);
	struct mine m = { 0, 0, 0, 0, 0, 0 };

	if (low < high) {
		u32 from = offset[low], to = offset[high];

		SHARE_EDGES(from, to, low, high);
#if LANES
		if (get_local_id(0) == 0)
			m.slots += (to - from + GROUP - 1) / GROUP * GROUP;
#endif
	}
	mine_add(counts, m);
}

/*
 * Mapping `output`, balanced over the output: all work-groups take equal numbers of edges,
 * and look up the lists that the edges belong to. There are as many work-groups as the
 * device can use; each loops until no edges are left.
 */
__kernel void OF(PROGRAM, push_output)(PUSH_PARAMS)
{
	PUSH_STATE;
	u32 n = total[0], all = total[1];
	struct mine m = { 0, 0, 0, 0, 0, 0 };
	/* On a CPU: one run of edges for each group, so that work-items walk through memory. */
#if CHUNKED
	u64 chunk = ((u64)all / ((u64)get_num_groups(0) * GROUP) + 1) * GROUP;
#else
	u64 chunk = GROUP * ITEM_EDGES;
#endif

	for (u64 at = (u64)get_group_id(0) * chunk; at < all;
	     at += (u64)get_num_groups(0) * chunk) {
		u32 from = (u32)at, to = all - from < chunk ? all : from + (u32)chunk, low = 0,
		    high = n;

#if !CHUNKED
		low = entry_of(offset, 0, n, from);
		high = entry_of(offset, low, n, to - 1) + 1;
#endif
		SHARE_EDGES(from, to, low, high);
#if LANES
		if (get_local_id(0) == 0)
			m.slots += (to - from + GROUP - 1) / GROUP * GROUP;
#endif
	}
	mine_add(counts, m);
}

/* ---- Filters of the queue that a push wrote ---- */

/*
 * --filter exact, in three kernels: keep_count counts the vertices in each tile of the queue,
 * transfer_scan makes prefix sums of the counts, keep_put writes the compact queue.
 */
__kernel void OF(PROGRAM, keep_count)(GLOBAL const u32 *queue, GLOBAL const u32 *total,
				      GLOBAL u32 *tile, u32 n_tiles)
{
	u32 t = get_global_id(0), n = 0;

	if (t >= n_tiles)
		return;
	for (u64 q = (u64)t * TILE_ROWS; q < min((u64)total[1], (u64)(t + 1) * TILE_ROWS); q++)
		n += queue[q] != NO_VERTEX;
	tile[2 * t + 2] = n;
	tile[2 * t + 3] = 0;
}

__kernel void OF(PROGRAM, keep_put)(GLOBAL const u32 *queue, GLOBAL const u32 *total,
				    GLOBAL const u32 *tile, u32 n_tiles, GLOBAL u32 *kept)
{
	u32 t = get_global_id(0), at;

	if (t >= n_tiles)
		return;
	at = tile[2 * t + 2];
	for (u64 q = (u64)t * TILE_ROWS; q < min((u64)total[1], (u64)(t + 1) * TILE_ROWS); q++)
		if (queue[q] != NO_VERTEX)
			kept[at++] = queue[q];
}

/* Activates the n_kept[0] vertices of the compact queue. */
__kernel void OF(PROGRAM, mark)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *kept,
				GLOBAL const u32 *n_kept, GLOBAL u32 *next, GLOBAL u64 *counts,
				BUCKET_PARAMS)
{
	PUSH_STATE;
	u32 n = n_kept[0];
	struct mine m = { 0, 0, 0, 0, 0, 0 };

	for (u64 base = 0; base < n; base += get_num_groups(0) * GROUP * ITEM_ENTRIES)
		FOR_MINE(i, n - (u32)base, ITEM_ENTRIES)
			mark(s, kept[base + i], next, BUCKETS, &m);
	mine_add(counts, m);
}

/*
 * --filter inexact: drops vertices that are in the bitmap already, that the team has just
 * seen, or that the work-group has seen lately. Two small hash tables remember the last
 * vertices. A vertex that was overwritten there may pass twice; that does no harm, because
 * `mark` sets its bit once.
 */
#define TEAM_HASH 64u
#define GROUP_HASH 256u

__kernel void OF(PROGRAM, cull)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL const u32 *queue,
				GLOBAL const u32 *total, GLOBAL u32 *next, GLOBAL u64 *counts,
				BUCKET_PARAMS)
{
	PUSH_STATE;
	SHARED u32 of_team[TEAMS * TEAM_HASH], of_group[GROUP_HASH];
	u32 id = get_local_id(0), all = total[1], team = id / TEAM;
	struct mine m = { 0, 0, 0, 0, 0, 0 };

	for (u32 i = id; i < TEAMS * TEAM_HASH; i += GROUP)
		of_team[i] = NO_VERTEX;
	for (u32 i = id; i < GROUP_HASH; i += GROUP)
		of_group[i] = NO_VERTEX;
	BARRIER();
	for (u64 at = (u64)get_group_id(0) * GROUP + id; at < all;
	     at += (u64)get_num_groups(0) * GROUP) {
		u32 v = queue[at], hash = v * 2654435769u;

		if (v == NO_VERTEX || dev_load_u32(&next[v / 32]) >> v % 32 & 1)
			continue;
		if (atomic_xchg(&of_team[team * TEAM_HASH + (hash >> 20) % TEAM_HASH], v) == v)
			continue;
		if (atomic_xchg(&of_group[(hash >> 20) % GROUP_HASH], v) == v)
			continue;
		mark(s, v, next, BUCKETS, &m);
	}
	mine_add(counts, m);
}

/* ---- Pull ---- */

#if PULL

/* Pulls into v, the vertex of row r. Returns true if v became active. */
static inline bool pull_row(struct PROGRAM s, SEGMENT_PARAMS, u32 r, GLOBAL const u32 *front,
			    struct mine *m)
{
	u32 v = first + r, updates = 0, i = ROWS[r], begin = i, end = ROWS[r + 1];

	while (i < end) {
		u32 u = NEIGHBOURS[i];
		bool hit = BIT(front, u) && EDGE(s, u, v, i);

		i++;
		if (!hit)
			continue;
		updates++;
		if (!WANTS(s, v))
			break;
	}
	m->edges += i - begin;
	m->updates += IDEMPOTENT ? updates != 0 : updates;
	return updates;
}

#define PULL_AHEAD 16u	/* rows */

__kernel void OF(PROGRAM, pull)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) SEGMENT_PARAMS,
				GLOBAL const u32 *front, GLOBAL u32 *next, GLOBAL u64 *counts)
{
	struct PROGRAM alone = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false, ORDERED };
	struct PROGRAM shared = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) true, ORDERED };
	struct mine m = { 0, 0, 0, 0, 0, 0 };
	u32 word = 0, word_at = 0;	/* bits for word `word_at` of `next` that are not set yet */

	FOR_ROWS(r) {
		u32 v = first + r;

#if CHUNKED
		/*
		 * A pull reads little of each list and lists lie far apart: prefetch later
		 * ones.
		 */
		if (r + PULL_AHEAD < n_rows)
			dev_prefetch(&NEIGHBOURS[ROWS[r + PULL_AHEAD]]);
#endif
		if (!WANTS(alone, v))
			continue;
		/* Another kernel may process the rest of a list that spans segments now. */
		if ((r == 0 && partial & PARTIAL_HEAD) ||
		    (r + 1 == n_rows && partial & PARTIAL_TAIL)) {
			if (pull_row(shared, SEGMENT_ARGS, r, front, &m)) {
				bool fresh = set_bit(next, v);

				m.emitted += fresh;
				m.updates -= IDEMPOTENT && !fresh;
			}
		} else if (pull_row(alone, SEGMENT_ARGS, r, front, &m)) {
			m.emitted++;
			if (word && v / 32 != word_at) {
				raw_or_u32(&next[word_at], word);
				word = 0;
			}
			word_at = v / 32;
			word |= 1u << v % 32;
		}
	}
	if (word)
		raw_or_u32(&next[word_at], word);
	mine_add(counts, m);
}
#endif

#if NEAR_FAR
/*
 * Distributes the vertices that wait in bucket `from`: those that are near become active,
 * those with keys below `settled` are dropped, the others go to the buckets of their keys.
 * One work-item owns a word of all bitmaps, so no operation is atomic.
 */
__kernel void OF(PROGRAM, split)(FIELDS(PARAM_ARRAY, PARAM_SCALAR) GLOBAL u32 *next,
				 GLOBAL u64 *counts, u32 from, u64 settled, u64 end, BUCKET_PARAMS)
{
	struct PROGRAM s = { FIELDS(LOCAL_ARRAY, LOCAL_SCALAR) false, ORDERED };
	GLOBAL u32 *bits = from == last ? far : waiting + (u64)(from - 1) * words;
	struct mine m = { 0, 0, 0, 0, 0, 0 };
	u64 rest = 0;

	FOR_MINE(w, words, ITEM_WORDS) {
		u32 keep = 0, active = 0;

		for (u32 word = bits[w]; word; word &= word - 1) {
			u32 bit = word & -word;
			u64 key = OF(PROGRAM, key)(s, w * 32 + 31 - clz(bit));

			if (from == last && key >= end) {
				keep |= bit;
				rest = max(rest, ~key);
			} else if (key >= limit) {
				waits_in(BUCKETS, key, &m)[w] |= bit;
			} else if (key >= settled) {
				active |= bit;
			}
		}
		if (bits[w] != keep)
			bits[w] = keep;
		if (active) {
			m.emitted += popcount(active & ~next[w]);
			next[w] |= active;
		}
	}
	mine_add(counts, m);
	if (rest)
		atom_max(&counts[get_group_id(0) % COUNT_COPIES * COUNT_STRIDE + COUNT_REST], rest);
}
#endif
