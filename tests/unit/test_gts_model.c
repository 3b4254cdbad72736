/* SPDX-License-Identifier: Apache-2.0 */
/* GTS's equations: the paper's numbers, what they must be where they are known otherwise, and that no number breaks them. */
#include "unit.h"

#include <math.h>

#include "model/gts_model.h"

#define GB 1000000000ull

static void near(f64 value, f64 expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fmax(1, fabs(expected))))
		fail_msg("%.12g, not %.12g", value, expected);
}

/* papers.md: WA = RA = 4 GB and 114 GB of pages over c1 = 16 and c2 = 6 GB/s: 2 x 4 / 16 + (4 + 114) / (6 N). */
static const struct gts_constants paper = { .c1 = 16e9, .c2 = 6e9 };

static struct gts_scan rmat30(u32 n)
{
	return (struct gts_scan){ .wa = 4 * GB, .ra = 4 * GB, .sp = 100 * GB, .lp = 14 * GB, .n_small = 1500, .n_large = 286, .n_devices = n };
}

static void test_equation_1(void **state)
{
	struct gts_scan one = rmat30(1), two = rmat30(2);
	struct gts_constants c = paper;
	struct mill_cost cost;

	(void)state;
	gts_scan_cost(&c, &one, &cost);
	near(cost.total, 20 + 1.0 / 6);
	near(cost.attributes, 0.5);
	near(cost.stream, 118.0 / 6);
	gts_scan_cost(&c, &two, &cost);
	near(cost.total, 10 + 1.0 / 3);
	near(cost.attributes, 0.5);
	/* Calls are divided, the kernels of the last two pages are not, and merging grows with N. */
	c.call = 1e-3;
	c.kernel = 1e-9;
	c.sync = 1e-10;
	two.edges = 1786e6;
	gts_scan_cost(&c, &two, &cost);
	near(cost.calls, 0.893);
	near(cost.kernel, 2e-3);
	near(cost.sync, 0.4);
	near(cost.total, 10 + 1.0 / 3 + 0.893 + 2e-3 + 0.4);
	two.n_devices = 8;
	gts_scan_cost(&c, &two, &cost);
	near(cost.sync, 2.8);
	/* Without large pages one is the last. */
	two.n_small = 1786;
	two.n_large = 0;
	gts_scan_cost(&c, &two, &cost);
	near(cost.kernel, 1e-3);
}

static void test_strategy_s(void **state)
{
	struct gts_constants c = paper;
	struct gts_scan s = rmat30(4);
	struct mill_cost cost, alone;

	(void)state;
	c.call = 1e-3;
	c.sync = 1;
	s.n_devices = 1;
	gts_scan_cost(&c, &s, &alone);
	s.strategy = GTS_S;
	gts_scan_cost(&c, &s, &cost);	/* on one device both are the same */
	near(cost.total, alone.total);
	s.n_devices = 4;
	gts_scan_cost(&c, &s, &cost);	/* "logically analogous to using a single GPU of large device memory" */
	near(cost.attributes, alone.attributes);
	near(cost.stream, alone.stream);
	near(cost.calls, alone.calls);
	near(cost.sync, 0);
}

/* What the host counts is the same everywhere: bytes over one link take as long as they are many. */
static void test_shared(void **state)
{
	struct gts_constants c = paper;
	struct mill_cost cost;

	(void)state;
	c.shared = true;
	c.c2 = c.c1;
	for (u32 n = 0; n <= 5; n++)
		for (u32 chunks = 0; chunks <= 3; chunks++)
			for (int strategy = GTS_P; strategy <= GTS_S; strategy++) {
				struct gts_scan s = rmat30(n);

				s.strategy = (enum gts_strategy)strategy;
				s.chunks = chunks;
				gts_scan_cost(&c, &s, &cost);
				near(cost.attributes / 2 + cost.stream, (f64)gts_bytes_down(&s) / c.c1);
			}
}

static void test_bytes(void **state)
{
	struct gts_scan s = { .wa = 7, .ra = 11, .sp = 100, .lp = 30, .n_devices = 3 };

	(void)state;
	assert_int_equal(gts_bytes_down(&s), 3 * 7 + 11 + 130);
	s.strategy = GTS_S;
	assert_int_equal(gts_bytes_down(&s), 7 + 3 * (11 + 130));
	s.chunks = 2;
	assert_int_equal(gts_bytes_down(&s), 7 + 2 * 3 * (11 + 130));
	s.strategy = GTS_P;
	assert_int_equal(gts_bytes_down(&s), 3 * 7 + 2 * (11 + 130));
	s.n_devices = s.chunks = 0;
	assert_int_equal(gts_bytes_down(&s), 7 + 11 + 130);
}

