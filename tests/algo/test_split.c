/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of waiting vertices: their borders and the buckets of keys, compared with plain
 * loops; shortest paths and peeling with several numbers of buckets, resident, streamed, on a
 * device and asynchronous, compared with naive algorithms.
 */
#include "expect.h"

#include "device/dialect.h"
#include "op/op.h"

#include "algo/kcore.op.h"

#define PROGRAM kcore
#define FIELDS KCORE_FIELDS
#define SOURCE "algo/kcore.op.h"
#define PREFETCH core
#define UNIQUE 1
#define NEAR_FAR 1
#define CASCADE 1
#define EDGE_KEY 1
#include "op/advance.inc"

static const u32 numbers[] = { 2, 5, 64 };

/* ---- Borders ---- */

static const struct {
	const char *name;
	u64 begin, width;
	f64 real;		/* not 0: keys are f64, and this is the width */
	u32 n;
	u64 border[5];
} borders[] = {
	{ "two", 0, 10, 0, 2, { 10 } },
	{ "five", 7, 10, 0, 5, { 17, 27, 37, 47 } },
	{ "narrow", 3, 1, 0, 4, { 4, 5, 6 } },
	{ "up to the largest key", UINT64_MAX - 25, 10, 0, 5,
	  { UINT64_MAX - 15, UINT64_MAX - 5, UINT64_MAX, UINT64_MAX } },
	{ "at the largest key", UINT64_MAX, 1, 0, 3, { UINT64_MAX, UINT64_MAX } },
	{ "the largest width", 5, UINT64_MAX, 0, 4, { UINT64_MAX, UINT64_MAX, UINT64_MAX } },
	{ "reals", 0x3ff0000000000000, 0, 0.5, 4,
	  { 0x3ff8000000000000, 0x4000000000000000, 0x4004000000000000 } },
	{ "reals, a width that rounding removes", 0x43f0000000000000, 0, 1e-9, 3,
	  { 0x43f0000000000001, 0x43f0000000000002 } },
	{ "reals, the smallest width", 0, 0, 0x1p-1074, 3, { 1, 2 } },
	{ "reals, up to infinity", 0x7fd0000000000000, 0, 1e308, 4,
	  { 0x7fe9ccf385ebc8a0, 0x7ff0000000000000, 0x7ff0000000000001 } },
	{ "reals, an infinite width", 0, 0, __builtin_inf(), 2, { 0x7ff0000000000000 } },
};

static void test_borders(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(borders); i++) {
		struct piles b = {
			.n = borders[i].n,
			.width = borders[i].width,
			.real = borders[i].real > 0,
		};

		if (b.real)
			b.width = bits_f64(borders[i].real);
		OK(piles_begin(&b, borders[i].begin));
		assert_int_equal(b.limit, b.border[0]);
		for (u32 k = 0; k < b.n - 1; k++)
			if (b.border[k] != borders[i].border[k])
				fail_msg("%s: bucket %u ends at %llx, not %llx", borders[i].name, k,
					 (unsigned long long)b.border[k],
					 (unsigned long long)borders[i].border[k]);
	}
}

/* Compares the buckets of keys at, below and above each border with a linear search. */
static void test_buckets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct piles b = { .n = numbers[i], .width = 100 };

		OK(piles_begin(&b, 1000));
		for (u32 near = 0; near < piles_far(&b); near++)
			for (u64 key = b.border[near]; key < piles_end(&b) + 300;
			     key += key % 100 == 1 ? 98 : 1) {
				u32 got = dev_bucket(b.border, near + 1, piles_far(&b), key);
				u32 want = near + 1;

				while (want < piles_far(&b) && key >= b.border[want])
					want++;
				if (got != want)
					fail_msg("%u buckets, %u near: key %llu is in %u, not %u",
						 b.n, near, (unsigned long long)key, got, want);
			}
	}
}

/*
 * Checks that filled buckets open in order. Then the far vertices get new borders: from their
 * nearest key, or from the end of the last bucket if that key is not given.
 */
