/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weak and strong components: hard graphs and certificates. test_matrix.c compares them with
 * serial searches.
 */
#include "base/random.h"
#include "component.h"

static const struct mill_options checked = { .check = true };

static void try_graph(const struct graph *g, mill_store *store, const struct config *c)
{
	for (size_t k = 0; k < n_finders && config_usable(c); k++) {
		const struct finder *f = &finders[k];
		u32 *part;
		mill_run *run;

		/* A narrow build cannot number the edges of both directions. */
		if (f->how.method == MILL_CC_LABELS && !g->undirected &&
		    2 * g->n_arcs != min_u64(2 * g->n_arcs, MAX_EDGES))
			continue;
		if (g->out_only && (f->strong || f->how.method == MILL_CC_LABELS)) {
			run = run_open(store, config_named("2 threads"), checked, f->algorithm,
				       &f->how);
			REFUSED(MILL_EUSAGE, finder_call(f, run), g->name);
			mill_run_free(run);
			continue;
		}
		part = parts_of(g, f);
		run = run_open(store, c, checked, f->algorithm, &f->how);
		expect_components(g, c->name, run, f, part);
		/* Again in the same run: the first call must leave nothing behind. */
		expect_components(g, c->name, run, f, part);
		mill_run_free(run);
		free(part);
	}
}

