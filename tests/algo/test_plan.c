/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model: runs read the pages that it predicts, and its terms are those of the
 * papers. No check depends on time.
 */
#include "algo/algo.h"
#include "model/model.h"
#include "model/shape.h"
#include "expect.h"

/* ---- Predicted pages ---- */

static mill_run *streamed_run(mill_store *store, u32 frames)
{
	mill_run *run;

	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 2 }));
	run->hook.only_frames = frames;
	return run;
}

static void expect_pages(const mill_run *run, const char *what, u32 frames)
{
	struct mill_report r;

	mill_run_report(run, &r);
	if (r.predicted.pages_read != r.pages_read || r.predicted.disk_read != r.disk_read ||
	    r.predicted.iterations != r.iterations)
		fail_msg("%s, %u frames: predicted %llu pages in %llu steps, read %llu in %llu",
			 what, frames, (unsigned long long)r.predicted.pages_read,
			 (unsigned long long)r.predicted.iterations,
			 (unsigned long long)r.pages_read, (unsigned long long)r.iterations);
}

static void try_frames(mill_store *store, u32 n_pages, u32 frames)
{
	const struct mill_pagerank ranking = { .tolerance = -1, .iterations = 5 };
	mill_run *run = streamed_run(store, frames);
	struct mill_report r;
	struct mill_plan plan;

	OK(mill_run_plan(run, "pagerank", &ranking, &plan));
	assert_false(plan.fits);
	OK(mill_pagerank(run, &ranking));
	expect_pages(run, "pagerank", frames);
	mill_run_report(run, &r);
	assert_int_equal(r.pages_read,
			 n_pages + 4 * (u64)(n_pages > frames ? n_pages - frames : 0));
	assert_int_equal(plan.predicted.pages_read, r.pages_read);
	assert_int_equal(plan.predicted.iterations_low, 5);
	assert_int_equal(plan.predicted.iterations_high, 5);
	OK(mill_cc(run, NULL));
	mill_run_report(run, &r);
	assert_int_equal(r.predicted.iterations, r.iterations);
	mill_run_free(run);
	/* A new run: its frames are empty, so cc cannot reuse pages of pagerank. */
	run = streamed_run(store, frames);
	OK(mill_cc(run, NULL));
	expect_pages(run, "cc", frames);
	mill_run_free(run);
}

