/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op_mode: the most frequent value of every list, natively and with the kernels of mode.cl.
 * It takes no program: for every vertex the value that most neighbours have in one array
 * goes to another array; of several equally frequent values, the smallest.
 *
 * Values are counted in hash tables. On a device a list that lies whole in its segment has a
 * region of the scratch for twice its length, so kernels need MODE_SCRATCH (17) bytes for
 * each edge of a page, or of a window of pages where all pages are one segment. On the host
 * each worker has one table.
 *
 * Lists that are cut between pages, and on the host lists of more than LONG neighbours, are
 * counted one after the other in an array with a counter for each value. Each list counts
 * from a base that no counter has reached yet, so the array is cleared only when 32 bits
 * are used up.
 *
 * Without room for all pages on the device, a pass takes as many pages as there are slots,
 * then the cut lists that end among them, and so on. Every other pass goes backwards. So an
 * iteration moves about as many pages as have no slot.
 */
#include <string.h>

#include "engine/cursor.h"
#include "op/op.h"

/* On the host, longer lists are not counted in a table. */
#define LONG 16384u
#define TABLE (2 * LONG)	/* a power of two */
#define NO_VALUE UINT32_MAX

/* The hash table of a worker. */
struct table {
	u32 value[TABLE];
	u32 count[TABLE];
};

/* On a device: a list that spans windows, and so pages. */
struct cut_list {
	vid vertex;
	u32 first_page, last_page;
	u64 edges;		/* upper bound of its length */
};

struct mode_finder {
	struct vec *counter;	/* u32 for each value */
	u64 base;		/* no counter is above it */
	/* On the host: */
	struct table *table;	/* one per worker */
	/* Bitmap of the vertices that are counted after a pass: the same in every pass. */
	u64 *late;
	u64 n_late;		/* number of bits in it; atomic */
	void *frame;		/* a page for their lists */
	/*
	 * On a device. A window is a run of pages that share the scratch; if pages are in
	 * slots, each page is a window. window: the first page of each, then the number of
	 * pages.
	 */
	struct cut_list *cut;
	u32 *window, *page_n;
	u32 n_cuts, n_windows;
	bool backwards;		/* the next pass begins with the pages that the last one left */
	/* n_long: by window. cut_vertex, best: by cut list. */
	struct vec *n_long, *cut_vertex, *best;
};

struct mode_ctx {
	struct mill_run *run;
	struct mode_finder *finder;
	const struct vec *from, *to;
	u64 changed;		/* atomic */
	u32 held;		/* the number of the page in the frame, + 1; 0: none */
	struct segment page;	/* that page, decoded */
	u32 cut;		/* the cut list that is counted now */
};

/* ---- Passes on the host ---- */

struct best {
	u32 value, count;
};

/* Updates the best value with one that was seen `count` times. */
static inline void improve(struct best *b, u32 value, u32 count)
{
	if (count > b->count || (count == b->count && value < b->value))
		*b = (struct best){ value, count };
}

static u32 most_frequent(const u32 *from, struct table *t, const vid *neighbour, u32 n)
{
	struct best best = { NO_VALUE, 0 };
	u32 size = 16, mask;

	while (size < 2 * n)
		size *= 2;
	mask = size - 1;
	memset(t->value, 0xff, size * sizeof(u32));
	for (u32 i = 0; i < n; i++) {
		u32 value = from[neighbour[i]], at = value * 2654435769u & mask;

		while (t->value[at] != value && t->value[at] != NO_VALUE)
			at = (at + 1) & mask;
		if (t->value[at] == NO_VALUE) {
			t->value[at] = value;
			t->count[at] = 0;
		}
		improve(&best, value, ++t->count[at]);
	}
	return best.value;
}

