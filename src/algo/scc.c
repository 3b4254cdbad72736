/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strong components. Most graphs have one large component: a search forward and one
 * backward from a vertex with many edges find it (Fleischer, Hendrickson, Pinar 2000).
 * Trimming finds vertices that are components of their own. The rest is finished by one
 * depth-first search in memory, if its lists are there or fit. Until they do, each round of
 * colouring (Orzan 2004) finds one component of each colour. So neither long paths nor long
 * cycles need many passes.
 */
#include "algo/scc.h"

#include "algo/scc.op.h"

#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define COND 1
#define PREFETCH mark
#define UNIQUE 1
#define PULL 1
#define ADVANCE 1
#define COMPUTE_1 settle
#define COMPUTE_2 trim
#define COMPUTE_3 paint
#define COMPUTE_4 found
#define COMPUTE_5 divide
#include "op/program.inc"

#define PROGRAM scc_spread
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define COND 1
#define PREFETCH mark
#include "op/advance.inc"

#define PROGRAM scc_claim
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define COND 1
#define PREFETCH root
#define UNIQUE 1
#include "op/advance.inc"

#define PROGRAM scc_live
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define COND 1
#define PREFETCH root
#include "op/scan.inc"

/* A search that takes more steps follows long paths: one thread does that as fast in memory. */
#define REACH_STEPS 1000
/* Trimming goes on after a round that closed at least 1/16 of the open vertices. */
#define TRIM_WORTH 16

struct scc_run {
	struct scc_args a;
	struct frontier *front;
};

static const u32 none = UINT32_MAX;

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct store *st = d->run->store;
	struct scc_run *s = self;

	(void)options;
	declare_state(d, &s->a.root, "component", sizeof(u32), &none);
	declare_state(d, &s->a.colour, "colour", sizeof(u32), NULL);
	declare_state(d, &s->a.mark, "mark", sizeof(u32), NULL);
	declare_loop(d, &s->a.pivot, sizeof(s->a.pivot));
	declare_frontier(d, &s->front, 0);
	declare_advance(d, &scc_advance, MAIN);
	declare_scan(d, &scc_live_scan);
	declare_compute(d, &scc_settle_compute, 0);
	declare_compute(d, &scc_trim_compute, 0);
	/*
	 * Colouring is seldom needed, so its programs are not declared. They are built when
	 * they run.
	 */
	declare_component(d);
	/*
	 * The depth-first search is over when the certificate begins, so the larger of both
	 * counts.
	 */
	declare_bytes(d, 64,
		      lists_bytes(st) + max_u64(scc_finish_bytes(st),
						d->run->options.check ? scc_check_bytes(st) : 0));
	return declare_direction(d, true);
}

#define DEGREES 8192	/* number of degrees read at a time */

/*
 * Finds the vertex with the largest product of in- and out-degree; of several, the first.
 * *found is false if no vertex has both in- and out-edges.
 */
static mill_err find_pivot(struct mill_run *r, u32 *out, bool *found)
{
	const struct store *st = r->store;
	u32 *to, *from = NULL;
	u64 best = 0;
	mill_err err;

	TRY(memory_new(&to, &r->budget, DEGREES, sizeof(u32), "degrees"));
	err = memory_new(&from, &r->budget, DEGREES, sizeof(u32), "degrees");
	for (u64 at = 0; !err && at < st->sources; at += DEGREES) {
		u64 some = min_u64(DEGREES, st->sources - at);

		err = store_read(st, STORE_OUT_DEGREES, to, some * sizeof(u32), at * sizeof(u32));
		if (!err)
			err = store_read(st, STORE_IN_DEGREES, from, some * sizeof(u32),
					 at * sizeof(u32));
		for (u64 i = 0; !err && i < some; i++)
			if ((u64)to[i] * from[i] > best) {
				best = (u64)to[i] * from[i];
				*out = (u32)(at + i);
			}
	}
	memory_free(from);
	memory_free(to);
	*found = best;
	return err;
}

/* Returns true if a rest of this many edges can be finished in memory. */
static bool can_finish(struct mill_run *r, u64 edges)
{
	return run_direction(r, false)->resident || edges <= lists_most(r->store);
}

/*
 * Searches from the pivot. Along in-edges it visits only vertices that the search along
 * out-edges has reached. *done is false if it takes too many steps.
 */
static mill_err reach(struct mill_run *r, struct scc_args *a, struct frontier *f, bool in,
		      bool *done)
{
	u32 steps = 0;

	a->flag = in ? SCC_BACKWARD : SCC_FORWARD;
	a->within = in ? SCC_FORWARD : 0;
	TRY(vec_set(a->mark, a->pivot, &(u32){ a->flag | a->within }));
	frontier_restart(f, in);
	TRY(frontier_set(f, (vid)a->pivot));
	while (f->n) {
		if (steps++ == REACH_STEPS && can_finish(r, r->store->stored_edges)) {
			*done = false;
			return frontier_turn(f, true, false, 0);
		}
		TRY(op_advance(r, &scc_advance, a, f));
	}
	*done = true;
	return MILL_OK;
}

