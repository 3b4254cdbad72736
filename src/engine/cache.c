/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cache_form.h"

#include <string.h>

#include "base/bitmap.h"
#include "store/packed.h"
#include "store/page.h"

#define AREA_SHARE 4u		/* slots: areas of queues take at most one part in so many */

static const char *const pages_text[] = { "device/dialect.h", "op/page.cl", "engine/pages.cl" };
const struct kernel_source cache_kernels = { "pages", pages_text, ARRAY_LEN(pages_text) };

/* ---- Sizes ---- */

static void add_shape(struct page_shape *s, const struct pages *p)
{
	for (u32 i = 0; i < p->n_pages; i++) {
		const struct page_entry *e = &p->entry[i];

		s->rows = max_u64(s->rows, e->n_rows);
		s->edges = max_u64(s->edges, e->n_edges);
		s->lists = max_u64(s->lists, page_lists_bytes(e->n_rows, e->n_edges));
	}
}

struct page_shape page_shape(const struct store *st)
{
	struct page_shape s = { .wire = st->page_size };

	add_shape(&s, &st->out);
	if (st->directed && st->has_in)
		add_shape(&s, &st->in);
	return s;
}

struct page_shape page_shape_at_most(const struct store *st)
{
	u64 lists = (st->codec == PAGE_PACKED ? (u64)PACKED_GROWTH : 1) * st->page_size;

	return (struct page_shape){ st->page_size, lists / 4, lists / 4, lists };
}

static u64 tiles(u64 n) { return div_up(n, TILE_ROWS); }

static u64 scratch_bytes(const struct need *n, u64 edges) { return n->edge_scratch ? n->edge_scratch * edges + 64 : 0; }

/*
 * A work area for segments of so many rows and edges; lists: bytes of one that is unpacked there; scratch: edges that have some at a
 * time.
 */
static u64 area_bytes(const struct mill_run *r, const struct need *n, u64 rows, u64 edges, u64 lists, u64 scratch)
{
	u64 bytes = lists + scratch_bytes(n, scratch);
	bool select = n->advances;

	if (select)
		bytes += 4 * rows + 4 * (rows + 1) + 8 * (tiles(rows) + 1);
	if (select && r->options.filter != MILL_FILTER_FUSED)
		bytes += 4 * edges;
	if (select && r->options.filter == MILL_FILTER_EXACT)
		bytes += 4 * edges + 8 * (tiles(edges) + 1);
	return bytes + 64;
}

static u64 page_area(const struct mill_run *r, const struct need *n, const struct store *st, const struct page_shape *s)
{
	return area_bytes(r, n, s->rows, s->edges, st->codec == PAGE_PACKED ? s->lists : 0, s->edges);
}

/* Counts, page ranges, addresses and what else is small. */
static u64 fixed_bytes(const struct store *st, u64 pages)
{
	return LANE_WORDS * sizeof(u64) + (st->paged ? 16 : 12) * pages + 512;
}

static u64 all_pages(const struct store *st)
{
	return (u64)st->out.n_pages + (st->directed && st->has_in ? st->in.n_pages : 0);
}

u64 cache_slot_size(const struct store *st) { return st->page_size; }

u64 cache_least(const struct mill_run *r, const struct need *n)
{
	const struct store *st = r->store;
	struct page_shape s = n->view ? page_shape_at_most(st) : page_shape(st);
	u64 pages = all_pages(st) * (n->view ? 4 : 1);	/* a view can have more */

	u64 least = fixed_bytes(st, pages) + page_area(r, n, st, &s) + s.wire + (st->codec == PAGE_PACKED ? 0 : s.wire);

	if (!n->partitions)
		return least;
	/* Parents are settled page by page. */
	return max_u64(parts_least(r, n), n->advances ? least : 0);
}

/* ---- Open and close ---- */

/* Device bytes of all lists of a direction side by side. */
static u64 whole_bytes(const struct topology *t) { return 4 * (t->n_rows + 1 + t->n_edges); }

/* Windows of pages share the scratch: at least one fits. */
static u64 whole_scratch(const struct mill_run *r, u64 edges)
{
	u64 most = r->device->chunked ? SCRATCH_CHUNKED : SCRATCH_WIDE;

	return min_u64(edges, max_u64(most, page_shape(r->graph).edges));
}

