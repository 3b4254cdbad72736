/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the policy largegraph: paths, rounds and updates of small graphs by hand, results of
 * random graphs with every switch, budgets, refusals, and equal masters after a run.
 */
#include "base/random.h"
#include "task.h"

static mill_run *open_large(mill_store *store, struct mill_options o)
{
	mill_run *run;

	o.device = "opencl";
	o.policy = "largegraph";
	o.memory = GIB;
	o.seed = 1;
	OK(mill_run_new(&run, store, &o));
	return run;
}

/* ---- By hand ---- */

struct hand {
	const char *name;
	u32 n, n_arcs, arc[20][2];
	u64 strict, paper;	/* paths */
	const char *chain;
	/* Of a bfs from 0 on one thread; paper_edges: edges with paths as in the paper. */
	u64 rounds, updates, edges, paper_edges;
};

#define EXAMPLE \
	21, 13, { { 0, 1 }, { 1, 2 }, { 2, 5 }, { 5, 8 }, { 8, 10 }, { 10, 13 }, { 13, 16 }, \
		  { 16, 20 }, { 20, 19 }, { 0, 3 }, { 3, 6 }, { 6, 8 }, { 14, 20 } }, 5, 5
#define FORK 5, 5, { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 2, 4 }, { 3, 4 } }, 3, 2

static const struct hand hands[] = {
	{ "the paper's example", EXAMPLE, "0", 3, 12, 12, 12 },
	{ "the paper's example, chain 1", EXAMPLE, "1", 2, 12, 12, 12 },
	{ "the paper's example, chain full", EXAMPLE, "full", 1, 12, 12, 12 },
	{ "a cycle of three", 3, 3, { { 0, 1 }, { 1, 2 }, { 2, 0 } }, 1, 1, "0", 1, 2, 3, 3 },
	{ "a fork", FORK, "0", 2, 4, 5, 8 },
	{ "single edges", 4, 4, { { 0, 1 }, { 0, 1 }, { 1, 2 }, { 1, 2 } }, 4, 4, "0", 2, 2, 4, 4 },
};

static mill_store *hand_store(const struct hand *h)
{
	mill_store *store;
	struct graph g;

	graph_init(&g, h->name, h->n);
	for (u32 i = 0; i < h->n_arcs; i++)
		graph_add(&g, h->arc[i][0], h->arc[i][1]);
	store = graph_store(&g);
	graph_release(&g);
	return store;
}

static void test_by_hand(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(hands); i++)
		for (u32 paper = 0; paper < 2; paper++) {
			const struct hand *h = &hands[i];
			mill_store *store = hand_store(h);
			struct mill_options o = { .threads = 1,
						  .largegraph = { .paths = (enum mill_paths)paper,
								  .chain = h->chain,
								  .only = MILL_ONLY_CPU } };
			mill_run *run = open_large(store, o);
			struct mill_report r;

			OK(mill_bfs(run, &(struct mill_bfs){ "0" }));
			mill_run_report(run, &r);
			if (r.chunks.paths != (paper ? h->paper : h->strict) ||
			    r.iterations != h->rounds || r.updates != h->updates ||
			    r.chunks.host_edges != (paper ? h->paper_edges : h->edges) ||
			    r.chunks.device_edges)
				fail_msg("%s%s: %d paths, %d rounds, %d updates, %d edges",
					 h->name, paper ? ", paper" : "", (int)r.chunks.paths,
					 (int)r.iterations, (int)r.updates,
					 (int)r.chunks.host_edges);
			mill_run_free(run);
			graph_store_drop(store);
		}
}

/* ---- Results ---- */

static u64 checked_hash(mill_run *run, const char *algorithm, const void *how)
{
	struct mill_report r;

	OK(mill_run_algorithm(run, algorithm, how));
	OK(mill_run_check(run));
	mill_run_report(run, &r);
	return r.hash;
}

/* Fails unless the device's master equals the host's. */
static void compare_masters(mill_run *run, const char *name)
{
	const struct twin *w = &run->transfer.twin;
	const struct vec *v = *(struct vec *const *)((const char *)w->args + w->program->writable);
	char *copy = malloc(v->n * v->size + 1);

	OK(device_read(&w->value, 0, copy, v->n * v->size));
	if (memcmp(copy, v->buffer.host, v->n * v->size))
		fail_msg("%s: the masters differ", name);
	free(copy);
}

static struct mill_options random_options(u64 seed, u32 k)
{
	static const char *const alphas[] = { "0", "5%", "30%", "1" };
	static const char *const chains[] = { "0", "1", "full" };
	u64 x = random_at(seed, k);
	struct mill_options o = { .threads = 1 + (u32)(x >> 1 & 1) };

