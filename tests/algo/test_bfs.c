/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search: answers from papers, directions, sources. test_matrix.c compares it
 * with a search that uses a queue.
 */
#include "expect.h"

static const struct mill_options with_parents = { .parents = true };

static void test_no_vertex(void **state)
{
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("no vertex")));
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"), with_parents, "bfs", NULL);
	REFUSED(MILL_EUSAGE, mill_bfs(run, NULL), "random");
	REFUSED(MILL_EUSAGE, mill_bfs(run, &(struct mill_bfs){ "max-degree" }), "max-degree");
	REFUSED(MILL_EUSAGE, mill_bfs(run, &(struct mill_bfs){ "0" }), "0");
	REFUSED(MILL_EUSAGE, mill_run_check(run), "no result");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Without in-edges the search can only push. */
static void test_out_only(void **state)
{
	static const char *const names[] = { "random, dense", "hubs", "cycle" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct mill_report report;
		struct mill_step step;
		mill_store *store;
		struct graph g;
		mill_run *run;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		g.out_only = true;
		store = graph_store(&g);
		run = run_open(store, &configs[1], with_parents, "bfs", NULL);
		expect_bfs(&g, "out-only", run, g.n / 2);
		mill_run_report(run, &report);
		for (u64 s = 0; s < report.n_steps; s++) {
			mill_run_step(run, s, &step);
			assert_string_equal(step.direction, "push");
		}
		REFUSED(MILL_EUSAGE, mill_pagerank(run, NULL), g.name);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Answers as the papers print them. */
#define X NONE32
static const struct {
	const char *name;
	u32 root, n, depth[8];
} printed[] = {
	{ "Gunrock's sample", 0, 7, { 0, 1, 1, 1, 2, 2, 2 } },
	{ "Gunrock's sample", 1, 7, { 1, 0, 1, 2, 1, 2, 2 } },
	{ "Gunrock's sample", 2, 7, { X, X, 0, 1, 1, 1, 2 } },
	{ "Gunrock's sample", 3, 7, { X, X, X, 0, X, 1, 1 } },
	{ "Gunrock's sample", 4, 7, { X, X, 1, 2, 0, 1, 1 } },
	{ "Gunrock's sample", 5, 7, { X, X, X, X, X, 0, 1 } },
	{ "Gunrock's sample", 6, 7, { X, X, X, X, X, X, 0 } },
	{ "Graphie's figure 2", 5, 8, { 2, 1, 3, 3, 2, 0, 3, X } },
};

static void test_printed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(printed); i++) {
		char source[16];
		struct graph g;
		mill_store *store;
		mill_run *run;
		u32 depth[8];

		assert_true(shape_make(&g, shape_named(printed[i].name)));
		store = graph_store(&g);
		run = run_open(store, &configs[0], with_parents, "bfs", NULL);
		snprintf(source, sizeof(source), "%u", printed[i].root);
		OK(mill_bfs(run, &(struct mill_bfs){ source }));
		OK(mill_run_values(run, "depth", false, depth, NULL));
		for (u32 v = 0; v < printed[i].n; v++)
			if (depth[v] != printed[i].depth[v])
				fail_msg("%s from %u: vertex %u has depth %d, not %d", g.name,
					 printed[i].root, v, (int)depth[v],
					 (int)printed[i].depth[v]);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* The search of a dense graph pulls at least once, the search of a path never. */
static void test_directions(void **state)
{
	static const struct {
		const char *name;
		bool pulls;
	} cases[] = {
		{ "random, dense", true },
		{ "random, dense, undirected", true },
		{ "path", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_report report;
		struct mill_step step;
		bool pulled = false;
		mill_store *store;
		struct graph g;
		mill_run *run;

		if (!shape_make(&g, shape_named(cases[i].name)))
			continue;
		store = graph_store(&g);
		run = run_open(store, &configs[0], with_parents, "bfs", NULL);
		expect_bfs(&g, "directions", run, 0);
		mill_run_report(run, &report);
		assert_int_equal(report.iterations, fact_of(run, "max_depth")->u64 + 1);
		for (u64 s = 0; s < report.n_steps; s++) {
			mill_run_step(run, s, &step);
			pulled |= !strcmp(step.direction, "pull");
		}
		if (pulled != cases[i].pulls)
			fail_msg("%s: the search %s", g.name, pulled ? "pulls" : "never pulls");
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void test_sources(void **state)
{
	static const char *const bad[] = {
		"", "-1", "7", "x", "1x", "18446744073709551616", "99999999999999999999", "Random",
		"max-degree ", "0x1", " 1",
	};
	struct graph g;
	mill_store *store;
	mill_run *run;
	u64 first, id;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	store = graph_store(&g);
	run = run_open(store, &configs[0], with_parents, "bfs", NULL);
	expect_bfs(&g, "before", run, 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		REFUSED(MILL_EUSAGE, mill_bfs(run, &(struct mill_bfs){ bad[i] }), bad[i]);
		/* The run has the earlier result or none. */
		if (mill_run_columns(run, NULL, 0))
			OK(mill_run_check(run));
	}
	/* 0, 1, 2 and 4 have three edges each: the smallest id is chosen. */
	OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	assert_int_equal(fact_of(run, "source")->u64, 0);
	OK(mill_bfs(run, NULL));
	first = fact_of(run, "source")->u64;
	assert_true(first < 6);		/* 6 has no edges */
	OK(mill_bfs(run, &(struct mill_bfs){ "random" }));
	assert_int_equal(fact_of(run, "source")->u64, first);
	mill_run_free(run);

	/* Some seed finds each of the sources 0 .. 5. */
	for (u64 seed = 0, seen = 0; seen != 0x3f; seed++) {
		assert_true(seed < 1000);
		run = run_open(store, &configs[0], (struct mill_options){ .seed = seed }, "bfs",
			       NULL);
		OK(mill_bfs(run, NULL));
		id = fact_of(run, "source")->u64;
		assert_true(id < 6);
		seen |= (u64)1 << id;
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_printed),
	cmocka_unit_test(test_no_vertex),
	cmocka_unit_test(test_out_only),
	cmocka_unit_test(test_directions),
	cmocka_unit_test(test_sources),
};

SUITE(bfs, tests, .setup = scratch_make, .teardown = scratch_remove);
