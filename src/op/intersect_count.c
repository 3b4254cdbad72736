/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the triangles through each vertex of a resident simple graph, without a program
 * and without touching single triangles where that is possible. Edges lead to the smaller
 * of two numbers: u > v > w.
 *
 * If a few vertices have most of the edges, vertices are renumbered by falling degree. Then
 * lists are short and lead to hubs, and the numbers of hubs lie together. The first CORE
 * hubs become a symmetric matrix of bits. For each u and each v of its list that lies in
 * the core, the bits of row v that are also in u's list are the triangles through u and v,
 * for every third vertex w at once: an AND and a population count. Only lists outside of
 * the core are probed neighbour by neighbour, in a bitmap of u's list.
 *
 * If degrees are uniform, renumbering costs more than it saves. Lists are then used as they
 * are, up to u. They are short and lie anywhere in memory, so they are prefetched, and
 * probed through a filter that stays in the first-level cache.
 */
#include <string.h>

#include "base/bitmap.h"
#include "op/intersect.h"
#include "op/orient.h"

#if MILL_VID_BITS == 32
#define CORE 8192u
#define COPY_COUNTERS 65536u	/* each worker has a copy of the counters of this many hubs */
#else
#define CORE 64u
#define COPY_COUNTERS 32u
#endif
#define CORE_WORDS (CORE / 64)
#define FILTER 8192u		/* bits */
#define TINY 4u			/* lists up to here are merged */
#define SHORT 64u		/* lists up to here go through the filter */
#define HITS 1024u		/* neighbours that are probed before hits are counted */
#define GRAIN 128u		/* vertices that a worker takes at a time */

/* The memory of a worker. */
struct scratch {
	u64 *bits;		/* bitmap of u's list */
	u64 core[CORE_WORDS];	/* the same for the core, all 0 between two vertices */
	u64 word[CORE_WORDS];	/* the words of `core` that are not 0 ... */
	u32 at[CORE_WORDS];	/* ... and their indexes */
	u64 filter[FILTER / 64];	/* u's list modulo FILTER */
	vid hit[HITS + 1];
	u64 *local;		/* copy of the counts of vertices below COPY_COUNTERS */
};

struct count_ctx {
	struct mill_run *run;
	const struct segment *seg;
	u64 n;
	u64 *count;		/* by number, atomic */
	/* If renumbered: */
	vid *rank;		/* the number of each vertex */
	vid *order;		/* the vertex of each number */
	u64 *row;		/* row offsets, by number */
	vid *list;
	u64 *matrix;		/* CORE rows of CORE_WORDS words */
	u32 core;		/* number of vertices in the matrix */
	u64 (*match)(const u64 *row, const u64 *word, const u32 *at, u32 n);
	struct scratch *scratch;	/* one per worker */
	u64 squares;		/* sum of the squares of degrees; atomic */
	u64 rows;		/* number of vertices that have neighbours; atomic */
	bool ahead;		/* lists are long enough to be prefetched */
};

u64 intersect_count_bytes(const struct mill_run *r)
{
	u64 n = r->store->n_linked, m = view_edges(r->store),
	    workers = pool_size(r->pool);

	return n * (2 * sizeof(vid) + 2 * sizeof(u64) + sizeof(u32)) + m / 2 * sizeof(vid) +
	       (u64)CORE * CORE_WORDS * sizeof(u64) +
	       workers *
		       (sizeof(struct scratch) + (bitmap_words(n) + COPY_COUNTERS) * sizeof(u64)) +
	       MIB;
}

static inline void add(struct count_ctx *c, struct scratch *s, vid v, u64 n)
{
	if (v < COPY_COUNTERS)
		s->local[v] += n;
	else
		__atomic_fetch_add(&c->count[v], n, __ATOMIC_RELAXED);
}

/* ---- Lists as they are ---- */

struct span {
	const vid *at;
	u32 n;
};

