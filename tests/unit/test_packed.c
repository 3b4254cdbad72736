/* SPDX-License-Identifier: Apache-2.0 */
/* The packed codec: every width and shape of lists there and back, by both decoders; hostile pages. */
#include "store_model.h"

#include "store/packed.h"

/* A packed page in memory, exactly as long as it may be read. */
struct image {
	struct packed_page page;
	u8 *bytes;
	u64 size;
};

struct lists {
	u32 n_rows, n_edges;
	u32 *row;
	vid *neighbour;
};

static void lists_free(struct lists *l)
{
	free(l->row);
	free(l->neighbour);
}

/* Packs lists as the writer does, into one page of whatever size. */
static void image_make(struct image *im, const struct lists *l, u32 first_vertex, u64 n_vertices)
{
	u64 most = 2 * (u64)l->n_edges / PACKED_EDGES + l->n_rows / PACKED_ROWS + 4;
	struct packed_block *block = calloc(most, sizeof(*block));
	u8 *streams = calloc(most, PACKED_BLOCK_MAX + PACKED_SLACK);
	struct packer *p = calloc(1, sizeof(*p));
	u32 n = 0, at = 0, row = 0, edge = 0, index;

	assert_true(block && streams && p);
	packer_clear(p);
	for (u32 r = 0; r < l->n_rows; r++) {
		u32 begin = l->row[r], end = l->row[r + 1];

		do {
			u32 some = end - begin < PACKED_EDGES ? end - begin : PACKED_EDGES;

			if (!packer_takes(p, some)) {
				assert_true(n < most);
				block[n++] = (struct packed_block){ at, row, edge, (u16)p->n_rows,
								    (u16)p->n_edges };
				at += packer_put(p, streams + at);
				edge += p->n_edges;
				packer_clear(p);
				row = r;
			}
			packer_add(p, (vid)(first_vertex + r), l->neighbour + begin, some);
			begin += some;
		} while (begin < end);
	}
	block[n++] = (struct packed_block){ at, row, edge, (u16)p->n_rows, (u16)p->n_edges };
	at += packer_put(p, streams + at);
	index = (n + 1) * (u32)sizeof(*block);
	block[n] = (struct packed_block){ at, l->n_rows, l->n_edges, 0, 0 };
	for (u32 b = 0; b <= n; b++)
		block[b].at += index;

	im->size = index + at + PACKED_SLACK;
	im->bytes = malloc(im->size);
	assert_non_null(im->bytes);
	memcpy(im->bytes, block, index);
	memcpy(im->bytes + index, streams, at);
	memset(im->bytes + index + at, 0xa5, PACKED_SLACK);
	im->page = (struct packed_page){
		.page = im->bytes, .n_blocks = n, .end = index + at, .first_vertex = first_vertex,
		.n_rows = l->n_rows, .n_edges = l->n_edges, .n_vertices = n_vertices,
	};
	free(block);
	free(streams);
	free(p);
}

static const char *image_decode(const struct image *im, struct lists *out)
{
	out->n_rows = im->page.n_rows;
	out->n_edges = im->page.n_edges;
	out->row = malloc(4 * ((size_t)out->n_rows + 1));
	out->neighbour = malloc(out->n_edges * sizeof(vid) + PACKED_SLACK);
	assert_true(out->row && out->neighbour);
	return packed_decode(&im->page, NULL, out->row, out->neighbour);
}

static int by_number(const void *a, const void *b)
{
	vid x = *(const vid *)a, y = *(const vid *)b;

	return x < y ? -1 : x > y;
}

