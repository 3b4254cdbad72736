/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak components, by three methods. All give the same result: each finds a root for every
 * component, and component.op.h names it after its smallest id.
 *
 * Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018): a link puts the larger of two roots under
 * the smaller, so the order of links does not matter. The first two edges of every list link
 * most of the graph, and then only vertices outside the largest tree are looked at. If each
 * pass costs reads or transfers, one pass that links all edges is cheaper. In an undirected
 * store that pass skips the lists of vertices that are in the hub's tree by then (it looks
 * at 6 % of kron 24's edges). This is correct because both ends of an edge have the edge in
 * their lists.
 *
 * Hooking: Soman's hooking and pointer jumping, on an edge frontier as in Gunrock. Labels:
 * the smallest label spreads from neighbour to neighbour.
 */
#include "algo/component.h"
#include "base/random.h"

#include "algo/cc.op.h"

#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define COND 1
#define PREFETCH parent
#define SCAN 1
#define KEEP_EDGE cc_hook
#define COMPUTE_1 alone
#define COMPUTE_2 flat
#include "op/program.inc"

#define PROGRAM cc_sample
#define FIELDS CC_SAMPLE_FIELDS
#define SOURCE "algo/cc.op.h"
#define COMPUTE_1 take
#include "op/program.inc"

#define PROGRAM cc_label
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define WRITES parent
#include "op/advance.inc"

#define SAMPLES 256

struct cc_run {
	struct cc_args a;
	enum mill_cc_method method;
	struct vec *least;
	struct frontier *front;
	struct edge_frontier *edges;
};

static const u32 none = UINT32_MAX;

/* Chooses labels if the policy has kernels for them. They need the in-edges too. */
static enum mill_cc_method choose_method(const struct declaration *d, enum mill_cc_method asked)
{
	bool spread = declared_taken(d, &cc_label_advance.own) && d->run->store->has_in;

	if (asked)
		return asked;
	return spread ? MILL_CC_LABELS : MILL_CC_AFFOREST;
}

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_cc *o = options;
	const struct store *st = d->run->store;
	struct cc_run *c = self;

	c->method = choose_method(d, o->method);
	c->a.largest = CC_NONE;
	declare_state(d, &c->a.parent, "component", sizeof(u32), &none);
	declare_state(d, &c->least, "smallest id", sizeof(u32), &none);
	declare_loop(d, &c->a.largest, sizeof(c->a.largest));
	declare_loop(d, &c->a.round, sizeof(c->a.round));
	declare_component(d);
	declare_check(d, component_check_bytes(st));
	declare_compute(d, &cc_alone_compute, 0);
	TRY(declare_direction(d, false));
	if (c->method == MILL_CC_LABELS) {
		declare_frontier(d, &c->front, 0);
		declare_advance(d, &cc_label_advance, MAIN);
		return declare_view(d, VIEW_BOTH, "cc --method labels");
	}
	declare_compute(d, &cc_flat_compute, 0);
	if (c->method == MILL_CC_HOOKING) {
		declare_edge_frontier(d, &c->edges, false);
		declare_filter(d, &cc_hook_filter);
		return MILL_OK;
	}
	declare_bytes(d, 2 * SAMPLES * sizeof(u32) + 64, 0);
	declare_compute(d, &cc_sample_take_compute, 0);
	declare_scan(d, &cc_scan);
	return st->directed && st->has_in ? declare_direction(d, true) : MILL_OK;
}

static mill_err flatten(struct mill_run *r, struct cc_args *a)
{
	f64 left;

	do
		TRY(op_compute(r, &cc_flat_compute, a, 0, r->store->n_linked, &left));
	while (left > 0);
	return MILL_OK;
}

/* Finds the roots of random vertices: the same vertices in every run. */
static mill_err sample_roots(struct mill_run *r, const struct cc_args *a, u32 root[SAMPLES])
{
	struct cc_sample_args s = { .parent = a->parent };
	u32 chosen[SAMPLES];
	f64 sum;

	for (u32 i = 0; i < SAMPLES; i++)
		chosen[i] = (u32)random_below(0, i, r->store->sources);
	TRY(run_vec(r, &s.chosen, "sampled vertices", SAMPLES, sizeof(u32), NULL));
	TRY(run_vec(r, &s.root, "sampled roots", SAMPLES, sizeof(u32), NULL));
	TRY(device_write(&s.chosen->buffer, 0, chosen, sizeof(chosen)));
	TRY(op_compute(r, &cc_sample_take_compute, &s, 0, SAMPLES, &sum));
	TRY(device_read(&s.root->buffer, 0, root, sizeof(chosen)));
	run_vec_free(r, s.root);
	run_vec_free(r, s.chosen);
	return MILL_OK;
}

