/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, checks and decodes pages. */
#include "store/page.h"

#include <assert.h>
#include <string.h>

#include "base/checksum.h"
#include "store/packed.h"
#include "store/store.h"

u32 pages_find(const struct pages *p, vid v)
{
	u32 low = 0, high = p->n_pages;	/* the answer is in [low, high) */

	assert(v < p->n_rows);
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;
		const struct page_entry *e = &p->entry[middle];

		/* v's list does not begin in a page that continues it. */
		if (e->first_vertex < v || (e->first_vertex == v && !e->skip))
			low = middle;
		else
			high = middle;
	}
	return low;
}

bool page_goes_on(const struct pages *p, u32 i)
{
	return i + 1 < p->n_pages && p->entry[i + 1].skip;
}

bool page_is_large(const struct pages *p, u32 i)
{
	return p->entry[i].n_rows == 1 && (p->entry[i].skip || page_goes_on(p, i));
}

struct page_place page_place(const struct pages *p, u32 i)
{
	const struct store *st = p->store;
	u32 n = st->n_stripes;

	assert(i < p->n_pages);
	if (!n)
		return (struct page_place){ &st->file[p->data], (u64)i * st->page_size };
	return (struct page_place){ &st->stripe[p->data == STORE_IN_PAGES][i % n],
				    (u64)(i / n) * st->page_size };
}

mill_err page_check(const struct pages *p, u32 i, u32 first, u32 n, const void *data)
{
	const struct store *st = p->store;
	const u64 *sum = st->sum[p->data] + (u64)i * (st->page_size / STORE_BLOCK) + first;

	for (u32 b = 0; b < n; b++)
		if (checksum((const u8 *)data + (u64)b * STORE_BLOCK, STORE_BLOCK) != sum[b]) {
			struct page_place at = page_place(p, i);

			return bad_block(at.file, at.offset + (u64)(first + b) * STORE_BLOCK);
		}
	return MILL_OK;
}

mill_err page_read(const struct pages *p, u32 i, void *frame)
{
	struct page_place at = page_place(p, i);
	u32 size = p->store->page_size;

	TRY(file_read_at(at.file, frame, size, at.offset));
	return page_check(p, i, 0, size / STORE_BLOCK, frame);
}

mill_err page_frame_new(void **out, const struct store *st, struct budget *budget)
{
	/* At least 2 MiB: blocks of that size are aligned as direct I/O needs it. */
	return memory_new(out, budget, max_u64(st->page_size + store_scratch(st), 2 * MIB), 1,
			  "a page");
}

static mill_err bad_page(const struct pages *p, u32 i, const char *what)
{
	return fail(MILL_ECORRUPT, "%s: page %u: %s", page_place(p, i).file->name, i, what);
}

/*
 * Returns true if the offsets ascend from 0 to n_edges. Sets a flag instead of returning early, so
 * that the loop can be vectorised.
 */
static bool rows_are_good(const u32 *row, u32 n_rows, u32 n_edges)
{
	u32 bad = 0;

	for (u32 r = 0; r < n_rows; r++)
		bad |= row[r] > row[r + 1];
	return !bad && row[0] == 0 && row[n_rows] == n_edges;
}

static vid largest(const vid *neighbour, u32 n)
{
	vid max = 0;

	for (u32 k = 0; k < n; k++)
		max = neighbour[k] > max ? neighbour[k] : max;
	return max;
}

/* Returns NULL if the page's header agrees with the index, else what is wrong. */
static const char *header_fault(const struct pages *p, u32 i, const struct page_header *h)
{
	const struct store *st = p->store;
	const struct page_entry *e = &p->entry[i];

	if (h->magic != PAGE_MAGIC)
		return "not a page";
	if (memcmp(h->uuid, st->uuid_bytes, sizeof(h->uuid)))
		return "belongs to another store";
	if (h->number != i)
		return "has the number of another page";
	if (h->direction != (p->data == STORE_IN_PAGES))
		return "belongs to the other direction";
	if (h->codec != st->codec)
		return "not in the store's codec";
	if (h->first_vertex != e->first_vertex || h->n_rows != e->n_rows ||
	    h->n_edges != e->n_edges || h->first_edge != e->first_edge)
		return "header and index differ";
	if (!e->n_rows || (u64)e->first_vertex + e->n_rows > p->n_rows)
		return "rows beyond the last vertex";
	if (h->row_at != sizeof(*h))
		return "wrong layout";
	return NULL;
}

