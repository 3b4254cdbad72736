/* SPDX-License-Identifier: Apache-2.0 */
/* Many runs of every algorithm on 1 to 4 threads, resident and streamed: one hash. Races that are rare need many tries. */
#include "expect.h"

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

static const struct repeat {
	const char *shape;
	u32 most_threads, frames;	/* frames: 0: resident */
	u32 tries, sanitized;		/* on each number of threads; a sanitizer need not see a race go wrong to find it */
} repeats_of[] = {
	{ "hubs", 4, 0, 8, 2 },
	{ "hubs, undirected", 4, 0, 8, 2 },
	{ "random, dense", 4, 0, 8, 2 },
	{ "random, tiny", 4, 0, 100, 20 },	/* short runs: more threads than work */
	{ "random, sparse", 4, 5, 25, 5 },
};

/* Runs all algorithms on n threads and compares or, on the first, stores their hashes. */
static void repeat(mill_store *store, const struct repeat *p, u32 threads, u64 *hash)
{
	u64 tries = is_sanitized() ? p->sanitized : repeats(3 * p->tries);
	mill_run *run;

	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = threads, .seed = 7 }));
	run_force_frames(run, p->frames);
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
		for (u64 k = 0; k < tries; k++) {
			OK(algorithms[i].run(run));
			if (!hash[i])
				hash[i] = hash_of(run);
			if (hash_of(run) != hash[i])
				fail_msg("%s of %s: run %llu on %u threads differs", algorithms[i].name, p->shape, (unsigned long long)k,
					 threads);
		}
	mill_run_free(run);
}

static void test_repeats(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(repeats_of); s++) {
		u64 hash[ARRAY_LEN(algorithms)] = { 0 };
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(repeats_of[s].shape)))
			continue;
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_ZEROS, s);
		store = graph_store(&g);
		for (u32 threads = 1; threads <= repeats_of[s].most_threads; threads++)
			repeat(store, &repeats_of[s], threads, hash);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = { cmocka_unit_test(test_repeats) };

SUITE(repeats, tests, .setup = scratch_make, .teardown = scratch_remove);
