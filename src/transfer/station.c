/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stations: how the memory of a device is divided between tables, work areas and slots, and
 * how pages use it.
 *
 * Each work area has a queue (at most --queues of them). The kernels of a page go, in
 * order, into the queue of its slot's area. Transfers go into a queue of their own. A
 * transfer waits only for the last kernels that read its slot (device_mark), and the
 * kernels of the unit wait for it on the device (device_after). The host does not wait for
 * a transfer: the stream keeps a frame until the transfers from it have ended, and verifies
 * the next pages in the meantime. device_fork and device_join begin and end a pass; nothing
 * else uses events.
 */
#include <string.h>

#include "store/packed.h"
#include "transfer/transfer.h"

#define STAGES 4u		/* whole: buffers that pages pass through */
#define AREA_SHARE 4u		/* work areas take at most 1/4 of the bytes that are left */
/*
 * Whole: number of edges that use the scratch at a time. Few on a CPU, so that the scratch
 * stays in its cache; many on a GPU, so that it is busy.
 */
#define SCRATCH_CHUNKED ((u64)1 << 18)
#define SCRATCH_WIDE ((u64)1 << 22)

static const char *const pages_text[] = { "device/dialect.h", "op/page.cl", "transfer/pages.cl" };
const struct kernel_source transfer_kernels = { "pages", pages_text, ARRAY_LEN(pages_text) };

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

static u64 in_pages(const struct store *st)
{
	return st->directed && st->has_in ? st->in.n_pages : 0;
}

struct page_shape page_shape(const struct store *st, bool view)
{
	u64 lists = (st->codec == PAGE_PACKED ? (u64)PACKED_GROWTH : 1) * st->page_size;
	struct page_shape s = { .wire = st->page_size };

	if (view)
		return (struct page_shape){ st->page_size, lists / 4, lists / 4, lists };
	add_shape(&s, &st->out);
	if (st->directed && st->has_in)
		add_shape(&s, &st->in);
	return s;
}

u64 pages_most(const struct store *st, bool view)
{
	return max_u64(st->out.n_pages, in_pages(st)) * (view ? 4 : 1);
}

static u64 tiles(u64 n) { return div_up(n, TILE_ROWS); }

static u64 scratch_bytes(const struct need *n, u64 edges)
{
	return n->edge_scratch ? n->edge_scratch * edges + 64 : 0;
}

/*
 * Returns the bytes of a work area for segments of at most `rows` rows and `edges` edges.
 * lists: bytes of a page that is unpacked there; scratch: number of edges that use the
 * scratch at a time.
 */
static u64 area_bytes(const struct transfer *t, const struct need *n, u64 rows, u64 edges,
		      u64 lists, u64 scratch)
{
	u64 bytes = lists + scratch_bytes(n, scratch);
	bool select = n->advances;

	if (select)
		bytes += 4 * rows + 4 * (rows + 1) + 8 * (tiles(rows) + 1);
	if (select && t->options->filter != MILL_FILTER_FUSED)
		bytes += 4 * edges;
	if (select && t->options->filter == MILL_FILTER_EXACT)
		bytes += 4 * edges + 8 * (tiles(edges) + 1);
	return bytes + 64;
}

static u64 page_area(const struct transfer *t, const struct need *n, const struct store *st,
		     const struct page_shape *s)
{
	return area_bytes(t, n, s->rows, s->edges, st->codec == PAGE_PACKED ? s->lists : 0,
			  s->edges);
}

/* Returns the bytes of the numbers of `edges` edges; 0 if no direction has a table of them. */
static u64 number_bytes(const struct need *n, const struct store *st, u64 edges)
{
	return need_table(n, st->directed, false) || need_table(n, st->directed, true) ?
		4 * edges : 0;
}

/* Estimates the host's bytes for all units: the plan, the lists of the stream, residency. */
static u64 host_bytes(u64 units, u64 n_devices)
{
	return units * (12 * (n_devices + 1) + 32) + COUNTER_WORDS * sizeof(u64) + 65536;
}

void pages_room(struct room *out, const struct transfer *t, const struct need *n)
{
	const struct store *st = t->store;
	struct page_shape s = page_shape(st, n->view);
	/* A view can have more pages than the store. */
	u64 pages = ((u64)st->out.n_pages + in_pages(st)) * (n->view ? 4 : 1);
	u64 slot = s.wire + number_bytes(n, st, s.edges);

	/* Counts, page ranges and addresses; a work area; one slot, or two of raw pages. */
	out->device = COUNTER_WORDS * sizeof(u64) + (st->paged ? 16 : 12) * pages + 512 +
		      page_area(t, n, st, &s) + slot + (st->codec == PAGE_PACKED ? 0 : slot);
	out->host = NUMBER_STAGES * number_bytes(n, st, s.edges);
	out->slots = out->areas = 0;
}

