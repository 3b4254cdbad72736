/* SPDX-License-Identifier: Apache-2.0 */
/* Degrees and their distribution: large degrees, certificates. */
#include "expect.h"

static const struct mill_options checked = { .check = true };

/* Several degrees too large for the table of small ones; two are equal. */
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
	static const u32 change[] = { (u32)-1, 1 };
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
			for (size_t k = 0; k < ARRAY_LEN(change); k++) {
				u32 *at = (u32 *)run->result.column[column].vec->buffer.host + v;
				u32 old = *at;

				*at = old + change[k];
				REFUSED(MILL_ECHECK, mill_run_check(run),
					"a degree differs by one");
				*at = old;
			}
	((struct mill_bin *)run->result.distribution->buffer.host)[0].count++;
	REFUSED(MILL_ECHECK, mill_run_check(run), "a count of the distribution is too large");
	((struct mill_bin *)run->result.distribution->buffer.host)[0].count--;
	OK(mill_run_check(run));
	mill_run_free(run);

	/* A run without .check has no edges to check the degrees with: an error. */
	run = run_open(store, config_named("2 threads"), (struct mill_options){ 0 }, "degrees",
		       NULL);
	OK(mill_degrees(run));
	REFUSED(MILL_EUSAGE, mill_run_check(run), "without edges");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_large),
	cmocka_unit_test(test_certificate),
};

SUITE(degrees, tests, .setup = scratch_make, .teardown = scratch_remove);
