/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes over partitions. What crosses as edges or as rows is made on the host, by all threads, page after page into one of two
 * stages; while one is filled, the other's transfers are under way. A partition's transfer goes into the queue of its slot, and
 * its kernel follows there.
 */
#include "engine/cache_form.h"

#include <string.h>

/* ---- Stages ---- */

struct moving {
	struct mill_run *run;
	struct device_cache *cache;
	struct parts *parts;
	const struct pages *pages;	/* of the direction */
	const struct partition_pass *pass;
	struct mill_step *step;
	u32 weight;			/* bytes of a weight */

	/* What the stage has: edges [begin, end), which lie in pages [page, page_end), of partitions [first, last). */
	struct stage *stage;
	u64 begin, end;
	u32 page, page_end, first, last;
};

/* All that the stage was sent from is on the device. */
static mill_err empty_stage(struct stage *s)
{
	mill_err err = MILL_OK, late;

	for (u32 i = 0; i < s->n_transfers; i++) {
		late = device_wait(&s->transfer[i]);
		err = err ? err : late;
	}
	s->n_transfers = 0;
	return err;
}

/* Of the pages of the stage those that hold something of a partition that is missing. */
static bool is_wanted(void *arg, u32 page)
{
	const struct moving *m = arg;
	const struct partitions *t = &m->parts->table;

	for (u32 i = m->first; i < m->last; i++)
		if (m->parts->missing[i] && t->page[i] <= page && page < t->page_end[i])
			return true;
	return false;
}

