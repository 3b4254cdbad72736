/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles through each vertex of the undirected simple graph, and clustering coefficients. */
#include "algo/algo.h"
#include "op/intersect.h"

mill_err triangles_need(const struct mill_run *r, const struct mill_triangles *how, struct need *out)
{
	(void)how;
	*out = (struct need){
		.state = r->store->vertices * sizeof(u64),
		.host = intersect_count_bytes(r),
	};
	return view_need(r->store, VIEW_SIMPLE, "triangles", out);
}

MILL_API mill_err mill_triangles(mill_run *r, const struct mill_triangles *how)
{
	struct need need;
	struct vec *count;
	const u64 *t;
	u64 sum = 0;

	TRY(triangles_need(r, how, &need));
	TRY(run_begin(r, "triangles", &need));
	TRY(run_vec_host(r, &count, "triangles", r->store->vertices, sizeof(u64)));
	run_start(r);
	TRY(op_intersect_count(r, count));
	run_column(r, "triangles", MILL_TYPE_U64, count, UINT64_MAX);
	TRY(run_end(r));
	t = count->buffer.host;
	for (u64 i = 0; i < count->n; i++)
		sum += t[i];
	run_fact(r, "triangles", sum / 3);
	return MILL_OK;
}
