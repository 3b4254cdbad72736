/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver executes a plan, window after window. In a window it launches the kernels of
 * resident units first, then those of the other units as they arrive. The host's threads
 * work on their units while the devices are busy. Devices have no locks: only the calling
 * thread calls them. Before it sends into a slot, it waits for the last kernels that read
 * the slot. It does not wait for transfers: kernels wait for them on the device.
 */
#include <assert.h>
#include <string.h>

#include "transfer/transfer.h"

struct pass_ctx {
	struct transfer *t;
	const struct device_pass *pass;
	const struct units *units;
	struct mill_step *step;
	bool in;
	u32 end;		/* end of the window's moves */
	struct changes host;	/* sums over the host's threads, added atomically */
};

static struct station *station_of(const struct pass_ctx *c, const struct move *m)
{
	return &c->t->station[m->where - 1];
}
static struct slot *slot_of(struct station *s, const struct move *m)
{
	return &s->slot[m->slot % s->n_slots];
}
static u32 queue_of(const struct station *s, const struct move *m)
{
	return 1 + m->slot % s->n_queues % s->device->n_queues;
}

/*
 * Notes that the kernels in this queue are the last that read the slot. If units cross in
 * their own queues, the order of the queue is enough.
 */
static mill_err leave_slot(struct station *s, struct slot *slot, u32 queue)
{
	if (!s->transfer_queue)
		return MILL_OK;
	TRY(device_wait(&slot->used));
	device_mark(s->device, queue, &slot->used);
	return MILL_OK;
}

/* ---- Work ---- */

/*
 * Sets the buffers from which kernels compute edge numbers. number: the numbers of the
 * segment's edges, if the direction has a table.
 */
static void add_numbers(const struct pass_ctx *c, const struct buffer *number,
			struct device_segment *seg)
{
	const struct edge_numbers *n = c->t->numbering;

	seg->number = has_table(c->t, c->in) ? number : NULL;
	seg->own_base = n->on_device.size ? &n->on_device : NULL;
}

static mill_err launch(struct pass_ctx *c, const struct move *m, struct device_segment *seg)
{
	const u32 *n = c->pass->activity.n;

	seg->station = station_of(c, m);
	seg->queue = queue_of(seg->station, m);
	seg->area = &seg->station->area[m->slot % seg->station->n_areas];
	add_numbers(c, &slot_of(seg->station, m)->number, seg);
	seg->n_active = m->flags & MOVE_IDLE ? 0 : n ? n[m->unit] : seg->n_rows;
	return c->t->own ? c->t->policy->launch(c->t, c->pass, seg) :
			   c->pass->launch(c->pass->arg, seg);
}

/* Unpacks a packed page in the area of its slot, unless it is still there from its last use. */
static mill_err unpack(struct pass_ctx *c, const struct move *m, u32 k, struct device_segment *seg)
{
	struct station *s = station_of(c, m);
	struct work_area *area = &s->area[m->slot % s->n_areas];
	u32 page = unit_page(c->units, m->unit) + k;
	struct place to = { .lists = &area->lists,
			    .neighbour_at = seg->n_rows + 1u,
			    .queue = queue_of(s, m) };
	u64 name = (u64)c->in << 32 | (page + 1u);

	if (m->flags & MOVE_SEND || area->holds != name)
		TRY(wire_unpack(&s->fault, c->units->pages, page, seg->lists,
				(u64)k * c->t->graph->page_size, &slot_of(s, m)->wire[k], &to));
	area->holds = name;
	seg->lists = &area->lists;
	seg->row_at = 0;
	seg->neighbour_at = to.neighbour_at;
	return MILL_OK;
}

