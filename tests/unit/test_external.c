/* SPDX-License-Identifier: Apache-2.0 */
/* A graph that is sorted on disk becomes, byte for byte, the same store as one sorted in memory. */
#include "base/fault.h"
#include "base/random.h"
#include "base/sort.h"
#include "import/builder.h"
#include "import/runs.h"
#include "readback.h"

#define N 400u

enum spread { DENSE, CLOSE, FAR, GROWING, SPREADS };

static u64 id_of(enum spread how, u64 x, u64 i, u64 vertices)
{
	switch (how) {
	case CLOSE:
		return 3 * x + 5;
	case FAR:
		return x % 3 ? random_mix(x + 1) : x;
	case GROWING:	/* small ids that fit a bitmap, then some large ones */
		return i < N / 2 || x % 5 ? x : x << 40 | vertices;
	default:
		return x;
	}
}

static u64 weight_at(u64 seed, u64 i)
{
	f64 w = (f64)random_below(seed, i, 50);
	u64 bits;

	memcpy(&bits, &w, sizeof(bits));
	return bits;
}

/* Builds graph k of the test. hold: edges that the builder may hold in memory; 0: all. */
static mill_err build(unsigned k, struct mill_target *t, u64 hold, struct mill_built *built)
{
	static const enum mill_weight weights[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32,
						    MILL_WEIGHT_F32, MILL_WEIGHT_F64 };
	static const enum mill_codec codecs[] = { MILL_CODEC_PACKED, MILL_CODEC_RAW };
	enum spread how = (enum spread)(k % SPREADS);
	u64 vertices = how == DENSE ? 200 : 20 + random_below(k, 0, 180);
	u64 targets = k % 3 ? vertices : 10, n = random_below(k, 1, N);
	enum mill_weight weight = weights[k / 8 % 4];
	struct builder_options o = {
		.target = t,
		.undirected = k / 4 % 2,
		.dedup = (enum mill_dedup)(k / 3 % 5),
		.loops = (enum mill_loops)(k / 5 % 2),
		.weight = weight ? MILL_WEIGHT_F64 : weight,
		.dense = how == DENSE ? vertices : 0,
		.origin = "a test",
	};
	struct builder *b;
	mill_err err = MILL_OK;

	fault_set_hold(hold);
	t->out_only = k % 7 == 0;
	t->order = (enum mill_order)(k / 2 % 3);
	t->codec = codecs[k % 2];
	OK(builder_new(&b, &o));
	for (u64 i = 0; i < n && !err; i++) {
		struct raw_edge e = {
			id_of(how, random_below(k + 1000, 2 * i, vertices), i, vertices),
			id_of(how, random_below(k + 1000, 2 * i + 1, targets), i, vertices),
			weight ? weight_at(k, i) : 0,
		};
		u64 alone = id_of(how, vertices - 1 - i % 5, i, vertices);

		err = builder_add(b, &e, 1);
		if (!err && i % 50 == 7)
			err = builder_add_vertices(b, &alone, 1);
	}
	if (weight)
		builder_set_weight(b, weight);
	if (!err)
		err = builder_finish(b, built);
	else
		builder_abandon(b);
	fault_set_hold(0);
	return err;
}

static void test_same(void **state)
{
	struct mill_target a = { .path = in_scratch("a"), .force = true, .page_size = 64 * KIB,
				 .threads = 2 };
	struct mill_target b = a;

	(void)state;
	b.path = in_scratch("b");
	b.tmp = scratch;
	for (unsigned k = 0; k < 80; k++) {
		struct mill_built x = { .note = "" }, y = x;
		u64 hold = k % 4 ? 40 + k % 60 : 3 + k % 5;
		mill_err err = build(k, &a, 0, &x);

		if (build(k, &b, hold, &y) != err)
			fail_msg("graph %u: %s", k, mill_error());
		if (err)
			continue;
		x.seconds = y.seconds = 0;
		assert_same_store(a.path, b.path);
		if (memcmp(&x, &y, sizeof(x)))
			fail_msg("graph %u: struct mill_built differs", k);
	}
}

/* Checks that no hidden file and no unfinished store is left in the scratch directory. */
static void assert_clean(void)
{
	DIR *d = opendir(scratch);

	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] == '.' && e->d_name[1] && e->d_name[1] != '.')
			fail_msg("%s was left", e->d_name);
	closedir(d);
	assert_false(path_exists(in_scratch("loop.new")));
}

