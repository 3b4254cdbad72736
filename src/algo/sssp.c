/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths by near/far priority (Davidson et al., IPDPS 2014). Vertices
 * with a distance below the limit are processed until none is left, the others wait. Then
 * the limit rises by delta. With more than two buckets, waiting vertices are sorted by
 * distance as they arrive.
 */
#include "algo/algo.h"
#include "algo/tree.h"

#define TEMPLATE sssp
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define WRITES distance
#define NEAR_FAR 1
#include "op/by_weight.inc"

struct sssp_run {
	const struct advance_program *program;
	struct sssp_unit_args a;	/* all instances have the same arguments */
	struct frontier *front;
	enum weight_kind kind;
	vid root;
	u64 none;			/* the key of an unreached vertex */
	f64 delta;
	u32 buckets;
};

/* A distance is stored as a key, an unsigned integer; keys have the order of the distances. */
static bool is_real(enum weight_kind k) { return k == WEIGHT_F32 || k == WEIGHT_F64; }
static u32 key_size(enum weight_kind k)
{
	return k == WEIGHT_UNIT || k == WEIGHT_SHORT ? sizeof(u32) : sizeof(u64);
}

static enum weight_kind kind_of(const struct store *st, const struct mill_sssp *o)
{
	if (o->unit_weights)
		return WEIGHT_UNIT;
	switch (st->weight) {
	case MILL_WEIGHT_F32:
		return WEIGHT_F32;
	case MILL_WEIGHT_F64:
		return WEIGHT_F64;
	default:	/* no path is longer than the number of vertices times the largest weight */
		return st->max_weight * (f64)st->n_linked < (f64)(UINT32_MAX - 1) ? WEIGHT_SHORT
										  : WEIGHT_LONG;
	}
}

/*
 * Returns delta: wide enough that a step is worth its cost, narrow enough that little is
 * done twice. Davidson's rule: the mean weight times a factor, divided by the mean degree.
 */
static f64 choose_delta(const struct mill_run *r, enum weight_kind kind, f64 asked)
{
	const struct store *st = r->store;
	f64 edges = (f64)max_u64(st->stored_edges, 1);
	f64 mean = kind == WEIGHT_UNIT ? 1 : st->sum_weight / edges;
	/*
	 * Asynchronous runs do more work twice, but in memory, and save passes: they read
	 * 0.2 GiB instead of 18.8 on a grid of 2000 x 2000.
	 */
	f64 factor = r->options.async ? 2048 : 32;
	f64 delta = asked > 0 ? asked : factor * mean * (f64)max_u64(st->sources, 1) / edges;

	if (!is_real(kind))
		return delta < 1 ? 1 : delta < 0x1p62 ? (f64)(u64)delta : 0x1p62;
	return delta > 0 ? delta : 1;
}

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct store *st = d->run->store;
	const struct mill_sssp *o = options;
	struct sssp_run *s = self;

	s->kind = kind_of(st, o);
	if (st->weight == MILL_WEIGHT_NONE && s->kind != WEIGHT_UNIT)
		return fail(MILL_EUSAGE,
			    "%s has no weights: import them with --weights, or use --unit-weights",
			    st->path);
	if (s->kind != WEIGHT_UNIT && !(st->min_weight >= 0))
		return fail(MILL_EUSAGE, "%s has negative weights, which sssp cannot take",
			    st->path);
	s->buckets = o->buckets ? o->buckets : BUCKETS_LEAST;
	if (s->buckets < BUCKETS_LEAST || s->buckets > BUCKETS_MOST)
		return fail(MILL_EUSAGE, "%u buckets: use %u to %u", s->buckets, BUCKETS_LEAST,
			    BUCKETS_MOST);
	s->program = sssp_advances[s->kind];
	s->none = is_real(s->kind) ? bits_f64(__builtin_inf()) : UINT64_MAX;
	s->delta = choose_delta(d->run, s->kind, o->delta);
	declare_state(d, &s->a.distance, "distance", key_size(s->kind), &s->none);
	declare_frontier(d, &s->front, s->buckets);
	declare_advance(d, s->program, MAIN);
	declare_tree(d, s->kind);
	return declare_source(d, o->source, &s->root);
}

static mill_err search(struct mill_run *r, struct sssp_run *s)
{
	struct frontier *front = s->front;

	TRY(frontier_begin(front, s->a.distance, s->root));
	TRY(frontier_widths(front, is_real(s->kind) ? bits_f64(s->delta) : (u64)s->delta,
			    is_real(s->kind)));
	while (front->n) {
		TRY(op_advance(r, s->program, &s->a, front));
		if (!front->n)
			TRY(op_split(r, s->program, &s->a, front));
	}
	return MILL_OK;
}

static mill_err run(struct mill_run *r, void *self)
{
	struct sssp_run *s = self;
	struct reach reach;

	TRY(search(r, s));
	run_column(r, "distance", is_real(s->kind) ? MILL_TYPE_F64 : MILL_TYPE_U64, s->a.distance,
		   UINT64_MAX, s->none);
	TRY(run_end(r));
	TRY(run_reach(r, s->a.distance, &s->none, &reach));
	TRY(run_search_facts(r, &reach));
	if (!s->front->unit)	/* units have no priorities */
		run_fact_real(r, "delta", s->delta);
	return tree_settle(r, s->kind);
}

/* ---- The row ---- */

#define AT(field) offsetof(struct mill_sssp, field)

static const struct mill_option options[] = {
	OPTION_SOURCE(AT(source)),
	{ "delta", MILL_OPTION_REAL, AT(delta), "auto|N",
	  .help = "width of a distance step (default auto)", .word = NAMES("auto"), .open = true,
	  .only_run = true },
	{ "buckets", MILL_OPTION_U32, AT(buckets), "N",
	  .help = "buckets of distances, near and far included: 2 to 64", .low = BUCKETS_LEAST,
	  .high = BUCKETS_MOST, .usual = BUCKETS_LEAST },
	{ "unit-weights", MILL_OPTION_FLAG, AT(unit_weights), NULL,
	  .help = "every edge has the weight 1" },
	{ 0 },
};

const struct algorithm algorithm_sssp = {
	.public = {
		.name = "sssp",
		.summary = "shortest paths from a source over non-negative weights",
		.help = "-o writes `id distance parent`. Unreached vertices have distance inf\n"
			"and parent -1.\n",
		.examples = "  millrace sssp roads.mill --source 1 -o distances.csv\n"
			    "  millrace sssp web.mill --unit-weights --source max-degree --check\n",
		.option = options,
		.options_size = sizeof(struct mill_sssp),
		.column = NAMES("distance", "parent"),
		.fact = NAMES("source", "reached", "delta"),
		.traits = MILL_PARENTS | MILL_FRONTIERS | MILL_ASYNC,
		.needs_weights = true,
	},
	.size = sizeof(struct sssp_run),
	.declare = declare,
	.run = run,
	.check = tree_check,
	.cost = &cost_sssp,
};
