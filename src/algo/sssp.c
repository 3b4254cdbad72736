/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single-source shortest paths by near/far priority (Davidson et al., IPDPS 2014): vertices below the
 * limit are worked on until none is left, the others wait; then the limit rises by delta.
 */
#include "algo/algo.h"
#include "device/dialect.h"

#define PROGRAM sssp_unit
#define VALUE u32
#include "algo/sssp.op.h"
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define NEAR_FAR 1
#define WRITES distance
#include "op/advance.inc"

#define PROGRAM sssp_short
#define VALUE u32
#define WEIGHT u32
#include "algo/sssp.op.h"
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define NEAR_FAR 1
#define WRITES distance
#include "op/advance.inc"

#define PROGRAM sssp_long
#define VALUE u64
#define WEIGHT u32
#include "algo/sssp.op.h"
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define NEAR_FAR 1
#define WRITES distance
#include "op/advance.inc"

#define PROGRAM sssp_f32
#define VALUE f64
#define WEIGHT f32
#include "algo/sssp.op.h"
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define NEAR_FAR 1
#define WRITES distance
#include "op/advance.inc"

#define PROGRAM sssp_f64
#define VALUE f64
#define WEIGHT f64
#include "algo/sssp.op.h"
#define FIELDS SSSP_FIELDS
#define SOURCE "algo/sssp.op.h"
#define NEAR_FAR 1
#define WRITES distance
#include "op/advance.inc"

/* What differs between the kinds; a distance is a key, whose order as an integer is that of the values. */
static const struct kind {
	const struct advance_program *program;
	u32 size;
	bool real;
} kinds[TREE_KINDS] = {
	[TREE_UNIT] = { &sssp_unit_advance, sizeof(u32), false },
	[TREE_SHORT] = { &sssp_short_advance, sizeof(u32), false },
	[TREE_LONG] = { &sssp_long_advance, sizeof(u64), false },
	[TREE_F32] = { &sssp_f32_advance, sizeof(u64), true },
	[TREE_F64] = { &sssp_f64_advance, sizeof(u64), true },
};

static enum tree_kind kind_of(const struct mill_run *r, const struct mill_sssp *how)
{
	const struct store *st = r->store;

	if (how && how->unit_weights)
		return TREE_UNIT;
	switch (st->weight) {
	case MILL_WEIGHT_F32:
		return TREE_F32;
	case MILL_WEIGHT_F64:
		return TREE_F64;
	default:	/* no path is longer than all vertices times the largest weight */
		return st->max_weight * (f64)st->connected < (f64)(UINT32_MAX - 1) ? TREE_SHORT : TREE_LONG;
	}
}

mill_err sssp_need(const struct mill_run *r, const struct mill_sssp *how, struct need *out)
{
	enum tree_kind kind = kind_of(r, how);
	u64 n = r->store->connected;

	if (r->store->weight == MILL_WEIGHT_NONE && kind != TREE_UNIT)
		return fail(MILL_EUSAGE, "%s has no weights: import them with --weights, or use --unit-weights",
			    r->store->path);
	if (kind != TREE_UNIT && !(r->store->min_weight >= 0))
		return fail(MILL_EUSAGE, "%s has negative weights, which sssp cannot take", r->store->path);
	*out = (struct need){
		.state = n * kinds[kind].size,
		.out = true,
		.own = run_owns(r),
		.weights = kind != TREE_UNIT,
	};
	if (out->own) {
		out->writable = out->given = kinds[kind].size;
		out->host = run_flags_bytes(r->store);
	} else {
		out->state += frontier_bytes(n, true);
		out->host = frontier_host_bytes(n);
		out->advances = true;
	}
	if (r->options.parents)
		tree_need(r, kind, out);
	return MILL_OK;
}

/*
 * Wide enough that a step is worth its cost, narrow enough that little is done twice: Davidson's rule, the mean weight
 * times a factor over the mean degree.
 */
static f64 choose_delta(const struct mill_run *r, enum tree_kind kind, f64 asked)
{
	const struct store *st = r->store;
	f64 edges = (f64)max_u64(st->stored_edges, 1);
	f64 mean = kind == TREE_UNIT ? 1 : st->sum_weight / edges;
	/* Asynchronous runs do more twice, but in memory, and save passes: 18.8 GiB become 0.2 on a grid of 2000 x 2000. */
	f64 factor = r->options.async ? 2048 : 32;
	f64 delta = asked > 0 ? asked : factor * mean * (f64)max_u64(st->sources, 1) / edges;

	if (!kinds[kind].real)
		return delta < 1 ? 1 : delta < 0x1p62 ? (f64)(u64)delta : 0x1p62;
	return delta > 0 ? delta : 1;
}

