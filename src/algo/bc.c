/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality (Brandes, 2001), from all or some sources: a search, whose levels are kept, then the paths are counted level by
 * level from the source outwards, and dependencies summed back. Both sums are reductions over the neighbours of a
 * level's vertices, in the fixed order of reductions: without atomics, and with the same bits on any number of threads.
 */
#include "algo/bc.h"

#include <assert.h>
#include <string.h>

#include "algo/algo.h"
#include "device/dialect.h"
#include "engine/result.h"

#include "algo/bfs.op.h"
#define PROGRAM bfs
#define FIELDS BFS_FIELDS
#define SOURCE "algo/bfs.op.h"
#define WRITES depth
#define LEVEL level
#define COND 1
#define PULL 1
#include "op/advance.inc"

#include "algo/bc.op.h"
#define PROGRAM bc
#define FIELDS BC_FIELDS
#define SOURCE "algo/bc.op.h"
#define SUM f64
#define COUNTS 1
#define GIVEN given
#include "op/reduce.inc"

#include "algo/bc_wide.op.h"
#define PROGRAM bc_wide
#define FIELDS BC_WIDE_FIELDS
#define SOURCE "algo/bc_wide.op.h"
#define SUM struct wide
#define COUNTS 1
#include "op/reduce.inc"
#define PROGRAM bc_wide
#define FIELDS BC_WIDE_FIELDS
#define SOURCE "algo/bc_wide.op.h"
#define VERTEX bc_wide_widen
#include "op/compute.inc"

_Static_assert(sizeof(struct wide) == 16, "as devices have it");

static const u32 unreached = UNREACHED;

/* One source after the other uses the same vectors. */
struct between {
	struct mill_run *run;
	struct frontier *front;
	/* The depths, for the search; then they are of no use, the levels are in `order`: the exponents of wide numbers. */
	struct vec *depth;
	struct vec *paths[2], *share[2];	/* of even and of odd levels */
	struct vec *score;
	vid *order;
	u64 *begins;
	u64 n_reached;
	struct reducer *in, *out;
	struct reducer *wide_in, *wide_out;	/* once a source has too many paths */
	u64 reached, edges, deepest, levels;	/* levels: of this source */
	f64 hops;
};

mill_err bc_need(const struct mill_run *r, const struct mill_bc *how, struct need *out)
{
	const struct store *st = r->store;
	u64 n = st->connected, n_sources;

	if (!st->has_in)
		return fail(MILL_EUSAGE, "bc reads in-edges, which %s lacks: import it without --out-only", st->path);
	TRY(sources_count(r, how ? how->sources : NULL, &n_sources));
	*out = (struct need){
		.state = n * (sizeof(u32) + 5 * sizeof(f64)) + frontier_bytes(n, false) + 4 * reducer_list_bytes(st) +
			 computer_bytes(st),
		.host = n * sizeof(vid) + (bitmap_words(n) + 1) * sizeof(u64) + frontier_host_bytes(n) +
			sources_bytes(st, n_sources) + 4 * reducer_list_bytes(st) + 4096,
		.out = true,
		.advances = true,
		.in = true,
		.searches = n_sources,
	};
	if (run_owns_sums(r)) {
		out->own = true;
		for (int in = 0; in < 2; in++)
			reducer_join_need(r, out, sizeof(f64));
		out->host += (n + 3) * sizeof(u64);	/* sizes of levels, of which a path has as many as vertices */
	}
	for (int in = 0; in < 2; in++)
		out->state += reducer_bytes(st, in, sizeof(f64)) + reducer_bytes(st, in, sizeof(struct wide));
	if (r->options.check)
		out->host += bc_check_bytes(st);
	return MILL_OK;
}

/* ---- The search ---- */

/* The frontier is the next level. */
static mill_err keep_level(struct between *b)
{
	const struct frontier *f = b->front;
	u64 at = b->n_reached;
	const u64 *bits;

	if (!f->n)
		return MILL_OK;
	bitmap_put(b->begins, at);
	b->n_reached += f->n;
	assert(b->n_reached <= b->run->store->connected);
	if (!f->dense) {
		memcpy(b->order + at, f->list, f->n * sizeof(vid));
		return MILL_OK;
	}
	TRY(frontier_bits(b->front, &bits));
	for (u64 w = 0; at < b->n_reached; w++)
		for (u64 word = bits[w]; word; word &= word - 1)
			b->order[at++] = (vid)(w * 64 + (u64)__builtin_ctzll(word));
	return MILL_OK;
}

