/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over the pages of a direction: which cross, and whom they are given to. */
#include "engine/cache_form.h"

#include <assert.h>
#include <string.h>

#include "base/bitmap.h"

/* ---- A page ---- */

struct passing {
	struct mill_run *run;
	struct device_cache *cache;
	const struct device_pass *pass;
	struct mill_step *step;
	struct side *side;
	u32 next_stage;		/* whole */
};

static bool is_active(const struct passing *p, u32 page)
{
	return run_takes_page(p->run, page) && (!p->pass->page_n || p->pass->page_n[page]);
}

/* Does it cross, or stay to be used? */
static bool is_taken(const struct passing *p, u32 page)
{
	return is_active(p, page) || (p->run->options.no_skip && !p->pass->chosen && run_takes_page(p->run, page));
}

static u32 partial_of(const struct pages *p, u32 page)
{
	return (p->entry[page].skip ? PARTIAL_HEAD : 0) |
	       (page + 1 < p->n_pages && p->entry[page + 1].skip ? PARTIAL_TAIL : 0);
}

/* Where the last row of a page begins, if it goes on in the next. */
static u32 tail_at(const struct pages *p, u32 page)
{
	const struct page_entry *e = &p->entry[page];
	u64 tail;

	if (!(partial_of(p, page) & PARTIAL_TAIL))
		return e->n_edges;
	tail = e[1].skip - (e->n_rows == 1 ? e->skip : 0);
	return tail > e->n_edges ? 0 : e->n_edges - (u32)tail;
}

/* What both ways of placing a page tell their kernel. */
static void launch_place(struct launching *l, const struct place *to, const struct page_entry *e, const u32 *partial)
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

mill_err cache_unpack(const struct buffer *fault, const struct pages *p, u32 page, const struct buffer *from, u64 page_at,
		      const struct page_wire *wire, const struct place *to)
{
	const struct page_entry *e = &p->entry[page];
	u32 n_vertices = (u32)p->store->connected, partial = partial_of(p, page), tail = tail_at(p, page);
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_unpack");
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
	return launch_items_on(fault->owner, &l, wire->n_blocks, 1);
}

static mill_err unpack(struct device_cache *c, const struct pages *p, u32 page, const struct slot *s, const struct place *to)
{
	return cache_unpack(&c->fault, p, page, &s->buffer, 0, &s->wire, to);
}

mill_err cache_number(struct device_cache *c, const struct side *s, u32 page, const struct buffer *at, u32 neighbour_at, u32 queue)
{
	const struct addresses *a = &s->pages->address;
	struct launching l;

	if (!a->slots)
		return MILL_OK;
	launch_begin_kernel(&l, &cache_kernels, "pages_number");
	launch_buffer(&l, at);
	launch_u32(&l, &neighbour_at);
	launch_u32(&l, &s->pages->entry[page].n_edges);
	launch_buffer(&l, &s->first);
	launch_u32(&l, &a->n_pages);
	launch_u32(&l, &a->slots);
	launch_u32(&l, &page);
	launch_buffer(&l, &c->fault);
	l.launch.queue = queue;
	return launch_go(c->run, &l, s->pages->entry[page].n_edges, ITEM_ROWS);
}

/* Raw pages, whole. */
static mill_err place_raw(struct device_cache *c, const struct pages *p, u32 page, const struct slot *s, const struct place *to)
{
	const struct page_entry *e = &p->entry[page];
	u32 rows = s->wire.begin / 4, neighbours = s->wire.neighbour_at / 4, partial = partial_of(p, page);
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_place");
	launch_buffer(&l, &s->buffer);
	launch_u32(&l, &rows);
	launch_u32(&l, &neighbours);
	launch_place(&l, to, e, &partial);
	return launch_go(c->run, &l, (u64)e->n_edges + e->n_rows + 1, ITEM_ROWS);
}

/* Transfers have a queue of their own, so that none waits for the kernels of other slots. */
static u32 transfer_queue(const struct device_cache *c)
{
	return (u32)min_u64((c->whole ? STAGES : c->n_areas) + 1, c->run->device->n_queues);
}

/* The kernels in this queue were the last that look at the slot. */
static mill_err leave_slot(struct device_cache *c, struct slot *s, u32 queue)
{
	TRY(device_wait(&s->used));
	device_mark(c->run->device, queue, &s->used);
	return MILL_OK;
}

/* What `queue` is given from now on comes after it. */
static mill_err send(struct passing *p, struct buffer *to, u64 at, const char *from, u32 size, u32 queue, struct ticket *sent)
{
	u32 own = transfer_queue(p->cache);

	p->step->to_device += size;
	TRY(device_send(to, at, from, size, own, sent));
	if (own != queue)
		device_after(p->run->device, queue, sent);
	return MILL_OK;
}

