/* SPDX-License-Identifier: Apache-2.0 */
/* Makes edge numbers when the graph is loaded; number.h has the contract and the method. */
#include "engine/number.h"

#include "engine/cursor.h"

#define BUFFER 16384u	/* numbers written to disk at a time */

/* Returns true if each edge is in the lists of both of its ends. */
static bool is_symmetric(const struct mill_run *r, const struct need *n)
{
	return n->view || !r->store->directed;
}

/* ---- Bytes ---- */

u64 numbers_most(const struct store *st)
{
	return st->directed ? st->stored_edges + st->self_loops : st->edges;
}

mill_err numbers_need(const struct mill_run *r, struct need *n)
{
	const struct store *st = r->store;
	bool symmetric = is_symmetric(r, n), table = need_table(n, st->directed, !symmetric);
	u64 vertices = st->n_linked * sizeof(u32);

	if (!n->numbers)
		return MILL_OK;
	if (numbers_most(st) >= UINT32_MAX)
		return fail(MILL_ELIMIT, "%s has %llu edges, more than %s can number (%u)",
			    st->path, (unsigned long long)numbers_most(st), n->algorithm,
			    UINT32_MAX - 1);
	/* `next` and `base`; for each page its first position and number; the buffer. */
	n->host += 2 * vertices + 24 * (pages_most(st, n->view) + 2) + BUFFER * sizeof(u32);
	if (table && run_is_native(r))
		n->host += pool_size(r->pool) * page_shape(st, n->view).edges * sizeof(u32);
	if (symmetric && !run_is_native(r))
		n->state += vertices;
	if (table)
		n->resident +=
			view_edges(st) / (st->directed && !n->view ? 2 : 1) * sizeof(u32);
	return MILL_OK;
}

void numbers_release(struct edge_numbers *n)
{
	for (int in = 0; in < 2; in++) {
		if (n->side[in].first)
			beside_close(&n->side[in].file);
		memory_free(n->side[in].first);
		memory_free(n->side[in].page_numbers);
		memory_free(n->side[in].all);
	}
	memory_free(n->base);
	memory_free(n->owned);
	device_buffer_free(&n->on_device);
	*n = (struct edge_numbers){ 0 };
}

/* ---- Making ---- */

struct make_ctx {
	struct mill_run *run;
	struct number_side *side;
	const struct pages *pages;	/* of streamed lists; NULL: they are resident */
	bool symmetric;
	/*
	 * If the lists are not symmetric, numberer.next is, by source, the position of its
	 * next out-edge.
	 */
	struct numberer numberer;
	u64 at;				/* position of the next edge in the lists */
	u32 page;			/* the first page that begins there or later */
	u32 buffer[BUFFER], n_buffer;	/* numbers that are not written yet */
};

/* Fails because the lists of a corrupt store do not agree. */
static mill_err contradiction(const struct make_ctx *m)
{
	return fail(MILL_ECORRUPT, "%s: its lists contradict each other", m->run->store->path);
}

static mill_err flush(struct make_ctx *m)
{
	TRY(beside_write(&m->side->file, m->buffer, m->at - m->n_buffer, m->n_buffer));
	m->n_buffer = 0;
	return MILL_OK;
}

/* Stores the number of the next edge, if the direction has a table. */
static mill_err put(struct make_ctx *m, u32 number)
{
	if (m->side->all) {
		m->side->all[m->at++] = number;
		return MILL_OK;
	}
	m->at++;
	if (!m->side->table)
		return MILL_OK;
	m->buffer[m->n_buffer++] = number;
	return m->n_buffer == BUFFER ? flush(m) : MILL_OK;
}

/* Numbers a run of u's list: the edges of it that lie in one page. */
static mill_err number_run(struct make_ctx *m, vid u, const vid *list, u64 n)
{
	struct edge_numbers *to = &m->run->numbers;

	for (; m->pages && m->symmetric && m->page < m->pages->n_pages &&
	       m->pages->entry[m->page].first_edge <= m->at;
	     m->page++)
		to->owned[m->page] = m->numberer.n;
	for (u64 i = 0; i < n; i++) {
		u32 number = m->symmetric ? numberer_take(&m->numberer, u, list[i])
					  : m->numberer.next[list[i]]++;

		if (number >= m->numberer.n)
			return contradiction(m);
		TRY(put(m, number));
	}
	return MILL_OK;
}