/* Lists of the given degrees (repeated) with neighbours of at most so many bits. */
static void lists_make(struct lists *l, const u32 *degree, u32 n_degrees, u32 n_rows, unsigned bits,
		       u64 seed)
{
	u64 limit = min_u64((u64)1 << bits, MAX_VERTICES), n = 0;

	l->n_rows = n_rows;
	l->row = calloc(n_rows + 1u, 4);
	assert_non_null(l->row);
	for (u32 r = 0; r < n_rows; r++)
		l->row[r + 1] = l->row[r] + degree[r % n_degrees];
	l->n_edges = l->row[n_rows];
	l->neighbour = calloc(l->n_edges + 1u, sizeof(vid));
	assert_non_null(l->neighbour);
	for (; n < l->n_edges; n++)
		l->neighbour[n] = (vid)random_below(seed, n, limit);
	for (u32 r = 0; r < n_rows; r++)
		qsort(l->neighbour + l->row[r], l->row[r + 1] - l->row[r], sizeof(vid), by_number);
}

static const u32 degrees[][4] = {
	{ 1, 1, 1, 1 },	      { 0, 1, 0, 2 },	  { 4, 4, 4, 4 },      { 7, 8, 9, 1 },
	{ 0, 0, 0, 1 },	      { 1023, 1, 1024, 1 }, { 1024, 1024, 0, 3 }, { 1025, 5000, 1, 100 },
	{ 16, 17, 8, 1 },     { 2048, 2049, 2047, 1 }, { 0, 0, 0, 0 },
};

static void round_trips(void **state)
{
	static const u32 rows[] = { 1, 7, 8, 9, 100, 1023, 1024, 1025, 3000 };

	(void)state;
	for (size_t d = 0; d < ARRAY_LEN(degrees); d++)
		for (size_t r = 0; r < ARRAY_LEN(rows); r++)
			for (unsigned bits = 0; bits <= MILL_VID_BITS; bits += rows[r] > 100 ? 5 : 1) {
				struct lists l, back;
				struct image im;
				u32 first = bits % 2 || MILL_VID_BITS < 32 ? 0 : 1u << 31;

				if ((MILL_VID_BITS < 32 && rows[r] > 100) || (degrees[d][1] > 900 && rows[r] > 9))
					continue;
				lists_make(&l, degrees[d], 4, rows[r], bits, d * 1000 + r);
				image_make(&im, &l, first, (u64)1 << bits);
				for (int plain = 0; plain < 2; plain++) {
					const char *fault;

					packed_plain = plain;
					fault = image_decode(&im, &back);
					if (fault)
						fail_msg("degrees %zu rows %u bits %u: %s", d, rows[r],
							 bits, fault);
					assert_memory_equal(back.row, l.row, 4 * (rows[r] + 1));
					if (l.n_edges)
						assert_memory_equal(back.neighbour, l.neighbour,
								    l.n_edges * sizeof(vid));
					lists_free(&back);
				}
				free(im.bytes);
				lists_free(&l);
			}
	packed_plain = false;
}

static bool every_fifth(void *arg, u64 begin, u64 end)
{
	(void)arg;
	return (begin + 4) / 5 < (end + 4) / 5;
}

/* Only some rows are wanted: all offsets are right, and the lists of those rows. */
static void some_rows(void **state)
{
	const struct row_filter only = { every_fifth, NULL };

	(void)state;
	for (size_t d = 0; d < ARRAY_LEN(degrees); d++) {
		struct lists l, back;
		struct image im;

		lists_make(&l, degrees[d], 4, 200, MILL_VID_BITS / 2, d);
		image_make(&im, &l, 0, MAX_VERTICES);
		back.row = malloc(4 * 201);
		back.neighbour = malloc(l.n_edges * sizeof(vid) + PACKED_SLACK);
		assert_true(back.row && back.neighbour);
		memset(back.neighbour, 0xee, l.n_edges * sizeof(vid));
		assert_null(packed_decode(&im.page, &only, back.row, back.neighbour));
		assert_memory_equal(back.row, l.row, 4 * 201);
		for (u32 r = 0; r < 200; r += 5)
			if (l.row[r + 1] > l.row[r])
				assert_memory_equal(back.neighbour + l.row[r], l.neighbour + l.row[r],
						    (l.row[r + 1] - l.row[r]) * sizeof(vid));
		free(im.bytes);
		lists_free(&back);
		lists_free(&l);
	}
}

