/* SPDX-License-Identifier: Apache-2.0 */
/* The same bits for every number of threads, budget, page size and device: what the documents promise. */
#include "expect.h"

#include <math.h>

#include "base/checksum.h"

static const struct {
	const char *name;
	const char *algorithm;
	enum mill_weight weight;
	enum weighing how;
	enum mill_precision precision;
	bool personal;
} variants[] = {
	{ "bfs", "bfs", MILL_WEIGHT_NONE, 0, 0, false },
	{ "sssp u32", "sssp", MILL_WEIGHT_U32, WEIGH_SMALL, 0, false },
	{ "sssp u32 with zeros", "sssp", MILL_WEIGHT_U32, WEIGH_ZEROS, 0, false },
	{ "sssp u32, long", "sssp", MILL_WEIGHT_U32, WEIGH_HUGE, 0, false },
	{ "sssp i32", "sssp", MILL_WEIGHT_I32, WEIGH_MIXED, 0, false },
	{ "sssp f32", "sssp", MILL_WEIGHT_F32, WEIGH_SMALL, 0, false },
	{ "sssp f64", "sssp", MILL_WEIGHT_F64, WEIGH_MIXED, 0, false },
	{ "pagerank f32", "pagerank", MILL_WEIGHT_NONE, 0, MILL_F32, false },
	{ "pagerank f64", "pagerank", MILL_WEIGHT_NONE, 0, MILL_F64, false },
	{ "pagerank exact", "pagerank", MILL_WEIGHT_NONE, 0, MILL_EXACT, false },
	{ "pagerank exact, personal", "pagerank", MILL_WEIGHT_NONE, 0, MILL_EXACT, true },
};

/* What is compared: the report's hash, and one over the parents (0 without). */
struct answer {
	u64 hash, parents;
	f64 *score;	/* of floats, by id */
};

static struct answer answer_of(const struct graph *g, mill_store *store, const struct config *c, size_t i)
{
	char id[32];
	struct mill_pagerank ranking = { .precision = variants[i].precision, .tolerance = -1, .iterations = 12,
					 .personalize = variants[i].personal ? id : NULL };
	bool search = strcmp(variants[i].algorithm, "pagerank");
	struct mill_options o = { .parents = true, .check = true };
	struct answer a = { 0 };
	mill_run *run;
	u64 *parent;

	snprintf(id, sizeof(id), "%llu", (unsigned long long)graph_id(g, g->n / 2));
	run = run_open(store, c, o, variants[i].algorithm, search ? NULL : &ranking);
	if (!strcmp(variants[i].algorithm, "bfs"))
		OK(mill_bfs(run, &(struct mill_bfs){ id }));
	else if (search)
		OK(mill_sssp(run, &(struct mill_sssp){ .source = id }));
	else
		OK(mill_pagerank(run, &ranking));
	OK(mill_run_check(run));
	a.hash = hash_of(run);
	if (search) {
		parent = calloc(g->n, sizeof(*parent));
		OK(mill_run_values(run, "parent", false, parent, NULL));
		a.parents = checksum(parent, g->n * sizeof(*parent));
		free(parent);
	} else {
		a.score = scores_of(g, run, variants[i].precision);
	}
	mill_run_free(run);
	return a;
}

static void compare(const struct graph *g, const char *where, size_t i, const struct answer *want,
		    const struct answer *got, bool device)
{
	bool floats = got->score && variants[i].precision != MILL_EXACT;

	if (!device || !floats) {
		if (got->hash != want->hash || got->parents != want->parents)
			fail_msg("%s, %s, %s: other bits", g->name, variants[i].name, where);
		return;
	}
	for (u32 v = 0; v < g->n; v++)
		if (!(fabs(got->score[v] - want->score[v]) <= 1e-6 * want->score[v]))
			fail_msg("%s, %s, %s: vertex %u has %.17g, not %.17g", g->name, variants[i].name, where, v,
				 got->score[v], want->score[v]);
	if (got->hash != want->hash)
		print_message("%s, %s, %s: within the tolerance, but other bits\n", g->name, variants[i].name, where);
}

static const struct {
	const char *name;
	bool devices;		/* every other pair of variant and device; otherwise an eighth of them */
} graphs[] = {
	{ "hubs", true },
	{ "star, undirected", false },
	{ "random, dense", false },
	{ "random, tiny", false },
	{ "grid", false },
};

