/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as a GPU runs them, and odd sizes of work-groups: they give what the CPU gives. test_matrix.c has the other choices. */
#include "task.h"

/* As a GPU takes things, where neighbours of a work-item take neighbours of what it takes; no CPU device does by itself. */
static void test_strided(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 5; i++) {
		struct mill_options o = { .threads = 2, .memory = GIB, .device = "opencl", .device_memory = 512 * MIB, .seed = 1,
					  .check = true, .mapping = (enum mill_mapping)(i % 5), .filter = (enum mill_filter)(i % 3) };
		struct answer want[N_TASKS];
		struct graph g;
		mill_store *store;
		mill_run *run;

		assert_true(shape_make(&g, shape_named(i % 2 ? "hubs, undirected" : "random, dense")));
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, i);
		store = graph_store(&g);
		answers_begin(want, store);
		OK(mill_run_new(&run, store, &o));
		run->device->chunked = false;
		for (u32 t = 0; t < N_TASKS; t++) {
			if (!tasks[t].sizes && i % 3 != t % 3)
				continue;
			task_room(run, &tasks[t], (i + t) % 2 ? 0 : 400 * MIB);
			expect_answer("strided", run, &tasks[t], &want[t]);
		}
		mill_run_free(run);
		answers_end(want);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Sizes that teams of half a work-group, or of 32, do not fill evenly. */
static void test_odd_groups(void **state)
{
	static const u32 sizes[] = { 5, 72 };
	struct graph g;
	mill_store *store;
	struct answer want[N_TASKS];
	mill_run *run;

	(void)state;
	if (!have_opencl() || !shape_make(&g, shape_named("random, sparse, undirected")))
		skip();
	store = graph_store(&g);
	answers_begin(want, store);
	for (u32 i = 0; i < 2 * ARRAY_LEN(sizes); i++) {
		OK(mill_run_new(&run, store, &(struct mill_options){ .memory = GIB, .device = "opencl", .device_memory = 64 * MIB, .seed = 1, .check = true,
								     .group_size = sizes[i / 2], .mapping = MILL_MAPPING_GROUP,
								     .filter = MILL_FILTER_INEXACT,
								     .direction = MILL_DIRECTION_PUSH }));
		expect_answer("odd groups", run, &tasks[2 * (i % 2)], &want[2 * (i % 2)]);
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
