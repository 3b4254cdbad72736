/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search, direction-optimising (Beamer, Asanovic, Patterson, SC 2012). */
#include "algo/bfs.h"

#include "algo/algo.h"
#include "algo/tree.h"

#define PROGRAM bfs
#define FIELDS BFS_FIELDS
#define SOURCE "algo/bfs.op.h"
#define WRITES depth
#define LEVEL level
#define COND 1
#define PULL 1
#include "op/advance.inc"

const struct advance_program *const bfs_levels = &bfs_advance;

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
	declare_loop(d, &b->a.level, sizeof(b->a.level));
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

/* ---- The row ---- */

static const struct mill_option options[] = {
	OPTION_SOURCE(offsetof(struct mill_bfs, source)),
	{ 0 },
};

const struct algorithm algorithm_bfs = {
	.public = {
		.name = "bfs",
		.summary = "breadth-first search: depths and parents from a source",
		.help = "The depth of a vertex is its distance from the source, in edges.\n"
			"-o writes `id depth parent`. Of several valid parents it is the one\n"
			"with the smallest id. Unreached vertices have -1.\n",
		.examples = "  millrace bfs web.mill --source 42 -o depths.tsv\n"
			    "  millrace bfs web.mill --source max-degree --memory 1G "
			    "--check --json\n"
			    "  millrace bfs web.mill --repeat 5\n"
			    "  millrace bfs web.mill --device opencl:all --strategy s\n"
			    "  millrace bfs web.mill --device opencl:0/2 --device-cache 0 "
			    "--mapping hybrid --warp 8\n",
		.option = options,
		.options_size = sizeof(struct mill_bfs),
		.column = NAMES("depth", "parent"),
		.fact = NAMES("source", "reached", "max_depth"),
		.traits = MILL_PARENTS | MILL_FRONTIERS | MILL_PULLS | MILL_ASYNC,
	},
	.size = sizeof(struct bfs_run),
	.declare = declare,
	.run = run,
	.check = tree_check,
	.cost = &cost_bfs,
};
