/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slots that hold partitions. What crosses as edges or as rows is made on the host, by all threads, page after page into one of two
 * stages; while one is filled, the other's transfers are under way. A partition's transfer goes into the queue of its slot, and
 * its kernel follows there.
 */
#include "engine/cache_form.h"

#include <assert.h>
#include <string.h>

#include "store/packed.h"
#include "store/page.h"

#define STAGE_EDGES (512u * 1024)	/* of a stage, if there are so many and no page has more */
#define AREA_SHARE 4u			/* places to unpack pages take at most one part in so many of the budget */
#define TABLE_SHARE 4u			/* what belongs to each partition takes at most one part in so many of the budget */

/* ---- Sizes ---- */

/* On the device, besides slots: counters, flags, and two tables. */
static u64 fixed_bytes(u64 n) { return LANE_WORDS * sizeof(u64) + 3 * 4 * (n + 2) + 512; }

static struct wire_shape shape_of(const struct mill_run *r, const struct store *st, bool weights)
{
	u32 weight = weights ? (u32)weight_size(st->weight) : 0;

	switch (r->options.wire) {
	case MILL_WIRE_EDGES:
		return (struct wire_shape){ .edge = 8 + weight };
	case MILL_WIRE_CSR:
		return (struct wire_shape){ .edge = 4 + weight, .row = 4 };
	default:
		return (struct wire_shape){ .edge = 4 + weight, .page = st->page_size };
	}
}

/* The largest page. NULL: of a view of the store that is not made yet. */
static void largest_page(const struct pages *p, const struct store *st, u64 *rows, u64 *edges)
{
	*rows = *edges = p ? 0 : (st->codec == PAGE_PACKED ? PACKED_GROWTH : 1u) * (u64)st->page_size / 4;
	for (u32 i = 0; p && i < p->n_pages; i++) {
		*rows = max_u64(*rows, p->entry[i].n_rows);
		*edges = max_u64(*edges, p->entry[i].n_edges);
	}
}

/* For how many edges, and rows, a stage has room; bytes of both stages. */
static u64 stage_size(const struct mill_run *r, const struct wire_shape *w, const struct pages *p, u64 *rows, u64 *edges)
{
	if (w->page) {
		*rows = *edges = 0;
		return 0;
	}
	largest_page(p, r->store, rows, edges);
	*edges = max_u64(*edges, p ? min_u64(STAGE_EDGES, p->n_pages * *edges) : STAGE_EDGES);
	*rows = max_u64(*rows, *edges);
	return 2 * (*edges * w->edge + (r->options.wire == MILL_WIRE_CSR ? 4 * *rows : 0));
}

u64 cache_stage_bytes(const struct mill_run *r, const struct need *n)
{
	struct wire_shape w = shape_of(r, r->store, n->weights);
	u64 rows, edges;

	return n->partitions ? stage_size(r, &w, n->view ? NULL : &r->store->out, &rows, &edges) : 0;
}

u64 cache_staged(const struct device_cache *c)
{
	u64 rows, edges;

	return c->parts ? stage_size(c->run, &c->parts->shape, c->side[0].pages, &rows, &edges) : 0;
}

