/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orients the graph: filters the lists in memory, or writes them, list by list, as a
 * temporary store of whole lists. Then cuts them into pieces and passes the pieces to a
 * caller.
 */
#include "op/orient.h"

#include "engine/cursor.h"
#include "engine/number.h"
#include "store/page.h"
#include "store/writer.h"

/*
 * Returns a bound of the length of an oriented list: its n neighbours all have degrees of
 * at least n, so n * n is at most the number of stored edges. Up to 1/64 too large.
 */
static u64 longest(u64 edges)
{
	u64 root = 1;

	while (root * root <= edges && root < UINT32_MAX)
		root += root < 1024 ? 1 : root / 64;
	return root;
}

/* Returns true if edge {u, v} leads from u to v. */
static bool leads(const struct oriented *o, vid u, vid v)
{
	return o->degree[u] != o->degree[v] ? o->degree[u] < o->degree[v] : u < v;
}

/* ---- Lists in memory ---- */

u64 oriented_resident_bytes(const struct mill_run *r, bool weights)
{
	u64 edges = view_edges(r->store);

	return (r->store->n_linked + 1) * sizeof(u32) +
	       edges / 2 * (sizeof(vid) + (weights ? sizeof(u32) : 0)) + 64 * KIB;
}

/* The lists that are made in memory. */
struct fill_ctx {
	const struct oriented *lists;
	const struct segment *from;
	u32 *row;
	vid *list;
	u32 *weight;
	struct numberer numberer;	/* next NULL: edges get no numbers */
};

static mill_err count_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct fill_ctx *f = arg;
	const struct segment *s = f->from;

	(void)worker;
	for (u64 u = begin; u < end; u++)
		for (u32 i = s->row[u]; i < s->row[u + 1]; i++)
			f->row[u + 1] += leads(f->lists, (vid)u, s->neighbour[i]);
	return MILL_OK;
}

static mill_err fill_lists(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct fill_ctx *f = arg;
	const struct segment *s = f->from;

	(void)worker;
	for (u64 u = begin; u < end; u++) {
		u32 at = f->row[u], number = 0;

		if (f->numberer.next)
			numberer_row(&f->numberer, (vid)u);
		for (u32 i = s->row[u]; i < s->row[u + 1]; i++) {
			if (f->numberer.next)
				number = numberer_take(&f->numberer, (vid)u, s->neighbour[i]);
			if (!leads(f->lists, (vid)u, s->neighbour[i]))
				continue;
			if (f->weight)
				f->weight[at] =
					f->numberer.next ? number : ((const u32 *)s->weight)[i];
			f->list[at++] = s->neighbour[i];
		}
	}
	return MILL_OK;
}

/* With edge numbers one thread fills all lists, because numbers are taken in row order. */
static mill_err fill_all(struct fill_ctx *f, u64 rows)
{
	struct mill_run *r = f->lists->run;
	mill_err err;

	if (!f->lists->numbers)
		return pool_for(r->pool, rows, 4096, fill_lists, f);
	TRY(memory_new(&f->numberer.next, &r->budget, r->store->n_linked + 1, sizeof(u32),
		       "the numbers of edges"));
	err = fill_lists(f, 0, rows, 0);
	memory_free(f->numberer.next);
	return err;
}

static mill_err orient_in_memory(struct oriented *o)
{
	struct mill_run *r = o->run;
	const struct topology *t = run_direction(r, false);
	struct fill_ctx f = { .lists = o, .from = t->segment };
	u64 n = r->store->n_linked, rows = t->n_segments ? t->segment->n_rows : 0;
	struct vec *v;

	TRY(run_vec_host(r, &v, "oriented lists", n + 1, sizeof(u32)));
	f.row = v->buffer.host;
	TRY(pool_for(r->pool, rows, 4096, count_lists, &f));
	for (u64 u = 0; u < n; u++)
		f.row[u + 1] += f.row[u];
	TRY(run_vec_host(r, &v, "oriented lists", f.row[n], sizeof(vid)));
	f.list = v->buffer.host;
	if (o->weights) {
		TRY(run_vec_host(r, &v, "oriented lists", f.row[n], sizeof(u32)));
		f.weight = v->buffer.host;
	}
	TRY(fill_all(&f, rows));
	o->all = (struct segment){
		.n_rows = (vid)n,
		.n_edges = f.row[n],
		.row = f.row,
		.neighbour = f.list,
		.weight = f.weight,
	};
	return MILL_OK;
}

