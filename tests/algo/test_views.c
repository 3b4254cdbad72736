/* SPDX-License-Identifier: Apache-2.0 */
/* k-cores, triangles and label propagation, which use views: budgets and certificates. */
#include "expect.h"

static const struct mill_options checked = { .check = true };
static const struct mill_triangles undirected = { .lcc = MILL_LCC_UNDIRECTED };
static const struct mill_triangles directed = { .lcc = MILL_LCC_DIRECTED };

static u64 expect_labels(const struct graph *g, const char *where, mill_run *run)
{
	return expect_cdlp(g, where, run, 2);
}

static u64 expect_lcc(const struct graph *g, const char *where, mill_run *run)
{
	return expect_triangles(g, where, run, MILL_LCC_DIRECTED);
}

/* Checks that a store without in-edges is refused. */
static void test_out_only(void **state)
{
	struct mill_plan plan;
	mill_store *store;
	struct graph g;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	g.out_only = true;
	store = graph_store(&g);
	run = run_open(store, &configs[0], checked, "bfs", NULL);
	REFUSED(MILL_EUSAGE, mill_kcore(run), "kcore");
	assert_non_null(strstr(mill_error(), "in-edges"));
	REFUSED(MILL_EUSAGE, mill_triangles(run, NULL), "triangles");
	REFUSED(MILL_EUSAGE, mill_cdlp(run, NULL), "cdlp");
	REFUSED(MILL_EUSAGE, mill_run_plan(run, "kcore", NULL, &plan), "plan");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Checks that a budget one byte below the plan is refused and that the plan suffices. */
static void test_budgets(void **state)
{
	static const char *const graphs[] = { "hubs", "hubs, undirected", "star, undirected",
					      "parallel edges" };
	static const struct {
		const char *algorithm;
		const void *how;
		u64 (*expect)(const struct graph *g, const char *where, mill_run *run);
	} calls[] = {
		{ "kcore", NULL, expect_kcore },
		{ "triangles", &directed, expect_lcc },
		{ "cdlp", NULL, expect_labels },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(graphs[i])))
			continue;
		store = graph_store(&g);
		for (size_t a = 0; a < ARRAY_LEN(calls); a++)
			for (u32 frames = 0; frames < 1000; frames += 400) {
				const char *algorithm = calls[a].algorithm;
				struct mill_options o = {
					.check = true,
					.threads = 2,
					.memory = GIB,
				};
				struct mill_report report;
				struct mill_plan plan;
				mill_run *run;

				OK(mill_run_new(&run, store, &o));
				OK(mill_run_plan(run, algorithm, calls[a].how, &plan));
				assert_true(plan.needed >= plan.state + 64 * MIB);
				mill_run_free(run);
				o.memory = plan.needed - 1;
				OK(mill_run_new(&run, store, &o));
				run->hook.only_frames = frames;
				REFUSED(MILL_ENOMEM,
					mill_run_algorithm(run, algorithm, calls[a].how),
					algorithm);
				mill_run_free(run);
				o.memory = plan.needed;
				OK(mill_run_new(&run, store, &o));
				run->hook.only_frames = frames;
				calls[a].expect(&g, "at its budget", run);
				mill_run_report(run, &report);
				assert_true(report.memory_peak <= plan.needed);
				assert_true(report.resident == !frames);
				mill_run_free(run);
			}
		graph_store_drop(store);
		graph_release(&g);
	}
}

/*
 * Checks that labels on a device are the same at any budget: with lists cut between pages and
 * long lists in a page, with pages in slots and with all pages side by side.
 */
