/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort of keys of many shapes, with values and without, against qsort; prefix sums. */
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/sort.h"
#include "helpers.h"

enum shape { RANDOM, FEW, ASCENDING, DESCENDING, EQUAL, HIGH_BIT, GAPS, SHAPES };

static u64 make_key(enum shape shape, u64 i, u64 n)
{
	switch (shape) {
	case RANDOM:
		return random_at(1, i);
	case FEW:
		return random_below(2, i, 5) << 30;
	case ASCENDING:
		return i;
	case DESCENDING:
		return n - i;
	case EQUAL:
		return 42;
	case HIGH_BIT:
		return (random_at(3, i) & 1) << 63 | (random_at(4, i) & 1);
	default:
		return random_at(5, i) & 0x8001000000100801u;
	}
}

struct item {
	u64 key, value, at;
};

static u64 compare_mask;

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	u64 kx = x->key & compare_mask, ky = y->key & compare_mask;

	if (kx != ky)
		return kx < ky ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;	/* stable */
}

static void check(struct pool *pool, enum shape shape, u64 n, unsigned bits, bool values)
{
	struct item *want = malloc((n + 1) * sizeof(*want));
	u64 *key = malloc((n + 1) * sizeof(*key)), *value = malloc((n + 1) * sizeof(*value));
	struct budget b;

	assert_true(want && key && value);
	for (u64 i = 0; i < n; i++) {
		key[i] = make_key(shape, i, n);
		value[i] = random_at(9, i);
		want[i] = (struct item){ key[i], value[i], i };
	}
	compare_mask = bits == 64 ? ~(u64)0 : ((u64)1 << bits) - 1;
	qsort(want, n, sizeof(*want), compare);

	budget_init(&b, 0);
	OK(sort_u64(pool, &b, key, values ? value : NULL, n, bits));
	assert_int_equal(b.used, 0);
	for (u64 i = 0; i < n; i++)
		if (key[i] != want[i].key || (values && value[i] != want[i].value))
			fail_msg("shape %d, n %llu, %u bits: wrong at %llu", (int)shape,
				 (unsigned long long)n, bits, (unsigned long long)i);
	free(want);
	free(key);
	free(value);
}

static void test_sort(void **state)
{
	static const u64 sizes[] = { 0, 1, 2, 31, 32, 33, 1000, 70000 };
	static const unsigned widths[] = { 0, 1, 8, 13, 33, 63, 64 };
	static const unsigned threads[] = { 1, 3 };

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(threads); t++) {
		struct pool *pool;

		OK(pool_new(&pool, threads[t]));
		for (int shape = 0; shape < SHAPES; shape++)
			for (size_t s = 0; s < ARRAY_LEN(sizes); s++)
				for (size_t w = 0; w < ARRAY_LEN(widths); w++)
					check(pool, (enum shape)shape, sizes[s], widths[w],
					      (s + w) % 2);
		pool_free(pool);
	}
	check(NULL, RANDOM, 50000, 64, true);	/* without a pool */
}

static void test_budget(void **state)
{
	static u64 key[2000], sorted[2000];
	struct budget b;

	(void)state;
	for (u64 i = 0; i < 2000; i++) {
		key[i] = 2000 - i;
		sorted[i] = i;
	}
	budget_init(&b, 10000);
	assert_int_equal(sort_u64(NULL, &b, key, NULL, 2000, 64), MILL_ENOMEM);
	assert_int_equal(b.used, 0);
	assert_int_equal(key[0], 2000);	/* untouched */
	/* Sorted keys need no second copy. */
	OK(sort_u64(NULL, &b, sorted, NULL, 2000, 64));
	assert_int_equal(sorted[1999], 1999);
}

static void test_prefix_sum(void **state)
{
	u64 value[] = { 3, 0, 5, 1 };

	(void)state;
	assert_int_equal(prefix_sum_u64(value, 4), 9);
	assert_int_equal(value[0], 0);
	assert_int_equal(value[1], 3);
	assert_int_equal(value[2], 3);
	assert_int_equal(value[3], 8);
	assert_int_equal(prefix_sum_u64(value, 0), 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sort),
	cmocka_unit_test(test_budget),
	cmocka_unit_test(test_prefix_sum),
};

SUITE(sort, tests);