static mill_err find_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			  unsigned worker)
{
	struct mode_ctx *f = arg;
	const u32 *from = f->from->buffer.host;
	u32 *to = f->to->buffer.host;
	u64 changed = 0, late = 0;

	(void)page;
	for (vid row = begin; row < end; row++) {
		u64 v = (u64)seg->first + row;
		u32 n = seg->row[row + 1] - seg->row[row];

		if (row + 1 < end)
			__builtin_prefetch(&seg->neighbour[seg->row[row + 1]]);
		if (segment_row_is_partial(seg, row) || n > LONG) {
			late += bitmap_claim(f->finder->late, v);
			continue;
		}
		to[v] = n ? most_frequent(from, &f->finder->table[worker],
					  seg->neighbour + seg->row[row], n) :
			    from[v];
		changed += to[v] != from[v];
	}
	__atomic_fetch_add(&f->changed, changed, __ATOMIC_RELAXED);
	__atomic_fetch_add(&f->finder->n_late, late, __ATOMIC_RELAXED);
	return MILL_OK;
}

/*
 * Sets *base for a list of at most `edges` neighbours, and moves the next base behind it.
 * Clears the counters if 32 bits do not suffice.
 */
static mill_err count_from(struct mode_finder *m, u64 edges, u32 *base)
{
	u64 zero = 0;

	if (m->base + edges > UINT32_MAX) {
		TRY(device_fill(&m->counter->buffer, &zero, sizeof(u32)));
		m->base = 0;
	}
	*base = (u32)m->base;
	m->base = min_u64(m->base + edges, UINT32_MAX);
	return MILL_OK;
}

static void count_piece(struct mode_ctx *f, u32 base, struct best *best, const struct segment *seg,
			vid row)
{
	u32 *counter = f->finder->counter->buffer.host;
	const u32 *from = f->from->buffer.host;

	for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
		u32 value = from[seg->neighbour[i]], *c = &counter[value];

		*c = (*c < base ? base : *c) + 1;
		improve(best, value, *c - base);
	}
}

/* Counts the list of v in resident segments. */
static mill_err count_resident(struct mode_ctx *f, struct best *best, vid v)
{
	const struct topology *t = run_direction(f->run, false);
	u32 base;

	TRY(count_from(f->finder, topology_degree(t, v), &base));
	for (u32 i = topology_find(t, v); i < t->n_segments && t->segment[i].first <= v; i++)
		count_piece(f, base, best, &t->segment[i], (vid)(v - t->segment[i].first));
	return MILL_OK;
}

/*
 * Finds the pages of v's list. Returns an upper bound of its length: all edges of those
 * pages.
 */
static u64 pages_of(const struct pages *p, vid v, u32 *first, u32 *last)
{
	u64 edges = 0;
	u32 i = *first = pages_find(p, v);

	for (; i < p->n_pages && p->entry[i].first_vertex <= v; i++)
		edges += p->entry[i].n_edges;
	*last = i - 1;
	return edges;
}

/* Counts the list of v in pages, which this thread reads. */
static mill_err count_pages(struct mode_ctx *f, struct best *best, vid v, struct mill_step *step)
{
	const struct pages *p = run_direction(f->run, false)->pages;
	u32 i, last, base;

	TRY(count_from(f->finder, pages_of(p, v, &i, &last), &base));
	for (; i <= last; i++) {
		if (f->held != i + 1) {
			f->held = 0;
			TRY(page_read(p, i, f->finder->frame));
			TRY(page_decode(p, i, f->finder->frame, &f->page));
			f->held = i + 1;
			step->pages_read++;
			step->disk_read += p->store->page_size;
		}
		count_piece(f, base, best, &f->page, (vid)(v - f->page.first));
	}
	return MILL_OK;
}

