/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that hold partitions: how many of which size, and what belongs to them. */
#include "engine/cache_form.h"

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

/* Of how many the tables tell: partitions, or the pages of a paged store whose ids are taken as they are. */
static u64 told(const struct pages *p, const struct wire_shape *w, u64 n)
{
	return p->address.slots && !w->page ? max_u64(n, p->n_pages) : n;
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
		return fixed_bytes(pages) + (st->paged ? 4 * pages : 0) + max_u64(each, w.page) + page_lists_bytes(rows, most) + 64;
	all = edges * w.edge + w.row * st->connected;
	if (each) {
		u64 most_n = edges / max_u64(each / (w.edge + w.row), 1) + pages;

		if (!n->view)
			most_n = told(&st->out, &w, partitions_count(&st->out, &w, each));
		return fixed_bytes(most_n) + round_up(max_u64(w.row ? 2 * each : each, w.edge + w.row), 4);
	}
	return fixed_bytes(PARTITION_STREAMS + pages) + min_u64(max_u64(64 * KIB, root((w.row ? 384 : 192) * all)), 2 * all) + 16;
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
		.pages = p, .active = is_cut, .work = place, .arg = &placing, .want = { .lists_only = true, .rows_only = true },
		.ticker = &r->ticker,
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
	struct ledger *l = &c->run->ledger;
	f64 began = clock_now(), placed;
	mill_err err = partitions_cut(&parts->table, &c->run->budget, p, &parts->shape, size);

	if (!err)
		err = place_parts(c, p);
	placed = clock_now();
	if (!err)
		err = partitions_number(&parts->table, &parts->shape, c->run->store->connected, &c->run->budget);
	/* The table of a paged store is no renaming: import did that. */
	l->renaming += parts->table.stored ? 0 : clock_now() - placed;
	l->cutting += (parts->table.stored ? clock_now() : placed) - began;
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
	most = fixed_bytes(told(p, w, PARTITION_STREAMS));
	most = room > most ? room - most : 0;
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

static mill_err open_table(struct device_cache *c, struct buffer *b, const u32 *from, u64 n)
{
	u64 bytes = (n + 1) * sizeof(u32);

	TRY(cache_buffer(c, b, bytes, "the table of partitions", TRAFFIC_FLAGS));
	return device_write(b, 0, from, bytes);
}

/* As many buffers as there is room for, each with a queue; packed pages also need places to be unpacked. */
static mill_err open_buffers(struct device_cache *c, u64 room)
{
	const struct partitions *t = &c->parts->table;
	u64 size = round_up(max_u64(t->largest, 4), 4), area = 0, rows, edges, queues, slots;
	u64 fixed = fixed_bytes(max_u64(t->n, t->n_ranges)) + c->side[0].first.size;
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
		.staged = !c->run->options.no_staging, .addressing = t->stored ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE,
	};
}

mill_err parts_open(struct device_cache *c, u64 room)
{
	struct mill_run *r = c->run;
	const struct pages *p = run_direction(r, false)->pages;

	r->ledger.cutting = r->ledger.renaming = 0;
	TRY(memory_new(&c->parts, &r->budget, 1, sizeof(*c->parts), "the partitions"));
	c->parts->wire = r->options.wire;
	c->parts->shape = shape_of(r, r->graph, c->weights);
	TRY(make_partitions(c, p, room));
	TRY(memory_new(&c->parts->missing, &r->budget, c->parts->table.n + 1u, 1, "the partitions"));
	if (c->parts->wire == MILL_WIRE_PACKED)
		TRY(memory_new(&c->parts->page, &r->budget, p->n_pages + 1u, sizeof(struct page_wire), "the partitions"));
	c->side[0].pages = p;
	if (c->parts->wire == MILL_WIRE_PACKED)
		TRY(cache_open_addresses(c, &c->side[0], p));
	TRY(open_stages(c));
	TRY(open_buffers(c, room));
	tell(c);
	TRY(cache_open_counts(c, c->parts->table.n_ranges));
	TRY(open_table(c, &c->parts->pre_sum, c->parts->table.pre_sum, c->parts->table.n_ranges));
	if (c->parts->wire != MILL_WIRE_PACKED)
		return MILL_OK;
	return open_table(c, &c->parts->first, c->parts->table.first, c->parts->table.n);
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