/* Whatever the bytes: refused, or lists that can be used; the sanitizer watches the edges. */
static void hostile(void **state)
{
	u64 accepted = 0, tries = 100000;

	(void)state;
	for (size_t d = 0; d < ARRAY_LEN(degrees); d++) {
		struct lists l;
		struct image im;
		u64 n_vertices = min_u64(100000, MAX_VERTICES);
		u32 n_rows = degrees[d][0] > 900 ? 3 : 60;
		u8 *good;

		lists_make(&l, degrees[d], 4, n_rows, MILL_VID_BITS < 16 ? 7 : 16, d);
		image_make(&im, &l, 5, n_vertices);
		good = malloc(im.size);
		assert_non_null(good);
		memcpy(good, im.bytes, im.size);
		for (u64 i = 0; i < tries / ARRAY_LEN(degrees); i++) {
			u64 n = random_below(1, i, 3) + 1, index = (im.page.n_blocks + 1) * 16u;
			struct lists back;

			memcpy(im.bytes, good, im.size);
			for (u64 k = 0; k < n; k++)
				im.bytes[random_below(2, 4 * i + k, (i + k) % 3 ? im.page.end : index)] =
					(u8)random_at(3, 4 * i + k);
			packed_plain = i % 2;
			if (!image_decode(&im, &back)) {
				accepted++;
				assert_null(packed_index_fault(&im.page));
				assert_true(back.row[0] == 0 && back.row[n_rows] == l.n_edges);
				for (u32 r = 0; r < n_rows; r++)
					assert_true(back.row[r] <= back.row[r + 1]);
				for (u32 e = 0; e < l.n_edges; e++)
					assert_true(back.neighbour[e] < n_vertices);
			}
			lists_free(&back);
		}
		free(good);
		free(im.bytes);
		lists_free(&l);
	}
	packed_plain = false;
	assert_true(accepted > 0 && accepted < tries);
}

/* Whatever an index that is believed leads to lies in the page, and has its rows and edges once. */
static void hostile_index(void **state)
{
	static const u32 two[] = { 300, 800 };
	u64 believed = 0, tries = 100000;
	struct lists l;
	struct image im;
	u8 *good;

	(void)state;
	lists_make(&l, two, 2, 6, 7, 1);
	image_make(&im, &l, 0, 128);
	good = malloc(im.size);
	assert_non_null(good);
	memcpy(good, im.bytes, im.size);
	for (u64 i = 0; i < tries; i++) {
		u64 edges = 0, at = 0;

		memcpy(im.bytes, good, im.size);
		for (u64 k = 0; k <= i % 4; k++)
			im.bytes[random_below(1, 4 * i + k, (im.page.n_blocks + 1) * 16u)] ^= (u8)(1 << random_below(2, 4 * i + k, 8));
		if (packed_index_fault(&im.page))
			continue;
		believed++;
		for (u32 k = 0; k < im.page.n_blocks; k++) {
			struct packed_block b;

			packed_block_at(&im.page, k, &b);
			assert_true(b.at >= (im.page.n_blocks + 1) * 16u && b.at >= at && b.at <= im.page.end);
			assert_true((u64)b.first_row + b.n_rows <= l.n_rows && b.first_edge == edges);
			at = b.at;
			edges += b.n_edges;
		}
		assert_int_equal(edges, l.n_edges);
	}
	assert_true(believed > 0 && believed < tries / 2);
	free(good);
	free(im.bytes);
	lists_free(&l);
}