static void test_pages(void **state)
{
	struct graph g;
	mill_store *store;
	u32 n;

	(void)state;
	if (MILL_VID_BITS < 32)
		return;
	graph_init(&g, "random", 5000);
	graph_random(&g, 5000, 300000, 3);
	g.page_size = 64 * KIB;
	store = graph_store(&g);
	n = store->st->in.n_pages;	/* pagerank reads in-pages */
	assert_true(n > 4);
	try_frames(store, n, 1);
	try_frames(store, n, 3);
	try_frames(store, n, n - 1);
	try_frames(store, n, n);
	try_frames(store, n, n + 5);
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- The terms ---- */

static struct store a_store;
static struct machine a_machine;

static struct setting a_setting(const struct cost *cost)
{
	a_store = (struct store){
		.vertices = 1000,
		.n_linked = 1000,
		.sources = 1000,
		.stored_edges = 16000,
		.page_size = 1000,
		.codec = PAGE_RAW,
	};
	a_machine = (struct machine){
		.read = 1e9,
		.chunk_rate = 16e9,
		.page_rate = 6e9,
		.levels = 10,
		.typical = 16,
		.skew = 1,
	};
	return (struct setting){
		.store = &a_store,
		.machine = &a_machine,
		.cost = cost,
		.rounds = 1,
		.damping = 0.85,
		.threads = 1,
		.pages = 100,
		.frames = 10,
	};
}

/*
 * Checks equation 1 with the numbers of papers.md: WA = RA = 4 GB, a topology of 114 GB,
 * c1 = 16 and c2 = 6 take 2 x 4 / 16 + 118 / 6 = 20.1667 s. RA streams with the pages.
 */
static void test_equation_1(void **state)
{
	struct setting s = a_setting(&cost_pagerank);
	struct mill_prediction p;

	(void)state;
	a_machine.read = 1e15;
	s.slots = 1;
	s.state = s.read_only = 4000000000u;
	s.pages = 114;
	s.large = 14;
	s.page_bytes = 1000000000u;
	s.gts = true;
	model_predict(&s, &p);	/* sums start at 0 on the device: WA crosses once, not twice */
	assert_int_equal(p.equation, 1);
	assert_true(p.device_seconds > 20.1666 - 0.25 && p.device_seconds < 20.1668 - 0.25);
	assert_int_equal(p.to_device, 118000000000u);
	s.devices = 2;
	model_predict(&s, &p);
	assert_true(p.cost.total > 10.3332 - 0.25 && p.cost.total < 10.3334 - 0.25);
	/* Ten passes: scans through an LRU cache have no hits until all pages fit. */
	s.devices = 1;
	s.rounds = 10;
	s.slots = 113;
	model_predict(&s, &p);
	assert_true(p.cost.total > 201.666 - 2.5 && p.cost.total < 201.668 - 2.5);
	s.slots = 114;
	model_predict(&s, &p);
	assert_true(p.cost.stream > (40 + 114) / 6.0 - 0.001 &&
		    p.cost.stream < (40 + 114) / 6.0 + 0.001);
	/* Without gts the first pages stay, and state made on the device does not cross. */
	s.gts = false;
	s.slots = 57;
	model_predict(&s, &p);
	assert_true(p.cost.stream > (40 + 114 + 9 * 57) / 6.0 - 0.001 &&
		    p.cost.stream < (40 + 114 + 9 * 57) / 6.0 + 0.001);
	assert_true(p.cost.attributes == 0);
	/* Kernels that take longer than streaming add to the time. */
	a_machine.call = a_machine.enqueue = 0.5;
	a_machine.gather = 1;
	model_predict(&s, &p);
	/* Raw pages: one launch each. */
	assert_true(p.cost.calls > 569.9 && p.cost.calls < 570.1);
	assert_true(p.cost.kernel + p.cost.stream > 159999 &&
		    p.cost.kernel + p.cost.stream < 160001);
	/* The host's part of a launch is a call, the rest is kernel time. */
	a_machine.enqueue = 0.125;
	model_predict(&s, &p);
	assert_true(p.cost.calls > 142.4 && p.cost.calls < 142.6);
	assert_true(p.cost.kernel + p.cost.stream > 160000 + 426.5 &&
		    p.cost.kernel + p.cost.stream < 160000 + 428.5);
}

/* Checks equation 2: levels ask for pages, and the cache serves the share that it holds. */
static void test_equation_2(void **state)
{
	struct setting s = a_setting(&cost_bfs);
	struct mill_prediction p;
	f64 stream;

	(void)state;
	a_machine.read = 1e15;
	s.slots = 25;
	s.page_bytes = 6000000000u;
	s.state = 8000000000u;
	s.gts = true;
	model_predict(&s, &p);	/* ten levels, each of which asks for 60 % of the pages */
	assert_int_equal(p.equation, 2);
	assert_true(p.cost.attributes > 0.9999 && p.cost.attributes < 1.0001);
	assert_true(p.cost.stream > 449.99 && p.cost.stream < 450.01);
	assert_true(p.cost.sync == 0 && p.cost.kernel == 0);
	stream = p.cost.stream;
	s.devices = 2;	/* each level needs the state that the other device wrote */
	model_predict(&s, &p);
	assert_true(p.cost.stream > 0.499 * stream && p.cost.stream < 0.501 * stream);
	assert_true(p.cost.attributes > 9.999 && p.cost.attributes < 10.001);
	s.devices = 7;	/* of 60 pages, the busiest device has 9 */
	model_predict(&s, &p);
	assert_true(p.cost.stream > 0.1499 * stream && p.cost.stream < 0.1501 * stream);
	s.devices = 2;
	s.strategy = GTS_S;
	s.chunks = 3;
	model_predict(&s, &p);
	assert_true(p.cost.stream > 2.999 * stream && p.cost.stream < 3.001 * stream);
	s.slots = 0;
	model_predict(&s, &p);
	assert_int_equal(p.equation, 0);
	assert_true(p.cost.total == 0);
}

/* Checks the pages that repeated passes read through some frames. */
static void test_passes(void **state)
{
	static const struct {
		u64 rounds, frames, pages;
	} cases[] = {
		{ 1, 10, 100 },	  { 2, 10, 190 },  { 20, 10, 1810 },
		{ 20, 100, 100 }, { 20, 99, 119 }, { 3, 500, 100 },
	};
	struct mill_prediction p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct setting s = a_setting(&cost_pagerank);

		s.rounds = cases[i].rounds;
		s.frames = cases[i].frames;
		model_predict(&s, &p);
		assert_int_equal(p.pages_read, cases[i].pages);
		assert_int_equal(p.disk_read, cases[i].pages * 1000);
		assert_int_equal(p.iterations, cases[i].rounds);
		s.resident = true;
		model_predict(&s, &p);
		assert_int_equal(p.pages_read, 0);
	}
}

/*
 * Checks that the longer of reading and computing hides the shorter. `overlap` is the share
 * of the shorter that is not hidden.
 */