/* By units there are no frontiers: the levels are made of the depths. */
static mill_err search_units(struct between *b, vid root)
{
	struct bfs_args a = { .depth = b->depth, .level = 0 };
	const u32 *depth = b->depth->buffer.host;
	struct vec *counts;
	u64 *begin;

	TRY(vec_set(b->depth, root, &a.level));
	TRY(op_traverse(b->run, &bfs_advance, &a, &a.level, &root));
	TRY(run_vec_host(b->run, &counts, "sizes of levels", a.level + 3ull, sizeof(u64)));
	begin = counts->buffer.host;
	for (u64 v = 0; v < b->depth->n; v++)
		if (depth[v] != UNREACHED)
			begin[depth[v] + 1]++;
	for (b->levels = 0; begin[b->levels + 1]; b->levels++) {
		u64 n = begin[b->levels + 1];

		bitmap_put(b->begins, begin[b->levels]);
		b->hops += b->levels > 1 ? (f64)n * (f64)(b->levels - 1) : 0;
		begin[b->levels + 1] += begin[b->levels];
	}
	b->n_reached = begin[b->levels];
	for (u64 v = 0; v < b->depth->n; v++)
		if (depth[v] != UNREACHED)
			b->order[begin[depth[v]]++] = (vid)v;
	run_vec_free(b->run, counts);
	b->reached += b->n_reached;
	b->deepest = max_u64(b->deepest, b->levels - 1);
	return MILL_OK;
}

static mill_err search(struct between *b, vid root)
{
	struct bfs_args a = { .depth = b->depth, .level = 0 };
	f64 hops = 0;

	if (b->run->need.own)
		return search_units(b, root);
	TRY(vec_set(b->depth, root, &a.level));
	TRY(frontier_set(b->front, root));
	b->n_reached = 0;
	for (; b->front->n; a.level++) {
		TRY(keep_level(b));
		if (a.level > 1)
			hops += (f64)b->front->n * (a.level - 1);
		TRY(op_advance(b->run, &bfs_advance, &a, b->front));
	}
	b->hops += hops;
	b->reached += b->n_reached;
	b->levels = a.level;
	b->deepest = max_u64(b->deepest, b->levels - 1);
	return MILL_OK;
}

/* The end of the level that begins at order[i]; the beginning of the one that ends there. */
static u64 level_end(const struct between *b, u64 i)
{
	for (i++; i < b->n_reached && !bitmap_get(b->begins, i); i++)
		if (i % 64 == 0 && !b->begins[i / 64])
			i += 63;
	return min_u64(i, b->n_reached);
}

static u64 level_begin(const struct between *b, u64 i)
{
	for (i--; !bitmap_get(b->begins, i); i--)
		if (i % 64 == 63 && !b->begins[i / 64])
			i -= 63;
	return i;
}

/* ---- The sums ---- */

/* After the paths are counted, a vertex' place in the other levels' array is free: for its dependency. */
static struct bc_wide_args wide_args(const struct between *b, bool back, u64 level)
{
	struct vec *const *number = back ? b->share : b->paths;

	return (struct bc_wide_args){
		.given = number[(level + 1) % 2], .mine = number[level % 2], .paths = b->paths[level % 2],
		.dependency = b->paths[(level + 1) % 2], .score = b->score, .exponent = b->depth, .back = back,
		.root = b->run->search.root,
	};
}

static mill_err reduce_level(struct between *b, bool wide, bool back, u64 level, u64 begin, u64 end, u64 *too_many)
{
	struct bc_wide_args w = wide_args(b, back, level);
	struct bc_args a = { .given = w.given, .mine = w.mine, .paths = w.paths, .dependency = w.dependency,
			     .score = w.score, .back = back, .root = w.root };

	if (!wide)
		return op_reduce_list(b->run, back ? b->out : b->in, &a, b->order + begin, end - begin, too_many);
	return op_reduce_list(b->run, back ? b->wide_out : b->wide_in, &w, b->order + begin, end - begin, too_many);
}

