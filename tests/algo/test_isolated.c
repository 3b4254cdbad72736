/* SPDX-License-Identifier: Apache-2.0 */
/* Vertices without any edge: they have no state, and the results are those that they would have with it. */
#include "algo/pagerank.h"
#include "expect.h"

static const char *const places[] = { "2 threads", "2 threads, 1 frame", "opencl" };

/* Edges between few of many vertices: ids of both kinds are mixed, and some isolated ones come first and last. */
static void make_sparse(struct graph *g, const char *name, u32 n, u32 every, bool undirected)
{
	graph_init(g, name, n);
	g->undirected = undirected;
	g->base = 3;
	g->stride = 2;
	for (u32 v = 1; every && v + 3 * every < n; v += every) {
		graph_add(g, v, v + every);
		graph_add(g, v, v + 2 * every);
		if (v % 3 == 0)
			graph_add(g, v, v);
	}
	graph_weigh(g, MILL_WEIGHT_U32, WEIGH_SMALL, 5);
	graph_index(g);
}

static const struct {
	const char *name;
	u32 n, every;
	bool undirected;
} cases[] = {
	{ "one in seven", 200, 7, false },
	{ "one in seven, undirected", 200, 7, true },
	{ "one vertex", 1, 0, false },
	{ "no edges", 100, 0, false },
	{ "no edges, undirected", 100, 0, true },
};

static bool has_edge(const struct graph *g, u32 v)
{
	for (u64 i = 0; i < g->n_arcs; i++)
		if (g->arc[i].from == v || g->arc[i].to == v)
			return true;
	return false;
}

static u64 n_isolated(const struct graph *g)
{
	u64 n = 0;

	for (u32 v = 0; v < g->n; v++)
		n += !has_edge(g, v);
	return n;
}

/* Searches from a vertex without edges, the first, and from one with. */
static void try_searches(const struct graph *g, mill_store *store, const struct config *c)
{
	for (u32 root = 0; root < g->n && root < 2; root++) {
		mill_run *run = run_open(store, c, (struct mill_options){ .parents = true, .check = true }, "sssp", NULL);

		expect_bfs(g, c->name, run, root);
		OK(mill_run_check(run));
		for (u64 v = 0; v < run->result.column[0].vec->n && !has_edge(g, root); v++) {	/* nothing is reached */
			OK(vec_set(run->result.column[0].vec, v, &(u32){ 1 }));
			REFUSED(MILL_ECHECK, mill_run_check(run), "a search from an isolated vertex");
			OK(vec_set(run->result.column[0].vec, v, &(u32){ UINT32_MAX }));
		}
		expect_sssp(g, c->name, run, root, 0, false);
		OK(mill_run_check(run));
		mill_run_free(run);
	}
}

static void try_ranks(const struct graph *g, mill_store *store, const struct config *c)
{
	f64 *want = calloc(g->n, sizeof(*want)), *teleport = calloc(g->n, sizeof(*teleport));
	char list[700];

	/* To all alike; to an isolated vertex; to one with edges and an isolated one. */
	for (u32 chosen = 0; chosen < 3 && chosen < g->n; chosen++)
		for (enum mill_precision p = MILL_F32; p <= MILL_EXACT; p++) {
			struct mill_pagerank how = { .precision = p, .iterations = 20, .tolerance = -1 };
			struct still *still;
			mill_run *run;
			FILE *f;

			snprintf(list, sizeof(list), "@%s", scratch_path("persons"));
			f = fopen(list + 1, "w");
			memset(teleport, 0, g->n * sizeof(*teleport));
			for (u32 v = 0; v < chosen; v++) {
				fprintf(f, "%llu\n%llu\n", (unsigned long long)graph_id(g, v),
					(unsigned long long)graph_id(g, v));
				teleport[v] = 1. / chosen;
			}
			fclose(f);
			if (chosen)
				how.personalize = list;
			run = run_open(store, c, (struct mill_options){ .check = true }, "pagerank", &how);
			naive_pagerank(g, 0.85, 20, chosen ? teleport : NULL, want);
			expect_pagerank(g, c->name, run, &how, want, p == MILL_F32 ? 1e-5 : 1e-10);
			OK(mill_run_check(run));
			/* The certificate knows the scores of those without state. */
			still = ((struct pagerank_run *)run->self)->loop.still;
			still[0].score = number_of(p, number_real(p, still[0].score) + 1e-3);
			if (still[0].isolated)
				REFUSED(MILL_ECHECK, mill_run_check(run), "the score of isolated vertices");
			mill_run_free(run);
		}
	free(want);
	free(teleport);
}

