/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition of the undirected simple graph, by peeling: all vertices wait with their degrees as priorities; for
 * k = 0, 1, ... those that have k neighbours left are taken away until none is, which may bring others down to k.
 */
#include "algo/algo.h"
#include "device/dialect.h"

#include "algo/kcore.op.h"

#define PROGRAM kcore
#define FIELDS KCORE_FIELDS
#define SOURCE "algo/kcore.op.h"
#define UNIQUE 1
#define NEAR_FAR 1
#include "op/advance.inc"

mill_err kcore_need(const struct mill_run *r, const void *how, struct need *out)
{
	u64 n = r->store->vertices;

	(void)how;
	*out = (struct need){
		.state = n * sizeof(u32) + frontier_bytes(n, true),
		.host = frontier_host_bytes(n),
	};
	return view_need(r->store, VIEW_SIMPLE, "kcore", out);
}

static mill_err peel(struct mill_run *r, struct kcore_args *a, struct frontier *front)
{
	u64 k = 0, rest;

	TRY(frontier_wait_all(front, r->store->vertices));
	for (;; k = rest) {
		a->k = (u32)k;
		TRY(op_near(r, &kcore_advance, a, front, k + 1, &rest));
		while (front->n)
			TRY(op_advance(r, &kcore_advance, a, front));
		if (rest == UINT64_MAX)
			return MILL_OK;
		/* What waits may have been lowered since. */
		rest = k + 1;
	}
}

MILL_API mill_err mill_kcore(mill_run *r)
{
	struct kcore_args a = { .k = 0 };
	struct frontier *front;
	struct need need;

	TRY(kcore_need(r, NULL, &need));
	TRY(run_begin(r, "kcore", &need));
	TRY(run_vec(r, &a.core, "core", r->store->vertices, sizeof(u32), NULL));
	TRY(run_frontier(r, &front, true));
	TRY(device_prepare(r->device, &kcore_advance.program.source));
	run_start(r);
	TRY(run_degrees(r, a.core));
	TRY(peel(r, &a, front));
	run_column(r, "core", MILL_TYPE_U32, a.core, UINT64_MAX);
	TRY(run_end(r));
	return MILL_OK;
}
