/* SPDX-License-Identifier: Apache-2.0 */
/* Settles the parents of a search; tree.h has the contract, tree.op.h the method. */
#include "algo/tree.h"

#include "engine/result.h"

#define TEMPLATE tree
#define FIELDS TREE_FIELDS
#define SOURCE "algo/tree.op.h"
#define PREFETCH distance
#include "op/by_weight.inc"

static const u32 none = UINT32_MAX;

bool tree_may_add_nothing(const struct mill_run *r, enum weight_kind kind)
{
	return kind == WEIGHT_F32 || kind == WEIGHT_F64 ||
	       (kind != WEIGHT_UNIT && r->store->min_weight <= 0);
}

void declare_tree(struct declaration *d, enum weight_kind kind)
{
	const struct store *st = d->run->store;
	u64 n = st->n_linked;
	bool rounds = tree_may_add_nothing(d->run, kind);

	if (!d->run->options.parents)
		return;
	declare_advance(d, tree_advances[kind], 0);
	d->need.advances = true;
	declare_bytes(d, n * (sizeof(u32) * (rounds ? 2 : 1) + sizeof(vid)) + frontier_bytes(n, 0),
		      frontier_host_bytes(n) + result_ids_bytes(st) +
			      result_ranks_bytes(st) /* to name the parents */ +
			      bitmap_words(n) * sizeof(u64) +
			      (rounds ? n * sizeof(vid) : 0) /* the certificate */);
}

/*
 * Sets hop[v] to 0 if round 0 settled v. Returns true if a vertex that is reached has no
 * parent yet.
 */
static bool mark_settled(const struct vec *distance, const void *data, const u32 *parent, u32 *hop)
{
	bool left = false;

	for (u64 v = 0; v < distance->n; v++) {
		bool reached = distance->size == sizeof(u32)
				       ? ((const u32 *)data)[v] != UINT32_MAX
				       : ((const u64 *)data)[v] < bits_f64(__builtin_inf());

		hop[v] = parent[v] == none ? none : 0;
		left |= reached && parent[v] == none;
	}
	return left;
}

static mill_err find_unsettled(struct mill_run *r, struct tree_unit_args *a, bool *left)
{
	u32 *parent = NULL, *hop = NULL;
	void *distance = NULL;
	mill_err err;

	err = vec_map(r, a->parent, &parent);
	if (!err)
		err = vec_map(r, a->hop, &hop);
	if (!err)
		err = vec_map(r, a->distance, &distance);
	if (!err) {
		*left = mark_settled(a->distance, distance, parent, hop);
		err = device_write(&a->hop->buffer, 0, hop, a->hop->buffer.size);
	}
	vec_unmap(a->distance, distance);
	vec_unmap(a->hop, hop);
	vec_unmap(a->parent, parent);
	return err;
}

static mill_err settle(struct mill_run *r, enum weight_kind kind)
{
	/* All instances have the same arguments. */
	struct tree_unit_args a = { .distance = r->result.column[0].vec };
	u64 n = r->store->n_linked;
	vid root = r->search.root, rank;
	struct frontier *front;
	bool left = false;

	TRY(result_ranks(r, &a.rank));
	TRY(run_vec(r, &a.parent, "parent", n, sizeof(u32), &none));
	run_column(r, "parent", MILL_TYPE_ID, a.parent, UINT64_MAX, none);
	r->result.column[1].chosen = OWN_RANK;
	if (root >= n)	/* nothing is reached */
		return MILL_OK;
	TRY(vec_get(a.rank, root, &rank));
	TRY(run_frontier(r, &front, 0));
	TRY(frontier_set_all(front, r->store->sources));
	TRY(op_advance(r, tree_advances[kind], &a, front));
	TRY(vec_set(a.parent, root, &(u32){ rank }));
	if (!tree_may_add_nothing(r, kind))
		return MILL_OK;
	TRY(run_vec(r, &a.hop, "hops without weight", n, sizeof(u32), &none));
	TRY(find_unsettled(r, &a, &left));
	if (!left)
		return MILL_OK;
	TRY(frontier_set_all(front, r->store->sources));
	for (a.round = 1; front->n; a.round++)
		TRY(op_advance(r, tree_advances[kind], &a, front));
	return MILL_OK;
}

mill_err tree_settle(struct mill_run *r, enum weight_kind kind)
{
	f64 began = clock_now();
	mill_err err;

	r->search.kind = kind;
	if (!r->options.parents)
		return MILL_OK;
	r->ledger.paused = true;
	err = settle(r, kind);
	r->ledger.paused = false;
	r->ledger.parents = clock_now() - began;
	return err;
}
