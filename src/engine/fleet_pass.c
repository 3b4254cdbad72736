/* SPDX-License-Identifier: Apache-2.0 */
/* A pass of pages over the devices of a fleet. */
#include <assert.h>
#include <string.h>

#include "engine/fleet_form.h"

/* A page of fewer edges a vertex is taken by vertices, one of more by virtual warps of at most so many work-items. */
#define WARP_LEAST 4u
#define WARP_MOST 32u
/* The arguments of a program, copied to have the device's vector in them. */
#define ARGS_MOST 256u

static struct vec *writable(const struct join *j)
{
	return *(struct vec *const *)((const char *)j->args + j->program->writable);
}

/* ---- A page on a device ---- */

struct micro {
	const char *kernel;
	u32 warp;		/* work-items that share a vertex */
	u64 groups;
};

/* Virtual warps go on from vertex to vertex, so that there need not be one for each. */
#define WARP_GROUPS 4096u
#define WARP_GROUPS_CHUNKED 64u

/* Section 6.2: by vertices, by edges, or as the density of the page suggests. */
static struct micro choose_micro(const struct fleet *f, const struct member *m, const struct page_entry *e, bool large)
{
	const struct mill_options *o = &f->run->options;
	u32 density = e->n_rows ? e->n_edges / e->n_rows : 0, warp = o->warp ? o->warp : WARP_MOST;
	enum mill_mapping mapping = o->mapping;
	u64 group = m->device->group;

	if (large)
		return (struct micro){ "join_large", 1, div_up(e->n_edges, ITEM_EDGES * group) };
	if (mapping == MILL_MAPPING_AUTO)	/* work-items of a CPU share nothing by going side by side */
		mapping = m->device->chunked ? MILL_MAPPING_THREAD : MILL_MAPPING_HYBRID;
	if (mapping == MILL_MAPPING_HYBRID) {
		mapping = density < WARP_LEAST ? MILL_MAPPING_THREAD : MILL_MAPPING_WARP;
		while (warp > WARP_LEAST && warp > density)
			warp /= 2;
	}
	if (mapping == MILL_MAPPING_THREAD)
		return (struct micro){ "join_vertex", 1, div_up(e->n_rows, ITEM_ROWS * group) };
	return (struct micro){ "join_warp", warp,
			       max_u64(min_u64(div_up((u64)e->n_rows * warp, group), m->device->chunked ? WARP_GROUPS_CHUNKED : WARP_GROUPS),
				       div_up(warp, group)) };
}

static mill_err send_given(struct fleet *f, const struct page_entry *e, struct lane *lane, u32 queue)
{
	const struct vec *v = f->join->given;
	u64 size = (u64)e->n_rows * v->size;

	TRY(device_wait(&lane->sent));	/* long over: the handle is needed */
	return device_send(&lane->given, 0, (const char *)v->buffer.host + (u64)e->first_vertex * v->size, size, queue, &lane->sent);
}

/* A page always goes through the same lane, so that it may still be there unpacked. */
static u32 lane_of(const struct fleet *f, const struct member *m, u32 page) { return page / (f->divided ? 1 : f->n) % m->n_lanes; }

/* Where the page is, as kernels take it: in its slot, or unpacked in a lane. fresh: it has just been sent. */
static mill_err unpack(struct fleet *f, struct member *m, u32 page, struct slot *s, struct lane *lane, bool fresh, struct device_segment *seg)
{
	const struct pages *p = f->pages[f->join->in];
	struct place to = { .lists = &lane->lists, .neighbour_at = seg->n_rows + 1u, .queue = seg->queue };
	u64 name = (u64)f->join->in << 32 | (page + 1u);

	if (!s->wire.n_blocks)
		return MILL_OK;
	if (fresh || lane->holds != name)
		TRY(cache_unpack(&m->fault, p, page, &s->buffer, 0, &s->wire, &to));
	lane->holds = name;
	seg->lists = &lane->lists;
	seg->row_at = 0;
	seg->neighbour_at = to.neighbour_at;
	return MILL_OK;
}