static void test_configurations(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(graphs); i++)
		for (size_t k = 0; k < ARRAY_LEN(variants); k++) {
			struct answer want = { 0 };
			struct graph g;
			mill_store *store;

			if (!shape_make(&g, shape_named(graphs[i].name)))
				continue;
			if (variants[k].weight)
				graph_weigh(&g, variants[k].weight, variants[k].how, i);
			store = graph_store(&g);
			for (size_t j = 0; j < n_configs; j++) {
				const struct config *c = &configs[j];
				struct answer got;

				if (!config_usable(c) ||
				    (c->device && (i + j + k) % (graphs[i].devices ? 2 : 8)))
					continue;
				got = answer_of(&g, store, c, k);
				if (!j)
					want = got;
				compare(&g, c->name, k, &want, &got, c->device);
				if (j)
					free(got.score);
			}
			free(want.score);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Page sizes change where lists are cut, and nothing else. */
static void test_page_sizes(void **state)
{
	static const u32 sizes[] = { 64 * KIB, 128 * KIB, 256 * KIB, 1 * MIB };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(variants); k++) {
		struct answer want = { 0 };

		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			char name[32];
			struct answer got;
			struct graph g;
			mill_store *store;

			if (!shape_make(&g, shape_named("hubs")))
				continue;
			if (variants[k].weight)
				graph_weigh(&g, variants[k].weight, variants[k].how, 3);
			g.page_size = sizes[i];
			store = graph_store(&g);
			snprintf(name, sizeof(name), "pages of %u KiB", sizes[i] / 1024);
			got = answer_of(&g, store, config_named("2 threads, 1 frame"), k);
			if (!i)
				want = got;
			compare(&g, name, k, &want, &got, false);
			if (i)
				free(got.score);
			graph_store_drop(store);
			graph_release(&g);
		}
		free(want.score);
	}
}

/* Lists of lengths around the block that sums are made of, and around what a page holds. */
static void test_lengths(void **state)
{
	static const u32 lengths[] = { 1, 1023, 1024, 1025, 2048, 15 * 1024, 15 * 1024 + 1, 16 * 1024 - 1, 16 * 1024,
				       16 * 1024 + 1, 31 * 1024, 32 * 1024, 33 * 1024 };
	/* What a page of 64 KiB still holds beside its header depends on the rows: sweep over that too. */
	static const u32 before[] = { 0, 1, 5, 700 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths) * ARRAY_LEN(before); i++) {
		u32 length = lengths[i / ARRAY_LEN(before)], lead = before[i % ARRAY_LEN(before)];
		struct answer want, got;
		struct graph g;
		mill_store *store;

		/* `lead` vertices with an in-edge each, one with `length` of them, and one with a single one. */
		graph_init(&g, "lengths", lead + 2 + length);
		for (u32 v = 0; v < lead; v++)
			graph_add(&g, lead + 2, v);
		for (u32 v = 0; v < length; v++)
			graph_add(&g, lead + 2 + v, lead);
		graph_add(&g, lead + 2, lead + 1);
		graph_add(&g, lead, lead + 1);
		graph_add(&g, lead, lead);
		if (!graph_fits(&g)) {
			graph_release(&g);
			continue;
		}
		graph_index(&g);
		store = graph_store(&g);
		want = answer_of(&g, store, config_named("1 thread"), 8);
		got = answer_of(&g, store, config_named("4 threads, 5 frames"), 8);
		if (want.hash != got.hash)
			fail_msg("a list of %u after %u: other bits", length, lead);
		free(want.score);
		free(got.score);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Races show themselves seldom: the same short searches many times, with more threads than cores. */
static void test_repeats(void **state)
{
	struct graph g;
	mill_store *store;
	mill_run *run;
	u64 bfs = 0, sssp = 0;

	(void)state;
	graph_init(&g, "repeats", 0);
	graph_random(&g, 200, 1500, 4);
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_ZEROS, 4);
	store = graph_store(&g);
	for (size_t c = 0; c < 2; c++) {
		run = run_open(store, config_named(c ? "4 threads, 5 frames" : "4 threads"),
			       (struct mill_options){ .parents = true }, "bfs", NULL);
		for (int i = 0; i < 300; i++) {
			OK(mill_bfs(run, &(struct mill_bfs){ "0" }));
			assert_true(!bfs || hash_of(run) == bfs);
			bfs = hash_of(run);
			OK(mill_sssp(run, &(struct mill_sssp){ .source = "0" }));
			assert_true(!sssp || hash_of(run) == sssp);
			sssp = hash_of(run);
		}
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_configurations),
	cmocka_unit_test(test_page_sizes),
	cmocka_unit_test(test_lengths),
	cmocka_unit_test(test_repeats),
};

SUITE(invariance, tests, .setup = scratch_make, .teardown = scratch_remove);