/* The bytes of a page that somebody looks at. */
static mill_err send_page(struct passing *p, struct slot *s, const char *from, u32 queue, struct ticket *sent)
{
	bool weights = p->cache->weights && !p->cache->whole;
	u32 end = weights ? s->wire.weight_end : s->wire.end;

	p->step->pages_to_device++;
	TRY(device_wait(&s->used));
	return send(p, &s->buffer, s->wire.begin, from + s->wire.begin, end - s->wire.begin, queue, sent);
}

static mill_err send_weights(struct passing *p, u32 page, const struct slot *s, const char *from, u32 queue, struct ticket *sent)
{
	u64 size = weight_size(p->run->graph->weight), at = p->side->pages->entry[page].first_edge * size;

	return send(p, &p->side->weights, at, from + s->wire.weight_at, s->wire.weight_end - s->wire.weight_at, queue, sent);
}

mill_err cache_check_fault(struct buffer *fault, const struct pages *p)
{
	u64 page = 0;

	TRY(device_read(fault, 0, &page, sizeof(page)));
	if (!page)
		return MILL_OK;
	TRY(device_fill(fault, &(u64){ 0 }, sizeof(u64)));
	return fail(MILL_ECORRUPT, "%s: page %llu: %s", page_place(p, (u32)page - 1).file->name, (unsigned long long)page - 1,
		    p->store->paged ? "a neighbour that does not exist" : "its blocks cannot be unpacked");
}

/* ---- Whole ---- */

static bool is_absent(void *arg, u32 page)
{
	struct passing *p = arg;

	return !bitmap_get(p->side->present, page) && is_taken(p, page);
}

static mill_err place_page(void *arg, u32 page, const void *frame, struct ticket *sent)
{
	struct passing *p = arg;
	struct device_cache *c = p->cache;
	const struct page_entry *e = &p->side->pages->entry[page];
	u32 stage = p->next_stage++ % STAGES;
	struct slot *s = &c->slot[stage];
	struct place to = {
		.lists = &p->side->lists,
		.row_at = e->first_vertex,
		.neighbour_at = p->side->pages->n_rows + 1u,
		.edge_base = (u32)e->first_edge,
		.shared = true,
		.queue = 1 + stage % p->run->device->n_queues,
	};

	TRY(device_wait(&s->used));
	TRY(page_wire(p->side->pages, page, frame, &s->wire));
	TRY(send_page(p, s, frame, to.queue, &sent[0]));
	if (c->weights)
		TRY(send_weights(p, page, s, frame, to.queue, &sent[1]));
	TRY(cache_number(c, p->side, page, &s->buffer, s->wire.neighbour_at / 4, to.queue));
	TRY(s->wire.n_blocks ? unpack(c, p->side->pages, page, s, &to) : place_raw(c, p->side->pages, page, s, &to));
	bitmap_put(p->side->present, page);
	return leave_slot(c, s, to.queue);
}

static mill_err stream_missing(struct passing *p, bool (*missing)(void *, u32),
			       mill_err (*take)(void *, u32, const void *, struct ticket *))
{
	struct stream_pass sp = {
		.pages = p->side->pages,
		.active = missing,
		.pass_on = take,
		.want = { .lists_only = !p->cache->weights },
		.arg = p,
		.in_order = true,
		.ticker = &p->run->ticker,
	};
	mill_err err = stream_run(p->run->stream, &sp);

	sp.n_active = sp.n_reused = 0;		/* of the device's own */
	step_add_pass(p->step, &sp);
	return err;
}

static void forget_whole(struct side *s)
{
	memset(s->present, 0, (bitmap_words(s->pages->n_pages) + 1) * sizeof(u64));
}

mill_err cache_join(struct device_cache *c, mill_err err)
{
	if (!err)
		err = device_join(c->run->device);
	if (err)
		device_drain(c->run->device);
	return err;
}

static mill_err load_missing(struct passing *p)
{
	mill_err err = device_fork(p->run->device);

	if (!err)
		err = stream_missing(p, is_absent, place_page);
	err = cache_join(p->cache, err);
	return err ? err : cache_check_fault(&p->cache->fault, p->side->pages);
}

static mill_err run_whole(struct passing *p)
{
	struct side *s = p->side;
	struct device_segment seg = {
		.lists = &s->lists,
		.weights = p->cache->weights ? &s->weights : NULL,
		.neighbour_at = s->pages->n_rows + 1u,
		.n_rows = s->pages->n_rows,
		.n_edges = (u32)run_direction(p->run, p->pass->in)->n_edges,
		.page = NO_PAGE,
		.area = &p->cache->area[0],
	};
	bool missing = false, any = false;
	mill_err err = MILL_OK;

	if (p->run->options.no_reuse)
		forget_whole(s);
	for (u32 i = 0; i < s->pages->n_pages; i++) {
		if (!is_taken(p, i))
			continue;
		if (bitmap_get(s->present, i))
			p->step->pages_reused++;
		else
			missing = true;
		if (!is_active(p, i))
			continue;
		any = true;
		p->step->pages_active++;
		seg.n_active += p->pass->page_n ? p->pass->page_n[i] : s->pages->entry[i].n_rows;
	}
	if (missing)
		err = load_missing(p);
	if (err)
		forget_whole(s);	/* a page may not have come where it was sent */
	return err || !any ? err : p->pass->launch(p->pass->arg, &seg);
}

