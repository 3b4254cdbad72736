/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie's partitions and its second renaming: every number of the paper's example, lists that lie
 * in several partitions, limits.
 */
#include "unit.h"

#include <string.h>

#include "policy/partition.h"

static const struct wire_shape edge_list = { .edge = 8 };

/* Makes one page with these rows and cuts it into partitions of `size` bytes. */
static void make(struct partitions *p, const u32 *row, vid n_rows, u64 n_vertices,
		 const struct wire_shape *w, u64 size)
{
	struct page_entry entry = { .n_rows = n_rows, .n_edges = row[n_rows] };
	struct pages pages = { .n_pages = 1, .n_rows = n_rows, .entry = &entry };
	struct segment seg = { .n_rows = n_rows, .n_edges = row[n_rows], .row = row };

	assert_int_equal(partitions_cut(p, NULL, &pages, w, size), 0);
	if (partitions_is_cut(p, 0))
		partitions_place(p, 0, &seg);
	assert_int_equal(partitions_number(p, w, n_vertices, NULL), 0);
}

/* Figure 3: after the first renaming there are 6 sources and 2 sinks; 4 edges a partition. */
static void test_figure3(void **state)
{
	static const u32 row[] = { 0, 4, 6, 7, 8, 12, 16 };
	static const u32 sizes[] = { 1, 3, 1, 1 }, pre_sum[] = { 0, 2, 2, 4, 6 };
	static const u32 ids[] = { 0, 3, 4, 5, 6, 9, 12, 13 }, of[] = { 0, 1, 1, 1, 2, 3, 4, 4 };
	struct partitions p;
	u32 near = 0;

	(void)state;
	make(&p, row, 6, 8, &edge_list, 32);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.range, 3);
	assert_int_equal(p.ids, 14);
	assert_int_equal(p.largest, 32);
	assert_memory_equal(p.pre_sum, pre_sum, sizeof(pre_sum));
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(partitions_sources(&p, i), sizes[i]);
		/* Virtual vertices: 2, 0, 2, 2. */
		assert_int_equal(p.pre_sum[i + 1] - p.pre_sum[i], 3 - sizes[i]);
		assert_int_equal(p.owner[i], i);
		assert_int_equal(p.unit.entry[i].n_edges, 4);
	}
	for (vid v = 0; v < 8; v++) {
		assert_int_equal(partitions_id(&p, v, &near), ids[v]);
		assert_int_equal(partitions_of_id(&p, ids[v]), of[v]);
		assert_int_equal(partitions_index(&p, ids[v]), v);
		if (v < 6)
			assert_int_equal(partitions_find(&p, v), of[v]);
	}
	partitions_release(&p);
}

/* A list of 9 edges in partitions of 4: its source belongs to the first one only. */
static void test_long_list(void **state)
{
	static const u32 row[] = { 0, 2, 11, 12 }, owner[] = { 0, 0, 1 };
	static const u32 first[] = { 0, 2, 2, 3 };
	struct partitions p;

	(void)state;
	make(&p, row, 3, 3, &edge_list, 32);
	assert_int_equal(p.n, 3);
	assert_memory_equal(p.first, first, sizeof(first));
	assert_int_equal(p.range, 2);
	assert_int_equal(p.owner[0], 0);
	assert_int_equal(p.owner[1], owner[1]);	/* 2 edges of vertex 1 lie before it */
	assert_int_equal(p.unit.entry[1].first_vertex, 1);
	assert_int_equal(p.unit.entry[1].skip, 2);
	assert_int_equal(p.unit.entry[1].n_rows, 1);
	assert_int_equal(p.unit.entry[2].skip, 6);
	assert_int_equal(p.unit.entry[2].n_rows, 2);
	assert_int_equal(p.owner[2], 0);	/* not partition 1: it owns no source */
	assert_int_equal(partitions_index(&p, 0 + p.pre_sum[0] + 1), 1);
	partitions_release(&p);
}

/* For any size every source has an id in the range of its partition, and the id gives its index. */
static void test_all_sizes(void **state)
{
	static const struct wire_shape shapes[] = {
		{ .edge = 8 }, { .edge = 12 }, { .edge = 4, .row = 4 }, { .page = 65536 },
	};
	u32 row[65] = { 0 };

	(void)state;
	for (u32 i = 0; i < 64; i++)
		row[i + 1] = row[i] + 1 + i * i % 23 + (i % 17 == 3 ? 90 : 0);
	for (size_t k = 0; k < ARRAY_LEN(shapes); k++)
		for (u64 size = 1; size < 20000; size += 1 + size / 3) {
			struct partitions p;
			u32 near = 0, edges = 0;
			u64 limit;

			make(&p, row, 64, 70, &shapes[k], size);
			for (u32 i = 0; i < p.n; i++)
				edges += p.unit.entry[i].n_edges;
			assert_int_equal(edges, row[64]);
			for (vid v = 0; v < 70; v++) {
				u32 id = partitions_id(&p, v, &near);
				u32 owner = v < 64 ? partitions_find(&p, v) : p.n;

				assert_int_equal(partitions_index(&p, id), v);
				assert_int_equal(partitions_of_id(&p, id), owner);
				assert_true(id < p.ids);
			}
			/* With row offsets a partition may be up to twice as large. */
			limit = max_u64(shapes[k].row ? 2 * size : size,
					shapes[k].page ? 65536 : 2 * shapes[k].edge);
			assert_true(p.largest <= limit);
			partitions_release(&p);
		}
}

