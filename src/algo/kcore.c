/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition of the undirected simple graph, by peeling: all vertices wait with their degrees as priorities; for
 * k = 0, 1, ... those that have k neighbours left are taken away until none is, which may bring others down to k. A graph
 * that streams from disk is settled in fewer passes: see kcore_settle.c.
 */
#include "algo/algo.h"
#include "algo/kcore.h"
#include "device/dialect.h"

#include "algo/kcore.op.h"

#define PROGRAM kcore
#define FIELDS KCORE_FIELDS
#define SOURCE "algo/kcore.op.h"
#define PREFETCH core
#define UNIQUE 1
#define NEAR_FAR 1
#define CASCADE 1
#include "op/advance.inc"

mill_err kcore_need(const struct mill_run *r, const void *how, struct need *out)
{
	u64 n = r->store->connected;

	(void)how;
	*out = (struct need){
		.state = n * sizeof(u32) + frontier_bytes(n, true),
		.advances = true,
		.host = frontier_host_bytes(n) + kcore_settle_bytes(r) +
			(r->options.check ? kcore_check_bytes(r->store) : 0),
	};
	return view_need(r->store, VIEW_SIMPLE, "kcore", out);
}

static mill_err peel(struct mill_run *r, struct kcore_args *a, struct frontier *front)
{
	u64 rest = 0;

	TRY(frontier_wait_all(front, r->store->connected));
	while (rest != UINT64_MAX) {
		TRY(op_near(r, &kcore_advance, a, front, (u64)a->k + 1, &rest));
		/* Nobody has k neighbours: on to the fewest that anybody has. What waits may fall meanwhile, but not so low. */
		if (!front->n && rest != UINT64_MAX) {
			a->k = (u32)rest;
			continue;
		}
		while (front->n)
			TRY(op_advance(r, &kcore_advance, a, front));
		a->k++;
	}
	return MILL_OK;
}

static mill_err tell(struct mill_run *r, const struct vec *v)
{
	u64 in_largest = 0;
	const u32 *core;
	u32 largest = 0;

	TRY(vec_map(r, v, &core));
	for (u64 i = 0; i < v->n; i++) {
		if (core[i] > largest) {
			largest = core[i];
			in_largest = 0;
		}
		in_largest += core[i] == largest;
	}
	vec_unmap(v, (void *)core);
	run_fact(r, "max_core", largest);
	run_fact(r, "core_size", in_largest + (largest ? 0 : run_isolated(r)));
	return MILL_OK;
}

MILL_API mill_err mill_kcore(mill_run *r)
{
	struct kcore_args a = { .k = 0 };
	struct frontier *front;
	struct need need;

	TRY(kcore_need(r, NULL, &need));
	TRY(run_begin(r, "kcore", &need));
	TRY(device_prepare(r->device, &kcore_advance.program.source));
	run_start(r);
	TRY(run_vec(r, &a.core, "core", r->store->connected, sizeof(u32), NULL));
	TRY(run_frontier(r, &front, true));
	TRY(run_degrees(r, a.core));
	if (r->device->native && r->stream)
		TRY(kcore_settle(r, a.core, front));
	else
		TRY(peel(r, &a, front));
	run_column(r, "core", MILL_TYPE_U32, a.core, UINT64_MAX, 0);
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges;
	TRY(tell(r, a.core));
	r->result.check = kcore_check;
	return MILL_OK;
}
