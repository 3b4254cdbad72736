/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices give what the CPU gives: every mapping, filter and direction, sizes of work-groups and numbers of queues, both forms of
 * the cache and both codecs, as a sample of all combinations in which any three of the choices meet.
 */
#include "base/random.h"
#include "task.h"

/* ---- Choices ---- */

static const u32 group_sizes[] = { 8, 1, 64, 4 }, queues[] = { 32, 1, 3 }, rooms[] = { AMPLE, 0, 1, 5, 2 };
static const char *const mapping_names[] = { "auto", "thread", "group", "input", "output" };
static const char *const filter_names[] = { "fused", "exact", "inexact" };
static const char *const direction_names[] = { "auto", "estimate", "push", "pull" };

/* 5 x 3 x 4 have no common divisor, so their combinations come in turn; the others by chance. */
static struct mill_options choose(u32 k, char *where, size_t size, const char *graph)
{
	struct mill_options o = {
		.threads = 2,
		.memory = GIB,
		.device = "opencl",
		.device_memory = 512 * MIB,
		.seed = 1,
		.check = true,
		.mapping = (enum mill_mapping)(k % 5),
		.filter = (enum mill_filter)(k % 3),
		.direction = (enum mill_direction)(k % 4),
		.group_size = group_sizes[k % 7 < 4 ? 0 : 1 + random_below(1, k, 3)],
		.queues = queues[random_below(2, k, ARRAY_LEN(queues))],
	};

	snprintf(where, size, "%s (%u: mapping %s, filter %s, direction %s, groups of %u, %u queues)", graph, k,
		 mapping_names[o.mapping], filter_names[o.filter], direction_names[o.direction], o.group_size, o.queues);
	return o;
}

/* Some tasks with some choices on a store, in both forms. */
static void try_store(mill_store *store, const char *name, u32 *k, u32 n_choices)
{
	struct answer want[N_TASKS];
	struct mill_info info;
	mill_run *run;

	mill_store_info(store, &info);
	answers_begin(want, store);
	for (u32 i = 0; i < n_choices; i++, ++*k) {
		char where[256];
		struct mill_options o = choose(*k, where, sizeof(where), name);

		OK(mill_run_new(&run, store, &o));
		for (size_t t = 0; t < N_TASKS; t++) {
			u32 room = rooms[(*k + t) % ARRAY_LEN(rooms)];

			if (!task_suits(&tasks[t], store) || (o.group_size != 8 && !tasks[t].sizes) ||
			    (!tasks[t].sizes && (*k + t) % 3))
				continue;
			if (!want[t].err)
				task_room(run, &tasks[t], room == AMPLE ? 400 * MIB : (u64)room * info.page_size);
			expect_answer(where, run, &tasks[t], &want[t]);
		}
		mill_run_free(run);
	}
	answers_end(want);
}

/* ---- Graphs ---- */

static const char *const names[] = {
	"no vertex", "one vertex", "one self-loop", "self-loops, undirected", "parallel edges", "all dangling", "out-star", "in-star",
	"star, undirected", "path against the ids", "components", "grid", "random, sparse", "random, dense, undirected", "hubs",
	"hubs, undirected",
};

static void test_shapes(void **state)
{
	static const enum mill_weight weights[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32, MILL_WEIGHT_F32 };
	u32 k = 0;

	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (u32 form = 0; form < CODEC_LAST; form++) {
			char name[128];
			struct graph g;
			mill_store *store;

			if (!shape_make(&g, shape_named(names[i])))
				continue;
			g.codec = CODEC_PACKED + form;
			if (weights[(i + form) % 3])
				graph_weigh(&g, weights[(i + form) % 3], WEIGH_SMALL, i);
			snprintf(name, sizeof(name), "%s, %s", g.name, codec_names[g.codec]);
			store = graph_store(&g);
			try_store(store, name, &k, shape_named(names[i])->large ? 1 : (u32)repeats(2));
			graph_store_drop(store);
			graph_release(&g);
		}
}

static void test_rmat(void **state)
{
	u32 k = 1000;

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 5; i++) {
		struct mill_generate how = {
			.target = { .path = scratch_path("rmat"), .page_size = 64 * KIB, .force = true,
				    .codec = i % 2 || i == 4 ? MILL_CODEC_RAW : MILL_CODEC_PACKED,
				    .addressing = i == 4 ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE },
			.kind = "rmat",
			.scale = 11,
			.degree = 24,
			.directed = i >= 2,
			.multigraph = i == 2,
			.weight = i % 3 ? MILL_WEIGHT_U32 : MILL_WEIGHT_F32,
			.seed = i,
		};
		struct mill_built built;
		mill_store *store;

		OK(mill_generate(&built, &how));
		OK(mill_store_open(&store, how.target.path));
		try_store(store, i == 4 ? "rmat, paged" : i % 2 ? "rmat, raw" : "rmat, packed", &k, (u32)repeats(7));
		mill_store_close(store);
	}
}

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
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_rmat),
	cmocka_unit_test(test_strided),
	cmocka_unit_test(test_odd_groups),
};

SUITE(device, tests, .setup = scratch_make, .teardown = scratch_remove);
