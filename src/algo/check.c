/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of searches and of PageRank: properties that a right result has, checked in
 * one pass over the edges by plain code that shares nothing with the programs. MILL_ECHECK
 * names the vertex or edge that is wrong.
 */
#include <string.h>

#include "algo/algo.h"
#include "algo/pagerank.h"
#include "algo/tree.h"
#include "engine/result.h"

/* ---- Trees: Graph500's rules ---- */

struct tree_check {
	struct mill_run *run;
	enum weight_kind kind;
	const void *distance;
	const u32 *parent;	/* ranks; NULL: only distances are checked */
	const vid *rank;	/* the rank of each vertex; only with parents */
	vid *order;		/* the vertex of each rank; only if parents might form a circle */
	/* Vertices with a distance that an edge proves; with parents, the parent's edge. */
	u64 *seen;
};

static f64 real_of(u64 key)
{
	f64 x;

	memcpy(&x, &key, sizeof(x));
	return x;
}

static bool is_real(enum weight_kind k) { return k == WEIGHT_F32 || k == WEIGHT_F64; }

/* Returns the distance of v as a key: integers as they are, reals as their bits. */
static u64 key_at(const struct tree_check *c, u64 v)
{
	u32 x;

	if (c->kind != WEIGHT_UNIT && c->kind != WEIGHT_SHORT)
		return ((const u64 *)c->distance)[v];
	x = ((const u32 *)c->distance)[v];
	return x == UINT32_MAX ? UINT64_MAX : x;
}

static bool is_reached(const struct tree_check *c, u64 key)
{
	return is_real(c->kind) ? real_of(key) < __builtin_inf() : key != UINT64_MAX;
}

/* Returns the key of a distance plus the weight of edge i. */
static u64 over_edge(const struct tree_check *c, u64 key, const void *weight, u32 i)
{
	f64 x;

	switch (c->kind) {
	case WEIGHT_UNIT:
		return key + 1;
	case WEIGHT_SHORT:
	case WEIGHT_LONG:
		return key + ((const u32 *)weight)[i];
	case WEIGHT_F32:
		x = real_of(key) + (f64)((const f32 *)weight)[i];
		break;
	default:
		x = real_of(key) + ((const f64 *)weight)[i];
	}
	memcpy(&key, &x, sizeof(key));
	return key;
}

mill_err check_wrong(const struct mill_run *r, u64 v, const char *what)
{
	u64 id = 0;

	TRY(store_id(r->store, (vid)v, &id));
	return fail(MILL_ECHECK, "the result is wrong at vertex %llu: %s", (unsigned long long)id,
		    what);
}

void check_add(f64 *to, f64 x)
{
	f64 old, sum;

	__atomic_load(to, &old, __ATOMIC_RELAXED);
	do
		sum = old + x;
	while (!__atomic_compare_exchange(to, &old, &sum, true, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED));
}

static mill_err check_edges(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct tree_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 u = (u64)seg->first + row, from = key_at(c, u),
		    rank = c->parent ? c->rank[u] : 0;

		if (!is_reached(c, from))
			continue;
		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u64 v = seg->neighbour[i], to = key_at(c, v),
			    over = over_edge(c, from, seg->weight, i);

			if (to > over)
				return check_wrong(c->run, v,
						   "an edge leads to it on a shorter path");
			if (to < over || !is_reached(c, to))	/* an infinite sum is no path */
				continue;
			if (c->parent && from < to && c->parent[v] > rank)
				return check_wrong(c->run, v, "a parent with a smaller id exists");
			/* Without parents this cannot see a circle of edges that add nothing. */
			if (c->parent ? c->parent[v] == rank : u != v)
				bitmap_claim(c->seen, v);
		}
	}
	return MILL_OK;
}

/*
 * Checks that parents form no circle, which is possible if a parent has the same distance
 * (weights of 0). Follows parents until a smaller distance, or a vertex that was followed
 * before. Reuses `seen`: a bit is cleared when its vertex has been followed.
 */
