/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions by bins give the same bits as by rows, for all graphs, precisions and threads. */
#include "expect.h"

static const enum mill_precision precisions[] = { MILL_F32, MILL_F64, MILL_EXACT };

/* Returns the hash of PageRank. Checks too that bins or rows were used as requested. */
static u64 rank(const struct graph *g, mill_store *store, u32 threads, u32 frames, int bins,
		enum mill_precision precision)
{
	struct mill_pagerank how = { .precision = precision, .tolerance = -1, .iterations = 5 };
	struct mill_report report;
	struct mill_plan plan;
	mill_run *run;
	u64 hash;

	OK(mill_run_new(
		&run, store,
		&(struct mill_options){ .threads = threads, .memory = GIB, .check = true }));
	run->hook.only_frames = frames;
	run->hook.only_bins = bins;
	OK(mill_run_plan(run, "pagerank", &how, &plan));
	for (int i = 0; i < 2; i++) {
		OK(mill_pagerank(run, &how));
		OK(mill_run_check(run));
	}
	mill_run_report(run, &report);
	hash = report.hash;
	if (!run->bins != !(bins == BINS_ALWAYS && !frames && g->n_arcs))
		fail_msg("%s: bins are %sused, against the request", g->name,
			 run->bins ? "" : "not ");
	if (report.resident != !frames || report.memory_peak > (frames ? GIB : plan.resident))
		fail_msg("%s: resident is %d, the memory peak %llu", g->name, report.resident,
			 (unsigned long long)report.memory_peak);
	/* The next algorithm gets rows, and PageRank after it gives the same bits. */
	if (g->n) {
		char source[32];

		snprintf(source, sizeof(source), "%llu", (unsigned long long)graph_id(g, 0));
		OK(mill_bfs(run, &(struct mill_bfs){ source }));
		OK(mill_run_check(run));
		OK(mill_pagerank(run, &how));
		assert_int_equal(hash_of(run), hash);
	}
	mill_run_free(run);
	return hash;
}

static void compare(const struct graph *g)
{
	mill_store *store = graph_store(g);

	for (size_t i = 0; i < ARRAY_LEN(precisions); i++) {
		u64 want = rank(g, store, 1, 0, BINS_NEVER, precisions[i]);

		if (rank(g, store, 2, 2, BINS_ALWAYS, precisions[i]) != want)
			fail_msg("%s, precision %zu, streamed: the hash differs", g->name, i);
		for (u32 threads = 1; threads <= 3; threads++)
			if (rank(g, store, threads, 0, BINS_ALWAYS, precisions[i]) != want)
				fail_msg("%s, precision %zu, %u threads: the hash differs",
					 g->name, i, threads);
	}
	graph_store_drop(store);
}

static void test_layouts(void **state)
{
	static const char *const names[] = {
		"no vertex", "all dangling", "self-loops", "in-star", "hubs, undirected",
		"random, dense",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		compare(&g);
		graph_release(&g);
	}
}

/* Lists with lengths around multiples of a block, interleaved in several bins. */
static void test_blocks(void **state)
{
	static const u32 lengths[] = { 1023, 1024, 1025, 2047, 2048, 2049, 3072, 3073, 5000 };
	struct graph g;

	(void)state;
	graph_init(&g, "blocks", 100000);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
		for (u32 j = 0; j < lengths[i]; j++) {
			graph_add(&g, (u32)((j * 7919u + i) % g.n), (u32)(i * 11003 + 17));
			graph_add(&g, (u32)((j * 104729u + i) % g.n), 40000 + (u32)i);
		}
	if (graph_fits(&g)) {
		graph_index(&g);
		compare(&g);
	}
	graph_release(&g);
}

/*
 * The engine samples the graph: it chooses bins if neighbours are far apart, rows if they
 * are near.
 */
static void test_choice(void **state)
{
	static const struct {
		const char *kind;
		u64 vertices;
		f64 degree;
		bool bins;
	} cases[] = {
		{ "uniform", 1 << 19, 4, true },
		{ "kron", 1 << 20, 4, true },
		{ "grid", 1 << 20, 0, false },
		{ "path", 1 << 19, 0, false },
		{ "uniform", 1 << 14, 4, false },
	};

	(void)state;
	if (MILL_VID_BITS < 32 || is_sanitized())	/* a choice by size: the graphs are large */
		skip();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_generate how = {
			.target = { .path = scratch_path("choice"),
				    .memory = GIB,
				    .force = true },
			.kind = cases[i].kind,
			.vertices = cases[i].vertices,
			.degree = cases[i].degree,
			.seed = 7,
		};
		struct mill_built built;
		mill_store *store;
		mill_run *run;

		OK(mill_generate(&built, &how));
		OK(mill_store_open(&store, how.target.path));
		OK(mill_run_new(&run, store, &(struct mill_options){ .memory = GIB }));
		OK(mill_pagerank(run, &(struct mill_pagerank){ .tolerance = -1, .iterations = 2 }));
		if (!run->bins != !cases[i].bins)
			fail_msg("%s of %llu vertices: bins are %schosen", cases[i].kind,
				 (unsigned long long)cases[i].vertices, run->bins ? "" : "not ");
		mill_run_free(run);
		mill_store_close(store);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_layouts),
	cmocka_unit_test(test_blocks),
	cmocka_unit_test(test_choice),
};

SUITE(bins, tests, .setup = scratch_make, .teardown = scratch_remove);