static mill_err make_wide(struct between *b)
{
	struct bc_wide_args even = wide_args(b, false, 0), odd = wide_args(b, false, 1);
	struct mill_run *r = b->run;
	f64 none;

	TRY(op_reducer(r, &b->wide_in, &bc_wide_reduce, true));
	TRY(op_reducer(r, &b->wide_out, &bc_wide_reduce, false));
	TRY(device_prepare(r->device, &bc_wide_reduce.program.source));
	TRY(device_prepare(r->device, &bc_wide_widen_compute.program.source));
	TRY(op_compute(r, &bc_wide_widen_compute, &even, 0, r->store->connected, &none));
	return op_compute(r, &bc_wide_widen_compute, &odd, 0, r->store->connected, &none);
}

/* A level that has more paths than the numbers hold is counted again in wide ones. */
static mill_err count_paths(struct between *b)
{
	u64 level = 0, too_many;

	TRY(vec_set(b->paths[0], b->run->search.root, &(f64){ 1 }));
	for (u64 at = level_end(b, 0), end; at < b->n_reached; at = end) {
		level++;
		end = level_end(b, at);
		TRY(reduce_level(b, b->wide_in, false, level, at, end, &too_many));
		if (too_many && !b->wide_in) {
			TRY(make_wide(b));
			TRY(reduce_level(b, true, false, level, at, end, &too_many));
		}
		if (too_many)
			return fail(MILL_ELIMIT, "there are more than 2^%u shortest paths to a vertex", BC_EXPONENT_MOST);
	}
	return MILL_OK;
}

static mill_err sum_dependencies(struct between *b)
{
	u64 none, before = b->run->ledger.total.edges, level = b->levels;

	for (u64 end = b->n_reached, at; end; end = at) {
		at = level_begin(b, end);
		TRY(reduce_level(b, b->wide_in, true, --level, at, end, &none));
	}
	b->edges += b->run->ledger.total.edges - before;	/* those out of all vertices reached */
	return MILL_OK;
}

/* ---- From source to source ---- */

struct resetting {
	const struct between *b;
	struct vec *const *vec;	/* of f64 */
	u32 n_vecs;
};

static mill_err reset_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct resetting *c = arg;
	const struct between *b = c->b;
	u32 *depth = b->depth->buffer.host;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		for (u32 k = 0; k < c->n_vecs; k++)
			((f64 *)c->vec[k]->buffer.host)[b->order[i]] = 0;
		depth[b->order[i]] = UNREACHED;
	}
	return MILL_OK;
}

/* Only what the search reached is looked at, unless that is much: a search of few vertices costs little. */
static mill_err reset(const struct between *b, struct vec *const *vec, u32 n_vecs)
{
	struct resetting c = { b, vec, n_vecs };
	f64 zero = 0;

	if (b->run->device->native && b->n_reached < b->run->store->connected / 4)
		return pool_for(b->run->pool, b->n_reached, 16384, reset_some, &c);
	for (u32 k = 0; k < n_vecs; k++)
		TRY(device_fill(&vec[k]->buffer, &zero, sizeof(zero)));
	return device_fill(&b->depth->buffer, &unreached, sizeof(unreached));
}

/* Once a source has too many paths for doubles the next ones, which probably have as many, begin with wide numbers. */
static mill_err from_source(struct between *b, vid root, bool last)
{
	struct vec *const all[] = { b->paths[0], b->paths[1], b->share[0], b->share[1] };

	b->run->search.root = root;
	TRY(search(b, root));
	TRY(count_paths(b));
	TRY(sum_dependencies(b));
	if (last)	/* the certificate looks at it */
		return MILL_OK;
	for (u64 at = 0; at < b->n_reached; at = level_end(b, at))
		b->begins[at / 64] &= ~((u64)1 << (at % 64));
	return reset(b, all, ARRAY_LEN(all));
}

