/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented intersection on a device: budgets, work-groups, closed forms, what crosses. test_matrix.c compares it on all graphs. */
#include "base/random.h"
#include "expect.h"

static const struct mill_options checked = { .check = true };
static const enum mill_lcc kinds[] = { MILL_LCC_NONE, MILL_LCC_UNDIRECTED, MILL_LCC_DIRECTED };

/* Pairs of all sorts: a clique with lists above every threshold, a fringe with short lists, and parallel arcs. */
static void make_uneven(struct graph *g)
{
	u32 core = 300;

	graph_init(g, "uneven", 900);
	for (u32 u = 0; u < core; u++)
		for (u32 v = 0; v < u; v++)
			if (random_below(1, (u64)u * core + v, 8))
				graph_add(g, 3 * u, 3 * v);
	for (u32 u = 0; u < g->n; u++)
		for (u32 i = 0; u % 3 && i < 2 + u % 40; i++)
			graph_add(g, u, 3 * (u32)random_below(2, u * 64ul + i, core));
	for (u32 i = 0; i < 2000; i++)
		graph_add(g, (u32)random_below(3, i, g->n), (u32)random_below(4, i, g->n));
	graph_index(g);
}

static void test_work_groups(void **state)
{
	static const u32 group[] = { 1, 8, 48, 256 };
	mill_store *store;
	struct graph g;

	(void)state;
	if (!have_opencl())
		skip();
	make_uneven(&g);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(group); i++) {
		struct mill_options o = { .check = true, .group_size = group[i] };
		mill_run *run = run_open(store, config_named("opencl"), o, "triangles", NULL);

		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			expect_triangles(&g, "work-groups", run, kinds[k]);
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static void expect_counts(struct graph *g, u64 (*count)(const struct graph *g, u32 v))
{
	u64 *got = calloc(g->n, sizeof(*got));
	mill_store *store;
	mill_run *run;

	graph_index(g);
	store = graph_store(g);
	run = run_open(store, config_named("opencl, 2 pages"), checked, "triangles", NULL);
	OK(mill_triangles(run, NULL));
	OK(mill_run_values(run, "triangles", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (got[v] != count(g, v))
			fail_msg("%s: vertex %u has %llu triangles", g->name, v, (unsigned long long)got[v]);
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(g);
	free(got);
}

static u64 in_clique(const struct graph *g, u32 v)
{
	(void)v;
	return (g->n - 1ul) * (g->n - 2ul) / 2;
}

static u64 in_wheel(const struct graph *g, u32 v) { return v ? 2 : g->n - 1; }

static u64 in_sample(const struct graph *g, u32 v)
{
	static const u64 count[] = { 2, 2, 5, 3, 3, 4, 2 };

	(void)g;
	return count[v];
}

static void test_closed_forms(void **state)
{
	struct graph g;

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 n = 1; n < 400; n = 2 * n + 1) {
		graph_init(&g, "clique", n);
		g.undirected = true;
		for (u32 u = 0; u < n; u++)
			for (u32 v = 0; v < u; v++)
				graph_add(&g, v, u);
		expect_counts(&g, in_clique);
	}
	/* A hub and its rim, which is a cycle. */
	graph_init(&g, "wheel", 30000);
	for (u32 v = 1; v < g.n; v++) {
		graph_add(&g, 0, v);
		graph_add(&g, v, v + 1 < g.n ? v + 1 : 1);
	}
	expect_counts(&g, in_wheel);
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	expect_counts(&g, in_sample);
}

/* One byte less than the plan says is refused; from there on every budget will do, and none is exceeded. */
static void test_budgets(void **state)
{
	static const char *const graphs[] = { "hubs", "random, dense, undirected", "clique", "one vertex", "no vertex" };

	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++) {
		struct mill_triangles how = { .lcc = kinds[i % 3] };
		struct mill_options o = { .check = true, .threads = 2, .memory = GIB, .device = "opencl", .device_memory = GIB };
		struct mill_plan plan;
		mill_store *store;
		struct graph g;
		mill_run *run;

		assert_true(shape_make(&g, shape_named(graphs[i])));
		store = graph_store(&g);
		OK(mill_run_new(&run, store, &o));
		OK(mill_run_plan(run, "triangles", &how, &plan));
		mill_run_free(run);
		o.device_memory = plan.device_needed - 1;
		OK(mill_run_new(&run, store, &o));
		REFUSED(MILL_ENOMEM, mill_triangles(run, &how), graphs[i]);
		assert_non_null(strstr(mill_error(), "--device-memory"));
		mill_run_free(run);
		for (u64 more = 0; more < 12 * g.page_size; more += more < 3 ? 1 : 10 * g.page_size / 7 + 1) {
			o.device_memory = plan.device_needed + more;
			OK(mill_run_new(&run, store, &o));
			run->hook.only_frames = (u32)(more % 3);
			expect_triangles(&g, "a budget", run, how.lcc);
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Lists that fit cross once. Others pass each block, but for those that are in it; the state is never moved for it. */
static void test_ledger(void **state)
{
	mill_store *store;
	struct graph g;

	(void)state;
	if (!have_opencl())
		skip();
	assert_true(shape_make(&g, shape_named("random, dense, undirected")));
	store = graph_store(&g);
	for (u32 frames = 0; frames < 2; frames++)
		for (u32 ample = 0; ample < 2; ample++) {
			struct config c = *config_named(ample ? "opencl" : "opencl, 2 pages");
			struct mill_report report;
			struct mill_step step;
			mill_run *run;

			c.frames = frames;
			run = run_open(store, &c, checked, "triangles", NULL);
			expect_triangles(&g, c.name, run, MILL_LCC_NONE);
			mill_run_report(run, &report);
			mill_run_step(run, 0, &step);
			assert_int_equal(report.resident, !frames);
			assert_true(step.edges && step.updates == fact_of(run, "triangles")->u64);
			assert_true(step.pages_active == step.pages_to_device && step.pages_active % step.pages_reused == 0);
			assert_true(ample ? step.pages_active == step.pages_reused : step.pages_active > 2 * step.pages_reused);
			assert_true(report.topology == step.to_device);
			assert_int_equal(!!step.disk_read, frames);
			mill_run_free(run);
		}
	graph_store_drop(store);
	graph_release(&g);
}

/* A run alternates between an algorithm that has pages on the device and one that sends its own lists. */
static void test_turns(void **state)
{
	mill_store *store;
	struct graph g;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	make_uneven(&g);
	store = graph_store(&g);
	run = run_open(store, config_named("opencl"), checked, "triangles", NULL);
	for (int i = 0; i < 3; i++) {
		expect_kcore(&g, "in turns", run);
		expect_triangles(&g, "in turns", run, kinds[i]);
		expect_triangles(&g, "in turns", run, MILL_LCC_NONE);
	}
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_work_groups),
	cmocka_unit_test(test_closed_forms),
	cmocka_unit_test(test_budgets),
	cmocka_unit_test(test_ledger),
	cmocka_unit_test(test_turns),
};

SUITE(intersect, tests, .setup = scratch_make, .teardown = scratch_remove);