/* The smallest number whose square is not below x. */
static u64 root(u64 x)
{
	u64 low = 0, high = (u64)1 << 32;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (middle * middle >= x)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Of a size that is given: its tables and one of them. Otherwise what makes tables and partitions both small: sizes fall as
 * tables grow.
 */
u64 parts_least(const struct mill_run *r, const struct need *n)
{
	const struct store *st = r->store;
	struct wire_shape w = shape_of(r, st, n->weights);
	u64 edges = n->view ? view_edges(st, n->view) : st->stored_edges, rows, most, all, each = r->options.partition_size;
	u64 pages = ((u64)st->out.n_pages + st->in.n_pages) * (n->view ? 4 : 1) + 1;

	largest_page(n->view ? NULL : &st->out, st, &rows, &most);
	if (w.page)
		return fixed_bytes(pages) + max_u64(each, w.page) + page_lists_bytes(rows, most) + 64;
	all = edges * w.edge + w.row * st->connected;
	if (each) {
		u64 most_n = edges / max_u64(each / (w.edge + w.row), 1) + pages;

		if (!n->view)
			most_n = partitions_count(&st->out, &w, each);
		return fixed_bytes(most_n) + round_up(max_u64(w.row ? 2 * each : each, w.edge + w.row), 4);
	}
	return fixed_bytes(PARTITION_STREAMS + pages) + min_u64(max_u64(64 * KIB, root(192 * all)), all) + 16;
}

/* ---- Making partitions ---- */

struct placing {
	struct partitions *table;
};

static bool is_cut(void *arg, u32 page) { return partitions_is_cut(((struct placing *)arg)->table, page); }

static mill_err place(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	(void)worker;
	partitions_place(((struct placing *)arg)->table, page, seg);
	return MILL_OK;
}

/* Looks into the pages that hold parts, on all threads. Before the run has its stream, through one that is soon gone. */
static mill_err place_parts(struct device_cache *c, const struct pages *p)
{
	struct mill_run *r = c->run;
	struct placing placing = { &c->parts->table };
	struct stream_pass sp = {
		.pages = p, .active = is_cut, .work = place, .arg = &placing, .want = { .lists_only = true }, .ticker = &r->ticker,
	};
	struct stream *stream = r->stream;
	mill_err err = MILL_OK;

	if (!c->parts->table.n_cut)
		return MILL_OK;
	if (!stream)
		err = run_open_stream(r, &stream, r->graph, r->frame_bytes, LOAD_FRAMES);
	if (!err)
		err = stream_run(stream, &sp);
	if (stream != r->stream)
		stream_close(stream);
	return err;
}

static mill_err make(struct device_cache *c, const struct pages *p, u64 size)
{
	struct parts *parts = c->parts;
	mill_err err = partitions_cut(&parts->table, &c->run->budget, p, &parts->shape, size);

	if (!err)
		err = place_parts(c, p);
	if (!err)
		err = partitions_number(&parts->table, &parts->shape, c->run->store->connected, &c->run->budget);
	if (err)
		partitions_release(&parts->table);
	return err;
}

/* Rule V-C, but for tables that would leave no room for partitions. */
static u64 choose_size(const struct device_cache *c, const struct pages *p, u64 room)
{
	const struct wire_shape *w = &c->parts->shape;
	u64 all = partition_bytes(w, p, 0, p->n_pages), size, most;

	if (c->run->options.partition_size)
		return c->run->options.partition_size;
	most = room > fixed_bytes(PARTITION_STREAMS) ? room - fixed_bytes(PARTITION_STREAMS) : 0;
	size = partition_size(all, most);
	most = room / TABLE_SHARE > fixed_bytes(0) ? (room / TABLE_SHARE - fixed_bytes(0)) / 12 : 1;
	return max_u64(size, div_up(all, max_u64(most, PARTITION_STREAMS)));
}

/* Where ids overflow, the smallest size that does not let them is looked for, in steps of an eighth. */
static mill_err make_partitions(struct device_cache *c, const struct pages *p, u64 room)
{
	u64 size = choose_size(c, p, room);
	mill_err err;

	while ((err = make(c, p, size)) == MILL_ELIMIT && !c->run->options.partition_size && size <= room)
		size += max_u64(size / 8, 1);
	return err;
}

/* ---- Open and close ---- */

static mill_err open_stages(struct device_cache *c)
{
	struct parts *p = c->parts;
	struct budget *b = &c->run->budget;
	u32 weight = c->weights ? (u32)weight_size(c->run->graph->weight) : 0;

	stage_size(c->run, &p->shape, c->side[0].pages, &p->stage_rows, &p->stage_edges);
	for (u32 i = 0; i < 2 && p->stage_edges; i++) {
		struct stage *s = &p->stage[i];

		if (p->wire == MILL_WIRE_EDGES)
			TRY(memory_new(&s->source, b, p->stage_edges, sizeof(u32), "edges on their way to the device"));
		else
			TRY(memory_new(&s->row, b, p->stage_rows, sizeof(u32), "rows on their way to the device"));
		TRY(memory_new(&s->neighbour, b, p->stage_edges, sizeof(u32), "edges on their way to the device"));
		if (weight)
			TRY(memory_new(&s->weight, b, p->stage_edges, weight, "weights on their way to the device"));
	}
	return MILL_OK;
}

static mill_err open_table(struct device_cache *c, struct buffer *b, const u32 *from)
{
	u64 bytes = (c->parts->table.n + 1) * sizeof(u32);

	TRY(cache_buffer(c, b, bytes, "the table of partitions", TRAFFIC_FLAGS));
	return device_write(b, 0, from, bytes);
}

/* As many buffers as there is room for, each with a queue; packed pages also need places to be unpacked. */
static mill_err open_buffers(struct device_cache *c, u64 room)
{
	const struct partitions *t = &c->parts->table;
	u64 size = round_up(max_u64(t->largest, 4), 4), fixed = fixed_bytes(t->n), area = 0, rows, edges, queues, slots;
	u32 n_units[2] = { t->n, 0 };

	if (c->parts->wire == MILL_WIRE_PACKED && c->run->graph->codec == PAGE_PACKED) {
		largest_page(c->side[0].pages, c->run->graph, &rows, &edges);
		area = page_lists_bytes(rows, edges) + 64;
	}
	room = room > fixed ? room - fixed : 0;
	queues = max_u64(min_u64(min_u64(c->run->device->n_queues, max_u64(t->n, 1)), room / (area + size)), 1);
	if (area)	/* with few slots a queue more would cost one of them */
		queues = max_u64(min_u64(queues, room / AREA_SHARE / area), 1);
	slots = room > queues * area ? min_u64((room - queues * area) / size, max_u64(t->n, 1)) : 0;
	if (!slots)
		return fail(MILL_ENOMEM, "the device's budget leaves %llu bytes for partitions, of which one has %llu",
			    (unsigned long long)room, (unsigned long long)size);
	TRY(cache_open_areas(c, (u32)min_u64(queues, slots), 0, 0, area));
	TRY(cache_open_slots(c, (u32)slots, size));
	return evict_open(&c->evict, &c->run->budget, n_units, c->n_slots, c->n_areas, c->run->policy);
}

/* For the report, which may be asked for when the cache has another form. */
static void tell(const struct device_cache *c)
{
	const struct partitions *t = &c->parts->table;

	c->run->parted = (struct mill_partitions){
		.count = t->n, .bytes = t->largest, .buffers = c->n_slots, .range = t->range, .ids = t->ids, .wire = c->parts->wire,
		.staged = !c->run->options.no_staging,
	};
}

mill_err parts_open(struct device_cache *c, u64 room)
{
	struct mill_run *r = c->run;
	const struct pages *p = run_direction(r, false)->pages;
	f64 began = clock_now();

	TRY(memory_new(&c->parts, &r->budget, 1, sizeof(*c->parts), "the partitions"));
	c->parts->wire = r->options.wire;
	c->parts->shape = shape_of(r, r->graph, c->weights);
	TRY(make_partitions(c, p, room));
	TRY(memory_new(&c->parts->missing, &r->budget, c->parts->table.n + 1u, 1, "the partitions"));
	if (c->parts->wire == MILL_WIRE_PACKED)
		TRY(memory_new(&c->parts->page, &r->budget, p->n_pages + 1u, sizeof(struct page_wire), "the partitions"));
	r->ledger.renaming = clock_now() - began;
	c->side[0].pages = p;
	TRY(open_stages(c));
	TRY(open_buffers(c, room));
	tell(c);
	TRY(cache_open_counts(c, c->parts->table.n));
	TRY(open_table(c, &c->parts->pre_sum, c->parts->table.pre_sum));
	return c->parts->wire == MILL_WIRE_PACKED ? open_table(c, &c->parts->first, c->parts->table.first) : MILL_OK;
}

void parts_close(struct parts *p)
{
	if (!p)
		return;
	for (u32 i = 0; i < 2; i++) {
		memory_free(p->stage[i].source);
		memory_free(p->stage[i].neighbour);
		memory_free(p->stage[i].weight);
		memory_free(p->stage[i].row);
	}
	device_buffer_free(&p->first);
	device_buffer_free(&p->pre_sum);
	memory_free(p->page);
	memory_free(p->missing);
	partitions_release(&p->table);
	memory_free(p);
}

const struct partitions *cache_partitions(const struct mill_run *r)
{
	return r->cache && r->cache->parts ? &r->cache->parts->table : NULL;
}

const struct buffer *cache_pre_sum(const struct mill_run *r) { return &r->cache->parts->pre_sum; }
const struct buffer *cache_first(const struct mill_run *r)
{
	return r->cache->parts->first.owner ? &r->cache->parts->first : NULL;
}

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

/* The neighbours at positions [begin, end) of a segment, which ascend, by their new ids. */
static void rename_list(const struct partitions *t, u32 *to, const struct segment *seg, u32 begin, u32 end)
{
	u32 near = begin < end && seg->neighbour[begin] < t->first[t->n] ? partitions_find(t, seg->neighbour[begin]) : 0;

	for (u32 i = begin; i < end; i++)
		*to++ = partitions_id(t, seg->neighbour[i], &near);
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
	(void)page;
	at = base + low - m->begin;
	for (u32 row = row_at(seg, low); row < seg->n_rows && seg->row[row] <= high; row++) {
		u32 begin = (u32)max_u64(seg->row[row], low), end = (u32)min_u64(seg->row[row + 1], high);
		u32 near = s->source ? partitions_find(t, (vid)(seg->first + row)) : 0;

		if (s->row && !(row == 0 && seg->skip) && seg->row[row] >= low)
			s->row[seg->first + row - v0] = (u32)(base + seg->row[row]);
		if (begin >= end)
			continue;
		rename_list(t, s->neighbour + at, seg, begin, end);
		for (u32 i = 0; s->source && i < end - begin; i++)
			s->source[at + i] = seg->first + row + t->pre_sum[near];
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
		TRY(cache_unpack(c, m->pages, page, from, page_at, w, &to));
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


static mill_err send_page(void *arg, u32 page, const void *frame)
{
	const struct moving *m = arg;
	struct page_wire *w = &m->parts->page[page];
	u32 i = m->first, slot = evict_slot(m->cache->evict, &m->parts->table.unit, i), end;
	u64 page_at = (u64)(page - m->parts->table.page[i]) * m->run->graph->page_size;
	struct transfer t;

	TRY(page_wire(m->pages, page, frame, w));
	end = m->cache->weights ? w->weight_end : w->end;
	m->step->to_device += end - w->begin;
	TRY(device_send(&m->cache->slot[slot].buffer, page_at + w->begin, (const char *)frame + w->begin, end - w->begin,
			1 + slot % m->cache->n_areas, &t));
	return device_wait(&t);
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
		err = cache_check_fault(c, m.pages);
	if (err)
		evict_clear(c->evict);	/* a partition may not have come where it was sent */
	return err ? err : ticker_tick(&r->ticker, c->parts->table.n);
}