static void test_chunks(void **state)
{
	struct gts_scan s = rmat30(1);
	struct mill_cost cost;

	(void)state;
	s.chunks = 3;
	gts_scan_cost(&paper, &s, &cost);
	near(cost.total, 0.5 + 3 * 118.0 / 6);
}

/* Kernels and reading are seen where they take longer, and the overlap of the shorter. */
static void test_hidden(void **state)
{
	static const struct {
		f64 overlap, edges, disk, kernel_seen, disk_seen;
	} cases[] = {
		{ 0, 0, 0, 0, 0 },
		{ 0, 4e9, 0, 4e-3, 0 },			/* 4 s behind 10: the last page's alone */
		{ 0, 14e9, 0, 4, 0 },			/* 14 behind 10 */
		{ 1, 4e9, 0, 4, 0 },			/* one after the other */
		{ 0.5, 14e9, 0, 9, 0 },
		{ 0, 14e9, 10e9, 4, 0 },		/* 10 s of reading behind 14 */
		{ 0, 14e9, 20e9, 4, 6 },
		{ 0.25, 0, 20e9, 0, 12.5 },
	};
	struct gts_constants c = { .c1 = 1, .c2 = 1e9, .kernel = 1e-9, .disk = 1e9 };
	struct mill_cost cost;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gts_scan s = { .sp = 10 * GB, .n_small = 1000, .edges = cases[i].edges, .disk = cases[i].disk };

		c.overlap = c.behind = cases[i].overlap;
		gts_scan_cost(&c, &s, &cost);
		near(cost.stream, 10);
		near(cost.kernel, cases[i].kernel_seen);
		near(cost.disk, cases[i].disk_seen);
		near(cost.total, 10 + cases[i].kernel_seen + cases[i].disk_seen);
	}
}

static void test_equation_2(void **state)
{
	static const struct gts_level level[] = {
		{ .sp = 6e9, .n_small = 10 },
		{ .sp = 60e9, .lp = 12e9, .ra = 6e9, .n_small = 100, .n_large = 20, .hit = 0.25 },
		{ .sp = 12e9, .n_small = 20, .hit = 1 },
	};
	struct gts_constants c = paper;
	struct gts_scan graph = rmat30(1);
	struct mill_cost one, cost;

	(void)state;
	c.call = 1e-2;
	gts_levels_cost(&c, &graph, 1, level, 3, &one);
	near(one.attributes, 0.5);
	near(one.stream, 1 + 13 * 0.75 + 0);
	near(one.calls, 1.5);
	near(one.total, 0.5 + 10.75 + 1.5);
	graph.n_devices = 4;
	gts_levels_cost(&c, &graph, 1, level, 3, &cost);
	near(cost.stream, one.stream / 4);
	near(cost.calls, one.calls / 4);
	gts_levels_cost(&c, &graph, 0, level, 3, &cost);	/* not given: balanced */
	near(cost.stream, one.stream / 4);
	/* The most unbalanced is one device, for any N; nothing is more so. */
	for (u32 n = 1; n <= 16; n++) {
		graph.n_devices = n;
		gts_levels_cost(&c, &graph, 1.0 / n, level, 3, &cost);
		near(cost.total, one.total);
		gts_levels_cost(&c, &graph, 0.1 / n, level, 3, &cost);
		near(cost.total, one.total);
	}
	gts_levels_cost(&c, &graph, 1, NULL, 0, &cost);
	near(cost.total, 0.5);
}

static void test_hits(void **state)
{
	(void)state;
	near(gts_hit_rate(0, 100), 0);
	near(gts_hit_rate(25, 100), 0.25);
	near(gts_hit_rate(100, 100), 1);
	near(gts_hit_rate(500, 100), 1);
	near(gts_hit_rate(0, 0), 1);
	near(gts_scan_hit_rate(99, 100, 10), 0);
	near(gts_scan_hit_rate(100, 100, 10), 0.9);
	near(gts_scan_hit_rate(100, 100, 1), 0);
	near(gts_scan_hit_rate(100, 100, 0), 0);
}