/* Partitions of whole pages are made from the index alone: no page is cut. */
static void test_whole_pages(void **state)
{
	static const struct page_entry entry[] = {
		{ .first_edge = 0, .first_vertex = 0, .n_rows = 10, .n_edges = 100 },
		{ .first_edge = 100, .first_vertex = 10, .n_rows = 5, .n_edges = 100 },
		{ .first_edge = 200, .first_vertex = 14, .n_rows = 1, .n_edges = 100, .skip = 40 },
		{ .first_edge = 300, .first_vertex = 14, .n_rows = 7, .n_edges = 100,
		  .skip = 140 },
		{ .first_edge = 400, .first_vertex = 21, .n_rows = 1, .n_edges = 7 },
	};
	static const struct pages pages = { .n_pages = 5, .n_rows = 22, .entry = entry };
	struct partitions p;

	(void)state;
	assert_int_equal(partitions_cut(&p, NULL, &pages, &edge_list, 1600), 0);
	assert_int_equal(p.n_cut, 0);
	assert_int_equal(partitions_number(&p, &edge_list, 22, NULL), 0);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.unit.entry[1].first_vertex, 14);
	assert_int_equal(p.unit.entry[1].n_rows, 7);
	assert_int_equal(p.unit.entry[1].skip, 40);
	assert_int_equal(p.first[1], 15);
	assert_int_equal(p.first[2], 21);
	assert_int_equal(p.owner[1], 0);
	assert_int_equal(p.range, 15);
	partitions_release(&p);
}

#if MILL_VID_BITS == 32
/* Ranges of equal size can need more ids than 32 bits have: MILL_ELIMIT, ids do not wrap. */
static void test_overflow(void **state)
{
	enum { PAGES = 4096 };
	static struct page_entry entry[PAGES];
	struct pages pages = { .n_pages = PAGES, .entry = entry };
	struct partitions p;
	u64 vertex = 0;

	(void)state;
	/* The first page has 2^20 sources: 4096 ranges of that size are 2^32 ids. Then one more. */
	for (u32 extra = 0; extra < 2; extra++) {
		vertex = 0;
		for (u32 i = 0; i < PAGES; i++) {
			u32 rows = i ? 1 : (1u << 20) + extra;

			entry[i] = (struct page_entry){ .first_edge = i * 4000ull,
							.first_vertex = (u32)vertex,
							.n_rows = rows,
							.n_edges = 4000 };
			vertex += rows;
		}
		pages.n_rows = (vid)vertex;
		assert_int_equal(partitions_cut(&p, NULL, &pages, &edge_list, 32000), 0);
		assert_int_equal(p.n, PAGES);
		assert_int_equal(partitions_number(&p, &edge_list, vertex, NULL),
				 extra ? MILL_ELIMIT : MILL_OK);
		if (!extra)
			assert_int_equal(partitions_index(&p, UINT32_MAX - (1u << 20) + 1),
					 vertex - 1);
		partitions_release(&p);
	}
	/* Sinks take ids too. */
	entry[0].n_rows = 1u << 20;
	for (u32 i = 1; i < PAGES; i++)
		entry[i].first_vertex--;
	pages.n_rows = (vid)(vertex - 1);
	assert_int_equal(partitions_cut(&p, NULL, &pages, &edge_list, 32000), 0);
	assert_int_equal(partitions_number(&p, &edge_list, vertex, NULL), MILL_ELIMIT);
	partitions_release(&p);
	/* Larger partitions are fewer and take fewer ids. */
	assert_int_equal(partitions_cut(&p, NULL, &pages, &edge_list, 64000), 0);
	assert_int_equal(partitions_number(&p, &edge_list, vertex, NULL), 0);
	partitions_release(&p);
}
#endif

/* Rule V-C: the bytes of the graph or the room on the device, the smaller one, over the queues. */
static void test_default_size(void **state)
{
	(void)state;
	assert_int_equal(partition_size(3200, 3200, 32), 100);
	assert_int_equal(partition_size(3201, 3200, 32), 100);
	assert_int_equal(partition_size(1000000, 3200, 32), 100);
	assert_int_equal(partition_size(3200, 1000000, 32), 100);
	assert_int_equal(partition_size(0, 0, 32), 1);
	assert_int_equal(partition_size(3200, 3200, 16), 200);
	assert_int_equal(partition_size(1000000, 3200, 1), 3200);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_figure3),
	cmocka_unit_test(test_long_list),
	cmocka_unit_test(test_all_sizes),
	cmocka_unit_test(test_whole_pages),
#if MILL_VID_BITS == 32
	cmocka_unit_test(test_overflow),
#endif
	cmocka_unit_test(test_default_size),
};

SUITE(partition, tests);