static mill_err find_late(struct mode_ctx *f, struct mill_step *step)
{
	bool resident = run_direction(f->run, false)->resident;
	u64 words = bitmap_words(f->run->store->n_linked);
	const u32 *from = f->from->buffer.host;
	u32 *to = f->to->buffer.host;

	for (u64 w = 0; f->finder->n_late && w < words; w++)
		for (u64 word = f->finder->late[w]; word; word &= word - 1) {
			vid v = (vid)(w * 64 + (u64)__builtin_ctzll(word));
			struct best best = { NO_VALUE, 0 };

			TRY(resident ? count_resident(f, &best, v) :
				       count_pages(f, &best, v, step));
			to[v] = best.count ? best.value : from[v];
			f->changed += to[v] != from[v];
			TRY(ticker_tick(&f->run->ticker, 0));
		}
	return MILL_OK;
}

static mill_err find_native(struct mode_ctx *f, struct mill_step *step)
{
	struct pass pass = { .work = find_rows, .arg = f };

	TRY(run_pass(f->run, &pass, step));
	return find_late(f, step);
}

/* ---- Passes on a device ---- */

static const char *const mode_text[] = { "device/dialect.h", "op/page.cl", "op/mode.cl" };
static const struct kernel_source mode_source = { "mode", mode_text, ARRAY_LEN(mode_text) };

/*
 * Returns the number of work-groups for n neighbours. Groups without work are cheap, but
 * not free.
 */
static u64 groups_for(const struct mill_run *r, u64 n, u64 each)
{
	return min_u64(div_up(n, each), r->device->chunked ? 64 : 1024);
}

/*
 * Counts the long lists that mode_rows found in a window. edges: the number of edges of the
 * window.
 */
static mill_err launch_long(struct mode_ctx *f, const struct device_segment *seg, u32 window,
			    u32 begin, u64 edges)
{
	struct mode_finder *m = f->finder;
	u32 list_at = (u32)(4 * f->run->transfer.scratch_edges);
	struct kernel_call l;

	launch_begin_kernel(&l, &mode_source, "mode_long");
	launch_vec(&l, f->from);
	launch_vec(&l, f->to);
	launch_segment(&l, seg);
	launch_u32(&l, &begin);
	launch_buffer(&l, &seg->area->scratch);
	launch_u32(&l, &list_at);
	launch_vec(&l, m->n_long);
	launch_u32(&l, &window);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	return launch_groups(f->run->device, &l, groups_for(f->run, edges, MODE_LONG_LEAST));
}

/* Counts the rows of a window, without the lists that are cut at its ends. */
static mill_err launch_window(struct mode_ctx *f, const struct device_segment *seg, u32 window)
{
	struct mode_finder *m = f->finder;
	const struct pages *p = run_direction(f->run, false)->pages;
	u32 first_page = m->window[window], end_page = m->window[window + 1];
	const struct page_entry *one = &p->entry[first_page], *last = &p->entry[end_page - 1];
	u32 list_at = (u32)(4 * f->run->transfer.scratch_edges);
	u32 begin = one->first_vertex - seg->first + (one->skip != 0);
	u32 end = last->first_vertex + last->n_rows - seg->first -
		  (end_page < p->n_pages && last[1].skip);
	u64 edges = last->first_edge + last->n_edges - one->first_edge;
	struct kernel_call l;

	if (begin >= end)
		return MILL_OK;
	launch_begin_kernel(&l, &mode_source, "mode_rows");
	launch_vec(&l, f->from);
	launch_vec(&l, f->to);
	launch_segment(&l, seg);
	launch_u32(&l, &begin);
	launch_u32(&l, &end);
	launch_buffer(&l, &seg->area->scratch);
	launch_u32(&l, &list_at);
	launch_vec(&l, m->n_long);
	launch_u32(&l, &window);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	TRY(launch_items(f->run->device, &l, end - begin, ITEM_ROWS));
	return edges > MODE_LONG_LEAST ? launch_long(f, seg, window, begin, edges) : MILL_OK;
}

