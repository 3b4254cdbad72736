/* SPDX-License-Identifier: Apache-2.0 */
#include "store/page.h"

#include <assert.h>
#include <string.h>

#include "store/store.h"

u32 pages_find(const struct pages *p, vid v)
{
	u32 low = 0, high = p->n_pages;	/* the answer is in [low, high) */

	assert(v < p->n_rows);
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;
		const struct page_entry *e = &p->entry[middle];

		/* A page that goes on with v's list does not hold its beginning. */
		if (e->first_vertex < v || (e->first_vertex == v && !e->skip))
			low = middle;
		else
			high = middle;
	}
	return low;
}

mill_err page_read(const struct pages *p, u32 i, void *frame)
{
	const struct store *st = p->store;
	u64 n_blocks = st->page_size / STORE_BLOCK;
	u64 first = (u64)i * n_blocks;

	assert(i < p->n_pages);
	TRY(file_read_at(&st->file[p->data], frame, st->page_size, (u64)i * st->page_size));
	for (u64 b = 0; b < n_blocks; b++)
		TRY(store_check_block(st, p->data, first + b, (u8 *)frame + b * STORE_BLOCK,
				      STORE_BLOCK));
	return MILL_OK;
}

mill_err page_frame_new(void **out, const struct store *st, struct budget *budget)
{
	/* From 2 MiB on memory is aligned as direct I/O needs it. */
	return memory_new(out, budget, max_u64(st->page_size, 2 * MIB), 1, "a page");
}

static mill_err bad_page(const struct pages *p, u32 i, const char *what)
{
	return fail(MILL_ECORRUPT, "%s: page %u: %s", p->store->file[p->data].name, i, what);
}

/* Offsets ascend from 0 to n_edges. One flag instead of an exit per row: this can be vectorised. */
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

/* Does the page say what the index says, and is everything inside the page? */
static const char *header_fault(const struct pages *p, u32 i, const struct page_header *h)
{
	const struct store *st = p->store;
	const struct page_entry *e = &p->entry[i];
	size_t w = weight_size(st->weight);

	if (h->magic != PAGE_MAGIC)
		return "not a page";
	if (memcmp(h->uuid, st->uuid_bytes, sizeof(h->uuid)))
		return "belongs to another store";
	if (h->number != i)
		return "has the number of another page";
	if (h->direction != (p->data == STORE_IN_PAGES))
		return "belongs to the other direction";
	if (h->codec != PAGE_RAW)
		return "unknown codec";
	if (h->first_vertex != e->first_vertex || h->n_rows != e->n_rows ||
	    h->n_edges != e->n_edges || h->first_edge != e->first_edge)
		return "header and index differ";
	if (!e->n_rows || (u64)e->first_vertex + e->n_rows > p->n_rows)
		return "rows beyond the last vertex";
	if (page_bytes(e->n_rows, e->n_edges, w) > st->page_size)
		return "more rows and edges than fit";
	if (h->row_at != sizeof(*h) || h->neighbour_at != page_neighbour_at(e->n_rows) ||
	    h->weight_at != (w ? page_weight_at(e->n_rows, e->n_edges) : 0))
		return "wrong layout";
	return NULL;
}

mill_err page_decode(const struct pages *p, u32 i, const void *frame, struct segment *seg)
{
	const struct page_header *h = frame;
	const struct page_entry *e = &p->entry[i];
	const u8 *bytes = frame;
	const char *fault;
	u32 last;

	assert(i < p->n_pages);
	fault = header_fault(p, i, h);
	if (fault)
		return bad_page(p, i, fault);

	*seg = (struct segment){
		.first = (vid)e->first_vertex,
		.n_rows = (vid)e->n_rows,
		.n_edges = e->n_edges,
		.first_edge = (eid)e->first_edge,
		.skip = e->skip,
		.continues = i + 1 < p->n_pages && p->entry[i + 1].skip,
		.row = (const u32 *)(bytes + h->row_at),
		.neighbour = (const vid *)(bytes + h->neighbour_at),
		.weight = h->weight_at ? bytes + h->weight_at : NULL,
	};
	if (!rows_are_good(seg->row, e->n_rows, e->n_edges))
		return bad_page(p, i, "row offsets do not ascend to the number of edges");
	if (e->skip && seg->row[1] == 0)
		return bad_page(p, i, "goes on with a list and has nothing of it");
	last = seg->row[e->n_rows] - seg->row[e->n_rows - 1];
	if (seg->continues && last + (e->n_rows == 1 ? e->skip : 0) != p->entry[i + 1].skip)
		return bad_page(p, i, "the next page does not go on where this one ends");
	if (e->n_edges && largest(seg->neighbour, e->n_edges) >= p->store->vertices)
		return bad_page(p, i, "a neighbour that does not exist");
	return MILL_OK;
}
