/* SPDX-License-Identifier: Apache-2.0 */
/* A watcher stops an algorithm at any of its calls. The run can be used again afterwards. */
#include <pthread.h>

#include "expect.h"

struct watch {
	mill_run *run;
	pthread_t caller;
	u64 calls, stop_at;	/* stop_at 0: never */
	bool wrong;
};

static int watch(void *arg, const struct mill_progress *p)
{
	struct watch *w = arg;

	if (!p->what || !*p->what || !p->unit || !pthread_equal(pthread_self(), w->caller))
		w->wrong = true;
	if (w->run)
		w->run->ticker.last = -1; /* the next tick calls the watcher, without a pause */
	return ++w->calls == w->stop_at;
}

enum task { TASK_BFS, TASK_SSSP, TASK_PAGERANK, TASKS };
static const char *const task_name[] = { "bfs", "sssp", "pagerank" };
static const struct mill_pagerank ranking = { .precision = MILL_EXACT,
					      .tolerance = -1,
					      .iterations = 4 };

static mill_err do_task(mill_run *run, enum task t)
{
	switch (t) {
	case TASK_BFS:
		return mill_bfs(run, &(struct mill_bfs){ "0" });
	case TASK_SSSP:
		return mill_sssp(run, &(struct mill_sssp){ .source = "0" });
	default:
		return mill_pagerank(run, &ranking);
	}
}

static mill_run *watched_run(mill_store *store, const struct config *c, enum task t,
			     struct watch *w)
{
	struct mill_options o = { .parents = true, .check = true, .watcher = { watch, w } };

	*w = (struct watch){ .caller = pthread_self() };
	w->run = run_open(store, c, o, task_name[t], t == TASK_PAGERANK ? &ranking : NULL);
	return w->run;
}

/* The watcher's call number `stop` cancels. Returns false if there were fewer calls. */
static bool cancel_at(struct watch *w, enum task t, u64 stop, const char *where)
{
	mill_err err;

	w->calls = 0;
	w->stop_at = stop;
	err = do_task(w->run, t);
	if (w->wrong)
		fail_msg("%s, %s: the watcher got empty text or ran on another thread", where,
			 task_name[t]);
	if (w->calls < stop) {
		OK(err);
		return false;
	}
	if (err != MILL_ECANCELLED || !*mill_error())
		fail_msg("%s, %s: stopped at call %llu, it returns %d", where, task_name[t],
			 (unsigned long long)stop, (int)err);
	/* A cancelled algorithm leaves no result. */
	REFUSED(MILL_EUSAGE, mill_run_check(w->run), where);
	REFUSED(MILL_EUSAGE, mill_run_write(w->run, scratch_path("none.tsv")), where);
	return true;
}

static void try_task(mill_store *store, const struct config *c, enum task t)
{
	struct watch w;
	u64 hash;

	mill_run_free(watched_run(store, c, t, &w));	/* a run that was never used can be freed */
	watched_run(store, c, t, &w);
	OK(do_task(w.run, t));
	/* Only one worker calls the watcher: it may get none of a narrow build's few pages. */
	assert_true(w.calls > 0 || MILL_VID_BITS < 32);
	hash = hash_of(w.run);
	/* Cancels one run several times, with the graph loaded. */
	for (u64 stop = 1; stop < 100; stop += stop / 4 + 1) {
		bool stopped = cancel_at(&w, t, stop, c->name);

		w.stop_at = 0;
		OK(do_task(w.run, t));
		OK(mill_run_check(w.run));
		if (hash_of(w.run) != hash)
			fail_msg("%s, %s: the hash differs after a stop at call %llu", c->name,
				 task_name[t], (unsigned long long)stop);
		if (!stopped)
			break;
	}
	mill_run_free(w.run);
	/* Cancels new runs while they load the graph. */
	for (u64 stop = 1; stop < 10; stop += 3) {
		watched_run(store, c, t, &w);
		cancel_at(&w, t, stop, c->name);
		w.stop_at = 0;
		OK(do_task(w.run, t));
		assert_true(hash_of(w.run) == hash);
		mill_run_free(w.run);
	}
}

static void test_cancel(void **state)
{
	static const char *const names[] = {
		"1 thread", "4 threads", "2 threads, 1 frame", "4 threads, 5 frames",
		"opencl, 2 pages",
	};
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		assert_true(shape_make(&g, shape_named("components")));
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (enum task t = 0; t < TASKS; t++)
			if (config_usable(config_named(names[i])))
				try_task(store, config_named(names[i]), t);
	graph_store_drop(store);
	graph_release(&g);
}

/*
 * Certificates and output can be cancelled too. The result stays, and no partial file
 * appears.
 */
static void test_cancel_check_and_write(void **state)
{
	static const char *const names[] = { "2 threads", "2 threads, 1 frame" };
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		assert_true(shape_make(&g, shape_named("components")));
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (enum task t = 0; t < TASKS; t++) {
			const char *path = scratch_path("result.tsv");
			struct watch w;
			mill_err err;

			watched_run(store, config_named(names[i]), t, &w);
			OK(do_task(w.run, t));
			w.calls = 0;
			w.stop_at = 1;
			err = mill_run_check(w.run);
			assert_int_equal(err, w.calls ? MILL_ECANCELLED : MILL_OK);
			w.calls = 0;
			err = mill_run_write(w.run, path);
			assert_int_equal(err, w.calls ? MILL_ECANCELLED : MILL_OK);
			assert_true(!err || remove(path) != 0);
			w.stop_at = 0;
			OK(mill_run_check(w.run));
			OK(mill_run_write(w.run, path));
			assert_int_equal(remove(path), 0);
			mill_run_free(w.run);
		}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_cancel),
	cmocka_unit_test(test_cancel_check_and_write),
};

SUITE(cancel, tests, .setup = scratch_make, .teardown = scratch_remove);