void transfer_room(struct room *out, const struct transfer *t, const struct need *n)
{
	*out = (struct room){ .chunks = 1 };
	(n->own ? t->policy->room : pages_room)(out, t, n);
	out->host += host_bytes(2 * pages_most(t->store, n->view), max_u64(t->n_devices, 1));
}

/* ---- Layout by pages, for runs that the policy does not own ---- */

static u64 direction_edges(const struct pages *p)
{
	return p->n_pages ? p->entry[p->n_pages - 1].first_edge + p->entry[p->n_pages - 1].n_edges :
			    0;
}

/* Returns the device bytes of all lists of a direction, side by side. */
static u64 whole_bytes(const struct pages *p)
{
	return 4 * ((u64)p->n_rows + 1 + direction_edges(p));
}

void units_of_pages(struct transfer *t)
{
	bool both = t->store->directed && !t->need.view;
	const struct pages *p[2] = { t->need.out || !both ? &t->graph->out : NULL,
				     t->need.in && both ? &t->graph->in : NULL };

	if (t->need.view)
		p[0] = &t->graph->in;
	for (int in = 0; in < 2; in++)
		if (p[in])
			t->units[in] = (struct units){ .pages = p[in],
						       .entry = p[in]->entry,
						       .n = p[in]->n_pages };
	t->wire = WIRE_STORED;
	t->renumber = t->graph->paged;
	t->n_flags = (u32)max_u64(t->units[0].n, t->units[1].n);
}

/* Returns the number of edges that use the scratch at a time: at least those of one page. */
static u64 whole_scratch(const struct transfer *t, u64 edges)
{
	u64 most = t->device[0]->chunked ? SCRATCH_CHUNKED : SCRATCH_WIDE;

	return min_u64(edges, max_u64(most, page_shape(t->graph, false).edges));
}

/* Returns whether all lists fit the device, unpacked. */
static bool fit_whole(struct fit *out, const struct transfer *t, u64 left)
{
	u64 bytes = STAGES * (u64)t->graph->page_size, rows = 0, edges = 0;

	for (int in = 0; in < 2; in++) {
		const struct pages *p = t->units[in].pages;
		u64 n, weights;

		if (!p)
			continue;
		n = direction_edges(p);
		weights = t->weights ? n * weight_size(t->graph->weight) : 0;
		if (n >= UINT32_MAX || whole_bytes(p) > t->device[0]->largest ||
		    weights > t->device[0]->largest)
			return false;
		bytes += whole_bytes(p) + weights + (has_table(t, in) ? 4 * n : 0) + 64;
		rows = max_u64(rows, p->n_rows);
		edges = max_u64(edges, n);
	}
	if (t->sample ||
	    bytes + area_bytes(t, &t->need, rows, edges, 0, whole_scratch(t, edges)) > left)
		return false;
	*out = (struct fit){
		.whole = true,
		.slots = STAGES,
		.slot_bytes = t->graph->page_size,
		.areas = 1,
		.rows = rows,
		.edges = edges,
	};
	return true;
}

static mill_err fit_pages(struct fit *out, const struct transfer *t, u64 left)
{
	struct page_shape s = page_shape(t->graph, false);
	u64 area = page_area(t, &t->need, t->graph, &s), pages = (u64)t->units[0].n + t->units[1].n;
	u64 slot = s.wire + number_bytes(&t->need, t->store, s.edges);
	u64 queues = min_u64(max_u64(left / AREA_SHARE / area, 1), t->device[0]->n_queues), slots;

	if (fit_whole(out, t, left))
		return MILL_OK;
	/* With few slots, another queue would take the place of a slot. */
	queues = min_u64(queues, max_u64(left / (area + 2 * slot), 1));
	slots = left > queues * area ? (left - queues * area) / slot : 0;
	slots = min_u64(slots, max_u64(pages, 1));
	if (!slots)
		return fail(MILL_ENOMEM, "the device's budget leaves no room for a page");
	*out = (struct fit){
		.slots = slots,
		.most = slots,
		.slot_bytes = t->graph->page_size,
		.areas = min_u64(queues, slots),
		.lately = min_u64(queues, slots),
		.rows = s.rows,
		.edges = s.edges,
		.lists = t->graph->codec == PAGE_PACKED ? s.lists : 0,
	};
	return MILL_OK;
}

/* ---- Tables ---- */