static mill_err launch_join(struct fleet *f, struct member *m, const struct device_segment *seg, const struct lane *lane,
			    const struct micro *micro)
{
	const struct join *j = f->join;
	const struct pages *p = f->pages[j->in];
	u32 begin = (u32)m->share.begin, end = (u32)m->share.end, flags = j->next != NULL, n_vertices = (u32)f->run->store->connected;
	const struct program *program = &j->program->program;
	_Alignas(16) char args[ARGS_MOST];
	struct launching l;

	for (u32 i = 0; i < program->n_fields; i++) {
		const struct field *field = &program->field[i];
		u64 size = field->array ? sizeof(struct vec *) : field->size;

		assert(field->offset + size <= sizeof(args));
		memcpy(args + field->offset, (const char *)j->args + field->offset, size);
	}
	memcpy(args + j->program->writable, &(struct vec *){ &m->writable }, sizeof(struct vec *));
	launch_begin(&l, program, micro->kernel, args);
	launch_segment(&l, seg);
	launch_buffer(&l, j->given ? &lane->given : NULL);
	launch_u32(&l, &begin);
	launch_u32(&l, &end);
	launch_buffer(&l, &m->start[j->in]);
	launch_u32(&l, &p->n_pages);
	launch_u32(&l, &p->address.slots);
	launch_u32(&l, &flags);
	launch_u32(&l, &micro->warp);
	launch_u32(&l, &seg->page);
	launch_u32(&l, &n_vertices);
	launch_buffer(&l, &m->fault);
	launch_buffer(&l, &m->counts);
	return launch_groups_on(m->device, &l, micro->groups);
}

static mill_err use_page(struct fleet *f, struct member *m, u32 page, bool fresh)
{
	const struct pages *p = f->pages[f->join->in];
	const struct page_entry *e = &p->entry[page];
	struct slot *s = &m->slot[m->placed[page]];
	u32 number = lane_of(f, m, page);
	struct lane *lane = &m->lane[number];
	struct micro micro = choose_micro(f, m, e, page_is_large(p, page));
	struct device_segment seg = slot_segment(s, p, page, f->weights);

	seg.queue = 1 + number;
	if (f->join->given)
		TRY(send_given(f, e, lane, seg.queue));
	TRY(unpack(f, m, page, s, lane, fresh, &seg));
	TRY(launch_join(f, m, &seg, lane, &micro));
	TRY(device_wait(&s->used));
	device_mark(m->device, seg.queue, &s->used);
	return MILL_OK;
}

/* Transfers of pages have a queue of their own, which no kernel delays; that of the page's lane waits for this one. */
static mill_err send_page(struct fleet *f, struct member *m, u32 page, const char *frame, struct ticket *sent)
{
	struct slot *s = &m->slot[m->placed[page]];
	u32 queue = (u32)min_u64(m->n_lanes + 1, m->device->n_queues), lane = 1 + lane_of(f, m, page), end;

	TRY(device_wait(&s->used));
	TRY(page_wire(f->pages[f->join->in], page, frame, &s->wire));
	end = f->weights ? s->wire.weight_end : s->wire.end;
	m->moved = true;
	f->step->pages_to_device++;
	f->step->to_device += end - s->wire.begin;
	TRY(device_send(&s->buffer, s->wire.begin, frame + s->wire.begin, end - s->wire.begin, queue, sent));
	if (queue != lane)
		device_after(m->device, lane, sent);
	return MILL_OK;
}

/* ---- Windows: pages in their order, as long as no slot is needed twice ---- */

static bool is_missing(void *arg, u32 page) { return ((struct fleet *)arg)->missing[page]; }

static mill_err move_page(void *arg, u32 page, const void *frame, struct ticket *sent)
{
	struct fleet *f = arg;

	for (u32 i = 0; i < f->n; i++)
		if (f->missing[page] >> i & 1) {
			TRY(send_page(f, &f->member[i], page, frame, &sent[i]));
			TRY(use_page(f, &f->member[i], page, true));
		}
	f->missing[page] = 0;
	return MILL_OK;
}

struct window {
	u32 first, end;		/* of the pages that are missing; first == end: none */
};

static mill_err pass_window(struct fleet *f, struct window *w)
{
	struct stream_pass sp = {
		.pages = f->pages[f->join->in],
		.first = w->first,
		.end = w->end,
		.active = is_missing,
		.pass_on = move_page,
		.want = { .lists_only = !f->weights },
		.arg = f,
		.in_order = true,
		.ticker = &f->run->ticker,
	};
	mill_err err = w->first < w->end ? stream_run(f->run->stream, &sp) : MILL_OK;

	sp.n_active = sp.n_reused = 0;		/* of the devices' own */
	step_add_pass(f->step, &sp);
	*w = (struct window){ UINT32_MAX, 0 };
	for (u32 i = 0; i < f->n; i++)
		lru_window(f->member[i].lru);
	return err;
}

static mill_err place_page(struct fleet *f, struct member *m, u32 page, struct window *w)
{
	bool there;
	u32 slot = lru_place(m->lru, f->join->in, page, &there);

	if (slot == LRU_NONE) {
		TRY(pass_window(f, w));
		slot = lru_place(m->lru, f->join->in, page, &there);
		assert(slot != LRU_NONE);
	}
	m->placed[page] = slot;
	if (there) {
		f->step->pages_reused++;
		return use_page(f, m, page, false);
	}
	f->missing[page] |= (u16)(1u << (m - f->member));
	w->first = (u32)min_u64(w->first, page);
	w->end = (u32)max_u64(w->end, page + 1u);
	return MILL_OK;
}

