/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak components. Afforest (Sutton, Ben-Nun, Barak, IPDPS 2018): the first edges of every list link most of the graph, and
 * then only vertices outside the largest tree need be looked at. Where each pass costs transfers, one that links
 * all edges is cheaper than two. Beside it two others that users know: Soman's hooking and jumping, as Gunrock has it on an
 * edge frontier, and labels that spread.
 */
#include "algo/algo.h"
#include "algo/component.h"
#include "base/random.h"
#include "device/dialect.h"

#include "algo/cc.op.h"

#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define COND 1
#define PREFETCH parent
#include "op/scan.inc"
#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define VERTEX cc_alone
#include "op/compute.inc"
#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define VERTEX cc_flat
#include "op/compute.inc"
#define PROGRAM cc_sample
#define FIELDS CC_SAMPLE_FIELDS
#define SOURCE "algo/cc.op.h"
#define VERTEX cc_sample_take
#include "op/compute.inc"

#define PROGRAM cc
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define KEEP_EDGE cc_hook
#include "op/filter.inc"
#define PROGRAM cc_label
#define FIELDS CC_FIELDS
#define SOURCE "algo/cc.op.h"
#define WRITES parent
#include "op/advance.inc"

#define SAMPLES 256

/* Policies with kernels of their own spread labels; in-edges they must know, as labels do. */
static enum mill_cc_method method_of(const struct mill_run *r, const struct mill_cc *how)
{
	enum mill_cc_method method = how ? how->method : MILL_CC_AFFOREST;

	bool spread = run_owns(r) && r->store->has_in;

	return method == MILL_CC_AFFOREST && spread ? MILL_CC_LABELS : method;
}

mill_err cc_need(const struct mill_run *r, const struct mill_cc *how, struct need *out)
{
	const struct store *st = r->store;

	*out = (struct need){ .state = st->connected * 2 * sizeof(u32), .out = true };
	component_need(r, out);
	if (r->options.check)
		out->host += component_check_bytes(st);
	switch (method_of(r, how)) {
	case MILL_CC_AFFOREST:
		out->in = st->directed && st->has_in;
		out->state += 2 * SAMPLES * sizeof(u32) + 64;
		return MILL_OK;
	case MILL_CC_HOOKING:
		out->state += edge_frontier_bytes(st);
		out->host += edge_frontier_host_bytes(st);
		return MILL_OK;
	default:
		out->own = run_owns(r);
		out->advances = !out->own;
		if (out->own) {
			out->writable = out->given = sizeof(u32);
			out->host += 4 * run_flags_bytes(st);	/* a view can have more pages */
		}
		if (out->advances) {
			out->state += frontier_bytes(st->connected, false);
			out->host += frontier_host_bytes(st->connected);
		}
		return view_need(st, VIEW_BOTH, "cc --method labels", out);
	}
}

static mill_err flatten(struct mill_run *r, struct cc_args *a)
{
	f64 left;

	do
		TRY(op_compute(r, &cc_flat_compute, a, 0, r->store->connected, &left));
	while (left > 0);
	return MILL_OK;
}

/* The roots of vertices drawn by number: the same ones in every run. */
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

/* The most frequent of them. */
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
	struct scan first = { .count = 1 }, second = { .from = 1, .count = 1 }, rest = { .from = 1, .some = st->has_in };
	u64 links, more = 0;
	vid hub;

	if (!op_rescan_is_free(r) || !st->sources) {
		/*
		 * One pass. Where both ends of an edge show it, a list is of no more use once its vertex is in the tree of the hub: of an edge that
		 * neither end looks at, both are in that tree.
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
	 * An edge out of the largest tree is met again at its other end, where that has the list to show it. Which tree is the
	 * largest may change between the two passes; who is outside of the last looks at all of its list.
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

static mill_err hook(struct mill_run *r, struct cc_args *a, struct edge_frontier *edges)
{
	TRY(edge_frontier_set_all(edges));
	for (a->round = 0; edges->n; a->round++) {
		TRY(op_filter_edges(r, &cc_hook_filter, a, edges));
		TRY(flatten(r, a));
	}
	return MILL_OK;
}

static mill_err spread(struct mill_run *r, struct cc_args *a, struct frontier *front)
{
	if (r->need.own)
		return op_traverse(r, &cc_label_advance, a, NULL, NULL);
	TRY(frontier_set_all(front, run_direction(r, false)->n_rows));
	while (front->n)
		TRY(op_advance(r, &cc_label_advance, a, front));
	return MILL_OK;
}

/* What the method takes besides, before the clock runs. */
struct means {
	enum mill_cc_method method;
	struct edge_frontier *edges;
	struct frontier *front;
};

static mill_err prepare(struct mill_run *r, struct means *m)
{
	TRY(component_prepare(r));
	TRY(device_prepare(r->device, &cc_alone_compute.program.source));
	if (m->method != MILL_CC_LABELS)
		TRY(device_prepare(r->device, &cc_flat_compute.program.source));
	switch (m->method) {
	case MILL_CC_AFFOREST:
		TRY(device_prepare(r->device, &cc_sample_take_compute.program.source));
		return device_prepare(r->device, &cc_scan.program.source);
	case MILL_CC_HOOKING:
		TRY(device_prepare(r->device, &cc_hook_filter.program.source));
		return run_edge_frontier(r, &m->edges);
	default:
		TRY(op_advance_prepare(r, &cc_label_advance));
		return r->need.own ? MILL_OK : run_frontier(r, &m->front, false);
	}
}

static mill_err find(struct mill_run *r, struct cc_args *a, const struct means *m)
{
	f64 sum;

	TRY(op_compute(r, &cc_alone_compute, a, 0, r->store->connected, &sum));
	switch (m->method) {
	case MILL_CC_AFFOREST:
		return afforest(r, a);
	case MILL_CC_HOOKING:
		return hook(r, a, m->edges);
	default:
		return spread(r, a, m->front);
	}
}

mill_err cc_run(struct mill_run *r, const char *algorithm, const struct mill_cc *how)
{
	struct means means = { .method = method_of(r, how) };
	struct cc_args a = { .largest = CC_NOBODY };
	u64 n = r->store->connected, n_components;
	struct need need;
	u32 none = UINT32_MAX;
	struct vec *least;

	TRY(cc_need(r, how, &need));
	TRY(run_begin(r, algorithm, &need));
	TRY(prepare(r, &means));
	run_start(r);
	TRY(run_vec(r, &a.parent, "component", n, sizeof(u32), &none));
	TRY(run_vec(r, &least, "smallest id", n, sizeof(u32), &none));
	TRY(find(r, &a, &means));
	TRY(component_names(r, a.parent, least, &n_components));

	TRY(run_end(r));
	r->ledger.edges_traversed = r->store->stored_edges;
	TRY(component_facts(r, n_components));
	r->result.check = cc_check;
	return MILL_OK;
}

MILL_API mill_err mill_cc(mill_run *r, const struct mill_cc *how) { return cc_run(r, "cc", how); }
