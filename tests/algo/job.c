/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include "component.h"

/* ---- Searches ---- */

static const struct mill_sssp narrow_steps = { .delta = 0.5 };
static const struct mill_sssp unit_weights = { .unit_weights = true };
static const struct mill_sssp three_buckets = { .buckets = 3 };
static const struct mill_sssp many_buckets = { .delta = 1, .buckets = 64 };

static u64 expect_paths(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_sssp(g, where, run, root, 0, false);
}

static u64 expect_narrow(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_sssp_with(g, where, run, root, narrow_steps);
}

static u64 expect_unit(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_sssp_with(g, where, run, root, unit_weights);
}

static u64 expect_three(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_sssp_with(g, where, run, root, three_buckets);
}

static u64 expect_many(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_sssp_with(g, where, run, root, many_buckets);
}

/* ---- PageRank ---- */

#define ITERATIONS 6

static const struct mill_pagerank rank_f32 = { .tolerance = -1, .iterations = ITERATIONS };
static const struct mill_pagerank rank_f64 = {
	.tolerance = -1, .iterations = ITERATIONS, .precision = MILL_F64,
};
static const struct mill_pagerank rank_exact = {
	.tolerance = -1, .iterations = ITERATIONS, .precision = MILL_EXACT,
};
static const struct mill_pagerank rank_limit = {
	.tolerance = 1e-11, .iterations = 300, .precision = MILL_F64,
};

/* person: the vertex where all walks start, or NONE32. relative: the largest relative error. */
static u64 expect_ranks(const struct graph *g, const char *where, mill_run *run,
			struct mill_pagerank how, u32 iterations, u32 person, f64 relative)
{
	f64 *want = calloc(g->n + 1u, sizeof(*want));
	f64 *teleport = calloc(g->n + 1u, sizeof(*teleport));
	char id[32];
	u64 hash;

	assert_true(want && teleport);
	if (person < g->n) {
		teleport[person] = 1;
		snprintf(id, sizeof(id), "%llu", (unsigned long long)graph_id(g, person));
		how.personalize = id;
	}
	naive_pagerank(g, 0.85, iterations, person < g->n ? teleport : NULL, want);
	hash = expect_pagerank(g, where, run, &how, want, relative);
	free(want);
	free(teleport);
	return hash;
}

static u64 expect_f32(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_ranks(g, where, run, rank_f32, ITERATIONS, NONE32, 2e-6);
}

static u64 expect_f64(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_ranks(g, where, run, rank_f64, ITERATIONS, NONE32, 1e-10);
}

static u64 expect_exact(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_ranks(g, where, run, rank_exact, ITERATIONS, NONE32, 1e-9);
}

static u64 expect_personal(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	return expect_ranks(g, where, run, rank_f64, ITERATIONS, root, 1e-12);
}

static u64 expect_limit(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_ranks(g, where, run, rank_limit, 200, NONE32, 1e-6);
}

/* ---- Components ---- */

static u64 expect_finder(const struct graph *g, const char *where, mill_run *run,
			 const struct finder *f)
{
	u32 *part = parts_of(g, f);
	u64 hash = expect_components(g, where, run, f, part);

	free(part);
	return hash;
}

static u64 expect_afforest(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_finder(g, where, run, &finders[0]);
}

static u64 expect_hooking(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_finder(g, where, run, &finders[1]);
}

static u64 expect_labels(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_finder(g, where, run, &finders[2]);
}

static u64 expect_strong(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_finder(g, where, run, &finders[3]);
}

/* ---- Others ---- */

static const struct mill_bc all_sources = { .sources = "all" };
static const struct mill_triangles lcc = { .lcc = MILL_LCC_UNDIRECTED };
static const struct mill_triangles directed_lcc = { .lcc = MILL_LCC_DIRECTED };