static void test_cdlp_device_budgets(void **state)
{
	static const char *const graphs[] = { "hubs", "hubs, undirected", "star, undirected",
					      "random, dense", "parallel edges" };

	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++) {
		struct mill_options o = {
			.check = true,
			.threads = 2,
			.memory = GIB,
			.device = "opencl",
		};
		struct mill_report report;
		struct mill_plan plan;
		struct mill_info info;
		mill_store *store;
		struct graph g;
		mill_run *run;
		u64 hash;

		if (!shape_make(&g, shape_named(graphs[i])))
			continue;
		store = graph_store(&g);
		mill_store_info(store, &info);
		run = run_open(store, config_named("2 threads"), checked, "cdlp", NULL);
		hash = expect_cdlp(&g, "2 threads", run, 4);
		mill_run_free(run);
		OK(mill_run_new(&run, store, &o));
		OK(mill_run_plan(run, "cdlp", NULL, &plan));
		assert_true(!plan.fits && plan.device_needed > plan.state);
		mill_run_free(run);
		o.device_memory = plan.device_needed - 1;
		OK(mill_run_new(&run, store, &o));
		REFUSED(MILL_ENOMEM, mill_cdlp(run, NULL), graphs[i]);
		mill_run_free(run);
		for (u32 more = 0; more < 600; more = 3 * more + 1) {
			o.device_memory = plan.device_needed + more * (u64)info.page_size;
			o.memory = plan.needed;
			OK(mill_run_new(&run, store, &o));
			assert_true(expect_cdlp(&g, "at its device budget", run, 4) == hash);
			mill_run_report(run, &report);
			assert_true(report.device_peak <= o.device_memory);
			assert_true(report.memory_peak <= plan.needed);
			assert_true(expect_cdlp(&g, "again", run, 4) == hash);
			mill_run_report(run, &report);
			if (more > 300)		/* all pages stay from the first call */
				assert_int_equal(run->ledger.total.pages_to_device, 0);
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

static u64 get_value(const struct vec *vec, u32 v)
{
	return vec->size == 8 ? ((u64 *)vec->buffer.host)[v] : ((u32 *)vec->buffer.host)[v];
}

static void put_value(struct vec *vec, u32 v, u64 value)
{
	if (vec->size == 8)
		((u64 *)vec->buffer.host)[v] = value;
	else
		((u32 *)vec->buffer.host)[v] = (u32)value;
}

/* Checks that a certificate finds any single value that is off by one. */
static void test_certificates(void **state)
{
	static const char *const graphs[] = { "components, undirected", "random, tiny", "grid",
					      "self-loops" };
	static const struct {
		const char *algorithm;
		const void *how;
		bool vertices;	/* values are vertices */
	} calls[] = {
		{ "kcore", NULL, false },
		{ "triangles", &undirected, false },
		{ "triangles", &directed, false },
		{ "cdlp", NULL, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++)
		for (size_t a = 0; a < ARRAY_LEN(calls); a++) {
			struct graph g;
			mill_store *store;
			struct vec *vec;
			mill_run *run;
			u32 n;

			if (!shape_make(&g, shape_named(graphs[i])))
				continue;
			store = graph_store(&g);
			run = run_open(store, config_named("2 threads"), checked, "kcore", NULL);
			OK(mill_run_algorithm(run, calls[a].algorithm, calls[a].how));
			OK(mill_run_check(run));
			vec = run->result.column[0].vec;
			n = (u32)store->st->n_linked;	/* the others have no stored value */
			for (u32 v = 0; v < n && v < 1000; v += 1 + v / 50)
				for (int up = 0; up < 2; up++) {
					u64 was = get_value(vec, v);

					if ((!up && !was) ||
					    (up && calls[a].vertices && was + 1 == n))
						continue;
					put_value(vec, v, up ? was + 1 : was - 1);
					REFUSED(MILL_ECHECK, mill_run_check(run), graphs[i]);
					put_value(vec, v, was);
				}
			OK(mill_run_check(run));
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Lists over many pages: the counts of all pages of a list must be added before it is settled. */
static void test_split_lists(void **state)
{
	static const char *const graphs[] = { "hubs", "hubs, undirected" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(graphs[i])))
			continue;
		store = graph_store(&g);
		for (size_t j = 0; j < n_configs; j++) {
			mill_run *run;

			if (!configs[j].frames || !config_usable(&configs[j]))
				continue;
			run = run_open(store, &configs[j], checked, "kcore", NULL);
			expect_kcore(&g, configs[j].name, run);
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_split_lists),
	cmocka_unit_test(test_out_only),
	cmocka_unit_test(test_budgets),
	cmocka_unit_test(test_cdlp_device_budgets),
	cmocka_unit_test(test_certificates),
};

SUITE(views, tests, .setup = scratch_make, .teardown = scratch_remove);
