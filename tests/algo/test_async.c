/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous runs give the same values in fewer passes. */
#include <math.h>

#include "expect.h"

static const struct mill_options async = { .async = true, .parents = true };
static const char *const places[] = { "4 threads", "1 thread, 1 frame", "2 threads, 2 frames" };

/*
 * Personalized scores converge to the naive ones. The exact precision is refused: it needs
 * steps.
 */
static void test_personalized(void **state)
{
	static const char *const names[] = { "random, sparse", "components", "hubs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct mill_pagerank how = { .tolerance = 1e-11,
					     .iterations = 300,
					     .precision = MILL_F64 };
		f64 *want, *teleport, *got, off = 0;
		struct graph g;
		mill_store *store;
		mill_run *run;
		char id[32];

		assert_true(shape_make(&g, shape_named(names[i])));
		store = graph_store(&g);
		want = calloc(g.n, sizeof(*want));
		teleport = calloc(g.n, sizeof(*teleport));
		snprintf(id, sizeof(id), "%llu", (unsigned long long)graph_id(&g, g.n / 3));
		how.personalize = id;
		teleport[g.n / 3] = 1;
		naive_pagerank(&g, 0.85, 200, teleport, want);
		run = run_open(store, config_named(places[i]), async, "pagerank", &how);
		OK(mill_pagerank(run, &how));
		OK(mill_run_check(run));
		got = scores_of(&g, run, MILL_F64);
		/* The sum is compared: single scores far from the source are too small. */
		for (u32 v = 0; v < g.n; v++)
			off += fabs(got[v] - want[v]);
		if (!(off < 1e-9))
			fail_msg("%s, %s: the personalized scores differ by %g in sum", g.name,
				 places[i], off);
		REFUSED(MILL_EUSAGE,
			mill_pagerank(run, &(struct mill_pagerank){ .precision = MILL_EXACT }),
			"exact");
		free(got);
		free(want);
		free(teleport);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

#define SIDE 250u

static u64 pages_read(struct graph *g, mill_store *store, bool asynchronous, u64 *hash)
{
	struct mill_options o = { .async = asynchronous };
	mill_run *run = run_open(store, config_named("1 thread, 1 frame"), o, "sssp", NULL);
	struct mill_report report;

	*hash = expect_sssp(g, asynchronous ? "async" : "steps", run, 0, 0, false);
	mill_run_report(run, &report);
	mill_run_free(run);
	return report.pages_read;
}

/*
 * The frontier moves over several pages. A run in steps reads each page in every step; an
 * asynchronous run works on a page until nothing changes. It must read an eighth of the
 * pages, or fewer.
 */
static void test_sssp_reads_fewer_pages(void **state)
{
	struct graph g;
	u64 steps, one, hash, same;
	mill_store *store;

	(void)state;
	graph_init(&g, "wide grid", SIDE * SIDE);
	g.undirected = true;
	g.page_size = 64 * KIB;
	if (!graph_fits(&g)) {
		graph_release(&g);
		skip();
	}
	for (u32 v = 0; v < g.n; v++) {
		if (v % SIDE + 1 < SIDE)
			graph_add(&g, v, v + 1);
		if (v + SIDE < g.n)
			graph_add(&g, v, v + SIDE);
	}
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	graph_index(&g);
	store = graph_store(&g);
	assert_true(store->st->out.n_pages > 2);
	steps = pages_read(&g, store, false, &hash);
	one = pages_read(&g, store, true, &same);
	assert_true(hash == same);
	if (one * 8 > steps)
		fail_msg("sssp reads %llu pages in steps, %llu with async",
			 (unsigned long long)steps, (unsigned long long)one);
	graph_store_drop(store);
	graph_release(&g);
}

/*
 * Sites of ten vertices: each has an edge to the next one, to the first one and to itself. An
 * asynchronous run needs at most two thirds of the iterations.
 */
static void test_pagerank_takes_fewer_iterations(void **state)
{
	struct mill_pagerank how = { .tolerance = 1e-8, .precision = MILL_F64 };
	u64 iterations[2];
	struct graph g;
	mill_store *store;

	(void)state;
	graph_init(&g, "sites", 200);
	for (u32 v = 0; v < g.n; v++) {
		graph_add(&g, v, v / 10 * 10 + (v + 1) % 10);
		graph_add(&g, v, v / 10 * 10);
		graph_add(&g, v, v);
	}
	graph_index(&g);
	store = graph_store(&g);
	for (u32 i = 0; i < 2; i++) {
		struct mill_options o = { .async = i };
		mill_run *run = run_open(store, config_named("1 thread"), o, "pagerank", &how);
		struct mill_report report;

		OK(mill_pagerank(run, &how));
		OK(mill_run_check(run));
		mill_run_report(run, &report);
		iterations[i] = report.iterations;
		mill_run_free(run);
	}
	if (iterations[1] * 3 > iterations[0] * 2)
		fail_msg("pagerank takes %llu iterations in steps, %llu with async",
			 (unsigned long long)iterations[0], (unsigned long long)iterations[1]);
	graph_store_drop(store);
	graph_release(&g);
}

static void test_refused_on_devices(void **state)
{
	struct mill_options o = { .async = true, .device = "opencl" };
	struct graph g;
	mill_store *store;
	mill_run *run = NULL;

	(void)state;
	assert_true(shape_make(&g, shape_named("path")));
	store = graph_store(&g);
	REFUSED(MILL_EUSAGE, mill_run_new(&run, store, &o), "opencl");
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_personalized),
	cmocka_unit_test(test_sssp_reads_fewer_pages),
	cmocka_unit_test(test_pagerank_takes_fewer_iterations),
	cmocka_unit_test(test_refused_on_devices),
};

SUITE(async, tests, .setup = scratch_make, .teardown = scratch_remove);