/* Sources: two vertices, or all vertices of a small graph. */
static u64 expect_between(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	const u32 from[] = { root, (root + g->n / 2) % g->n }, n = g->n / 2 ? 2 : 1;
	bool all = g->n <= 20;
	f64 *want = naive_bc(g, all ? NULL : from, n);
	char list[64];
	u64 hash;

	write_sources(g, from, n, list, sizeof(list));
	hash = expect_bc(g, where, run, &(struct mill_bc){ .sources = all ? "all" : list }, want);
	free(want);
	return hash;
}

static u64 expect_core(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_kcore(g, where, run);
}

static u64 expect_count(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_triangles(g, where, run, MILL_LCC_NONE);
}

static u64 expect_lcc(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_triangles(g, where, run, MILL_LCC_UNDIRECTED);
}

static u64 expect_directed_lcc(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_triangles(g, where, run, MILL_LCC_DIRECTED);
}

static u64 expect_communities(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_cdlp(g, where, run, 3);
}

static u64 expect_all_degrees(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	(void)root;
	return expect_degrees(g, where, run);
}

#define PATHS (JOB_SOURCE | JOB_WEIGHTS | JOB_ASYNC)

const struct job jobs[] = {
	{ "bfs", "bfs", expect_bfs, NULL,
	  JOB_SOURCE | JOB_ASYNC | JOB_GRAPHIE | JOB_GTS | JOB_GROUPS },
	{ "sssp", "sssp", expect_paths, NULL, PATHS | JOB_GRAPHIE | JOB_GTS | JOB_GROUPS },
	{ "sssp, narrow steps", "sssp", expect_narrow, &narrow_steps, PATHS | JOB_MANY_STEPS },
	{ "sssp, unit weights", "sssp", expect_unit, &unit_weights,
	  JOB_SOURCE | JOB_ASYNC | JOB_GRAPHIE | JOB_GTS },
	{ "sssp, 3 buckets", "sssp", expect_three, &three_buckets, PATHS },
	{ "sssp, 64 buckets", "sssp", expect_many, &many_buckets, PATHS | JOB_MANY_STEPS },
	{ "pagerank, f32", "pagerank", expect_f32, &rank_f32, JOB_IN | JOB_FLOATS | JOB_GTS },
	{ "pagerank, f64", "pagerank", expect_f64, &rank_f64, JOB_IN | JOB_FLOATS | JOB_GTS },
	{ "pagerank, exact", "pagerank", expect_exact, &rank_exact, JOB_IN | JOB_GTS },
	{ "pagerank, personal", "pagerank", expect_personal, &rank_f64,
	  JOB_IN | JOB_FLOATS | JOB_HOST },
	{ "pagerank, its limit", "pagerank", expect_limit, &rank_limit,
	  JOB_IN | JOB_FLOATS | JOB_ASYNC | JOB_ONLY_ASYNC | JOB_HOST | JOB_SMALL },
	{ "cc, afforest", "cc", expect_afforest, &finders[0].how, 0 },
	{ "cc, hooking", "cc", expect_hooking, &finders[1].how, 0 },
	{ "cc, labels", "cc", expect_labels, &finders[2].how,
	  JOB_IN | JOB_ASYNC | JOB_GRAPHIE | JOB_GTS },
	{ "scc", "scc", expect_strong, NULL, JOB_IN },
	{ "bc", "bc", expect_between, &all_sources, JOB_SOURCE | JOB_IN | JOB_FLOATS | JOB_GTS },
	{ "kcore", "kcore", expect_core, NULL, JOB_IN | JOB_GROUPS },
	{ "triangles", "triangles", expect_count, NULL, JOB_IN },
	{ "triangles, lcc", "triangles", expect_lcc, &lcc, JOB_IN },
	{ "triangles, directed lcc", "triangles", expect_directed_lcc, &directed_lcc, JOB_IN },
	{ "cdlp", "cdlp", expect_communities, NULL, JOB_IN },
	{ "degrees", "degrees", expect_all_degrees, NULL, 0 },
};
const u32 n_jobs = ARRAY_LEN(jobs);
