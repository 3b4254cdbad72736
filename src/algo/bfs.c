/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search, direction-optimising (Beamer, Asanovic, Patterson, SC 2012). */
#include "algo/algo.h"
#include "device/dialect.h"

#include "algo/bfs.op.h"

#define PROGRAM bfs
#define FIELDS BFS_FIELDS
#define SOURCE "algo/bfs.op.h"
#define WRITES depth
#define LEVEL level
#define COND 1
#define PULL 1
#include "op/advance.inc"

static const u32 unreached = UNREACHED;

mill_err bfs_need(const struct mill_run *r, const struct mill_bfs *how, struct need *out)
{
	u64 n = r->store->connected;

	(void)how;
	if (run_owns(r))
		*out = (struct need){
			.state = n * sizeof(u32), .out = true, .own = true, .writable = sizeof(u32), .given = sizeof(u32),
			.host = run_flags_bytes(r->store),
		};
	else
		*out = (struct need){
			.state = n * sizeof(u32) + frontier_bytes(n, false),
			.host = frontier_host_bytes(n),
			.out = true,
			.advances = true,
			.in = r->store->has_in && !r->options.async,
		};
	if (r->options.parents)
		tree_need(r, TREE_UNIT, out);
	return MILL_OK;
}

static bool reached(const void *data, u64 v) { return ((const u32 *)data)[v] != UNREACHED; }

static u32 deepest(const u32 *depth, u64 n)
{
	u32 most = 0;

	for (u64 v = 0; v < n; v++)
		if (depth[v] != UNREACHED && depth[v] > most)
			most = depth[v];
	return most;
}

static mill_err search_units(struct mill_run *r, struct bfs_args *a, vid root)
{
	bool has_edges;

	TRY(search_begin(r, a->depth, root, &has_edges));
	if (!has_edges)
		return MILL_OK;
	return op_traverse(r, &bfs_advance, a, &a->level, &root);
}

static mill_err search(struct mill_run *r, struct bfs_args *a, vid root)
{
	struct frontier *front;

	if (r->need.own)
		return search_units(r, a, root);
	TRY(run_frontier(r, &front, false));
	TRY(frontier_begin(front, a->depth, root));
	for (; front->n; a->level++)
		TRY(op_advance(r, &bfs_advance, a, front));
	return MILL_OK;
}

static mill_err check(struct mill_run *r) { return tree_check(r, TREE_UNIT, r->search.root); }

MILL_API mill_err mill_bfs(mill_run *r, const struct mill_bfs *how)
{
	struct bfs_args a = { .level = 0 };
	struct reach reach;
	struct need need;
	const u32 *depth;
	mill_err err;
	u32 most;
	vid root;

	/* Until run_begin the last result stands, and its certificate needs its own root. */
	TRY(run_source(r, how ? how->source : NULL, &root));
	TRY(bfs_need(r, how, &need));
	TRY(run_begin(r, "bfs", &need));
	r->search.root = root;
	TRY(op_advance_prepare(r, &bfs_advance));
	run_start(r);
	TRY(run_vec(r, &a.depth, "depth", r->store->connected, sizeof(u32), &unreached));
	TRY(search(r, &a, root));

	run_column(r, "depth", MILL_TYPE_U32, a.depth, UNREACHED, UNREACHED);
	TRY(run_end(r));
	TRY(vec_map(r, a.depth, &depth));
	err = count_reached(r, depth, reached, &reach);
	most = deepest(depth, r->store->connected);
	vec_unmap(a.depth, (void *)depth);
	if (err)
		return err;
	r->ledger.edges_traversed = reach.edges;
	TRY(run_fact_id(r, "source", root));
	run_fact(r, "reached", reach.reached);
	run_fact(r, "max_depth", most);
	if (r->options.parents)
		TRY(tree_settle(r, TREE_UNIT, a.depth, root));
	r->result.check = check;
	return MILL_OK;
}