/* The first row that has an edge from `at` on. */
static u32 row_at(const struct segment *seg, u32 at)
{
	u32 low = 0, high = seg->n_rows;

	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (seg->row[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The neighbours at positions [begin, end) of a segment, which ascend, by their new ids, unless they have them. */
static void rename_list(const struct partitions *t, u32 *to, const struct segment *seg, u32 begin, u32 end)
{
	u32 near;

	if (t->stored) {
		memcpy(to, seg->neighbour + begin, (end - begin) * sizeof(*to));
		return;
	}
	near = begin < end && seg->neighbour[begin] < t->first[t->n] ? partitions_find(t, seg->neighbour[begin]) : 0;
	for (u32 i = begin; i < end; i++)
		*to++ = partitions_id(t, seg->neighbour[i], &near);
}

/* The range in which a source has its id: that of its partition, or of the page in which its list begins. */
static u32 source_range(const struct moving *m, u32 page, const struct segment *seg, u32 row)
{
	if (!m->parts->table.stored)
		return partitions_find(&m->parts->table, (vid)(seg->first + row));
	return row || !seg->skip ? page : pages_find(m->pages, seg->first);
}

static mill_err fill_stage(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct moving *m = arg;
	const struct partitions *t = &m->parts->table;
	struct stage *s = m->stage;
	u64 base = seg->first_edge, at;
	u32 low = (u32)(max_u64(m->begin, base) - base), high = (u32)min_u64(m->end - base, seg->n_edges);
	vid v0 = (vid)m->pages->entry[m->page].first_vertex;

	(void)worker;
	at = base + low - m->begin;
	for (u32 row = row_at(seg, low); row < seg->n_rows && seg->row[row] <= high; row++) {
		u32 begin = (u32)max_u64(seg->row[row], low), end = (u32)min_u64(seg->row[row + 1], high);
		u32 range = s->source ? source_range(m, page, seg, row) : 0;

		if (s->row && !(row == 0 && seg->skip) && seg->row[row] >= low)
			s->row[seg->first + row - v0] = (u32)(base + seg->row[row]);
		if (begin >= end)
			continue;
		rename_list(t, s->neighbour + at, seg, begin, end);
		for (u32 i = 0; s->source && i < end - begin; i++)
			s->source[at + i] = seg->first + row + t->pre_sum[range];
		at += end - begin;
	}
	if (s->weight)
		memcpy(s->weight + (base + low - m->begin) * m->weight, (const u8 *)seg->weight + (u64)low * m->weight,
		       (u64)(high - low) * m->weight);
	return MILL_OK;
}

static mill_err stream(struct moving *m, struct stream_pass *sp)
{
	mill_err err;

	sp->pages = m->pages;
	sp->first = m->page;
	sp->end = m->page_end;
	sp->active = is_wanted;
	sp->arg = m;
	sp->want.lists_only = !m->cache->weights;
	sp->want.as_stored = m->parts->table.stored;
	sp->ticker = &m->run->ticker;
	err = stream_run(m->run->stream, sp);
	sp->n_active = sp->n_reused = 0;	/* partitions are what counts */
	step_add_pass(m->step, sp);
	return err;
}

/* Makes the edges [begin, end), which lie in pages [page, page_end). */
static mill_err load_stage(struct moving *m)
{
	struct stream_pass sp = { .work = fill_stage };
	mill_err err;

	m->stage = &m->parts->stage[m->parts->next_stage++ % 2];
	TRY(empty_stage(m->stage));
	err = stream(m, &sp);
	m->run->ledger.edges_made += (sp.decode + sp.compute) / pool_size(m->run->pool);
	return err;
}

static mill_err send(struct moving *m, struct buffer *to, u64 at, const void *from, u64 bytes, u32 queue)
{
	struct stage *s = m->stage;

	if (!bytes)
		return MILL_OK;
	if (s->n_transfers == STAGE_SENDS)
		TRY(empty_stage(s));
	m->step->to_device += bytes;
	TRY(device_send(to, at, from, bytes, queue, &s->transfer[s->n_transfers]));
	s->n_transfers++;
	return MILL_OK;
}

/* ---- Partitions ---- */

/* Where things lie in a slot: weights, then neighbours, then sources or rows. */
static u64 neighbour_at(const struct moving *m, u32 i) { return (u64)m->weight * m->parts->table.unit.entry[i].n_edges; }
static u64 source_at(const struct moving *m, u32 i) { return neighbour_at(m, i) + 4ull * m->parts->table.unit.entry[i].n_edges; }

/* The rows that begin in the stage's pages. */
static mill_err send_rows(struct moving *m, u32 i, struct buffer *to, u32 queue)
{
	const struct page_entry *e = &m->parts->table.unit.entry[i], *page = m->pages->entry;
	u64 v0 = page[m->page].first_vertex, from = max_u64(e->first_vertex, v0 + (page[m->page].skip != 0));
	u64 end = min_u64(e->first_vertex + (u64)e->n_rows,
			  page[m->page_end - 1].first_vertex + (u64)page[m->page_end - 1].n_rows);

	if (from >= end)
		return MILL_OK;
	return send(m, to, source_at(m, i) + 4 * (from - e->first_vertex), m->stage->row + (from - v0), 4 * (end - from), queue);
}

/* What the stage has of partition i. */
static mill_err send_part(struct moving *m, u32 i, u32 slot)
{
	const struct page_entry *e = &m->parts->table.unit.entry[i];
	struct buffer *to = &m->cache->slot[slot].buffer;
	u64 from = max_u64(e->first_edge, m->begin), end = min_u64(e->first_edge + e->n_edges, m->end), n = end - from;
	u64 in_stage = from - m->begin, at = from - e->first_edge;
	u32 queue = 1 + slot % m->cache->n_areas;

	TRY(send(m, to, neighbour_at(m, i) + 4 * at, m->stage->neighbour + in_stage, 4 * n, queue));
	if (m->weight)
		TRY(send(m, to, m->weight * at, m->stage->weight + m->weight * in_stage, m->weight * n, queue));
	if (m->parts->wire == MILL_WIRE_CSR)
		return send_rows(m, i, to, queue);
	return send(m, to, source_at(m, i) + 4 * at, m->stage->source + in_stage, 4 * n, queue);
}

/* A page of a partition that crosses packed. */
static mill_err use_page(struct moving *m, u32 i, u32 page, u32 slot)
{
	struct device_cache *c = m->cache;
	const struct buffer *from = &c->slot[slot].buffer;
	const struct page_wire *w = &m->parts->page[page];
	const struct page_entry *e = &m->pages->entry[page];
	u64 page_at = (u64)(page - m->parts->table.page[i]) * c->run->graph->page_size;
	struct place to = { .lists = &c->area[slot % c->n_areas].lists, .neighbour_at = e->n_rows + 1u,
			    .queue = 1 + slot % c->n_areas };
	struct device_partition part = {
		.wire = MILL_WIRE_PACKED,
		.lists = from,
		.weights = c->weights ? from : NULL,
		.source_at = (u32)((page_at + w->begin) / 4),
		.neighbour_at = (u32)((page_at + w->neighbour_at) / 4),
		.weight_at = (u32)((page_at + w->weight_at) / 4),
		.first = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.queue = to.queue,
	};

	if (w->n_blocks) {
		TRY(cache_unpack(&c->fault, m->pages, page, from, page_at, w, &to));
		part.lists = to.lists;
		part.source_at = 0;
		part.neighbour_at = to.neighbour_at;
	}
	return m->pass->launch(m->pass->arg, &part);
}

static mill_err use_part(struct moving *m, u32 i, u32 slot)
{
	const struct partitions *t = &m->parts->table;
	const struct page_entry *e = &t->unit.entry[i];
	const struct buffer *from = &m->cache->slot[slot].buffer;

	if (!m->pass->active[i])
		return MILL_OK;
	m->step->pages_active++;
	m->step->edges += e->n_edges;
	for (u32 page = t->page[i]; m->parts->wire == MILL_WIRE_PACKED && page < t->page_end[i]; page++)
		TRY(use_page(m, i, page, slot));
	if (m->parts->wire == MILL_WIRE_PACKED)
		return MILL_OK;
	return m->pass->launch(m->pass->arg, &(struct device_partition){
		.wire = m->parts->wire,
		.lists = from,
		.weights = m->weight ? from : NULL,
		.source_at = (u32)(source_at(m, i) / 4),
		.neighbour_at = (u32)(neighbour_at(m, i) / 4),
		.first = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.base = (u32)e->first_edge,
		.queue = 1 + slot % m->cache->n_areas,
	});
}

static u32 take_slot(struct moving *m, u32 i)
{
	m->step->pages_to_device++;
	return evict_take(m->cache->evict, &m->parts->table.unit, i);
}

/* ---- A pass ---- */

static u64 edges_end(const struct page_entry *e) { return e->first_edge + e->n_edges; }
static u64 rows_of(const struct moving *m, u32 page, u32 page_end)
{
	const struct page_entry *last = &m->pages->entry[page_end - 1];

	return last->first_vertex + (u64)last->n_rows - m->pages->entry[page].first_vertex;
}

/* One that a stage cannot hold comes in pieces of whole pages. */
static mill_err move_large(struct moving *m, u32 i)
{
	const struct partitions *t = &m->parts->table;
	const struct page_entry *page = m->pages->entry;
	u32 slot = take_slot(m, i);

	m->first = i;
	m->last = i + 1;
	for (m->page = t->page[i]; m->page < t->page_end[i]; m->page = m->page_end) {
		m->begin = page[m->page].first_edge;
		m->page_end = m->page + 1;
		while (m->page_end < t->page_end[i] && edges_end(&page[m->page_end]) - m->begin <= m->parts->stage_edges &&
		       rows_of(m, m->page, m->page_end + 1) <= m->parts->stage_rows)
			m->page_end++;
		m->end = edges_end(&page[m->page_end - 1]);
		TRY(load_stage(m));
		TRY(send_part(m, i, slot));
	}
	return use_part(m, i, slot);
}

/* Those from i on that a stage holds together: parts of a page, which is so decoded once, or of a few. */
static mill_err move_some(struct moving *m, u32 *i)
{
	const struct partitions *t = &m->parts->table;
	const struct page_entry *e = t->unit.entry;

	m->first = *i;
	m->begin = e[*i].first_edge;
	m->page = t->page[*i];
	for (m->last = *i; m->last < t->n && edges_end(&e[m->last]) - m->begin <= m->parts->stage_edges &&
			   rows_of(m, m->page, t->page_end[m->last]) <= m->parts->stage_rows; m->last++)
		if (m->parts->missing[m->last]) {
			m->end = edges_end(&e[m->last]);
			m->page_end = t->page_end[m->last];
		}
	TRY(load_stage(m));
	for (; *i < m->last; ++*i)
		if (m->parts->missing[*i]) {
			u32 slot = take_slot(m, *i);

			TRY(send_part(m, *i, slot));
			TRY(use_part(m, *i, slot));
		}
	return MILL_OK;
}


static mill_err send_page(void *arg, u32 page, const void *frame, struct ticket *sent)
{
	const struct moving *m = arg;
	struct page_wire *w = &m->parts->page[page];
	u32 i = m->first, slot = evict_slot(m->cache->evict, &m->parts->table.unit, i), queue = 1 + slot % m->cache->n_areas, end;
	u64 page_at = (u64)(page - m->parts->table.page[i]) * m->run->graph->page_size;

	TRY(page_wire(m->pages, page, frame, w));
	end = m->cache->weights ? w->weight_end : w->end;
	m->step->to_device += end - w->begin;
	TRY(device_send(&m->cache->slot[slot].buffer, page_at + w->begin, (const char *)frame + w->begin, end - w->begin, queue, sent));
	return cache_number(m->cache, &m->cache->side[0], page, &m->cache->slot[slot].buffer, (u32)((page_at + w->neighbour_at) / 4),
			    queue);
}

static mill_err move_packed(struct moving *m, u32 i)
{
	struct stream_pass sp = { .pass_on = send_page, .in_order = true };
	u32 slot = take_slot(m, i);

	m->first = i;
	m->last = i + 1;
	m->page = m->parts->table.page[i];
	m->page_end = m->parts->table.page_end[i];
	TRY(stream(m, &sp));
	return use_part(m, i, slot);
}

static mill_err move_missing(struct moving *m)
{
	const struct partitions *t = &m->parts->table;

	for (u32 i = 0; i < t->n;) {
		if (!m->parts->missing[i]) {
			i++;
		} else if (m->parts->wire == MILL_WIRE_PACKED) {
			TRY(move_packed(m, i++));
		} else if (t->unit.entry[i].n_edges > m->parts->stage_edges ||
			   rows_of(m, t->page[i], t->page_end[i]) > m->parts->stage_rows) {
			TRY(move_large(m, i++));
		} else {
			TRY(move_some(m, &i));
		}
	}
	return MILL_OK;
}

/* Those that are there first, then the others, each over the slot that has been longest in use. */
static mill_err run_parts(struct moving *m)
{
	struct evict *e = m->cache->evict;
	const struct partitions *t = &m->parts->table;

	evict_begin(e);
	memset(m->parts->missing, 0, t->n);
	for (u32 i = 0; i < t->n; i++) {
		u32 slot = evict_slot(e, &t->unit, i);

		if (!m->pass->active[i] && !m->run->options.no_skip)
			continue;
		if (slot == NO_SLOT_HELD) {
			m->parts->missing[i] = 1;
			continue;
		}
		evict_use(e, slot);
		m->step->pages_reused++;
		TRY(use_part(m, i, slot));
	}
	return move_missing(m);
}

mill_err cache_run_partitions(struct mill_run *r, const struct partition_pass *pass, struct mill_step *step)
{
	struct device_cache *c = r->cache;
	struct moving m = {
		.run = r, .cache = c, .parts = c->parts, .pages = c->side[0].pages, .pass = pass, .step = step,
		.weight = c->weights ? (u32)weight_size(r->graph->weight) : 0,
	};
	u64 moved = step->pages_to_device;
	mill_err err, late;

	if (!c->parts->table.n)
		return MILL_OK;
	if (r->options.no_reuse)
		evict_clear(c->evict);
	err = device_fork(r->device);
	if (!err)
		err = run_parts(&m);
	for (u32 i = 0; i < 2; i++) {
		late = empty_stage(&c->parts->stage[i]);
		err = err ? err : late;
	}
	err = cache_join(c, err);
	if (!err && c->parts->wire == MILL_WIRE_PACKED && step->pages_to_device != moved)
		err = cache_check_fault(&c->fault, m.pages);
	if (err)
		evict_clear(c->evict);	/* a partition may not have come where it was sent */
	return err ? err : ticker_tick(&r->ticker, c->parts->table.n);
}