static void try_components(const struct graph *g, mill_store *store, const struct config *c)
{
	mill_run *run = run_open(store, c, (struct mill_options){ .check = true }, "scc", NULL);
	u64 *name = calloc(g->n, sizeof(*name));

	for (u32 strong = 0; strong < 2; strong++) {
		OK(strong ? mill_scc(run) : mill_cc(run, NULL));
		OK(mill_run_check(run));
		OK(mill_run_values(run, "component", false, name, NULL));
		for (u32 v = 0; v < g->n; v++)
			if (!has_edge(g, v))
				assert_int_equal(name[v], graph_id(g, v));
		assert_true(fact_of(run, "components")->u64 >= n_isolated(g) + (g->n_arcs > 0));
		assert_true(fact_of(run, "largest")->u64 >= 1);
	}
	free(name);
	mill_run_free(run);
}

static void try_others(const struct graph *g, mill_store *store, const struct config *c)
{
	mill_run *run = run_open(store, c, (struct mill_options){ .check = true }, "triangles",
				 &(struct mill_triangles){ .lcc = MILL_LCC_DIRECTED });
	f64 *score = calloc(g->n, sizeof(*score));

	expect_kcore(g, c->name, run);
	OK(mill_run_check(run));
	expect_triangles(g, c->name, run, MILL_LCC_DIRECTED);
	OK(mill_run_check(run));
	expect_cdlp(g, c->name, run, 5);
	OK(mill_run_check(run));
	OK(mill_degrees(run));
	OK(mill_run_check(run));
	assert_int_equal(fact_of(run, "isolated")->u64, n_isolated(g));

	/* From all, and from the first alone, which has no edge. */
	OK(mill_bc(run, &(struct mill_bc){ .sources = "all" }));
	OK(mill_run_check(run));
	assert_int_equal(fact_of(run, "sources")->u64, g->n);
	assert_true(fact_of(run, "reached")->u64 >= g->n);
	OK(mill_bc(run, &(struct mill_bc){ .sources = "3" }));
	OK(mill_run_check(run));
	assert_int_equal(fact_of(run, "source")->u64, 3);
	assert_int_equal(fact_of(run, "reached")->u64, 1);
	OK(mill_run_values(run, "score", false, score, NULL));
	for (u32 v = 0; v < g->n; v++)
		assert_true(score[v] == 0);
	free(score);
	mill_run_free(run);
}

static void test_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(places); i++) {
		const struct config *c = config_named(places[i % ARRAY_LEN(places)]);
		size_t k = i / ARRAY_LEN(places);
		mill_store *store;
		struct graph g;

		if (c->device && k)	/* kernels take their time to build */
			continue;
		make_sparse(&g, cases[k].name, cases[k].n, cases[k].every, cases[k].undirected);
		if (graph_fits(&g) && config_usable(c)) {
			store = graph_store(&g);
			assert_int_equal(store->st->vertices - store->st->n_linked, n_isolated(&g));
			try_searches(&g, store, c);
			try_ranks(&g, store, c);
			try_components(&g, store, c);
			try_others(&g, store, c);
			graph_store_drop(store);
		}
		graph_release(&g);
	}
}

/* What is planned is what those with edges need. */
static void test_plan(void **state)
{
	static const char *const algorithm[] = { "bfs", "sssp", "pagerank", "cc", "scc", "bc", "kcore", "triangles", "cdlp",
						 "degrees" };
	u64 bytes[2][ARRAY_LEN(algorithm)];

	(void)state;
	for (u32 many = 0; many < 2; many++) {
		struct mill_options o = { .threads = 2, .check = true };
		mill_store *store;
		mill_run *run;
		struct graph g;

		make_sparse(&g, "plan", many ? 200000 : 200, many ? 7000 : 7, false);
		g.stride = 1;	/* ids that lie apart are kept to name parents */
		if (!graph_fits(&g)) {
			graph_release(&g);
			return;
		}
		store = graph_store(&g);
		OK(mill_run_new(&run, store, &o));
		for (size_t a = 0; a < ARRAY_LEN(algorithm); a++) {
			struct mill_plan plan;

			OK(mill_run_plan(run, algorithm[a], NULL, &plan));
			bytes[many][a] = plan.state;
		}
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
	for (size_t a = 0; a < ARRAY_LEN(algorithm); a++)
		if (bytes[1][a] > bytes[0][a] + 200000 * 2)	/* pages may have another form; half a vector */
			fail_msg("%s: %llu bytes of state, and %llu with many isolated vertices", algorithm[a],
				 (unsigned long long)bytes[0][a], (unsigned long long)bytes[1][a]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_all),
	cmocka_unit_test(test_plan),
};

SUITE(isolated, tests, .setup = scratch_make, .teardown = scratch_remove);
