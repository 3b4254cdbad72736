/* SPDX-License-Identifier: Apache-2.0 */
/* Traces from several threads, of several runs, and after their end. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/trace.h"
#include "unit.h"

#define WORKERS 4
#define ROUNDS 300	/* more spans than a lane holds */

static char folder[] = "/tmp/mill-trace-XXXXXX";

static const char *path_of(char *to, const char *name)
{
	snprintf(to, 64, "%s/%s", folder, name);
	return to;
}

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
		assert_int_equal(pool_run(p, span, (void *)name), MILL_OK);
}

static void expect_spans(const char *path, const char *name, u64 n)
{
	char text[64];

	snprintf(text, sizeof(text), "\"name\": \"%s\"", name);
	assert_int_equal(count(path, text), n);
}

static void test_workers(void **state)
{
	struct budget budget;
	struct trace *t;
	struct pool *p;
	char path[64];

	(void)state;
	budget_init(&budget, 0);
	path_of(path, "workers.json");
	assert_int_equal(pool_new(&p, WORKERS), MILL_OK);
	assert_int_equal(trace_open(&t, path, &budget), MILL_OK);
	trace_rounds(t, p, "mine");
	assert_int_equal(access(path, F_OK), -1);	/* not before it is whole */
	assert_int_equal(trace_close(t), MILL_OK);
	assert_null(trace_current);
	expect_spans(path, "mine", WORKERS * ROUNDS);
	expect_spans(path, "share", WORKERS * ROUNDS);
	expect_spans(path, "thread_name", WORKERS);
	assert_int_equal(budget.used, 0);
	/* No trace is open: the workers remember a lane that is gone. */
	trace_rounds(NULL, p, "none");
	/* The next trace may lie where the last one lay. */
	assert_int_equal(trace_open(&t, path, &budget), MILL_OK);
	trace_rounds(t, p, "again");
	pool_free(p);	/* after which others take the lanes */
	assert_int_equal(pool_new(&p, WORKERS), MILL_OK);
	trace_rounds(t, p, "more");
	assert_int_equal(trace_close(t), MILL_OK);
	pool_free(p);
	expect_spans(path, "mine", 0);
	expect_spans(path, "again", WORKERS * ROUNDS);
	expect_spans(path, "more", WORKERS * ROUNDS);
	expect_spans(path, "thread_name", WORKERS);
	assert_int_equal(budget.used, 0);
}

static void *other_run(void *arg)
{
	struct trace *t;
	struct pool *p;
	char path[64];

	assert_int_equal(trace_open(&t, path_of(path, arg), NULL), MILL_OK);
	assert_int_equal(pool_new(&p, 2), MILL_OK);
	trace_rounds(t, p, arg);
	pool_free(p);
	assert_int_equal(trace_close(t), MILL_OK);
	return NULL;
}

static void test_two_runs(void **state)
{
	static char name[2][8] = { "one", "two" };
	pthread_t thread[2];
	char path[64];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, other_run, name[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 2; i++) {
		expect_spans(path_of(path, name[i]), name[i], 2 * ROUNDS);
		expect_spans(path, name[!i], 0);
	}
}

/* Without memory for a track nothing fails: what is missing is counted, and the caller's error stays. */
static void test_no_memory(void **state)
{
	struct budget budget;
	struct trace *t;
	char path[64];

	(void)state;
	budget_init(&budget, 3072);
	assert_int_equal(trace_open(&t, path_of(path, "small.json"), &budget), MILL_OK);
	trace_use(t);
	fail(MILL_EIO, "the run's own");
	trace_end(trace_begin(), "lost", NULL, 0);
	assert_string_equal(mill_error(), "the run's own");
	assert_int_equal(trace_close(t), MILL_OK);
	assert_int_equal(count(path, "\"dropped\": 1}"), 1);
	assert_int_not_equal(trace_open(&t, "/no/such/folder/t.json", NULL), MILL_OK);
	assert_int_equal(trace_close(NULL), MILL_OK);
}

/* The tracks of a device's queues, up to the last, and names that are gone when the trace is written. */
static void test_queues(void **state)
{
	struct budget budget;
	struct trace *t;
	char path[64], name[16];
	const char *word;

	(void)state;
	budget_init(&budget, 0);
	assert_string_equal(trace_word("no trace"), "?");
	assert_int_equal(trace_open(&t, path_of(path, "queues.json"), &budget), MILL_OK);
	trace_use(t);
	snprintf(name, sizeof(name), "bfs_push");
	word = trace_word(name);
	assert_ptr_equal(trace_word(name), word);
	snprintf(name, sizeof(name), "gone");
	assert_string_equal(trace_word("bfs_pull"), "bfs_pull");
	trace_past(TRACE_QUEUE + 2 * 3, clock_now(), clock_now() + 1e-3, "to device", "bytes", 7);
	trace_past(TRACE_QUEUE + 2 * TRACE_QUEUES - 1, clock_now(), clock_now() + 1e-3, word, "groups", 9);
	trace_past(TRACE_TRACKS - 1, clock_now(), clock_now() + 1e-3, word, "groups", 9);
	trace_span(TRACE_DISK, trace_begin(), "read", NULL, 0);
	assert_int_equal(trace_close(t), MILL_OK);
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
	assert_int_equal(trace_open(&t, "/dev/full", NULL), MILL_OK);
	trace_use(t);
	trace_end(trace_begin(), "x", NULL, 0);
	assert_int_equal(trace_close(t), MILL_ENOSPACE);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const name[] = { "workers.json", "one", "two", "small.json", "queues.json" };
	char path[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(name); i++)
		unlink(path_of(path, name[i]));
	return rmdir(folder);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_workers),
	cmocka_unit_test(test_two_runs),
	cmocka_unit_test(test_no_memory),
	cmocka_unit_test(test_queues),
	cmocka_unit_test(test_full_disk),
};

SUITE(trace, tests, .setup = make_folder, .teardown = remove_folder);