/* ---- The scores ---- */

/* All sources of an undirected graph count each pair twice. Normalized as if the sources were a sample of all. */
static f64 scale_of(const struct store *st, const struct mill_bc *how, u64 n_sources)
{
	f64 n = (f64)st->vertices, half = !st->directed && how && sources_are_all(how->sources) ? 0.5 : 1;

	if (!how || !how->normalized || st->vertices < 3)
		return half;
	return n / (f64)n_sources / ((n - 1) * (n - 2));
}

static mill_err scale_scores(struct mill_run *r, struct vec *score, f64 scale)
{
	mill_err err;
	f64 *x;

	if (scale == 1)
		return MILL_OK;
	TRY(vec_map(r, score, &x));
	for (u64 v = 0; v < score->n; v++)
		x[v] *= scale;
	err = r->device->native ? MILL_OK : device_write(&score->buffer, 0, x, score->buffer.size);
	vec_unmap(score, x);
	return err;
}

static mill_err prepare(struct mill_run *r, struct between *b)
{
	u64 n = r->store->connected;
	struct vec *host;

	TRY(op_advance_prepare(r, &bfs_advance));
	TRY(device_prepare(r->device, &bc_reduce.program.source));
	TRY(op_reducer(r, &b->in, &bc_reduce, true));
	TRY(op_reducer(r, &b->out, &bc_reduce, false));
	run_start(r);
	TRY(run_vec(r, &b->depth, "depth", n, sizeof(u32), &unreached));
	for (u32 i = 0; i < 2; i++) {
		TRY(run_vec(r, &b->paths[i], "paths", n, sizeof(f64), NULL));
		TRY(run_vec(r, &b->share[i], "share", n, sizeof(f64), NULL));
	}
	TRY(run_vec(r, &b->score, "score", n, sizeof(f64), NULL));
	TRY(run_vec_host(r, &host, "vertices by level", n, sizeof(vid)));
	b->order = host->buffer.host;
	TRY(run_vec_host(r, &host, "levels", bitmap_words(n) + 1, sizeof(u64)));
	b->begins = host->buffer.host;
	return run_frontier(r, &b->front, false);
}

static mill_err tell(struct mill_run *r, const struct between *b)
{
	u64 n = r->search.n_sources + r->search.n_isolated;

	if (n == 1)
		TRY(run_fact_id(r, "source", r->search.n_sources ? r->search.source[0] : r->search.isolated_source));
	run_fact(r, "sources", n);
	run_fact(r, "reached", b->reached);
	run_fact(r, "max_depth", b->deepest);
	return result_top(r);
}

MILL_API mill_err mill_bc(mill_run *r, const struct mill_bc *how)
{
	struct between b = { .run = r };
	struct bc_settings *s;
	struct vec *settings;
	struct need need;
	f64 scale;

	TRY(bc_need(r, how, &need));
	TRY(run_sources(r, how ? how->sources : NULL));
	TRY(run_begin(r, "bc", &need));
	TRY(prepare(r, &b));
	TRY(run_vec_host(r, &settings, "settings", 1, sizeof(*s)));
	for (u64 i = 0; i < r->search.n_sources; i++)
		TRY(from_source(&b, r->search.source[i], i + 1 == r->search.n_sources));
	b.reached += r->search.n_isolated;	/* each itself, and no more */
	scale = scale_of(r->store, how, r->search.n_sources + r->search.n_isolated);
	TRY(scale_scores(r, b.score, scale));
	run_column(r, "score", MILL_TYPE_F64, b.score, 0, 0);
	TRY(run_end(r));
	TRY(tell(r, &b));
	r->ledger.edges_traversed = b.edges;
	s = settings->buffer.host;
	*s = (struct bc_settings){
		.paths = { b.paths[0], b.paths[1] }, .score = b.score, .exponent = b.wide_in ? b.depth : NULL,
		.order = b.order, .begins = b.begins, .n_reached = b.n_reached, .n_sources = r->search.n_sources + r->search.n_isolated,
		.scale = scale, .hops = b.hops,
	};
	r->result.settings = s;
	r->result.check = bc_check;
	return MILL_OK;
}