/* Counts the piece of the current cut list that the segment has. */
static mill_err launch_piece(struct mode_ctx *f, const struct device_segment *seg, u32 base)
{
	struct mode_finder *m = f->finder;
	const struct cut_list *cut = &m->cut[f->cut];
	u32 row = cut->vertex - seg->first;
	struct kernel_call l;

	launch_begin_kernel(&l, &mode_source, "mode_piece");
	launch_vec(&l, f->from);
	launch_segment(&l, seg);
	launch_u32(&l, &row);
	launch_vec(&l, m->counter);
	launch_u32(&l, &base);
	launch_vec(&l, m->best);
	launch_u32(&l, &f->cut);
	return launch_groups(f->run->device, &l,
			     groups_for(f->run, min_u64(cut->edges, seg->n_edges),
					(u64)ITEM_EDGES * f->run->device->group));
}

/* All pages are one segment: counts its windows, then the lists that the windows cut. */
static mill_err find_whole(void *arg, const struct device_segment *seg)
{
	struct mode_ctx *f = arg;
	u32 base;

	for (u32 i = 0; i < f->finder->n_windows; i++)
		TRY(launch_window(f, seg, i));
	for (f->cut = 0; f->cut < f->finder->n_cuts; f->cut++) {
		TRY(count_from(f->finder, f->finder->cut[f->cut].edges, &base));
		TRY(launch_piece(f, seg, base));
	}
	return MILL_OK;
}

static mill_err find_page(void *arg, const struct device_segment *seg)
{
	return launch_window(arg, seg, seg->unit);
}

struct count_ctx {
	struct mode_ctx *mode;
	u32 base;
};

static mill_err count_page(void *arg, const struct device_segment *seg)
{
	struct count_ctx *c = arg;

	return launch_piece(c->mode, seg, c->base);
}

/* Makes a pass over pages [begin, end). */
static mill_err pass_over(struct mode_ctx *f, u32 begin, u32 end,
			  mill_err (*launch)(void *, const struct device_segment *), void *arg,
			  struct mill_step *step)
{
	u32 *page_n = f->finder->page_n;
	struct device_pass pass = { .activity = { .n = page_n, .subset = true },
				    .launch = launch,
				    .arg = arg };
	mill_err err;

	for (u32 i = begin; i < end; i++)
		page_n[i] = 1;
	err = transfer_pass(&f->run->transfer, &pass, step);
	for (u32 i = begin; i < end; i++)
		page_n[i] = 0;
	return err;
}

/* Counts a cut list in a pass of its own. Its pieces may come in any order. */
static mill_err count_cut(struct mode_ctx *f, u32 cut, struct mill_step *step)
{
	const struct cut_list *c = &f->finder->cut[cut];
	struct count_ctx count = { .mode = f };

	f->cut = cut;
	TRY(count_from(f->finder, c->edges, &count.base));
	return pass_over(f, c->first_page, c->last_page + 1, count_page, &count, step);
}

/*
 * Makes a pass over as many pages as there are slots, then counts the lists that end among
 * them, with pages that are mostly on the device still; and so on. Every other call goes
 * backwards, so that it begins with the pages that the call before left on the device.
 */
static mill_err find_slots(struct mode_ctx *f, struct mill_step *step)
{
	struct mode_finder *m = f->finder;
	u32 n_pages = m->n_windows, some = (u32)min_u64(transfer_stays(&f->run->transfer), n_pages),
	    cut = 0;

	for (u32 done = 0; done < n_pages; done += some) {
		u32 n = (u32)min_u64(some, n_pages - done),
		    begin = m->backwards ? n_pages - done - n : done;

		TRY(pass_over(f, begin, begin + n, find_page, f, step));
		for (; cut < m->n_cuts; cut++) {
			u32 i = m->backwards ? m->n_cuts - 1 - cut : cut;

			if (m->backwards ? m->cut[i].first_page < begin :
					   m->cut[i].last_page >= begin + n)
				break;
			TRY(count_cut(f, i, step));
		}
	}
	m->backwards = !m->backwards;
	return MILL_OK;
}