/* Returns the beginning of v's list: the neighbours below v. */
static inline struct span list_below(const struct count_ctx *c, vid v)
{
	const u32 *row = c->seg->row + v;	/* the segment begins at vertex 0 */
	const vid *list = c->seg->neighbour + row[0];
	u32 most = row[1] - row[0], n = 0;

	/*
	 * Searches from the front, which is prefetched. In a broken store, smaller numbers that
	 * stand behind a larger one are left out.
	 */
	while (n < most && list[n] < v)
		n++;
	return (struct span){ list, n };
}

/* Prefetches the row offsets of u's neighbours below u. */
static inline void prefetch_rows(const struct count_ctx *c, u64 u)
{
	const u32 *row = c->seg->row + u;

	if (u >= c->seg->n_rows)
		return;
	for (u32 i = row[0]; i < row[1] && c->seg->neighbour[i] < u; i++)
		__builtin_prefetch(&c->seg->row[c->seg->neighbour[i]]);
}

/* Prefetches the beginnings of the lists of u's neighbours below u. */
static inline void prefetch_lists(const struct count_ctx *c, u64 u)
{
	const u32 *row = c->seg->row + u;

	if (u >= c->seg->n_rows)
		return;
	for (u32 i = row[0]; i < row[1] && c->seg->neighbour[i] < u; i++) {
		const vid *list = c->seg->neighbour + c->seg->row[c->seg->neighbour[i]];

		__builtin_prefetch(list);
		__builtin_prefetch(list + 16);
	}
}

/*
 * Called if the filter has w, which may be a false hit: searches the ascending list for w,
 * and counts the triangle if w is there.
 */
static void try_triangle(struct count_ctx *c, struct scratch *s, const vid *list, u32 n, vid w,
			 u32 *found)
{
	for (u32 i = 0; i < n && list[i] <= w; i++)
		if (list[i] == w) {
			add(c, s, w, 1);
			++*found;
			return;
		}
}

/* Counts the triangles of u and v through the filter. v is the element `below` of u's list. */
static u32 probe_filter(struct count_ctx *c, struct scratch *s, struct span u, u32 below)
{
	vid v = u.at[below];
	const vid *at = c->seg->neighbour + c->seg->row[v],
		  *end = c->seg->neighbour + c->seg->row[v + 1];
	u32 found = 0;

	for (; at < end && *at < v; at++) {
		vid w = *at;

		if (__builtin_expect(s->filter[w % FILTER / 64] >> (w % 64) & 1, 0))
			try_triangle(c, s, u.at, below, w, &found);
	}
	return found;
}

static u32 probe_bits(struct count_ctx *c, struct scratch *s, struct span v)
{
	u32 found = 0;

	/*
	 * Hits are as likely as misses and cannot be predicted, so no branch depends on
	 * them.
	 */
	for (u32 begin = 0; begin < v.n; begin += HITS) {
		u32 end = v.n - begin > HITS ? begin + HITS : v.n, n = 0;

		for (u32 i = begin; i < end; i++) {
			vid w = v.at[i];

			s->hit[n] = w;
			n += (u32)(s->bits[w / 64] >> (w % 64) & 1);
		}
		for (u32 i = 0; i < n; i++)
			add(c, s, s->hit[i], 1);
		found += n;
	}
	return found;
}

static void count_short(struct count_ctx *c, struct scratch *s, vid u, struct span list)
{
	u64 all = 0;

	for (u32 i = 0; i < list.n; i++)
		s->filter[list.at[i] % FILTER / 64] |= (u64)1 << (list.at[i] % 64);
	for (u32 i = 1; i < list.n; i++) {
		u32 found = probe_filter(c, s, list, i);

		if (!found)
			continue;
		add(c, s, list.at[i], found);
		all += found;
	}
	for (u32 i = 0; i < list.n; i++)
		s->filter[list.at[i] % FILTER / 64] = 0;
	if (all)
		add(c, s, u, all);
}

/* Counts the triangles of a tiny list by merging. */
static void count_tiny(struct count_ctx *c, struct scratch *s, vid u, struct span list)
{
	for (u32 i = 1; i < list.n; i++) {
		vid v = list.at[i];
		const vid *at = c->seg->neighbour + c->seg->row[v],
			  *end = c->seg->neighbour + c->seg->row[v + 1];
		u32 j = 0;

		while (at < end && j < i && *at < v) {
			if (*at == list.at[j]) {
				add(c, s, u, 1);
				add(c, s, v, 1);
				add(c, s, *at, 1);
				j++;
				at++;
			} else if (*at < list.at[j]) {
				at++;
			} else {
				j++;
			}
		}
	}
}