	o.largegraph.paths = (enum mill_paths)(x >> 2 & 1);
	o.largegraph.alpha = alphas[x >> 3 & 3];
	o.largegraph.chain = chains[(x >> 5 & 15) % 3];
	o.largegraph.sweeps = x >> 9 & 1 ? 1 : 0;
	o.largegraph.only = (x >> 10 & 3) == 0 ? MILL_ONLY_DEVICE : MILL_ONLY_BOTH;
	o.largegraph.no_keep = (x >> 12 & 3) == 0;
	o.largegraph.baseline = (x >> 14 & 7) == 0 ? MILL_BASELINE_SUBWAY :
				(x >> 14 & 7) == 1 ? MILL_BASELINE_SUBWAY_ASYNC :
						     MILL_BASELINE_NONE;
	if (x >> 17 & 1)	/* small chunks: heads and paths are split */
		o.largegraph.chunk_size = 1024;
	return o;
}

static void compare_all(mill_store *store, const char *name, u64 seed)
{
	static const struct mill_cc labels = { MILL_CC_LABELS };
	static const struct mill_bfs bfs = { "random" };
	static const struct mill_sssp sssp = { .source = "random" };
	const void *how[] = { &bfs, &sssp, &labels };
	static const char *const algorithm[] = { "bfs", "sssp", "cc" };
	mill_run *native;

	OK(mill_run_new(&native, store, &(struct mill_options){ .memory = GIB, .seed = 1 }));
	for (u32 a = 0; a < 3; a++) {
		u64 want = checked_hash(native, algorithm[a], how[a]);

		for (u32 k = 0; k < 3; k++) {
			struct mill_options o = random_options(seed, 3 * a + k);
			mill_run *run = open_large(store, o);

			if (checked_hash(run, algorithm[a], how[a]) != want)
				fail_msg("%s: %s with options %d of seed %d differs", name,
					 algorithm[a], (int)(3 * a + k), (int)seed);
			if (a < 2 && run->transfer.twin.begun)	/* cc's arguments are gone */
				compare_masters(run, name);
			mill_run_free(run);
		}
	}
	mill_run_free(native);
}

static void test_random(void **state)
{
	u32 most = getenv("LONG") ? 400 : is_sanitized() ? 2 : 12;

	(void)state;
	if (!have_opencl())
		skip();
	for (u64 seed = 1; seed <= most; seed++) {
		static const u32 sizes[] = { 3, 12, 60, 200, 900 };
		u32 n = sizes[seed % 5];
		mill_store *store;
		struct graph g;

		graph_init(&g, "random", n);
		graph_random(&g, n, n * (1 + seed % 4), seed);
		graph_weigh(&g, seed % 2 ? MILL_WEIGHT_U32 : MILL_WEIGHT_F32,
			    seed % 3 ? WEIGH_SMALL : WEIGH_ZEROS, seed);
		store = graph_store(&g);
		compare_all(store, "random", seed);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* ---- Budgets and refusals ---- */

static void test_least(void **state)
{
	struct mill_bfs how = { "0" };
	struct mill_plan plan;
	struct mill_report r;
	mill_store *store;
	struct graph g;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	graph_init(&g, "star", 4000);
	for (u32 i = 1; i < g.n; i++) {
		graph_add(&g, 0, i);
		graph_add(&g, i, i % 7);
	}
	store = graph_store(&g);
	run = open_large(store, (struct mill_options){ .largegraph.alpha = "1" });
	OK(mill_run_plan(run, "bfs", &how, &plan));
	run->opened[0]->memory->limit = plan.device_needed;
	OK(mill_bfs(run, &how));
	OK(mill_run_check(run));
	mill_run_report(run, &r);
	assert_true(r.device_peak <= plan.device_needed);
	assert_true(r.chunks.device_edges > 0);
	mill_run_free(run);
	run = open_large(store, (struct mill_options){ 0 });
	run->opened[0]->memory->limit = plan.device_needed - 1;
	REFUSED(MILL_ENOMEM, mill_bfs(run, &how), "a byte less");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static void test_refusals(void **state)
{
	static const char *const wrong[] = { "-1", "101%", "2", "x", "5%%", "" };
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	store = hand_store(&hands[0]);
	run = open_large(store, (struct mill_options){ 0 });
	REFUSED(MILL_EUSAGE, mill_pagerank(run, NULL), "pagerank");
	REFUSED(MILL_EUSAGE, mill_kcore(run), "kcore");
	mill_run_free(run);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		run = open_large(store, (struct mill_options){ .largegraph.alpha = wrong[i] });
		REFUSED(MILL_EUSAGE, mill_bfs(run, &(struct mill_bfs){ "0" }), wrong[i]);
		mill_run_free(run);
	}
	run = open_large(store, (struct mill_options){ .largegraph.chain = "-3" });
	REFUSED(MILL_EUSAGE, mill_bfs(run, &(struct mill_bfs){ "0" }), "a chain");
	mill_run_free(run);
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_by_hand),
	cmocka_unit_test(test_random),
	cmocka_unit_test(test_least),
	cmocka_unit_test(test_refusals),
};

SUITE(largegraph, tests, .setup = scratch_make, .teardown = scratch_remove);
