/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with a GPU's order of work, and odd work-group sizes, give the same results as the
 * CPU. test_matrix.c has the other options.
 */
#include "task.h"

/*
 * Strided order, as on a GPU: neighbouring work-items take neighbouring elements. A CPU
 * device takes chunks by default. All tasks with `sizes` run in each case; the others take
 * turns.
 */
static void test_strided(void **state)
{
	static const struct {
		const char *shape;
		enum mill_mapping mapping;
		enum mill_filter filter;
	} cases[] = {
		{ "random, dense", MILL_MAPPING_AUTO, MILL_FILTER_FUSED },
		{ "hubs, undirected", MILL_MAPPING_THREAD, MILL_FILTER_EXACT },
		{ "random, dense", MILL_MAPPING_GROUP, MILL_FILTER_INEXACT },
		{ "hubs, undirected", MILL_MAPPING_INPUT, MILL_FILTER_FUSED },
		{ "random, dense", MILL_MAPPING_OUTPUT, MILL_FILTER_EXACT },
	};
	static const u64 rooms[] = { 400 * MIB, 0 };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_options o = {
			.threads = 2,
			.memory = GIB,
			.device = "opencl",
			.device_memory = 512 * MIB,
			.seed = 1,
			.check = true,
			.mapping = cases[i].mapping,
			.filter = cases[i].filter,
		};
		struct answer want[N_TASKS];
		struct graph g;
		mill_store *store;
		mill_run *run;

		assert_true(shape_make(&g, shape_named(cases[i].shape)));
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, i);
		store = graph_store(&g);
		answers_begin(want, store);
		OK(mill_run_new(&run, store, &o));
		run->device->chunked = false;
		for (u32 t = 0; t < N_TASKS; t++) {
			if (!tasks[t].sizes && i % 3 != t % 3)
				continue;
			task_room(run, &tasks[t], rooms[(i + t) % ARRAY_LEN(rooms)]);
			expect_answer("strided", run, &tasks[t], &want[t]);
		}
		mill_run_free(run);
		answers_end(want);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Work-group sizes that are no multiples of a team: half a work-group, or 32 work-items. */
static void test_odd_groups(void **state)
{
	static const u32 sizes[] = { 5, 72 }, tried[] = { 0, 2 };	/* tasks: bfs, kcore */
	struct graph g;
	mill_store *store;
	struct answer want[N_TASKS];
	mill_run *run;

	(void)state;
	if (!have_opencl() || !shape_make(&g, shape_named("random, sparse, undirected")))
		skip();
	store = graph_store(&g);
	answers_begin(want, store);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t k = 0; k < ARRAY_LEN(tried); k++) {
			struct mill_options o = {
				.memory = GIB,
				.device = "opencl",
				.device_memory = 64 * MIB,
				.seed = 1,
				.check = true,
				.group_size = sizes[i],
				.mapping = MILL_MAPPING_GROUP,
				.filter = MILL_FILTER_INEXACT,
				.direction = MILL_DIRECTION_PUSH,
			};

			OK(mill_run_new(&run, store, &o));
			expect_answer("odd groups", run, &tasks[tried[k]], &want[tried[k]]);
			mill_run_free(run);
		}
	answers_end(want);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_strided),
	cmocka_unit_test(test_odd_groups),
};

SUITE(device, tests, .setup = scratch_make, .teardown = scratch_remove);
