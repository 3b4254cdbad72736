/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search, direction-optimising (Beamer, Asanovic, Patterson, SC 2012). */
#include "algo/algo.h"
#include "algo/tree.h"

#include "algo/bfs.op.h"

#define PROGRAM bfs
#define FIELDS BFS_FIELDS
#define SOURCE "algo/bfs.op.h"
#define WRITES depth
#define LEVEL level
#define COND 1
#define PULL 1
#include "op/advance.inc"

struct bfs_run {
	struct bfs_args a;
	struct frontier *front;
	vid root;
};

static const u32 unreached = UNREACHED;

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_bfs *o = options;
	struct bfs_run *b = self;

	declare_state(d, &b->a.depth, "depth", sizeof(u32), &unreached);
	declare_frontier(d, &b->front, 0);
	declare_advance(d, &bfs_advance, MAIN);
	declare_tree(d, WEIGHT_UNIT);
	return declare_source(d, o->source, &b->root);
}

static mill_err run(struct mill_run *r, void *self)
{
	struct bfs_run *b = self;
	struct reach reach;

	TRY(frontier_begin(b->front, b->a.depth, b->root));
	for (; b->front->n; b->a.level++)
		TRY(op_advance(r, &bfs_advance, &b->a, b->front));
	run_column(r, "depth", MILL_TYPE_U32, b->a.depth, UNREACHED, UNREACHED);
	TRY(run_end(r));
	TRY(run_reach(r, b->a.depth, &unreached, &reach));
	TRY(run_search_facts(r, &reach));
	run_fact(r, "max_depth", reach.most);
	return tree_settle(r, WEIGHT_UNIT);
}

const struct algorithm algorithm_bfs = {
	.public = { "bfs", "breadth-first search: depths and parents from a source", false },
	.size = sizeof(struct bfs_run),
	.declare = declare,
	.run = run,
	.check = tree_check,
	.cost = &cost_bfs,
};
