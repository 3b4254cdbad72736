/* SPDX-License-Identifier: Apache-2.0 */
/* Page addresses: there and back, their limits, the pages of paged stores, and ids that no vertex has. */
#include "store_model.h"

#include "store/address.h"
#include "store/rvt.h"

static void test_limits(void **state)
{
	(void)state;
	assert_true(addresses_fit(0, 1, MAX_VERTICES));
	assert_false(addresses_fit(0, 1, MAX_VERTICES + 1));
	assert_true(addresses_fit(1, MAX_VERTICES, 0));
	assert_true(addresses_fit(MAX_VERTICES, 1, 0));
	assert_false(addresses_fit(MAX_VERTICES, 1, 1));
	assert_false(addresses_fit((u64)1 << MILL_VID_BITS / 2, (u64)1 << MILL_VID_BITS / 2, 0));
	assert_true(addresses_fit(((u64)1 << MILL_VID_BITS / 2) - 1, (u64)1 << MILL_VID_BITS / 2, 3));
	/* What wraps to something small. */
	assert_false(addresses_fit((u64)1 << 32, (u64)1 << 32, 0));
	assert_false(addresses_fit(1, 1, UINT64_MAX));
	assert_false(addresses_fit(UINT64_MAX, UINT64_MAX, 1));
}

/* Small pages of 3 and 2 rows, a list of three pages, a small page of 4, one of 1; 2 sinks. */
static void test_there_and_back(void **state)
{
	static u32 first[9] = { 0, 3, 5, 6, 6, 6, 10 };
	static const u32 slots[] = { 4, 5, 16 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		struct addresses a = { .first = first };
		vid v[13], id[13], back[13];
		u32 n_good = 0;

		addresses_set(&a, slots[i], 7, 11, 2);
		assert_ok(addresses_make_hints(&a, NULL));
		for (u32 k = 0; k < 13; k++)
			v[k] = (vid)k;
		addresses_encode(&a, v, 13, id);
		assert_int_equal(id[2], 2);
		assert_int_equal(id[3], slots[i]);
		assert_int_equal(id[5], 2 * slots[i]);		/* where its list begins */
		assert_int_equal(id[6], 5 * slots[i]);
		assert_int_equal(id[11], 7 * slots[i]);
		assert_int_equal(id[12], 7 * slots[i] + 1);
		assert_true(addresses_are_good(&a, id, 13));
		assert_true(addresses_decode(&a, id, 13, back));
		assert_memory_equal(v, back, sizeof(v));
		/* In any order, one by one, and all ids that there can be. */
		for (u32 k = 0; k < 13; k++) {
			v[k] = (vid)(k * 5 % 13);
			addresses_encode(&a, &v[k], 1, &back[k]);
			assert_int_equal(back[k], id[v[k]]);
		}
		assert_true(addresses_decode(&a, back, 13, back));
		assert_memory_equal(v, back, sizeof(v));
		for (u64 k = 0; k < NO_VERTEX && k < 1000; k++) {
			vid one = (vid)k, number;
			bool good = addresses_are_good(&a, &one, 1);

			assert_int_equal(addresses_decode(&a, &one, 1, &number), good);
			n_good += good;
		}
		assert_int_equal(n_good, 13);
		memory_free(a.hint);
	}
}

#if MILL_VID_BITS == 32
/* The page of an id is what a division says: at the borders of all pages, of strides of all kinds, up to the last id. */
static void test_division(void **state)
{
	static const u32 slots[] = { 1, 2, 3, 5, 7, 255, 256, 641, 6225, 65535, 65536, 65537, 1u << 24, (1u << 24) + 1, 0x7fffffffu,
				     0xfffffffeu, 0xffffffffu };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		u32 n = (u32)min_u64(NO_VERTEX / slots[i], 100000), *first = calloc(n + 2ull, sizeof(u32));
		struct addresses a = { .first = first };

		assert_non_null(first);
		for (u32 k = 0; k < n; k++)	/* every slot is a row, so an id is its vertex */
			first[k] = k * slots[i];
		addresses_set(&a, slots[i], n, n * slots[i], (u32)(NO_VERTEX - (u64)n * slots[i]));
		for (u64 k = 0; k <= n; k += 1 + k / 1000)
			for (i64 off = -1; off <= 1; off++) {
				i64 at = (i64)(k * slots[i]) + off;
				vid id = (vid)at, v;

				if (at < 0 || at >= (i64)NO_VERTEX)
					continue;
				assert_true(addresses_decode(&a, &id, 1, &v));
				assert_int_equal(v, id);
			}
		assert_false(addresses_are_good(&a, &(vid){ NO_VERTEX }, 1));
		free(first);
	}
}