/* Strong components and label propagation need in-edges: they are refused without. */
static void test_out_only(void **state)
{
	static const char *const names[] = { "components", "hubs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		g.out_only = true;
		store = graph_store(&g);
		try_graph(&g, store, config_named("2 threads"));
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* All weak methods give the same bits, in all configurations. */
static void test_methods(void **state)
{
	static const char *const names[] = { "hubs", "random, sparse" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		u64 hash[2] = { 0, 0 };
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		store = graph_store(&g);
		for (size_t k = 0; k < n_finders; k++) {
			u32 *part = parts_of(&g, &finders[k]);

			for (size_t j = 0; j < n_configs; j++) {
				u64 *want = &hash[finders[k].strong], got;
				mill_run *run;

				if (!configs[j].quick)
					continue;
				run = run_open(store, &configs[j], checked,
					       finders[k].algorithm, &finders[k].how);
				got = expect_components(&g, configs[j].name, run, &finders[k],
							part);
				if (*want && got != *want)
					fail_msg("%s, %s, %s: the hash differs", g.name,
						 finders[k].name, configs[j].name);
				*want = got;
				mill_run_free(run);
			}
			free(part);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Adds the arc u -> v, or v -> u. */
static void add_arc(struct graph *g, u32 u, u32 v, bool reversed)
{
	if (reversed)
		graph_add(g, v, u);
	else
		graph_add(g, u, v);
}

/*
 * A chain of cliques, each a strong component: a streamed graph with too many edges for the
 * algorithm to finish in memory. Edges between cliques go up and down in vertex numbers.
 */
static void test_clique_chain(void **state)
{
	static const char *const places[] = {
		"1 thread", "2 threads, 2 frames", "4 threads, 5 frames",
		"opencl",   "opencl, 2 pages",
	};
	u32 size = 40, parts = MILL_VID_BITS < 32 ? 5 : 60;
	struct graph g;
	mill_store *store;

	(void)state;
	graph_init(&g, "clique chain", size * parts);
	for (u32 part = 0; part < parts; part++)
		for (u32 i = 0; i < size; i++)
			for (u32 j = 0; j < size; j++) {
				u32 u = part * size + i, v = part * size + j;

				if (i != j)
					graph_add(&g, u, v);
				if (i == j && part + 1 < parts)
					add_arc(&g, u, u + size, part % 2 == 0);
				if (i == j && part + 7 < parts)
					add_arc(&g, u, u + 7 * size, part % 2 == 0);
			}
	graph_index(&g);
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		try_graph(&g, store, config_named(places[i]));
	graph_store_drop(store);
	graph_release(&g);
}

static void try_long(const struct graph *g, mill_store *store, const char *place,
		     const struct finder *f, const u32 *part)
{
	mill_run *run = run_open(store, config_named(place), (struct mill_options){ 0 },
				 f->algorithm, &f->how);
	struct mill_report report;

	expect_components(g, "long", run, f, part);
	mill_run_report(run, &report);
	if (report.iterations > 1100)
		fail_msg("%s, %s: it takes %llu steps", g->name, f->name,
			 (unsigned long long)report.iterations);
	mill_run_free(run);
}

/* The order of vertex numbers along a path. */
enum order { ASCENDING, DESCENDING, SHUFFLED, ORDERS };

/* A long path and a long cycle, in any order of vertices, must not take a step per vertex. */
static void test_long(void **state)
{
	static const char *const places[] = { "2 threads", "2 threads, 2 frames" };
	u32 n = MILL_VID_BITS < 32 ? 200 : 100000;

	(void)state;
	for (int cycle = 0; cycle < 2; cycle++)
		for (enum order order = 0; order < ORDERS; order++) {
			u32 *place = calloc(n, sizeof(*place));
			struct graph g;
			mill_store *store;

			graph_init(&g, cycle ? "long cycle" : "long path", n);
			for (u32 v = 0; v < n; v++)
				place[v] = order == ASCENDING ? v : n - 1 - v;
			for (u32 v = n - 1; order == SHUFFLED && v; v--) {
				u32 other = (u32)random_below(5, v, v + 1), held = place[v];

				place[v] = place[other];
				place[other] = held;
			}
			for (u32 v = 0; v + !cycle < n; v++)
				graph_add(&g, place[v], place[(v + 1) % n]);
			graph_index(&g);
			store = graph_store(&g);
			for (size_t k = 0; k < n_finders; k++) {
				u32 *part = parts_of(&g, &finders[k]);

				/* Labels do take a step per vertex of the path. */
				if (finders[k].strong || finders[k].how.method != MILL_CC_LABELS)
					for (size_t i = 0; i < ARRAY_LEN(places); i++)
						try_long(&g, store, places[i], &finders[k], part);
				free(part);
			}
			graph_store_drop(store);
			graph_release(&g);
			free(place);
		}
}

/* The certificate must fail if a vertex is in any other component, or in none. */
static void test_certificate(void **state)
{
	static const char *const names[] = {
		"random, tiny", "random, tiny, undirected", "components", "self-loops",
		"Graphie's figure 2", "path against the ids",
	};
	static const char *const places[] = { "2 threads", "2 threads, 1 frame", "opencl" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names) * n_finders; i++) {
		const struct config *c = config_named(places[i % ARRAY_LEN(places)]);
		const struct finder *f = &finders[i / ARRAY_LEN(names)];
		struct graph g;
		mill_store *store;
		mill_run *run;

		if (!config_usable(c) || !shape_make(&g, shape_named(names[i % ARRAY_LEN(names)])))
			continue;
		store = graph_store(&g);
		run = run_open(store, c, checked, f->algorithm, &f->how);
		OK(finder_call(f, run));
		OK(mill_run_check(run));
		for (u32 v = 0, n = (u32)run->store->n_linked; v < n; v++)
			for (u32 k = 0; k < n + 2; k += n > 20 ? 7 : 1) {
				u32 bad = k <= n ? k : UINT32_MAX, old;
				mill_err err;

				OK(vec_get(run->result.column[0].vec, v, &old));
				if (bad == old)
					continue;
				OK(vec_set(run->result.column[0].vec, v, &bad));
				err = mill_run_check(run);
				if (err != MILL_ECHECK)
					fail_msg("%s, %s: vertex %u in component %u: error %d",
						 g.name, f->name, v, bad, (int)err);
				OK(vec_set(run->result.column[0].vec, v, &old));
			}
		OK(mill_run_check(run));
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Two components with one name, or one component with two names. */
static void test_merged_and_split(void **state)
{
	struct graph g;
	mill_store *store;

	(void)state;
	assert_true(shape_make(&g, shape_named("components")));
	store = graph_store(&g);
	for (size_t k = 0; k < n_finders; k++) {
		mill_run *run = run_open(store, config_named("2 threads"), checked,
					 finders[k].algorithm, &finders[k].how);
		struct vec *name;
		u32 *data, *rank, n;
		struct vec *ranks = NULL;

		OK(finder_call(&finders[k], run));
		name = run->result.column[0].vec;
		data = name->buffer.host;
		for (u32 i = 0; i < run->n_vecs; i++)
			if (!strcmp(run->vec[i]->name, "ranks"))
				ranks = run->vec[i];
		assert_non_null(ranks);
		n = (u32)name->n;	/* isolated vertices have no state */
		rank = malloc(n * sizeof(*rank));
		for (u32 v = 0; v < n; v++)
			rank[v] = ((const vid *)ranks->buffer.host)[v];
		/* The clique of 64 .. 72 joins the cycle of 0 .. 63. */
		for (u32 v = 0; v < n; v++)
			data[v] = data[v] == 64 ? 0 : data[v];
		REFUSED(MILL_ECHECK, mill_run_check(run), "merged");
		/* The clique is split in two. */
		for (u32 v = 0; v < n; v++)
			if (rank[v] >= 64 && rank[v] < 73)
				data[v] = rank[v] < 70 ? 64 : 70;
		REFUSED(MILL_ECHECK, mill_run_check(run), "split");
		free(rank);
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_out_only),
	cmocka_unit_test(test_methods),
	cmocka_unit_test(test_clique_chain),
	cmocka_unit_test(test_long),
	cmocka_unit_test(test_certificate),
	cmocka_unit_test(test_merged_and_split),
};

SUITE(component, tests, .setup = scratch_make, .teardown = scratch_remove);
