/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares betweenness with Brandes' algorithm as published, on one thread and in long
 * doubles, and with closed forms.
 */
#include <math.h>

#include "algo/bc.h"
#include "base/random.h"
#include "expect.h"

/* All directed graphs on 4 vertices, in one store: each search reaches few vertices. */
static void test_tiny(void **state)
{
	static const char *const names[] = { "1 thread", "2 threads" };
	u32 copies = MILL_VID_BITS < 32 ? 61 : 65536;
	struct mill_bc how = { .sources = "all" };
	struct graph g;
	mill_store *store;
	f64 *want;

	(void)state;
	if (is_sanitized())	/* the matrix runs the same code */
		skip();
	graph_init(&g, "all graphs of 4", 4 * copies);
	for (u32 k = 0; k < copies; k++)
		for (u32 bit = 0; bit < 16; bit++)
			if (k * (65536 / copies) >> bit & 1)
				graph_add(&g, 4 * k + bit / 4, 4 * k + bit % 4);
	graph_index(&g);
	want = calloc(g.n + 1u, sizeof(*want));
	for (u32 k = 0; k < copies; k++) {	/* the answer of each graph alone */
		struct graph small;
		f64 *score;

		graph_init(&small, "4", 4);
		for (u32 bit = 0; bit < 16; bit++)
			if (k * (65536 / copies) >> bit & 1)
				graph_add(&small, bit / 4, bit % 4);
		graph_index(&small);
		score = naive_bc(&small, NULL, 0);
		memcpy(want + 4 * k, score, 4 * sizeof(*score));
		want[g.n] += score[4];
		free(score);
		graph_release(&small);
	}
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		mill_run *run = run_open(store, config_named(names[i]),
					 (struct mill_options){ .check = true }, "bc", &how);

		expect_bc(&g, names[i], run, &how, want);
		mill_run_free(run);
	}
	free(want);
	graph_store_drop(store);
	graph_release(&g);
}

/*
 * A chain of n diamonds doubles the number of paths n times. A path of the same length leads
 * to its last vertex too. A chain of 50 triple edges follows.
 */
static void make_diamonds(struct graph *g, u32 n, bool undirected)
{
	u32 last = 0, v = 1;

	graph_init(g, "diamonds", 1);
	g->undirected = undirected;
	for (u32 i = 0; i < n; i++, v += 3) {
		graph_add(g, last, v);
		graph_add(g, last, v + 1);
		graph_add(g, v, v + 2);
		graph_add(g, v + 1, v + 2);
		last = v + 2;
	}
	for (u32 i = 0, from = 0; i < 2 * n - 1; i++, from = v++)
		graph_add(g, from, v);
	graph_add(g, v - 1, last);
	for (u32 i = 0; i < 50; i++, last = v++)
		for (u32 k = 0; k < 3; k++)
			graph_add(g, last, v);
	g->n = v;
	graph_index(g);
}