/* Pages are small, with whole lists, or large, with one row each and all but the last full. */
static void check_form(const struct pages *p, size_t wsize)
{
	u64 fit = 0;

	while (page_bytes(1, fit + 1, wsize) <= p->store->page_size)
		fit++;
	for (u32 i = 0; i < p->n_pages; i++) {
		const struct page_entry *e = &p->entry[i];

		assert_true(e->n_rows <= p->address.slots);
		if (e->skip || page_goes_on(p, i)) {
			assert_true(page_is_large(p, i));
			assert_int_equal(e->n_rows, 1);
		}
		if (page_goes_on(p, i))
			assert_int_equal(e->n_edges, fit - fit % LIST_BLOCK);
	}
}

/* Hubs among small lists, so that lists end up in the middle of pages, at their ends, and beside each other. */
static void hubs(struct graph *g, u64 seed)
{
	u32 n = 3000;

	graph_init(g, n + 5, n, 1500000);
	for (u32 u = 0; u < n; u++) {
		u32 degree = 1 + (u32)random_below(seed, u, 6);

		if (u % 97 == 3)
			degree = 500 + (u32)random_below(seed, u, 40000);
		if (u % 641 == 7)	/* next to each other, and what just fits a page or just does not */
			degree = 16366 + u % 3 - 1;
		for (u32 k = 0; k < degree; k++)
			graph_add(g, u, (u32)random_below(seed + 1, g->edges, n + 5), random_weight(g->weight, seed, g->edges));
	}
}

static void test_pages(void **state)
{
	static const enum mill_weight weight[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32, MILL_WEIGHT_F64 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(weight); i++) {
		struct graph g = { .directed = true, .weight = weight[i], .paged = true };
		struct store *st;
		struct rvt *rvt;
		size_t size[2];
		u8 *data[2];

		hubs(&g, i);
		assert_ok(graph_write(&g, in_scratch("whole"), 65536, true));
		g.piece = (1 + i) * LIST_BLOCK;
		assert_ok(graph_write(&g, in_scratch("pieces"), 65536, true));
		assert_ok(open_and_verify(in_scratch("whole")));
		for (u32 k = 0; k < 2; k++) {
			const char *name = k ? "in.pages" : "out.pages";

			data[0] = slurp(part_path(in_scratch("whole"), name), &size[0]);
			data[1] = slurp(part_path(in_scratch("pieces"), name), &size[1]);
			assert_int_equal(size[0], size[1]);
			assert_memory_equal(data[0], data[1], size[0]);
			free(data[0]);
			free(data[1]);
		}
		assert_ok(store_open(&st, in_scratch("whole"), NULL));
		assert_true(st->paged && st->format == STORE_FORMAT && st->out.n_split > 10);
		check_form(&st->out, weight_size(weight[i]));
		check_form(&st->in, weight_size(weight[i]));
		/* An address is where the list begins: the RVT says the same. */
		assert_ok(rvt_open(&rvt, &st->out, NULL));
		assert_ok(addresses_make_hints(&st->out.address, NULL));
		for (vid v = 0; v < st->out.n_rows; v++) {
			struct rid rid = rvt_rid(rvt, v);
			vid id;

			addresses_encode(&st->out.address, &v, 1, &id);
			assert_int_equal(id, rid.page * st->out.address.slots + rid.slot);
		}
		memory_free(st->out.address.hint);
		rvt_close(rvt);
		store_close(st);
		graph_release(&g);
	}
}