/* Can everything be there, unpacked? */
static bool fits_whole(const struct device_cache *c, u64 room)
{
	struct mill_run *r = c->run;
	u64 bytes = STAGES * (u64)r->graph->page_size, rows = 0, edges = 0;

	for (int in = 0; in < 2; in++) {
		const struct topology *t = run_direction(r, in);
		u64 weights;

		if (!c->side[in].pages)
			continue;
		weights = c->weights ? t->n_edges * weight_size(r->graph->weight) : 0;
		if (t->n_edges >= UINT32_MAX || whole_bytes(t) > r->device->largest || weights > r->device->largest)
			return false;
		bytes += whole_bytes(t) + weights + 64;
		rows = max_u64(rows, t->n_rows);
		edges = max_u64(edges, t->n_edges);
	}
	return !r->sample && bytes + area_bytes(r, &r->need, rows, edges, 0, whole_scratch(r, edges)) <= room;
}

mill_err cache_buffer(struct device_cache *c, struct buffer *b, u64 size, const char *what, enum traffic kind)
{
	TRY(device_buffer(c->run->device, b, size, what));
	b->kind = kind;
	return MILL_OK;
}

static mill_err open_area(struct device_cache *c, struct work_area *a, u64 rows, u64 edges, u64 lists)
{
	enum mill_filter filter = c->run->options.filter;

	if (lists)
		TRY(cache_buffer(c, &a->lists, lists, "an unpacked page", TRAFFIC_WRITABLE));
	if (c->run->need.edge_scratch)
		TRY(cache_buffer(c, &a->scratch, scratch_bytes(&c->run->need, c->scratch_edges), "scratch", TRAFFIC_WRITABLE));
	if (!c->select)
		return MILL_OK;
	TRY(cache_buffer(c, &a->list, 4 * rows, "a list of active rows", TRAFFIC_WRITABLE));
	TRY(cache_buffer(c, &a->offset, 4 * (rows + 1), "a list of active rows", TRAFFIC_WRITABLE));
	TRY(cache_buffer(c, &a->tile, 8 * (tiles(rows) + 1), "a list of active rows", TRAFFIC_WRITABLE));
	if (filter != MILL_FILTER_FUSED)
		TRY(cache_buffer(c, &a->queue, 4 * edges, "the queue of an advance", TRAFFIC_WRITABLE));
	if (filter == MILL_FILTER_EXACT) {
		TRY(cache_buffer(c, &a->kept, 4 * edges, "the queue of an advance", TRAFFIC_WRITABLE));
		TRY(cache_buffer(c, &a->kept_tile, 8 * (tiles(edges) + 1), "the queue of an advance", TRAFFIC_WRITABLE));
	}
	return MILL_OK;
}

mill_err cache_open_areas(struct device_cache *c, u32 n, u64 rows, u64 edges, u64 lists)
{
	c->n_areas = n;
	TRY(memory_new(&c->area, &c->run->budget, n, sizeof(*c->area), "the device's work areas"));
	for (u32 i = 0; i < n; i++)
		TRY(open_area(c, &c->area[i], rows, edges, lists));
	return MILL_OK;
}

mill_err cache_open_slots(struct device_cache *c, u32 n, u64 size)
{
	c->n_slots = n;
	TRY(memory_new(&c->slot, &c->run->budget, n, sizeof(*c->slot), "the device's slots"));
	for (u32 i = 0; i < n; i++)
		TRY(cache_buffer(c, &c->slot[i].buffer, size, "a slot for pages", TRAFFIC_TOPOLOGY));
	return MILL_OK;
}

static mill_err open_whole(struct device_cache *c)
{
	struct mill_run *r = c->run;
	u64 rows = 0, edges = 0;

	c->whole = true;
	for (int in = 0; in < 2; in++) {
		const struct topology *t = run_direction(r, in);
		struct side *s = &c->side[in];

		if (!s->pages)
			continue;
		TRY(cache_buffer(c, &s->lists, whole_bytes(t), "the lists", TRAFFIC_TOPOLOGY));
		if (c->weights)
			TRY(cache_buffer(c, &s->weights, t->n_edges * weight_size(r->graph->weight), "the weights",
					TRAFFIC_TOPOLOGY));
		TRY(memory_new(&s->present, &r->budget, bitmap_words(s->pages->n_pages) + 1, sizeof(u64), "the page table"));
		rows = max_u64(rows, t->n_rows);
		edges = max_u64(edges, t->n_edges);
	}
	c->scratch_edges = whole_scratch(r, edges);
	TRY(cache_open_areas(c, 1, rows, edges, 0));
	return cache_open_slots(c, STAGES, r->graph->page_size);
}

