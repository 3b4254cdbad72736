/* SPDX-License-Identifier: Apache-2.0 */
/* Gunrock's sample graph, of which the results of each operator are known, with every mapping and filter; and its rules. */
#include <math.h>

#include "device/dialect.h"
#include "expect.h"
#include "op/op.h"

/* Edges to vertices without a flag activate them. */
#define VISIT_FIELDS(ARRAY, SCALAR) ARRAY(u32, flag)

STATE(visit, VISIT_FIELDS);

DEVICE bool visit_edge(struct visit s, vid u, vid v, u32 w)
{
	(void)u;
	(void)w;
	return !s.flag[v];
}

DEVICE bool visit_cond(struct visit s, vid v) { return !s.flag[v]; }

/* The same for devices: their compiler sees no file of the tests. */
#define VISIT_TEXT \
	"#define VISIT_FIELDS(ARRAY, SCALAR) ARRAY(u32, flag)\n" \
	"STATE(visit, VISIT_FIELDS);\n" \
	"DEVICE bool visit_edge(struct visit s, vid u, vid v, u32 w) { return !s.flag[v]; }\n" \
	"DEVICE bool visit_cond(struct visit s, vid v) { return !s.flag[v]; }\n"

#define PROGRAM visit
#define FIELDS VISIT_FIELDS
#define SOURCE VISIT_TEXT
#define COND 1
#define PREFETCH flag
#include "op/advance.inc"

static const f64 sample_weight[] = { 39, 6, 41, 51, 63, 17, 10, 44, 41, 13, 58, 43, 50, 59, 35 };

static mill_store *sample_store(struct graph *g, u32 codec)
{
	assert_true(shape_make(g, shape_named("Gunrock's sample")));
	g->weight = MILL_WEIGHT_U32;
	g->codec = CODEC_PACKED + codec;
	for (u32 i = 0; i < g->n_arcs; i++)
		g->arc[i].weight = sample_weight[i];
	graph_index(g);
	return graph_store(g);
}

/* ---- Every way to run ---- */

struct way {
	struct mill_options options;
	u32 codec;
	char name[96];
};

/* 0: on the cpu; then mapping x filter, with the codecs in turn. False: no more. */
static bool choose_way(struct way *w, u32 k)
{
	bool device = k > 0;

	if (k > 15 || (device && !have_opencl()))
		return false;
	*w = (struct way){
		.options = {
			.threads = 2,
			.memory = GIB,
			.device = device ? "opencl" : "cpu",
			.device_memory = 64 * MIB,
			.mapping = (enum mill_mapping)(k % 5),
			.filter = (enum mill_filter)(k % 3),
			.direction = MILL_DIRECTION_PUSH,
			.count_lanes = device,
			.check = true,
		},
		.codec = k / 5 % CODEC_LAST,
	};
	snprintf(w->name, sizeof(w->name), "%s, mapping %u, filter %u, %s", w->options.device, k % 5, k % 3,
		 codec_names[CODEC_PACKED + w->codec]);
	return true;
}

/* Just so much memory that a page stays and no more. */
static void shrink(mill_run *run, u64 needed)
{
	run->device->memory->limit = needed;
	run->loaded = false;
}

/* ---- Advance ---- */

/* SIMD slots: work-items that take a list each wait for the longest, 3 edges; those that share take 8 edges. */
static void expect_lanes(const struct way *w, const struct mill_step *step, u32 team)
{
	u64 want = w->options.mapping == MILL_MAPPING_THREAD || w->options.mapping == MILL_MAPPING_GROUP ? 3 * team : 8;

	if (w->options.mapping && step->lanes && step->lanes != want)
		fail_msg("%s: %llu lanes, not %llu", w->name, (unsigned long long)step->lanes, (unsigned long long)want);
}

static void advance_sample(const struct way *w, mill_store *store, bool small)
{
	const u64 active = 1 << 1 | 1 << 2 | 1 << 3, *bits;
	static const u32 flag[7] = { 1, 1, 1, 1 };
	struct declaration d;
	struct visit_args a;
	struct frontier *f;
	struct mill_plan plan;
	struct mill_step step;
	mill_run *run;

	OK(mill_run_new(&run, store, &w->options));
	declaration_init(&d, run, "visit", false);
	declare_state(&d, &a.flag, "flag", sizeof(u32), NULL);
	declare_frontier(&d, &f, 0);
	declare_advance(&d, &visit_advance, 0);
	declare_bytes(&d, 64, 0);
	OK(declaration_end(&d));
	run_plan(run, &d.need, &plan);
	if (small)
		shrink(run, plan.device_needed);
	OK(run_begin(run, &d.need));
	OK(declaration_make(&d));
	OK(device_write(&a.flag->buffer, 0, flag, sizeof(flag)));
	OK(device_write(&f->bits->buffer, 0, &active, sizeof(active)));
	f->n = 3;
	OK(frontier_measure(f));
	OK(op_advance(run, &visit_advance, &a, f));
	OK(frontier_bits(f, &bits));
	mill_run_step(run, 0, &step);
	/* V to V 0 2 4 3 4 5 5 6, of which five are new, and three after the filter. */
	if (bits[0] != (1 << 4 | 1 << 5 | 1 << 6) || f->n != 3 || step.edges != 8 || step.updates != 5)
		fail_msg("%s: %llx, %llu vertices, %llu edges, %llu updates", w->name, (unsigned long long)bits[0],
			 (unsigned long long)f->n, (unsigned long long)step.edges, (unsigned long long)step.updates);
	expect_lanes(w, &step, run->device->group / 2);
	mill_run_free(run);
}

