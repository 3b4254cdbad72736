/* SPDX-License-Identifier: Apache-2.0 */
/* Active vertices as a list, a bitmap or flags of units; frontier.h has the contract. */
#include "engine/frontier.h"

#include <assert.h>
#include <string.h>

static u64 list_capacity(u64 n_vertices) { return n_vertices / 16 + 1024; }

u64 frontier_bytes(u64 n_vertices, u32 buckets)
{
	return 2 * bitmap_words(n_vertices) * sizeof(u64) + piles_bytes(n_vertices, buckets) + 64;
}

u64 frontier_host_bytes(u64 n_vertices)
{
	return max_u64(2 * list_capacity(n_vertices) * sizeof(vid),
		       bitmap_words(n_vertices) * sizeof(u64));
}

mill_err run_frontier(struct mill_run *r, struct frontier **out, u32 buckets)
{
	u64 n = r->store->n_linked, words = bitmap_words(n);
	struct vec *self;
	struct frontier *f;

	TRY(run_turn(r, false));
	/* The frontier's memory is a vector, so that the run frees it. */
	TRY(run_vec_host(r, &self, "frontier", 1, sizeof(*f)));
	f = self->buffer.host;
	f->run = r;
	f->dense = true;
	f->edges_left = run_direction(r, false)->n_edges;
	f->vertices_left = r->store->vertices;
	TRY(run_vec(r, &f->bits, "active vertices", words, sizeof(u64), NULL));
	TRY(run_vec(r, &f->next_bits, "next active vertices", words, sizeof(u64), NULL));
	TRY(run_piles(r, &f->piles, buckets));
	if (!r->device->native) {
		TRY(run_vec_host(r, &self, "active vertices of pages",
				 max_u64(r->graph->out.n_pages, r->graph->in.n_pages) + 2,
				 sizeof(u32)));
		f->page_n = self->buffer.host;
	} else if (run_direction(r, false)->resident) {
		f->capacity = list_capacity(n);
		TRY(run_vec_host(r, &self, "list of active vertices", f->capacity, sizeof(vid)));
		f->list = self->buffer.host;
		TRY(run_vec_host(r, &self, "next list of active vertices", f->capacity,
				 sizeof(vid)));
		f->next_list = self->buffer.host;
	}
	*out = f;
	return MILL_OK;
}

void frontier_restart(struct frontier *f, bool in)
{
	assert(!f->n);
	f->in = in;
	f->pulling = false;
	f->last_n = 0;
	f->edges_left = run_direction(f->run, in)->n_edges;
	f->vertices_left = f->run->store->vertices;
}

mill_err run_unit_frontier(struct mill_run *r, struct frontier **out)
{
	struct frontier *f;
	struct vec *self;

	TRY(run_turn(r, true));
	TRY(run_vec_host(r, &self, "frontier", 1, sizeof(*f)));
	f = self->buffer.host;
	f->run = r;
	TRY(run_vec_host(r, &self, "flags of units", r->transfer.n_flags + 2ull, sizeof(u32)));
	f->flag = self->buffer.host;
	TRY(run_vec_host(r, &self, "active units", r->transfer.units[0].n + 2ull, sizeof(u32)));
	f->unit = self->buffer.host;
	*out = f;
	return MILL_OK;
}

void frontier_turn_units(struct frontier *f, u64 changed)
{
	struct mill_run *r = f->run;

	f->n = r->policy->spread(&r->transfer, f->flag, f->unit) ? max_u64(changed, 1) : 0;
}

/* Activates the units of vertex *first, or all units if first is NULL. */
static mill_err set_units(struct frontier *f, const vid *first, u64 n)
{
	f->n = f->run->policy->begin(&f->run->transfer, f->unit, first) ? n : 0;
	return MILL_OK;
}

mill_err frontier_begin(struct frontier *f, struct vec *value, vid v)
{
	struct mill_run *r = f->run;
	u64 zero = 0;

	r->search.root = v;
	if (v < r->store->n_linked) {
		TRY(vec_set(value, v, &zero));
		return frontier_set(f, v);
	}
	r->search.isolated_root = v;
	r->result.chosen = &r->search.isolated_root;
	r->result.n_chosen = 1;
	return MILL_OK;
}

mill_err frontier_set(struct frontier *f, vid v)
{
	u64 word = (u64)1 << (v % 64);

	if (f->unit)
		return set_units(f, &v, 1);
	f->n = 1;
	f->pulling = false;
	f->edges_left = f->run->store->stored_edges;
	f->vertices_left = f->run->store->vertices;
	if (f->capacity) {
		f->dense = f->marked = false;
		f->list[0] = v;
	} else {
		TRY(vec_set(f->bits, v / 64, &word));
	}
	return frontier_measure(f);
}

/* Sets the first n bits and clears the others. */
static mill_err set_bits(struct vec *bits, u64 n)
{
	u64 ones = ~(u64)0, last = n % 64 ? ((u64)1 << (n % 64)) - 1 : ones, zero = 0;

	if (!n)
		return MILL_OK;
	TRY(device_fill(&bits->buffer, &ones, sizeof(ones)));
	TRY(vec_set(bits, (n - 1) / 64, &last));
	for (u64 w = bitmap_words(n); w < bits->n; w++)
		TRY(vec_set(bits, w, &zero));
	return MILL_OK;
}

mill_err frontier_widths(struct frontier *f, u64 width, bool real)
{
	struct piles *b = &f->piles;

	if (!width || (real && !(f64_of_bits(width) > 0)))
		return fail(MILL_EUSAGE, "the width of buckets must be above 0");
	if (f->unit)
		return MILL_OK;
	b->width = width;
	b->real = real;
	return piles_begin(b, 0);
}

