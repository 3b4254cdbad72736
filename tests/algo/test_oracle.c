/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs against igraph: independent code for the same questions. */
#include <igraph/igraph.h>
#include <math.h>

#include "base/random.h"
#include "component.h"

#define SEEDS 12

/* Neither loops nor, undirected, parallels of both directions: where igraph's conventions are not ours. */
static void make_random(struct graph *g, u64 seed)
{
	u32 n = 20 + (u32)random_below(seed, 1, MILL_VID_BITS < 32 ? 200 : 2000);
	u64 arcs = 1 + random_below(seed, 2, 6 * (u64)n);

	graph_init(g, "random", n);
	g->undirected = seed % 2;
	g->base = seed % 3 ? seed * 1000 : (u64)1 << 62;
	for (u64 i = 0; i < arcs; i++) {
		u32 from = (u32)random_below(seed, 10 + 2 * i, n), to = (u32)random_below(seed, 11 + 2 * i, n);

		if (from != to)
			graph_add(g, from, to);
	}
	graph_index(g);
}

static void to_igraph(const struct graph *g, igraph_t *out, igraph_vector_t *weight)
{
	igraph_vector_int_t ends;

	igraph_vector_int_init(&ends, 2 * (igraph_integer_t)g->n_arcs);
	igraph_vector_init(weight, (igraph_integer_t)g->n_arcs);
	for (u64 i = 0; i < g->n_arcs; i++) {
		VECTOR(ends)[2 * i] = g->arc[i].from;
		VECTOR(ends)[2 * i + 1] = g->arc[i].to;
		VECTOR(*weight)[i] = g->arc[i].weight;
	}
	assert_int_equal(igraph_create(out, &ends, g->n, !g->undirected), IGRAPH_SUCCESS);
	igraph_vector_int_destroy(&ends);
}

static const char *config_of(u64 seed)
{
	static const char *const names[] = { "2 threads", "2 threads, 1 frame", "4 threads" };

	if (seed % 4 == 3 && have_opencl())
		return "opencl, 2 pages";
	return names[seed % ARRAY_LEN(names)];
}

static void test_bfs(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < SEEDS; seed++) {
		igraph_vector_t weight;
		igraph_matrix_t want;
		char source[32];
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;
		u32 *got, root;

		make_random(&g, seed);
		root = (u32)random_below(seed, 3, g.n);
		to_igraph(&g, &ig, &weight);
		igraph_matrix_init(&want, 0, 0);
		assert_int_equal(igraph_distances(&ig, &want, igraph_vss_1(root), igraph_vss_all(), IGRAPH_OUT),
				 IGRAPH_SUCCESS);
		store = graph_store(&g);
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ 0 }, "bfs", NULL);
		snprintf(source, sizeof(source), "%llu", (unsigned long long)graph_id(&g, root));
		OK(mill_bfs(run, &(struct mill_bfs){ source }));
		got = calloc(g.n, sizeof(*got));
		OK(mill_run_values(run, "depth", false, got, NULL));
		for (u32 v = 0; v < g.n; v++)
			if ((got[v] == NONE32 ? INFINITY : (f64)got[v]) != MATRIX(want, 0, v))
				fail_msg("seed %llu: igraph says that %u is %g away, not %d", (unsigned long long)seed,
					 v, MATRIX(want, 0, v), (int)got[v]);
		free(got);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_matrix_destroy(&want);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