/* The key of a distance that lies delta above that of a key. */
static u64 raise(enum tree_kind kind, u64 key, f64 delta)
{
	u64 limit;

	if (kinds[kind].real)
		return bits_f64(f64_of_bits(key) + delta);
	if (__builtin_add_overflow(key, (u64)delta, &limit))
		return UINT64_MAX;
	return limit;
}

/* By units there are no priorities. */
static mill_err search_units(struct mill_run *r, enum tree_kind kind, struct vec *distance, vid root)
{
	struct sssp_unit_args a = { .distance = distance };
	bool has_edges;

	TRY(search_begin(r, distance, root, &has_edges));
	return has_edges ? op_traverse(r, kinds[kind].program, &a, NULL, &root) : MILL_OK;
}

static mill_err search(struct mill_run *r, enum tree_kind kind, struct vec *distance, vid root, f64 delta)
{
	const struct advance_program *p = kinds[kind].program;
	struct sssp_unit_args a = { .distance = distance };	/* all instances have the same */
	struct frontier *front;
	u64 rest;

	if (r->need.own)
		return search_units(r, kind, distance, root);
	TRY(run_frontier(r, &front, true));
	TRY(frontier_begin(front, distance, root));
	front->limit = raise(kind, 0, delta);
	for (;;) {
		while (front->n)
			TRY(op_advance(r, p, &a, front));
		TRY(op_near(r, p, &a, front, raise(kind, front->limit, delta), &rest));
		if (front->n)
			continue;
		if (rest == UINT64_MAX)
			return MILL_OK;
		/* A gap wider than delta: go on at the nearest that waits. */
		TRY(op_near(r, p, &a, front, raise(kind, rest, delta), &rest));
		/* A delta too small to count against the distance: take that vertex alone. */
		if (!front->n)
			TRY(op_near(r, p, &a, front, rest + 1, &rest));
	}
}

static bool reached_u32(const void *data, u64 v) { return ((const u32 *)data)[v] != UINT32_MAX; }

/* Unreached: the largest integer, or infinity. */
static bool reached_u64(const void *data, u64 v)
{
	u64 key = ((const u64 *)data)[v];

	return key != UINT64_MAX && key != bits_f64(__builtin_inf());
}

static mill_err check(struct mill_run *r)
{
	return tree_check(r, (enum tree_kind)r->result.kind, r->search.root);
}

MILL_API mill_err mill_sssp(mill_run *r, const struct mill_sssp *how)
{
	enum tree_kind kind = kind_of(r, how);
	u64 none = kinds[kind].real ? bits_f64(__builtin_inf()) : UINT64_MAX;
	f64 delta = choose_delta(r, kind, how ? how->delta : 0);
	struct vec *distance;
	struct reach reach;
	struct need need;
	mill_err err;
	void *data;
	vid root;

	TRY(sssp_need(r, how, &need));
	TRY(run_source(r, how ? how->source : NULL, &root));
	TRY(run_begin(r, "sssp", &need));
	r->search.root = root;
	TRY(op_advance_prepare(r, kinds[kind].program));
	run_start(r);
	TRY(run_vec(r, &distance, "distance", r->store->connected, kinds[kind].size, &none));
	TRY(search(r, kind, distance, root, delta));

	run_column(r, "distance", kinds[kind].real ? MILL_TYPE_F64 : MILL_TYPE_U64, distance, UINT64_MAX, none);
	TRY(run_end(r));
	TRY(vec_map(r, distance, &data));
	err = count_reached(r, data, kinds[kind].size == 4 ? reached_u32 : reached_u64, &reach);
	vec_unmap(distance, data);
	if (err)
		return err;
	r->ledger.edges_traversed = reach.edges;
	TRY(run_fact_id(r, "source", root));
	run_fact(r, "reached", reach.reached);
	run_fact_real(r, "delta", delta);
	if (r->options.parents)
		TRY(tree_settle(r, kind, distance, root));
	r->result.kind = kind;
	r->result.check = check;
	return MILL_OK;
}
