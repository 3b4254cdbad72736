/* SPDX-License-Identifier: Apache-2.0 */
/* Degrees and their distribution against counts of the arcs. */
#include "expect.h"

static const struct mill_options checked = { .check = true };

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static void expect_distribution(const struct graph *g, const mill_run *run, u32 *degree)
{
	struct mill_report report;
	u64 at = 0;

	mill_run_report(run, &report);
	qsort(degree, g->n, sizeof(*degree), by_value);
	for (size_t i = 0; i < report.n_distribution; i++) {
		u64 from = at;

		while (at < g->n && degree[at] == report.distribution[i].value)
			at++;
		if (at == from || at - from != report.distribution[i].count)
			fail_msg("%s: %llu vertices of degree %llu", g->name,
				 (unsigned long long)report.distribution[i].count,
				 (unsigned long long)report.distribution[i].value);
	}
	assert_int_equal(at, g->n);
	if (!g->n)
		return;
	assert_int_equal(fact_of(run, "min")->u64, degree[0]);
	assert_int_equal(fact_of(run, "max")->u64, degree[g->n - 1]);
	assert_true(fact_of(run, "median")->f64 == (degree[(g->n - 1) / 2] + (f64)degree[g->n / 2]) / 2);
	assert_true(fact_of(run, "mean")->f64 == (f64)g->n_stored / g->n);
}

static void expect_degrees(const struct graph *g, const char *where, mill_run *run)
{
	u32 *got = calloc(g->n + 1u, sizeof(*got)), *in = calloc(g->n + 1u, sizeof(*in));
	u32 *want = calloc(g->n + 1u, sizeof(*want));
	bool both = !g->undirected && !g->out_only;
	u64 isolated = 0;

	OK(mill_degrees(run));
	OK(mill_run_values(run, "degree", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (got[v] != g->row[v + 1u] - g->row[v])
			fail_msg("%s, %s: vertex %u has degree %u", g->name, where, v, got[v]);
	assert_int_equal(mill_run_columns(run, NULL, 0), both ? 2 : 1);
	for (u64 i = 0; i < g->n_stored; i++)
		want[g->stored[i].to]++;
	if (both) {
		OK(mill_run_values(run, "in_degree", false, in, NULL));
		assert_memory_equal(in, want, g->n * sizeof(*in));
	}
	for (u32 v = 0; v < g->n; v++)
		isolated += !got[v] && !want[v];
	if (!g->out_only)
		assert_int_equal(fact_of(run, "isolated")->u64, isolated);
	expect_distribution(g, run, got);
	free(got);
	free(in);
	free(want);
}

static void test_shapes(void **state)
{
	static const char *const names[] = { "2 threads", "2 threads, 2 frames", "opencl", "1 thread" };

	(void)state;
	for (size_t i = 0; i < n_shapes; i++)
		for (int out_only = 0; out_only < 2; out_only++) {
			const struct config *c = config_named(names[i % ARRAY_LEN(names)]);
			struct graph g;
			mill_store *store;
			mill_run *run;

			if (!config_usable(c) || (out_only && shapes[i].undirected) || !shape_make(&g, &shapes[i]))
				continue;
			g.out_only = out_only;
			store = graph_store(&g);
			run = run_open(store, c, checked, "degrees", NULL);
			expect_degrees(&g, c->name, run);
			OK(mill_run_check(run));
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Degrees too large for the table of small ones: several, some of them equal. */
static void test_large(void **state)
{
	static const u32 length[] = { 70000, 65536, 65535, 70000, 90000, 1 };
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	graph_init(&g, "large degrees", 100000);
	for (u32 hub = 0; hub < ARRAY_LEN(length); hub++)
		for (u32 i = 0; i < length[hub]; i++)
			graph_add(&g, hub, i);
	if (graph_fits(&g)) {
		graph_index(&g);
		store = graph_store(&g);
		run = run_open(store, config_named("2 threads"), checked, "degrees", NULL);
		expect_degrees(&g, "2 threads", run);
		OK(mill_run_check(run));
		mill_run_free(run);
		graph_store_drop(store);
	}
	graph_release(&g);
}

static void test_certificate(void **state)
{
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("random, tiny")));
	store = graph_store(&g);
	run = run_open(store, config_named("2 threads"), checked, "degrees", NULL);
	OK(mill_degrees(run));
	for (u32 column = 0; column < 2; column++)
		for (u32 v = 0; v < run->store->n_linked; v++)
			for (u32 change = 0; change < 2; change++) {
				u32 *at = (u32 *)run->result.column[column].vec->buffer.host + v, old = *at;

				*at = change ? old + 1 : old - 1;
				REFUSED(MILL_ECHECK, mill_run_check(run), "a degree is one off");
				*at = old;
			}
	((struct mill_bin *)run->result.distribution->buffer.host)[0].count++;
	REFUSED(MILL_ECHECK, mill_run_check(run), "the distribution counts too many");
	((struct mill_bin *)run->result.distribution->buffer.host)[0].count--;
	OK(mill_run_check(run));
	mill_run_free(run);

	/* Without the edges there is nothing to check against: said, not crashed. */
	run = run_open(store, config_named("2 threads"), (struct mill_options){ 0 }, "degrees", NULL);
	OK(mill_degrees(run));
	REFUSED(MILL_EUSAGE, mill_run_check(run), "without edges");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_large),
	cmocka_unit_test(test_certificate),
};

SUITE(degrees, tests, .setup = scratch_make, .teardown = scratch_remove);