mill_err station_buffer(struct station *s, struct buffer *b, u64 size, const char *what,
			enum traffic kind)
{
	TRY(device_buffer(s->device, b, size, what));
	b->kind = kind;
	return MILL_OK;
}

mill_err station_table(struct station *s, struct buffer *b, const u32 *from, u64 n)
{
	TRY(station_buffer(s, b, n * sizeof(u32), "a table of units", TRAFFIC_FLAGS));
	return device_write(b, 0, from, n * sizeof(u32));
}

mill_err station_addresses(const struct transfer *t, struct station *s, int in)
{
	const struct pages *p = t->units[in].pages;

	return p->store->paged ?
		       station_table(s, &s->side[in].first, p->address.first, p->n_pages + 2ull) :
		       MILL_OK;
}

static mill_err open_side(struct transfer *t, struct station *s, int in)
{
	const struct pages *p = t->units[in].pages;
	mill_err err;
	u32 *range;

	if (!p || !p->n_pages)
		return MILL_OK;
	TRY(station_addresses(t, s, in));
	TRY(memory_new(&range, t->budget, p->n_pages, 2 * sizeof(u32), "the page table"));
	for (u32 i = 0; i < p->n_pages; i++) {
		range[2 * i] = p->entry[i].first_vertex;
		range[2 * i + 1] = p->entry[i].n_rows;
	}
	err = station_table(s, &s->side[in].range, range, 2ull * p->n_pages);
	memory_free(range);
	return err;
}

static mill_err open_sides(struct transfer *t, struct station *s)
{
	TRY(open_side(t, s, 0));
	return open_side(t, s, 1);
}

/* ---- Open and close ---- */

static mill_err open_area(struct transfer *t, struct station *s, struct work_area *a,
			  const struct fit *f)
{
	enum mill_filter filter = t->options->filter;

	if (f->lists)
		TRY(station_buffer(s, &a->lists, f->lists, "an unpacked page", TRAFFIC_WRITABLE));
	if (f->given)
		TRY(station_buffer(s, &a->given, max_u64(f->given, 8), "read-only attributes",
				   TRAFFIC_READ_ONLY));
	if (t->own)
		return MILL_OK;
	if (t->need.edge_scratch)
		TRY(station_buffer(s, &a->scratch, scratch_bytes(&t->need, t->scratch_edges),
				   "scratch", TRAFFIC_WRITABLE));
	if (!t->need.advances)
		return MILL_OK;
	TRY(station_buffer(s, &a->list, 4 * f->rows, "a list of active rows", TRAFFIC_WRITABLE));
	TRY(station_buffer(s, &a->offset, 4 * (f->rows + 1), "a list of active rows",
			   TRAFFIC_WRITABLE));
	TRY(station_buffer(s, &a->tile, 8 * (tiles(f->rows) + 1), "a list of active rows",
			   TRAFFIC_WRITABLE));
	if (filter != MILL_FILTER_FUSED)
		TRY(station_buffer(s, &a->queue, 4 * f->edges, "the queue of an advance",
				   TRAFFIC_WRITABLE));
	if (filter == MILL_FILTER_EXACT) {
		TRY(station_buffer(s, &a->kept, 4 * f->edges, "the queue of an advance",
				   TRAFFIC_WRITABLE));
		TRY(station_buffer(s, &a->kept_tile, 8 * (tiles(f->edges) + 1),
				   "the queue of an advance", TRAFFIC_WRITABLE));
	}
	return MILL_OK;
}

static mill_err open_whole(struct transfer *t, struct station *s)
{
	for (int in = 0; in < 2; in++) {
		const struct pages *p = t->units[in].pages;

		if (!p)
			continue;
		if (has_table(t, in))
			TRY(station_buffer(s, &s->side[in].number, 4 * direction_edges(p),
					   "edge numbers", TRAFFIC_TOPOLOGY));
		TRY(station_buffer(s, &s->side[in].lists, whole_bytes(p), "the lists",
				   TRAFFIC_TOPOLOGY));
		if (t->weights)
			TRY(station_buffer(s, &s->side[in].weights,
					   direction_edges(p) * weight_size(t->graph->weight),
					   "the weights", TRAFFIC_TOPOLOGY));
	}
	return MILL_OK;
}

/* Returns the most pages that a unit has, if units cross as they are stored. */
static u32 unit_pages(const struct transfer *t)
{
	const struct units *u = &t->units[0];
	u32 most = 1;

	for (u32 i = 0; t->wire == WIRE_STORED && u->page && i < u->n; i++)
		most = (u32)max_u64(most, u->page_end[i] - u->page[i]);
	return most;
}