static mill_err work_stored(struct pass_ctx *c, const struct move *m)
{
	struct station *s = station_of(c, m);
	struct slot *slot = slot_of(s, m);
	u32 n = unit_page_end(c->units, m->unit) - unit_page(c->units, m->unit);
	/*
	 * Once the last page is unpacked, no kernel reads the slot: it may be overwritten
	 * early.
	 */
	bool early = !c->t->weights && !has_table(c->t, c->in);

	for (u32 k = 0; k < n; k++) {
		struct device_segment seg = wire_segment(c->t, slot, c->units, m->unit, k);

		if (slot->wire[k].n_blocks)
			TRY(unpack(c, m, k, &seg));
		early &= slot->wire[k].n_blocks != 0;
		if (early && k + 1 == n)
			TRY(leave_slot(s, slot, queue_of(s, m)));
		TRY(launch(c, m, &seg));
	}
	return early ? MILL_OK : leave_slot(s, slot, queue_of(s, m));
}

static mill_err work(struct pass_ctx *c, const struct move *m)
{
	struct station *s = station_of(c, m);
	struct device_segment seg;

	if (c->pass->given)
		TRY(state_given(c->pass, &c->units->entry[m->unit], &s->area[m->slot % s->n_areas],
				queue_of(s, m)));
	if (m->wire == WIRE_STORED)
		return work_stored(c, m);
	seg = stage_segment(c->t, slot_of(s, m), m->unit);
	return launch(c, m, &seg);
}

/* ---- Stored units ---- */

/* Sends bytes in the transfer queue. Later commands of the unit's queue wait for the transfer. */
static mill_err send(struct pass_ctx *c, struct station *s, struct buffer *to, u64 at,
		     const char *from, u32 size, u32 queue, struct ticket *sent)
{
	u32 own = s->transfer_queue ? s->transfer_queue : queue;

	c->step->to_device += size;
	TRY(device_send(to, at, from, size, own, sent));
	if (own != queue)
		device_after(s->device, queue, sent);
	return MILL_OK;
}

/* Reads the numbers of a page's edges from disk and sends them to byte `at` of a buffer. */
static mill_err send_numbers(struct pass_ctx *c, struct station *s, u32 page, struct buffer *to,
			     u64 at, u32 queue)
{
	const struct beside *b = &c->t->numbering->side[c->in].file;
	struct number_stage *g = &c->t->number_stage[c->t->next_number++ % NUMBER_STAGES];
	u32 size = (u32)(beside_elements(b, page) * sizeof(u32));

	TRY(device_wait(&g->sent));
	TRY(beside_read_page(b, g->number, page));
	c->step->disk_read += size;
	return send(c, s, to, at, (const char *)g->number, size, queue, &g->sent);
}

/*
 * Puts the lists of a page beside those of all other pages. Its weights and edge numbers
 * are sent directly to their places.
 */
static mill_err put_beside(struct pass_ctx *c, const struct move *m, u32 page, const char *frame,
			   struct ticket *sent)
{
	struct station *s = station_of(c, m);
	struct slot *slot = slot_of(s, m);
	struct side *side = &s->side[c->in];
	const struct page_entry *e = &c->units->pages->entry[page];
	struct place to = {
		.lists = &side->lists,
		.row_at = e->first_vertex,
		.neighbour_at = c->units->pages->n_rows + 1u,
		.edge_base = (u32)e->first_edge,
		.shared = true,
		.queue = queue_of(s, m),
	};

	if (c->t->weights)
		TRY(send(c, s, &side->weights, e->first_edge * weight_size(c->t->graph->weight),
			 frame + slot->wire->weight_at,
			 slot->wire->weight_end - slot->wire->weight_at, to.queue, sent));
	if (has_table(c->t, c->in))
		TRY(send_numbers(c, s, page, &side->number, e->first_edge * sizeof(u32), to.queue));
	TRY(wire_number(c->t, s, c->in, page, &slot->buffer, slot->wire->neighbour_at / 4,
			to.queue));
	TRY(slot->wire->n_blocks ? wire_unpack(&s->fault, c->units->pages, page, &slot->buffer, 0,
					       slot->wire, &to) :
				   wire_place(s, c->units->pages, page, slot, &to));
	return leave_slot(s, slot, to.queue);
}

/* Sends to the slot those bytes of a page that kernels read. */
static mill_err send_page(struct pass_ctx *c, const struct move *m, u32 page, const char *frame,
			  struct ticket *sent)
{
	struct transfer *t = c->t;
	struct station *s = station_of(c, m);
	struct slot *slot = slot_of(s, m);
	u32 k = page - unit_page(c->units, m->unit), queue = queue_of(s, m), end;
	u64 page_at = (u64)k * t->graph->page_size;
	struct page_wire *w = &slot->wire[k];