static void test_order(void **state)
{
	struct piles b = { .n = 8, .width = 10 };
	u64 settled;
	u32 from;

	(void)state;
	OK(piles_begin(&b, 0));
	b.filled = 1 << 2 | 1 << 5;
	OK(piles_open(&b, UINT64_MAX, &from, &settled));
	assert_true(from == 2 && settled == 20 && b.limit == 30 && b.near == 2);
	assert_true(b.filled == 1 << 5);
	OK(piles_open(&b, 3, &from, &settled));
	assert_true(from == 5 && settled == 50 && b.limit == 60);
	OK(piles_open(&b, UINT64_MAX, &from, &settled));
	assert_true(from == 7 && settled == 70 && b.limit == 80 && b.near == 0);
	assert_true(piles_end(&b) == 140);
	OK(piles_open(&b, 1234, &from, &settled));
	assert_true(from == 7 && settled == 140 && b.limit == 1244 && piles_end(&b) == 1304);
}

/* ---- Shortest paths ---- */

static const struct {
	const char *shape;
	enum mill_weight type;
	enum weighing how;
	f64 delta;
} paths[] = {
	{ "grid", MILL_WEIGHT_U32, WEIGH_SMALL, 40 },
	{ "path against the ids", MILL_WEIGHT_U32, WEIGH_HUGE, 1 },
	{ "hubs", MILL_WEIGHT_U32, WEIGH_SMALL, 7 },
	{ "random, dense", MILL_WEIGHT_F32, WEIGH_SMALL, 0.125 },
	{ "components", MILL_WEIGHT_F64, WEIGH_ZEROS, 1e-300 },
};

static const struct spot {
	const char *config;
	bool async;
} spots[] = {
	{ "1 thread", false },
	{ "4 threads", false },
	{ "2 threads, 1 frame", false },
	{ "opencl", false },
	{ "opencl, 2 pages", false },
	{ "4 threads", true },
	{ "2 threads, 2 frames", true },
};

static void try_paths(const struct graph *g, mill_store *store, const struct spot *p, f64 delta)
{
	const struct config *c = config_named(p->config);
	u64 hash = 0;

	if (!config_usable(c))
		return;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct mill_sssp how = { .delta = delta, .buckets = numbers[i] };
		struct mill_options o = { .async = p->async };
		mill_run *run = run_open(store, c, o, "sssp", &how);
		char where[96];
		u64 got;

		snprintf(where, sizeof(where), "%s%s, %u buckets", c->name,
			 p->async ? ", async" : "", numbers[i]);
		got = expect_sssp_with(g, where, run, g->n / 2, how);
		if (i && got != hash)
			fail_msg("%s, %s: another hash", g->name, where);
		hash = got;
		mill_run_free(run);
	}
}

static void test_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make_some(&g, shape_named(paths[i].shape)))
			continue;
		graph_weigh(&g, paths[i].type, paths[i].how, i);
		store = graph_store(&g);
		for (size_t k = 0; k < ARRAY_LEN(spots); k++)
			try_paths(&g, store, &spots[k], paths[i].delta);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void test_refused(void **state)
{
	static const u32 wrong[] = { 1, 65, UINT32_MAX };
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("random, tiny")));
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"), (struct mill_options){ 0 }, "sssp", NULL);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		REFUSED(MILL_EUSAGE, mill_sssp(run, &(struct mill_sssp){ .buckets = wrong[i] }),
			"buckets");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- Peeling ---- */

struct bench {
	mill_run *run;
	struct kcore_args args;
	struct frontier *front;
};

/* Begins a run with the state of kcore.c and some buckets. */
static void bench_init(struct bench *b, mill_store *store, const struct config *c, u32 buckets)
{
	struct declaration d;
	struct mill_plan plan;

	*b = (struct bench){ .run = run_open(store, c, (struct mill_options){ 0 }, "kcore", NULL) };
	declaration_init(&d, b->run, "peel", false);
	declare_state(&d, &b->args.core, "core", sizeof(u32), NULL);
	declare_frontier(&d, &b->front, buckets);
	declare_advance(&d, &kcore_advance, MAIN);
	OK(declare_view(&d, VIEW_SIMPLE, "peel"));
	OK(declaration_end(&d));
	if (c->device && c->pages != AMPLE) {
		run_plan(b->run, &d.need, &plan);
		b->run->device->own.limit =
			plan.device_needed + (c->pages - 2) * (u64)b->run->store->page_size;
	}
	OK(run_begin(b->run, &d.need));
	OK(declaration_make(&d));
	OK(run_degrees(b->run, b->args.core));
}

