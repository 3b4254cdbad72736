/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of threads: every worker and every index once, the first error wins; queues. */
#include <stdlib.h>
#include <string.h>

#include "base/queue.h"
#include "base/thread.h"
#include "helpers.h"

static const unsigned sizes[] = { 1, 2, 3, 8 };

static mill_err note(void *arg, unsigned worker)
{
	((unsigned *)arg)[worker]++;	/* not atomic: the pool must order the accesses */
	return MILL_OK;
}

static void test_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		unsigned seen[8] = { 0 };
		struct pool *p;

		OK(pool_new(&p, sizes[i]));
		assert_int_equal(pool_size(p), sizes[i]);
		for (unsigned round = 1; round <= 500; round++) {
			OK(pool_run(p, note, seen));
			for (unsigned w = 0; w < 8; w++)
				assert_int_equal(seen[w], w < sizes[i] ? round : 0);
		}
		pool_free(p);
	}
	pool_free(NULL);
}

static void test_sizes(void **state)
{
	struct pool *p;

	(void)state;
	OK(pool_new(&p, 0));
	assert_true(pool_size(p) >= 1);
	pool_free(p);
	assert_int_equal(pool_new(&p, 4000000000u), MILL_ELIMIT);
}

static mill_err fail_from_two(void *arg, unsigned worker)
{
	(void)arg;
	return worker >= 2 ? fail(MILL_EIO, "worker %u", worker) : MILL_OK;
}

static mill_err fail_all(void *arg, unsigned worker)
{
	(void)arg;
	return fail(MILL_EINPUT, "worker %u", worker);
}

static void test_run_fails(void **state)
{
	struct pool *p;

	(void)state;
	OK(pool_new(&p, 5));
	for (int i = 0; i < 100; i++) {
		unsigned seen[5] = { 0 };

		assert_int_equal(pool_run(p, fail_from_two, NULL), MILL_EIO);
		assert_string_equal(mill_error(), "worker 2");
		assert_int_equal(pool_run(p, fail_all, NULL), MILL_EINPUT);
		assert_string_equal(mill_error(), "worker 0");
		OK(pool_run(p, note, seen));	/* the errors are forgotten */
	}
	pool_free(p);
}

static mill_err mark(void *arg, u64 begin, u64 end, unsigned worker)
{
	u8 *seen = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++)
		seen[i]++;
	return MILL_OK;
}

static void test_for(void **state)
{
	static const struct {
		u64 n, grain;
	} cases[] = { { 0, 1 }, { 1, 1 }, { 10, 0 }, { 10, 3 }, { 10, 10 }, { 10, 11 },
		      { 10, UINT64_MAX }, { 10000, 7 }, { 10000, 1 } };
	static u8 seen[10000];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct pool *p;

		OK(pool_new(&p, sizes[i]));
		for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
			memset(seen, 0, sizeof(seen));
			OK(pool_for(p, cases[c].n, cases[c].grain, mark, seen));
			for (u64 j = 0; j < sizeof(seen); j++)
				if (seen[j] != (j < cases[c].n))
					fail_msg("case %zu: element %llu seen %d times", c,
						 (unsigned long long)j, seen[j]);
		}
		pool_free(p);
	}
}

/* Fails for every index from 300 on; keeps the highest index that was tried. */
static mill_err fail_late(void *arg, u64 begin, u64 end, unsigned worker)
{
	u64 *highest = arg, seen = __atomic_load_n(highest, __ATOMIC_RELAXED);

	(void)worker;
	while (seen < begin && !__atomic_compare_exchange_n(highest, &seen, begin, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return end > 300 ? fail(MILL_EINPUT, "index %llu", (unsigned long long)begin) : MILL_OK;
}

static void test_for_fails(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct pool *p;

		OK(pool_new(&p, sizes[i]));
		for (int round = 0; round < 200; round++) {
			u64 highest = 0;

			assert_int_equal(pool_for(p, (u64)1 << 40, 10, fail_late, &highest),
					 MILL_EINPUT);
			assert_string_equal(mill_error(), "index 300");
			assert_true(highest < (u64)1 << 30);
		}
		pool_free(p);
	}
}

#define N_ITEMS 20000u

struct traffic {
	struct queue *queue;
	u64 sum, n;	/* atomic */
	unsigned producers;	/* atomic: producers that still run */
};

static mill_err carry(void *arg, unsigned worker)
{
	struct traffic *t = arg;
	u64 value;

	if (worker % 2) {
		for (u64 i = 1; i <= N_ITEMS; i++)
			if (!queue_push(t->queue, i))
				return fail(MILL_EBUG, "closed early");
		if (!__atomic_sub_fetch(&t->producers, 1, __ATOMIC_RELAXED))
			queue_close(t->queue);
	} else {
		while (queue_pop(t->queue, &value)) {
			__atomic_add_fetch(&t->sum, value, __ATOMIC_RELAXED);
			__atomic_add_fetch(&t->n, 1, __ATOMIC_RELAXED);
		}
	}
	return MILL_OK;
}

static void test_queue_threads(void **state)
{
	struct traffic t = { .producers = 2 };
	struct pool *p;

	(void)state;
	OK(pool_new(&p, 4));
	if (pool_size(p) < 4)
		skip();
	OK(queue_new(&t.queue, NULL, 7));
	OK(pool_run(p, carry, &t));
	assert_int_equal(t.n, 2 * N_ITEMS);
	assert_int_equal(t.sum, (u64)N_ITEMS * (N_ITEMS + 1));
	queue_free(t.queue);
	pool_free(p);
}

static void test_queue_order(void **state)
{
	struct queue *q;
	u64 value, next = 0;

	(void)state;
	OK(queue_new(&q, NULL, 3));
	for (u64 i = 0; i < 30; i++) {
		assert_true(queue_push(q, i));
		if (i % 3 == 2) {
			for (int j = 0; j < 3; j++) {
				assert_true(queue_pop(q, &value));
				assert_int_equal(value, next++);
			}
		}
	}
	assert_true(queue_push(q, 99));
	queue_close(q);
	assert_false(queue_push(q, 100));
	assert_true(queue_pop(q, &value));
	assert_int_equal(value, 99);
	assert_false(queue_pop(q, &value));
	queue_free(q);
	queue_free(NULL);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_run),	   cmocka_unit_test(test_sizes),
	cmocka_unit_test(test_run_fails),  cmocka_unit_test(test_for),
	cmocka_unit_test(test_for_fails),  cmocka_unit_test(test_queue_threads),
	cmocka_unit_test(test_queue_order),
};

SUITE(thread, tests);
