/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous runs: the same values in fewer passes. */
#include <math.h>

#include "component.h"

static const struct mill_options async = { .async = true, .parents = true };
static const char *const places[] = { "4 threads", "1 thread, 1 frame", "2 threads, 2 frames" };

static const struct finder *labels(void)
{
	for (size_t i = 0; i < n_finders; i++)
		if (!finders[i].strong && finders[i].how.method == MILL_CC_LABELS)
			return &finders[i];
	fail_msg("no finder by labels");
	return NULL;
}

/* The fixed point, by as many iterations as it takes. */
static void try_ranks(const struct graph *g, mill_store *store, const struct config *c)
{
	struct mill_pagerank how = { .tolerance = 1e-11, .iterations = 300, .precision = MILL_F64 };
	f64 *want = calloc(g->n, sizeof(*want)), *teleport = calloc(g->n, sizeof(*teleport));
	mill_run *run = run_open(store, c, async, "pagerank", &how);
	f64 *got, off = 0;
	char id[32];

	naive_pagerank(g, 0.85, 200, NULL, want);
	expect_pagerank(g, c->name, run, &how, want, 1e-6);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)graph_id(g, g->n / 3));
	how.personalize = id;
	teleport[g->n / 3] = 1;
	naive_pagerank(g, 0.85, 200, teleport, want);
	OK(mill_pagerank(run, &how));
	OK(mill_run_check(run));
	got = scores_of(g, run, MILL_F64);
	for (u32 v = 0; v < g->n; v++)
		off += fabs(got[v] - want[v]);	/* far from the chosen one scores are too small to be compared alone */
	if (!(off < 1e-9))
		fail_msg("%s, %s: personal scores are off by %g", g->name, c->name, off);
	free(got);
	how = (struct mill_pagerank){ .precision = MILL_EXACT };
	REFUSED(MILL_EUSAGE, mill_pagerank(run, &how), c->name);
	mill_run_free(run);
	free(want);
	free(teleport);
}

static void try_graph(struct graph *g, const struct config *c)
{
	mill_store *store = graph_store(g);
	u32 *part = parts_of(g, labels());
	mill_run *run = run_open(store, c, async, "bfs", NULL);

	expect_bfs(g, c->name, run, 0);
	expect_bfs(g, c->name, run, g->n / 2);
	mill_run_free(run);
	if (g->weight) {
		run = run_open(store, c, async, "sssp", NULL);
		expect_sssp(g, c->name, run, g->n / 2, 0, false);
		expect_sssp(g, c->name, run, 0, 3, false);
		mill_run_free(run);
	}
	try_ranks(g, store, c);
	run = run_open(store, c, async, "cc", &labels()->how);
	expect_components(g, c->name, run, labels(), part);
	mill_run_free(run);
	free(part);
	graph_store_drop(store);
}

static void test_shapes(void **state)
{
	static const struct {
		enum mill_weight type;
		enum weighing how;
	} weights[] = {
		{ MILL_WEIGHT_NONE, 0 },
		{ MILL_WEIGHT_U32, WEIGH_ZEROS },
		{ MILL_WEIGHT_F64, WEIGH_MIXED },
	};

	(void)state;
	for (size_t i = 0; i < n_shapes; i++) {
		struct graph g;

#ifdef __SANITIZE_THREAD__
		if (shapes[i].large)
			continue;
#endif
		if (!shape_make_some(&g, &shapes[i]))
			continue;
		if (weights[i % 3].type)
			graph_weigh(&g, weights[i % 3].type, weights[i % 3].how, i);
		graph_index(&g);
		try_graph(&g, config_named(places[i % 2 + (i / 3) % 2]));
		graph_release(&g);
	}
}

#define SIDE 250u

static u64 pages_read(struct graph *g, mill_store *store, bool asynchronous, u64 *hash)
{
	struct mill_options o = { .async = asynchronous };
	mill_run *run = run_open(store, config_named("1 thread, 1 frame"), o, "sssp", NULL);
	struct mill_report report;

	*hash = expect_sssp(g, asynchronous ? "async" : "steps", run, 0, 0, false);
	mill_run_report(run, &report);
	mill_run_free(run);
	return report.pages_read;
}

/* A wave over several pages, each of which is read again in every step, or worked on until it is quiet. */
static void test_grid_takes_few_passes(void **state)
{
	struct graph g;
	u64 steps, one, hash, same;
	mill_store *store;

	(void)state;
	graph_init(&g, "wide grid", SIDE * SIDE);
	g.undirected = true;
	g.page_size = 64 * KIB;
	if (!graph_fits(&g)) {
		graph_release(&g);
		skip();
	}
	for (u32 v = 0; v < g.n; v++) {
		if (v % SIDE + 1 < SIDE)
			graph_add(&g, v, v + 1);
		if (v + SIDE < g.n)
			graph_add(&g, v, v + SIDE);
	}
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	graph_index(&g);
	store = graph_store(&g);
	assert_true(store->st->out.n_pages > 2);
	steps = pages_read(&g, store, false, &hash);
	one = pages_read(&g, store, true, &same);
	assert_true(hash == same);
	if (one * 8 > steps)
		fail_msg("%llu pages in steps, %llu without", (unsigned long long)steps, (unsigned long long)one);
	graph_store_drop(store);
	graph_release(&g);
}

/* Pages of a site: a ring of neighbours, home, and themselves. */
static void test_ranks_take_half_the_passes(void **state)
{
	struct mill_pagerank how = { .tolerance = 1e-8, .precision = MILL_F64 };
	u64 iterations[2];
	struct graph g;
	mill_store *store;

	(void)state;
	graph_init(&g, "sites", 200);
	for (u32 v = 0; v < g.n; v++) {
		graph_add(&g, v, v / 10 * 10 + (v + 1) % 10);
		graph_add(&g, v, v / 10 * 10);
		graph_add(&g, v, v);
	}
	graph_index(&g);
	store = graph_store(&g);
	for (u32 i = 0; i < 2; i++) {
		struct mill_options o = { .async = i };
		mill_run *run = run_open(store, config_named("1 thread"), o, "pagerank", &how);
		struct mill_report report;

		OK(mill_pagerank(run, &how));
		OK(mill_run_check(run));
		mill_run_report(run, &report);
		iterations[i] = report.iterations;
		mill_run_free(run);
	}
	if (iterations[1] * 3 > iterations[0] * 2)
		fail_msg("%llu iterations in steps, %llu at once", (unsigned long long)iterations[0],
			 (unsigned long long)iterations[1]);
	graph_store_drop(store);
	graph_release(&g);
}

static void test_refused_on_devices(void **state)
{
	struct mill_options o = { .async = true, .device = "opencl" };
	struct graph g;
	mill_store *store;
	mill_run *run = NULL;

	(void)state;
	assert_true(shape_make(&g, shape_named("path")));
	store = graph_store(&g);
	REFUSED(MILL_EUSAGE, mill_run_new(&run, store, &o), "opencl");
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_grid_takes_few_passes),
	cmocka_unit_test(test_ranks_take_half_the_passes),
	cmocka_unit_test(test_refused_on_devices),
};

SUITE(async, tests, .setup = scratch_make, .teardown = scratch_remove);
