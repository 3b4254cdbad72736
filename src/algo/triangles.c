/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles through each vertex of the undirected simple graph, and clustering coefficients. */
#include "algo/triangles.h"

#include "algo/algo.h"
#include "base/bitmap.h"
#include "op/intersect.h"

#include "algo/triangles.op.h"

#define PROGRAM triangles
#define FIELDS TRIANGLES_FIELDS
#define SOURCE "algo/triangles.op.h"
#include "op/intersect.inc"

struct triangles_run {
	struct triangles_args a;
	struct vec *degree, *lcc;	/* lcc: NULL unless it is asked for */
	bool arcs;
};

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_triangles *o = options;
	const struct mill_run *r = d->run;
	struct triangles_run *t = self;
	u64 n = r->store->n_linked, copies = intersect_copies(r);

	/*
	 * Every edge of an undirected graph is two arcs, so both definitions give the same
	 * result.
	 */
	t->arcs = o->lcc == MILL_LCC_DIRECTED && r->store->directed;
	declare_vec(d, &t->a.count, "triangles", n * copies, sizeof(u64), NULL);
	if (t->arcs)
		declare_vec(d, &t->a.arcs, "arcs between neighbours", n * copies, sizeof(u64),
			    NULL);
	if (o->lcc)
		declare_host(d, &t->lcc, "clustering coefficients", n, sizeof(f64));
	declare_bytes(d, 4096, 0);
	declare_check(d, triangles_check_bytes(r->store));
	TRY(declare_intersect(d, &triangles_intersect, &t->degree, t->arcs, "triangles"));
	if (run_is_native(r) && !t->arcs)
		d->need.resident = intersect_count_bytes(r);
	return MILL_OK;
}

/* ---- Coefficients from counts ---- */

/* Replaces a vector on a device by a copy in host memory. */
static mill_err move_to_host(struct mill_run *r, struct vec **v)
{
	struct vec *here;

	if ((*v)->buffer.host)
		return MILL_OK;
	TRY(run_vec_host(r, &here, (*v)->name, (*v)->n, (*v)->size));
	TRY(device_read(&(*v)->buffer, 0, here->buffer.host, here->buffer.size));
	run_vec_free(r, *v);
	*v = here;
	return MILL_OK;
}

struct sum_ctx {
	struct mill_run *run;
	u64 *count, *arcs;	/* n of them for each copy */
	const u32 *degree;
	f64 *lcc;
	u64 n;
	u32 copies;
};

static mill_err sum_copies(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct sum_ctx *s = arg;

	(void)worker;
	for (u32 copy = 1; copy < s->copies; copy++)
		for (u64 v = begin; v < end; v++) {
			s->count[v] += s->count[copy * s->n + v];
			if (s->arcs)
				s->arcs[v] += s->arcs[copy * s->n + v];
		}
	return MILL_OK;
}

/* Returns the number of pairs of neighbours, as a real: it can be almost 2^63. */
static f64 pairs_of(u32 degree) { return degree > 1 ? (f64)degree * ((f64)degree - 1) / 2 : 0; }

static mill_err divide(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct sum_ctx *s = arg;

	(void)worker;
	for (u64 v = begin; v < end; v++) {
		f64 found = s->arcs ? (f64)s->arcs[v] / 2 : (f64)s->count[v];

		s->lcc[v] = s->degree[v] > 1 ? found / pairs_of(s->degree[v]) : 0;
	}
	return MILL_OK;
}

static void find_facts(struct sum_ctx *s)
{
	f64 sum = 0, pairs = 0;
	u64 total = 0;

	for (u64 v = 0; v < s->n; v++)
		total += s->count[v];
	run_fact(s->run, "triangles", total / 3);
	if (!s->lcc)
		return;
	for (u64 v = 0; v < s->n; v++) {
		sum += s->lcc[v];
		pairs += pairs_of(s->degree[v]);
	}
	run_fact_real(s->run, "transitivity", pairs > 0 ? (f64)total / pairs : 0);
	run_fact_real(s->run, "average_lcc", s->n ? sum / (f64)s->run->store->vertices : 0);
}

static mill_err find_lcc(struct sum_ctx *s, const struct triangles_run *t)
{
	s->lcc = t->lcc->buffer.host;
	s->degree = t->degree->buffer.host;
	TRY(pool_for(s->run->pool, s->n, 16384, divide, s));
	run_column(s->run, "lcc", MILL_TYPE_F64, t->lcc, UINT64_MAX, 0);
	return MILL_OK;
}

/* Counts the triangles, and sums the copies. only: counts without arcs, by op_intersect_count. */
static mill_err count(struct sum_ctx *s, struct triangles_run *t, bool only)
{
	struct triangles_args *a = &t->a;
	struct mill_run *r = s->run;

	if (!only || t->lcc)
		TRY(run_degrees(r, t->degree));
	TRY(only ? op_intersect_count(r, a->count)
		 : op_intersect(r, &triangles_intersect, a, t->degree));
	TRY(move_to_host(r, &a->count));
	s->count = a->count->buffer.host;
	if (a->arcs) {
		TRY(move_to_host(r, &a->arcs));
		s->arcs = a->arcs->buffer.host;
	}
	return s->copies > 1 ? pool_for(r->pool, s->n, 16384, sum_copies, s) : MILL_OK;
}

static mill_err run(struct mill_run *r, void *self)
{
	struct triangles_run *t = self;
	struct sum_ctx s = { .run = r, .n = r->store->n_linked };
	bool only = op_can_count(r) && !t->arcs;

	t->a.n = s.n;
	s.copies = only ? 1 : intersect_copies(r);
	TRY(count(&s, t, only));
	run_column(r, "triangles", MILL_TYPE_U64, t->a.count, UINT64_MAX, 0);
	if (t->lcc)
		TRY(find_lcc(&s, t));
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges;
	find_facts(&s);
	return MILL_OK;
}

static mill_err check(struct mill_run *r)
{
	return triangles_check(r, ((const struct triangles_run *)r->self)->arcs);
}

/* ---- The row ---- */

static const struct mill_option options[] = {
	{ "lcc", MILL_OPTION_SWITCH, offsetof(struct mill_triangles, lcc), "[=directed]",
	  .help = "also local clustering coefficients; directed: as LDBC counts arcs",
	  .word = NAMES("undirected", "directed"), .first = MILL_LCC_UNDIRECTED },
	{ 0 },
};

const struct algorithm algorithm_triangles = {
	.public = {
		.name = "triangles",
		.summary = "triangles through each vertex, and clustering coefficients",
		.help = "Takes the undirected simple graph: directions, loops and parallel\n"
			"edges do not count. -o writes `id triangles`, with --lcc also the\n"
			"share of pairs of neighbours that are neighbours of each other.\n"
			"--lcc=directed counts arcs between neighbours, as LDBC Graphalytics\n"
			"does.\n",
		.examples = "  millrace triangles web.mill -o triangles.tsv\n"
			    "  millrace triangles web.mill --lcc --check --json\n",
		.option = options,
		.options_size = sizeof(struct mill_triangles),
		.column = NAMES("triangles", "lcc"),
		.fact = NAMES("triangles", "transitivity", "average_lcc"),
		.traits = MILL_SIMPLE,
	},
	.size = sizeof(struct triangles_run),
	.declare = declare,
	.run = run,
	.check = check,
	.cost = &cost_triangles,
};
