/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Betweenness centrality (Brandes, 2001), from all or some sources. For each source: a
 * search, which keeps its levels; then the paths are counted level by level from the source
 * outwards, and the dependencies are summed back. Both sums are reductions over the
 * neighbours of a level's vertices, in the fixed order of reductions: without atomics, and
 * with the same bits for any number of threads.
 */
#include "algo/bc.h"

#include "algo/algo.h"
#include "algo/bfs.h"

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
#define COMPUTE_1 widen
#include "op/program.inc"

_Static_assert(sizeof(struct wide) == 16, "as devices have it");

static const u32 unreached = UNREACHED;

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_bc *o = options;
	struct bc_run *b = self;

	b->all = sources_are_all(o->sources);
	b->normalized = o->normalized;
	declare_state(d, &b->depth, "depth", sizeof(u32), &unreached);
	for (u32 i = 0; i < 2; i++) {
		declare_state(d, &b->paths[i], "paths", sizeof(f64), NULL);
		declare_state(d, &b->share[i], "share", sizeof(f64), NULL);
	}
	declare_state(d, &b->score, "score", sizeof(f64), NULL);
	declare_loop(d, &b->loop, sizeof(b->loop));
	declare_levels(d, &b->levels);
	declare_frontier(d, &b->front, 0);
	declare_advance(d, bfs_levels, MAIN);
	TRY(declare_reducer(d, &b->in, &bc_reduce, MAIN | LISTS | OVER_IN));
	TRY(declare_reducer(d, &b->out, &bc_reduce, MAIN | LISTS));
	TRY(declare_reducer(d, &b->wide_in, &bc_wide_reduce, LISTS | OVER_IN | SELDOM));
	TRY(declare_reducer(d, &b->wide_out, &bc_wide_reduce, LISTS | SELDOM));
	declare_compute(d, &bc_wide_widen_compute, SELDOM);
	declare_bytes(d, 0, 4096);
	declare_check(d, bc_check_bytes(d->run->store));
	return declare_sources(d, o->sources);
}

static mill_err search(struct mill_run *r, struct bc_run *b, vid root)
{
	struct bfs_args a = { .depth = b->depth, .level = 0 };

	r->search.root = root;
	TRY(vec_set(b->depth, root, &a.level));
	TRY(frontier_set(b->front, root));
	for (; b->front->n; a.level++) {
		if (!b->front->unit)
			TRY(levels_keep(&b->levels, b->front));
		TRY(op_advance(r, bfs_levels, &a, b->front));
	}
	if (b->front->unit)
		TRY(levels_find(&b->levels, b->depth));
	b->loop.reached += b->levels.n_reached;
	b->loop.deepest = max_u64(b->loop.deepest, b->levels.n_levels - 1);
	return MILL_OK;
}

/* ---- The sums ---- */

/*
 * Returns the arguments for one level. After the paths are counted, a vertex's place in the
 * other levels' array is free, so its dependency is kept there.
 */
static struct bc_wide_args wide_args(const struct bc_run *b, vid root, bool back, u64 level)
{
	struct vec *const *number = back ? b->share : b->paths;

	return (struct bc_wide_args){
		.given = number[(level + 1) % 2],
		.mine = number[level % 2],
		.paths = b->paths[level % 2],
		.dependency = b->paths[(level + 1) % 2],
		.score = b->score,
		.exponent = b->depth,
		.back = back,
		.root = root,
	};
}

/* Sums one level: the vertices at [begin, end) of levels.order. */
static mill_err reduce_level(struct mill_run *r, struct bc_run *b, bool back, u64 level, u64 begin,
			     u64 end, u64 *too_many)
{
	struct bc_wide_args w = wide_args(b, r->search.root, back, level);
	struct bc_args a = { .given = w.given,
			     .mine = w.mine,
			     .paths = w.paths,
			     .dependency = w.dependency,
			     .score = w.score,
			     .back = back,
			     .root = w.root };
	const vid *list = b->levels.order + begin;

	if (!b->wide_in)
		return op_reduce_list(r, back ? b->out : b->in, &a, list, end - begin, too_many);
	return op_reduce_list(r, back ? b->wide_out : b->wide_in, &w, list, end - begin, too_many);
}