/* ---- Lists on disk ---- */

mill_err oriented_page(const struct mill_run *r, u64 edges, bool weights, u32 *out)
{
	u64 size = r->store->page_size,
	    need = page_bytes(1, longest(edges), weights ? sizeof(u32) : 0);

	while (size < need)
		size *= 2;
	if (size > PAGE_SIZE_MAX)
		return fail(MILL_ELIMIT, "%s has more edges than can be intersected on disk",
			    r->store->path);
	*out = (u32)size;
	return MILL_OK;
}

u64 oriented_disk_bytes(const struct mill_run *r, bool weights)
{
	u64 edges = view_edges(r->store), making;
	u32 page = 0;

	if (oriented_page(r, edges, weights, &page))
		return 0;	/* the run fails with this error later and reports it */
	making = max_u64(view_making_bytes(r->store), (ORIENTED_FRAMES + 2) * (u64)page) +
		 4 * (u64)page + longest(edges) * (sizeof(vid) + sizeof(u32));
	/* Half of RUN_ROOM is for frames of the run's stream, which is closed meanwhile. */
	making = making > RUN_ROOM / 2 ? making - RUN_ROOM / 2 : 0;
	return making + temporary_bytes(r->store->n_linked, edges, page,
					weights ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE);
}

/* The list that is written. */
struct write_ctx {
	struct store_writer *writer;
	vid *list;
	u32 *weight;
	u64 most;			/* elements of list and weight */
	struct numberer numberer;	/* next NULL: edges get no numbers */
};

static mill_err write_list(struct oriented *o, struct write_ctx *w, struct cursor *c, vid u)
{
	u64 n = 0;

	TRY(cursor_seek(c, u));
	if (o->numbers)
		numberer_row(&w->numberer, u);
	while (c->at < c->end) {
		const u32 *weight = c->weight;

		for (; c->at < c->end; c->at++, weight += weight != NULL) {
			u32 number = o->numbers ? numberer_take(&w->numberer, u, *c->at) : 0;

			if (!leads(o, u, *c->at))
				continue;
			if (n == w->most)
				return fail(MILL_ECORRUPT,
					    "%s: degrees and lists contradict each other",
					    o->run->store->path);
			w->list[n] = *c->at;
			w->weight[n++] = o->numbers ? number : weight ? *weight : 1;
		}
		TRY(cursor_more(c));
	}
	return writer_list(w->writer, true, w->list, w->weight, n);
}

static mill_err write_lists(struct oriented *o, struct write_ctx *w)
{
	struct mill_run *r = o->run;
	struct cursor c;
	mill_err err;

	TRY(cursor_open(&c, run_direction(r, false)->pages, &r->budget));
	err = memory_new(&w->list, &r->budget, w->most, sizeof(vid), "an oriented list");
	if (!err)
		err = memory_new(&w->weight, &r->budget, w->most, sizeof(u32), "an oriented list");
	if (!err && o->numbers)
		err = memory_new(&w->numberer.next, &r->budget, r->store->n_linked + 1, sizeof(u32),
				 "the numbers of edges");
	for (u64 u = 0; !err && u < r->store->n_linked; u++) {
		err = write_list(o, w, &c, (vid)u);
		if (!err && u % 1024 == 0)
			err = ticker_tick(&r->ticker, c.n_read);
	}
	memory_free(w->numberer.next);
	memory_free(w->weight);
	memory_free(w->list);
	cursor_close(&c);
	return err;
}

static mill_err orient_on_disk(struct oriented *o)
{
	struct mill_run *r = o->run;
	const struct topology *t = run_direction(r, false);
	struct store_facts facts = {
		.vertices = r->store->n_linked,
		.n_linked = r->store->n_linked,
		.directed = true,
		.in_pages = true,
		.weight = o->weights ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE,
		.codec = PAGE_RAW,	/* pages are used many times: nothing to decode */
		.whole_lists = true,
	};
	struct write_ctx w = { .most = longest(t->n_edges) };
	mill_err err;
	char *dir;

	TRY(oriented_page(r, t->n_edges, o->weights, &facts.page_size));
	TRY(view_dir(&dir, r->store, &r->budget));
	err = writer_open_temporary(&w.writer, dir, &r->budget);
	memory_free(dir);
	if (err)
		return err;
	err = writer_begin(w.writer, &facts);
	if (!err)
		err = write_lists(o, &w);
	if (err) {
		writer_abandon(w.writer);
		return err;
	}
	TRY(writer_keep(w.writer, &o->store));
	o->pages = &o->store->in;
	return MILL_OK;
}

