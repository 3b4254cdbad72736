/* SPDX-License-Identifier: Apache-2.0 */
/* Shortest paths with unusual weights, compared with a queue that corrects labels. */
#include "expect.h"

static const struct mill_options with_parents = { .parents = true };

/* Compares Gunrock's sample, with its weights, with its known distances. */
static void test_known_distances(void **state)
{
	static const f64 weight[] = { 39, 6, 41, 51, 63, 17, 10, 44, 41, 13, 58, 43, 50, 59, 35 };
	static const u64 want[] = { 0, 39, 6, 16, 50, 29, 64 };
	struct graph g;
	mill_store *store;
	mill_run *run;
	u64 got[7];

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	for (size_t i = 0; i < ARRAY_LEN(weight); i++)
		g.arc[i].weight = weight[i];
	g.weight = MILL_WEIGHT_U32;
	graph_index(&g);
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"), with_parents, "sssp", NULL);
	OK(mill_sssp(run, &(struct mill_sssp){ .source = "0" }));
	OK(mill_run_values(run, "distance", false, got, NULL));
	assert_memory_equal(got, want, sizeof(want));
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Checks that the distances are the same for every bucket width. */
static void test_delta(void **state)
{
	static const f64 deltas[] = { 0,    1e-300, 1e-9,   0.5,  1,	 3,
				      1000, 1e9,    0x1p63, 1e30, 1e300, __builtin_inf() };
	static const struct {
		enum mill_weight type;
		enum weighing how;
	} kinds[] = {
		{ MILL_WEIGHT_U32, WEIGH_SMALL },
		{ MILL_WEIGHT_F32, WEIGH_SMALL },
		{ MILL_WEIGHT_F64, WEIGH_MIXED },
	};

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(kinds); t++) {
		struct graph g;
		mill_store *store;
		mill_run *run;
		u64 hash;

		assert_true(shape_make(&g, shape_named("random, tiny")));
		graph_random(&g, 150, 700, 5);
		graph_weigh(&g, kinds[t].type, kinds[t].how, 9);
		store = graph_store(&g);
		run = run_open(store, config_named("2 threads"), with_parents, "sssp", NULL);
		hash = expect_sssp(&g, "delta", run, 0, 0, false);
		for (size_t i = 0; i < ARRAY_LEN(deltas); i++) {
			char name[64];

			snprintf(name, sizeof(name), "%s, delta %g", weight_name(kinds[t].type),
				 deltas[i]);
			if (expect_sssp(&g, name, run, 0, deltas[i], false) != hash)
				fail_msg("%s: another hash", name);
		}
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Checks that a store without weights allows unit weights only. */
static void test_no_weights(void **state)
{
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("grid")));
	store = graph_store(&g);
	run = run_open(store, config_named("2 threads"), with_parents, "sssp", NULL);
	expect_sssp(&g, "unit", run, g.n / 3, 0, true);
	REFUSED(MILL_EUSAGE, mill_sssp(run, NULL), "no weights");
	OK(mill_run_check(run));	/* the result before the refusal */
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Checks sums above 32 bits: a path with weights of 2^32 - 1. */
static void test_long_path(void **state)
{
	static const char *const names[] = { "1 thread", "2 threads, 1 frame", "opencl" };
	struct graph g;
	mill_store *store;
	u64 *got;

	(void)state;
	if (!shape_make(&g, shape_named("path")))
		assert_true(shape_make(&g, shape_named("path against the ids")));
	g.weight = MILL_WEIGHT_U32;
	for (u64 i = 0; i < g.n_arcs; i++)
		g.arc[i].weight = UINT32_MAX;
	graph_index(&g);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct config *c = config_named(names[i]);
		mill_run *run;

		if (!config_usable(c))
			continue;
		run = run_open(store, c, with_parents, "sssp", NULL);
		expect_sssp(&g, c->name, run, g.arc[0].from, 0, false);
		got = calloc(g.n, sizeof(*got));
		OK(mill_run_values(run, "distance", false, got, NULL));
		if (g.arc[0].from == 0)
			assert_int_equal(got[g.n - 1], (u64)UINT32_MAX * (g.n - 1));
		free(got);
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static void test_negative(void **state)
{
	static const struct {
		enum mill_weight type;
		f64 weight;
		bool refused;
	} cases[] = {
		{ MILL_WEIGHT_I32, -1, true },
		{ MILL_WEIGHT_I32, -2147483648.0, true },
		{ MILL_WEIGHT_F32, -0.5, true },
		{ MILL_WEIGHT_F64, -1e-300, true },
		{ MILL_WEIGHT_F64, -__builtin_inf(), true },
		{ MILL_WEIGHT_F64, -0.0, false },
		{ MILL_WEIGHT_I32, 0, false },
		{ MILL_WEIGHT_F32, __builtin_inf(), false },	/* reaches no vertex */
		{ MILL_WEIGHT_F64, 1.7e308, false },	/* the sum of two is infinite */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct graph g;
		mill_store *store;
		mill_run *run;
		char name[64];

		snprintf(name, sizeof(name), "%s of %g", weight_name(cases[i].type),
			 cases[i].weight);
		assert_true(shape_make(&g, shape_named("Gunrock's sample")));
		graph_weigh(&g, cases[i].type, WEIGH_SMALL, 1);
		for (u64 a = 3; a < g.n_arcs; a += 4)
			g.arc[a].weight = cases[i].weight;
		graph_index(&g);
		store = graph_store(&g);
		run = run_open(store, config_named("1 thread"), with_parents, "sssp", NULL);
		if (cases[i].refused)
			REFUSED(MILL_EUSAGE, mill_sssp(run, &(struct mill_sssp){ .source = "0" }),
				name);
		else
			for (u32 v = 0; v < g.n; v++)
				expect_sssp(&g, name, run, v, 0, false);
		expect_sssp(&g, name, run, 1, 0, true);	/* unit weights ignore the sign */
		expect_bfs(&g, name, run, 1);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Checks that the parents form a tree if cycles have weight 0. */
static void test_zero_cycles(void **state)
{
	static const enum mill_weight types[] = { MILL_WEIGHT_U32, MILL_WEIGHT_I32,
						  MILL_WEIGHT_F32, MILL_WEIGHT_F64 };

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(types); t++)
		for (size_t c = 0; c < n_configs; c++) {
			struct graph g;
			mill_store *store;
			mill_run *run;
			u64 *parent;

			if (!config_usable(&configs[c]) || (configs[c].device && t % 2))
				continue;
			graph_init(&g, "cycles of zeros", 0);
			graph_random(&g, 120, 600, 77 + t);
			g.weight = types[t];
			/* One half of the vertices is reached over heavy edges only. */
			for (u64 a = 0; a < g.n_arcs; a++) {
				bool crosses = (g.arc[a].from < 60) != (g.arc[a].to < 60);

				g.arc[a].weight = crosses ? 5 : 0;
			}
			graph_index(&g);
			store = graph_store(&g);
			run = run_open(store, &configs[c], with_parents, "sssp", NULL);
			expect_sssp(&g, configs[c].name, run, 60, 0, false);
			parent = calloc(g.n, sizeof(*parent));
			OK(mill_run_values(run, "parent", false, parent, NULL));
			for (u32 v = 0; v < g.n; v++) {
				u64 at = v, steps = 0;

				while (parent[v] != UINT64_MAX && at != 60 && steps++ < g.n)
					at = parent[at];
				if (parent[v] != UINT64_MAX && at != 60)
					fail_msg("%s, %s: the parents of %u form a cycle",
						 weight_name(types[t]), configs[c].name, v);
			}
			free(parent);
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_known_distances),
	cmocka_unit_test(test_delta),
	cmocka_unit_test(test_no_weights),
	cmocka_unit_test(test_long_path),
	cmocka_unit_test(test_negative),
	cmocka_unit_test(test_zero_cycles),
};

SUITE(sssp, tests, .setup = scratch_make, .teardown = scratch_remove);
