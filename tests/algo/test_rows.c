/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of algorithms: what a row says is consistent and holds for runs, and NULL options are
 * the same as all-zero ones.
 */
#include "algo/algo.h"
#include "base/option.h"
#include "expect.h"

#include <math.h>

/* ---- Rows ---- */

static bool needs_value(const struct mill_option *o)
{
	return o->kind != MILL_OPTION_FLAG && o->kind != MILL_OPTION_SWITCH;
}

static bool is_text(const char *s) { return s && *s && s[strlen(s) - 1] == '\n'; }

static void check_option(const struct mill_algorithm *a, const struct mill_option *o)
{
	if (!o->help || !*o->help || o->at + option_bytes(o) > a->options_size)
		fail_msg("%s --%s: no help, or a field outside of the struct", a->name, o->name);
	if (needs_value(o) != (o->argument && o->argument[0] != '['))
		fail_msg("%s --%s: the kind does not match the argument %s", a->name, o->name,
			 o->argument ? o->argument : "(none)");
	if (o->kind == MILL_OPTION_CHOICE && (!o->word || !o->word[0]))
		fail_msg("%s --%s: a choice without words", a->name, o->name);
	if (o->kind == MILL_OPTION_SWITCH && o->first <= 0)
		fail_msg("%s --%s: sets 0, which is the default", a->name, o->name);
	if (o->usual_text && o->kind != MILL_OPTION_TEXT)
		fail_msg("%s --%s: a default text of an option that is no text", a->name, o->name);
	/* plan and lab find their operands before they know the algorithm. */
	for (const struct mill_algorithm *b = mill_algorithms(); b->name; b++)
		for (const struct mill_option *p = b->option; p && p->name; p++)
			if (!strcmp(o->name, p->name) &&
			    (a == b ? o != p : needs_value(o) != needs_value(p)))
				fail_msg("--%s differs between %s and %s", o->name, a->name,
					 b->name);
}

static const struct mill_option *option_named(const struct mill_algorithm *a, const char *name)
{
	const struct mill_option *o = a->option;

	while (o && o->name && strcmp(o->name, name))
		o++;
	return o && o->name ? o : NULL;
}

static void test_rows(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct mill_algorithm *a = mill_algorithms(); a->name; a++, n++) {
		for (const struct mill_algorithm *b = mill_algorithms(); b < a; b++)
			assert_string_not_equal(a->name, b->name);
		assert_ptr_equal(mill_algorithm(a->name), a);
		assert_true(a->summary && *a->summary && is_text(a->help) && is_text(a->examples));
		assert_true(a->column && a->column[0]);
		assert_true(!a->option == !a->options_size);
		for (const struct mill_option *o = a->option; o && o->name; o++)
			check_option(a, o);
		assert_true(!a->steps_option == !a->steps_word);
		if (a->steps_option) {
			const struct mill_option *o = option_named(a, a->steps_option);
			size_t i = 0;

			assert_true(o && o->kind == MILL_OPTION_CHOICE);
			while (o->word[i] && strcmp(o->word[i], a->steps_word))
				i++;
			assert_non_null(o->word[i]);
		}
	}
	assert_true(n >= 10);
	assert_null(mill_algorithm("BFS"));
	assert_null(mill_algorithm(""));
}

/* ---- Runs ---- */

static bool is_among(const char *const *name, const char *wanted)
{
	while (name && *name && strcmp(*name, wanted))
		name++;
	return name && *name;
}

/* Checks that the row names all columns and facts of the result. */
static void check_result(const struct mill_algorithm *a, const mill_run *run)
{
	struct mill_column column[RUN_COLUMNS];
	size_t n = mill_run_columns(run, column, RUN_COLUMNS);
	struct mill_report r;

	mill_run_report(run, &r);
	assert_string_equal(r.algorithm, a->name);
	for (size_t i = 0; i < n; i++)
		if (!is_among(a->column, column[i].name))
			fail_msg("%s: no column %s in the row", a->name, column[i].name);
	for (size_t i = 0; i < r.n_facts; i++)
		if (!is_among(a->fact, r.fact[i].name))
			fail_msg("%s: no fact %s in the row", a->name, r.fact[i].name);
	assert_true(!r.n_top || is_among(a->fact, "top"));
	assert_true(!r.n_distribution || is_among(a->fact, "distribution"));
}