/* Slots of a byte: pages have no more rows. */
static void test_record_id(void **state)
{
	struct graph g = { .directed = true, .out_only = true, .paged = true, .page_id_bytes = 3, .slot_bytes = 1 };
	struct store *st;

	(void)state;
	graph_random(&g, 20000, 15000, 1000, 1);
	assert_ok(graph_write(&g, in_scratch("rid"), 65536, true));
	assert_ok(open_and_verify(in_scratch("rid")));
	assert_ok(store_open(&st, in_scratch("rid"), NULL));
	assert_int_equal(st->out.address.slots, 256);
	assert_int_equal(st->out.n_pages, div_up(15000, 256));
	store_close(st);
	/* 256 pages are as many as a byte tells apart. */
	g.page_id_bytes = 1;
	g.slot_bytes = 3;
	assert_ok(graph_write(&g, in_scratch("rid"), 65536, true));
	graph_release(&g);

	g = (struct graph){ .directed = true, .out_only = true, .paged = true, .page_id_bytes = 1, .slot_bytes = 3 };
	graph_init(&g, 2, 1, 300 * 16 * LIST_BLOCK);
	for (u32 k = 0; k < 256 * 15 * LIST_BLOCK; k++)
		graph_add(&g, 0, k & 1, 0);
	/* Of 2^24 slots: all ids but those of no sink fit 32 bits. */
	assert_int_equal(graph_write(&g, in_scratch("limit"), 65536, true), MILL_ELIMIT);
	g.n_arcs -= 15 * LIST_BLOCK;
	g.edges = g.n_arcs;
	assert_ok(graph_write(&g, in_scratch("limit"), 65536, true));
	assert_ok(open_and_verify(in_scratch("limit")));
	graph_release(&g);
}

