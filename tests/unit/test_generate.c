/* SPDX-License-Identifier: Apache-2.0 */
/* Generators: the same bytes with any number of threads, the promised shapes, refused options. */
#include <math.h>

#include "base/types.h"
#include "readback.h"

static struct mill_built made;

static mill_err make(const char *name, struct mill_generate how)
{
	how.target.path = in_scratch(name);
	how.target.force = true;
	return mill_generate(&made, &how);
}

static struct store *open_made(const char *name)
{
	struct store *st;

	OK(store_open(&st, in_scratch(name), NULL));
	assert_verifies(st);
	return st;
}

static void test_same_on_any_threads(void **state)
{
	static const struct mill_generate cases[] = {
		{ .kind = "kron", .scale = 7, .seed = 3 },
		{ .kind = "kron",
		  .vertices = 200,
		  .degree = 7.5,
		  .directed = true,
		  .weight = MILL_WEIGHT_U32 },
		{ .kind = "kron",
		  .scale = 6,
		  .multigraph = true,
		  .weight = MILL_WEIGHT_F32 },
		{ .kind = "uniform",
		  .vertices = 250,
		  .degree = 30,
		  .weight = MILL_WEIGHT_F32 },
		{ .kind = "grid", .vertices = 230, .weight = MILL_WEIGHT_U32 },
		{ .kind = "path", .vertices = 250, .directed = true },
		{ .kind = "star", .vertices = 250, .weight = MILL_WEIGHT_U32 },
		{ .kind = "rmat", .scale = 7, .weight = MILL_WEIGHT_U32 },
		{ .kind = "clique", .vertices = 50 },
		{ .kind = "smallworld", .vertices = 200, .degree = 4.5 },
		{ .kind = "powerlaw", .vertices = 200, .weight = MILL_WEIGHT_F32 },
#if MILL_VID_BITS == 32
		{ .kind = "kron", .scale = 14 },
		{ .kind = "kron",
		  .scale = 13,
		  .directed = true,
		  .weight = MILL_WEIGHT_U32 },
		{ .kind = "grid", .scale = 17 },
#endif
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_generate how = cases[i];

		how.target.page_size = 64 * KIB;
		how.target.threads = 1;
		OK(make("one", how));
		for (u32 threads = 2; threads <= 5; threads += 3) {
			how.target.threads = threads;
			OK(make("many", how));
			assert_same_store(in_scratch("one"), in_scratch("many"));
		}
		store_close(open_made("many"));
		how.seed++;
		OK(make("many", how));
		store_close(open_made("many"));
	}
}

static void test_seed_matters(void **state)
{
	struct mill_generate how = { .kind = "kron", .scale = 7 };
	struct store *a, *b;
	struct arcs x, y;

	(void)state;
	OK(make("a", how));
	how.seed = 1;
	OK(make("b", how));
	a = open_made("a");
	b = open_made("b");
	x = read_arcs(a, false);
	y = read_arcs(b, false);
	assert_true(x.n != y.n || memcmp(x.arc, y.arc, x.n * sizeof(*x.arc)));
	assert_string_not_equal(a->uuid, b->uuid);
	free(x.arc);
	free(y.arc);
	store_close(a);
	store_close(b);
}