/* Peels with the loop of kcore.c, after checks that bad widths are refused. */
static void peel(struct bench *b)
{
	struct frontier *f = b->front;

	REFUSED(MILL_EUSAGE, frontier_widths(f, 0, false), "width 0");
	REFUSED(MILL_EUSAGE, frontier_widths(f, 0, true), "width 0.0");
	REFUSED(MILL_EUSAGE, frontier_widths(f, bits_f64(-1), true), "width -1");
	REFUSED(MILL_EUSAGE, frontier_widths(f, bits_f64(__builtin_nan("")), true), "width nan");
	OK(frontier_widths(f, 1, false));
	OK(frontier_wait_all(f, b->run->store->n_linked));
	for (;;) {
		OK(op_split(b->run, &kcore_advance, &b->args, f));
		if (!f->n)
			return;
		b->args.k = (u32)f->piles.limit - 1;
		b->args.far = (u32)piles_end(&f->piles);
		while (f->n)
			OK(op_advance(b->run, &kcore_advance, &b->args, f));
	}
}

/* Removes the vertex with the fewest remaining neighbours until none is left. Resident. */
static void naive_peel(struct bench *b, u32 *core)
{
	const struct segment *s = run_direction(b->run, false)->segment;
	u64 n = b->run->store->n_linked, rows = run_direction(b->run, false)->n_rows;
	bool *gone = calloc(n + 1, sizeof(*gone));
	u32 k = 0;

	assert_true(run_direction(b->run, false)->n_segments <= 1);
	for (u64 v = 0; v < n; v++)
		core[v] = v < rows ? s->row[v + 1] - s->row[v] : 0;
	for (u64 taken = 0; taken < n; taken++) {
		u64 least = n;

		for (u64 v = 0; v < n; v++)
			if (!gone[v] && (least == n || core[v] < core[least]))
				least = v;
		gone[least] = true;
		k = core[least] > k ? core[least] : k;
		core[least] = k;
		for (u32 i = least < rows ? s->row[least] : 0;
		     least < rows && i < s->row[least + 1]; i++)
			core[s->neighbour[i]] -= !gone[s->neighbour[i]];
	}
	free(gone);
}

static void test_peel(void **state)
{
	static const char *const names[] = {
		"random, tiny, undirected", "grid", "clique", "self-loops, undirected", "hubs",
		"one vertex", "random, dense, undirected",
	};
	static const char *const where[] = { "1 thread", "4 threads", "2 threads, 2 frames",
					     "opencl", "opencl, 2 pages" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;
		mill_store *store;
		struct bench b;
		u32 *want, *got;
		u64 n;

		if (!shape_make_some(&g, shape_named(names[i])))
			continue;
		store = graph_store(&g);
		bench_init(&b, store, config_named("1 thread"), 2);
		n = b.run->store->n_linked;
		want = calloc(n + 1, sizeof(*want));
		naive_peel(&b, want);
		mill_run_free(b.run);
		for (size_t k = 0; k < ARRAY_LEN(where) * ARRAY_LEN(numbers); k++) {
			const struct config *c = config_named(where[k / ARRAY_LEN(numbers)]);
			u32 buckets = numbers[k % ARRAY_LEN(numbers)];

			if (!config_usable(c))
				continue;
			bench_init(&b, store, c, buckets);
			peel(&b);
			OK(vec_map(b.run, b.args.core, &got));
			for (u64 v = 0; v < n; v++)
				if (got[v] != want[v])
					fail_msg("%s, %s, %u buckets: core of %llu is %u, not %u",
						 g.name, c->name, buckets, (unsigned long long)v,
						 got[v], want[v]);
			vec_unmap(b.args.core, got);
			if (!b.run->device->native)
				assert_true(b.run->device->own.peak <= b.run->device->own.limit);
			mill_run_free(b.run);
		}
		free(want);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_borders),
	cmocka_unit_test(test_buckets),
	cmocka_unit_test(test_order),
	cmocka_unit_test(test_paths),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_peel),
};

SUITE(split, tests, .setup = scratch_make, .teardown = scratch_remove);
