/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of floats have the same bits wherever pages cut the lists. test_matrix.c compares the bits
 * of all other options.
 */
#include "expect.h"

static u64 hash_ranks(mill_store *store, const char *config)
{
	struct mill_pagerank how = { .precision = MILL_F64, .tolerance = -1, .iterations = 12 };
	mill_run *run = run_open(store, config_named(config),
				 (struct mill_options){ .check = true }, "pagerank", &how);
	u64 hash;

	OK(mill_pagerank(run, &how));
	OK(mill_run_check(run));
	hash = hash_of(run);
	mill_run_free(run);
	return hash;
}

/* Tries list lengths around the size of a block of a sum, and around the capacity of a page. */
static void test_lengths(void **state)
{
	static const u32 lengths[] = {
		1, 1023, 1024, 1025, 2048, 15 * 1024, 15 * 1024 + 1, 16 * 1024 - 1, 16 * 1024,
		16 * 1024 + 1, 31 * 1024, 32 * 1024, 33 * 1024,
	};
	/* Lists in front of the long one: the rows of a 64 KiB page take room from its edges. */
	static const u32 before[] = { 0, 1, 5, 700 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths) * ARRAY_LEN(before); i++) {
		u32 length = lengths[i / ARRAY_LEN(before)], lead = before[i % ARRAY_LEN(before)];
		struct graph g;
		mill_store *store;

		/* In-lists: `lead` of one edge, one of `length` edges and a loop, one of two. */
		graph_init(&g, "lengths", lead + 2 + length);
		for (u32 v = 0; v < lead; v++)
			graph_add(&g, lead + 2, v);
		for (u32 v = 0; v < length; v++)
			graph_add(&g, lead + 2 + v, lead);
		graph_add(&g, lead + 2, lead + 1);
		graph_add(&g, lead, lead + 1);
		graph_add(&g, lead, lead);
		if (!graph_fits(&g)) {
			graph_release(&g);
			continue;
		}
		graph_index(&g);
		store = graph_store(&g);
		if (hash_ranks(store, "1 thread") != hash_ranks(store, "4 threads, 5 frames"))
			fail_msg("a list of %u edges after %u lists: bits differ", length, lead);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_lengths),
};

SUITE(invariance, tests, .setup = scratch_make, .teardown = scratch_remove);