	if (s->transfer_queue)
		TRY(device_wait(&slot->used));
	TRY(page_wire(c->units->pages, page, frame, w));
	end = t->weights && !t->whole ? w->weight_end : w->end;
	TRY(send(c, s, &slot->buffer, page_at + w->begin, frame + w->begin, end - w->begin, queue,
		 &sent[m->where - 1]));
	if (t->whole)
		return put_beside(c, m, page, frame, &sent[1]);
	if (has_table(t, c->in))
		TRY(send_numbers(c, s, page, &slot->number, 0, queue));
	if (t->renumber)
		TRY(wire_number(t, s, c->in, page, &slot->buffer,
				(u32)((page_at + w->neighbour_at) / 4), queue));
	if (c->units->page)	/* units of several pages: send_runs works when all have arrived */
		return MILL_OK;
	if (m->flags & MOVE_WORK)
		return work(c, m);
	return t->renumber ? leave_slot(s, slot, queue) : MILL_OK;
}

static mill_err take_page(void *arg, u32 page, const void *frame, struct ticket *sent)
{
	struct pass_ctx *c = arg;
	const struct move *m = &c->t->plan.move[c->t->move_of[page]],
			  *end = &c->t->plan.move[c->end];

	for (u32 unit = m->unit; m < end && m->unit == unit; m++)
		if (m->flags & MOVE_SEND)
			TRY(send_page(c, m, page, frame, sent));
	return MILL_OK;
}

static mill_err stream_pages(struct pass_ctx *c, const u32 *list, u32 n)
{
	struct stream_pass sp = {
		.pages = c->units->pages, .list = list, .n_list = n, .pass_on = take_page, .arg = c,
		.want = { .lists_only = !c->t->weights }, .in_order = true, .ticker = c->t->ticker,
	};
	mill_err err = n ? stream_run(c->t->stream, &sp) : MILL_OK;

	sp.n_active = sp.n_reused = 0;		/* count_moves has counted the devices' pages */
	step_add_pass(c->step, &sp);
	return err;
}

/* ---- Windows ---- */

/*
 * Adds the pages of a unit to the stream's list. Moves of one unit are neighbours in the
 * plan, as are units of one page, so a page that is listed already is the last in the list.
 */
static void list_unit(struct pass_ctx *c, u32 move, u32 *n)
{
	struct transfer *t = c->t;
	u32 unit = t->plan.move[move].unit;

	for (u32 page = unit_page(c->units, unit); page < unit_page_end(c->units, unit); page++) {
		if (*n && t->list[*n - 1] == page)
			continue;
		t->move_of[page] = move;
		t->list[(*n)++] = page;
	}
}

/* Sends units of several pages, one after the other. */
static mill_err send_runs(struct pass_ctx *c, u32 begin, u32 end)
{
	for (u32 k = begin; k < end; k++) {
		const struct move *m = &c->t->plan.move[k];
		u32 n = 0;

		if (!(m->flags & MOVE_SEND) || m->where == ON_HOST)
			continue;
		list_unit(c, k, &n);
		TRY(stream_pages(c, c->t->list, n));
		if (m->flags & MOVE_WORK)
			TRY(work(c, m));
	}
	return MILL_OK;
}

/* Sends the moves from `begin` on that one stage holds. *next is the end of those moves. */
static mill_err send_staged(struct pass_ctx *c, u32 begin, u32 end, u32 *next)
{
	struct transfer *t = c->t;
	struct stage_part part;

	*next = stage_window(t, begin, end, &part);
	do {
		u32 n = 0;

		for (u32 k = begin; *next > begin + 1 && k < *next; k++)
			list_unit(c, k, &n);
		/* A single unit may be larger than a stage: lists only the pages of this part. */
		for (u32 page = part.page; *next == begin + 1 && page < part.page_end; page++)
			t->list[n++] = page;
		TRY(stage_load(t, &part, t->list, n, c->step));
		for (u32 k = begin; k < *next; k++) {
			const struct move *m = &t->plan.move[k];
			struct station *s = station_of(c, m);

			TRY(stage_send(t, &part, m->unit, &slot_of(s, m)->buffer, queue_of(s, m),
				       c->step));
			if (m->flags & MOVE_WORK && part.page_end >= c->units->page_end[m->unit])
				TRY(work(c, m));
		}
	} while (*next == begin + 1 && stage_next(t, t->plan.move[begin].unit, &part));
	return MILL_OK;
}