static void test_advance(void **state)
{
	struct way w;

	(void)state;
	for (u32 k = 0; choose_way(&w, k); k++) {
		struct graph g;
		mill_store *store = sample_store(&g, w.codec);

		advance_sample(&w, store, false);
		if (k)
			advance_sample(&w, store, true);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* ---- Algorithms ---- */

#define X NONE32

static const u32 depths[7][7] = {
	{ 0, 1, 1, 1, 2, 2, 2 }, { 1, 0, 1, 2, 1, 2, 2 }, { X, X, 0, 1, 1, 1, 2 }, { X, X, X, 0, X, 1, 1 },
	{ X, X, 1, 2, 0, 1, 1 }, { X, X, X, X, X, 0, 1 }, { X, X, X, X, X, X, 0 },
};
static const u64 distances[7] = { 0, 39, 6, 16, 50, 29, 64 };
static const f64 ranks[7] = { .07938323, .07938323, .13522242, .11769625, .11769625, .17857251, .29204612 };
static const f64 scores[7] = { 1 / 2., 1 / 2., 3, 11 / 6., 11 / 6., 1 / 3., 0 };

static void expect_depths(const struct way *w, mill_run *run)
{
	for (u32 root = 0; root < 7; root++) {
		char source[8];
		u32 got[7];

		snprintf(source, sizeof(source), "%u", root);
		OK(mill_bfs(run, &(struct mill_bfs){ source }));
		OK(mill_run_values(run, "depth", false, got, NULL));
		if (memcmp(got, depths[root], sizeof(got)))
			fail_msg("%s: depths from %u", w->name, root);
	}
}

static void expect_reals(const struct way *w, mill_run *run, const char *what, const f64 *want)
{
	f64 got[7];

	OK(mill_run_values(run, "score", false, got, NULL));
	for (u32 v = 0; v < 7; v++)
		if (!(fabs(got[v] - want[v]) < 1e-8))
			fail_msg("%s: %s of %u is %.9g, not %.9g", w->name, what, v, got[v], want[v]);
}

static void expect_all(const struct way *w, mill_run *run, bool small)
{
	struct mill_pagerank f64_ranks = { .precision = MILL_F64, .tolerance = 1e-13, .iterations = 300 };
	struct mill_sssp paths = { .source = "0" };
	struct mill_bc between = { .sources = "all" };
	struct mill_plan plan;
	u64 got[7];

	OK(mill_run_plan(run, "bfs", NULL, &plan));
	if (small)
		shrink(run, plan.device_needed);
	expect_depths(w, run);
	OK(mill_run_plan(run, "sssp", &paths, &plan));
	if (small)
		shrink(run, plan.device_needed);
	OK(mill_sssp(run, &paths));
	OK(mill_run_values(run, "distance", false, got, NULL));
	if (memcmp(got, distances, sizeof(got)))
		fail_msg("%s: distances", w->name);
	OK(mill_run_plan(run, "pagerank", &f64_ranks, &plan));
	if (small)
		shrink(run, plan.device_needed);
	OK(mill_pagerank(run, &f64_ranks));
	expect_reals(w, run, "the rank", ranks);
	OK(mill_run_plan(run, "bc", &between, &plan));
	if (small)
		shrink(run, plan.device_needed);
	OK(mill_bc(run, &between));
	expect_reals(w, run, "the betweenness", scores);
}

static void test_algorithms(void **state)
{
	struct way w;

	(void)state;
	for (u32 k = 0; choose_way(&w, k); k++) {
		struct graph g;
		mill_store *store;
		mill_run *run;

		w.options.direction = (enum mill_direction)(k % 4);
		store = sample_store(&g, w.codec);
		OK(mill_run_new(&run, store, &w.options));
		expect_all(&w, run, k && k % 2);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* ---- Rules ---- */

static void test_estimates(void **state)
{
	/* n_f, n_u, n, m; nothing seen at all: as if all edges were left */
	static const struct {
		u64 n_f, n_u, n, m;
		f64 m_f, m_u;
	} cases[] = {
		{ 3, 3, 7, 15, 6.4286, 5.25 }, { 1, 6, 7, 15, 2.1429, 42 }, { 3, 0, 7, 15, 6.4286, 0 }, { 0, 7, 7, 15, 0, 15 },
		{ 0, 0, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct estimate e = advance_estimate(cases[i].n_f, cases[i].n_u, cases[i].n, cases[i].m);

		if (!(fabs(e.m_f - cases[i].m_f) < 5e-5 && fabs(e.m_u - cases[i].m_u) < 5e-5))
			fail_msg("case %zu: %g and %g", i, e.m_f, e.m_u);
	}
}

/* In the second step 6.4286 edges stand against do_a x 5.25. */
static void test_directions(void **state)
{
	static const struct {
		f64 do_a, do_b;
		const char *second, *third;
	} cases[] = {
		{ 1.22, 1, "pull", "pull" }, { 1.23, 1, "push", "pull" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
		struct mill_options o = { .threads = 1, .memory = GIB, .direction = MILL_DIRECTION_ESTIMATE,
					  .do_a = cases[i / 2].do_a, .do_b = cases[i / 2].do_b,
					  .device = i % 2 ? "opencl" : "cpu" };
		struct mill_step first, second, third;
		struct graph g;
		mill_store *store;
		mill_run *run;

		if (i % 2 && !have_opencl())
			continue;
		store = sample_store(&g, 0);
		OK(mill_run_new(&run, store, &o));
		OK(mill_bfs(run, &(struct mill_bfs){ "0" }));
		mill_run_step(run, 0, &first);
		mill_run_step(run, 1, &second);
		mill_run_step(run, 2, &third);
		if (strcmp(first.direction, "push") || strcmp(second.direction, cases[i / 2].second) ||
		    strcmp(third.direction, cases[i / 2].third))
			fail_msg("do_a %g on %s: %s, %s, %s", o.do_a, o.device, first.direction, second.direction,
				 third.direction);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void test_mappings(void **state)
{
	static const struct {
		u64 n_rows, n_edges, n_f;
		enum mill_mapping want;
	} cases[] = {
		{ 100, 499, 1, MILL_MAPPING_GROUP },	  { 100, 499, 100000, MILL_MAPPING_GROUP },
		{ 100, 500, 1, MILL_MAPPING_INPUT },	  { 1000000, 5000000, 4095, MILL_MAPPING_INPUT },
		{ 1000000, 5000000, 4096, MILL_MAPPING_OUTPUT }, { 0, 0, 0, MILL_MAPPING_INPUT },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(advance_mapping(cases[i].n_rows, cases[i].n_edges, cases[i].n_f), cases[i].want);
}

/* SIMD slots of each step of a search; 0: this device does not count them. */
static u64 count_lanes(mill_store *store, enum mill_mapping mapping, struct mill_step *step, u64 most)
{
	struct mill_options o = { .threads = 1, .memory = GIB, .device = "opencl", .device_memory = 64 * MIB,
				  .direction = MILL_DIRECTION_PUSH, .mapping = mapping, .count_lanes = true };
	struct mill_report report;
	mill_run *run;

	OK(mill_run_new(&run, store, &o));
	OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	mill_run_report(run, &report);
	assert_true(report.n_steps <= most);
	for (u64 i = 0; i < report.n_steps; i++)
		mill_run_step(run, i, &step[i]);
	mill_run_free(run);
	return report.lanes ? report.n_steps : 0;
}

/* The automatic mapping issues as many slots as the mapping that the rule names; no mapping issues fewer than there are edges. */
static void test_lanes(void **state)
{
	static const u32 arcs[] = { 30000, 120000 };
	bool counted = false, seen[5] = { false };

	(void)state;
	for (size_t i = 0; have_opencl() && i < ARRAY_LEN(arcs); i++) {
		struct mill_step step[5][64];
		struct graph g;
		mill_store *store;
		u64 n = 0;

		graph_init(&g, "random", 0);
		graph_random(&g, 15000, arcs[i], i);
		graph_index(&g);
		store = graph_store(&g);
		for (u32 m = 0; m < 5; m++)
			n = count_lanes(store, (enum mill_mapping)m, step[m], ARRAY_LEN(step[m]));
		for (u64 k = 0; k < n; k++) {
			enum mill_mapping rule = advance_mapping(store->st->out.n_rows, g.n_stored, step[0][k].frontier);

			counted = seen[rule] = true;
			assert_int_equal(step[0][k].lanes, step[rule][k].lanes);
			for (u32 m = 0; m < 5; m++)
				assert_true(step[m][k].lanes >= step[m][k].edges && step[m][k].edges == step[0][k].edges);
			assert_true(step[MILL_MAPPING_OUTPUT][k].lanes <= step[MILL_MAPPING_INPUT][k].lanes);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
	if (!counted)
		skip();
	assert_true(seen[MILL_MAPPING_GROUP] && seen[MILL_MAPPING_INPUT] && seen[MILL_MAPPING_OUTPUT]);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_advance),
	cmocka_unit_test(test_algorithms),
	cmocka_unit_test(test_estimates),
	cmocka_unit_test(test_directions),
	cmocka_unit_test(test_mappings),
	cmocka_unit_test(test_lanes),
};

SUITE(gunrock, tests, .setup = scratch_make, .teardown = scratch_remove);
