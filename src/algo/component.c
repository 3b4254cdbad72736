/* SPDX-License-Identifier: Apache-2.0 */
/* Names and facts of components; component.h has the contract. */
#include "algo/component.h"

#include "engine/result.h"

#include "algo/component.op.h"

#define PROGRAM component
#define FIELDS COMPONENT_FIELDS
#define SOURCE "algo/component.op.h"
#define COMPUTE_1 least
#define COMPUTE_2 name
#include "op/program.inc"

static mill_err make_ranks(struct mill_run *r, const struct declared *x)
{
	(void)x;
	return result_ranks(r, &(struct vec *){ NULL });
}

void declare_component(struct declaration *d)
{
	const struct store *st = d->run->store;

	declare_compute(d, &component_least_compute, 0);
	declare_compute(d, &component_name_compute, 0);
	declare_bytes(d, st->n_linked * sizeof(vid),
		      st->n_linked * sizeof(u32) /* the sizes */ + result_ids_bytes(st) +
			      result_ranks_bytes(st) /* to name them */);
	declare_item(d, (struct declared){ .make = make_ranks, .flags = EARLY });
}

mill_err component_names(struct mill_run *r, struct vec *root, struct vec *least, u64 *n_components)
{
	struct component_args a = { .root = root, .least = least };
	u64 n = r->store->n_linked;
	f64 sum;

	TRY(result_ranks(r, &a.rank));
	TRY(op_compute(r, &component_least_compute, &a, 0, n, &sum));
	*n_components = (u64)sum;
	TRY(op_compute(r, &component_name_compute, &a, 0, n, &sum));
	run_column(r, "component", MILL_TYPE_ID, root, UINT64_MAX, OWN_RANK);
	return MILL_OK;
}

mill_err component_facts(struct mill_run *r, u64 n_components)
{
	const struct vec *name = r->result.column[0].vec;
	u32 *size = NULL, largest = 0;
	const u32 *data;
	mill_err err;

	TRY(vec_map(r, name, &data));
	err = memory_new(&size, &r->budget, name->n, sizeof(u32), "the sizes of components");
	for (u64 v = 0; !err && v < name->n; v++) {
		u32 now = ++size[data[v]];

		largest = now > largest ? now : largest;
	}
	memory_free(size);
	vec_unmap(name, (void *)data);
	run_fact(r, "components", n_components + run_isolated(r));
	run_fact(r, "largest", largest ? largest : run_isolated(r) > 0);
	return err;
}