static mill_err open_slots(struct transfer *t, struct station *s, const struct fit *f)
{
	u32 pages = unit_pages(t);
	u64 numbers = t->own || f->whole ? 0 : number_bytes(&t->need, t->store, f->edges);

	s->n_slots = (u32)f->slots;
	TRY(memory_new(&s->slot, t->budget, f->slots, sizeof(*s->slot), "the device's slots"));
	TRY(memory_new(&s->wire, t->budget, f->slots * pages, sizeof(*s->wire),
		       "the device's slots"));
	for (u32 i = 0; i < f->slots; i++) {
		s->slot[i].wire = s->wire + (u64)i * pages;
		TRY(station_buffer(s, &s->slot[i].buffer, f->slot_bytes, "a slot for pages",
				   TRAFFIC_TOPOLOGY));
		if (numbers)
			TRY(station_buffer(s, &s->slot[i].number, numbers, "edge numbers",
					   TRAFFIC_TOPOLOGY));
	}
	return MILL_OK;
}

static mill_err open_residency(struct transfer *t, struct station *s, const struct fit *f)
{
	u32 all = (u32)max_u64(t->units[0].n + t->units[1].n, 1);
	struct residency_how how = {
		.n_units = { t->units[0].n, t->units[1].n },
		.entry = { t->units[0].entry, t->units[1].entry },
		.n_slots = f->whole ? all : (u32)f->slots,
		.most = f->whole ? all : (u32)f->most,
		.lately = (u32)f->lately,
		.key = t->policy->device,
	};

	return residency_open(&s->residency, t->budget, &how);
}

static mill_err open_places(struct transfer *t, struct station *s, const struct fit *f)
{
	t->whole = f->whole;
	t->scratch_edges = f->whole ? whole_scratch(t, f->edges) : f->edges;
	if (f->whole)
		TRY(open_whole(t, s));
	TRY(memory_new(&s->area, t->budget, f->areas, sizeof(*s->area), "the device's work areas"));
	s->n_areas = (u32)f->areas;
	for (u32 i = 0; i < f->areas; i++)
		TRY(open_area(t, s, &s->area[i], f));
	s->n_queues = f->whole ? STAGES : s->n_areas;
	s->transfer_queue = f->own_queues ? 0 : (u32)min_u64(s->n_queues + 1, s->device->n_queues);
	TRY(open_slots(t, s, f));
	return open_residency(t, s, f);
}

/* Returns the bytes that the device's budget leaves beside the state. */
static u64 left_beside(const struct station *s, u64 state)
{
	u64 left = budget_left(s->device->memory);

	return left > state ? left - state : 0;
}

static mill_err open_station(struct transfer *t, struct station *s, u64 state)
{
	struct fit fit = { 0 };
	u32 i = (u32)(s - t->station);

	TRY(device_prepare(s->device, &transfer_kernels));
	TRY(state_open(t, s));
	TRY(t->own ? t->policy->tables(t, s) : open_sides(t, s));
	TRY(station_buffer(s, &s->counts, t->counts_size, "counts", TRAFFIC_FLAGS));
	TRY(station_buffer(s, &s->fault, sizeof(u64), "counts", TRAFFIC_FLAGS));
	TRY(device_fill(&s->fault, &(u64){ 0 }, sizeof(u64)));
	TRY(t->own ? t->policy->fit(&fit, t, i, left_beside(s, state)) :
		     fit_pages(&fit, t, left_beside(s, state)));
	TRY(open_places(t, s, &fit));
	return t->own && t->policy->open ? t->policy->open(t) : MILL_OK;
}

static mill_err open_number_stages(struct transfer *t)
{
	u64 n = t->own ? 0 : number_bytes(&t->need, t->store, page_shape(t->graph, false).edges);

	for (u32 i = 0; n && i < NUMBER_STAGES; i++)
		TRY(memory_new(&t->number_stage[i].number, t->budget, n, 1, "edge numbers"));
	return MILL_OK;
}

static void close_number_stages(struct transfer *t)
{
	for (u32 i = 0; i < NUMBER_STAGES; i++) {
		device_wait(&t->number_stage[i].sent);
		memory_free(t->number_stage[i].number);
		t->number_stage[i] = (struct number_stage){ 0 };
	}
}