/* The numbers of vertices, edges and stored edges; an undirected edge is stored twice. */
static void test_counts(void **state)
{
	static const struct {
		struct mill_generate how;
		u64 vertices, edges, stored;
	} cases[] = {
		{ { .kind = "path", .vertices = 1 }, 1, 0, 0 },
		{ { .kind = "path", .scale = 0 }, 1, 0, 0 },
		{ { .kind = "path", .vertices = 100 }, 100, 99, 198 },
		{ { .kind = "path", .scale = 7, .directed = true }, 128, 127, 127 },
		{ { .kind = "star", .vertices = 254 }, 254, 253, 506 },
		{ { .kind = "star", .vertices = 10, .directed = true }, 10, 9, 9 },
		{ { .kind = "grid", .vertices = 1 }, 1, 0, 0 },
		{ { .kind = "grid", .vertices = 15 }, 9, 12, 24 },
		{ { .kind = "grid", .vertices = 16, .directed = true }, 16, 24, 24 },
		{ { .kind = "grid", .scale = 5 }, 32, 52, 104 },
		{ { .kind = "grid", .scale = 1 }, 2, 1, 2 },
		{ { .kind = "clique", .vertices = 1 }, 1, 0, 0 },
		{ { .kind = "clique", .vertices = 20 }, 20, 190, 380 },
		{ { .kind = "clique", .scale = 4, .directed = true }, 16, 240, 240 },
		{ { .kind = "smallworld", .vertices = 50, .degree = 2, .directed = true,
		    .multigraph = true },
		  50,
		  100,
		  100 },
		{ { .kind = "powerlaw", .vertices = 50, .degree = 3, .directed = true,
		    .multigraph = true },
		  50,
		  150,
		  150 },
		{ { .kind = "kron", .scale = 0 }, 1, 0, 0 },
		{ { .kind = "kron", .scale = 0, .multigraph = true }, 1, 16, 16 },
		{ { .kind = "uniform", .vertices = 1, .degree = 3, .multigraph = true },
		  1,
		  3,
		  3 },
		{ { .kind = "uniform",
		    .vertices = 50,
		    .directed = true,
		    .multigraph = true },
		  50,
		  800,
		  800 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct store *st;

		OK(make("counts", cases[i].how));
		st = open_made("counts");
		assert_int_equal(st->vertices, cases[i].vertices);
		assert_int_equal(st->edges, cases[i].edges);
		assert_int_equal(st->stored_edges, cases[i].stored);
		assert_int_equal(made.vertices, cases[i].vertices);
		assert_int_equal(made.edges, cases[i].edges);
		assert_int_equal(st->directed, cases[i].how.directed);
		store_close(st);
	}
}

static void test_shapes(void **state)
{
	struct store *st;
	struct arcs a;

	(void)state;
	OK(make("shape", (struct mill_generate){
				 .kind = "grid", .vertices = 100, .directed = true }));
	st = open_made("shape");
	a = read_arcs(st, false);
	for (u64 i = 0; i < a.n; i++) {
		u64 from = a.arc[i].from, to = a.arc[i].to;

		assert_true(to == from + 10 || (to == from + 1 && from / 10 == to / 10));
	}
	free(a.arc);
	store_close(st);

	OK(make("shape", (struct mill_generate){
				 .kind = "star", .vertices = 50, .directed = true }));
	st = open_made("shape");
	assert_int_equal(st->sources, 1);
	assert_int_equal(st->max_degree, 49);
	store_close(st);

	/* A simple graph: no loops, no parallel edges, both directions have the same weight. */
	OK(make("shape", (struct mill_generate){
				 .kind = "kron", .scale = 7, .weight = MILL_WEIGHT_U32 }));
	st = open_made("shape");
	a = read_arcs(st, false);
	for (u64 i = 0; i < a.n; i++) {
		assert_true(a.arc[i].from != a.arc[i].to);
		assert_in_range(a.arc[i].weight, 1, 255);
		if (i && a.arc[i].from == a.arc[i - 1].from)
			assert_true(a.arc[i].to != a.arc[i - 1].to);
		for (u64 j = 0; j < a.n; j++)
			if (a.arc[j].from == a.arc[i].to && a.arc[j].to == a.arc[i].from)
				assert_int_equal(a.arc[j].weight, a.arc[i].weight);
	}
	assert_true(made.duplicates && made.self_loops && made.symmetric);
	free(a.arc);
	store_close(st);

	OK(make("shape", (struct mill_generate){ .kind = "uniform",
						 .scale = 7,
						 .degree = 20,
						 .weight = MILL_WEIGHT_F32 }));
	st = open_made("shape");
	assert_true(st->min_weight > 0 && st->max_weight <= 1);
	assert_true(fabs(st->sum_weight / (f64)st->stored_edges - .5) < .1);
	store_close(st);

	/* A multigraph keeps all edges; also undirected ones, in whichever direction drawn. */
	OK(make("shape",
		(struct mill_generate){ .kind = "kron", .scale = 4, .multigraph = true }));
	assert_int_equal(made.edges, 256);
	store_close(open_made("shape"));
}

/* The shares of the quadrants show in the degrees: a = .57 is skewed, a quarter each is not. */
static void test_skew(void **state)
{
	struct store *st;
	u64 max_skewed;

	(void)state;
	OK(make("skew", (struct mill_generate){ .kind = "kron",
						.scale = 7,
						.degree = 100,
						.multigraph = true,
						.directed = true }));
	st = open_made("skew");
	max_skewed = st->max_degree;
	store_close(st);
	OK(make("skew", (struct mill_generate){ .kind = "kron",
						.scale = 7,
						.degree = 100,
						.multigraph = true,
						.directed = true,
						.a = .25,
						.b = .25,
						.c = .25 }));
	st = open_made("skew");
	assert_true(max_skewed > 3 * st->max_degree);
	store_close(st);
	/* rmat does not rename vertices: the first one has the largest degree. */
	OK(make("skew", (struct mill_generate){ .kind = "rmat", .scale = 7, .directed = true }));
	st = open_made("skew");
	for (u64 v = 0; v < st->sources; v++) {
		u32 degree;

		OK(store_degree(st, (vid)v, &degree));
		assert_true(!v == (degree == st->max_degree));
	}
	store_close(st);
	OK(make("skew", (struct mill_generate){ .kind = "powerlaw",
						.scale = 7,
						.degree = 100,
						.multigraph = true,
						.directed = true }));
	st = open_made("skew");
	assert_in_range(st->max_degree, 1000, 4000);	/* the first of 128: 128^(-1/3) of 12,800 */
	store_close(st);
	/* All edges fall into one corner: they are loops of one vertex, whatever its new number. */
	OK(make("skew", (struct mill_generate){ .kind = "kron",
						.vertices = 100,
						.multigraph = true,
						.a = 1,
						.b = 1e-30,
						.c = 1e-30 }));
	assert_int_equal(made.edges, made.self_loops);
	assert_int_equal(made.edges, 1600);
}

static void test_refused(void **state)
{
	static const struct {
		struct mill_generate how;
		mill_err err;
	} cases[] = {
		{ { .kind = "krone", .scale = 3 }, MILL_EUSAGE },
		{ { .scale = 3 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .vertices = 8 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 32 }, MILL_ELIMIT },
		{ { .kind = "kron", .scale = UINT32_MAX }, MILL_ELIMIT },
		{ { .kind = "path", .vertices = MAX_VERTICES + 1 }, MILL_ELIMIT },
		{ { .kind = "grid", .vertices = UINT64_MAX }, MILL_ELIMIT },
		{ { .kind = "uniform", .vertices = 100, .degree = 1e30 }, MILL_ELIMIT },
		{ { .kind = "uniform", .vertices = 100, .degree = -1 }, MILL_EUSAGE },
		{ { .kind = "uniform", .vertices = 100, .degree = NAN }, MILL_EUSAGE },
		{ { .kind = "uniform", .vertices = 100, .degree = INFINITY }, MILL_EUSAGE },
		{ { .kind = "uniform", .vertices = 100, .a = .5 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .a = .9 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .b = -.1 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .c = NAN }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .weight = MILL_WEIGHT_I32 }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .weight = MILL_WEIGHT_F64 }, MILL_EUSAGE },
		{ { .kind = "grid", .scale = 3, .degree = 4 }, MILL_EUSAGE },
		{ { .kind = "path", .scale = 3, .multigraph = true }, MILL_EUSAGE },
		{ { .kind = "kron", .scale = 3, .target.page_size = 100 }, MILL_EUSAGE },
#if MILL_VID_BITS != 32
		{ { .kind = "kron", .scale = 8 }, MILL_ELIMIT },
		{ { .kind = "path", .vertices = 256 }, MILL_ELIMIT },
		{ { .kind = "uniform", .vertices = 250, .degree = 300 }, MILL_ELIMIT },
		{ { .kind = "uniform", .vertices = 250, .degree = 150, .multigraph = true },
		  MILL_ELIMIT },
#endif
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (make("refused", cases[i].how) != cases[i].err)
			fail_msg("case %zu: %s", i, mill_error());
		assert_false(path_exists(in_scratch("refused")));
		assert_false(path_exists(in_scratch("refused.new")));
	}
}

static void test_names(void **state)
{
	(void)state;
	for (const char *const *name = mill_generators(); *name; name++)
		OK(make("names", (struct mill_generate){ .kind = *name, .scale = 4 }));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_same_on_any_threads),
	cmocka_unit_test(test_seed_matters),
	cmocka_unit_test(test_counts),
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_skew),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_names),
};

SUITE(generate, tests, .setup = scratch_make, .teardown = scratch_remove);
