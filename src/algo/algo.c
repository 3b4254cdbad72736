/* SPDX-License-Identifier: Apache-2.0 */
/* The table of algorithms, and what they share. */
#include "algo/algo.h"

#include <string.h>

#define DEGREES 8192	/* read at a time */

mill_err count_reached(struct mill_run *r, const void *data, bool (*reached)(const void *data, u64 v),
		       struct reach *out)
{
	u64 n = r->store->vertices, sources = r->store->sources;
	mill_err err = MILL_OK;
	u32 *degree;

	*out = (struct reach){ 0 };
	TRY(memory_new(&degree, &r->budget, DEGREES, sizeof(u32), "degrees"));
	for (u64 at = 0; !err && at < n; at += DEGREES) {
		u64 some = min_u64(DEGREES, n - at);
		u64 with = at < sources ? min_u64(some, sources - at) : 0;	/* have out-edges */

		if (with)
			err = store_read(r->store, STORE_OUT_DEGREES, degree, with * sizeof(u32), at * sizeof(u32));
		for (u64 i = 0; !err && i < some; i++)
			if (reached(data, at + i)) {
				out->reached++;
				out->edges += i < with ? degree[i] : 0;
			}
	}
	memory_free(degree);
	return err;
}

MILL_API const struct mill_algorithm *mill_algorithms(void)
{
	static const struct mill_algorithm table[] = {
		{ "bfs", "breadth-first search: depths and parents from a source", false },
		{ "sssp", "shortest paths from a source, by weight", true },
		{ "pagerank", "PageRank, uniform or personalised", false },
		{ 0 },
	};

	return table;
}

MILL_API mill_err mill_run_plan(mill_run *r, const char *algorithm, const void *how, struct mill_plan *out)
{
	struct need need;

	if (!strcmp(algorithm, "bfs"))
		TRY(bfs_need(r, how, &need));
	else if (!strcmp(algorithm, "sssp"))
		TRY(sssp_need(r, how, &need));
	else if (!strcmp(algorithm, "pagerank"))
		TRY(pagerank_need(r, how, &need));
	else
		return fail(MILL_EUSAGE, "unknown algorithm '%s'", algorithm);
	run_plan(r, &need, out);
	return MILL_OK;
}
