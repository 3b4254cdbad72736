/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of several threads and of several runs at once; workers that outlive their trace. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/trace.h"
#include "helpers.h"

#define WORKERS 4
#define ROUNDS 300	/* more spans than fit the buffer of a track */

/* Returns the number of lines that contain a text. */
static u64 count(const char *path, const char *what)
{
	FILE *f = fopen(path, "r");
	char line[512];
	u64 n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, what) != NULL;
	fclose(f);
	return n;
}

static mill_err span(void *arg, unsigned worker)
{
	f64 began = trace_begin();

	trace_end(began, arg, "worker", worker);
	return MILL_OK;
}

static void trace_rounds(struct trace *t, struct pool *p, const char *name)
{
	trace_use(t);
	for (int i = 0; i < ROUNDS; i++)
		OK(pool_run(p, span, (void *)name));
}

static void expect_spans(const char *path, const char *name, u64 n)
{
	char text[64];

	snprintf(text, sizeof(text), "\"name\": \"%s\"", name);
	assert_int_equal(count(path, text), n);
}

static void test_workers(void **state)
{
	const char *path = in_scratch("workers.json");
	struct budget budget;
	struct trace *t;
	struct pool *p;

	(void)state;
	budget_init(&budget, 0);
	OK(pool_new(&p, WORKERS));
	OK(trace_open(&t, path, &budget));
	trace_rounds(t, p, "mine");
	assert_int_equal(access(path, F_OK), -1);	/* the file appears when it is whole */
	OK(trace_close(t));
	assert_null(trace_current);
	expect_spans(path, "mine", WORKERS * ROUNDS);
	expect_spans(path, "share", WORKERS * ROUNDS);
	expect_spans(path, "thread_name", WORKERS);
	assert_int_equal(budget.used, 0);
	/* No trace is open: the workers must not use the tracks of the closed one. */
	trace_rounds(NULL, p, "none");
	/* The next trace may have the same address as the last one. */
	OK(trace_open(&t, path, &budget));
	trace_rounds(t, p, "again");
	pool_free(p);	/* the workers of the next pool take over the tracks */
	OK(pool_new(&p, WORKERS));
	trace_rounds(t, p, "more");
	OK(trace_close(t));
	pool_free(p);
	expect_spans(path, "mine", 0);
	expect_spans(path, "again", WORKERS * ROUNDS);
	expect_spans(path, "more", WORKERS * ROUNDS);
	expect_spans(path, "thread_name", WORKERS);
	assert_int_equal(budget.used, 0);
}

struct traced_run {
	const char *name, *path;
};

static void *run_traced(void *arg)
{
	const struct traced_run *run = arg;
	struct trace *t;
	struct pool *p;

	OK(trace_open(&t, run->path, NULL));
	OK(pool_new(&p, 2));
	trace_rounds(t, p, run->name);
	pool_free(p);
	OK(trace_close(t));
	return NULL;
}

static void test_two_runs(void **state)
{
	struct traced_run run[] = { { "one", in_scratch("one") }, { "two", in_scratch("two") } };
	pthread_t thread[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_traced, &run[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 2; i++) {
		expect_spans(run[i].path, run[i].name, 2 * ROUNDS);
		expect_spans(run[i].path, run[!i].name, 0);
	}
}

/* Without memory for a track no call fails: lost spans are counted, the caller's error stays. */
static void test_no_memory(void **state)
{
	const char *path = in_scratch("small.json");
	struct budget budget;
	struct trace *t;

	(void)state;
	budget_init(&budget, 3072);
	OK(trace_open(&t, path, &budget));
	trace_use(t);
	fail(MILL_EIO, "the run's own");
	trace_end(trace_begin(), "lost", NULL, 0);
	assert_string_equal(mill_error(), "the run's own");
	OK(trace_close(t));
	assert_int_equal(count(path, "\"dropped\": 1}"), 1);
	assert_int_not_equal(trace_open(&t, "/no/such/folder/t.json", NULL), MILL_OK);
	OK(trace_close(NULL));
}

/* The tracks of all queues of a device; names that change before the trace is written. */
static void test_queues(void **state)
{
	const char *path = in_scratch("queues.json");
	f64 begin = clock_now(), end = begin + 1e-3;
	struct budget budget;
	struct trace *t;
	char name[16];
	const char *word;

	(void)state;
	budget_init(&budget, 0);
	assert_string_equal(trace_word("no trace is open"), "?");
	OK(trace_open(&t, path, &budget));
	trace_use(t);
	snprintf(name, sizeof(name), "bfs_push");
	word = trace_word(name);
	assert_ptr_equal(trace_word(name), word);
	snprintf(name, sizeof(name), "gone");
	assert_string_equal(trace_word("bfs_pull"), "bfs_pull");
	trace_past(TRACE_QUEUE + 2 * 3, begin, end, "to device", "bytes", 7);
	trace_past(TRACE_QUEUE + 2 * TRACE_QUEUES - 1, begin, end, word, "groups", 9);
	trace_past(TRACE_TRACKS - 1, begin, end, word, "groups", 9);
	trace_span(TRACE_DISK, trace_begin(), "read", NULL, 0);
	OK(trace_close(t));
	expect_spans(path, "queue 3 transfers", 1);
	expect_spans(path, "queue 256 kernels", 1);
	expect_spans(path, "device 15 queue 256 kernels", 1);
	expect_spans(path, "disk 1", 1);
	expect_spans(path, "bfs_push", 2);
	expect_spans(path, "thread_name", 5);
	assert_int_equal(budget.used, 0);
}

static void test_full_disk(void **state)
{
	struct trace *t;

	(void)state;
	OK(trace_open(&t, "/dev/full", NULL));
	trace_use(t);
	trace_end(trace_begin(), "x", NULL, 0);
	assert_int_equal(trace_close(t), MILL_ENOSPACE);
}

/* Fails if there are other files than the traces. */
static int remove_traces(void **state)
{
	static const char *const name[] = { "workers.json", "one", "two", "small.json",
					    "queues.json" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		unlink(in_scratch(name[i]));
	return rmdir(scratch);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_workers),
	cmocka_unit_test(test_two_runs),
	cmocka_unit_test(test_no_memory),
	cmocka_unit_test(test_queues),
	cmocka_unit_test(test_full_disk),
};

SUITE(trace, tests, .setup = scratch_make, .teardown = remove_traces);