static void test_options(void **state)
{
	static const struct {
		struct store_facts facts;
		mill_err err;
	} cases[] = {
		{ { .page_size = 65536 }, MILL_OK },
		{ { .page_size = 65537 }, MILL_EUSAGE },
		{ { .paged = true }, MILL_OK },
		{ { .paged = true, .codec = PAGE_PACKED }, MILL_EUSAGE },
		{ { .paged = true, .page_id_bytes = 2, .slot_bytes = 2 }, MILL_OK },
		{ { .paged = true, .page_id_bytes = 3, .slot_bytes = 3 }, MILL_EUSAGE },
		{ { .paged = true, .page_id_bytes = 4 }, MILL_EUSAGE },
		{ { .paged = true, .slot_bytes = 4 }, MILL_EUSAGE },
		{ { .page_id_bytes = 2, .slot_bytes = 2 }, MILL_EUSAGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(writer_allows(&cases[i].facts), cases[i].err);
}

/* Ids of slots that no row has, of pages in the middle of a list, of sinks that are not there; with checksums made right. */
static void test_hostile(void **state)
{
	struct graph g = { .directed = true, .out_only = true, .paged = true };
	struct addresses a;
	struct store *st;
	u8 *pages, *frame;
	size_t size;
	u32 n_bad = 0, n_ids;

	(void)state;
	graph_init(&g, 1000, 900, 60000);
	for (u32 u = 0; u < 900; u++)
		for (u32 k = 0; k < (u == 450 ? 50000u : 3u); k++)
			graph_add(&g, u, (u32)random_below(1, g.edges, 1000), 0);
	assert_ok(graph_write(&g, in_scratch("hostile"), 65536, true));
	assert_ok(store_open(&st, in_scratch("hostile"), NULL));
	assert_true(st->out.n_split > 1);
	a = st->out.address;
	n_ids = a.n_pages * a.slots + (a.first[a.n_pages + 1] - a.first[a.n_pages]) + 10;
	pages = slurp(part_path(in_scratch("hostile"), "out.pages"), &size);
	assert_ok(page_frame_new((void **)&frame, st, NULL));
	for (u32 id = 0; id < n_ids; id++) {
		const struct page_header *h = (const struct page_header *)pages;
		struct rows_wanted stored = { .as_stored = true };
		struct segment seg;
		vid number, one = (vid)id;
		bool good = addresses_decode(&a, &one, 1, &number), lacks;

		memcpy(frame, pages, 65536);
		memcpy(frame + h->neighbour_at + 40, &one, sizeof(one));
		assert_int_equal(page_decode(&st->out, 0, frame, &seg), good ? MILL_OK : MILL_ECORRUPT);
		assert_int_equal(page_decode_part(&st->out, 0, frame, page_slices(&st->out), NULL, &stored, &seg, &lacks),
				 good ? MILL_OK : MILL_ECORRUPT);
		n_bad += !good;
	}
	/* One id a vertex: pages in the middle of the long list have none. */
	assert_int_equal(n_bad, n_ids - 1000);
	memory_free(frame);
	store_close(st);
	memcpy(pages + ((struct page_header *)pages)->neighbour_at, &(u32){ 0xfffffff0u }, 4);
	spill(part_path(in_scratch("hostile"), "out.pages"), pages, size);
	reseal(in_scratch("hostile"));
	assert_int_equal(open_and_verify(in_scratch("hostile")), MILL_ECORRUPT);
	free(pages);
	graph_release(&g);
}

/* A manifest that says other strides, or pages that no paged store has. */
static void test_manifest(void **state)
{
	static const struct {
		const char *from, *to;
	} edits[] = {
		{ "addressing paged\n", "addressing dense\n" }, { "addressing paged\n", "" },
		{ "millrace-store 3\n", "millrace-store 2\n" }, { "codec raw\n", "codec packed\n" },
		{ "in_slots 0\n", "in_slots 1\n" },		{ "in_slots 0\n", "" },
		{ "out_slots 256\n", "out_slots 0\n" },		{ "out_slots 256\n", "out_slots 255\n" },
		{ "out_slots 256\n", "out_slots 4294967295\n" }, { "out_slots 256\n", "out_slots 0256\n" },
	};
	struct graph g = { .directed = true, .out_only = true, .paged = true, .page_id_bytes = 3, .slot_bytes = 1 };
	size_t size;
	char *text;

	(void)state;
	graph_random(&g, 2000, 1500, 100, 1);
	assert_ok(graph_write(&g, in_scratch("m"), 65536, true));
	text = (char *)slurp(part_path(in_scratch("m"), "manifest"), &size);
	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		char edited[MANIFEST_MAX], *at = strstr(text, edits[i].from);

		assert_non_null(at);
		size = (size_t)snprintf(edited, sizeof(edited), "%.*s%s%s", (int)(at - text), text, edits[i].to,
					at + strlen(edits[i].from));
		*strstr(edited, "checksum ") = '\0';
		seal_manifest(in_scratch("m"), edited, strlen(edited));
		if (open_and_verify(in_scratch("m")) != MILL_ECORRUPT)
			fail_msg("%s in place of %s", edits[i].to, edits[i].from);
	}
	free(text);
	graph_release(&g);
}

/* Entries of an index that a dense store may have. */
static void test_index(void **state)
{
	struct graph g = { .directed = true, .out_only = true, .paged = false };
	char edited[MANIFEST_MAX], *text, *at;
	size_t size;

	(void)state;
	hubs(&g, 5);
	assert_ok(graph_write(&g, in_scratch("dense"), 65536, true));
	text = (char *)slurp(part_path(in_scratch("dense"), "manifest"), &size);
	at = strstr(text, "directed yes");
	assert_non_null(at);
	text[strlen("millrace-store ")] = '3';
	snprintf(edited, sizeof(edited), "%.*saddressing paged\nout_slots 100000\nin_slots 0\n%s", (int)(at - text), text, at);
	*strstr(edited, "checksum ") = '\0';
	seal_manifest(in_scratch("dense"), edited, strlen(edited));
	assert_int_equal(open_and_verify(in_scratch("dense")), MILL_ECORRUPT);
	free(text);
	graph_release(&g);
}
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_limits),	  cmocka_unit_test(test_there_and_back),
#if MILL_VID_BITS == 32
	cmocka_unit_test(test_division),  cmocka_unit_test(test_pages),
	cmocka_unit_test(test_record_id),
	cmocka_unit_test(test_options),	  cmocka_unit_test(test_hostile),
	cmocka_unit_test(test_manifest),  cmocka_unit_test(test_index),
#endif
};

SUITE(address, tests, .setup = scratch_make, .teardown = scratch_remove);