static mill_err open_cached(struct device_cache *c, u64 room, u64 pages)
{
	struct mill_run *r = c->run;
	const struct store *st = r->graph;
	struct page_shape s = page_shape(st);
	u64 area = page_area(r, &r->need, st, &s);
	u32 n_pages[2];
	u64 queues = min_u64(max_u64(room / AREA_SHARE / area, 1), r->device->n_queues), slots;

	evict_count_pages(n_pages, st);
	/* With few slots a queue more would cost one of them. */
	queues = min_u64(queues, max_u64(room / (area + 2 * s.wire), 1));
	slots = room > queues * area ? (room - queues * area) / s.wire : 0;
	slots = min_u64(slots, max_u64(pages, 1));
	if (!slots)
		return fail(MILL_ENOMEM, "the device's budget leaves no room for a page");
	c->scratch_edges = s.edges;
	TRY(cache_open_areas(c, (u32)min_u64(queues, slots), s.rows, s.edges, st->codec == PAGE_PACKED ? s.lists : 0));
	TRY(cache_open_slots(c, (u32)slots, st->page_size));
	return evict_open(&c->evict, &r->budget, n_pages, c->n_slots, c->n_areas, r->policy);
}

mill_err cache_open_addresses(struct device_cache *c, struct side *s, const struct pages *p)
{
	u64 bytes = 4 * (p->n_pages + 2ull);

	if (!p->store->paged)
		return MILL_OK;
	TRY(cache_buffer(c, &s->first, bytes, "the page addresses", TRAFFIC_FLAGS));
	return device_write(&s->first, 0, p->address.first, bytes);
}

static mill_err open_side(struct device_cache *c, int in, const struct pages *p)
{
	struct side *s = &c->side[in];
	mill_err err;
	u32 *range;

	s->pages = p;
	if (!p->n_pages)
		return MILL_OK;
	TRY(cache_open_addresses(c, s, p));
	TRY(cache_buffer(c, &s->range, 8 * (u64)p->n_pages, "the page table", TRAFFIC_FLAGS));
	TRY(memory_new(&range, &c->run->budget, p->n_pages, 2 * sizeof(u32), "the page table"));
	for (u32 i = 0; i < p->n_pages; i++) {
		range[2 * i] = p->entry[i].first_vertex;
		range[2 * i + 1] = p->entry[i].n_rows;
	}
	err = device_write(&s->range, 0, range, 8 * (u64)p->n_pages);
	memory_free(range);
	return err;
}

/* The directions that a need reads: of an undirected store, and of a view, there is one, which is side 0. */
static mill_err open_sides(struct device_cache *c)
{
	struct mill_run *r = c->run;
	bool both = r->store->directed && !r->need.view;

	if (r->need.out || !both)
		TRY(open_side(c, 0, run_direction(r, false)->pages));
	if (r->need.in && both)
		TRY(open_side(c, 1, run_direction(r, true)->pages));
	return MILL_OK;
}

struct side *cache_side(struct device_cache *c, bool in)
{
	struct mill_run *r = c->run;

	return &c->side[in && r->store->directed && !r->need.view];
}

mill_err cache_open_counts(struct device_cache *c, u64 n)
{
	c->counts_size = LANE_WORDS * sizeof(u64) + 4 * round_up(n, 2);
	TRY(cache_buffer(c, &c->counts, c->counts_size, "counts", TRAFFIC_FLAGS));
	TRY(memory_new(&c->counted, &c->run->budget, c->counts_size, 1, "counts"));
	TRY(cache_buffer(c, &c->fault, sizeof(u64), "counts", TRAFFIC_FLAGS));
	return device_fill(&c->fault, &(u64){ 0 }, sizeof(u64));
}

