/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GAPBS's serialized graphs (import/gapbs.c has the layout). Ids are kept, so an id that no vertex
 * has becomes a vertex without edges.
 */
#include <string.h>

#include "store/export.h"
#include "store/ranked.h"

static mill_err check(const struct exporter *x)
{
	const struct store *st = x->st;

	TRY(export_check_ids(st, x->weighted ? "wsg" : "sg", INT32_MAX - 1));
	if (st->directed && !st->has_in)
		return fail(MILL_EUSAGE,
			    "%s: a serialized directed graph holds the in-edges too, and this "
			    "store was made with --out-only",
			    st->path);
	if (!x->weighted)
		return MILL_OK;
	if (!st->weight)
		return fail(MILL_EUSAGE, "%s has no weights for a .wsg: export a .sg", st->path);
	if ((st->weight != MILL_WEIGHT_U32 && st->weight != MILL_WEIGHT_I32) ||
	    st->max_weight > INT32_MAX)
		return fail(MILL_ELIMIT,
			    "%s: a .wsg has weights that are 32-bit signed integers, and these "
			    "weights are not",
			    st->path);
	return MILL_OK;
}

struct offsets {
	struct exporter *x;
	u64 id, edges; /* written so far */
};

static mill_err put_offset(struct offsets *o, u64 degree)
{
	i64 value;

	o->edges += degree;
	value = (i64)o->edges;
	o->id++;
	return outfile_write(o->x->out, &value, sizeof(value));
}

static mill_err put_offsets(struct exporter *x, const vid *order, const u32 *degree, u64 n_rows)
{
	const struct store *st = x->st;
	struct offsets o = { .x = x };
	i64 zero = 0;

	TRY(outfile_write(x->out, &zero, sizeof(zero)));
	for (u64 r = 0; r < st->vertices; r++) {
		while (o.id < ranked_id(st, x->id, r))
			TRY(put_offset(&o, 0));
		TRY(put_offset(&o, order[r] < n_rows ? degree[order[r]] : 0));
	}
	if (o.edges != st->stored_edges)
		return fail(MILL_ECORRUPT, "%s: the degrees do not add up to the edges", st->path);
	return MILL_OK;
}

static mill_err put_list(void *arg, const struct ranked_list *l)
{
	struct exporter *x = arg;
	i32 pair[2];

	for (u64 k = 0; k < l->degree; k++) {
		pair[0] = (i32)ranked_id(x->st, x->id, l->neighbour[k]);
		if (x->weighted)
			memcpy(&pair[1], (const u32 *)l->weight + k, sizeof(pair[1]));
		TRY(outfile_write(x->out, pair, x->weighted ? 8 : 4));
	}
	return MILL_OK;
}

static mill_err put_half(struct exporter *x, const vid *order, u32 *degree, bool in)
{
	const struct pages *pages = in ? &x->st->in : &x->st->out;

	TRY(store_read(x->st, pages->degrees, degree, pages->n_rows * sizeof(*degree), 0));
	TRY(put_offsets(x, order, degree, pages->n_rows));
	return ranked_lists(x->st, in, x->budget, x->ticker, put_list, x);
}

static mill_err put_graph(struct exporter *x)
{
	const struct store *st = x->st;
	u64 n = st->vertices;
	u8 directed = st->directed;
	i64 count[2] = { (i64)st->stored_edges, n ? (i64)st->max_id + 1 : 0 };
	vid *order = NULL;
	u32 *degree = NULL;
	mill_err err;

	TRY(outfile_write(x->out, &directed, 1));
	TRY(outfile_write(x->out, count, sizeof(count)));
	err = memory_new(&order, x->budget, n, sizeof(*order), "the order of the vertices");
	if (!err)
		err = memory_new(&degree, x->budget, n, sizeof(*degree), "degrees");
	if (!err)
		err = store_read(st, STORE_ORDER, order, n * sizeof(*order), 0);
	if (!err)
		err = put_half(x, order, degree, false);
	if (!err && st->directed)
		err = put_half(x, order, degree, true);
	memory_free(degree);
	memory_free(order);
	return err;
}

mill_err export_sg(struct exporter *x)
{
	TRY(check(x));
	return put_graph(x);
}