static void count_long(struct count_ctx *c, struct scratch *s, vid u, struct span list)
{
	u64 all = 0;

	for (u32 i = 0; i < list.n; i++)
		s->bits[list.at[i] / 64] |= (u64)1 << (list.at[i] % 64);
	for (u32 i = 1; i < list.n; i++) {
		u32 found = probe_bits(c, s, list_below(c, list.at[i]));

		add(c, s, list.at[i], found);
		all += found;
	}
	for (u32 i = 0; i < list.n; i++)
		s->bits[list.at[i] / 64] = 0;
	add(c, s, u, all);
}

static mill_err count_as_is(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;
	struct scratch *s = &c->scratch[worker];

	for (u64 u = begin; u < end; u++) {
		struct span list = list_below(c, (vid)u);

		if (c->ahead) {
			prefetch_rows(c, u + 2);
			prefetch_lists(c, u + 1);
		}
		if (list.n < 2)
			continue;
		if (list.n <= TINY)
			count_tiny(c, s, (vid)u, list);
		else if (list.n <= SHORT)
			count_short(c, s, (vid)u, list);
		else
			count_long(c, s, (vid)u, list);
	}
	return worker ? MILL_OK : ticker_tick(&c->run->ticker, end);
}

/* ---- Lists renumbered by degree ---- */

/* Numbers vertices by falling degree, then by number. Vertices without neighbours come last. */
static mill_err number(struct count_ctx *c)
{
	const u32 *row = c->seg->row;
	u64 n = c->seg->n_rows, at = 0;
	u32 largest = 0, *begin;

	for (u64 v = 0; v < n; v++)
		largest = row[v + 1] - row[v] > largest ? row[v + 1] - row[v] : largest;
	TRY(memory_new(&begin, &c->run->budget, largest + 2ull, sizeof(u32), "degrees"));
	for (u64 v = 0; v < n; v++)
		begin[row[v + 1] - row[v]]++;
	for (u64 d = largest + 1ull; d-- > 0;) {
		u32 some = begin[d];

		begin[d] = (u32)at;
		at += some;
	}
	for (u64 v = 0; v < n; v++) {
		vid number = (vid)begin[row[v + 1] - row[v]]++;

		c->rank[v] = number;
		c->order[number] = (vid)v;
	}
	for (u64 v = n; v < c->n; v++)
		c->rank[v] = c->order[v] = (vid)v;
	memory_free(begin);
	return MILL_OK;
}

static mill_err count_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;

	(void)worker;
	for (u64 u = begin; u < end; u++) {
		const u32 *row = c->seg->row + c->order[u];
		u32 n = 0;

		for (u32 i = row[0]; i < row[1]; i++)
			n += c->rank[c->seg->neighbour[i]] < u;
		c->row[u + 1] = n;
	}
	return MILL_OK;
}

static mill_err fill_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;

	(void)worker;
	for (u64 u = begin; u < end; u++) {
		const u32 *row = c->seg->row + c->order[u];
		vid *to = c->list + c->row[u];
		u32 n = 0, most = (u32)(c->row[u + 1] - c->row[u]);

		for (u32 i = row[0]; i < row[1] && n < most; i++) {
			vid v = c->rank[c->seg->neighbour[i]];

			to[n] = v;
			n += v < u;
		}
		/* Half of the matrix; mirror_core adds the other half. */
		for (u32 i = 0; u < c->core && i < n; i++)
			bitmap_put(c->matrix + u * CORE_WORDS, to[i]);
	}
	return MILL_OK;
}

static void mirror_core(struct count_ctx *c)
{
	for (u64 u = 0; u < c->core; u++)
		for (u64 i = c->row[u]; i < c->row[u + 1]; i++)
			bitmap_put(c->matrix + c->list[i] * (u64)CORE_WORDS, u);
}

/*
 * Sets the bits of u's list, and gathers the words of its core that are not 0 in word and
 * at. Returns the number of these words.
 */