static mill_err check_circles(struct tree_check *c, u64 n, vid root)
{
	for (u64 v = 0; v < n; v++) {
		u64 steps = 0, at = v;

		if (!bitmap_get(c->seen, v))
			continue;
		while (at != root && bitmap_get(c->seen, at) &&
		       key_at(c, c->order[c->parent[at]]) == key_at(c, at)) {
			at = c->order[c->parent[at]];
			if (++steps > n)
				return check_wrong(c->run, v, "its parents form a circle");
		}
		/*
		 * All vertices on the way are right: clear their bits, so that they are
		 * followed only once.
		 */
		for (u64 on = v; on != at; on = c->order[c->parent[on]])
			c->seen[on / 64] &= ~((u64)1 << (on % 64));
	}
	return MILL_OK;
}

static mill_err check_tree(struct tree_check *c, vid root)
{
	struct pass pass = { .work = check_edges, .arg = c };
	u64 n = c->run->store->n_linked;
	struct mill_step step = { 0 };

	if (root < n && key_at(c, root) != 0)	/* an isolated source has no state */
		return check_wrong(c->run, root, "the distance of the source is not 0");
	TRY(run_pass(c->run, &pass, &step));
	if (root < n && c->parent && c->parent[root] != c->rank[root])
		return check_wrong(c->run, root, "the source is not its own parent");
	for (u64 v = 0; v < n; v++) {
		bool reached = is_reached(c, key_at(c, v));

		if (is_real(c->kind) && !(real_of(key_at(c, v)) >= 0))
			return check_wrong(c->run, v, "its distance is negative or no number");
		if (v == root)
			continue;
		if (reached && c->parent && c->parent[v] >= n)
			return check_wrong(c->run, v, "it is reached and has no parent");
		if (!reached && c->parent && c->parent[v] != UINT32_MAX)
			return check_wrong(c->run, v, "it is not reached and has a parent");
		if (reached && !bitmap_get(c->seen, v))
			return check_wrong(c->run, v,
					   "no edge proves its distance, or its parent");
	}
	return c->order ? check_circles(c, n, root) : MILL_OK;
}

/* Makes `order` from the ranks, for check_circles. */
static mill_err invert_ranks(struct tree_check *c)
{
	u64 n = c->run->store->n_linked;

	TRY(memory_new(&c->order, &c->run->budget, n, sizeof(vid), "the certificate"));
	for (u64 v = 0; v < n; v++)
		c->order[c->rank[v]] = (vid)v;
	return MILL_OK;
}

mill_err tree_check(struct mill_run *r)
{
	enum weight_kind kind = (enum weight_kind)r->search.kind;
	struct tree_check c = { .run = r, .kind = kind };
	struct vec *rank = NULL;
	const struct vec *distance = r->result.column[0].vec,
			 *parent = r->result.n_columns > 1 ? r->result.column[1].vec : NULL;
	mill_err err;

	TRY(memory_new(&c.seen, &r->budget, bitmap_words(r->store->n_linked), sizeof(u64),
		       "the certificate"));
	err = vec_map(r, distance, &c.distance);
	if (!err && parent)
		err = vec_map(r, parent, &c.parent);
	if (!err && parent)
		err = result_ranks(r, &rank);
	if (!err && parent)
		err = vec_map(r, rank, &c.rank);
	if (!err && parent && tree_may_add_nothing(r, kind))
		err = invert_ranks(&c);
	if (!err) {
		run_announce(r, "check", 0);
		err = check_tree(&c, r->search.root);
	}
	memory_free(c.order);
	if (c.rank)
		vec_unmap(rank, (void *)c.rank);
	if (c.parent)
		vec_unmap(parent, (void *)c.parent);
	if (c.distance)
		vec_unmap(distance, (void *)c.distance);
	memory_free(c.seen);
	return err;
}

/* ---- PageRank ---- */

/* The scores sum to 1, and one more iteration changes them little. */

struct rank_check {
	struct mill_run *run;
	const struct pagerank_run *rank;
	const void *score;
	u32 *degree;
	f64 *incoming;
};

u64 pagerank_check_bytes(const struct store *st)
{
	return st->n_linked * (sizeof(f64) + sizeof(u32));
}

static f64 value_at(enum mill_precision p, const void *data, u64 v)
{
	if (p == MILL_F32)
		return ((const f32 *)data)[v];
	if (p == MILL_F64)
		return ((const f64 *)data)[v];
	return (f64)((const u64 *)data)[v] * 0x1p-62;
}

