/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strong components. Most graphs have one large one: a search forward and one backward from a vertex with many edges
 * find it (Fleischer, Hendrickson, Pinar 2000). Trimming takes those that are alone. What is left is finished by one
 * depth-first search in memory if its lists are there or fit; until they do, colouring (Orzan 2004) closes one component
 * of each colour a round. So neither long paths nor long cycles need many passes.
 */
#include "algo/scc.h"

#include "device/dialect.h"

#include "algo/scc.op.h"

#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define COND 1
#define PREFETCH mark
#define UNIQUE 1
#define PULL 1
#include "op/advance.inc"
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

#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define VERTEX scc_settle
#include "op/compute.inc"
#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define VERTEX scc_trim
#include "op/compute.inc"
#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define VERTEX scc_paint
#include "op/compute.inc"
#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define VERTEX scc_found
#include "op/compute.inc"
#define PROGRAM scc
#define FIELDS SCC_FIELDS
#define SOURCE "algo/scc.op.h"
#define VERTEX scc_divide
#include "op/compute.inc"

/* A search that takes more steps follows something long and thin: one thread does that as fast. */
#define REACH_STEPS 1000
/* Another round of trimming follows one that took at least this part of what was open. */
#define TRIM_WORTH 16

mill_err scc_need(const struct mill_run *r, const void *how, struct need *out)
{
	const struct store *st = r->store;
	u64 n = st->connected;

	(void)how;
	if (!st->directed)
		return cc_need(r, NULL, out);
	if (!st->has_in)
		return fail(MILL_EUSAGE, "scc reads in-edges, which %s lacks: import it without --out-only", st->path);
	*out = (struct need){
		.state = 3 * n * sizeof(u32) + frontier_bytes(n, false) + 64,
		/* The search is over when the certificate begins. */
		.host = frontier_host_bytes(n) + lists_bytes(st) +
			max_u64(scc_finish_bytes(st), r->options.check ? scc_check_bytes(st) : 0),
		.out = true,
		.advances = true,
		.in = true,
	};
	component_need(r, out);
	return MILL_OK;
}

#define DEGREES 8192	/* read at a time */

/* The vertex with the largest product of its degrees, of several the first. False: no vertex has edges both in and out. */
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
			err = store_read(st, STORE_IN_DEGREES, from, some * sizeof(u32), at * sizeof(u32));
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

/* Can what is left, so many edges at most, be finished in memory? */
static bool can_finish(struct mill_run *r, u64 edges)
{
	return run_direction(r, false)->resident || edges <= lists_most(r->store);
}

/* One search from the pivot; along in-edges only to what the first has reached. False: it takes too long. */
static mill_err reach(struct mill_run *r, struct scc_args *a, struct frontier *f, bool in, bool *done)
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
		TRY(op_compute(r, &scc_trim_compute, a, 0, r->store->connected, &alone));
		*open -= (u64)alone;
	} while (*open && (u64)alone >= before / TRIM_WORTH + 1);
	return MILL_OK;
}

static mill_err colour(struct mill_run *r, struct scc_args *a, struct frontier *f, u64 *open)
{
	u64 n = r->store->connected;
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

	return c->root[u] == NO_ROOT && c->root[v] == NO_ROOT && c->colour[u] == c->colour[v] && u != v;
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
	u64 open = r->store->connected, edges;
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

static mill_err prepare(struct mill_run *r)
{
	const struct kernel_source *source[] = {
		&scc_advance.program.source, &scc_live_scan.program.source, &scc_settle_compute.program.source,
		&scc_trim_compute.program.source,
	};

	for (size_t i = 0; i < ARRAY_LEN(source); i++)	/* colouring is seldom needed */
		TRY(device_prepare(r->device, source[i]));
	return component_prepare(r);
}

MILL_API mill_err mill_scc(mill_run *r)
{
	struct scc_args a = { 0 };
	u64 n = r->store->connected, n_components;
	u32 none = UINT32_MAX;
	struct frontier *f;
	struct need need;

	if (!r->store->directed)
		return cc_run(r, "scc", NULL);
	TRY(scc_need(r, NULL, &need));
	TRY(run_begin(r, "scc", &need));
	TRY(prepare(r));
	run_start(r);
	TRY(run_vec(r, &a.root, "component", n, sizeof(u32), &none));
	TRY(run_vec(r, &a.colour, "colour", n, sizeof(u32), NULL));
	TRY(run_vec(r, &a.mark, "mark", n, sizeof(u32), NULL));
	TRY(run_frontier(r, &f, false));
	if (n)
		TRY(find_all(r, &a, f));
	TRY(device_fill(&a.mark->buffer, &none, sizeof(none)));
	TRY(component_names(r, a.root, a.mark, &n_components));

	TRY(run_end(r));
	r->ledger.edges_traversed = r->store->stored_edges;
	TRY(component_facts(r, n_components));
	r->result.check = scc_check;
	return MILL_OK;
}