/* Lies about counts and places, one at a time. */
static void lies(void **state)
{
	/* Where streams and neighbours lie only decoding shows. */
	static const bool index_shows[9] = { true, true, false, false, false, true, true, true, true };
	static const u32 two[] = { 300, 800 };
	struct lists l, back;
	struct image im;

	(void)state;
	lists_make(&l, two, 2, 6, 7, 1);
	image_make(&im, &l, 0, 128);
	for (int lie = 0; lie < 9; lie++) {
		struct packed_page true_page = im.page;
		struct packed_block *b = (struct packed_block *)im.bytes, kept = b[1];

		switch (lie) {
		case 0: im.page.n_rows++; break;
		case 1: im.page.n_edges--; break;
		case 2: im.page.end--; break;
		case 3: im.page.n_vertices = 100; break;
		case 4: b[1].at++; break;
		case 5: b[1].first_row += 2; break;
		case 6: b[1].n_rows = 0; break;
		case 7: b[1].n_edges--; break;
		case 8: b[1].first_edge--; break;
		}
		if (!image_decode(&im, &back))
			fail_msg("lie %d is believed", lie);
		if (!packed_index_fault(&im.page) == index_shows[lie])
			fail_msg("lie %d: the index %s", lie, index_shows[lie] ? "is believed" : "is at fault");
		lists_free(&back);
		b[1] = kept;
		im.page = true_page;
	}
	assert_null(image_decode(&im, &back));
	lists_free(&back);
	free(im.bytes);
	lists_free(&l);
}

/* Damaged packed pages with correct checksums. */
static void hostile_store(void **state)
{
	struct graph g = { .directed = true, .weight = MILL_WEIGHT_F32, .codec = PAGE_PACKED };
	const char *path = in_scratch("hostile");
	struct segment seg;
	struct store *st;
	struct page_wire wire;
	void *good, *frame, *room;
	u64 accepted = 0, passed_on = 0;

	(void)state;
	graph_random(&g, 200, 150, 30000, 3);
	assert_ok(graph_write(&g, path, 65536, false));
	assert_ok(store_open(&st, path, NULL));
	assert_true(st->out.n_pages > 1 && st->codec == PAGE_PACKED);
	assert_ok(page_frame_new(&good, st, NULL));
	frame = malloc(st->page_size);
	room = malloc(st->out.scratch);
	assert_true(frame && room);
	for (u64 i = 0; i < 30000; i++) {
		u32 page = (u32)(i * st->out.n_pages / 30000);

		if (!i || page != (u32)((i - 1) * st->out.n_pages / 30000))
			assert_ok(page_read(&st->out, page, good));
		memcpy(frame, good, st->page_size);
		for (u64 k = 0; k <= i % 3; k++)
			((u8 *)frame)[random_below(5, 4 * i + k, k ? 1000 : 64)] = (u8)random_at(6, 4 * i + k);
		packed_plain = i % 2;
		if (!page_wire(&st->out, page, frame, &wire)) {
			assert_true(wire.begin == 64 && wire.begin < wire.end && wire.end <= wire.weight_at);
			assert_true(wire.weight_end - wire.weight_at == 4 * st->out.entry[page].n_edges &&
				    wire.weight_end <= st->page_size && wire.begin + 16 * (wire.n_blocks + 1) <= wire.end);
			passed_on++;
		}
		if (page_decode_into(&st->out, page, frame, room, NULL, &seg))
			continue;
		accepted++;
		assert_ok(page_wire(&st->out, page, frame, &wire));
		for (u32 r = 0; r < seg.n_rows; r++)
			assert_true(seg.row[r] <= seg.row[r + 1]);
		for (u32 e = 0; e < seg.n_edges; e++)
			assert_true(seg.neighbour[e] < st->vertices);
	}
	packed_plain = false;
	assert_true(accepted < passed_on && passed_on < 30000);
	free(room);
	free(frame);
	memory_free(good);
	store_close(st);
	graph_release(&g);
}

