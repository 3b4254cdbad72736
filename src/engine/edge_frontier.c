/* SPDX-License-Identifier: Apache-2.0 */
/* Active edges as a bitmap or a list; edge_frontier.h has the contract. */
#include "engine/edge_frontier.h"

#include <string.h>

/* Returns the length up to which looking up each edge costs less than reading the bitmap. */
static u64 list_capacity(u64 n_edges) { return n_edges / 128 + 1024; }

u64 edge_frontier_edges(const struct store *st, enum view view)
{
	return view ? view_edges(st) : st->stored_edges;
}

u64 edge_frontier_bytes(const struct store *st, enum view view)
{
	return bitmap_words(edge_frontier_edges(st, view)) * sizeof(u64) +
	       (pages_most(st, view) + 3) * sizeof(u64) + 64;
}

u64 edge_frontier_host_bytes(const struct store *st, enum view view)
{
	u64 n_pages = pages_most(st, view), n_edges = edge_frontier_edges(st, view);

	return sizeof(struct edge_frontier) + (n_pages + 2) * sizeof(u32) +
	       max_u64(2 * list_capacity(n_edges) * sizeof(struct active_edge),
		       (n_pages + 1) * sizeof(u64));
}

/* Makes the tables by page: page_begin on the device, page_n on the host. */
static mill_err make_page_tables(struct edge_frontier *f)
{
	struct mill_run *r = f->run;
	const struct pages *p = run_direction(r, f->in)->pages;
	struct vec *counts, *copy;
	mill_err err;
	u64 *begin;

	TRY(run_vec_host(r, &counts, "active edges of pages",
			 max_u64(r->graph->out.n_pages, r->graph->in.n_pages) + 2, sizeof(u32)));
	f->page_n = counts->buffer.host;
	TRY(run_vec(r, &f->page_begin, "edges of pages", p->n_pages + 1u, sizeof(u64), NULL));
	TRY(run_vec_host(r, &copy, "edges of pages", p->n_pages + 1u, sizeof(u64)));
	begin = copy->buffer.host;
	for (u32 i = 0; i < p->n_pages; i++)
		begin[i] = p->entry[i].first_edge;
	begin[p->n_pages] = run_direction(r, f->in)->n_edges;
	err = device_write(&f->page_begin->buffer, 0, begin, copy->buffer.size);
	run_vec_free(r, copy);
	return err;
}

mill_err run_edge_frontier(struct mill_run *r, struct edge_frontier **out, bool in)
{
	u64 n_edges = run_direction(r, in)->n_edges;
	struct edge_frontier *f;
	struct vec *self;

	/* The frontier's memory is a vector, so that the run frees it. */
	TRY(run_vec_host(r, &self, "edge frontier", 1, sizeof(*f)));
	f = self->buffer.host;
	f->run = r;
	f->in = in;
	f->dense = true;
	TRY(run_vec(r, &f->bits, "active edges", bitmap_words(n_edges), sizeof(u64), NULL));
	if (r->device->native && run_direction(r, in)->resident) {
		f->capacity = list_capacity(n_edges);
		TRY(run_vec_host(r, &self, "list of active edges", f->capacity,
				 sizeof(struct active_edge)));
		f->list = self->buffer.host;
		TRY(run_vec_host(r, &self, "next list of active edges", f->capacity,
				 sizeof(struct active_edge)));
		f->next_list = self->buffer.host;
	}
	*out = f;
	return r->device->native ? MILL_OK : make_page_tables(f);
}

mill_err edge_frontier_clear(struct edge_frontier *f)
{
	u64 zero = 0;

	if (f->dense && f->n)
		TRY(device_fill(&f->bits->buffer, &zero, sizeof(zero)));
	if (f->page_n)
		memset(f->page_n, 0, run_direction(f->run, f->in)->pages->n_pages * sizeof(u32));
	f->n = 0;
	f->dense = true;
	return MILL_OK;
}

mill_err edge_frontier_set_all(struct edge_frontier *f)
{
	const struct pages *p = run_direction(f->run, f->in)->pages;
	u64 ones = ~(u64)0, n = run_direction(f->run, f->in)->n_edges;

	for (u32 i = 0; f->page_n && i < p->n_pages; i++)
		f->page_n[i] = p->entry[i].n_edges;
	f->dense = true;
	f->n = n;
	TRY(device_fill(&f->bits->buffer, &ones, sizeof(ones)));
	if (n % 64)
		return vec_set(f->bits, n / 64, &(u64){ ((u64)1 << (n % 64)) - 1 });
	return MILL_OK;
}

mill_err edge_frontier_counted(struct edge_frontier *f, u64 counts[COUNTS_N])
{
	TRY(transfer_census_edges(&f->run->transfer, f->in, f->bits, f->page_begin));
	TRY(transfer_count_end(&f->run->transfer, counts, f->page_n));
	f->n = counts[COUNT_EMITTED];
	return MILL_OK;
}

void edge_frontier_list(struct edge_frontier *f)
{
	const struct topology *t = run_direction(f->run, f->in);
	u64 *bits = f->bits->buffer.host, n = 0;
	u32 k = 0;

	if (!f->dense || !f->capacity || f->n > f->capacity)
		return;
	for (u64 w = 0; n < f->n; w++) {
		for (u64 word = bits[w]; word; word &= word - 1) {
			u64 e = w * 64 + (u64)__builtin_ctzll(word);
			const struct segment *s;

			while (e >= t->segment[k].first_edge + (u64)t->segment[k].n_edges)
				k++;
			s = &t->segment[k];
			f->list[n++] = (struct active_edge){
				e, (vid)(s->first + segment_row_of(s, (u32)(e - s->first_edge)))
			};
		}
		bits[w] = 0;
	}
	f->dense = false;
}

const struct segment *edge_segment(const struct topology *t, const struct active_edge *e, u32 *i)
{
	u32 k = t->n_segments > 1 ? topology_find(t, e->source) : 0;

	while (e->edge >= t->segment[k].first_edge + (u64)t->segment[k].n_edges)
		k++;
	*i = (u32)(e->edge - t->segment[k].first_edge);
	return &t->segment[k];
}