/* A run is its passes, or its levels. */
static void test_runs(void **state)
{
	struct gts_setting s = { .constants = paper, .graph = rmat30(1), .equation = 1, .rounds = 10, .copies = 10 };
	struct gts_level level[5];
	struct mill_cost cost, sum;

	(void)state;
	gts_predict(&s, &cost);
	near(cost.total, 10 * (20 + 1.0 / 6));
	s.copies = 1;
	gts_predict(&s, &cost);
	near(cost.total, 0.5 + 10 * 118.0 / 6);
	s.copies = 0;
	gts_predict(&s, &cost);
	near(cost.total, 10 * 118.0 / 6);
	s.copies = 1;
	s.hit = 0.5;	/* of the pages: RA is new every time */
	gts_predict(&s, &cost);
	near(cost.total, 0.5 + 10 * (4 + 57) / 6.0);
	s.constants.call = 1e-3;
	gts_predict(&s, &cost);
	near(cost.calls, 17.86);
	s.calls = 1000;
	gts_predict(&s, &cost);
	near(cost.calls, 1);

	/* Five equal levels of a fifth are known, or not. */
	s.equation = 2;
	s.calls = 0;
	s.constants.kernel = 1e-9;
	s.constants.disk = 1e9;
	s.rounds = 5;
	s.full = 1;
	s.edges = 20e9;
	s.disk = 114e9;
	gts_predict(&s, &cost);
	for (int i = 0; i < 5; i++)
		level[i] = (struct gts_level){ 0.8e9, 20e9, 2.8e9, 300, 57.2, 4e9, 0.5, 22.8e9 };
	gts_levels_cost(&s.constants, &s.graph, 1, level, 5, &sum);
	near(cost.total, sum.total);
	s.level = level;
	s.n_levels = 5;
	gts_predict(&s, &sum);
	near(cost.total, sum.total);
}

/* More bytes, pages, edges, chunks and slower constants never cost less; more devices never more, but for merging. */
static void test_monotone(void **state)
{
	struct gts_constants c = { .c1 = 2e9, .c2 = 1e9, .call = 1e-5, .kernel = 1e-9, .sync = 1e-10, .disk = 1e9, .overlap = 0.3 };
	struct gts_scan s = { GB, GB, 4 * GB, GB, 4000, 1000, 3e9, 0.2, 5e9, 2, 1, GTS_P };
	struct mill_cost base, cost;
	u64 *const count[] = { &s.wa, &s.ra, &s.sp, &s.lp, &s.n_small, &s.n_large };

	(void)state;
	gts_scan_cost(&c, &s, &base);
	for (size_t i = 0; i < sizeof(count) / sizeof(count[0]); i++) {
		u64 was = *count[i];

		*count[i] = 3 * was;
		gts_scan_cost(&c, &s, &cost);
		assert_true(cost.total >= base.total);
		*count[i] = was;
	}
	for (int more = 2; more < 200; more *= 5) {
		struct gts_scan larger = s;

		larger.edges *= more;
		larger.disk *= more;
		gts_scan_cost(&c, &larger, &cost);
		assert_true(cost.total > base.total);
	}
	c.sync = 0;
	for (u32 n = 1; n < 32; n++) {
		struct gts_scan fewer = s, more = s;

		fewer.n_devices = n;
		more.n_devices = n + 1;
		fewer.disk = more.disk = 0;
		gts_scan_cost(&c, &fewer, &base);
		gts_scan_cost(&c, &more, &cost);
		assert_true(cost.total <= base.total);
	}
}

/* Zeros, and what a broken measurement might give: every term is a number, none negative. */
static void test_numbers(void **state)
{
	static const f64 odd[] = { 0, -1, 1, 1e-300, 1e300, NAN };
	struct mill_cost cost;

	(void)state;
	gts_scan_cost(&(struct gts_constants){ 0 }, &(struct gts_scan){ 0 }, &cost);
	near(cost.total, 0);
	gts_predict(&(struct gts_setting){ 0 }, &cost);
	near(cost.total, 0);
	gts_predict(&(struct gts_setting){ .equation = 2 }, &cost);
	near(cost.total, 0);
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < 6; k++)
			for (u32 equation = 1; equation <= 2; equation++) {
				struct gts_setting s = {
					.constants = { .c1 = 1e9, .c2 = 1e9, .disk = 1e9, .overlap = odd[i], .behind = odd[k] },
					.graph = rmat30((u32)k),
					.equation = equation,
					.full = 3,
					.rounds = odd[k],
					.hit = odd[i],
					.skew = odd[k],
				};

				s.graph.strategy = i % 2 ? GTS_S : GTS_P;
				gts_predict(&s, &cost);
				if (!(isfinite(cost.total) && cost.attributes >= 0 && cost.stream >= 0 && cost.calls >= 0 &&
				      cost.kernel >= 0 && cost.sync >= 0 && cost.disk >= 0))
					fail_msg("%zu, %zu, equation %u: %g", i, k, equation, cost.total);
			}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_equation_1), cmocka_unit_test(test_strategy_s), cmocka_unit_test(test_shared),
	cmocka_unit_test(test_bytes),	   cmocka_unit_test(test_chunks),     cmocka_unit_test(test_hidden),
	cmocka_unit_test(test_equation_2), cmocka_unit_test(test_hits),	      cmocka_unit_test(test_runs),
	cmocka_unit_test(test_monotone),   cmocka_unit_test(test_numbers),
};

SUITE(gts_model, tests);