static mill_err open_all(struct transfer *t, u64 state)
{
	u64 pages, units;

	if (t->own)
		TRY(t->policy->layout(t, left_beside(&t->station[0], state)));
	else
		units_of_pages(t);
	for (int in = 0; in < 2; in++)
		pages = max_u64(in ? pages : 0,
				t->units[in].pages ? t->units[in].pages->n_pages : 0);
	units = max_u64(t->units[0].n, t->units[1].n);
	t->plan.most = (u32)min_u64(units * (t->n_stations + 1ull) + 1, UINT32_MAX);
	TRY(memory_new(&t->plan.move, t->budget, t->plan.most, sizeof(struct move),
		       "the plan of a pass"));
	TRY(memory_new(&t->list, t->budget, max_u64(pages, units) + 1, sizeof(u32),
		       "the plan of a pass"));
	TRY(memory_new(&t->move_of, t->budget, pages + 1, sizeof(u32), "the plan of a pass"));
	t->counts_size = COUNTER_WORDS * sizeof(u64) + 4 * round_up(t->n_flags, 2);
	TRY(memory_new(&t->counts, t->budget, t->counts_size, 1, "counts"));
	TRY(stage_open(t));
	TRY(open_number_stages(t));
	for (u32 i = 0; i < t->n_stations; i++)
		TRY(open_station(t, &t->station[i], state));
	return MILL_OK;
}

mill_err transfer_open(struct transfer *t, bool own, u64 state)
{
	mill_err err;

	t->own = own;
	t->chunks = 1;
	t->weights = t->need.weights && t->graph->weight;
	t->n_stations = own && t->policy->public.several ? t->n_devices : 1;
	err = memory_new(&t->station, t->budget, t->n_stations, sizeof(*t->station), "the devices");
	for (u32 i = 0; !err && i < t->n_stations; i++)
		t->station[i].device = t->device[i];
	if (!err)
		err = open_all(t, state);
	if (err)
		transfer_close(t);
	return err;
}

static void close_station(struct station *s)
{
	struct buffer *table[] = {
		&s->side[0].number, &s->side[1].number,
		&s->side[0].range, &s->side[0].first, &s->side[0].lists, &s->side[0].weights,
		&s->side[1].range, &s->side[1].first, &s->side[1].lists, &s->side[1].weights,
		&s->table[0], &s->table[1], &s->table[2],
		&s->counts, &s->fault, &s->writable.buffer,
	};

	for (u32 i = 0; s->slot && i < s->n_slots; i++) {
		device_wait(&s->slot[i].used);
		device_buffer_free(&s->slot[i].buffer);
		device_buffer_free(&s->slot[i].number);
	}
	for (u32 i = 0; s->area && i < s->n_areas; i++) {
		struct work_area *a = &s->area[i];
		struct buffer *all[] = {
			&a->lists, &a->list, &a->offset, &a->tile, &a->queue,
			&a->kept, &a->kept_tile, &a->scratch, &a->given,
		};

		device_wait(&a->sent);
		for (size_t k = 0; k < ARRAY_LEN(all); k++)
			device_buffer_free(all[k]);
	}
	for (size_t k = 0; k < ARRAY_LEN(table); k++)
		device_buffer_free(table[k]);
	residency_close(s->residency);
	memory_free(s->area);
	memory_free(s->wire);
	memory_free(s->slot);
}

/* The borrowed fields stay. */
void transfer_close(struct transfer *t)
{
	for (u32 i = 0; t->station && i < t->n_stations; i++)
		close_station(&t->station[i]);
	state_close(t);
	gather_close(t);
	twin_close(t);
	stage_close(t);
	close_number_stages(t);
	if (t->own && t->policy->unlayout)
		t->policy->unlayout(t);
	memory_free(t->station);
	memory_free(t->plan.move);
	memory_free(t->list);
	memory_free(t->move_of);
	memory_free(t->counts);
	t->station = NULL;
	t->plan = (struct plan){ 0 };
	t->list = t->move_of = NULL;
	t->counts = t->layout = NULL;
	memset(t->units, 0, sizeof(t->units));
	t->own = t->whole = false;
	t->n_stations = 0;
}

mill_err transfer_turn(struct transfer *t, bool own, u64 state)
{
	transfer_close(t);
	return transfer_open(t, own, state);
}

/* Returns the number of units that a station gets. */
static u64 station_units(const struct transfer *t, int in)
{
	return div_up(t->units[in].n, t->divided ? 1 : t->n_stations);
}

u32 transfer_stays(const struct transfer *t)
{
	u64 units = station_units(t, 0) + station_units(t, 1);

	if (!t->own)
		return t->whole ? UINT32_MAX : t->station[0].n_slots;
	for (u32 i = 0; i < t->n_stations; i++)
		if (residency_most(t->station[i].residency) < units)
			return 0;
	return UINT32_MAX;
}

mill_err transfer_prepare(struct transfer *t, const struct kernel_source *source)
{
	for (u32 i = 0; i < t->n_stations; i++)
		TRY(device_prepare(t->station[i].device, source));
	return MILL_OK;
}
