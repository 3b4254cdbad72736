/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that go through buckets come out as if all of them had been sorted in memory. */
#include "import/buckets.h"

#include <string.h>

#include "base/random.h"
#include "helpers.h"

#define SOURCES 7u
#define PER_SOURCE 3000u	/* keys; they fill several blocks */
#define N (SOURCES * PER_SOURCE)

struct shape {
	const char *name;
	unsigned bits;
	u64 rows, columns;	/* keys are drawn below these */
	u64 room;		/* not 0: edges a bucket may hold; larger ones are divided again */
};

static const struct shape shapes[] = {
	{ "spread", 20, 1 << 20, 1 << 20, 0 },
	{ "divided again", 20, 1 << 20, 1 << 20, 64 },
	{ "one row", 20, 1, 1 << 20, 64 },
	{ "few", 3, 8, 8, 64 },
	{ "one edge", 16, 1, 1, 64 },
	{ "all bits", 31, (u64)1 << 31, (u64)1 << 31, 500 },
};

struct pour_ctx {
	const struct shape *shape;
	bool undirected;
	u64 *key;		/* N keys */
};

static void draw(struct pour_ctx *p)
{
	for (u64 i = 0; i < N; i++) {
		u64 from = random_at(1, i) % p->shape->rows;
		u64 to = random_at(2, i) % p->shape->columns;
		bool reversed = p->undirected && from > to;

		if (reversed)
			p->key[i] = to << p->shape->bits | from | EDGE_REVERSED;
		else
			p->key[i] = from << p->shape->bits | to;
	}
}

static mill_err pour(void *arg, struct sorter *s, u64 source)
{
	const struct pour_ctx *p = arg;
	u64 *memory;

	for (u64 i = 0; i < PER_SOURCE; i++)
		TRY(sorter_put(s, sorter_deal(s), p->key[source * PER_SOURCE + i]));
	TRY(memory_new(&memory, NULL, PER_SOURCE, sizeof(*memory), "a source"));
	sorter_adopt(s, memory, PER_SOURCE * sizeof(*memory));
	return MILL_OK;
}

/* The edges that must come out; other: those of the other direction. */
struct expected {
	struct buckets *b;
	struct edges *e;
	bool other;
};

static mill_err compare(void *arg)
{
	struct expected *x = arg;
	struct bucket_stream from;
	struct edge_stream s;
	u64 n = 0;

	buckets_stream(x->b, x->other, &from, &s);
	assert_int_equal(s.total, x->e->n);
	for (;;) {
		OK(s.more(&s));
		if (!s.e->n)
			break;
		assert_true(n + s.e->n <= x->e->n);
		assert_memory_equal(s.e->key, x->e->key + n, s.e->n * sizeof(u64));
		n += s.e->n;
	}
	assert_int_equal(n, x->e->n);
	return MILL_OK;
}

/* Swaps the ends of all edges and sorts them. Loops of an undirected graph are left out. */
static void turn(struct edges *e)
{
	u64 n = 0, mask = edge_mask(e);

	for (u64 i = 0; i < e->n; i++) {
		u64 row = e->key[i] >> e->bits, column = e->key[i] & mask;

		if (row != column || !e->undirected)
			e->key[n++] = column << e->bits | row;
	}
	e->n = n;
	OK(edges_sort(e));
}

static void check(const struct shape *shape, bool undirected, enum mill_dedup rule,
		  struct pool *pool)
{
	static u64 key[N], copy[N];
	struct pour_ctx p = { .shape = shape, .undirected = undirected, .key = key };
	struct budget budget;
	struct ticker ticker;
	struct buckets *b;
	struct edges e = { .key = copy, .n = N, .bits = shape->bits, .undirected = undirected,
			   .budget = &budget, .pool = pool, .ticker = &ticker };
	struct edges_found wanted, found;
	struct expected x = { .e = &e };
	u64 n;
	struct buckets_setup setup = { .budget = &budget, .pool = pool, .ticker = &ticker,
				       .n = N * 20, .bits = shape->bits, .undirected = undirected,
				       .room = shape->room };

	budget_init(&budget, 64 * MIB);
	ticker_init(&ticker, NULL);
	draw(&p);
	memcpy(copy, key, sizeof(copy));
	OK(edges_sort(&e));
	OK(edges_reduce(&e, rule, &wanted));

	OK(buckets_new(&b, &setup));
	OK(buckets_fill(b, SOURCES, pour, &p));
	OK(buckets_reduce(b, rule, &found, &n));
	assert_int_equal(n, e.n);
	assert_int_equal(found.err, wanted.err);
	assert_true(!wanted.err || found.key == wanted.key);
	assert_int_equal(found.loops, wanted.loops);
	assert_int_equal(found.duplicates, wanted.duplicates);
	assert_int_equal(found.merged, wanted.merged);
	assert_int_equal(found.symmetric, wanted.symmetric);
	x.b = b;
	OK(compare(&x));
	turn(&e);
	if (undirected) {
		x.other = true;
		OK(buckets_write(b, compare, &x));
	} else {
		OK(buckets_turn(b));
		OK(compare(&x));
	}
	buckets_free(b);
	assert_int_equal(budget.used, 0);
}

static void test_shapes(void **state)
{
	static const enum mill_dedup rules[] = { MILL_DEDUP_NONE, MILL_DEDUP_FIRST,
						 MILL_DEDUP_ERROR };

	(void)state;
	for (unsigned threads = 1; threads <= 3; threads += 2) {
		struct pool *pool;

		OK(pool_new(&pool, threads));
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			for (size_t k = 0; k < ARRAY_LEN(rules); k++) {
				check(&shapes[i], false, rules[k], pool);
				check(&shapes[i], true, rules[k], pool);
			}
		pool_free(pool);
	}
}

/* Budgets that are too small, at any step: MILL_ENOMEM, and all memory is given back. */
static void test_budgets(void **state)
{
	static u64 key[N];
	struct shape shape = shapes[0];
	struct pour_ctx p = { .shape = &shape, .undirected = true, .key = key };
	struct pool *pool;
	struct ticker ticker;
	bool refused = false, done = false;

	(void)state;
	draw(&p);
	ticker_init(&ticker, NULL);
	OK(pool_new(&pool, 2));
	for (u64 limit = 16 * KIB; limit <= 4 * MIB; limit *= 2) {
		struct budget budget;
		struct buckets *b = NULL;
		struct edges_found found;
		u64 n;
		struct buckets_setup setup = { .budget = &budget, .pool = pool, .ticker = &ticker,
					       .n = N, .bits = shape.bits, .undirected = true };
		mill_err err;

		budget_init(&budget, limit);
		err = buckets_new(&b, &setup);
		if (!err)
			err = buckets_fill(b, SOURCES, pour, &p);
		if (!err)
			err = buckets_reduce(b, MILL_DEDUP_NONE, &found, &n);
		assert_true(!err || err == MILL_ENOMEM);
		refused |= err;
		done |= !err;
		buckets_free(b);
		assert_int_equal(budget.used, 0);
	}
	assert_true(refused && done);
	pool_free(pool);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_budgets),
};

SUITE(buckets, tests);
