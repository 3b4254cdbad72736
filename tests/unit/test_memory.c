/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: blocks are zeroed and aligned, budgets are kept, sizes that overflow are refused. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "helpers.h"

static void test_blocks(void **state)
{
	static const u64 sizes[] = { 0, 1, 63, 64, 65, 4096, 100000, 2 * MIB - 1, 2 * MIB,
				     2 * MIB + 1, 7 * MIB + 5 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct budget b;
		u8 *p = NULL;

		budget_init(&b, 0);
		assert_int_equal(budget_left(&b), UINT64_MAX);
		OK(memory_new(&p, &b, sizes[i], 1, "bytes"));
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % (sizes[i] >= 2 * MIB ? 4096 : 64), 0);
		assert_true(b.used >= sizes[i] && b.used <= sizes[i] + 8192);
		for (u64 j = 0; j < sizes[i]; j++)
			if (p[j])
				fail_msg("byte %llu is not zero", (unsigned long long)j);
		if (sizes[i])
			memset(p, 0xff, sizes[i]);
		memory_free(p);
		assert_int_equal(b.used, 0);
		assert_true(b.peak >= sizes[i]);
	}
	memory_free(NULL);
}

/* Memory that was used and freed is zero when it is allocated again. */
static void test_zero_again(void **state)
{
	(void)state;
	for (int round = 0; round < 4; round++) {
		u64 *p[32];

		for (size_t i = 0; i < ARRAY_LEN(p); i++) {
			OK(memory_new(&p[i], NULL, 50, sizeof(u64), "x"));
			for (int j = 0; j < 50; j++)
				assert_int_equal(p[i][j], 0);
			memset(p[i], 0xee, 50 * sizeof(u64));
		}
		for (size_t i = 0; i < ARRAY_LEN(p); i++)
			memory_free(p[i]);
	}
}

static void test_budget(void **state)
{
	struct budget b;
	char *p, *q = (char *)&b;

	(void)state;
	budget_init(&b, 10000);
	OK(memory_new(&p, &b, 6000, 1, "the first"));
	assert_true(budget_left(&b) <= 4000);
	assert_int_equal(memory_new(&q, &b, 6000, 1, "the second"), MILL_ENOMEM);
	assert_ptr_equal(q, &b);
	assert_string_equal(mill_error(), "no room for the second: this needs 5.9 KiB, the budget of 9.8 KiB "
					  "leaves 3.8 KiB");
	memory_free(p);
	assert_int_equal(budget_left(&b), 10000);
	OK(memory_new(&q, &b, 6000, 1, "the second"));
	memory_free(q);
	assert_int_equal(b.peak, 6064);
}

static void test_overflow(void **state)
{
	static const struct {
		u64 n;
		size_t size;
	} cases[] = {
		{ UINT64_MAX, 1 },	{ UINT64_MAX, 8 },	  { UINT64_MAX / 8 + 1, 8 },
		{ (u64)1 << 63, 2 },	{ (u64)1 << 62, 1 },	  { INT64_MAX, 1 },
	};
	struct budget b;

	(void)state;
	budget_init(&b, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		void *p = &b;

		assert_int_equal(memory_new(&p, &b, cases[i].n, cases[i].size, "x"), MILL_ENOMEM);
		assert_ptr_equal(p, &b);
		assert_int_equal(b.used, 0);
	}
}

static void test_strings(void **state)
{
	struct budget b;
	char *s, *t;

	(void)state;
	budget_init(&b, 1000);
	OK(memory_string(&s, &b, "hello"));
	assert_string_equal(s, "hello");
	OK(memory_printf(&t, &b, "%s/%d", s, 42));
	assert_string_equal(t, "hello/42");
	memory_free(s);
	memory_free(t);
	assert_int_equal(b.used, 0);
	assert_int_equal(memory_printf(&t, &b, "%2000d", 1), MILL_ENOMEM);
	assert_int_equal(b.used, 0);
}

static mill_err churn(void *arg, u64 begin, u64 end, unsigned worker)
{
	(void)worker;
	for (u64 i = begin; i < end; i++) {
		void *p;

		TRY(memory_new(&p, arg, 1 + i % 5000, 1, "x"));
		memory_free(p);
	}
	return MILL_OK;
}

static void test_threads(void **state)
{
	struct budget b;
	struct pool *pool;

	(void)state;
	budget_init(&b, 4 * (5000 + 64));
	OK(pool_new(&pool, 4));
	OK(pool_for(pool, 20000, 100, churn, &b));
	assert_int_equal(b.used, 0);
	assert_true(b.peak >= 5000 && b.peak <= b.limit);
	pool_free(pool);
}

static void test_system(void **state)
{
	u64 before = memory_rss(), size = 32 * MIB;
	u8 *p;

	(void)state;
	assert_true(memory_available() > MIB);
	assert_true(memory_available() < (u64)1 << 50);
	assert_true(before > 100 * KIB);
	OK(memory_new(&p, NULL, size, 1, "x"));
	memset(p, 1, size);
	assert_true(memory_rss() >= before + size / 2);
	assert_true(memory_peak_rss() >= memory_rss() / 2);
	memory_free(p);
	assert_true(memory_peak_rss() >= size);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_blocks),	 cmocka_unit_test(test_zero_again),
	cmocka_unit_test(test_budget),	 cmocka_unit_test(test_overflow),
	cmocka_unit_test(test_strings),	 cmocka_unit_test(test_threads),
	cmocka_unit_test(test_system),
};

SUITE(memory, tests);