static void test_sssp(void **state)
{
	static const enum mill_weight types[] = { MILL_WEIGHT_U32, MILL_WEIGHT_I32, MILL_WEIGHT_F32, MILL_WEIGHT_F64 };

	(void)state;
	for (u64 seed = 0; seed < 2 * SEEDS; seed++) {
		enum mill_weight type = types[seed / 2 % ARRAY_LEN(types)];
		bool real = type == MILL_WEIGHT_F32 || type == MILL_WEIGHT_F64;
		igraph_vector_t weight;
		igraph_matrix_t want;
		char source[32];
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;
		f64 *got;
		u32 root;

		make_random(&g, seed);
		graph_weigh(&g, type, seed % 3 ? WEIGH_SMALL : WEIGH_HUGE, seed);
		root = (u32)random_below(seed, 3, g.n);
		to_igraph(&g, &ig, &weight);
		igraph_matrix_init(&want, 0, 0);
		assert_int_equal(igraph_distances_dijkstra(&ig, &want, igraph_vss_1(root), igraph_vss_all(), &weight,
							   IGRAPH_OUT),
				 IGRAPH_SUCCESS);
		store = graph_store(&g);
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ 0 }, "sssp", NULL);
		snprintf(source, sizeof(source), "%llu", (unsigned long long)graph_id(&g, root));
		OK(mill_sssp(run, &(struct mill_sssp){ .source = source }));
		got = calloc(g.n, sizeof(*got));
		OK(mill_run_values(run, "distance", false, got, NULL));
		for (u32 v = 0; v < g.n; v++) {
			f64 expected = MATRIX(want, 0, v), x = got[v];
			u64 integer;

			memcpy(&integer, &got[v], sizeof(integer));
			if (!real)	/* sums of fewer than 2^53 are exact in igraph's doubles */
				x = integer == UINT64_MAX ? INFINITY : (f64)integer;
			if (x != expected && !(real && fabs(x - expected) <= 1e-12 * expected))
				fail_msg("seed %llu: igraph says that %u is %.17g away, not %.17g",
					 (unsigned long long)seed, v, expected, x);
		}
		free(got);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_matrix_destroy(&want);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

static void test_pagerank(void **state)
{
	static const enum mill_precision precisions[] = { MILL_F32, MILL_F64, MILL_EXACT };

	(void)state;
	for (u64 seed = 0; seed < SEEDS; seed++) {
		struct mill_pagerank how = { .precision = precisions[seed % 3], .tolerance = 1e-12, .iterations = 300 };
		igraph_vector_t weight, want;
		igraph_real_t value;
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;
		f64 *got;

		make_random(&g, seed);
		to_igraph(&g, &ig, &weight);
		igraph_vector_init(&want, 0);
		assert_int_equal(igraph_pagerank(&ig, IGRAPH_PAGERANK_ALGO_PRPACK, &want, &value, igraph_vss_all(),
						 !g.undirected, 0.85, NULL, NULL),
				 IGRAPH_SUCCESS);
		store = graph_store(&g);
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ 0 }, "pagerank", &how);
		OK(mill_pagerank(run, &how));
		got = scores_of(&g, run, how.precision);
		for (u32 v = 0; v < g.n; v++)
			if (!(fabs(got[v] - VECTOR(want)[v]) <= 1e-6 * VECTOR(want)[v]))
				fail_msg("seed %llu: igraph says that %u has %.17g, not %.17g", (unsigned long long)seed,
					 v, VECTOR(want)[v], got[v]);
		free(got);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_vector_destroy(&want);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

static void test_components(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < 2 * SEEDS; seed++) {
		const struct finder *f = &finders[seed % n_finders];
		igraph_vector_int_t member;
		igraph_integer_t count;
		igraph_vector_t weight;
		u64 *got, *name;
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;

		make_random(&g, seed);
		to_igraph(&g, &ig, &weight);
		igraph_vector_int_init(&member, 0);
		assert_int_equal(igraph_connected_components(&ig, &member, NULL, &count,
							     f->strong ? IGRAPH_STRONG : IGRAPH_WEAK),
				 IGRAPH_SUCCESS);
		store = graph_store(&g);
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ 0 }, f->algorithm, &f->how);
		OK(finder_call(f, run));
		assert_int_equal(fact_of(run, "components")->u64, count);
		got = calloc(g.n, sizeof(*got));
		name = calloc(g.n, sizeof(*name));
		OK(mill_run_values(run, "component", false, got, NULL));
		/* Vertices come by their ids: the first of a component has the smallest. */
		for (u32 v = g.n; v--;)
			name[VECTOR(member)[v]] = graph_id(&g, v);
		for (u32 v = 0; v < g.n; v++)
			if (got[v] != name[VECTOR(member)[v]])
				fail_msg("seed %llu, %s: igraph says that %u is with %llu, not %llu", (unsigned long long)seed,
					 f->name, v, (unsigned long long)name[VECTOR(member)[v]],
					 (unsigned long long)got[v]);
		free(name);
		free(got);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_vector_int_destroy(&member);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