static mill_err send_stages(struct pass_ctx *c, u32 begin, u32 end)
{
	for (u32 k = begin, run; k < end;) {
		for (run = k; run < end && c->t->plan.move[run].flags & MOVE_SEND; run++)
			;
		if (run == k)
			k++;
		else
			TRY(send_staged(c, k, run, &k));
	}
	return MILL_OK;
}

static mill_err work_on_host(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct pass_ctx *c = arg;
	struct changes mine = { .pages = c->units->pages, .flag = c->host.flag };

	(void)page;
	(void)worker;
	c->pass->forms->join->rows(c->pass->args, seg,
				   c->pass->given ? c->pass->given->buffer.host : NULL, &mine);
	__atomic_fetch_add(&c->host.edges, mine.edges, __ATOMIC_RELAXED);
	__atomic_fetch_add(&c->host.updates, mine.updates, __ATOMIC_RELAXED);
	return MILL_OK;
}

/* Works on the host's units, on all threads, while the devices work on theirs. */
static mill_err run_host(struct pass_ctx *c, u32 begin, u32 end)
{
	struct stream_pass sp = {
		.pages = c->units->pages,
		.list = c->t->list,
		.work = work_on_host,
		.arg = c,
		.want = { .lists_only = !c->t->weights },
		.ticker = c->t->ticker,
	};
	mill_err err;

	for (u32 k = begin; k < end; k++)
		if (c->t->plan.move[k].where == ON_HOST)
			list_unit(c, k, &sp.n_list);
	if (!sp.n_list)
		return MILL_OK;
	err = stream_run(c->t->stream, &sp);
	sp.n_active = sp.n_reused = 0;
	step_add_pass(c->step, &sp);
	return err;
}

static mill_err run_window(struct pass_ctx *c, u32 begin, u32 end)
{
	struct transfer *t = c->t;
	u32 n = 0;

	c->end = end;
	if (t->wire == WIRE_ROWS)
		return gather_window(t, c->pass, begin, end, c->step);
	for (u32 k = begin; k < end; k++) {
		const struct move *m = &t->plan.move[k];

		if (m->where == ON_HOST)
			continue;
		if (m->flags & MOVE_SEND) {
			station_of(c, m)->moved = true;
			if (t->wire == WIRE_STORED && !c->units->page)
				list_unit(c, k, &n);
		} else if (m->flags & MOVE_WORK && !t->whole) {
			TRY(work(c, m));
		}
	}
	if (t->wire != WIRE_STORED)
		TRY(send_stages(c, begin, end));
	else
		TRY(c->units->page ? send_runs(c, begin, end) : stream_pages(c, t->list, n));
	return t->policy->host ? run_host(c, begin, end) : MILL_OK;
}

static mill_err run_plan(struct pass_ctx *c)
{
	const struct plan *p = &c->t->plan;

	if (c->t->wire == WIRE_ROWS)
		TRY(gather_begin(c->t, c->pass));
	for (u32 begin = 0, end; begin < p->n; begin = end) {
		for (end = begin + 1; end < p->n && !(p->move[end].flags & MOVE_BREAK); end++)
			;
		TRY(run_window(c, begin, end));
	}
	return c->t->wire == WIRE_ROWS ? gather_end(c->t, c->pass) : MILL_OK;
}

/* ---- Passes ---- */

static mill_err fork_all(struct transfer *t)
{
	for (u32 i = 0; i < t->n_stations; i++) {
		t->station[i].moved = false;
		TRY(device_fork(t->station[i].device));
	}
	return MILL_OK;
}

/*
 * Ends a pass, also one that failed: afterwards no transfer or kernel that uses slots or
 * frames is under way.
 */
