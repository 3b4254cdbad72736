/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PageRank by pulling (Jacobi). Every iteration reads only the scores of the one before, so
 * the bits do not depend on threads, budget or page size. Dangling mass, the scores of
 * vertices without out-edges, goes where jumps go.
 *
 * Asynchronous runs (--async) apply scores in place, to the array that they gather from
 * (Gauss-Seidel). This takes about half the passes on web graphs, but the bits depend on
 * the order of the workers. The contribution of a vertex to itself over a self-loop is
 * solved for. Between passes the scores do not sum to 1. Jumps distribute their present sum,
 * so that the run need not wait for the sum itself, which converges slowly; at the end the
 * scores are scaled so that they sum to 1.
 */
#include "algo/pagerank.h"

#include <string.h>

#include "algo/algo.h"
#include "engine/personal.h"

#define TEMPLATE pagerank
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define SPREAD 1
#define COUNTS 2
#define GIVEN share
#define COMPUTE_1 first
#define COMPUTE_2 mass
#include "op/by_precision.inc"

#define TEMPLATE pagerank_at_once
#define FIELDS PAGERANK_FIELDS
#define SOURCE "algo/pagerank.op.h"
#define IN_PLACE 1
#define SPREAD 1
#define COUNTS 3
#define PREFETCH share
#define SCAN 1
#define COMPUTE_1 first
#define COMPUTE_2 mass
#define COMPUTE_3 fill
#define REALS_ONLY 1
#include "op/by_precision.inc"

enum { FIRST, MASS, FILL };	/* indices of programs->compute */

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_pagerank *o = options;
	const struct store *st = d->run->store;
	struct pagerank_run *p = self;
	u32 size = precision_size(o->precision);

	p->precision = o->precision;
	p->async = d->run->options.async;
	p->damping = o->damping > 0 ? o->damping : 0.85;
	p->tolerance = o->tolerance < 0 ? 0 : o->tolerance > 0 ? o->tolerance : 1e-6;
	p->most = o->iterations ? o->iterations : 100;
	p->personalize = o->personalize;
	if (p->async && p->precision == MILL_EXACT)
		return fail(MILL_EUSAGE,
			    "--exact and --async exclude each other: leave one of them out");
	p->programs = p->async ? &pagerank_at_once_by_precision[p->precision]
			       : &pagerank_by_precision[p->precision];
	declare_divisors(d, &p->degree);
	declare_state(d, &p->score, "score", size, NULL);
	declare_state(d, &p->share, "share", size, NULL);
	if (!p->async)
		declare_state(d, &p->next, "next share", size, NULL);
	else if (st->self_loops)
		declare_state(d, &p->self_loop, "self-loops", size, NULL);
	if (p->personalize)
		declare_state(d, &p->teleport, "teleport", size, NULL);
	declare_loop(d, &p->loop, sizeof(p->loop));
	declare_compute(d, p->programs->compute[FIRST], 0);
	declare_compute(d, p->programs->compute[MASS], 0);
	declare_check(d, pagerank_check_bytes(st));
	declare_rounds(d, p->most, p->tolerance, p->damping);
	return declare_reducer(d, &p->reducer, p->programs->reduce, MAIN | OVER_IN);
}

/* Sets teleport[v]: the named vertices share 1 equally. */
static mill_err personalize(struct mill_run *r, struct pagerank_run *p)
{
	struct isolated_group *named = &p->loop.group[1], *other = &p->loop.group[0];
	struct personal chosen;
	mill_err err = run_personal(r, &chosen, p->personalize, "--personalize");

	named->isolated = chosen.n_isolated;
	named->dangling = chosen.n_dangling;
	other->isolated -= named->isolated;
	other->dangling -= named->dangling;
	named->teleport = number_of(p->precision,
				    1 / (f64)max_u64(chosen.n_linked + chosen.n_isolated, 1));
	for (u64 v = 0; !err && v < r->store->n_linked; v++)
		if (bitmap_get(chosen.bits, v))
			err = vec_set(p->teleport, v, &named->teleport);
	personal_release(&chosen);
	return err;
}

/* ---- The iteration ---- */