/* What a device needs of good pages: side by side in the page, nothing else. */
static void wires(void **state)
{
	(void)state;
	for (u32 i = 0; i < 8; i++) {
		struct graph g = { .directed = true, .weight = i & 2 ? MILL_WEIGHT_F64 : MILL_WEIGHT_NONE,
				   .codec = i & 1 ? PAGE_PACKED : PAGE_RAW };
		const char *path = in_scratch(i & 4 ? "wires, long" : "wires");
		u64 w = i & 2 ? 8 : 0;
		struct store *st;
		void *frame;

		graph_random(&g, 200, i & 4 ? 2 : 150, 30000, i);
		assert_ok(graph_write(&g, path, 65536, true));
		assert_ok(store_open(&st, path, NULL));
		assert_ok(page_frame_new(&frame, st, NULL));
		for (u32 page = 0; page < st->out.n_pages; page++) {
			const struct page_entry *e = &st->out.entry[page];
			const struct page_header *h = frame;
			struct page_wire wire;

			assert_ok(page_read(&st->out, page, frame));
			assert_ok(page_wire(&st->out, page, frame, &wire));
			assert_int_equal(wire.begin, sizeof(*h));
			assert_int_equal(wire.neighbour_at, h->neighbour_at);
			assert_int_equal(wire.weight_at, h->weight_at);
			assert_int_equal(wire.weight_end - wire.weight_at, w * e->n_edges);
			if (w)
				assert_int_equal(wire.weight_at, round_up(wire.end, 8));
			if (i & 1)
				assert_int_equal(wire.n_blocks, (h->neighbour_at - h->row_at) / 16 - 1);
			else
				assert_int_equal(wire.end, page_neighbour_at(e->n_rows) + sizeof(vid) * e->n_edges);
			((u8 *)frame)[0] ^= 1;
			assert_int_equal(page_wire(&st->out, page, frame, &wire), MILL_ECORRUPT);
		}
		memory_free(frame);
		store_close(st);
		graph_release(&g);
	}
}

/* A long list of small gaps: the page ends where decoding it would take too much. */
static void growth_is_bounded(void **state)
{
	struct graph g = { .directed = true, .out_only = true, .codec = PAGE_PACKED };
	u32 n = (u32)min_u64(200000, MAX_EDGES - 1);
	struct store *st;

	(void)state;
	graph_init(&g, 2, 1, n);
	for (u32 k = 0; k < n; k++)
		graph_add(&g, 0, 1, 0);
	assert_ok(graph_write(&g, in_scratch("growth"), 65536, false));
	assert_ok(open_and_verify(in_scratch("growth")));
	assert_ok(store_open(&st, in_scratch("growth"), NULL));
	assert_true(st->out.scratch <= PACKED_GROWTH * 65536 + PACKED_SLACK);
	assert_true(n * sizeof(vid) < PACKED_GROWTH * 65536 || st->out.n_pages > 1);
	store_close(st);
	graph_release(&g);
}

/* The same lists, packed wider than needed: decoded, but not what a writer makes. */
static void one_form(void **state)
{
	struct graph g = { .directed = true, .out_only = true, .codec = PAGE_PACKED };
	const char *path = in_scratch("form");
	const struct page_header *h;
	size_t size;
	u8 *data;
	u32 at;

	(void)state;
	graph_init(&g, 3, 1, 2);
	graph_add(&g, 0, 1, 0);
	graph_add(&g, 0, 2, 0);
	assert_ok(graph_write(&g, path, 65536, false));
	assert_ok(open_and_verify(path));
	data = slurp(part_path(path, "out.pages"), &size);
	h = (const struct page_header *)data;
	at = h->neighbour_at;
	/* A code and a byte for each: degree 2, first +1 folded to 2, gap 1. */
	data[at + 5] |= 0x80;	/* a bit that belongs to no value */
	spill(part_path(path, "out.pages"), data, size);
	reseal(path);
	assert_int_equal(open_and_verify(path), MILL_ECORRUPT);
	assert_non_null(strstr(mill_error(), "unusual"));
	free(data);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(round_trips),
	cmocka_unit_test(some_rows),
	cmocka_unit_test(hostile),
	cmocka_unit_test(hostile_index),
	cmocka_unit_test(lies),
	cmocka_unit_test(hostile_store),
	cmocka_unit_test(wires),
	cmocka_unit_test(growth_is_bounded),
	cmocka_unit_test(one_form),
};

SUITE(packed, tests, .setup = scratch_make, .teardown = scratch_remove);
