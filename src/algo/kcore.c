/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-core decomposition of the undirected simple graph, by peeling. All vertices wait, with
 * their degrees as priorities. For k = 0, 1, ... vertices that have k neighbours left are
 * removed until there is none. A removal may bring others down to k, or to the bucket of a
 * later k. A graph that is streamed from disk takes fewer passes with kcore_settle.c.
 */
#include "algo/algo.h"
#include "algo/kcore.h"

#include "algo/kcore.op.h"

#define PROGRAM kcore
#define FIELDS KCORE_FIELDS
#define SOURCE "algo/kcore.op.h"
#define PREFETCH core
#define UNIQUE 1
#define NEAR_FAR 1
#define CASCADE 1
#define EDGE_KEY 1
#include "op/advance.inc"

/*
 * Instructions compared with two buckets: 0.93 to 0.97 on kron graphs and a grid, 1.02 on a
 * uniform graph. With eight buckets it is 1.21 on the grid, because vertices change their
 * buckets too often.
 */
#define KCORE_BUCKETS 4

struct kcore_run {
	struct kcore_args a;
	struct frontier *front;
};

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	struct kcore_run *k = self;

	(void)options;
	declare_state(d, &k->a.core, "core", sizeof(u32), NULL);
	declare_loop(d, &k->a.k, sizeof(k->a.k));
	declare_frontier(d, &k->front, KCORE_BUCKETS);
	declare_advance(d, &kcore_advance, MAIN);
	declare_bytes(d, 0, kcore_settle_bytes(d->run));
	declare_check(d, kcore_check_bytes(d->run->store));
	return declare_view(d, VIEW_SIMPLE, "kcore");
}

static mill_err peel(struct mill_run *r, struct kcore_args *a, struct frontier *front)
{
	TRY(frontier_widths(front, 1, false));
	TRY(frontier_wait_all(front, r->store->n_linked));
	for (;;) {
		TRY(op_split(r, &kcore_advance, a, front));
		if (!front->n)
			return MILL_OK;
		a->k = (u32)front->piles.limit - 1;
		a->far = (u32)min_u64(piles_end(&front->piles), UINT32_MAX);
		while (front->n)
			TRY(op_advance(r, &kcore_advance, a, front));
	}
}

static mill_err count_cores(struct mill_run *r, const struct vec *v)
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

static mill_err run(struct mill_run *r, void *self)
{
	struct kcore_run *k = self;

	TRY(run_degrees(r, k->a.core));
	if (r->device->native && r->stream)
		TRY(kcore_settle(r, k->a.core, k->front));
	else
		TRY(peel(r, &k->a, k->front));
	run_column(r, "core", MILL_TYPE_U32, k->a.core, UINT64_MAX, 0);
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges;
	return count_cores(r, k->a.core);
}

const struct algorithm algorithm_kcore = {
	.public = {
		.name = "kcore",
		.summary = "k-cores: how deep in the dense parts a vertex lies",
		.help = "The core number of a vertex is the largest k such that it stays when\n"
			"vertices with fewer than k neighbours are removed again and again.\n"
			"Takes the undirected simple graph: directions, loops and parallel\n"
			"edges do not count. -o writes `id core`.\n",
		.examples = "  millrace kcore web.mill -o cores.tsv\n"
			    "  millrace kcore web.mill --memory 25% --check --json\n",
		.column = NAMES("core"),
		.fact = NAMES("max_core", "core_size"),
		.traits = MILL_FRONTIERS | MILL_SIMPLE,
	},
	.size = sizeof(struct kcore_run),
	.declare = declare,
	.run = run,
	.check = kcore_check,
	.cost = &cost_kcore,
};