/* ---- Slots ---- */

static bool is_missing(void *arg, u32 page)
{
	struct passing *p = arg;

	return evict_slot(p->cache->evict, p->side->pages, page) == NO_SLOT_HELD && is_taken(p, page);
}

struct device_segment slot_segment(const struct slot *s, const struct pages *p, u32 page, bool weights)
{
	const struct page_entry *e = &p->entry[page];

	return (struct device_segment){
		.lists = &s->buffer,
		.weights = weights ? &s->buffer : NULL,
		.row_at = s->wire.begin / 4,
		.neighbour_at = s->wire.neighbour_at / 4,
		.weight_at = s->wire.weight_at / 4,
		.first = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.partial = partial_of(p, page),
		.page = page,
	};
}

static mill_err use_slot(struct passing *p, u32 page, u32 slot)
{
	struct device_cache *c = p->cache;
	const struct page_entry *e = &p->side->pages->entry[page];
	struct slot *s = &c->slot[slot];
	struct work_area *area = &c->area[slot % c->n_areas];
	struct device_segment seg = slot_segment(s, p->side->pages, page, c->weights);

	seg.queue = 1 + slot % c->n_areas;
	seg.n_active = p->pass->page_n ? p->pass->page_n[page] : e->n_rows;
	seg.area = area;

	if (!is_active(p, page))
		return MILL_OK;
	p->step->pages_active++;
	if (s->wire.n_blocks) {
		struct place to = { .lists = &area->lists, .neighbour_at = e->n_rows + 1u, .queue = seg.queue };

		TRY(unpack(c, p->side->pages, page, s, &to));
		seg.lists = &area->lists;
		seg.row_at = 0;
		seg.neighbour_at = to.neighbour_at;
		if (!c->weights)
			TRY(leave_slot(c, s, seg.queue));
	}
	TRY(p->pass->launch(p->pass->arg, &seg));
	return s->wire.n_blocks && !c->weights ? MILL_OK : leave_slot(c, s, seg.queue);
}

static mill_err move_page(void *arg, u32 page, const void *frame, struct ticket *sent)
{
	struct passing *p = arg;
	struct device_cache *c = p->cache;
	u32 slot = evict_take(c->evict, p->side->pages, page), queue = 1 + slot % c->n_areas;
	struct slot *s = &c->slot[slot];

	TRY(page_wire(p->side->pages, page, frame, &s->wire));
	TRY(send_page(p, s, frame, queue, sent));
	TRY(cache_number(c, p->side, page, &s->buffer, s->wire.neighbour_at / 4, queue));
	if (p->run->graph->paged && !is_active(p, page))
		return leave_slot(c, s, queue);
	return use_slot(p, page, slot);
}

/* Resident pages first, then the others over the slots that this pass does not need. */
static mill_err run_pages(struct passing *p)
{
	struct evict *e = p->cache->evict;

	evict_begin(e);
	for (u32 i = 0; i < p->side->pages->n_pages; i++) {
		u32 slot = evict_slot(e, p->side->pages, i);

		if (slot == NO_SLOT_HELD || !is_taken(p, i))
			continue;
		evict_use(e, slot);
		p->step->pages_reused++;
		TRY(use_slot(p, i, slot));
	}
	return stream_missing(p, is_missing, move_page);
}

static mill_err run_slots(struct passing *p)
{
	u64 moved = p->step->pages_to_device;
	mill_err err;

	if (p->run->options.no_reuse)
		evict_clear(p->cache->evict);
	err = device_fork(p->run->device);
	if (!err)
		err = run_pages(p);
	err = cache_join(p->cache, err);
	if (!err && p->step->pages_to_device != moved)
		err = cache_check_fault(&p->cache->fault, p->side->pages);
	if (err)
		evict_clear(p->cache->evict);	/* a page may not have come where it was sent */
	return err;
}

mill_err cache_run(struct mill_run *r, const struct device_pass *dp, struct mill_step *step)
{
	struct passing p = { .run = r, .cache = r->cache, .pass = dp, .step = step, .side = cache_side(r->cache, dp->in) };

	assert(p.side->pages && !r->cache->parts);
	if (!p.side->pages->n_pages)
		return MILL_OK;
	TRY(r->cache->whole ? run_whole(&p) : run_slots(&p));
	return ticker_tick(&r->ticker, p.side->pages->n_pages);
}
