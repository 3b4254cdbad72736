/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An algorithm declares what it uses. All kernels are built before the clock starts. A
 * checkpoint saves the declared vectors, frontiers and scalars. A policy may refuse
 * algorithms for which it has no kernels.
 */
#include "algo/algo.h"
#include "task.h"

/* ---- Kernels ---- */

static const struct device_ops *inner;
static mill_run *watched;
static f64 called;		/* the time at which the algorithm was called */
static const char *prepared[64];
static u32 n_prepared, n_launches;
static const char *wrong;	/* a program that was built late, or not before its launch */

static bool is_prepared(const char *name)
{
	for (u32 i = 0; i < n_prepared; i++)
		if (!strcmp(prepared[i], name))
			return true;
	return false;
}

static mill_err watch_prepare(struct device *d, const struct kernel_source *source)
{
	if (is_prepared(source->name))
		return inner->prepare(d, source);
	if (watched->began > called)
		wrong = source->name;
	assert_true(n_prepared < ARRAY_LEN(prepared));
	prepared[n_prepared++] = source->name;
	return inner->prepare(d, source);
}

static mill_err watch_launch(struct device *d, const struct launch *l)
{
	n_launches++;
	if (!is_prepared(l->source->name))
		wrong = l->source->name;
	return inner->launch(d, l);
}

static mill_err call_triangles(mill_run *r, const void *how) { return mill_triangles(r, how); }
static mill_err call_cdlp(mill_run *r, const void *how) { return mill_cdlp(r, how); }

static const struct task others[] = {
	{ "triangles", "triangles", call_triangles, NULL, false, false, BITS },
	{ "lcc", "triangles", call_triangles, &(struct mill_triangles){ MILL_LCC_DIRECTED }, false,
	  false, BITS },
	{ "cdlp", "cdlp", call_cdlp, NULL, false, false, BITS },
};

static void try_kernels(mill_store *store, const char *policy, const struct task *t)
{
	struct mill_options o = {
		.device = "opencl", .policy = policy, .parents = true, .threads = 2, .seed = 1,
		.memory = GIB, .device_memory = 256 * MIB,
	};
	struct device_ops ops;

	OK(mill_run_new(&watched, store, &o));
	inner = watched->opened[0]->ops;
	ops = *inner;
	ops.prepare = watch_prepare;
	ops.launch = watch_launch;
	watched->opened[0]->ops = &ops;
	n_prepared = n_launches = 0;
	wrong = NULL;
	called = clock_now();
	OK(t->call(watched, t->how));
	if (wrong)
		fail_msg("%s, %s: '%s' was not built before the clock started", t->name, policy,
			 wrong);
	if (!n_launches && strcmp(t->name, "degrees"))
		fail_msg("%s, %s: no kernel was launched", t->name, policy);
	watched->opened[0]->ops = inner;
	mill_run_free(watched);
}

static void test_kernels(void **state)
{
	static const char *const policies[] = { "auto", "graphie", "gts" };
	mill_store *store;
	struct graph g;

	(void)state;
	if (!config_usable(config_named("opencl")) || MILL_VID_BITS < 32)
		return;
	graph_init(&g, "random", 300);
	g.weight = MILL_WEIGHT_U32;
	graph_random(&g, 300, 3000, 7);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		for (size_t t = 0; t < N_TASKS; t++)
			try_kernels(store, policies[i], &tasks[t]);
		for (size_t t = 0; t < ARRAY_LEN(others); t++)
			try_kernels(store, policies[i], &others[t]);
	}
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- Checkpoints ---- */

static void test_checkpoint_bytes(void **state)
{
	struct mill_plan plan;
	mill_store *store;
	mill_run *run;
	struct graph g;
	u64 n;

	(void)state;
	assert_true(shape_make(&g, shape_named("random, tiny")));
	store = graph_store(&g);
	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 1, .memory = GIB }));
	n = run->store->n_linked;
	OK(mill_run_plan(run, "bfs", NULL, &plan));
	assert_int_equal(plan.saved, n * sizeof(u32) + frontier_bytes(n, false) + sizeof(u32));
	for (const struct mill_algorithm *a = mill_algorithms(); a->name; a++) {
		const struct mill_sssp unit = { .unit_weights = true };

		OK(mill_run_plan(run, a->name, a->needs_weights ? &unit : NULL, &plan));
		if (!plan.saved || plan.saved > plan.needed)
			fail_msg("%s saves %llu bytes of %llu", a->name,
				 (unsigned long long)plan.saved, (unsigned long long)plan.needed);
	}
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- Policies that refuse ---- */

static void test_policy_refuses(void **state)
{
	struct policy only = policy_gts;
	struct mill_options o = {
		.device = "opencl", .policy = "gts", .memory = GIB, .device_memory = 64 * MIB,
	};
	mill_store *store;
	mill_run *run;
	struct graph g;

	(void)state;
	if (!config_usable(config_named("opencl")))
		return;
	only.only_own = true;
	assert_true(shape_make(&g, shape_named("random, tiny")));
	store = graph_store(&g);
	OK(mill_run_new(&run, store, &o));
	run->policy = &only;
	OK(mill_bfs(run, NULL));
	REFUSED(MILL_EUSAGE, mill_kcore(run), "kcore has no kernels of gts");
	assert_non_null(strstr(mill_error(), "--policy gts has no kernels for kcore"));
	run->policy = &policy_gts;
	OK(mill_kcore(run));	/* uses pages */
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_kernels),
	cmocka_unit_test(test_checkpoint_bytes),
	cmocka_unit_test(test_policy_refuses),
};

SUITE(declaration, tests, .setup = scratch_make, .teardown = scratch_remove);