static u32 mark(struct count_ctx *c, struct scratch *s, const vid *list, u32 n)
{
	u32 words = 0;

	for (u32 i = 0; i < n; i++) {
		if (list[i] < CORE)
			s->core[list[i] / 64] |= (u64)1 << (list[i] % 64);
		s->bits[list[i] / 64] |= (u64)1 << (list[i] % 64);
	}
	for (u32 w = 0; w < div_up(c->core, 64); w++) {
		s->word[words] = s->core[w];
		s->at[words] = w;
		words += s->core[w] != 0;
		s->core[w] = 0;
	}
	return words;
}

/* Returns the number of bits of a row that are also in the gathered words. */
#define MATCH_ROW                                                                  \
	u64 sum = 0;                                                               \
	for (u32 i = 0; i < n; i++)                                                \
		sum += (u64)__builtin_popcountll(row[at[i]] & word[i]);            \
	return sum;

static u64 match_plain(const u64 *row, const u64 *word, const u32 *at, u32 n) { MATCH_ROW }

#if defined(__x86_64__)
__attribute__((target("popcnt")))
static u64 match_popcnt(const u64 *row, const u64 *word, const u32 *at, u32 n) { MATCH_ROW }
#endif

static u64 (*choose_match(void))(const u64 *row, const u64 *word, const u32 *at, u32 n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("popcnt"))
		return match_popcnt;
#endif
	return match_plain;
}

static void count_one(struct count_ctx *c, struct scratch *s, vid u)
{
	const vid *list = c->list + c->row[u];
	u32 n = (u32)(c->row[u + 1] - c->row[u]);
	u64 twice = 0, once = 0;
	u32 words;

	words = mark(c, s, list, n);
	for (u32 i = 0; i < n; i++) {
		vid v = list[i];

		if (i + 4 < n && list[i + 4] >= CORE)
			__builtin_prefetch(&c->list[c->row[list[i + 4]]]);
		if (v < CORE) {
			u64 found =
				c->match(c->matrix + v * (u64)CORE_WORDS, s->word, s->at, words);

			add(c, s, v, found);
			twice += found;
		} else {
			struct span of_v = { c->list + c->row[v],
					     (u32)(c->row[v + 1] - c->row[v]) };
			u32 found = probe_bits(c, s, of_v);

			add(c, s, v, found);
			once += found;
		}
	}
	for (u32 i = 0; i < n; i++)
		s->bits[list[i] / 64] = 0;
	/* The matrix is symmetric, so it shows a triangle at v and again at w. */
	add(c, s, u, twice / 2 + once);
}

static mill_err count_renumbered(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;

	for (u64 u = begin; u < end; u++)
		if (c->row[u + 1] - c->row[u] > 1)
			count_one(c, &c->scratch[worker], (vid)u);
	return worker ? MILL_OK : ticker_tick(&c->run->ticker, end);
}

/* ---- Choice of lists ---- */

static mill_err measure(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;
	u64 squares = 0, rows = 0;

	(void)worker;
	for (u64 v = begin; v < end; v++) {
		u64 degree = c->seg->row[v + 1] - c->seg->row[v];

		squares += degree * degree;
		rows += degree != 0;
	}
	__atomic_fetch_add(&c->squares, squares, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->rows, rows, __ATOMIC_RELAXED);
	return MILL_OK;
}

/*
 * Returns true if the mean degree of a neighbour is more than twice the mean degree of a
 * vertex. Then lists that lead to hubs are much shorter.
 */
static bool worth_numbering(const struct count_ctx *c)
{
	f64 edges = (f64)c->seg->n_edges;

	return (f64)c->squares * (f64)max_u64(c->rows, 1) > 2 * edges * edges;
}

/* Adds the workers' copies of counts to the shared counts. */
static mill_err collect(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;
	unsigned n = pool_size(c->run->pool);

	(void)worker;
	for (u64 u = begin; u < end && u < COPY_COUNTERS; u++)
		for (unsigned i = 0; i < n; i++)
			c->count[u] += c->scratch[i].local[u];
	return MILL_OK;
}