static f64 group_value(const struct pagerank_run *p, u64 number)
{
	return value_at(p->precision, &number, 0);
}

static mill_err sum_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			 unsigned worker)
{
	struct rank_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		f64 sum = 0;

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			vid u = seg->neighbour[i];

			sum += value_at(c->rank->precision, c->score, u) / c->degree[u];
		}
		/* A list may come in pieces, so this adds. */
		check_add(&c->incoming[seg->first + row], sum);
	}
	return MILL_OK;
}

/* Computes the L1 distance between the scores and the scores after one more iteration. */
static mill_err residual(struct rank_check *c, const void *teleport, f64 *out, f64 *sum_out)
{
	const struct pagerank_run *s = c->rank;
	u64 n = c->run->store->n_linked, sources = c->run->store->sources;
	f64 jump, dangling = 0, sum = 0, total = 0, each = 1 / (f64)c->run->store->vertices;

	for (u64 v = 0; v < n; v++) {
		f64 x = value_at(s->precision, c->score, v);

		if (!(x >= 0))
			return check_wrong(c->run, v, "its score is negative or no number");
		sum += x;
		dangling += v >= sources ? x : 0;
	}
	for (u32 i = 0; i < 2; i++) {	/* isolated vertices are dangling too */
		f64 x = (f64)s->loop.group[i].isolated * group_value(s, s->loop.group[i].score);

		sum += x;
		dangling += x;
	}
	jump = (1 - s->damping) * sum + s->damping * dangling;
	for (u32 i = 0; i < 2; i++)
		total += (f64)s->loop.group[i].isolated *
			 __builtin_fabs(jump * (teleport ? group_value(s, s->loop.group[i].teleport)
							 : each) -
					group_value(s, s->loop.group[i].score));
	for (u64 v = 0; v < n; v++) {
		f64 part = teleport ? value_at(s->precision, teleport, v) : each;

		total += __builtin_fabs(jump * part + s->damping * c->incoming[v] -
					value_at(s->precision, c->score, v));
	}
	*out = total;
	*sum_out = sum;
	return MILL_OK;
}

static mill_err check_ranks(struct rank_check *c)
{
	const struct pagerank_run *s = c->rank;
	struct pass pass = { .in = true, .work = sum_rows, .arg = c };
	const struct store *st = c->run->store;
	/* Rounding errors in the run's precision: the largest error of a sum of 1. */
	f64 slack = s->precision == MILL_F32 ? 1e-5 : 1e-9 + (f64)st->vertices * 0x1p-60;
	struct mill_step step = { 0 };
	void *teleport = NULL;
	f64 rest = 0, sum = 0;
	mill_err err;

	TRY(store_read(st, STORE_OUT_DEGREES, c->degree, st->sources * sizeof(u32), 0));
	TRY(run_pass(c->run, &pass, &step));
	if (s->teleport)
		TRY(vec_map(c->run, s->teleport, &teleport));
	err = residual(c, teleport, &rest, &sum);
	if (teleport)
		vec_unmap(s->teleport, teleport);
	if (err)
		return err;
	if (__builtin_fabs(sum - 1) > slack)
		return fail(MILL_ECHECK, "the scores sum to %.17g, not 1", sum);
	/* Each iteration shrinks the change at least by the factor of damping. */
	if (rest > s->damping * s->loop.change + slack)
		return fail(MILL_ECHECK,
			    "one more iteration would change the scores by %g, the last one by %g",
			    rest, s->loop.change);
	return MILL_OK;
}

mill_err pagerank_check(struct mill_run *r)
{
	struct rank_check c = { .run = r, .rank = r->self };
	u64 n = r->store->n_linked;
	mill_err err;

	if (!r->store->vertices)
		return MILL_OK;
	err = memory_new(&c.incoming, &r->budget, n, sizeof(f64), "the certificate");
	if (!err)
		err = memory_new(&c.degree, &r->budget, n, sizeof(u32), "the certificate");
	if (!err)
		err = vec_map(r, c.rank->score, &c.score);
	if (!err) {
		run_announce(r, "check", 0);
		err = check_ranks(&c);
	}
	if (c.score)
		vec_unmap(c.rank->score, (void *)c.score);
	memory_free(c.degree);
	memory_free(c.incoming);
	return err;
}