/* What the device's budget leaves beside state that is not there yet. */
static u64 room_beside(const struct device_cache *c, u64 state)
{
	u64 left = budget_left(c->run->device->memory);

	return left > state ? left - state : 0;
}

static mill_err open_pages(struct device_cache *c, u64 state)
{
	u64 pages = 0, most = 0;

	TRY(open_sides(c));
	for (int in = 0; in < 2; in++)
		if (c->side[in].pages) {
			pages += c->side[in].pages->n_pages;
			most = max_u64(most, c->side[in].pages->n_pages);
		}
	TRY(cache_open_counts(c, most));
	return fits_whole(c, room_beside(c, state)) ? open_whole(c) : open_cached(c, room_beside(c, state), pages);
}

static mill_err open_form(struct device_cache **out, struct mill_run *r, u64 state, bool partitions)
{
	struct device_cache *c;
	mill_err err;

	TRY(memory_new(&c, &r->budget, 1, sizeof(*c), "the device's cache"));
	c->run = r;
	c->select = r->need.advances && !partitions;
	c->weights = r->need.weights && r->graph->weight;
	err = device_prepare(r->device, &cache_kernels);
	if (!err)
		err = partitions ? parts_open(c, room_beside(c, state)) : open_pages(c, state);
	if (err) {
		cache_close(c);
		return err;
	}
	*out = c;
	return MILL_OK;
}

mill_err cache_open(struct device_cache **out, struct mill_run *r, u64 state)
{
	return open_form(out, r, state, r->need.partitions);
}

/* State that the run has made already is no part of what the budget leaves. */
mill_err cache_turn(struct mill_run *r, bool partitions)
{
	u64 state = r->need.state;
	mill_err err;

	if (!r->cache || !r->cache->parts == !partitions)
		return MILL_OK;
	for (u32 i = 0; i < r->n_vecs; i++)
		if (r->vec[i]->buffer.owner == r->device)
			state -= min_u64(state, r->vec[i]->buffer.size);
	cache_close(r->cache);
	r->cache = NULL;
	err = open_form(&r->cache, r, state, partitions);
	if (err)
		r->loaded = false;
	return err;
}

void cache_close(struct device_cache *c)
{
	if (!c)
		return;
	for (u32 i = 0; c->slot && i < c->n_slots; i++) {
		device_wait(&c->slot[i].used);
		device_buffer_free(&c->slot[i].buffer);
	}
	for (u32 i = 0; c->area && i < c->n_areas; i++) {
		struct work_area *a = &c->area[i];
		struct buffer *all[] = { &a->lists, &a->list, &a->offset, &a->tile, &a->queue, &a->kept, &a->kept_tile,
					 &a->scratch };

		for (size_t k = 0; k < ARRAY_LEN(all); k++)
			device_buffer_free(all[k]);
	}
	for (int in = 0; in < 2; in++) {
		device_buffer_free(&c->side[in].range);
		device_buffer_free(&c->side[in].first);
		device_buffer_free(&c->side[in].lists);
		device_buffer_free(&c->side[in].weights);
		memory_free(c->side[in].present);
	}
	device_buffer_free(&c->fault);
	device_buffer_free(&c->counts);
	memory_free(c->counted);
	parts_close(c->parts);
	evict_close(c->evict);
	memory_free(c->area);
	memory_free(c->slot);
	memory_free(c);
}

u32 cache_slots(const struct device_cache *c)
{
	if (c->parts)
		return c->n_slots < c->parts->table.n ? 0 : UINT32_MAX;
	return c->whole ? UINT32_MAX : c->n_slots;
}

bool cache_is_whole(const struct device_cache *c) { return c->whole; }
u64 cache_scratch_edges(const struct device_cache *c) { return c->scratch_edges; }

/* ---- Frontiers ---- */

mill_err cache_select(struct mill_run *r, const struct device_segment *seg, const struct vec *bits)
{
	const struct work_area *a = seg->area;
	u32 n_tiles = (u32)tiles(seg->n_rows);
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_select_count");
	launch_vec(&l, bits);
	launch_segment(&l, seg);
	launch_buffer(&l, &a->tile);
	launch_u32(&l, &n_tiles);
	TRY(launch_go(r, &l, n_tiles, 1));
	TRY(cache_scan(r, &a->tile, n_tiles, seg->queue));
	launch_begin_kernel(&l, &cache_kernels, "pages_select_put");
	launch_vec(&l, bits);
	launch_segment(&l, seg);
	launch_buffer(&l, &a->tile);
	launch_u32(&l, &n_tiles);
	launch_buffer(&l, &a->list);
	launch_buffer(&l, &a->offset);
	return launch_go(r, &l, n_tiles, 1);
}