static const char no_neighbour[] = "a neighbour that does not exist";

static const char *view_raw(const struct pages *p, const u8 *page, struct segment *seg)
{
	const struct page_header *h = (const struct page_header *)page;
	size_t w = weight_size(p->store->weight);

	if (page_bytes(seg->n_rows, seg->n_edges, w) > p->store->page_size)
		return "more rows and edges than fit";
	if (h->neighbour_at != page_neighbour_at(seg->n_rows) ||
	    h->weight_at != (w ? page_weight_at(seg->n_rows, seg->n_edges) : 0))
		return "wrong layout";
	seg->row = (const u32 *)(page + h->row_at);
	seg->neighbour = (const vid *)(page + h->neighbour_at);
	if (!rows_are_good(seg->row, seg->n_rows, seg->n_edges))
		return "row offsets do not ascend to the number of edges";
	if (!p->store->paged && seg->n_edges &&
	    largest(seg->neighbour, seg->n_edges) >= p->store->n_linked)
		return no_neighbour;
	return NULL;
}

/* Rows for which the filter is asked at once, so that it is called seldom. */
#define FILTERED_ROWS 64u

/*
 * Translates the addresses of a raw page into numbers. scratch gets a copy of the row offsets and
 * then the numbers.
 */
static const char *translate(const struct pages *p, const struct row_filter *only, void *scratch,
			     struct segment *seg)
{
	u32 *row = scratch;
	vid *neighbour = (vid *)(row + seg->n_rows + 1);
	u64 step = only ? FILTERED_ROWS : seg->n_rows;

	memcpy(row, seg->row, 4 * ((u64)seg->n_rows + 1));
	for (u64 r = 0; r < seg->n_rows; r += step) {
		u64 end = min_u64(r + step, seg->n_rows);

		if (only && !only->wanted(only->arg, seg->first + r, seg->first + end))
			continue;
		if (!addresses_decode(&p->address, seg->neighbour + row[r], row[end] - row[r],
				      neighbour + row[r]))
			return no_neighbour;
	}
	seg->row = row;
	seg->neighbour = neighbour;
	return NULL;
}

static const char *view_paged(const struct pages *p, const u8 *page,
			      const struct rows_wanted *want, void *scratch, struct segment *seg)
{
	const char *fault = view_raw(p, page, seg);

	if (fault || want->rows_only)
		return fault;
	if (want->as_stored)
		return addresses_are_good(&p->address, seg->neighbour, seg->n_edges) ?
			       NULL : no_neighbour;
	return translate(p, want->only, scratch, seg);
}

const char *page_find_blocks(const struct pages *p, u32 i, const void *frame,
			     struct packed_page *out)
{
	const struct page_header *h = frame;
	const struct page_entry *e = &p->entry[i];
	const u64 size = p->store->page_size, one = sizeof(struct packed_block);
	u64 w = weight_size(p->store->weight);
	struct packed_block last;

	if (h->neighbour_at > size - PACKED_SLACK || h->neighbour_at < h->row_at + 2 * one ||
	    (h->neighbour_at - h->row_at) % one)
		return "wrong layout";
	memcpy(&last, (const u8 *)frame + h->neighbour_at - one, one);
	if (last.at < h->neighbour_at || last.at > size - PACKED_SLACK ||
	    last.first_row != e->n_rows || last.first_edge != e->n_edges || last.n_rows ||
	    last.n_edges)
		return "the last entry of the block index is wrong";
	if (h->weight_at != (w ? round_up(last.at, 8) : 0) ||
	    h->weight_at + w * e->n_edges > size)
		return "wrong layout";
	*out = (struct packed_page){
		.page = frame,
		.index_at = h->row_at,
		.n_blocks = (u32)((h->neighbour_at - h->row_at) / one - 1),
		.end = last.at,
		.first_vertex = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.n_vertices = p->store->n_linked,
		.weight_at = h->weight_at,
		.weight_size = (u32)w,
	};
	return NULL;
}