/* Makes the reducers of wide numbers, and converts the paths counted so far. */
static mill_err make_wide(struct mill_run *r, struct bc_run *b)
{
	struct bc_wide_args even = wide_args(b, 0, false, 0), odd = wide_args(b, 0, false, 1);
	f64 none;

	TRY(op_reducer(r, &b->wide_in, &bc_wide_reduce, true));
	TRY(op_reducer(r, &b->wide_out, &bc_wide_reduce, false));
	TRY(device_prepare(r->device, &bc_wide_reduce.program.source));
	TRY(device_prepare(r->device, &bc_wide_widen_compute.program.source));
	TRY(op_compute(r, &bc_wide_widen_compute, &even, 0, r->store->n_linked, &none));
	return op_compute(r, &bc_wide_widen_compute, &odd, 0, r->store->n_linked, &none);
}

/*
 * Counts the paths. A level with more paths than a double can hold is counted again in wide
 * numbers.
 */
static mill_err count_paths(struct mill_run *r, struct bc_run *b)
{
	u64 level = 0, too_many;

	TRY(vec_set(b->paths[0], r->search.root, &(f64){ 1 }));
	for (u64 at = levels_end(&b->levels, 0), end; at < b->levels.n_reached; at = end) {
		level++;
		end = levels_end(&b->levels, at);
		b->loop.hops += (f64)(end - at) * (f64)(level - 1);
		TRY(reduce_level(r, b, false, level, at, end, &too_many));
		if (too_many && !b->wide_in) {
			TRY(make_wide(r, b));
			TRY(reduce_level(r, b, false, level, at, end, &too_many));
		}
		if (too_many)
			return fail(MILL_ELIMIT,
				    "there are more than 2^%u shortest paths to a vertex",
				    BC_EXPONENT_MOST);
	}
	return MILL_OK;
}

static mill_err sum_dependencies(struct mill_run *r, struct bc_run *b)
{
	u64 none, level = b->levels.n_levels;

	for (u64 end = b->levels.n_reached, at; end; end = at) {
		at = levels_begin(&b->levels, end);
		TRY(reduce_level(r, b, true, --level, at, end, &none));
	}
	return MILL_OK;
}

/* ---- Sources ---- */

static mill_err reset_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct bc_run *b = arg;
	f64 *const x[] = { b->paths[0]->buffer.host, b->paths[1]->buffer.host,
			   b->share[0]->buffer.host, b->share[1]->buffer.host };
	u32 *depth = b->depth->buffer.host;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		vid v = b->levels.order[i];

		for (u32 k = 0; k < ARRAY_LEN(x); k++)
			x[k][v] = 0;
		depth[v] = UNREACHED;
	}
	return MILL_OK;
}

/*
 * Resets the vectors for the next source. If the search reached few vertices, only those
 * are reset, so that a small search costs little.
 */
static mill_err reset(struct mill_run *r, struct bc_run *b)
{
	struct vec *const all[] = { b->paths[0], b->paths[1], b->share[0], b->share[1] };

	if (r->device->native && b->levels.n_reached < r->store->n_linked / 4)
		return pool_for(r->pool, b->levels.n_reached, 16384, reset_some, b);
	for (u32 k = 0; k < ARRAY_LEN(all); k++)
		TRY(device_fill(&all[k]->buffer, &(f64){ 0 }, sizeof(f64)));
	return device_fill(&b->depth->buffer, &unreached, sizeof(unreached));
}

/*
 * Adds the dependencies of one source. If a source has too many paths for doubles, later
 * sources begin with wide numbers, because they probably have as many paths.
 */
