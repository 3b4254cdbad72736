/* SPDX-License-Identifier: Apache-2.0 */
/* The table of algorithms, and what they share. */
#include "algo/algo.h"

#include <string.h>

#include "engine/devices.h"

#define DEGREES 8192	/* read at a time */

mill_err count_reached(struct mill_run *r, const void *data, bool (*reached)(const void *data, u64 v),
		       struct reach *out)
{
	u64 n = r->store->connected, sources = r->store->sources;
	mill_err err = MILL_OK;
	u32 *degree;

	*out = (struct reach){ .reached = r->result.n_chosen };	/* an isolated source */
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

/* ---- The table ---- */

/* need and call, of the algorithm's own option struct. */
#define ALGORITHM(name, how_type) \
	static mill_err name##_need_of(const struct mill_run *r, const void *how, struct need *out) \
	{ \
		return name##_need(r, (const how_type *)how, out); \
	} \
	static mill_err name##_call(struct mill_run *r, const void *how) { return mill_##name(r, (const how_type *)how); }

ALGORITHM(bfs, struct mill_bfs)
ALGORITHM(sssp, struct mill_sssp)
ALGORITHM(pagerank, struct mill_pagerank)
ALGORITHM(cc, struct mill_cc)
ALGORITHM(bc, struct mill_bc)
ALGORITHM(triangles, struct mill_triangles)
ALGORITHM(cdlp, struct mill_cdlp)

#define WITHOUT_OPTIONS(name) \
	static mill_err name##_call(struct mill_run *r, const void *how) { (void)how; return mill_##name(r); }

WITHOUT_OPTIONS(kcore)
WITHOUT_OPTIONS(degrees)
WITHOUT_OPTIONS(scc)

static const struct mill_algorithm algorithms[] = {
	{ "bfs", "breadth-first search: depths and parents from a source", false },
	{ "sssp", "shortest paths from a source, by weight", true },
	{ "pagerank", "PageRank, uniform or personalised", false },
	{ "cc", "weak components, named after their smallest id", false },
	{ "bc", "betweenness centrality, from all or some sources", false },
	{ "kcore", "k-core decomposition: how deep in the dense parts a vertex lies", false },
	{ "degrees", "degrees and their distribution", false },
	{ "scc", "strong components, named after their smallest id", false },
	{ "triangles", "triangles through each vertex, clustering coefficients", false },
	{ "cdlp", "communities by label propagation, as LDBC Graphalytics defines them", false },
	{ 0 },
};

/* In the same order. */
static const struct entry {
	mill_err (*need)(const struct mill_run *r, const void *how, struct need *out);
	mill_err (*call)(struct mill_run *r, const void *how);
} entries[] = {
	{ bfs_need_of, bfs_call },
	{ sssp_need_of, sssp_call },
	{ pagerank_need_of, pagerank_call },
	{ cc_need_of, cc_call },
	{ bc_need_of, bc_call },
	{ kcore_need, kcore_call },
	{ degrees_need, degrees_call },
	{ scc_need, scc_call },
	{ triangles_need_of, triangles_call },
	{ cdlp_need_of, cdlp_call },
};
_Static_assert(ARRAY_LEN(entries) + 1 == ARRAY_LEN(algorithms), "one each");

MILL_API const struct mill_algorithm *mill_algorithms(void) { return algorithms; }

static mill_err find(const struct entry **out, const char *algorithm)
{
	for (u32 i = 0; algorithms[i].name; i++) {
		if (!strcmp(algorithm, algorithms[i].name)) {
			*out = &entries[i];
			return MILL_OK;
		}
	}
	return fail(MILL_EUSAGE, "unknown algorithm '%s'", algorithm);
}

MILL_API mill_err mill_run_algorithm(mill_run *r, const char *algorithm, const void *how)
{
	const struct entry *e = NULL;

	TRY(find(&e, algorithm));
	return e->call(r, how);
}

MILL_API mill_err mill_run_plan(mill_run *r, const char *algorithm, const void *how, struct mill_plan *out)
{
	const struct entry *e = NULL;
	struct need need;

	TRY(find(&e, algorithm));
	TRY(e->need(r, how, &need));
	TRY(devices_suit(r, algorithm, &need));
	run_plan(r, &need, out);
	run_predict(r, algorithm, &need, out);
	return MILL_OK;
}