/* 2,000 diamonds: the number of paths overflows a double, so the run must use wide numbers. */
static void test_overflow(void **state)
{
	static const char *const names[] = {
		"2 threads", "2 threads, 2 frames", "opencl", "4 threads, 5 frames",
	};

	(void)state;
	if (MILL_VID_BITS < 32)
		skip();
	for (int undirected = 0; undirected < 2; undirected++) {
		u32 root[] = { 40, 0, 3, 5000 };
		char list[100];
		u64 hash = 0;
		struct graph g;
		mill_store *store;
		f64 *want;

		make_diamonds(&g, 2000, undirected);
		want = naive_bc(&g, root, ARRAY_LEN(root));
		write_sources(&g, root, ARRAY_LEN(root), list, sizeof(list));
		store = graph_store(&g);
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			const struct config *c = config_named(names[i]);
			struct mill_bc how = { .sources = list };
			mill_run *run;
			u64 got;

			if (!config_usable(c) || (undirected && (c->device || c->threads != 2)))
				continue;
			run = run_open(store, c, (struct mill_options){ .check = true }, "bc",
				       &how);
			got = expect_bc(&g, c->name, run, &how, want);
			assert_non_null(((const struct bc_run *)run->self)->wide_in);
			if (!c->device && hash && got != hash)
				fail_msg("diamonds, %s: the hash differs", c->name);
			hash = c->device ? hash : got;
			mill_run_free(run);
		}
		free(want);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Paths and stars: the scores have closed forms. */
static void test_closed_forms(void **state)
{
	static const struct {
		const char *name;
		bool undirected, star;
	} cases[] = {
		{ "path", false, false },
		{ "path, undirected", true, false },
		{ "star", false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		for (int normalized = 0; normalized < 2; normalized++) {
			struct mill_bc how = { .sources = "all", .normalized = normalized };
			struct graph g;
			mill_store *store;
			mill_run *run;
			f64 *want, *naive, n;

			graph_init(&g, cases[i].name, 200);
			g.undirected = cases[i].undirected;
			for (u32 v = 1; v < g.n; v++)
				graph_add(&g, cases[i].star ? 0 : v - 1, v);
			graph_index(&g);
			n = g.n;
			want = calloc(g.n + 1u, sizeof(*want));
			naive = naive_bc(&g, NULL, 0);
			want[g.n] = naive[g.n];
			free(naive);
			for (u32 v = 0; v < g.n && !cases[i].star; v++) {
				/* The vertices before v times the vertices behind it. */
				want[v] = (f64)v * (n - 1 - v);
				if (normalized)
					want[v] /= (n - 1) * (n - 2) / (g.undirected ? 2 : 1);
			}
			store = graph_store(&g);
			run = run_open(store, config_named("2 threads"),
				       (struct mill_options){ .check = true }, "bc", &how);
			expect_bc(&g, "closed form", run, &how, want);
			mill_run_free(run);
			free(want);
			graph_store_drop(store);
			graph_release(&g);
		}
}

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* Gunrock's sample: vertices 0 .. 6; vertex 6 has no out-edges. */
static void test_sources(void **state)
{
	static const struct {
		const char *text;
		const char *file;	/* the text of the file, if text is "@" */
		mill_err err;
		u64 n;
	} cases[] = {
		{ NULL, NULL, MILL_OK, 1 },
		{ "3", NULL, MILL_OK, 1 },
		{ "6", NULL, MILL_OK, 1 },
		{ "5,0,3", NULL, MILL_OK, 3 },
		{ "all", NULL, MILL_OK, 7 },
		{ "random", NULL, MILL_OK, 1 },
		{ "max-degree", NULL, MILL_OK, 1 },
		{ "random:1", NULL, MILL_OK, 1 },
		{ "random:6", NULL, MILL_OK, 6 },
		{ "@", "# two\n4\n\n 1 \r\n", MILL_OK, 2 },
		{ "", NULL, MILL_EUSAGE, 0 },
		{ ",", NULL, MILL_EUSAGE, 0 },
		{ "1,", NULL, MILL_EUSAGE, 0 },
		{ "1,,2", NULL, MILL_EUSAGE, 0 },
		{ "1,2,1", NULL, MILL_EUSAGE, 0 },
		{ "7", NULL, MILL_EUSAGE, 0 },
		{ "x", NULL, MILL_EUSAGE, 0 },
		{ "all,1", NULL, MILL_EUSAGE, 0 },
		{ "random:0", NULL, MILL_EUSAGE, 0 },
		{ "random:7", NULL, MILL_EUSAGE, 0 },
		{ "random:", NULL, MILL_EUSAGE, 0 },
		{ "random:x", NULL, MILL_EUSAGE, 0 },
		{ "@", "", MILL_EUSAGE, 0 },
		{ "@", "1\n1\n", MILL_EUSAGE, 0 },
		{ "@", "1\n9\n", MILL_EUSAGE, 0 },
		{ "@", "1\nx\n", MILL_EINPUT, 0 },
		{ "@/does/not/exist", NULL, MILL_EIO, 0 },
	};
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	store = graph_store(&g);
	run = run_open(store, config_named("1 thread"),
		       (struct mill_options){ .check = true, .seed = 5 }, "bc", NULL);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct mill_bc how = { .sources = cases[i].text };
		u64 seen = 0;
		char at[700];

		if (cases[i].file) {
			snprintf(at, sizeof(at), "@%s", scratch_path("sources"));
			put_text(at + 1, cases[i].file);
			how.sources = at;
		}
		if (cases[i].err) {
			REFUSED(cases[i].err, mill_bc(run, &how), cases[i].text);
			continue;
		}
		OK(mill_bc(run, &how));
		OK(mill_run_check(run));
		assert_int_equal(fact_of(run, "sources")->u64, cases[i].n);
		assert_int_equal(run->search.n_sources, cases[i].n);
		for (u64 k = 0; k < run->search.n_sources; k++) {
			assert_false(seen >> run->search.source[k] & 1);
			seen |= (u64)1 << run->search.source[k];
		}
		/* Random sources have out-edges. */
		if (cases[i].text && !strncmp(cases[i].text, "random", 6))
			assert_true(seen < (u64)1 << 6);
	}
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

static void test_out_only(void **state)
{
	struct graph g;
	mill_store *store;
	mill_run *run;

	(void)state;
	assert_true(shape_make(&g, shape_named("Gunrock's sample")));
	g.out_only = true;
	store = graph_store(&g);
	OK(mill_run_new(&run, store, NULL));
	REFUSED(MILL_EUSAGE, mill_bc(run, NULL), "without in-pages");
	mill_run_free(run);
	graph_store_drop(store);
	graph_release(&g);
}

/* Equal seeds give equal random sources. Runs 0 and 1 have one seed, 2 and 3 another. */
static void test_random(void **state)
{
	static const u64 seeds[] = { 0, 0, 1, 1 };
	struct mill_bc how = { .sources = "random:40" };
	vid before[40];
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("random, sparse")))
		skip();
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
		struct mill_options o = { .seed = seeds[i] };
		mill_run *run = run_open(store, config_named("2 threads"), o, "bc", &how);
		bool same;

		OK(mill_bc(run, &how));
		same = i && !memcmp(before, run->search.source, sizeof(before));
		assert_int_equal(run->search.n_sources, 40);
		assert_true(!i || same == (seeds[i] == seeds[i - 1]));
		memcpy(before, run->search.source, sizeof(before));
		mill_run_free(run);
	}
	graph_store_drop(store);
	graph_release(&g);
}

