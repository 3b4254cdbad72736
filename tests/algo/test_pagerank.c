/* SPDX-License-Identifier: Apache-2.0 */
/* PageRank on odd graphs, against the definition in double precision. */
#include "expect.h"

#include <math.h>

/* How far a score may be off, relative to itself, after so many iterations. */
static const struct {
	const char *name;
	enum mill_precision precision;
	f64 relative;
} precisions[] = {
	{ "f32", MILL_F32, 2e-6 },
	{ "f64", MILL_F64, 1e-12 },
	{ "exact", MILL_EXACT, 1e-9 },
};

#define ITERATIONS 30

static void try_precisions(const struct graph *g, mill_store *store, const struct config *c,
			   const char *personalize, const f64 *teleport, f64 damping)
{
	f64 *want = calloc(g->n + 1u, sizeof(*want));
	mill_run *run;

	naive_pagerank(g, damping, ITERATIONS, teleport, want);
	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		struct mill_pagerank how = {
			.precision = precisions[i].precision,
			.iterations = ITERATIONS,
			.tolerance = -1,
			.damping = damping,
			.personalize = personalize,
		};
		struct mill_report report;
		char name[128];

		snprintf(name, sizeof(name), "%s, %s", c->name, precisions[i].name);
		run = run_open(store, c, (struct mill_options){ .check = true }, "pagerank", &how);
		expect_pagerank(g, name, run, &how, want, precisions[i].relative);
		mill_run_report(run, &report);
		if (g->n)
			assert_int_equal(report.iterations, ITERATIONS);
		mill_run_free(run);
	}
	free(want);
}

/* Gunrock's sample, dangling mass uniform. */
static void test_printed(void **state)
{
	static const f64 want[] = { .07938323, .07938323, .13522242, .11769625, .11769625, .17857251, .29204612 };
	struct mill_pagerank how = { .precision = MILL_F64, .tolerance = 1e-13, .iterations = 1000 };
	struct mill_report report;
	struct graph g;
	mill_store *store;
	mill_run *run;
	f64 got[7];

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"), (struct mill_options){ 0 }, "pagerank", &how);
	OK(mill_pagerank(run, &how));
	OK(mill_run_values(run, "score", false, got, NULL));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_true(fabs(got[i] - want[i]) < 1e-8);
	mill_run_report(run, &report);
	assert_true(report.iterations > 20 && report.iterations < 1000);
	assert_true(fact_of(run, "change")->f64 < 1e-13);
	assert_int_equal(report.top[0].id, 6);
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const struct {
	const char *name;
	const char *from;	/* "@" is a file with `text` */
	const char *text;
	u32 n, chosen[4];
} persons[] = {
	{ "one", "3", NULL, 1, { 3 } },
	{ "a vertex without edges", "6", NULL, 1, { 6 } },
	{ "a file", "@", "0\n2\n5\n", 3, { 0, 2, 5 } },
	{ "a file with odds and ends", "@", "# ids\n\n  4  \r\n4\n\t1", 2, { 1, 4 } },
};

static void test_personal(void **state)
{
	static const char *const names[] = { "1 thread", "2 threads, 1 frame", "opencl" };
	struct graph g;
	mill_store *store;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(persons); i++)
		for (size_t j = 0; j < ARRAY_LEN(names); j++) {
			const struct config *c = config_named(names[j]);
			const char *from = persons[i].from;
			f64 teleport[7] = { 0 };
			char at[700];

			if (!config_usable(c))
				continue;
			for (u32 k = 0; k < persons[i].n; k++)
				teleport[persons[i].chosen[k]] = 1 / (f64)persons[i].n;
			if (persons[i].text) {
				snprintf(at, sizeof(at), "@%s", scratch_path("persons"));
				put_text(at + 1, persons[i].text);
				from = at;
			}
			try_precisions(&g, store, c, from, teleport, 0.7);
		}
	graph_store_drop(store);
	graph_release(&g);
}