/* Returns the arguments of a pass. jump: the mass that jumps, dangling mass included. */
static struct pagerank_f32_args arguments(const struct mill_run *r, const struct pagerank_run *p,
					  f64 damping, f64 jump)
{
	return (struct pagerank_f32_args){
		.score = p->score,
		.share = p->share,
		.next = p->next ? p->next : p->share,
		.teleport = p->teleport,
		.loop = p->self_loop,
		.degree = p->degree,
		.damping = damping,
		.base = jump / (f64)max_u64(r->store->vertices, 1),
		.jump = jump,
		.sources = (u32)r->store->sources,
		.personal = p->teleport != NULL,
		.loops = p->self_loop != NULL,
	};
}

static mill_err compute(struct mill_run *r, struct pagerank_run *p, int which, f64 damping,
			f64 *sum)
{
	struct pagerank_f32_args a = arguments(r, p, damping, 1);

	return op_compute(r, p->programs->compute[which], &a, 0, r->store->n_linked, sum);
}

/*
 * Computes the next score of the isolated vertices of a group, as `apply` does for other
 * vertices. count: the change and the score of one vertex.
 */
static void settle_group(const struct pagerank_run *p, struct isolated_group *x,
			 const struct pagerank_f32_args *a, u64 count[2])
{
	f64 old = number_real(p->precision, x->score);

	x->score = p->teleport ? number_scale(p->precision, x->teleport, a->jump)
			       : number_of(p->precision, a->base);
	count[0] = fixed_f64(dev_abs(number_real(p->precision, x->score) - old));
	count[1] = number_fixed(p->precision, x->score);
}

static f64 isolated_mass(const struct pagerank_run *p)
{
	f64 sum = 0;

	for (u32 i = 0; i < 2; i++)
		sum += (f64)p->loop.group[i].isolated *
		       number_real(p->precision, p->loop.group[i].score);
	return sum;
}

/* Scales scores that were made in place, so that they sum to 1. */
static mill_err fill_up(struct mill_run *r, struct pagerank_run *p)
{
	f64 sum, lacks;

	TRY(compute(r, p, MASS, 1, &sum));
	sum += isolated_mass(p);
	lacks = sum > 0 ? 1 / sum : 1;
	for (u32 i = 0; i < 2; i++)
		p->loop.group[i].score = number_of(p->precision,
						   number_real(p->precision,
							       p->loop.group[i].score) *
							   lacks);
	return compute(r, p, FILL, lacks, &sum);
}

static mill_err first_scores(struct mill_run *r, struct pagerank_run *p)
{
	struct pagerank_f32_args a = arguments(r, p, 0, 1);
	u64 mass = 0, count[2];
	f64 none;

	for (u32 i = 0; i < 2; i++) {
		settle_group(p, &p->loop.group[i], &a, count);
		mass += p->loop.group[i].dangling * count[1];
	}
	p->loop.dangling = (f64)mass / (f64)FIXED_ONE;
	p->loop.mass = 1;
	return compute(r, p, FIRST, 0, &none);
}

static mill_err next_scores(struct mill_run *r, struct pagerank_run *p)
{
	u64 one[2], count[3] = { 0 };	/* change, dangling mass and, in place, the mass of all */
	struct pagerank_f32_args a;

	if (p->next) {
		struct vec *share = p->share;

		p->share = p->next;
		p->next = share;
	}
	a = arguments(r, p, p->damping,
		      (1 - p->damping) * p->loop.mass + p->damping * p->loop.dangling);
	TRY(op_reduce(r, p->reducer, &a, count));
	for (u32 i = 0; i < 2; i++) {
		settle_group(p, &p->loop.group[i], &a, one);
		count[0] += p->loop.group[i].isolated * one[0];
		count[1] += p->loop.group[i].isolated * one[1];
		count[2] += p->loop.group[i].isolated * one[1];
	}
	p->loop.change = (f64)count[0] / (f64)FIXED_ONE;
	p->loop.dangling = (f64)count[1] / (f64)FIXED_ONE;
	/* In place the sum of the scores changes: jumps use it, and fill_up scales it to 1. */
	p->loop.mass = p->async ? (f64)count[2] / (f64)FIXED_ONE : 1;
	return MILL_OK;
}