/* Makes a small store: rmat if directed, else kron. */
static mill_store *make_store(bool directed)
{
	struct mill_generate how = {
		.target = { .path = scratch_path(directed ? "arcs" : "edges"),
			    .page_size = 64 * KIB },
		.kind = directed ? "rmat" : "kron",
		.directed = directed,
		.scale = MILL_VID_BITS < 32 ? 5 : 9,
		.weight = MILL_WEIGHT_U32,
		.seed = 2,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

/* Checks that NULL options and all-zero options give the same results and plans. */
static void test_defaults(void **state)
{
	static const u64 zero[64];

	(void)state;
	for (int directed = 0; directed < 2; directed++) {
		mill_store *store = make_store(directed);
		struct mill_plan plan, again;
		struct mill_options o = { .threads = 1, .parents = true, .check = true };
		mill_run *run;

		OK(mill_run_new(&run, store, &o));
		for (const struct mill_algorithm *a = mill_algorithms(); a->name; a++) {
			struct mill_report none, all_zero;
			u64 hash;

			assert_true(a->options_size <= sizeof(zero));
			OK(mill_run_algorithm(run, a->name, NULL));
			check_result(a, run);
			OK(mill_run_check(run));
			mill_run_report(run, &none);
			hash = none.hash;
			OK(mill_run_algorithm(run, a->name, zero));
			check_result(a, run);
			mill_run_report(run, &all_zero);
			if (hash != all_zero.hash || none.iterations != all_zero.iterations ||
			    none.n_facts != all_zero.n_facts)
				fail_msg("%s: NULL options and all-zero options differ", a->name);
			OK(mill_run_plan(run, a->name, NULL, &plan));
			OK(mill_run_plan(run, a->name, zero, &again));
			assert_int_equal(plan.state, again.state);
			assert_int_equal(plan.predicted.iterations, again.predicted.iterations);
		}
		mill_run_free(run);
		graph_store_drop(store);
	}
}

/* ---- Refusals ---- */

static void test_refused(void **state)
{
	mill_store *store = make_store(false);
	mill_run *run;

	(void)state;
	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 1 }));
	REFUSED(MILL_EUSAGE, mill_cc(run, &(struct mill_cc){ (enum mill_cc_method)4 }), "method");
	assert_string_equal(mill_error(), "--method: there is no choice 4");
	REFUSED(MILL_EUSAGE, mill_cc(run, &(struct mill_cc){ (enum mill_cc_method)-1 }), "method");
	REFUSED(MILL_EUSAGE, mill_triangles(run, &(struct mill_triangles){ (enum mill_lcc)3 }),
		"lcc");
	REFUSED(MILL_EUSAGE, mill_pagerank(run, &(struct mill_pagerank){ .damping = 1 }),
		"damping");
	assert_string_equal(mill_error(), "--damping 1: must be above 0 and below 1");
	REFUSED(MILL_EUSAGE, mill_pagerank(run, &(struct mill_pagerank){ .damping = (double)NAN }),
		"damping");
	REFUSED(MILL_EUSAGE,
		mill_pagerank(run, &(struct mill_pagerank){ .tolerance = (double)NAN }),
		"tolerance");
	REFUSED(MILL_EUSAGE,
		mill_pagerank(run, &(struct mill_pagerank){ .precision = (enum mill_precision)3 }),
		"precision");
	REFUSED(MILL_EUSAGE, mill_sssp(run, &(struct mill_sssp){ .delta = -1 }), "delta");
	REFUSED(MILL_EUSAGE, mill_sssp(run, &(struct mill_sssp){ .delta = (double)NAN }), "delta");
	OK(mill_sssp(run, &(struct mill_sssp){ .delta = (double)INFINITY, .unit_weights = true }));
	/* Other precisions with valid options. */
	OK(mill_pagerank(run, &(struct mill_pagerank){ .precision = MILL_EXACT,
						       .tolerance = -1,
						       .iterations = 2 }));
	OK(mill_pagerank(run, &(struct mill_pagerank){ .precision = MILL_F64, .iterations = 2 }));
	mill_run_free(run);
	graph_store_drop(store);
}

/* ---- Methods ---- */

/* Checks that graphie and gts own the methods auto and labels, and that auto owns none. */
static void test_methods(void **state)
{
	static const char *const policies[] = { "auto", "graphie", "gts" };
	mill_store *store;
	u64 hash = 0;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_store(true);
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		for (int method = MILL_CC_AUTO; method <= MILL_CC_LABELS; method++) {
			bool owns = i && (method == MILL_CC_AUTO || method == MILL_CC_LABELS);
			struct mill_options o = {
				.device = "opencl",
				.policy = policies[i],
				.threads = 1,
			};
			struct mill_report r;
			mill_run *run;

			OK(mill_run_new(&run, store, &o));
			OK(mill_cc(run, &(struct mill_cc){ (enum mill_cc_method)method }));
			mill_run_report(run, &r);
			if (r.policy_owns != owns)
				fail_msg("%s, method %d: the policy %s the run", policies[i],
					 method, owns ? "does not own" : "owns");
			hash = hash ? hash : r.hash;
			assert_true(r.hash == hash);
			mill_run_free(run);
		}
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rows),
	cmocka_unit_test(test_defaults),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_methods),
};

SUITE(rows, tests, .setup = scratch_make, .teardown = scratch_remove);