/* Personalised to one vertex of a larger graph, with original ids far from the numbers. */
static void test_personal_large(void **state)
{
	static const char *const names[] = { "random, sparse", "random, sparse, undirected", "components", "hubs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char id[32];
		struct graph g;
		mill_store *store;
		f64 *teleport;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		teleport = calloc(g.n, sizeof(*teleport));
		teleport[g.n / 3] = 1;
		snprintf(id, sizeof(id), "%llu", (unsigned long long)graph_id(&g, g.n / 3));
		store = graph_store(&g);
		try_precisions(&g, store, config_named("2 threads"), id, teleport, 0.85);
		free(teleport);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *name, *from, *text;
		f64 damping;
		mill_err err;
	} cases[] = {
		{ "an unknown id", "7", NULL, 0, MILL_EUSAGE },
		{ "no number", "x", NULL, 0, MILL_EUSAGE },
		{ "nothing", "", NULL, 0, MILL_EUSAGE },
		{ "an empty file", "@", "", 0, MILL_EUSAGE },
		{ "only comments", "@", "# nothing\n", 0, MILL_EUSAGE },
		{ "a bad line", "@", "1\ntwo\n", 0, MILL_EINPUT },
		{ "an unknown id in a file", "@", "1\n8\n", 0, MILL_EUSAGE },
		{ "no file", "@/does/not/exist", NULL, 0, MILL_EIO },
		{ "a directory", "@/", NULL, 0, MILL_EIO },
		{ "damping 1", NULL, NULL, 1, MILL_EUSAGE },
		{ "damping 2", NULL, NULL, 2, MILL_EUSAGE },
		{ "endless damping", NULL, NULL, INFINITY, MILL_EUSAGE },
	};
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"), (struct mill_options){ 0 }, "pagerank", NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_pagerank how = { .damping = cases[i].damping, .personalize = cases[i].from };
		char at[700];

		if (cases[i].text) {
			snprintf(at, sizeof(at), "@%s", scratch_path("persons"));
			put_text(at + 1, cases[i].text);
			how.personalize = at;
		}
		REFUSED(cases[i].err, mill_pagerank(run, &how), cases[i].name);
		REFUSED(MILL_EUSAGE, mill_run_check(run), cases[i].name);
	}
	OK(mill_pagerank(run, NULL));
	OK(mill_run_check(run));
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* When it stops: at the tolerance, or after the iterations. */
static void test_stopping(void **state)
{
	static const struct {
		const char *name;
		f64 tolerance;
		u32 iterations;
		u64 least, most;
	} cases[] = {
		{ "as many as asked", -1, 7, 7, 7 },
		{ "a hundred", -1, 0, 100, 100 },
		{ "the usual tolerance", 0, 0, 10, 99 },
		{ "any change will do", 10, 0, 1, 1 },
		{ "whichever is first", 1e-15, 5, 5, 5 },
	};
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!shape_make(&g, shape_named("random, sparse")))
		assert_true(shape_make(&g, shape_named("random, tiny")));
	store = graph_store(&g);
	run = run_open(store, config_named("2 threads"), (struct mill_options){ .check = true }, "pagerank", NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_pagerank how = { .tolerance = cases[i].tolerance, .iterations = cases[i].iterations,
					     .precision = MILL_F64 };
		struct mill_report report;

		OK(mill_pagerank(run, &how));
		OK(mill_run_check(run));
		mill_run_report(run, &report);
		if (report.iterations < cases[i].least || report.iterations > cases[i].most)
			fail_msg("%s: %llu iterations", cases[i].name, (unsigned long long)report.iterations);
		assert_int_equal(report.edges_traversed, report.iterations * g.n_stored);
	}
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_printed),
	cmocka_unit_test(test_personal),
	cmocka_unit_test(test_personal_large),
	cmocka_unit_test(test_refusals),
	cmocka_unit_test(test_stopping),
};

SUITE(pagerank, tests, .setup = scratch_make, .teardown = scratch_remove);
