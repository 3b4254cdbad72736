/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lists of a direction in vertex order; cursor.h has the contract. */
#include "engine/cursor.h"

u64 cursor_bytes(const struct store *st)
{
	return max_u64(st->page_size + store_scratch(st), 2 * MIB) + 4096;
}

mill_err cursor_open(struct cursor *c, const struct pages *pages, struct budget *budget)
{
	*c = (struct cursor){ .pages = pages && pages->n_pages ? pages : NULL };
	return c->pages ? page_frame_new(&c->frame, pages->store, budget) : MILL_OK;
}

void cursor_close(struct cursor *c)
{
	memory_free(c->frame);
	*c = (struct cursor){ 0 };
}

static mill_err next_page(struct cursor *c)
{
	TRY(page_read(c->pages, c->page, c->frame));
	TRY(page_decode(c->pages, c->page, c->frame, &c->seg));
	c->page++;
	c->n_read++;
	c->row = 0;
	return MILL_OK;
}

static void take_row(struct cursor *c)
{
	u32 from = c->seg.row[c->row], to = c->seg.row[c->row + 1];

	c->at = c->seg.neighbour + from;
	c->end = c->seg.neighbour + to;
	c->weight = c->seg.weight ? (const char *)c->seg.weight +
					    from * weight_size(c->pages->store->weight)
				  : NULL;
	c->row++;
}

mill_err cursor_seek(struct cursor *c, u64 v)
{
	c->at = c->end = NULL;
	if (!c->pages || v >= c->pages->n_rows)
		return MILL_OK;
	/* Skips what is left of the lists before v. */
	while (!c->page || (u64)c->seg.first + c->seg.n_rows <= v)
		TRY(next_page(c));
	c->row = (vid)(v - c->seg.first);
	take_row(c);
	return MILL_OK;
}

mill_err cursor_more(struct cursor *c)
{
	c->at = c->end = NULL;
	if (!c->pages || !c->page || c->row < c->seg.n_rows || !c->seg.continues)
		return MILL_OK;
	TRY(next_page(c));
	take_row(c);
	return MILL_OK;
}