static mill_err join_all(struct pass_ctx *c, mill_err err)
{
	struct transfer *t = c->t;
	mill_err late = stage_drain(t);

	err = err ? err : late;
	late = gather_drain(t);
	err = err ? err : late;
	for (u32 i = 0; i < NUMBER_STAGES; i++) {
		late = device_wait(&t->number_stage[i].sent);
		err = err ? err : late;
	}
	for (u32 i = 0; i < t->n_stations && !err; i++)
		err = device_join(t->station[i].device);
	for (u32 i = 0; i < t->n_stations; i++) {
		struct station *s = &t->station[i];

		if (err)
			device_drain(s->device);
		for (u32 k = 0; k < s->n_areas; k++) {
			late = device_wait(&s->area[k].sent);
			err = err ? err : late;
		}
		/*
		 * Packed pages, and addresses that are renumbered, are checked when they
		 * arrive. Addresses that stay are checked whenever a kernel takes the edge.
		 */
		if (!err && t->wire == WIRE_STORED &&
		    (s->moved || (c->units->pages->address.slots && !t->renumber)))
			err = wire_check(&s->fault, c->units->pages);
	}
	return err;
}

/*
 * After a failure no unit can be assumed to be in its slot, and values held on a device are
 * lost.
 */
static void forget_all(struct transfer *t)
{
	for (u32 i = 0; i < t->n_stations; i++) {
		residency_clear(t->station[i].residency);
		for (u32 k = 0; k < t->station[i].n_areas; k++)
			t->station[i].area[k].holds = 0;
	}
	t->failed = true;
	gather_forget(t);
	twin_restart(t);
	state_forget(t);
}

/* Launches all units as one segment, once all units with work have arrived. */
static mill_err launch_whole(struct pass_ctx *c)
{
	struct transfer *t = c->t;
	const struct pages *p = c->units->pages;
	const u32 *n = c->pass->activity.n;
	struct device_segment seg = {
		.lists = &t->station[0].side[c->in].lists,
		.weights = t->weights ? &t->station[0].side[c->in].weights : NULL,
		.neighbour_at = p->n_rows + 1u,
		.n_rows = p->n_rows,
		.n_edges = (u32)(p->entry[p->n_pages - 1].first_edge +
				 p->entry[p->n_pages - 1].n_edges),
		.unit = NO_UNIT,
		.station = &t->station[0],
		.area = &t->station[0].area[0],
	};
	bool any = false;

	add_numbers(c, &t->station[0].side[c->in].number, &seg);
	for (u32 k = 0; k < t->plan.n; k++)
		if (t->plan.move[k].flags & MOVE_WORK) {
			any = true;
			seg.n_active += n ? n[t->plan.move[k].unit] :
					    p->entry[t->plan.move[k].unit].n_rows;
		}
	return any ? c->pass->launch(c->pass->arg, &seg) : MILL_OK;
}

/*
 * Makes the plan. If a policy owns some runs, its `plan` is for these; other runs use
 * plan_pages.
 */
static mill_err make_plan(struct pass_ctx *c)
{
	struct transfer *t = c->t;
	struct activity a = c->pass->activity;
	bool planned = t->policy->plan && (t->own || !t->policy->takes);

	a.in = c->in;
	t->plan.n = 0;
	for (u32 i = 0; t->options->no_reuse && i < t->n_stations; i++)
		residency_clear(t->station[i].residency);
	return (planned ? t->policy->plan : plan_pages)(&t->plan, &a, t);
}

/*
 * Adds the moves to the step's counts. Returns false if all lists are on the device
 * (`whole`) and nothing moves.
 */
static bool count_moves(const struct pass_ctx *c)
{
	const struct plan *p = &c->t->plan;
	bool any = false;

	for (u32 k = 0; k < p->n; k++) {
		const struct move *m = &p->move[k];
		bool sent = m->flags & MOVE_SEND;

		c->step->pages_active += (m->flags & (MOVE_WORK | MOVE_IDLE)) == MOVE_WORK;
		c->step->pages_to_device += sent;
		c->step->pages_reused += !sent && m->where != ON_HOST;
		any |= sent || !c->t->whole;
	}
	return any;
}