u32 page_slice(const struct store *st) { return (u32)max_u64(STORE_BLOCK, st->page_size / 64); }
static u32 n_slices(const struct store *st) { return st->page_size / page_slice(st); }
u64 page_slices(const struct pages *p) { return ~(u64)0 >> (64 - n_slices(p->store)); }

/* Notes that rows [first, rows_end) have bytes [begin, end) of the page. size: of a slice. */
static void add_rows(struct slice_rows *slice, u64 begin, u64 end, u32 size, u32 first,
		     u32 rows_end)
{
	for (u64 u = begin / size; begin < end && u <= (end - 1) / size; u++) {
		if (slice[u].first == slice[u].end)
			slice[u] = (struct slice_rows){ first, rows_end };
		slice[u].first = slice[u].first < first ? slice[u].first : first;
		slice[u].end = slice[u].end > rows_end ? slice[u].end : rows_end;
	}
}

u64 page_slice_entries(const struct store *st)
{
	if (st->codec != PAGE_PACKED || n_slices(st) == 1)
		return 0;
	return (st->weight ? 2 : 1) * (u64)n_slices(st);
}

void page_learn(const struct pages *p, u32 i, const void *frame, struct slice_rows *slice)
{
	const struct page_header *h = frame;
	u32 size = page_slice(p->store), w = (u32)weight_size(p->store->weight);
	struct packed_page packed;
	struct packed_block b, next;

	if (page_find_blocks(p, i, frame, &packed))
		return;	/* cannot happen: the page was decoded before */
	for (u32 k = 0; k < packed.n_blocks; k++) {
		u64 weight;

		packed_block_at(&packed, k, &b);
		packed_block_at(&packed, k + 1, &next);
		weight = h->weight_at + (u64)w * b.first_edge;
		add_rows(slice, b.at, next.at, size, b.first_row, b.first_row + b.n_rows);
		if (w)
			add_rows(slice + n_slices(p->store), weight, weight + (u64)w * b.n_edges,
				 size, b.first_row, b.first_row + b.n_rows);
	}
	/* Slices with the header and the block index are needed for every row. */
	for (u32 u = 0; u <= (h->neighbour_at - 1) / size; u++)
		slice[u] = (struct slice_rows){ 0, UINT32_MAX };
}

static bool any_wanted(const struct page_entry *e, const struct slice_rows *slice,
		       const struct row_filter *only)
{
	if (slice->end == UINT32_MAX)
		return true;
	return slice->first < slice->end &&
	       (!only || only->wanted(only->arg, (u64)e->first_vertex + slice->first,
				      (u64)e->first_vertex + slice->end));
}

u64 page_slices_wanted(const struct pages *p, u32 i, const struct slice_rows *slice,
		       const struct rows_wanted *want)
{
	bool weights = p->store->weight && !want->lists_only;
	const struct page_entry *e = &p->entry[i];
	u32 n = n_slices(p->store);
	u64 wanted = 0;

	if (!slice[0].end)
		return page_slices(p);
	for (u32 u = 0; u < n; u++)
		if (any_wanted(e, &slice[u], want->only) ||
		    (weights && any_wanted(e, &slice[n + u], want->only)))
			wanted |= (u64)1 << u;
	return wanted;
}

static const char *unpack(const struct pages *p, u32 i, const u8 *page, u64 have, void *scratch,
			  const struct rows_wanted *want, struct segment *seg)
{
	u32 *row = scratch;
	vid *neighbour = (vid *)(row + seg->n_rows + 1);
	struct packed_page packed;
	const char *fault;

	fault = page_find_blocks(p, i, page, &packed);
	if (have != page_slices(p)) {
		packed.have = have;
		packed.weight_size = want->lists_only ? 0 : packed.weight_size;
		packed.slice_bits = (u32)__builtin_ctz(page_slice(p->store));
	}
	if (!fault)
		fault = packed_decode(&packed, want->only, row, neighbour);
	seg->row = row;
	seg->neighbour = neighbour;
	return fault;
}