static mill_err finish_cuts(struct mode_ctx *f)
{
	struct mode_finder *m = f->finder;
	struct kernel_call l;

	launch_begin_kernel(&l, &mode_source, "mode_finish");
	launch_vec(&l, f->from);
	launch_vec(&l, f->to);
	launch_vec(&l, m->cut_vertex);
	launch_vec(&l, m->best);
	launch_u32(&l, &m->n_cuts);
	launch_buffer(&l, transfer_counts(&f->run->transfer));
	return launch_items(f->run->device, &l, m->n_cuts, 1);
}

static mill_err find_device(struct mode_ctx *f, struct mill_step *step)
{
	struct device_pass whole = { .launch = find_whole, .arg = f };
	u64 counts[COUNTS_N], zero = 0;

	if (!f->finder->n_windows)
		return MILL_OK;
	TRY(ticker_tick(&f->run->ticker, 0));
	TRY(device_fill(&f->finder->n_long->buffer, &zero, sizeof(u32)));
	TRY(transfer_count_begin(&f->run->transfer));
	TRY(f->run->transfer.whole ? transfer_pass(&f->run->transfer, &whole, step) :
				     find_slots(f, step));
	TRY(finish_cuts(f));
	TRY(transfer_count_end(&f->run->transfer, counts, NULL));
	f->changed = counts[COUNT_UPDATES];
	return MILL_OK;
}

/* ---- The operator ---- */

/* Returns the most pages that the graph can have. A view can have more pages than the store. */
static u64 most_pages(const struct store *st, const struct need *n)
{
	return ((u64)st->out.n_pages + (st->directed && st->has_in ? st->in.n_pages : 0)) *
		       (n->view ? 4 : 1) +
	       2;
}

static void add_bytes(const struct declaration *d, const struct declared *x, struct need *n)
{
	const struct mill_run *r = d->run;
	const struct store *st = r->store;
	u64 pages = most_pages(st, n), v = st->n_linked;

	(void)x;
	n->state += v * sizeof(u32);
	if (r->device->native) {
		n->state += (bitmap_words(v) + 1) * sizeof(u64) +
			    pool_size(r->pool) * sizeof(struct table);
		/*
		 * A page for long lists. A page of a view's temporary store may take more
		 * to decode.
		 */
		n->host += (n->view ? st->page_size + view_scratch(st, 1) : cursor_bytes(st)) +
			   2 * MIB;
		return;
	}
	n->edge_scratch = MODE_SCRATCH;
	/* At most one list is cut at the end of each page. */
	n->state += pages * (2 * sizeof(u32) + sizeof(u64)) + 64;
	n->host += pages * (sizeof(struct cut_list) + 2 * sizeof(u32)) +
		   sizeof(struct mode_finder) + 64;
}

static mill_err prepare_native(struct mill_run *r, struct mode_finder *m)
{
	struct vec *v;

	TRY(run_vec_host(r, &v, "long lists", bitmap_words(r->store->n_linked) + 1, sizeof(u64)));
	m->late = v->buffer.host;
	TRY(run_vec_host(r, &v, "the workers' tables", pool_size(r->pool), sizeof(struct table)));
	m->table = v->buffer.host;
	if (!r->stream)
		return MILL_OK;
	TRY(run_vec_host(r, &v, "a page",
			 max_u64(r->graph->page_size + store_scratch(r->graph), 2 * MIB), 1));
	m->frame = v->buffer.host;
	return MILL_OK;
}

/*
 * Cuts the pages into windows: as many pages as have room for their edges in the scratch,
 * or, if pages are in slots, one page each. Finds the lists that the windows cut.
 */