static void test_overlap(void **state)
{
	struct setting s = a_setting(&cost_pagerank);
	struct mill_prediction p;

	(void)state;
	a_machine.read = 1e5;		/* 100 pages of 1000 bytes: 1 s */
	a_machine.gather = 0.25 / 16000;	/* 16000 edges: 0.25 s */
	model_predict(&s, &p);
	assert_true(p.seconds > 0.9999 && p.seconds < 1.0001);
	a_machine.overlap = 1;
	model_predict(&s, &p);
	assert_true(p.seconds > 1.2499 && p.seconds < 1.2501);
	a_machine.overlap = 0;
	a_machine.gather *= 8;
	model_predict(&s, &p);
	assert_true(p.seconds > 1.9999 && p.seconds < 2.0001);
	s.threads = 2;
	model_predict(&s, &p);
	assert_true(p.seconds > 0.9999 && p.seconds < 1.0001);
	a_machine.step = 3;
	model_predict(&s, &p);
	assert_true(p.step_seconds > 2.999 && p.seconds > 3.999 && p.seconds < 4.001);
}

/* Checks PageRank's predicted iterations: within their bounds, never above the limit. */
static void test_iterations(void **state)
{
	struct mill_prediction p;

	(void)state;
	for (int e = 1; e < 15; e++) {
		struct setting s = a_setting(&cost_pagerank);

		s.rounds = 1000;
		s.tolerance = 1;
		for (int i = 0; i < e; i++)
			s.tolerance /= 10;
		model_predict(&s, &p);
		assert_true(p.iterations_low <= p.iterations && p.iterations <= p.iterations_high &&
			    p.iterations_high < 1000);
		assert_true(p.seconds_low <= p.seconds && p.seconds <= p.seconds_high);
		s.rounds = 3;
		model_predict(&s, &p);
		assert_true(p.iterations <= 3 && p.iterations_high <= 3);
	}
}

/* Checks that the times predicted for every algorithm are finite and ordered. */
static void test_all_algorithms(void **state)
{
	const struct mill_algorithm *a;
	struct mill_prediction p;

	(void)state;
	for (a = mill_algorithms(); a->name; a++) {
		for (int i = 0; i < 8; i++) {
			struct setting s = a_setting(algorithm_find(a->name)->cost);

			s.resident = i & 1;
			a_machine.local = i & 2 ? 1 : 0;
			s.slots = i & 4 ? 3 : 0;
			a_machine.decode = a_machine.vertex = a_machine.scan = 1e-9;
			a_machine.push = a_machine.gather = 1e-9;
			model_predict(&s, &p);
			if (!(p.seconds > 0 && p.seconds < 1e6) ||
			    !(p.seconds_low <= p.seconds_high))
				fail_msg("%s, case %d: %g seconds predicted", a->name, i,
					 p.seconds);
			if (s.resident && p.pages_read)
				fail_msg("%s reads %llu pages of a resident graph", a->name,
					 (unsigned long long)p.pages_read);
		}
	}
}

/* ---- The shape ---- */

/* Checks the measured shapes of a grid, of a random graph and of a graph without edges. */
static void test_shapes(void **state)
{
	struct machine m = { .typical = 1 };
	struct graph g;
	mill_store *store;
	u32 side = 100;

	(void)state;
	if (MILL_VID_BITS < 32)
		return;
	graph_init(&g, "map", side * side);
	g.undirected = true;
	g.page_size = 64 * KIB;
	for (u32 v = 0; v < g.n; v++) {
		if (v % side + 1 < side)
			graph_add(&g, v, v + 1);
		if (v + side < g.n)
			graph_add(&g, v, v + side);
	}
	store = graph_store(&g);
	OK(shape_measure(&m, store->st, NULL));
	assert_true(m.shape_known && m.local == 1 && m.levels >= side && m.levels <= 2 * side);
	assert_true(m.typical > 3.9 && m.typical < 4.1 && m.skew < 0.1);
	graph_store_drop(store);
	graph_release(&g);

	graph_init(&g, "random", 20000);
	graph_random(&g, 20000, 200000, 7);
	g.page_size = 64 * KIB;
	store = graph_store(&g);
	OK(shape_measure(&m, store->st, NULL));
	assert_true(m.shape_known && m.local == 0 && m.levels >= 4 && m.levels <= 10);
	assert_true(m.typical > 8 && m.typical < 12);
	graph_store_drop(store);
	graph_release(&g);

	graph_init(&g, "no edge", 3);
	store = graph_store(&g);
	OK(shape_measure(&m, store->st, NULL));
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_pages),
	cmocka_unit_test(test_equation_1),
	cmocka_unit_test(test_equation_2),
	cmocka_unit_test(test_passes),
	cmocka_unit_test(test_overlap),
	cmocka_unit_test(test_iterations),
	cmocka_unit_test(test_all_algorithms),
	cmocka_unit_test(test_shapes),
};

SUITE(plan, tests, .setup = scratch_make, .teardown = scratch_remove);
