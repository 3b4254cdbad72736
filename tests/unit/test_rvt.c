/* SPDX-License-Identifier: Apache-2.0 */
/* GTS's table of record ids: figure 12, tables 2 and 3 of the paper, and pages of dense stores. */
#include "unit.h"

#include "store/rvt.h"

static struct rvt *open_rvt(struct pages *p, const struct page_entry *entry, u32 n_pages)
{
	const struct page_entry *last = &entry[n_pages - 1];
	struct rvt *rvt = NULL;

	*p = (struct pages){ .n_pages = n_pages,
			     .n_rows = (vid)(last->first_vertex + last->n_rows),
			     .entry = entry };
	assert_int_equal(rvt_open(&rvt, p, NULL), 0);
	for (vid v = 0; v < p->n_rows; v++) {
		struct rid rid = rvt_rid(rvt, v);

		assert_int_equal(rvt_vid(rvt, rid), v);
		assert_int_equal(rid.page, rvt_page(rvt, v));
	}
	return rvt;
}

static void expect(const struct rvt *rvt, u32 page, u32 start, i32 first, i32 last, bool large)
{
	assert_int_equal(rvt->entry[page].start_vid, start);
	assert_int_equal(rvt->entry[page].lp_first, first);
	assert_int_equal(rvt->entry[page].lp_last, last);
	assert_int_equal(rvt_range(rvt, page), last < 0 ? 0 : last);
	assert_int_equal(page_is_large(rvt->pages, page), large);
}

static void test_figure12(void **state)
{
	static const struct page_entry entry[] = {
		{ .first_vertex = 0, .n_rows = 3, .n_edges = 3000 },
		{ .first_vertex = 3, .n_rows = 1, .n_edges = 4096, .first_edge = 3000 },
		{ .first_vertex = 3, .n_rows = 1, .n_edges = 100, .first_edge = 7096,
		  .skip = 4096 },
	};
	struct pages p;
	struct rvt *rvt = open_rvt(&p, entry, 3);

	(void)state;
	expect(rvt, 0, 0, -1, -1, false);
	expect(rvt, 1, 3, 0, 1, true);
	expect(rvt, 2, 3, -1, -1, true);
	assert_int_equal(rvt_vid(rvt, (struct rid){ 0, 2 }), 2);
	assert_int_equal(rvt_vid(rvt, (struct rid){ 1, 0 }), 3);
	assert_int_equal(rvt_page(rvt, 3), 1);
	rvt_close(rvt);
}

/* Dense stores cut lists anywhere: two long lists share a page, one ends beside short ones. */
static void test_dense(void **state)
{
	static const struct page_entry entry[] = {
		{ .first_vertex = 0, .n_rows = 4 },			/* list 3 begins */
		{ .first_vertex = 3, .n_rows = 1, .skip = 1024 },
		{ .first_vertex = 3, .n_rows = 2, .skip = 2048 },	/* 3 ends, 4 begins */
		{ .first_vertex = 4, .n_rows = 1, .skip = 1024 },	/* 4 ends */
		{ .first_vertex = 5, .n_rows = 1 },			/* 5 is whole */
		{ .first_vertex = 6, .n_rows = 1 },			/* 6 begins */
		{ .first_vertex = 6, .n_rows = 3, .skip = 4096 },	/* 6 ends beside others */
	};
	struct pages p;
	struct rvt *rvt = open_rvt(&p, entry, 7);

	(void)state;
	expect(rvt, 0, 0, 0, 2, false);
	expect(rvt, 1, 3, -1, -1, true);
	expect(rvt, 2, 3, 0, 1, false);
	expect(rvt, 3, 4, -1, -1, true);
	expect(rvt, 4, 5, -1, -1, false);
	expect(rvt, 5, 6, 0, 1, true);
	expect(rvt, 6, 6, -1, -1, false);
	assert_int_equal(rvt_rid(rvt, 4).page, 2);
	assert_int_equal(rvt_rid(rvt, 4).slot, 1);
	rvt_close(rvt);
}

static void test_empty(void **state)
{
	struct pages p = { .n_pages = 0 };
	struct rvt *rvt;

	(void)state;
	assert_int_equal(rvt_open(&rvt, &p, NULL), 0);
	rvt_close(rvt);
	rvt_close(NULL);
}

static void test_budget(void **state)
{
	static const struct page_entry entry[100] = { { .n_rows = 1 } };
	struct pages p = { .n_pages = 100, .entry = entry };
	struct budget budget;
	struct rvt *rvt = NULL;

	(void)state;
	budget_init(&budget, 1000);
	assert_int_equal(rvt_open(&rvt, &p, &budget), MILL_ENOMEM);
	assert_int_equal(budget.used, 0);
	budget_init(&budget, 4096);
	assert_int_equal(rvt_open(&rvt, &p, &budget), 0);
	assert_true(budget.used >= 100 * sizeof(struct rvt_entry));
	rvt_close(rvt);
	assert_int_equal(budget.used, 0);
}

static void test_capacity(void **state)
{
	(void)state;
	assert_true(rid_largest_page(2, 4) == 80.0 * (f64)GIB);
	assert_true(rid_largest_page(3, 3) == 320.0 * (f64)MIB);
	assert_true(rid_largest_page(4, 2) == 1.25 * (f64)MIB);
	assert_int_equal(rid_pages(1ull << 27, 1ull << 31, 2, 2, MIB), 9728);
	assert_int_equal(rid_pages(1ull << 28, 1ull << 32, 2, 2, MIB), 19456);
	assert_int_equal(rid_pages(1ull << 30, 1ull << 34, 3, 3, 64 * MIB), 1760);
	assert_int_equal(rid_pages(105896555, 3738733648, 2, 2, MIB), 15474);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_figure12),
	cmocka_unit_test(test_dense),
	cmocka_unit_test(test_empty),
	cmocka_unit_test(test_budget),
	cmocka_unit_test(test_capacity),
};

SUITE(rvt, tests);