bool oriented_in_memory(const struct mill_run *r)
{
	const struct topology *t = run_direction((struct mill_run *)r, false);

	return t->resident && t->n_segments <= 1 && (!t->n_segments || !t->segment->first);
}

mill_err oriented_open(struct oriented *o, struct mill_run *r, const u32 *degree, bool numbers)
{
	*o = (struct oriented){ .run = r,
				.degree = degree,
				.weights = numbers || r->need.view == VIEW_ARCS,
				.numbers = numbers };
	if (oriented_in_memory(r))
		return orient_in_memory(o);
	run_pause_stream(r);
	return orient_on_disk(o);
}

void oriented_close(struct oriented *o)
{
	stream_close(o->stream);
	store_close(o->store);
	*o = (struct oriented){ 0 };
}

/* ---- Pieces ---- */

/* Returns the end of the piece that begins at row `first`. It has at least one row. */
static u64 cut_at(const struct oriented *o, u64 first, u64 most)
{
	const u32 *row = o->all.row;
	u64 end = first + 1;

	while (end < o->all.n_rows &&
	       piece_bytes(end + 1 - first, row[end + 1] - row[first], o->weights) <= most)
		end++;
	return end;
}

mill_err oriented_cut(struct oriented *o, u64 most)
{
	struct vec *v;
	u32 n = 0;

	if (o->store) {
		o->n_pieces = o->pages->n_pages;
		return MILL_OK;
	}
	for (u64 at = 0; at < o->all.n_rows; at = cut_at(o, at, most))
		n++;
	TRY(run_vec_host(o->run, &v, "pieces of oriented lists", (u64)n + 1, sizeof(vid)));
	o->cut = v->buffer.host;
	o->n_pieces = n;
	for (u32 i = 0; i < n; i++)
		o->cut[i + 1] = (vid)cut_at(o, o->cut[i], most);
	return MILL_OK;
}

struct piece oriented_piece(const struct oriented *o, u32 i)
{
	const u32 *row = o->all.row;

	if (o->store) {
		const struct page_entry *e = &o->pages->entry[i];

		return (struct piece){ (vid)e->first_vertex, e->n_rows, e->n_edges, e->first_edge };
	}
	return (struct piece){ o->cut[i], (u32)(o->cut[i + 1] - o->cut[i]),
			       row[o->cut[i + 1]] - row[o->cut[i]], row[o->cut[i]] };
}

static mill_err pass_memory(struct oriented *o, const struct oriented_pass *p)
{
	for (u32 i = 0; i < o->n_pieces; i++) {
		struct piece x = oriented_piece(o, i);
		u32 at = o->all.row[x.first];
		struct segment seg = {
			.first = x.first,
			.n_rows = (vid)x.n_rows,
			.n_edges = x.n_edges,
			.row = o->all.row + x.first,
			.neighbour = o->all.neighbour + at,
			.weight = o->weights ? (const u32 *)o->all.weight + at : NULL,
		};

		if (!p->wanted(p->arg, i))
			continue;
		TRY(p->take(p->arg, i, &seg));
		TRY(ticker_tick(&o->run->ticker, i));
	}
	return MILL_OK;
}

static mill_err take_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	const struct oriented_pass *p = arg;

	(void)worker;
	return p->take(p->arg, page, seg);
}

static bool page_wanted(void *arg, u32 page)
{
	const struct oriented_pass *p = arg;

	return p->wanted(p->arg, page);
}

mill_err oriented_pass(struct oriented *o, const struct oriented_pass *p, struct mill_step *step)
{
	struct stream_pass sp = {
		.pages = o->pages,
		.active = page_wanted,
		.work = take_page,
		.arg = (void *)p,
		.in_order = true,
		.ticker = &o->run->ticker,
	};
	mill_err err;

	if (!o->store)
		return pass_memory(o, p);
	err = stream_run(o->stream, &sp);
	sp.n_active = sp.n_reused = 0;	/* the device counts its own */
	step_add_pass(step, &sp);
	return err;
}