/* One byte below the planned budget is refused. The planned budget works, streamed too. */
static void test_budgets(void **state)
{
	static const char *const names[] = { "random, tiny", "star, undirected", "hubs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (u32 frames = 0; frames < 3; frames++) {
			struct mill_bc how = { .sources = "random:3" };
			struct mill_options o = { .check = true, .memory = GIB, .threads = 2 };
			struct mill_report report;
			struct mill_plan plan;
			struct graph g;
			mill_store *store;
			mill_run *run;
			u64 hash;

			if (!shape_make(&g, shape_named(names[i])))
				continue;
			store = graph_store(&g);
			OK(mill_run_new(&run, store, &o));
			OK(mill_run_plan(run, "bc", &how, &plan));
			OK(mill_bc(run, &how));
			hash = hash_of(run);
			mill_run_report(run, &report);
			assert_true(report.resident && report.memory_peak <= plan.resident);
			mill_run_free(run);
			o.memory = plan.needed - 1;
			OK(mill_run_new(&run, store, &o));
			REFUSED(MILL_ENOMEM, mill_bc(run, &how), names[i]);
			mill_run_free(run);
			o.memory = plan.needed;
			OK(mill_run_new(&run, store, &o));
			run->hook.only_frames = frames;
			for (int twice = 0; twice < 2; twice++) {
				OK(mill_bc(run, &how));
				OK(mill_run_check(run));
				assert_int_equal(hash_of(run), hash);
			}
			mill_run_report(run, &report);
			assert_true(report.memory_peak <= plan.needed);
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Changes one value of a correct result: the certificate must fail. Restores the value. */
static void spoil(mill_run *run, const struct vec *vec, u64 v, f64 by)
{
	struct vec *to = (struct vec *)vec;
	f64 old, bad;

	OK(vec_get(to, v, &old));
	bad = old + by;
	OK(vec_set(to, v, &bad));
	if (mill_run_check(run) != MILL_ECHECK)
		fail_msg("%s of vertex %llu: %g instead of %g passes the certificate", vec->name,
			 (unsigned long long)v, bad, old);
	OK(vec_set(to, v, &old));
}

static void test_certificate(void **state)
{
	static const char *const names[] = { "1 thread", "2 threads, 1 frame", "opencl" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (int several = 0; several < 2; several++) {
			struct mill_bc how = { .sources = several ? "1,2,0" : "0" };
			const struct bc_run *s;
			struct graph g;
			mill_store *store;
			mill_run *run;
			vid swap;

			if (!config_usable(config_named(names[i])))
				continue;
			assert_true(shape_make(&g, shape_named("Gunrock's sample")));
			store = graph_store(&g);
			run = run_open(store, config_named(names[i]),
				       (struct mill_options){ .check = true }, "bc", &how);
			OK(mill_bc(run, &how));
			OK(mill_run_check(run));
			s = run->self;
			assert_int_equal(s->levels.n_reached, 7);
			for (u64 v = 0; v < 7; v++) {
				spoil(run, s->score, v, 1e-3);
				spoil(run, s->score, v, -0.5);
				spoil(run, s->score, v, NAN);
				/* Path counts and dependencies, in either order. */
				for (int odd = 0; odd < 2; odd++) {
					spoil(run, s->paths[odd], v, 1);
					spoil(run, s->paths[odd], v, 0.25);
				}
			}
			/* Vertices in the wrong level, a vertex twice, a level more or less. */
			for (u32 k = 1; k < 7; k++) {
				vid *order = (vid *)s->levels.order;
				u64 *begins = (u64 *)s->levels.begins;

				if (bitmap_get(begins, k)) {
					swap = order[k];
					order[k] = order[k - 1];
					order[k - 1] = swap;
					assert_int_equal(mill_run_check(run), MILL_ECHECK);
					order[k - 1] = order[k];
					assert_int_equal(mill_run_check(run), MILL_ECHECK);
					order[k] = swap;
				}
				begins[0] ^= (u64)1 << k;
				assert_int_equal(mill_run_check(run), MILL_ECHECK);
				begins[0] ^= (u64)1 << k;
			}
			OK(mill_run_check(run));
			mill_run_free(run);
			graph_store_drop(store);
			graph_release(&g);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_tiny),
	cmocka_unit_test(test_overflow),
	cmocka_unit_test(test_closed_forms),
	cmocka_unit_test(test_sources),
	cmocka_unit_test(test_out_only),
	cmocka_unit_test(test_random),
	cmocka_unit_test(test_budgets),
	cmocka_unit_test(test_certificate),
};

SUITE(bc, tests, .setup = scratch_make, .teardown = scratch_remove);