mill_err cache_scan(struct mill_run *r, const struct buffer *tile, u32 n_tiles, u32 queue)
{
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_select_scan");
	launch_buffer(&l, tile);
	launch_u32(&l, &n_tiles);
	l.launch.queue = queue;
	return launch_groups(r, &l, 1);
}

const struct buffer *cache_counts(const struct mill_run *r) { return &r->cache->counts; }

mill_err cache_count_begin(struct mill_run *r) { return device_fill(&r->cache->counts, &(u64){ 0 }, sizeof(u64)); }

/* In the same buffer, so that one read has all: kernels find the pages' numbers behind the lanes (PAGE_COUNTS). */
mill_err cache_census(struct mill_run *r, bool in, const struct vec *bits)
{
	const struct side *s = cache_side(r->cache, in);
	struct launching l;

	if (!s->pages->n_pages)
		return MILL_OK;
	launch_begin_kernel(&l, &cache_kernels, "pages_census");
	launch_vec(&l, bits);
	launch_buffer(&l, &s->range);
	launch_u32(&l, &s->pages->n_pages);
	launch_buffer(&l, &r->cache->counts);
	return launch_go(r, &l, s->pages->n_pages, 1);
}

mill_err cache_census_edges(struct mill_run *r, const struct vec *bits, const struct vec *begin)
{
	const struct side *s = cache_side(r->cache, false);
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_census_edges");
	launch_vec(&l, bits);
	launch_vec(&l, begin);
	launch_u32(&l, &s->pages->n_pages);
	launch_buffer(&l, &r->cache->counts);
	return launch_go(r, &l, s->pages->n_pages, 1);
}

u64 cache_first_edge(struct mill_run *r, const struct device_segment *seg)
{
	return seg->page == NO_PAGE ? 0 : cache_side(r->cache, false)->pages->entry[seg->page].first_edge;
}

mill_err cache_ends(struct mill_run *r, const struct device_segment *seg, const struct vec *bits, const struct vec *next)
{
	u64 first_edge = cache_first_edge(r, seg);
	struct launching l;

	launch_begin_kernel(&l, &cache_kernels, "pages_ends");
	launch_segment(&l, seg);
	launch_vec(&l, bits);
	launch_u64(&l, &first_edge);
	launch_vec(&l, next);
	launch_buffer(&l, &r->cache->counts);
	return launch_go(r, &l, seg->n_edges / 32 + 2, ITEM_WORDS);
}

mill_err cache_count_end(struct mill_run *r, u64 counts[COUNTS_N], u32 *page_n)
{
	struct device_cache *c = r->cache;
	const u64 *lane = c->counted;

	TRY(device_read(&c->counts, 0, c->counted, c->counts_size));
	memset(counts, 0, COUNTS_N * sizeof(u64));
	for (u32 i = 0; i < COUNT_LANES; i++)
		for (u32 k = 0; k < COUNTS_N; k++) {
			u64 x = lane[i * COUNT_STRIDE + k];

			counts[k] = k == COUNT_REST ? max_u64(counts[k], x) : counts[k] + x;
		}
	if (page_n)
		memcpy(page_n, lane + LANE_WORDS, c->counts_size - LANE_WORDS * sizeof(u64));
	return MILL_OK;
}

mill_err cache_wanted(struct mill_run *r, const struct program *p, const void *args, bool in, u32 *page_n)
{
	const struct side *s = cache_side(r->cache, in);
	u64 counts[COUNTS_N];
	struct launching l;

	if (!s->pages->n_pages)
		return MILL_OK;
	TRY(cache_count_begin(r));
	launch_begin(&l, p, "wanted", args);
	launch_buffer(&l, &s->range);
	launch_u32(&l, &s->pages->n_pages);
	launch_buffer(&l, &r->cache->counts);
	TRY(launch_groups(r, &l, s->pages->n_pages));
	return cache_count_end(r, counts, page_n);
}