mill_err frontier_wait_all(struct frontier *f, u64 n)
{
	f->piles.border[f->piles.n - 2] = 0;
	return set_bits(f->piles.far, n);
}

mill_err frontier_set_all(struct frontier *f, u64 n)
{
	if (!n)
		return MILL_OK;
	if (f->unit)
		return set_units(f, NULL, n);
	TRY(set_bits(f->bits, n));
	f->n = n;
	f->dense = true;
	return frontier_measure(f);
}

/* Sets the bits of a list. */
static void mark(struct frontier *f)
{
	u64 *bits = f->bits->buffer.host;

	if (f->dense || f->marked)
		return;
	for (u64 i = 0; i < f->n; i++)
		bitmap_put(bits, f->list[i]);
	f->marked = true;
}

mill_err frontier_bits(struct frontier *f, const u64 **out)
{
	struct vec *mirror;

	if (!f->page_n) {
		mark(f);
		*out = f->bits->buffer.host;
		return MILL_OK;
	}
	if (!f->mirror) {
		TRY(run_vec_host(f->run, &mirror, "active vertices on the host", f->bits->n,
				 sizeof(u64)));
		f->mirror = mirror->buffer.host;
	}
	*out = f->mirror;
	return device_read(&f->bits->buffer, 0, f->mirror, f->bits->buffer.size);
}

static mill_err clear(struct frontier *f)
{
	u64 zero = 0, *bits = f->bits->buffer.host;

	if (f->dense)
		return device_fill(&f->bits->buffer, &zero, sizeof(zero));
	for (u64 i = 0; f->marked && i < f->n; i++)
		bits[f->list[i] / 64] = 0;
	return MILL_OK;
}

mill_err frontier_clear(struct frontier *f)
{
	TRY(clear(f));
	f->n = f->work = 0;
	f->dense = true;
	return MILL_OK;
}

mill_err frontier_dense(struct frontier *f)
{
	mark(f);
	f->dense = true;
	return MILL_OK;
}

static mill_err turn(struct frontier *f, bool dense, bool marked, u64 n)
{
	struct vec *bits = f->bits;
	vid *list = f->list;

	TRY(clear(f));
	f->bits = f->next_bits;
	f->next_bits = bits;
	f->list = f->next_list;
	f->next_list = list;
	f->next_n = 0;
	f->last_n = f->n;
	f->n = n;
	f->dense = dense;
	f->marked = marked;
	return MILL_OK;
}

mill_err frontier_turn(struct frontier *f, bool dense, bool marked, u64 n)
{
	TRY(turn(f, dense, marked, n));
	return frontier_measure(f);
}

/* Estimates `work` by the average degree of each page. */
static void estimate_work(struct frontier *f)
{
	const struct pages *p = run_direction(f->run, f->in)->pages;

	f->work = 0;
	for (u32 i = 0; i < p->n_pages; i++)
		f->work += (u64)((f64)f->page_n[i] / p->entry[i].n_rows * p->entry[i].n_edges);
}

mill_err frontier_turn_counted(struct frontier *f, u64 counts[COUNTS_N])
{
	TRY(turn(f, true, false, 0));
	TRY(transfer_census(&f->run->transfer, f->in, f->bits));
	TRY(transfer_count_end(&f->run->transfer, counts, f->page_n));
	f->n = counts[COUNT_EMITTED];
	f->piles.filled |= counts[COUNT_FILLED];
	estimate_work(f);
	return MILL_OK;
}

static mill_err measure_device(struct frontier *f)
{
	u64 counts[COUNTS_N];

	TRY(transfer_count_begin(&f->run->transfer));
	TRY(transfer_census(&f->run->transfer, f->in, f->bits));
	TRY(transfer_count_end(&f->run->transfer, counts, f->page_n));
	estimate_work(f);
	return MILL_OK;
}

/*
 * Counts `work` exactly, because the length of the next list is bounded by it. Moves hubs
 * to the end of the list.
 */
static void count_work(struct frontier *f)
{
	const struct topology *t = run_direction(f->run, f->in);
	u64 n = f->n;

	f->work = 0;
	for (u64 i = 0; i < n;) {
		vid v = f->list[i];
		u64 degree = topology_degree(t, v);

		f->work += degree;
		if (degree > HUB_EDGES) {
			f->list[i] = f->list[--n];
			f->list[n] = v;
		} else {
			i++;
		}
	}
	f->hubs = f->n - n;
}

void frontier_list(struct frontier *f)
{
	const u64 *bits = f->bits->buffer.host;
	u64 n = 0;

	if (!f->dense || f->n > f->capacity)
		return;
	for (u64 w = 0; n < f->n; w++)
		for (u64 word = bits[w]; word; word &= word - 1)
			f->list[n++] = (vid)(w * 64 + (u64)__builtin_ctzll(word));
	f->dense = false;
	f->marked = true;
	count_work(f);
}

mill_err frontier_measure(struct frontier *f)
{
	const struct topology *t = run_direction(f->run, f->in);
	const struct pages *p = t->pages;
	const u64 *bits;

	if (f->page_n)
		return measure_device(f);
	if (!f->dense) {
		count_work(f);
		return MILL_OK;
	}
	/* An exact count would cost a pass, and the average is good enough. */
	if (t->resident) {
		f->work = (u64)((f64)f->n / (f64)max_u64(t->n_rows, 1) * (f64)t->n_edges);
		return MILL_OK;
	}
	f->work = 0;
	TRY(frontier_bits(f, &bits));
	for (u32 i = 0; i < p->n_pages; i++) {
		const struct page_entry *e = &p->entry[i];
		u64 n = bitmap_count(bits, e->first_vertex, (u64)e->first_vertex + e->n_rows);

		f->work += (u64)((f64)n / e->n_rows * e->n_edges);
	}
	return MILL_OK;
}