static mill_err trim(struct mill_run *r, struct scc_args *a, u64 *open, u64 *edges)
{
	u64 before;
	f64 alone;

	do {
		before = *open;
		TRY(op_scan(r, &scc_live_scan, a, &(struct scan){ .some = true }, edges));
		TRY(op_compute(r, &scc_trim_compute, a, 0, r->store->n_linked, &alone));
		*open -= (u64)alone;
	} while (*open && (u64)alone >= before / TRIM_WORTH + 1);
	return MILL_OK;
}

static mill_err colour(struct mill_run *r, struct scc_args *a, struct frontier *f, u64 *open)
{
	u64 n = r->store->n_linked;
	f64 sum;

	TRY(op_compute(r, &scc_paint_compute, a, 0, n, &sum));
	frontier_restart(f, false);
	TRY(frontier_set_all(f, n));
	while (f->n)
		TRY(op_advance(r, &scc_spread_advance, a, f));
	TRY(op_compute(r, &scc_found_compute, a, 0, n, &sum));
	frontier_restart(f, true);
	TRY(frontier_set_all(f, n));
	while (f->n)
		TRY(op_advance(r, &scc_claim_advance, a, f));
	TRY(op_compute(r, &scc_divide_compute, a, 0, n, &sum));
	*open = (u64)sum;
	return MILL_OK;
}

struct colours {
	const u32 *root, *colour;
};

static bool is_inner(void *arg, vid u, vid v)
{
	const struct colours *c = arg;

	return c->root[u] == NO_ROOT && c->root[v] == NO_ROOT && c->colour[u] == c->colour[v] &&
	       u != v;
}

static bool any_open(void *arg, u64 begin, u64 end)
{
	const struct colours *c = arg;

	while (begin < end && c->root[begin] != NO_ROOT)
		begin++;
	return begin < end;
}

static mill_err finish(struct mill_run *r, struct scc_args *a)
{
	struct lists lists = { 0 };
	u32 *root, *shade = NULL;
	struct colours c;
	mill_err err;

	TRY(vec_map(r, a->root, &root));
	err = vec_map(r, a->colour, &shade);
	c = (struct colours){ root, shade };
	if (!err)
		err = lists_get(r, &lists, false, any_open, is_inner, &c);
	if (!err)
		err = scc_finish(r, &lists, root, shade);
	if (!err && !r->device->native)
		err = device_write(&a->root->buffer, 0, root, a->root->buffer.size);
	lists_release(&lists);
	if (shade)
		vec_unmap(a->colour, shade);
	vec_unmap(a->root, root);
	return err;
}

static mill_err find_all(struct mill_run *r, struct scc_args *a, struct frontier *f)
{
	u64 open = r->store->n_linked, edges;
	bool done;
	f64 sum;

	if (r->stream && can_finish(r, r->store->stored_edges))
		return finish(r, a);
	TRY(find_pivot(r, &a->pivot, &done));
	if (done)
		TRY(reach(r, a, f, false, &done));
	if (done)
		TRY(reach(r, a, f, true, &done));
	if (done) {
		TRY(op_compute(r, &scc_settle_compute, a, 0, open, &sum));
		open -= (u64)sum;
	} else {
		TRY(device_fill(&a->mark->buffer, &(u32){ 0 }, sizeof(u32)));
	}
	for (;;) {
		TRY(trim(r, a, &open, &edges));
		if (!open)
			return MILL_OK;
		if (can_finish(r, edges))
			return finish(r, a);
		TRY(colour(r, a, f, &open));
	}
}

static mill_err run(struct mill_run *r, void *self)
{
	struct scc_run *s = self;
	u64 n_components;

	if (r->store->n_linked)
		TRY(find_all(r, &s->a, s->front));
	TRY(device_fill(&s->a.mark->buffer, &none, sizeof(none)));
	TRY(component_names(r, s->a.root, s->a.mark, &n_components));
	TRY(run_end(r));
	r->ledger.edges_traversed = r->store->stored_edges;
	return component_facts(r, n_components);
}

extern const struct algorithm algorithm_cc;

const struct algorithm algorithm_scc = {
	.public = {
		.name = "scc",
		.summary = "strong components: which vertices lead to each other",
		.help = "-o writes `id component`, the smallest id in the component. Reads\n"
			"in-edges too, so it fails on a store made with --out-only. In an\n"
			"undirected graph these are the weak components.\n",
		.examples = "  millrace scc web.mill -o components.tsv\n"
			    "  millrace scc web.mill --memory 25% --check\n",
		.column = NAMES("component"),
		.fact = NAMES("components", "largest"),
		.traits = MILL_FRONTIERS,
	},
	.size = sizeof(struct scc_run),
	.declare = declare,
	.run = run,
	.check = scc_check,
	.cost = &cost_scc,
	.undirected = &algorithm_cc,
};