struct move_ctx {
	const struct count_ctx *count;
	u64 *to;
};

/* Stores the counts by vertex, from the counts by number. */
static mill_err move_back(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct move_ctx *m = arg;

	(void)worker;
	for (u64 v = begin; v < end; v++)
		m->to[v] = m->count->count[m->count->rank[v]];
	return MILL_OK;
}

static mill_err run_renumbered(struct count_ctx *c, struct move_ctx *m)
{
	struct mill_run *r = c->run;
	u64 rows = c->seg->n_rows;
	struct vec *v;

	TRY(run_vec_host(r, &v, "numbers by degree", c->n, sizeof(vid)));
	c->rank = v->buffer.host;
	TRY(run_vec_host(r, &v, "order by degree", c->n, sizeof(vid)));
	c->order = v->buffer.host;
	TRY(run_vec_host(r, &v, "oriented lists", c->n + 1, sizeof(u64)));
	c->row = v->buffer.host;
	TRY(run_vec_host(r, &v, "the matrix of hubs", CORE * CORE_WORDS, sizeof(u64)));
	c->matrix = v->buffer.host;
	c->core = (u32)min_u64(CORE, rows);
	c->match = choose_match();
	TRY(number(c));
	TRY(pool_for(r->pool, rows, 4096, count_lists, c));
	for (u64 u = 0; u < c->n; u++)
		c->row[u + 1] += c->row[u];
	TRY(run_vec_host(r, &v, "oriented lists", c->row[c->n], sizeof(vid)));
	c->list = v->buffer.host;
	TRY(pool_for(r->pool, rows, 4096, fill_lists, c));
	mirror_core(c);
	TRY(run_vec_host(r, &v, "counts by degree", c->n, sizeof(u64)));
	c->count = v->buffer.host;
	TRY(pool_for(r->pool, rows, GRAIN, count_renumbered, c));
	TRY(pool_for(r->pool, c->n, 4096, collect, c));
	return pool_for(r->pool, c->n, 16384, move_back, m);
}

static mill_err new_scratch(struct count_ctx *c)
{
	unsigned workers = pool_size(c->run->pool);
	struct vec *v, *bits, *local;

	TRY(run_vec_host(c->run, &v, "the workers' lists", workers, sizeof(struct scratch)));
	TRY(run_vec_host(c->run, &bits, "the workers' bitmaps", workers * (bitmap_words(c->n) + 8),
			 sizeof(u64)));
	TRY(run_vec_host(c->run, &local, "the workers' counts", (u64)workers * COPY_COUNTERS,
			 sizeof(u64)));
	c->scratch = v->buffer.host;
	for (unsigned i = 0; i < workers; i++) {
		c->scratch[i].bits = (u64 *)bits->buffer.host + i * (bitmap_words(c->n) + 8);
		c->scratch[i].local = (u64 *)local->buffer.host + (u64)i * COPY_COUNTERS;
	}
	return MILL_OK;
}

bool op_can_count(const struct mill_run *r) { return r->device->native && oriented_in_memory(r); }

mill_err op_intersect_count(struct mill_run *r, struct vec *count)
{
	const struct topology *t = run_direction(r, false);
	struct count_ctx c = {
		.run = r, .seg = t->segment, .n = count->n, .count = count->buffer.host
	};
	struct mill_step step = { .frontier = count->n, .edges = t->n_edges, .direction = "scan" };
	struct move_ctx move = { &c, count->buffer.host };
	u32 before = r->n_vecs;
	f64 began = clock_now();

	if (!t->n_segments)
		return MILL_OK;
	run_announce(r, "intersect", 0);
	TRY(pool_for(r->pool, t->segment->n_rows, 65536, measure, &c));
	TRY(new_scratch(&c));
	if (worth_numbering(&c)) {
		TRY(run_renumbered(&c, &move));
	} else {
		c.ahead = t->n_edges > 8 * c.rows;
		TRY(pool_for(r->pool, t->segment->n_rows, c.ahead ? GRAIN : 64 * GRAIN, count_as_is,
			     &c));
		TRY(pool_for(r->pool, c.n, 4096, collect, &c));
	}
	while (r->n_vecs > before)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}