/* Of [begin, end) of the order: small pages, or large ones. */
static mill_err pass_pages(struct fleet *f, u32 begin, u32 end)
{
	struct window w = { UINT32_MAX, 0 };

	for (u32 i = 0; i < f->n; i++) {
		lru_window(f->member[i].lru);
		if (f->run->options.no_reuse)
			lru_clear(f->member[i].lru);
	}
	for (u32 k = begin; k < end; k++) {
		u32 page = f->order[k];

		for (u32 i = 0; i < f->n; i++)
			if (f->divided || page % f->n == i)
				TRY(place_page(f, &f->member[i], page, &w));
	}
	return pass_window(f, &w);
}

/* ---- What edges write ---- */

/* Is it there from the pass before? Only where nobody else has a part or a copy of it. */
static bool stays(const struct fleet *f) { return f->n == 1 && f->chunks == 1 && !f->join->sums; }

static mill_err place_writable(struct fleet *f, u32 chunk)
{
	const struct vec *v = writable(f->join);

	for (u32 i = 0; i < f->n; i++) {
		struct member *m = &f->member[i];

		m->share = fleet_share(f, i, chunk, v->n);
		m->writable.size = v->size;
		m->writable.n = m->share.end - m->share.begin;
		if (f->held == v && stays(f))
			continue;
		if (f->join->sums)
			TRY(device_fill(&m->writable.buffer, &(u64){ 0 }, sizeof(u64)));
		else
			TRY(device_write(&m->writable.buffer, 0, (const char *)v->buffer.host + m->share.begin * v->size, m->writable.n * v->size));
	}
	return MILL_OK;
}

struct merging {
	void *to;
	const void *from;
	enum join_merge how;
};

#define MERGE_LOOP(type, better) \
	for (u64 i = begin; i < end; i++) { \
		type *a = (type *)m->to + i, b = ((const type *)m->from)[i]; \
		*a = better; \
	}

static mill_err merge_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct merging *m = arg;

	(void)worker;
	switch (m->how) {
	case MERGE_MIN_U32:
		MERGE_LOOP(u32, b < *a ? b : *a)
		break;
	case MERGE_MIN_U64:
		MERGE_LOOP(u64, b < *a ? b : *a)
		break;
	case MERGE_ADD_F64:
		MERGE_LOOP(f64, *a + b)
		break;
	case MERGE_ADD_U64:
		MERGE_LOOP(u64, *a + b)
		break;
	}
	return MILL_OK;
}

mill_err fleet_merge(struct pool *pool, void *to, const void *from, u64 n, enum join_merge how)
{
	struct merging m = { to, from, how };

	return pool_for(pool, n, 1 << 16, merge_some, &m);
}

static mill_err fetch_from(struct fleet *f, struct member *m, const struct vec *v, bool merge)
{
	char *to = (char *)v->buffer.host + m->share.begin * v->size;
	f64 began;

	TRY(device_read(&m->writable.buffer, 0, merge ? f->merging : to, m->writable.n * v->size));
	began = clock_now();
	if (merge)
		TRY(fleet_merge(f->run->pool, to, f->merging, m->writable.n, f->join->program->merge));
	f->run->ledger.merging += clock_now() - began;
	return MILL_OK;
}

static mill_err fetch_writable(struct fleet *f)
{
	const struct vec *v = writable(f->join);

	f->held = stays(f) ? v : NULL;
	for (u32 i = 0; i < f->n && !f->held; i++)
		TRY(fetch_from(f, &f->member[i], v, i && !f->divided));
	return MILL_OK;
}

mill_err fleet_fetch(struct fleet *f)
{
	const struct vec *v = f->held;

	f->held = NULL;
	return v ? device_read(&f->member[0].writable.buffer, 0, v->buffer.host, v->n * v->size) : MILL_OK;
}

void fleet_forget(struct fleet *f) { f->held = NULL; }

/* ---- The pass ---- */

/* Those that pass: small ones, then large ones. Says where the latter begin. */
static u32 list_pages(struct fleet *f, u32 *n)
{
	const struct join *j = f->join;
	const struct pages *p = f->pages[j->in];
	u32 n_small = 0;

	*n = 0;
	for (int large = 0; large < 2; large++) {
		for (u32 i = 0; i < p->n_pages; i++)
			if (run_takes_page(f->run, i) && (!j->active || j->active[i] || f->run->options.no_skip) &&
			    page_is_large(p, i) == large)
				f->order[(*n)++] = i;
		if (!large)
			n_small = *n;
	}
	return n_small;
}

