/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates must fail: each test changes values of correct results. */
#include "expect.h"

/* Sets an element to `bad`: the certificate must fail. Restores the old value. */
static void spoil(mill_run *run, struct vec *v, u64 i, const void *bad, const char *name)
{
	u64 old = 0, now = 0;
	mill_err err;

	assert_true(v->size <= sizeof(old));
	OK(vec_get(v, i, &old));
	memcpy(&now, bad, v->size);
	if (now == old)
		return;
	OK(vec_set(v, i, bad));
	err = mill_run_check(run);
	if (err != MILL_ECHECK)
		fail_msg("%s: %s[%llu] is %llx instead of %llx: the certificate returns %d", name,
			 v->name, (unsigned long long)i, (unsigned long long)now,
			 (unsigned long long)old, (int)err);
	OK(vec_set(v, i, &old));
}

static const char *const device_names[] = { "2 threads", "2 threads, 1 frame", "opencl" };

/* Makes each distance too large by one, too small by one, infinite and zero. */
static void spoil_distances(mill_run *run, const char *name)
{
	struct vec *v = run->result.column[0].vec;

	for (u64 i = 0; i < v->n; i++) {
		u64 value = 0, none = UINT64_MAX, bad;

		OK(vec_get(v, i, &value));
		bad = value + 1;
		spoil(run, v, i, &bad, name);
		bad = value - 1; /* also of 0: all bits set is "not reached", or not a number */
		spoil(run, v, i, &bad, name);
		spoil(run, v, i, &none, name);
		bad = 0;
		spoil(run, v, i, &bad, name);
	}
}

/* Sets each parent to every other vertex and to numbers that are no vertices. */
static void spoil_parents(mill_run *run, const char *name)
{
	struct vec *v = run->result.column[1].vec;

	for (u64 i = 0; i < v->n; i++) {
		const u32 odd[] = { (u32)v->n, UINT32_MAX, UINT32_MAX - 1, 1u << 31 };

		for (u32 bad = 0; bad < v->n; bad++)
			spoil(run, v, i, &bad, name);
		for (size_t j = 0; j < ARRAY_LEN(odd); j++)
			spoil(run, v, i, &odd[j], name);
	}
}

static void test_bfs(void **state)
{
	static const char *const names[] = {
		"random, tiny", "random, tiny, undirected", "Graphie's figure 2", "components",
		"one vertex", "self-loops", "parallel edges",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t j = 0; j < ARRAY_LEN(device_names); j++)
			for (int parents = 0; parents < 2; parents++) {
				const struct config *c = config_named(device_names[j]);
				struct mill_options o = { .parents = parents };
				struct graph g;
				mill_store *store;
				mill_run *run;

				if (!config_usable(c) || (j && i) ||
				    !shape_make(&g, shape_named(names[i])))
					continue;
				store = graph_store(&g);
				run = run_open(store, c, o, "bfs", NULL);
				expect_bfs(&g, c->name, run, g.n / 2);
				spoil_distances(run, g.name);
				if (parents && g.n < 20)
					spoil_parents(run, g.name);
				OK(mill_run_check(run));
				mill_run_free(run);
				graph_store_drop(store);
				graph_release(&g);
			}
}

