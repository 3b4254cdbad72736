/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many runs of every algorithm on 1 to 4 threads, resident and streamed, must give one hash.
 * Rare races need many tries.
 */
#include "expect.h"

static const struct {
	const char *name, *algorithm;
	const void *how;
} calls[] = {
	{ "bfs", "bfs", &(struct mill_bfs){ .source = "max-degree" } },
	{ "sssp", "sssp", &(struct mill_sssp){ .source = "max-degree" } },
	{ "pagerank", "pagerank", &(struct mill_pagerank){ .tolerance = -1, .iterations = 5 } },
	{ "cc afforest", "cc", &(struct mill_cc){ .method = MILL_CC_AFFOREST } },
	{ "cc hooking", "cc", &(struct mill_cc){ .method = MILL_CC_HOOKING } },
	{ "cc labels", "cc", &(struct mill_cc){ .method = MILL_CC_LABELS } },
	{ "bc", "bc", &(struct mill_bc){ .sources = "random:2" } },
	{ "triangles", "triangles", &(struct mill_triangles){ 0 } },
	{ "kcore", "kcore", NULL },
	{ "cdlp", "cdlp", &(struct mill_cdlp){ .iterations = 4 } },
	{ "scc", "scc", NULL },
	{ "degrees", "degrees", NULL },
};

static const struct repeat {
	const char *shape;
	u32 most_threads, frames;	/* frames 0: resident */
	/* Runs on each number of threads. A sanitizer also finds races that do no harm. */
	u32 tries, sanitized;
} repeats_of[] = {
	{ "hubs", 4, 0, 8, 2 },
	{ "hubs, undirected", 4, 0, 8, 2 },
	{ "random, dense", 4, 0, 8, 2 },
	{ "random, tiny", 4, 0, 100, 20 },	/* short runs: more threads than work */
	{ "random, sparse", 4, 5, 25, 5 },
};

/* Runs all algorithms several times. Stores their first hashes, compares the others. */
static void repeat(mill_store *store, const struct repeat *p, u32 threads, u64 *hash)
{
	u64 tries = is_sanitized() ? p->sanitized : repeats(3 * p->tries);
	mill_run *run;

	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = threads, .seed = 7 }));
	run_force_frames(run, p->frames);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		for (u64 k = 0; k < tries; k++) {
			OK(mill_run_algorithm(run, calls[i].algorithm, calls[i].how));
			if (!hash[i])
				hash[i] = hash_of(run);
			if (hash_of(run) != hash[i])
				fail_msg("%s of %s: run %llu on %u threads has another hash",
					 calls[i].name, p->shape, (unsigned long long)k, threads);
		}
	mill_run_free(run);
}

static void test_repeats(void **state)
{
	(void)state;
	for (size_t s = 0; s < ARRAY_LEN(repeats_of); s++) {
		u64 hash[ARRAY_LEN(calls)] = { 0 };
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