static mill_err fork_all(struct fleet *f)
{
	for (u32 i = 0; i < f->n; i++) {
		f->member[i].moved = false;
		TRY(device_fork(f->member[i].device));
	}
	return MILL_OK;
}

static mill_err join_all(struct fleet *f, mill_err err)
{
	for (u32 i = 0; i < f->n && !err; i++)
		err = device_join(f->member[i].device);
	for (u32 i = 0; i < f->n; i++) {
		struct member *m = &f->member[i];

		if (err)
			device_drain(m->device);
		for (u32 k = 0; k < m->n_lanes; k++) {
			mill_err late = device_wait(&m->lane[k].sent);

			err = err ? err : late;
		}
		/* A packed page is looked at as a whole where it comes, an address when an edge is taken. */
		if (!err && (m->moved || f->pages[f->join->in]->address.slots))
			err = cache_check_fault(&m->fault, f->pages[f->join->in]);
	}
	return err;
}

/* All pages pass one chunk of what is written. */
static mill_err pass_chunk(struct fleet *f, u32 chunk, u32 n_small, u32 n)
{
	mill_err err;

	TRY(place_writable(f, chunk));
	err = fork_all(f);
	if (!err)
		err = pass_pages(f, 0, n_small);
	if (!err && n_small < n)
		err = pass_pages(f, n_small, n);
	TRY(join_all(f, err));
	return fetch_writable(f);
}

static mill_err begin_counts(struct fleet *f)
{
	for (u32 i = 0; i < f->n; i++) {
		TRY(device_fill(&f->member[i].counts, &(u64){ 0 }, sizeof(u64)));
		TRY(device_fill(&f->member[i].fault, &(u64){ 0 }, sizeof(u64)));	/* of a pass that failed elsewhere */
	}
	return MILL_OK;
}

/* The sets of pages that come next are merged here. */
static mill_err end_counts(struct fleet *f)
{
	const u64 *lane = f->counted;
	const u32 *flag = (const u32 *)(lane + LANE_WORDS);
	struct mill_step *step = f->step;
	u32 n_pages = f->pages[f->join->in]->n_pages;

	if (f->join->next)
		memset(f->join->next, 0, n_pages * sizeof(u32));
	for (u32 i = 0; i < f->n; i++) {
		TRY(device_read(&f->member[i].counts, 0, f->counted, f->join->next ? f->counts_size : LANE_WORDS * sizeof(u64)));
		for (u32 k = 0; k < COUNT_LANES; k++) {
			step->edges += lane[k * COUNT_STRIDE + COUNT_EDGES];
			step->updates += lane[k * COUNT_STRIDE + COUNT_UPDATES];
			step->lanes += lane[k * COUNT_STRIDE + COUNT_SLOTS];
			step->atomics += lane[k * COUNT_STRIDE + COUNT_ATOMICS];
		}
		for (u32 k = 0; f->join->next && k < n_pages; k++)
			f->join->next[k] |= flag[k];
	}
	return MILL_OK;
}

/* After a failure no page is known to be where it was sent, and what was held is lost. */
static void forget_all(struct fleet *f)
{
	for (u32 i = 0; i < f->n; i++) {
		lru_clear(f->member[i].lru);
		for (u32 k = 0; k < f->member[i].n_lanes; k++)
			f->member[i].lane[k].holds = 0;
	}
	memset(f->missing, 0, f->pages[f->join->in]->n_pages * sizeof(u16));
	f->held = NULL;
}

static mill_err pass_all(struct fleet *f)
{
	u32 n, n_small = list_pages(f, &n);

	f->step->pages_active += (u64)n * f->chunks * (f->divided ? f->n : 1);	/* each is there so often */
	TRY(begin_counts(f));
	for (u32 chunk = 0; chunk < f->chunks; chunk++)
		TRY(pass_chunk(f, chunk, n_small, n));
	return end_counts(f);
}

mill_err fleet_join(struct fleet *f, const struct join *j, struct mill_step *step)
{
	struct join local = *j;
	mill_err err;

	local.in = j->in && f->pages[1];	/* of an undirected graph, and of a view, there is one */
	if (!j->given && (f->divided || f->chunks > 1))
		local.given = writable(j);	/* a source may be anywhere */
	if (f->held && f->held != writable(j))
		TRY(fleet_fetch(f));
	f->join = &local;
	f->step = step;
	err = pass_all(f);
	if (err)
		forget_all(f);
	f->join = NULL;
	TRY(err);
	return ticker_tick(&f->run->ticker, step->pages_active);
}