static mill_err from_source(struct mill_run *r, struct bc_run *b, vid root, bool last)
{
	TRY(search(r, b, root));
	TRY(count_paths(r, b));
	TRY(sum_dependencies(r, b));
	b->loop.edges += 2 * b->levels.n_edges;	/* out to the last level and back */
	if (last)	/* the certificate reads this search */
		return MILL_OK;
	TRY(reset(r, b));
	levels_clear(&b->levels);
	return MILL_OK;
}

/* ---- The scores ---- */

/*
 * Returns the factor of the scores. With all sources of an undirected graph each pair
 * counts twice. Normalizing treats the sources as a sample of all vertices.
 */
static f64 scale_of(const struct store *st, const struct bc_run *b)
{
	f64 n = (f64)st->vertices;

	if (!b->normalized || st->vertices < 3)
		return !st->directed && b->all ? 0.5 : 1;
	return n / (f64)b->n_sources / ((n - 1) * (n - 2));
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

static mill_err run(struct mill_run *r, void *self)
{
	const struct run_search *s = &r->search;
	struct bc_run *b = self;

	for (u64 *i = &b->loop.source; *i < s->n_sources; ++*i)
		TRY(from_source(r, b, s->source[*i], *i + 1 == s->n_sources));
	b->n_sources = s->n_sources + s->n_isolated;
	b->scale = scale_of(r->store, b);
	TRY(scale_scores(r, b->score, b->scale));
	run_column(r, "score", MILL_TYPE_F64, b->score, 0, 0);
	TRY(run_end(r));
	r->ledger.edges_traversed = b->loop.edges;
	if (b->n_sources == 1)
		TRY(run_fact_id(r, "source", s->n_sources ? s->source[0] : s->isolated_source));
	run_fact(r, "sources", b->n_sources);
	/* An isolated source reaches itself. */
	run_fact(r, "reached", b->loop.reached + s->n_isolated);
	run_fact(r, "max_depth", b->loop.deepest);
	return result_top(r);
}

/* ---- The row ---- */

static bool rounds(const void *options)
{
	(void)options;
	return true;
}

#define AT(field) offsetof(struct mill_bc, field)

static const struct mill_option options[] = {
	OPTION_SOURCE(AT(sources)),
	{ "sources", MILL_OPTION_TEXT, AT(sources), "LIST",
	  .help = "several sources: ID,ID,... or @FILE, `random:K` or `all`",
	  .word = NAMES("all", "random:") },
	{ "normalized", MILL_OPTION_FLAG, AT(normalized), NULL,
	  .help = "divide by the number of pairs: scores in 0 .. 1", .only_run = true },
	{ 0 },
};

const struct algorithm algorithm_bc = {
	.public = {
		.name = "bc",
		.summary = "betweenness centrality: how many shortest paths lead through a vertex",
		.help = "Brandes' algorithm. Every edge counts 1, parallel edges are\n"
			"different paths, self-loops do not matter. --sources all is exact\n"
			"(undirected: each pair counts once). With fewer sources, a score is\n"
			"the sum over these sources. --normalized divides by the number of\n"
			"pairs of other vertices, scaled from the sources to all vertices.\n"
			"-o writes `id score`, with a relative error below 1e-9. On the CPU\n"
			"the bits are the same for any number of threads and any --memory.\n",
		.examples = "  millrace bc social.mill --sources all -o scores.tsv\n"
			    "  millrace bc web.mill --sources random:64 --normalized --check\n",
		.option = options,
		.options_size = sizeof(struct mill_bc),
		.column = NAMES("score"),
		.fact = NAMES("source", "sources", "reached", "max_depth", "top"),
		.traits = MILL_FRONTIERS | MILL_PULLS,
	},
	.size = sizeof(struct bc_run),
	.declare = declare,
	.run = run,
	.check = bc_check,
	.rounds = rounds,
	.cost = &cost_bc,
};
