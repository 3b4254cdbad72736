/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communities by label propagation as LDBC Graphalytics defines it: every vertex begins with its own id and takes in each
 * iteration the label that most of its neighbours had before, of several the smallest. A directed edge makes each end a
 * neighbour of the other, so an edge in both directions counts twice, and so do parallel ones. Labels are ranks of
 * ids, which have the same order.
 */
#include "algo/cdlp.h"

#include "algo/algo.h"
#include "engine/result.h"

static u32 most_iterations(const struct mill_cdlp *how) { return how && how->iterations ? how->iterations : 10; }

mill_err cdlp_need(const struct mill_run *r, const struct mill_cdlp *how, struct need *out)
{
	u64 n = r->store->connected;

	*out = (struct need){
		.state = 2 * n * sizeof(u32),
		.host = n * sizeof(u32) + result_ids_bytes(r->store) + result_ranks_bytes(r->store) +
			(r->options.check ? cdlp_check_bytes(r->store) : 0),
		.rounds = most_iterations(how),
	};
	TRY(view_need(r->store, VIEW_BOTH, "cdlp", out));
	mode_need(r, out);
	return MILL_OK;
}

/* The labels are the ranks at first. */
static mill_err begin(struct mill_run *r, struct vec *label, struct vec *next)
{
	u64 n = r->store->connected;
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

static mill_err tell(struct mill_run *r, const struct vec *labels)
{
	u64 n = r->store->connected, communities = 0;
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

MILL_API mill_err mill_cdlp(mill_run *r, const struct mill_cdlp *how)
{
	u32 most = most_iterations(how);
	struct vec *label, *next, *swap;
	struct mode_finder *finder;
	struct need need;
	u64 changed = 1;

	TRY(cdlp_need(r, how, &need));
	TRY(run_begin(r, "cdlp", &need));
	run_start(r);
	TRY(run_vec(r, &label, "labels", r->store->connected, sizeof(u32), NULL));
	TRY(run_vec(r, &next, "next labels", r->store->connected, sizeof(u32), NULL));
	TRY(begin(r, label, next));
	TRY(op_mode_finder(r, &finder));
	for (u32 i = 0; i < most && changed; i++) {
		TRY(op_mode(r, finder, label, next, &changed));
		swap = label;
		label = next;
		next = swap;
	}
	run_column(r, "community", MILL_TYPE_ID, label, UINT64_MAX, OWN_RANK);
	TRY(run_end(r));
	r->ledger.edges_traversed = run_direction(r, false)->n_edges * r->ledger.total.step;
	TRY(tell(r, label));
	r->result.settings = next;
	r->result.check = cdlp_check;
	return MILL_OK;
}