static void begin_row(struct make_ctx *m, vid u)
{
	if (m->symmetric)
		numberer_row(&m->numberer, u);
}

static void end_row(struct make_ctx *m, vid u)
{
	if (m->symmetric)
		m->run->numbers.base[u] = (u32)(m->numberer.n - m->at);
}

static mill_err number_resident(struct make_ctx *m, const struct topology *t)
{
	for (u32 k = 0; k < t->n_segments; k++) {
		const struct segment *s = &t->segment[k];

		for (vid row = 0; row < s->n_rows; row++) {
			vid u = (vid)(s->first + row);

			if (row || !s->skip)
				begin_row(m, u);
			TRY(number_run(m, u, s->neighbour + s->row[row],
				       s->row[row + 1] - s->row[row]));
			end_row(m, u);
			if (u % 1024 == 0)
				TRY(ticker_tick(&m->run->ticker, 0));
		}
	}
	return MILL_OK;
}

static mill_err number_streamed(struct make_ctx *m, struct cursor *c)
{
	for (u64 u = 0; u < m->pages->n_rows; u++) {
		TRY(cursor_seek(c, u));
		begin_row(m, (vid)u);
		while (c->at < c->end) {
			TRY(number_run(m, (vid)u, c->at, (u64)(c->end - c->at)));
			TRY(cursor_more(c));
		}
		end_row(m, (vid)u);
		if (u % 1024 == 0)
			TRY(ticker_tick(&m->run->ticker, c->n_read));
	}
	return m->n_buffer ? flush(m) : MILL_OK;
}

static mill_err number_lists(struct make_ctx *m, const struct topology *t)
{
	struct cursor c;
	mill_err err;

	if (t->resident)
		return number_resident(m, t);
	m->pages = t->pages;
	TRY(cursor_open(&c, t->pages, &m->run->budget));
	err = number_streamed(m, &c);
	cursor_close(&c);
	return err;
}

/* Makes room for the table of a direction: in memory, or in a file. */
static mill_err open_side(struct mill_run *r, struct number_side *s, const struct topology *t)
{
	const struct pages *p = t->pages;
	mill_err err;
	char *dir;

	s->table = true;
	if (t->resident)
		return memory_new(&s->all, &r->budget, t->n_edges, sizeof(u32), "edge numbers");
	TRY(view_dir(&dir, r->store, &r->budget));
	err = memory_new(&s->first, &r->budget, p->n_pages + 1u, sizeof(u64), "edge numbers");
	if (!err) {
		for (u32 i = 0; i < p->n_pages; i++)
			s->first[i] = p->entry[i].first_edge;
		s->first[p->n_pages] = t->n_edges;
		err = beside_open(&s->file, dir, s->first, p->n_pages, sizeof(u32));
	}
	memory_free(dir);
	if (!err && run_is_native(r))
		err = memory_new(&s->page_numbers, &r->budget, pool_size(r->pool) * s->file.most,
				 sizeof(u32), "edge numbers");
	return err;
}

/*
 * Sets next[v] to the position of v's first out-edge. In-lists ascend by source, so the
 * k-th in-list that shows x shows the k-th out-edge of x.
 */
static mill_err find_positions(const struct mill_run *r, u32 *next)
{
	u32 sum = 0;

	TRY(store_read(r->store, STORE_OUT_DEGREES, next, r->store->sources * sizeof(u32), 0));
	for (u64 v = 0; v < r->store->n_linked; v++) {
		u32 degree = v < r->store->sources ? next[v] : 0;

		next[v] = sum;
		sum += degree;
	}
	return MILL_OK;
}