static void cut_windows(struct mill_run *r, struct mode_finder *m)
{
	const struct pages *p = run_direction(r, false)->pages;
	u64 room = r->transfer.whole ? r->transfer.scratch_edges : 0, edges = 0;

	for (u32 i = 0; i < p->n_pages; i++) {
		const struct page_entry *e = &p->entry[i];
		struct cut_list *last = m->n_cuts ? &m->cut[m->n_cuts - 1] : NULL;

		edges += e->n_edges;
		if (i && edges <= room)
			continue;
		edges = e->n_edges;
		m->window[m->n_windows++] = i;
		if (e->skip && !(last && last->vertex == e->first_vertex)) {
			struct cut_list *c = &m->cut[m->n_cuts++];

			c->vertex = (vid)e->first_vertex;
			c->edges = pages_of(p, c->vertex, &c->first_page, &c->last_page);
		}
	}
	m->window[m->n_windows] = p->n_pages;
}

static mill_err write_cuts(struct mill_run *r, struct mode_finder *m)
{
	for (u32 i = 0; i < m->n_cuts; i++)
		m->page_n[i] = m->cut[i].vertex;	/* borrowed: n_cuts <= number of pages */
	TRY(run_vec(r, &m->cut_vertex, "cut lists", m->n_cuts, sizeof(u32), NULL));
	TRY(device_write(&m->cut_vertex->buffer, 0, m->page_n, m->n_cuts * sizeof(u32)));
	memset(m->page_n, 0, m->n_cuts * sizeof(u32));
	return run_vec(r, &m->best, "the best of cut lists", m->n_cuts, sizeof(u64), NULL);
}

static mill_err prepare_device(struct mill_run *r, struct mode_finder *m)
{
	u32 n_pages = run_direction(r, false)->pages->n_pages;
	struct vec *v;

	TRY(run_vec_host(r, &v, "cut lists", n_pages, sizeof(struct cut_list)));
	m->cut = v->buffer.host;
	TRY(run_vec_host(r, &v, "windows of pages", n_pages + 1u, sizeof(u32)));
	m->window = v->buffer.host;
	TRY(run_vec_host(r, &v, "chosen pages", n_pages + 1u, sizeof(u32)));
	m->page_n = v->buffer.host;
	cut_windows(r, m);
	TRY(run_vec(r, &m->n_long, "long lists of windows", m->n_windows, sizeof(u32), NULL));
	return write_cuts(r, m);
}

static mill_err make_finder(struct mill_run *r, const struct declared *x)
{
	struct mode_finder **out = x->out, *m;
	struct vec *self;

	TRY(run_vec_host(r, &self, "mode finder", 1, sizeof(*m)));
	m = self->buffer.host;
	TRY(run_vec(r, &m->counter, "counts of values", r->store->n_linked, sizeof(u32), NULL));
	TRY(r->device->native ? prepare_native(r, m) : prepare_device(r, m));
	*out = m;
	return MILL_OK;
}

static mill_err build(struct mill_run *r, const struct declared *x)
{
	(void)x;
	return device_prepare(r->device, &mode_source);
}

void declare_mode(struct declaration *d, struct mode_finder **out)
{
	declare_item(d, (struct declared){ .make = build, .flags = EARLY });
	declare_item(d, (struct declared){ .bytes = add_bytes, .make = make_finder, .out = out });
}

mill_err op_mode(struct mill_run *r, struct mode_finder *m, const struct vec *from,
		 const struct vec *to, u64 *changed)
{
	struct mode_ctx f = { .run = r, .finder = m, .from = from, .to = to };
	struct mill_step step = { .frontier = r->store->vertices, .direction = "scan" };
	f64 began = clock_now();

	TRY(vec_fetch(from));
	TRY(vec_fetch(to));
	run_announce(r, "iteration %llu", r->ledger.total.step + 1);
	TRY(r->device->native ? find_native(&f, &step) : find_device(&f, &step));
	step.edges = run_direction(r, false)->n_edges;
	*changed = step.updates = f.changed;
	ledger_add(&r->ledger, &step, began);
	return MILL_OK;
}