static void test_refused(void **state)
{
	static const struct {
		enum mill_dedup dedup;
		enum mill_loops loops;
		const char *says;
	} cases[] = {
		{ MILL_DEDUP_NONE, MILL_LOOPS_ERROR, "vertex 70 has an edge to itself" },
		{ MILL_DEDUP_ERROR, MILL_LOOPS_KEEP,
		  "the edge from 30 to 31 is listed more than once" },
	};

	(void)state;
	for (u64 far = 0; far < 2; far++)
		for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
			struct mill_target t = { .path = in_scratch("loop"), .tmp = scratch };
			struct builder_options o = { .target = &t, .dedup = cases[k].dedup,
						     .loops = cases[k].loops, .origin = "a test" };
			struct mill_built built;
			struct builder *b;
			mill_err err = MILL_OK;

			fault_set_hold(8);
			OK(builder_new(&b, &o));
			if (far)
				OK(builder_add(b, &(struct raw_edge){ UINT64_MAX, 5, 0 }, 1));
			for (u64 i = 0; !err && i < 100; i++) {
				struct raw_edge edge = { i, i == 70 ? 70 : i + 1, 0 };

				err = builder_add(b, &edge, 1);
			}
			if (!err)
				err = builder_add(b, &(struct raw_edge){ 30, 31, 0 }, 1);
			if (!err)
				err = builder_finish(b, &built);
			else
				builder_abandon(b);
			fault_set_hold(0);
			assert_int_equal(err, MILL_EINPUT);
			assert_string_equal(mill_error(), cases[k].says);
			assert_false(path_exists(t.path));
			assert_clean();
		}
}

/*
 * struct runs alone. What comes out is sorted, and equal keys keep their order, for any length of
 * runs and any room for the output.
 */
static void test_runs(void **state)
{
	u64 key[600], weight[600], sorted[600], order[600];

	(void)state;
	for (unsigned k = 0; k < 300; k++) {
		u64 n = 1 + random_below(k, 0, 600), values = 1 + random_below(k, 1, 1000);
		u64 room = 0, length = 1 + random_below(k, 2, n), run = 0, at = 0, most = 0;
		unsigned bits = k % 3 ? 64 : 63, shift = k % 5 ? 0 : 50;
		struct budget budget;
		struct runs r;
		struct edges e = { .type = MILL_WEIGHT_F64, .budget = &budget };

		budget_init(&budget, 64 * MIB);
		if (k % 2)
			fault_set_hold(1);	/* remembers most keys */
		OK(runs_open(&r, scratch, &budget, true, bits));
		for (u64 i = 0; i < n; i++) {
			sorted[i] = key[i] = random_below(k, 10 + i, values) << shift;
			if (bits == 63 && i % 2)
				key[i] |= EDGE_REVERSED;
			order[i] = weight[i] = i;
		}
		for (u64 i = 0; i < n; i += run) {
			run = min_u64(length, n - i);
			OK(sort_u64(NULL, &budget, key + i, weight + i, run, bits));
			OK(runs_add(&r, key + i, weight + i, run));
		}
		OK(sort_u64(NULL, &budget, sorted, order, n, 64));
		for (u64 i = 0; i < n; i++) {	/* most: the largest number of equal keys */
			u64 same = 0;

			for (u64 j = 0; j < n; j++)
				same += sorted[j] == sorted[i];
			most = max_u64(most, same);
		}
		for (u64 round = 0; round < 3; round++) {
			bool unfinished = false;	/* the rest of a group must come next */

			if (round < 2)	/* every group fits */
				room = most + random_below(k, 3 + round, n);
			else
				room = 1 + random_below(k, 5, 5);
			e.n = room;
			OK(edges_alloc(&e));
			runs_rewind(&r);
			for (at = 0; at < n; at += e.n) {
				OK(runs_next(&r, &e, room));
				assert_true(e.n > 0 && e.n <= room);
				assert_true(room < most || !r.partial);
				/* A piece of a group comes without other keys. */
				if (r.partial)
					assert_int_equal(e.key[0] & r.mask,
							 e.key[e.n - 1] & r.mask);
				if (unfinished)
					assert_true(r.partial && sorted[at] == sorted[at - 1]);
				unfinished = r.partial && !r.partial_last;
				for (u64 i = 0; i < e.n; i++) {
					assert_int_equal(e.key[i] & r.mask, sorted[at + i]);
					assert_int_equal(e.weight[i], order[at + i]);
				}
			}
			OK(runs_next(&r, &e, room));
			assert_int_equal(e.n, 0);
			edges_release(&e);
		}
		runs_release(&r);
		fault_set_hold(0);
		assert_int_equal(budget.used, 0);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_runs),
	cmocka_unit_test(test_same),
	cmocka_unit_test(test_refused),
};

SUITE(external, tests, .setup = scratch_make, .teardown = scratch_remove);
