/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communities by label propagation, as LDBC Graphalytics defines it. The first label of a
 * vertex is its own id. In each iteration it takes the label that most of its neighbours
 * had before; of several such labels, the smallest. Both ends of a directed edge are
 * neighbours of each other, so an edge in both directions counts twice, and so do parallel
 * edges. Labels are ranks of ids, which have the same order as ids.
 */
#include "algo/cdlp.h"

#include "algo/algo.h"
#include "engine/result.h"

struct cdlp_run {
	struct vec *label, *next;
	struct mode_finder *finder;
	u32 most, iteration;
};

static mill_err declare(struct declaration *d, const void *options, void *self)
{
	const struct mill_cdlp *o = options;
	const struct store *st = d->run->store;
	struct cdlp_run *c = self;

	c->most = o->iterations ? o->iterations : 10;
	declare_state(d, &c->label, "labels", sizeof(u32), NULL);
	declare_state(d, &c->next, "next labels", sizeof(u32), NULL);
	declare_loop(d, &c->iteration, sizeof(c->iteration));
	declare_mode(d, &c->finder);
	declare_bytes(d, 0,
		      st->n_linked * sizeof(u32) + result_ids_bytes(st) + result_ranks_bytes(st));
	declare_check(d, cdlp_check_bytes(st));
	declare_rounds(d, c->most, 0, 0);
	return declare_view(d, VIEW_BOTH, "cdlp");
}

/* Sets the first labels: the ranks. */
static mill_err begin(struct mill_run *r, struct vec *label, struct vec *next)
{
	u64 n = r->store->n_linked;
	struct vec *rank;
	mill_err err;

	TRY(run_vec_host(r, &rank, "ranks", n, sizeof(u32)));
	err = result_read_ranks(r, rank->buffer.host);
	if (!err)
		err = device_write(&label->buffer, 0, rank->buffer.host, rank->buffer.size);
	if (!err)
		err = device_write(&next->buffer, 0, rank->buffer.host, rank->buffer.size);
	run_vec_free(r, rank);
	return err;
}

static mill_err count_communities(struct mill_run *r, const struct vec *labels)
{
	u64 n = r->store->n_linked, communities = 0;
	u32 largest = 0, *label, *count;
	struct vec *counts;

	TRY(run_vec_host(r, &counts, "sizes of communities", n, sizeof(u32)));
	TRY(vec_map(r, labels, &label));
	count = counts->buffer.host;
	for (u64 v = 0; v < n; v++) {
		u32 now = ++count[label[v]];

		communities += now == 1;
		largest = now > largest ? now : largest;
	}
	vec_unmap(labels, label);
	run_vec_free(r, counts);
	run_fact(r, "communities", communities + run_isolated(r));
	run_fact(r, "largest", largest ? largest : run_isolated(r) > 0);
	return MILL_OK;
}

static mill_err run(struct mill_run *r, void *self)
{
	struct cdlp_run *c = self;
	u64 changed = 1;

	TRY(begin(r, c->label, c->next));
	for (; c->iteration < c->most && changed; c->iteration++) {
		struct vec *before = c->label;

		TRY(op_mode(r, c->finder, c->label, c->next, &changed));
		c->label = c->next;
		c->next = before;
	}
	run_column(r, "community", MILL_TYPE_ID, c->label, UINT64_MAX, OWN_RANK);
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges * r->ledger.total.step;
	return count_communities(r, c->label);
}

static mill_err check(struct mill_run *r)
{
	return cdlp_check(r, ((const struct cdlp_run *)r->self)->next);
}

/* ---- The row ---- */

static const struct mill_option options[] = {
	{ "iterations", MILL_OPTION_U32, offsetof(struct mill_cdlp, iterations), "N",
	  .help = "the most iterations", .low = 1, .usual = 10 },
	{ 0 },
};

const struct algorithm algorithm_cdlp = {
	.public = {
		.name = "cdlp",
		.summary = "communities by label propagation, as LDBC Graphalytics defines them",
		.help = "The first label of a vertex is its own id. In each iteration it\n"
			"takes the label that most of its neighbours have; of several, the\n"
			"smallest. Both ends of a directed edge are neighbours, and an edge\n"
			"in both directions counts twice. -o writes `id community`.\n",
		.examples = "  millrace cdlp web.mill --iterations 20 -o communities.tsv\n"
			    "  millrace cdlp web.mill --memory 1G --check\n",
		.option = options,
		.options_size = sizeof(struct mill_cdlp),
		.column = NAMES("community"),
		.fact = NAMES("communities", "largest"),
	},
	.size = sizeof(struct cdlp_run),
	.declare = declare,
	.run = run,
	.check = check,
	.cost = &cost_cdlp,
};