/*
 * Removes the host's moves from the plan of a later chunk: the host has the whole state and
 * did its work in the first chunk. If a removed move began a window, the next move begins
 * it.
 */
static void drop_host_moves(struct plan *p)
{
	u8 begins = 0;
	u32 n = 0;

	for (u32 k = 0; k < p->n; k++) {
		struct move m = p->move[k];

		begins |= m.flags & MOVE_BREAK;
		if (m.where == ON_HOST)
			continue;
		m.flags |= begins;
		begins = 0;
		p->move[n++] = m;
	}
	p->n = n;
}

static mill_err run_chunk(struct pass_ctx *c, u32 chunk)
{
	struct transfer *t = c->t;
	bool home = t->own && t->policy->home == HOME_HOST;
	mill_err err;

	if (home)
		TRY(state_put(t, c->pass, chunk));
	TRY(make_plan(c));
	if (chunk && t->policy->host)
		drop_host_moves(&t->plan);
	if (count_moves(c)) {
		err = fork_all(t);
		if (!err)
			err = run_plan(c);
		TRY(join_all(c, err));
	}
	if (t->whole)
		TRY(launch_whole(c));
	if (t->own && t->policy->home == HOME_TWIN)
		TRY(twin_exchange(t));
	return home ? state_get(t, c->pass) : MILL_OK;
}

/* Reads the counts of the policy's own kernels and adds them to the step. */
static mill_err end_counts(struct pass_ctx *c)
{
	u64 counts[COUNTS_N];

	TRY(transfer_count_end(c->t, counts, c->pass->next));
	c->t->gather.device_edges += counts[COUNT_EDGES];
	c->step->edges += counts[COUNT_EDGES] + c->host.edges;
	c->step->updates += counts[COUNT_UPDATES] + c->host.updates;
	c->step->lanes += counts[COUNT_SLOTS];
	c->step->atomics += counts[COUNT_ATOMICS];
	for (u32 k = 0; c->host.flag && k < c->t->n_flags; k++)
		c->pass->next[k] |= c->host.flag[k];
	return MILL_OK;
}

/*
 * Clears what a failed pass left: the tickets of its kernels, and a fault that a kernel may
 * have found.
 */
static mill_err clear_failure(struct station *s)
{
	for (u32 i = 0; i < s->n_slots; i++)
		device_wait(&s->slot[i].used);
	return device_fill(&s->fault, &(u64){ 0 }, sizeof(u64));
}

static mill_err begin_pass(struct pass_ctx *c, struct device_pass *p)
{
	struct transfer *t = c->t;

	for (u32 i = 0; t->failed && i < t->n_stations; i++)
		TRY(clear_failure(&t->station[i]));
	t->failed = false;
	if (!t->own)
		return MILL_OK;
	if (t->policy->host && p->next) {
		TRY(memory_new(&c->host.flag, t->budget, t->n_flags + 1ull, sizeof(u32),
			       "flags of the host"));
		c->host.pages = c->units->pages;
	}
	if (t->policy->home == HOME_HOST)
		TRY(state_begin(t, p));
	if (t->policy->home == HOME_TWIN)
		TRY(twin_begin(t, p));
	return transfer_count_begin(t);
}

mill_err transfer_pass(struct transfer *t, const struct device_pass *given, struct mill_step *step)
{
	struct device_pass pass = *given;
	struct pass_ctx c = {
		.t = t, .pass = &pass, .step = step, .in = side_of(t, given->activity.in)
	};
	mill_err err;

	c.units = &t->units[c.in];
	pass.step = step;
	assert(c.units->pages && !t->own == !pass.forms);
	if (!c.units->n)
		return MILL_OK;
	err = begin_pass(&c, &pass);
	for (u32 chunk = 0; !err && chunk < t->chunks; chunk++)
		err = run_chunk(&c, chunk);
	if (!err && t->own)
		err = end_counts(&c);
	memory_free(c.host.flag);
	if (err)
		forget_all(t);
	return err ? err : ticker_tick(t->ticker, c.units->n);
}
