/* SPDX-License-Identifier: Apache-2.0 */
/* A hundred runs of every algorithm on 1 to 4 threads: one hash. Races that are rare need many tries. */
#include "expect.h"

/* On each number of threads; a sanitizer needs not see a race go wrong to find it. */
#define REPEATS 25u
#define REPEATS_SANITIZED 5u

static mill_err bfs(mill_run *r) { return mill_bfs(r, &(struct mill_bfs){ .source = "max-degree" }); }
static mill_err sssp(mill_run *r) { return mill_sssp(r, &(struct mill_sssp){ .source = "max-degree" }); }
static mill_err pagerank(mill_run *r) { return mill_pagerank(r, &(struct mill_pagerank){ .tolerance = -1, .iterations = 5 }); }
static mill_err afforest(mill_run *r) { return mill_cc(r, &(struct mill_cc){ .method = MILL_CC_AFFOREST }); }
static mill_err hooking(mill_run *r) { return mill_cc(r, &(struct mill_cc){ .method = MILL_CC_HOOKING }); }
static mill_err labels(mill_run *r) { return mill_cc(r, &(struct mill_cc){ .method = MILL_CC_LABELS }); }
static mill_err bc(mill_run *r) { return mill_bc(r, &(struct mill_bc){ .sources = "random:2" }); }
static mill_err triangles(mill_run *r) { return mill_triangles(r, &(struct mill_triangles){ 0 }); }
static mill_err cdlp(mill_run *r) { return mill_cdlp(r, &(struct mill_cdlp){ .iterations = 4 }); }

static const struct {
	const char *name;
	mill_err (*run)(mill_run *r);
} algorithms[] = {
	{ "bfs", bfs },		  { "sssp", sssp },	  { "pagerank", pagerank },
	{ "cc afforest", afforest }, { "cc hooking", hooking }, { "cc labels", labels },
	{ "bc", bc },		  { "triangles", triangles }, { "kcore", mill_kcore },
	{ "cdlp", cdlp },	  { "scc", mill_scc },	  { "degrees", mill_degrees },
};

static void test_repeats(void **state)
{
	static const char *const names[] = { "hubs", "hubs, undirected", "random, dense" };
	const char *sanitizer = getenv("MILL_SANITIZE");
	u32 tries = sanitizer && *sanitizer ? REPEATS_SANITIZED : REPEATS;

	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(names); s++) {
		u64 hash[ARRAY_LEN(algorithms)] = { 0 };
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[s])))
			continue;
		g.weight = MILL_WEIGHT_U32;
		for (u64 a = 0; a < g.n_arcs; a++)
			g.arc[a].weight = 1 + (g.arc[a].from ^ g.arc[a].to) % 100;
		graph_index(&g);
		store = graph_store(&g);
		for (u32 threads = 1; threads <= 4; threads++) {
			mill_run *run;

			OK(mill_run_new(&run, store, &(struct mill_options){ .threads = threads, .seed = 7 }));
			for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
				for (u32 k = 0; k < tries; k++) {
					struct mill_report report;

					OK(algorithms[i].run(run));
					mill_run_report(run, &report);
					if (threads == 1 && !k)
						hash[i] = report.hash;
					if (report.hash != hash[i])
						fail_msg("%s of %s: run %u on %u threads differs", algorithms[i].name, g.name, k,
							 threads);
				}
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(test_repeats) };

SUITE(repeats, tests, .setup = scratch_make, .teardown = scratch_remove);