/* Gives the segments of resident lists their numbers. */
static void attach(const struct edge_numbers *n, const struct number_side *s, struct segment *seg,
		   u32 n_segments)
{
	for (u32 i = 0; i < n_segments; i++) {
		seg[i].number = s->all ? s->all + seg[i].first_edge : NULL;
		seg[i].base = n->base;
	}
}

static mill_err number_direction(struct make_ctx *m, struct topology *t, bool in)
{
	struct mill_run *r = m->run;
	struct edge_numbers *n = &r->numbers;

	m->side = &n->side[in];
	if (need_table(&r->need, r->store->directed, in))
		TRY(open_side(r, m->side, t));
	else if (!m->symmetric)
		return MILL_OK;
	if (!m->symmetric)
		TRY(find_positions(r, m->numberer.next));
	TRY(number_lists(m, t));
	if (t->resident) {
		attach(n, m->side, t->segment, t->n_segments);
		attach(n, m->side, t->piece, t->n_pieces);
	}
	return MILL_OK;
}

/*
 * Makes the table of the first number that each page owns, for state by edge that is
 * streamed. Numbers are positions if the lists are not symmetric.
 */
static mill_err open_owned(struct mill_run *r, const struct pages *p)
{
	struct edge_numbers *n = &r->numbers;

	TRY(memory_new(&n->owned, &r->budget, p->n_pages + 1u, sizeof(u64), "edge numbers"));
	n->n_pages = p->n_pages;
	for (u32 i = 0; i < p->n_pages; i++)
		n->owned[i] = p->entry[i].first_edge;
	return MILL_OK;
}

static mill_err make(struct make_ctx *m)
{
	struct mill_run *r = m->run;
	struct edge_numbers *n = &r->numbers;
	struct topology *out = run_direction(r, false);
	u64 vertices = max_u64(r->store->n_linked, 1);

	TRY(memory_new(&m->numberer.next, &r->budget, vertices, sizeof(u32),
		       "the numbers of edges"));
	if (m->symmetric)
		TRY(memory_new(&n->base, &r->budget, vertices, sizeof(u32),
			       "the numbers of edges"));
	else
		m->numberer.n = r->store->stored_edges;
	if (!out->resident)
		TRY(open_owned(r, out->pages));
	TRY(number_direction(m, out, false));
	if (!m->symmetric)
		TRY(number_direction(m, run_direction(r, true), true));
	n->n = m->numberer.n;
	if (n->owned)
		n->owned[n->n_pages] = n->n;
	return n->n > numbers_most(r->store) ? contradiction(m) : MILL_OK;
}

mill_err numbers_make(struct mill_run *r)
{
	struct make_ctx *m;
	mill_err err;

	if (!r->need.numbers)
		return MILL_OK;
	TRY(memory_new(&m, &r->budget, 1, sizeof(*m), "the numbers of edges"));
	m->run = r;
	m->symmetric = is_symmetric(r, &r->need);
	ticker_begin(&r->ticker, "number", "pages", 0);
	err = make(m);
	memory_free(m->numberer.next);
	memory_free(m);
	return err;
}

mill_err numbers_place(struct mill_run *r)
{
	struct edge_numbers *n = &r->numbers;
	u64 size = r->store->n_linked * sizeof(u32);

	if (!n->base || r->device->native || !size)
		return MILL_OK;
	TRY(device_buffer(r->device, &n->on_device, size, "the numbers of edges"));
	return device_write(&n->on_device, 0, n->base, size);
}

/* ---- Use ---- */

mill_err numbers_attach(struct mill_run *r, bool in, enum numbers which, u32 page, unsigned worker,
			struct segment *seg, u64 *bytes)
{
	const struct number_side *s = &r->numbers.side[in && !is_symmetric(r, &r->need)];

	seg->base = r->numbers.base;
	if (!s->table || which != NUMBERS_BOTH)
		return MILL_OK;
	seg->number = s->page_numbers + worker * s->file.most;
	__atomic_fetch_add(bytes, beside_elements(&s->file, page) * sizeof(u32), __ATOMIC_RELAXED);
	return beside_read_page(&s->file, s->page_numbers + worker * s->file.most, page);
}
