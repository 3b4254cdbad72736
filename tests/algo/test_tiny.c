/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All 65,536 directed graphs on 4 vertices, loops included, side by side in one store: graph
 * k has vertices 4k .. 4k + 3 and the arc i -> j if bit 4i + j of k is set. One more vertex,
 * the source, has an arc to the first vertex of each graph.
 */
#include "component.h"

#define COPIES 65536u

static const char *const names[] = { "1 thread", "2 threads", "2 threads, 2 frames", "opencl" };

static void make_all(struct graph *g, bool with_source)
{
	u32 copies = MILL_VID_BITS < 32 ? 61 : COPIES;

	graph_init(g, "all graphs of 4", 4 * copies + with_source);
	for (u32 k = 0; k < copies; k++) {
		/* Narrow builds have room for few graphs: those are spread over all. */
		u32 graph = k * (COPIES / copies);

		for (u32 bit = 0; bit < 16; bit++)
			if (graph >> bit & 1)
				graph_add(g, 4 * k + bit / 4, 4 * k + bit % 4);
		if (with_source)
			graph_add(g, 4 * copies, 4 * k);
	}
	graph_index(g);
}

static void test_bfs(void **state)
{
	struct graph g;
	mill_store *store;

	(void)state;
	make_all(&g, true);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct config *c = config_named(names[i]);
		mill_run *run;

		if (!config_usable(c))
			continue;
		run = run_open(store, c, (struct mill_options){ .parents = true }, "bfs", NULL);
		expect_bfs(&g, c->name, run, g.n - 1);
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static void test_sssp(void **state)
{
	static const struct {
		enum mill_weight type;
		enum weighing how;
	} kinds[] = {
		{ MILL_WEIGHT_U32, WEIGH_ZEROS },
		{ MILL_WEIGHT_U32, WEIGH_HUGE },
		{ MILL_WEIGHT_F32, WEIGH_SMALL },
	};

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		struct graph g;
		mill_store *store;

		make_all(&g, true);
		graph_weigh(&g, kinds[k].type, kinds[k].how, k);
		store = graph_store(&g);
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			const struct config *c = config_named(names[i]);
			mill_run *run;

			if (!config_usable(c) || (i + k) % 2)
				continue;
			run = run_open(store, c, (struct mill_options){ .parents = true }, "sssp",
				       NULL);
			expect_sssp(&g, c->name, run, g.n - 1, 0, false);
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void test_pagerank(void **state)
{
	static const struct {
		enum mill_precision precision;
		f64 relative;
	} kinds[] = { { MILL_F32, 2e-6 }, { MILL_F64, 1e-12 }, { MILL_EXACT, 1e-9 } };
	struct graph g;
	mill_store *store;
	f64 *want;

	(void)state;
	make_all(&g, false);
	store = graph_store(&g);
	want = calloc(g.n, sizeof(*want));
	naive_pagerank(&g, 0.85, 10, NULL, want);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			struct mill_pagerank how = {
				.precision = kinds[k].precision,
				.tolerance = -1,
				.iterations = 10,
			};
			const struct config *c = config_named(names[i]);
			mill_run *run;

			if (!config_usable(c))
				continue;
			run = run_open(store, c, (struct mill_options){ .check = true }, "pagerank",
				       &how);
			expect_pagerank(&g, c->name, run, &how, want, kinds[k].relative);
			mill_run_free(run);
		}
	free(want);
	graph_store_drop(store);
	graph_release(&g);
}

static void test_components(void **state)
{
	struct graph g;
	mill_store *store;

	(void)state;
	make_all(&g, false);
	store = graph_store(&g);
	for (size_t k = 0; k < n_finders; k++) {
		u32 *part = parts_of(&g, &finders[k]);

		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			const struct config *c = config_named(names[i]);
			mill_run *run;

			if (!config_usable(c))
				continue;
			run = run_open(store, c, (struct mill_options){ .check = true },
				       finders[k].algorithm, &finders[k].how);
			expect_components(&g, c->name, run, &finders[k], part);
			mill_run_free(run);
		}
		free(part);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static void test_views(void **state)
{
	static const enum mill_lcc kinds[] = { MILL_LCC_DIRECTED, MILL_LCC_UNDIRECTED };
	struct graph g;
	mill_store *store;

	(void)state;
	make_all(&g, false);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct config *c = config_named(names[i]);
		mill_run *run;

		if (!config_usable(c))
			continue;
		run = run_open(store, c, (struct mill_options){ .check = true }, "kcore", NULL);
		expect_kcore(&g, c->name, run);
		expect_triangles(&g, c->name, run, kinds[i % ARRAY_LEN(kinds)]);
		expect_cdlp(&g, c->name, run, 4);
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bfs),
	cmocka_unit_test(test_sssp),
	cmocka_unit_test(test_pagerank),
	cmocka_unit_test(test_components),
	cmocka_unit_test(test_views),
};

SUITE(tiny, tests, .setup = scratch_make, .teardown = scratch_remove);