/* Cores, triangles and clustering coefficients of the undirected simple graph. */
static void test_simple(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < 2 * SEEDS; seed++) {
		struct mill_triangles how = { .lcc = MILL_LCC_UNDIRECTED };
		igraph_vector_t weight, triangles, local;
		igraph_vector_int_t core;
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;
		u32 *got_core;
		u64 *got;
		f64 *lcc;

		make_random(&g, seed);
		to_igraph(&g, &ig, &weight);
		igraph_to_undirected(&ig, IGRAPH_TO_UNDIRECTED_COLLAPSE, NULL);
		igraph_simplify(&ig, true, true, NULL);
		igraph_vector_int_init(&core, 0);
		igraph_vector_init(&triangles, 0);
		igraph_vector_init(&local, 0);
		assert_int_equal(igraph_coreness(&ig, &core, IGRAPH_ALL), IGRAPH_SUCCESS);
		assert_int_equal(igraph_adjacent_triangles(&ig, &triangles, igraph_vss_all()), IGRAPH_SUCCESS);
		assert_int_equal(igraph_transitivity_local_undirected(&ig, &local, igraph_vss_all(), IGRAPH_TRANSITIVITY_ZERO),
				 IGRAPH_SUCCESS);
		store = graph_store(&g);
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ .check = true }, "kcore", NULL);
		got_core = calloc(g.n, sizeof(*got_core));
		got = calloc(g.n, sizeof(*got));
		lcc = calloc(g.n, sizeof(*lcc));
		OK(mill_kcore(run));
		OK(mill_run_values(run, "core", false, got_core, NULL));
		mill_run_free(run);	/* on a device that has just room enough, the two need different amounts */
		run = run_open(store, config_named(config_of(seed)), (struct mill_options){ .check = true }, "triangles", &how);
		OK(mill_triangles(run, &how));
		OK(mill_run_values(run, "triangles", false, got, NULL));
		OK(mill_run_values(run, "lcc", false, lcc, NULL));
		for (u32 v = 0; v < g.n; v++)
			if (got_core[v] != (u32)VECTOR(core)[v] || (f64)got[v] != VECTOR(triangles)[v] ||
			    fabs(lcc[v] - VECTOR(local)[v]) > 1e-12)
				fail_msg("seed %llu: igraph says that %u is of core %d with %g triangles, %.17g", (unsigned long long)seed,
					 v, (int)VECTOR(core)[v], VECTOR(triangles)[v], VECTOR(local)[v]);
		free(lcc);
		free(got);
		free(got_core);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_vector_destroy(&local);
		igraph_vector_destroy(&triangles);
		igraph_vector_int_destroy(&core);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

static void test_bc(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < SEEDS; seed++) {
		struct mill_bc how = { .sources = "all" };
		igraph_vector_t weight, want;
		struct graph g;
		mill_store *store;
		mill_run *run;
		igraph_t ig;
		f64 *got;

		make_random(&g, seed);
		to_igraph(&g, &ig, &weight);
		igraph_vector_init(&want, 0);
		assert_int_equal(igraph_betweenness(&ig, &want, igraph_vss_all(), !g.undirected, NULL), IGRAPH_SUCCESS);
		store = graph_store(&g);
		/* As many searches as vertices: on a device that takes long. */
		run = run_open(store, config_named(seed % 2 ? "2 threads" : "4 threads, 5 frames"), (struct mill_options){ 0 }, "bc", &how);
		OK(mill_bc(run, &how));
		got = calloc(g.n, sizeof(*got));
		OK(mill_run_values(run, "score", false, got, NULL));
		for (u32 v = 0; v < g.n; v++)
			if (!(fabs(got[v] - VECTOR(want)[v]) <= 1e-9 * (1 + VECTOR(want)[v])))
				fail_msg("seed %llu: igraph says that %u has %.17g, not %.17g", (unsigned long long)seed,
					 v, VECTOR(want)[v], got[v]);
		free(got);
		mill_run_free(run);
		graph_store_drop(store);
		igraph_vector_destroy(&want);
		igraph_vector_destroy(&weight);
		igraph_destroy(&ig);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_bfs),
	cmocka_unit_test(test_sssp),
	cmocka_unit_test(test_pagerank),
	cmocka_unit_test(test_components),
	cmocka_unit_test(test_simple),
	cmocka_unit_test(test_bc),
};

SUITE(oracle, tests, .setup = scratch_make, .teardown = scratch_remove);