static void test_sssp(void **state)
{
	static const struct {
		enum mill_weight type;
		enum weighing how;
	} kinds[] = {
		{ MILL_WEIGHT_U32, WEIGH_SMALL },
		{ MILL_WEIGHT_U32, WEIGH_HUGE },
		{ MILL_WEIGHT_I32, WEIGH_SMALL },
		{ MILL_WEIGHT_F32, WEIGH_SMALL },
		{ MILL_WEIGHT_F64, WEIGH_SMALL },
		{ MILL_WEIGHT_F64, WEIGH_HUGE },
	};
	static const char *const names[] = {
		"random, tiny", "random, tiny, undirected", "Graphie's figure 2",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(kinds) * 2; i++) {
		size_t k = i % ARRAY_LEN(kinds);
		bool parents = i / ARRAY_LEN(kinds) % 2;
		struct graph g;
		mill_store *store;
		mill_run *run;

		assert_true(shape_make(&g, shape_named(names[i / ARRAY_LEN(kinds) / 2])));
		graph_weigh(&g, kinds[k].type, kinds[k].how, i);
		store = graph_store(&g);
		run = run_open(store, config_named("2 threads"),
			       (struct mill_options){ .parents = parents }, "sssp", NULL);
		expect_sssp(&g, weight_name(g.weight), run, g.n / 2, 0, false);
		spoil_distances(run, weight_name(g.weight));
		if (parents)
			spoil_parents(run, weight_name(g.weight));
		OK(mill_run_check(run));
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/*
 * 0 -> 1 -> 2 -> 3 -> 1, where all weights but the first are 0: a wrong result may have 1, 2
 * and 3 as parents of each other.
 */
static void test_parent_cycle(void **state)
{
	static const u32 arc[][2] = { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 1 }, { 3, 4 } };
	struct vec *parent;
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	graph_init(&g, "circle", 5);
	for (size_t i = 0; i < ARRAY_LEN(arc); i++)
		graph_add(&g, arc[i][0], arc[i][1]);
	g.weight = MILL_WEIGHT_U32;
	for (u64 i = 1; i < g.n_arcs; i++)
		g.arc[i].weight = 0;
	graph_index(&g);
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"),
		       (struct mill_options){ .parents = true }, "sssp", NULL);
	expect_sssp(&g, "circle", run, 0, 0, false);
	parent = run->result.column[1].vec;
	/* 3 -> 1 is tight too, but then 1, 2 and 3 are not connected to the root. */
	spoil(run, parent, 1, &(u32){ 3 }, "circle");
	spoil(run, parent, 2, &(u32){ 2 }, "circle");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Returns the bits of a score in the format of the precision. */
static u64 score_of(enum mill_precision p, f64 x)
{
	f32 narrow = (f32)x;
	u64 bits = 0;

	if (p == MILL_EXACT)
		return (u64)(x * 0x1p62);
	if (p == MILL_F32)
		memcpy(&bits, &narrow, sizeof(narrow));
	else
		memcpy(&bits, &x, sizeof(x));
	return bits;
}

static void spoil_scores(const struct graph *g, mill_run *run, enum mill_precision p,
			 const char *name)
{
	struct vec *v = run->result.column[0].vec;
	f64 *score = calloc(g->n, sizeof(*score));
	f32 *narrow = calloc(g->n, sizeof(*narrow));

	OK(mill_run_values(run, "score", true, p == MILL_F32 ? (void *)narrow : score, NULL));
	for (u64 i = 0; i < v->n; i++) {
		u64 j = (i + 1) % v->n, old = 0, bad;
		f64 x = p == MILL_F32 ? (f64)narrow[i] : score[i];
		f64 y = p == MILL_F32 ? (f64)narrow[j] : score[j];

		bad = score_of(p, x + 1e-3);
		spoil(run, v, i, &bad, name);
		bad = score_of(p, x * 0.9);
		spoil(run, v, i, &bad, name);
		bad = score_of(p, 0);
		spoil(run, v, i, &bad, name);
		if (p != MILL_EXACT) {
			bad = score_of(p, -x);
			spoil(run, v, i, &bad, name);
			bad = score_of(p, __builtin_nan(""));
			spoil(run, v, i, &bad, name);
			bad = score_of(p, __builtin_inf());
			spoil(run, v, i, &bad, name);
		}
		/* Moves a tenth of the score to the next vertex: the sum is the same. */
		OK(vec_get(v, j, &old));
		bad = score_of(p, y + x * 0.1);
		OK(vec_set(v, j, &bad));
		bad = score_of(p, x * 0.9);
		spoil(run, v, i, &bad, name);
		OK(vec_set(v, j, &old));
	}
	free(score);
	free(narrow);
}

static void test_pagerank(void **state)
{
	static const char *const names[] = {
		"random, tiny", "random, tiny, undirected", "Gunrock's sample",
	};
	static const enum mill_precision precisions[] = { MILL_F32, MILL_F64, MILL_EXACT };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t j = 0; j < ARRAY_LEN(precisions) * ARRAY_LEN(device_names); j++) {
			const struct config *c =
				config_named(device_names[j / ARRAY_LEN(precisions)]);
			struct mill_pagerank how = {
				.precision = precisions[j % ARRAY_LEN(precisions)]
			};
			struct graph g;
			mill_store *store;
			mill_run *run;

			if (!config_usable(c) || (i && j >= ARRAY_LEN(precisions)) ||
			    !shape_make(&g, shape_named(names[i])))
				continue;
			store = graph_store(&g);
			run = run_open(store, c, (struct mill_options){ .check = true },
				       "pagerank", &how);
			OK(mill_pagerank(run, &how));
			OK(mill_run_check(run));
			spoil_scores(&g, run, how.precision, g.name);
			OK(mill_run_check(run));
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bfs),
	cmocka_unit_test(test_sssp),
	cmocka_unit_test(test_parent_cycle),
	cmocka_unit_test(test_pagerank),
};

SUITE(check, tests, .setup = scratch_make, .teardown = scratch_remove);
