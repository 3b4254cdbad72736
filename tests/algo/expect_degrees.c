/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

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
			fail_msg("%s: %llu vertices have degree %llu, which is wrong", g->name,
				 (unsigned long long)report.distribution[i].count,
				 (unsigned long long)report.distribution[i].value);
	}
	assert_int_equal(at, g->n);
	if (!g->n)
		return;
	assert_int_equal(fact_of(run, "min")->u64, degree[0]);
	assert_int_equal(fact_of(run, "max")->u64, degree[g->n - 1]);
	assert_true(fact_of(run, "median")->f64 ==
		    (degree[(g->n - 1) / 2] + (f64)degree[g->n / 2]) / 2);
	assert_true(fact_of(run, "mean")->f64 == (f64)g->n_stored / g->n);
}

u64 expect_degrees(const struct graph *g, const char *where, mill_run *run)
{
	u32 *got = calloc(g->n + 1u, sizeof(*got)), *in = calloc(g->n + 1u, sizeof(*in));
	u32 *want = calloc(g->n + 1u, sizeof(*want));
	bool both = !g->undirected && !g->out_only;
	u64 isolated = 0;

	OK(mill_degrees(run));
	OK(mill_run_values(run, "degree", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (got[v] != g->row[v + 1u] - g->row[v])
			fail_msg("%s, %s: vertex %u has degree %u, not %llu", g->name, where, v,
				 got[v], (unsigned long long)(g->row[v + 1u] - g->row[v]));
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
	if (mill_run_check(run))
		fail_msg("%s, %s: the certificate fails: %s", g->name, where, mill_error());
	free(got);
	free(in);
	free(want);
	return hash_of(run);
}