static mill_err iterate(struct mill_run *r, struct pagerank_run *p)
{
	struct pagerank_f32_args loops = arguments(r, p, p->damping, 1);

	if (p->self_loop)
		TRY(op_scan(r, p->programs->scan, &loops, &(struct scan){ .in = true }, NULL));
	TRY(first_scores(r, p));
	p->loop.change = __builtin_inf();
	for (; p->loop.iterations < p->most && !(p->loop.change < p->tolerance);
	     p->loop.iterations++)
		TRY(next_scores(r, p));
	return p->async ? fill_up(r, p) : MILL_OK;
}

static mill_err run(struct mill_run *r, void *self)
{
	struct pagerank_run *p = self;
	f64 sum = 0, score[2];

	p->loop.group[0] = (struct isolated_group){
		.isolated = run_isolated(r), .dangling = r->store->vertices - r->store->sources
	};
	if (p->personalize)
		TRY(personalize(r, p));
	TRY(iterate(r, p));
	run_column(r, "score", precision_type(p->precision), p->score, 0, 0);
	r->result.column[0].scale = precision_unit(p->precision);
	for (u32 i = 0; i < 2; i++)
		score[i] = number_real(p->precision, p->loop.group[i].score);
	memcpy(&r->result.column[0].isolated, &score[0], sizeof(u64));
	memcpy(&r->result.column[0].chosen, &score[1], sizeof(u64));
	TRY(run_end(r));
	r->ledger.edges_traversed = (u64)p->loop.iterations * r->store->stored_edges;
	TRY(compute(r, p, MASS, p->damping, &sum));
	run_fact_real(r, "sum", sum + isolated_mass(p));
	run_fact_real(r, "change", p->loop.change);
	return result_top(r);
}

/* ---- The row ---- */

/* Devices add floats in another order. */
static bool rounds(const void *options)
{
	return ((const struct mill_pagerank *)options)->precision != MILL_EXACT;
}

#define AT(field) offsetof(struct mill_pagerank, field)

static const struct mill_option options[] = {
	{ "damping", MILL_OPTION_REAL, AT(damping), "D", .help = "probability to follow an edge",
	  .high = 1, .open = true, .usual = 0.85 },
	{ "tolerance", MILL_OPTION_REAL, AT(tolerance), "T",
	  .help = "stop when the L1 change falls below T; 0: never", .usual = 1e-6, .zero = true },
	{ "iterations", MILL_OPTION_U32, AT(iterations), "N", .help = "the most iterations",
	  .low = 1, .usual = 100 },
	{ "precision", MILL_OPTION_CHOICE, AT(precision), "f32|f64",
	  .help = "type of the scores (default f32)", .word = NAMES("f32", "f64") },
	{ "exact", MILL_OPTION_SWITCH, AT(precision), NULL,
	  .help = "64-bit fixed point: the same bits on every device", .first = MILL_EXACT },
	{ "personalize", MILL_OPTION_TEXT, AT(personalize), "ID|@FILE",
	  .help = "restart at these vertices instead of at all vertices" },
	{ 0 },
};

const struct algorithm algorithm_pagerank = {
	.public = {
		.name = "pagerank",
		.summary = "PageRank scores, uniform or personalised, which sum to 1",
		.help = "Stops when the L1 change falls below the tolerance, or after the\n"
			"given number of iterations. With tolerance 0 it runs exactly that\n"
			"number. -o writes `id score`.\n",
		.examples = "  millrace pagerank web.mill -o scores.tsv\n"
			    "  millrace pagerank web.mill --precision f64 --tolerance 1e-12 "
			    "--iterations 1000\n"
			    "  millrace pagerank web.mill --personalize 42 --memory 50%\n"
			    "  millrace pagerank web.mill --device opencl:0 --device opencl:1 "
			    "--device-memory 2G,1G --strategy p\n",
		.option = options,
		.options_size = sizeof(struct mill_pagerank),
		.column = NAMES("score"),
		.fact = NAMES("sum", "change", "top"),
		.traits = MILL_SUMS | MILL_ASYNC,
	},
	.size = sizeof(struct pagerank_run),
	.declare = declare,
	.run = run,
	.check = pagerank_check,
	.rounds = rounds,
	.cost = &cost_pagerank,
};
