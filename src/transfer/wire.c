/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches the kernels that prepare stored pages on a device: unpack, place, renumber.
 *
 * Pages cross to a device packed, and pages_unpack (pages.cl) unpacks them there. It also
 * checks what the host cannot know without decoding; a hostile stream of bytes ends the run
 * with exit code 4. If all lists fit the device, a page is unpacked when it arrives, and
 * all pages are one segment, launched once. Otherwise pages stay packed in their slots, so
 * that more of them stay, and are unpacked for each use. On PoCL unpacking takes about as
 * long as the sums of a PageRank over the same pages.
 */
#include "transfer/transfer.h"

static u32 partial_of(const struct pages *p, u32 page)
{
	return (p->entry[page].skip ? PARTIAL_HEAD : 0) |
	       (page + 1 < p->n_pages && p->entry[page + 1].skip ? PARTIAL_TAIL : 0);
}

/* Returns the edge at which the last row begins, if the row continues in the next page. */
static u32 tail_at(const struct pages *p, u32 page)
{
	const struct page_entry *e = &p->entry[page];
	u64 tail;

	if (!(partial_of(p, page) & PARTIAL_TAIL))
		return e->n_edges;
	tail = e[1].skip - (e->n_rows == 1 ? e->skip : 0);
	return tail > e->n_edges ? 0 : e->n_edges - (u32)tail;
}

/* Adds the arguments that pages_unpack and pages_place share. */
static void launch_place(struct kernel_call *l, const struct place *to, const struct page_entry *e,
			 const u32 *partial)
{
	launch_buffer(l, to->lists);
	launch_u32(l, &to->row_at);
	launch_u32(l, &to->neighbour_at);
	launch_u32(l, &to->edge_base);
	launch_u32(l, &e->n_rows);
	launch_u32(l, &e->n_edges);
	launch_u32(l, partial);
	l->launch.queue = to->queue;
}

mill_err wire_unpack(const struct buffer *fault, const struct pages *p, u32 page,
		     const struct buffer *from, u64 page_at, const struct page_wire *wire,
		     const struct place *to)
{
	const struct page_entry *e = &p->entry[page];
	u32 n_vertices = (u32)p->store->n_linked, partial = partial_of(p, page),
	    tail = tail_at(p, page);
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_unpack");
	launch_buffer(&l, from);
	launch_u64(&l, &page_at);
	launch_u32(&l, &wire->begin);
	launch_u32(&l, &wire->n_blocks);
	launch_u32(&l, &wire->end);
	launch_u32(&l, &e->first_vertex);
	launch_u32(&l, &n_vertices);
	launch_place(&l, to, e, &partial);
	launch_u32(&l, &tail);
	launch_u32(&l, &to->shared);
	launch_u32(&l, &page);
	launch_buffer(&l, fault);
	return launch_items(fault->owner, &l, wire->n_blocks, 1);
}

mill_err wire_place(struct station *s, const struct pages *p, u32 page, const struct slot *from,
		    const struct place *to)
{
	const struct page_entry *e = &p->entry[page];
	u32 rows = from->wire->begin / 4, neighbours = from->wire->neighbour_at / 4,
	    partial = partial_of(p, page);
	struct kernel_call l;

	launch_begin_kernel(&l, &transfer_kernels, "pages_place");
	launch_buffer(&l, &from->buffer);
	launch_u32(&l, &rows);
	launch_u32(&l, &neighbours);
	launch_place(&l, to, e, &partial);
	return launch_items(s->device, &l, (u64)e->n_edges + e->n_rows + 1, ITEM_ROWS);
}

mill_err wire_number(struct transfer *t, struct station *s, bool in, u32 page,
		     const struct buffer *at, u32 neighbour_at, u32 queue)
{
	const struct pages *p = t->units[in].pages;
	struct kernel_call l;

	if (!p->address.slots)
		return MILL_OK;
	launch_begin_kernel(&l, &transfer_kernels, "pages_number");
	launch_buffer(&l, at);
	launch_u32(&l, &neighbour_at);
	launch_u32(&l, &p->entry[page].n_edges);
	launch_buffer(&l, &s->side[in].first);
	launch_u32(&l, &p->address.n_pages);
	launch_u32(&l, &p->address.slots);
	launch_u32(&l, &page);
	launch_buffer(&l, &s->fault);
	l.launch.queue = queue;
	return launch_items(s->device, &l, p->entry[page].n_edges, ITEM_ROWS);
}

struct device_segment wire_segment(const struct transfer *t, const struct slot *s,
				   const struct units *u, u32 unit, u32 k)
{
	u32 page = unit_page(u, unit) + k;
	const struct page_entry *e = &u->pages->entry[page];
	const struct page_wire *w = &s->wire[k];
	u64 page_at = (u64)k * t->graph->page_size;

	return (struct device_segment){
		.lists = &s->buffer,
		.weights = t->weights ? &s->buffer : NULL,
		.row_at = (u32)((page_at + w->begin) / 4),
		.neighbour_at = (u32)((page_at + w->neighbour_at) / 4),
		.weight_at = (u32)((page_at + w->weight_at) / 4),
		.first = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.partial = partial_of(u->pages, page),
		.unit = unit,
		.first_edge = e->first_edge,
		.skip = e->skip,
		.continues = partial_of(u->pages, page) & PARTIAL_TAIL,
	};
}

mill_err wire_check(struct buffer *fault, const struct pages *p)
{
	u64 page = 0;

	TRY(device_read(fault, 0, &page, sizeof(page)));
	if (!page)
		return MILL_OK;
	TRY(device_fill(fault, &(u64){ 0 }, sizeof(u64)));
	return fail(MILL_ECORRUPT, "%s: page %llu: %s", page_place(p, (u32)page - 1).file->name,
		    (unsigned long long)page - 1,
		    p->store->paged ? "a neighbour that does not exist" :
				      "its blocks cannot be unpacked");
}
