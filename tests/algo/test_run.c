/* SPDX-License-Identifier: Apache-2.0 */
/* Runs: budgets, several algorithms on one run, several runs on one store. */
#include <pthread.h>

#include "expect.h"

static const struct mill_options everything = { .parents = true, .check = true };

static const struct {
	const char *name;
	enum mill_precision precision;
	bool same_bits;		/* on devices too; otherwise within a tolerance */
} tasks[] = {
	{ "bfs", 0, true },
	{ "sssp", 0, true },
	{ "pagerank", MILL_F32, false },
	{ "pagerank", MILL_F64, false },
	{ "pagerank", MILL_EXACT, true },
};

static struct mill_pagerank ranking(size_t t)
{
	return (struct mill_pagerank){
		.precision = tasks[t].precision,
		.tolerance = -1,
		.iterations = 5,
	};
}

static mill_err do_task(mill_run *run, size_t t)
{
	struct mill_pagerank how = ranking(t);

	if (t == 0)
		return mill_bfs(run, &(struct mill_bfs){ "max-degree" });
	if (t == 1)
		return mill_sssp(run, &(struct mill_sssp){ .source = "max-degree" });
	return mill_pagerank(run, &how);
}

static mill_err plan_task(mill_run *run, size_t t, struct mill_plan *plan)
{
	struct mill_pagerank how = ranking(t);

	return mill_run_plan(run, tasks[t].name, t > 1 ? &how : NULL, plan);
}

static bool make_weighted(struct graph *g, const char *name)
{
	if (!shape_make(g, shape_named(name)))
		return false;
	graph_weigh(g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	return true;
}

static const char *const names[] = { "parallel edges", "random, tiny", "star, undirected",
				     "in-star", "hubs", "hubs, undirected" };

/*
 * Checks that a budget one byte below the planned need is refused, with the need in the
 * error, and that the planned need suffices.
 */
static void test_budgets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t t = i % 2; t < ARRAY_LEN(tasks); t += 2) {
			struct mill_options o = everything;
			struct mill_report report;
			struct mill_plan plan;
			char needed[32];
			struct graph g;
			mill_store *store;
			mill_run *run;
			u64 hash;

			if (!make_weighted(&g, names[i]))
				continue;
			store = graph_store(&g);
			o.memory = GIB;
			o.threads = 2;
			OK(mill_run_new(&run, store, &o));
			OK(plan_task(run, t, &plan));
			assert_true(plan.fits && plan.needed >= plan.state + 64 * MIB);
			OK(do_task(run, t));
			OK(mill_run_check(run));
			hash = hash_of(run);
			mill_run_report(run, &report);
			assert_true(report.resident && report.memory_peak <= plan.resident);
			mill_run_free(run);

			for (u32 frames = 0; frames < 1000; frames += 333) {
				o.memory = plan.needed - 1;
				OK(mill_run_new(&run, store, &o));
				run->hook.only_frames = frames;
				REFUSED(MILL_ENOMEM, do_task(run, t), tasks[t].name);
				snprintf(needed, sizeof(needed), "%llu",
					 (unsigned long long)plan.needed);
				assert_non_null(strstr(mill_error(), needed));
				REFUSED(MILL_EUSAGE, mill_run_check(run), tasks[t].name);
				mill_run_free(run);

				o.memory = plan.needed;
				OK(mill_run_new(&run, store, &o));
				run->hook.only_frames = frames;
				OK(do_task(run, t));
				OK(mill_run_check(run));
				OK(mill_run_write(run, scratch_path("out.tsv")));
				mill_run_report(run, &report);
				if (report.hash != hash || report.memory_peak > plan.needed ||
				    report.memory_budget != plan.needed ||
				    report.resident != !frames)
					fail_msg("%s, %s, %u frames: wrong hash, peak or residency",
						 g.name, tasks[t].name, frames);
				mill_run_free(run);
			}
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Checks the same for the memory of a device. */
static void test_device_budgets(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(names); i += 2)
		for (size_t t = i / 2 % 2; t < ARRAY_LEN(tasks); t += 2) {
			struct mill_options o = everything;
			struct mill_report report;
			struct mill_plan plan;
			struct graph g;
			mill_store *store;
			mill_run *run;

			if (!make_weighted(&g, names[i]))
				continue;
			store = graph_store(&g);
			o.device = "opencl";
			OK(mill_run_new(&run, store, &o));
			OK(plan_task(run, t, &plan));
			assert_true(!plan.fits);
			mill_run_free(run);
			o.device_memory = plan.device_needed - 1;
			OK(mill_run_new(&run, store, &o));
			REFUSED(MILL_ENOMEM, do_task(run, t), tasks[t].name);
			mill_run_free(run);
			o.device_memory = plan.device_needed;
			o.memory = plan.needed;
			OK(mill_run_new(&run, store, &o));
			OK(do_task(run, t));
			OK(mill_run_check(run));
			mill_run_report(run, &report);
			assert_true(report.device_peak <= plan.device_needed &&
				    report.memory_peak <= plan.needed);
			assert_true(report.to_device > 0 && report.from_device > 0);
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Runs a graph that must be streamed: it exceeds a budget of 64 MiB beside the state. */
static void run_out_of_core(enum mill_codec codec)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("large"),
			    .memory = 2 * GIB,
			    .force = true,
			    .codec = codec },
		.kind = "uniform",
		.scale = 16,
		.degree = 110,
		.directed = true,
		.seed = 5,
	};
	struct mill_options o = everything;
	struct mill_report report;
	struct mill_built built;
	struct mill_plan plan;
	mill_store *store;
	mill_run *run;
	u64 hash;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	o.memory = 2 * GIB;
	OK(mill_run_new(&run, store, &o));
	OK(plan_task(run, 0, &plan));
	assert_true(plan.fits && plan.resident > plan.needed);
	OK(do_task(run, 0));
	hash = hash_of(run);
	mill_run_free(run);
	o.memory = plan.needed;
	OK(mill_run_new(&run, store, &o));
	for (int i = 0; i < 2; i++) {
		OK(do_task(run, 0));
		OK(mill_run_check(run));
		mill_run_report(run, &report);
		assert_true(!report.resident);
		/* All packed pages fit the frames: the second call reuses them. */
		assert_true(report.disk_read > 0 || (i && codec == MILL_CODEC_PACKED));
		assert_true(report.hash == hash && report.memory_peak <= plan.needed);
	}
	mill_run_free(run);
	mill_store_close(store);
}