/* Sets a->largest to the most frequent root of a sample. */
static mill_err find_largest(struct mill_run *r, struct cc_args *a)
{
	u32 root[SAMPLES], best = 0;

	TRY(sample_roots(r, a, root));
	for (u32 i = 0; i < SAMPLES; i++) {
		u32 at = i;

		for (; at && root[at - 1] > root[at]; at--) {
			u32 held = root[at];

			root[at] = root[at - 1];
			root[at - 1] = held;
		}
	}
	for (u32 i = 0, run = 0; i < SAMPLES; i++) {
		run = i && root[i] == root[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			a->largest = root[i];
		}
	}
	return MILL_OK;
}

static mill_err afforest(struct mill_run *r, struct cc_args *a)
{
	const struct store *st = r->store;
	struct scan first = { .count = 1 }, second = { .from = 1, .count = 1 },
		    rest = { .from = 1, .some = st->has_in };
	u64 links, more = 0;
	vid hub;

	if (!op_rescan_is_free(r) || !st->sources) {
		/*
		 * One pass. In an undirected store both ends of an edge have it in their
		 * lists. So a list can be skipped once its vertex is in the hub's tree: if
		 * both ends skip an edge, both are in that tree.
		 */
		if (st->sources && !st->directed) {
			TRY(run_source(r, "max-degree", &hub));
			a->largest = hub;
		}
		TRY(op_scan(r, &cc_scan, a, &(struct scan){ .some = !st->directed }, NULL));
		return flatten(r, a);
	}
	TRY(op_scan(r, &cc_scan, a, &first, NULL));
	TRY(flatten(r, a));
	/*
	 * With in-edges, an edge that leaves the largest tree is seen again at its other
	 * end. The largest tree may change between the two passes, so the last pass scans
	 * lists again from the second edge on.
	 */
	if (st->has_in)
		TRY(find_largest(r, a));
	TRY(op_scan(r, &cc_scan, a, &second, &links));
	if (links)
		TRY(flatten(r, a));
	if (st->has_in)
		TRY(find_largest(r, a));
	TRY(op_scan(r, &cc_scan, a, &rest, &links));
	if (st->directed && st->has_in)
		TRY(op_scan(r, &cc_scan, a, &(struct scan){ .in = true, .some = true }, &more));
	return links + more ? flatten(r, a) : MILL_OK;
}

static mill_err hook(struct mill_run *r, struct cc_run *c)
{
	TRY(edge_frontier_set_all(c->edges));
	for (; c->edges->n; c->a.round++) {
		TRY(op_filter_edges(r, &cc_hook_filter, &c->a, c->edges));
		TRY(flatten(r, &c->a));
	}
	return MILL_OK;
}

static mill_err spread(struct mill_run *r, struct cc_run *c)
{
	TRY(frontier_set_all(c->front, run_direction(r, false)->n_rows));
	while (c->front->n)
		TRY(op_advance(r, &cc_label_advance, &c->a, c->front));
	return MILL_OK;
}

static mill_err run(struct mill_run *r, void *self)
{
	struct cc_run *c = self;
	u64 n_components;
	f64 sum;

	TRY(op_compute(r, &cc_alone_compute, &c->a, 0, r->store->n_linked, &sum));
	if (c->method == MILL_CC_LABELS)
		TRY(spread(r, c));
	else if (c->method == MILL_CC_HOOKING)
		TRY(hook(r, c));
	else
		TRY(afforest(r, &c->a));
	TRY(component_names(r, c->a.parent, c->least, &n_components));
	TRY(run_end(r));
	r->ledger.edges_traversed = r->store->stored_edges;
	return component_facts(r, n_components);
}

/* ---- The row ---- */

static const struct mill_option options[] = {
	{ "method", MILL_OPTION_CHOICE, offsetof(struct mill_cc, method), "NAME",
	  .help = "auto (default: labels if the device's policy has kernels for them, else "
		  "afforest), afforest, hooking or labels",
	  .word = NAMES("auto", "afforest", "hooking", "labels") },
	{ 0 },
};

const struct algorithm algorithm_cc = {
	.public = {
		.name = "cc",
		.summary = "weak components: which vertices hang together",
		.help = "Directions do not count. -o writes `id component`, the smallest id\n"
			"in the component. All methods give the same result: afforest links\n"
			"trees and looks at few edges; hooking keeps an edge frontier and\n"
			"jumps pointers; labels spreads the smallest label, in as many steps\n"
			"as the longest path through a component.\n",
		.examples = "  millrace cc web.mill -o components.tsv\n"
			    "  millrace cc web.mill --memory 1G --check\n",
		.option = options,
		.options_size = sizeof(struct mill_cc),
		.column = NAMES("component"),
		.fact = NAMES("components", "largest"),
		.traits = MILL_FRONTIERS | MILL_ASYNC,
		.steps_option = "method",
		.steps_word = "labels",
	},
	.size = sizeof(struct cc_run),
	.declare = declare,
	.run = run,
	.check = cc_check,
	.cost = &cost_cc,
};