/* Checks the lists at both ends of a page that lie in several pages. Returns NULL or a fault. */
static const char *split_fault(const struct pages *p, u32 i, const struct segment *seg)
{
	const struct page_entry *e = &p->entry[i];
	u32 last = seg->row[e->n_rows] - seg->row[e->n_rows - 1];

	if (e->skip && seg->row[1] == 0)
		return "continues a list but has no edge of it";
	if (seg->continues && last + (e->n_rows == 1 ? e->skip : 0) != p->entry[i + 1].skip)
		return "the next page does not go on where this one ends";
	return NULL;
}

static struct segment segment_of(const struct pages *p, u32 i, const u8 *page)
{
	const struct page_entry *e = &p->entry[i];

	return (struct segment){
		.first = (vid)e->first_vertex,
		.n_rows = (vid)e->n_rows,
		.n_edges = e->n_edges,
		.first_edge = (eid)e->first_edge,
		.skip = e->skip,
		.continues = page_goes_on(p, i),
		.weight = p->store->weight ?
				  page + ((const struct page_header *)page)->weight_at : NULL,
	};
}

mill_err page_wire(const struct pages *p, u32 i, const void *frame, struct page_wire *out)
{
	const struct page_header *h = frame;
	struct segment seg = segment_of(p, i, frame);
	u32 weights = (u32)weight_size(p->store->weight) * seg.n_edges;
	struct packed_page packed = { 0 };
	const char *fault = header_fault(p, i, h);

	if (!fault && p->store->codec == PAGE_PACKED) {
		fault = page_find_blocks(p, i, frame, &packed);
		if (!fault)
			fault = packed_index_fault(&packed);
	} else if (!fault) {
		fault = view_raw(p, frame, &seg);
		if (!fault)
			fault = split_fault(p, i, &seg);
		packed.end = (u32)(page_neighbour_at(seg.n_rows) + sizeof(vid) * seg.n_edges);
	}
	if (fault)
		return bad_page(p, i, fault);
	*out = (struct page_wire){
		.begin = h->row_at,
		.end = packed.end,
		.weight_at = h->weight_at,
		.weight_end = h->weight_at + weights,
		.n_blocks = packed.n_blocks,
		.neighbour_at = h->neighbour_at,
	};
	return MILL_OK;
}

mill_err page_decode_part(const struct pages *p, u32 i, const void *frame, u64 have, void *scratch,
			  const struct rows_wanted *want, struct segment *seg, bool *lacks)
{
	const struct page_header *h = frame;
	const u8 *page = frame;
	const char *fault;

	assert(i < p->n_pages);
	*seg = segment_of(p, i, page);
	fault = header_fault(p, i, h);
	if (!fault)
		fault = p->store->codec == PAGE_PACKED
				? unpack(p, i, page, have, scratch, want, seg)
			: p->store->paged ? view_paged(p, page, want, scratch, seg)
					  : view_raw(p, page, seg);
	*lacks = fault == packed_lacks;
	if (*lacks)
		return MILL_OK;
	/* If the page was read partly, the offsets of missing rows mean nothing. */
	if (!fault && have == page_slices(p))
		fault = split_fault(p, i, seg);
	return fault ? bad_page(p, i, fault) : MILL_OK;
}

mill_err page_decode_into(const struct pages *p, u32 i, const void *frame, void *scratch,
			  const struct row_filter *only, struct segment *seg)
{
	struct rows_wanted want = { .only = only };
	bool lacks;

	return page_decode_part(p, i, frame, page_slices(p), scratch, &want, seg, &lacks);
}

mill_err page_decode(const struct pages *p, u32 i, void *frame, struct segment *seg)
{
	return page_decode_into(p, i, frame, (u8 *)frame + p->store->page_size, NULL, seg);
}