static void test_out_of_core(void **state)
{
	(void)state;
	if (MILL_VID_BITS < 32)
		skip();
	run_out_of_core(MILL_CODEC_RAW);
	run_out_of_core(MILL_CODEC_PACKED);
}

/* Calls all ordered pairs of tasks on one run, which keeps or replaces what it has loaded. */
static void test_sequence(void **state)
{
	static const char *const config[] = { "2 threads", "2 threads, 2 frames", "opencl" };
	u64 hash[ARRAY_LEN(tasks)] = { 0 };
	struct graph g;
	mill_store *store;

	(void)state;
	if (!make_weighted(&g, "hubs"))
		assert_true(make_weighted(&g, "components"));
	store = graph_store(&g);
	for (size_t c = 0; c < ARRAY_LEN(config); c++) {
		mill_run *run;

		if (!config_usable(config_named(config[c])))
			continue;
		run = run_open(store, config_named(config[c]), everything, "bfs", NULL);
		for (size_t i = 0; i < ARRAY_LEN(tasks) * ARRAY_LEN(tasks); i++) {
			size_t pair[2] = { i / ARRAY_LEN(tasks), i % ARRAY_LEN(tasks) };

			for (int j = 0; j < 2; j++) {
				size_t t = pair[j];

				OK(do_task(run, t));
				if (i % 4 == 0)
					OK(mill_run_check(run));
				if (!hash[t])
					hash[t] = hash_of(run);
				if (hash_of(run) != hash[t] && (c < 2 || tasks[t].same_bits))
					fail_msg("%s: %s after %s has another hash", config[c],
						 tasks[t].name, tasks[pair[0]].name);
			}
		}
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

/* A thread with a run of its own on a store that two threads share. */
struct client {
	mill_store *store;
	const struct config *config;
	size_t first;			/* task */
	const char *source, *quoted;	/* invalid; as in the error text */
	u64 hash[ARRAY_LEN(tasks)];
	mill_err err;
	char error[512];
};

static void *use_store(void *arg)
{
	struct client *c = arg;
	struct mill_options o = everything;
	mill_run *run;

	o.threads = c->config->threads;
	o.memory = GIB;
	o.device = c->config->device ? "opencl" : "cpu";
	c->err = mill_run_new(&run, c->store, &o);
	if (c->err)
		return NULL;
	run->hook.only_frames = c->config->frames;
	for (int round = 0; round < 3 && !c->err; round++)
		for (size_t i = 0; i < ARRAY_LEN(tasks) && !c->err; i++) {
			size_t t = (c->first + i) % ARRAY_LEN(tasks);
			u64 hash;

			c->err = do_task(run, t);
			if (!c->err)
				c->err = mill_run_check(run);
			hash = hash_of(run);
			if (!c->err && round && hash != c->hash[t])
				c->err = MILL_EBUG;
			c->hash[t] = hash;
			/* Each thread has its own error text. */
			if (!c->err &&
			    mill_bfs(run, &(struct mill_bfs){ c->source }) != MILL_EUSAGE)
				c->err = MILL_EBUG;
			if (!c->err && !strstr(mill_error(), c->quoted))
				c->err = MILL_EBUG;
		}
	snprintf(c->error, sizeof(c->error), "%s", mill_error());
	mill_run_free(run);
	return NULL;
}

static void test_two_runs(void **state)
{
	static const char *const pairs[][2] = {
		{ "2 threads", "2 threads" },
		{ "2 threads, 1 frame", "4 threads, 5 frames" },
		{ "1 thread", "2 threads, 2 frames" },
		{ "opencl", "2 threads" },
		{ "opencl", "opencl" },
	};
	static const char *const sources[2][2] = { { "another", "'another'" },
						   { "one", "'one'" } };
	struct graph g;
	mill_store *store;

	(void)state;
	if (!make_weighted(&g, "hubs"))
		assert_true(make_weighted(&g, "components"));
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct client client[2];
		pthread_t thread[2];

		if (!config_usable(config_named(pairs[i][0])))
			continue;
		for (int j = 0; j < 2; j++) {
			client[j] = (struct client){
				.store = store,
				.config = config_named(pairs[i][j]),
				.first = 2 * (size_t)j,
				.source = sources[j][0],
				.quoted = sources[j][1],
			};
			assert_int_equal(pthread_create(&thread[j], NULL, use_store, &client[j]),
					 0);
		}
		for (int j = 0; j < 2; j++)
			assert_int_equal(pthread_join(thread[j], NULL), 0);
		for (int j = 0; j < 2; j++)
			if (client[j].err)
				fail_msg("%s beside %s: %d, %s", pairs[i][j], pairs[i][1 - j],
					 (int)client[j].err, client[j].error);
		for (size_t t = 0; t < ARRAY_LEN(tasks); t++)
			if (client[0].hash[t] != client[1].hash[t] && tasks[t].same_bits)
				fail_msg("%s and %s: different hashes of %s", pairs[i][0],
					 pairs[i][1], tasks[t].name);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static void test_refusals(void **state)
{
	static const struct mill_options bad[] = {
		{ .device = "gpu" }, { .device = "opencl:" }, { .device = "opencl:x" },
		{ .device = "" },    { .policy = "best" },    { .io = "mmap" },
	};
	struct mill_plan plan;
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(make_weighted(&g, "random, tiny"));
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		REFUSED(MILL_EUSAGE, mill_run_new(&run, store, &bad[i]), "options");
	REFUSED(MILL_EDEVICE,
		mill_run_new(&run, store, &(struct mill_options){ .device = "opencl:999" }),
		"device");
	OK(mill_run_new(&run, store, NULL));
	REFUSED(MILL_EUSAGE, mill_run_plan(run, "dfs", NULL, &plan), "plan");
	REFUSED(MILL_EUSAGE, mill_run_check(run), "no result yet");
	REFUSED(MILL_EUSAGE, mill_run_write(run, scratch_path("x.tsv")), "no result yet");
	REFUSED(MILL_EUSAGE, mill_run_values(run, "depth", false, NULL, NULL), "no result yet");
	OK(mill_bfs(run, NULL));
	REFUSED(MILL_EUSAGE, mill_run_values(run, "parent", false, NULL, NULL), "no parents");
	REFUSED(MILL_EUSAGE, mill_run_write(run, scratch_path("x.txt")), "suffix");
	mill_run_free(run);
	mill_run_free(NULL);
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_budgets),
	cmocka_unit_test(test_device_budgets),
	cmocka_unit_test(test_out_of_core),
	cmocka_unit_test(test_sequence),
	cmocka_unit_test(test_two_runs),
	cmocka_unit_test(test_refusals),
};

SUITE(run, tests, .setup = scratch_make, .teardown = scratch_remove);
