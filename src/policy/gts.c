/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GTS (Kim, An, Park, Park, Kim, SIGMOD 2016), for programs with the join form: bfs, sssp,
 * cc, pagerank and bc. The vertex state (the paper's attributes) is on the host. Native code
 * does all work per vertex. Devices do the work per edge: they join pages with attributes,
 * and pages stream past. Edges write one array per program, the writable attribute (WA). In
 * a pass WA goes to the devices in W chunks of vertices and comes back to be merged by
 * minimum or sum (transfer/state.c). Sources give values of a host array, the read-only
 * attribute (RA): the range of a page is sent beside the page. If all of WA is on the device
 * and the program has no RA, sources give their values in WA.
 *
 *	strategy P	page i goes to device i mod N; each device has all of WA, while that fits
 *	strategy S	all pages go to all devices; each has a share of WA, by its budget
 *	chunks		S for one chunk after the other, if WA does not even fit all devices
 *			together; all pages pass once per chunk
 *
 * Resident pages pass first (the paper's figure 11), then the others. With --scan pages all
 * pass in page order; then a full scan over more pages than the cache holds finds none of
 * them resident. Small pages come before large pages, and each kind is in page order; a
 * large page has one list or a piece of one. Of the pages that stay, the least recently used
 * is evicted first. A pass is divided into windows. A window ends where a slot would be
 * needed twice, so inside a window frames may arrive in any order. A slot has one work area,
 * where its page may still lie unpacked from its last use: with as many areas as pages, all
 * pages stay unpacked.
 *
 * A list of several pages is flagged in the page where it ends (in a paged store: begins),
 * and the RVT (store/rvt.h) names the other pages of the list. Runs that the policy does not
 * own evict by LRU.
 */
#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "policy/policy.h"
#include "store/rvt.h"

#define AREA_SHARE 4u	/* work areas take at most 1/4 of the bytes beside the writable attribute */
#define SLOTS_LEAST 2u

/*
 * Tables of a station. TABLE_START is that of out-pages, TABLE_START + 1 that of in-pages:
 * the first vertex of each page, or of its addresses, then the number of vertices that have
 * rows.
 */
enum { TABLE_START };

struct gts {
	struct rvt *rvt[2];
};

/* ---- Sizes ---- */

/* Returns the bytes of counts, flags, page tables and other small buffers. */
static u64 fixed_bytes(u64 pages) { return COUNTER_WORDS * sizeof(u64) + 12 * pages + 1024; }

static u64 area_bytes(const struct need *n, const struct store *st, const struct page_shape *s)
{
	return (st->codec == PAGE_PACKED ? s->lists : 0) + n->given * s->rows + 128;
}

/* Returns the bytes that a device needs besides its share of the writable attribute. */
static u64 least_beside(const struct need *n, const struct store *st, const struct page_shape *s,
			u64 pages)
{
	return fixed_bytes(pages) + area_bytes(n, st, s) + SLOTS_LEAST * s->wire;
}

static u64 smallest_budget(const struct transfer *t)
{
	u64 least = UINT64_MAX;

	for (u32 i = 0; i < t->n_devices; i++)
		least = min_u64(least, t->device[i]->memory->limit);
	return least;
}

/*
 * Returns the least number of n vertices that the device with the smallest budget gets: all
 * or, if the state may be divided, its share in proportion to its budget.
 */
static u64 smallest_share(const struct transfer *t, u64 n)
{
	u64 all = 0;

	if (t->options->gts.strategy == MILL_STRATEGY_P || t->n_devices < 2)
		return n;
	for (u32 i = 0; i < t->n_devices; i++)
		all += t->device[i]->memory->limit;
	/* Rounded up. */
	return n - (u64)((unsigned __int128)n * (all - smallest_budget(t)) / all);
}

/* ---- Strategy and chunks: sections 4 and 7.2 ---- */

static u32 too_small(const struct transfer *t, u64 beside, const u64 *left)
{
	u32 i = 0;

	while (i < t->n_devices && state_bytes(t, i) + beside <= left[i])
		i++;
	return i;
}

/*
 * Chooses the fewest chunks, from `first` to `most`, with which every device has room for
 * its share, a work area and two slots. Returns false if `most` chunks are not enough.
 */
static bool choose_chunks(struct transfer *t, bool divided, u32 first, u32 most, u64 beside,
			  const u64 *left)
{
	t->divided = divided && t->n_devices > 1;	/* a single device has all */
	for (t->chunks = first; too_small(t, beside, left) < t->n_devices; t->chunks++)
		if (t->chunks >= most)
			return false;
	return true;
}

/*
 * Chooses P if the attribute fits every device, S if it fits only all devices together,
 * else S with chunks.
 */
static bool choose(struct transfer *t, u64 beside, const u64 *left)
{
	u32 first = t->options->gts.chunks ? t->options->gts.chunks : 1,
	    most = t->options->gts.chunks ? first : CHUNKS_MOST;
	enum mill_strategy asked = t->options->gts.strategy;

	if (asked || t->n_devices < 2) {
		t->why = asked ? "as asked for" : "there is one device";
		return choose_chunks(t, asked == MILL_STRATEGY_S, first, most, beside, left);
	}
	t->why = "the state fits every device";
	if (choose_chunks(t, false, first, first, beside, left))
		return true;
	t->why = "the state fits only all devices together";
	if (choose_chunks(t, true, first, first, beside, left))
		return true;
	t->why = "the state is larger than all devices together";
	return choose_chunks(t, true, first, most, beside, left);
}

/* ---- Room ---- */

/* Chooses the number of work areas. Returns the bytes that they leave for slots. */
static u64 divide(const struct transfer *t, u64 left, u64 area, u64 *areas)
{
	*areas = min_u64(max_u64(left / AREA_SHARE / area, 1), t->device[0]->n_queues);
	return left - min_u64(left, *areas * area);
}

static void gts_room(struct room *out, const struct transfer *t, const struct need *n)
{
	const struct store *st = t->store;
	struct page_shape s = page_shape(st, n->view);
	u64 chunk = div_up(st->n_linked,
			   t->options->gts.chunks ? t->options->gts.chunks : CHUNKS_MOST);
	u64 pages = pages_most(st, n->view), beside = least_beside(n, st, &s, pages),
	    left[MILL_DEVICES_MOST], rest;
	struct transfer trial = *t;

	out->device = beside + max_u64(round_up(smallest_share(t, chunk) * n->writable, 8), 8);
	out->host = (t->n_devices > 1 || t->policy->host ? st->n_linked * n->writable : 0) +
		    2 * pages * (8 * (u64)t->n_devices + 24);
	for (u32 i = 0; i < t->n_devices; i++)
		left[i] = t->device[i]->memory->limit;
	trial.need = *n;
	choose(&trial, beside, left);
	out->chunks = trial.chunks;
	out->divided = trial.divided;
	out->why = trial.why;
	rest = smallest_budget(t);
	rest -= min_u64(rest, state_bytes(&trial, 0) + fixed_bytes(pages));
	out->slots = divide(t, rest, area_bytes(n, st, &s), &out->areas) / s.wire;
	if (out->slots < pages)	/* one slot per work area is for pages that do not stay */
		out->slots -= min_u64(out->slots, out->areas);
	if (t->options->gts.device_cache)
		out->slots = min_u64(out->slots, size_bytes(t->options->gts.device_cache) / s.wire);
}

static mill_err gts_layout(struct transfer *t, u64 first_left)
{
	struct page_shape s = page_shape(t->graph, false);
	u64 left[MILL_DEVICES_MOST], beside;
	char needed[NUMBER_TEXT];
	struct gts *g;
	u32 small;

	(void)first_left;
	TRY(memory_new(&g, t->budget, 1, sizeof(*g), "the page tables"));
	t->layout = g;
	units_of_pages(t);
	t->renumber = false;	/* kernels take addresses as they are stored */
	for (int in = 0; in < 2; in++)
		if (t->units[in].pages)
			TRY(rvt_open(&g->rvt[in], t->units[in].pages, t->budget));
	beside = least_beside(&t->need, t->graph, &s, t->n_flags);
	for (u32 i = 0; i < t->n_devices; i++)
		left[i] = budget_left(t->device[i]->memory);
	if (choose(t, beside, left))
		return MILL_OK;
	small = too_small(t, beside, left);
	return fail(MILL_ENOMEM,
		    "--device-memory is too small for device %u: with %u chunks it needs %s", small,
		    t->chunks, size_show(needed, state_bytes(t, small) + beside));
}

static void gts_unlayout(struct transfer *t)
{
	struct gts *g = t->layout;

	if (g) {
		rvt_close(g->rvt[0]);
		rvt_close(g->rvt[1]);
	}
	memory_free(g);
}

static mill_err gts_tables(struct transfer *t, struct station *s)
{
	for (int in = 0; in < 2; in++) {
		const struct pages *p = t->units[in].pages;
		mill_err err;
		u32 *start;

		if (!p)
			continue;
		TRY(memory_new(&start, t->budget, p->n_pages + 1ull, sizeof(u32),
			       "the page table"));
		for (u32 i = 0; i < p->n_pages; i++)
			start[i] = p->address.slots ? p->address.first[i] :
						      p->entry[i].first_vertex;
		start[p->n_pages] = p->n_rows;
		err = station_table(s, &s->table[TABLE_START + in], start, p->n_pages + 1ull);
		memory_free(start);
		TRY(err);
	}
	return MILL_OK;
}

/*
 * Uses all bytes that the budget leaves for slots: slots for pages that stay, and one slot
 * per work area for pages that do not.
 */
static mill_err gts_fit(struct fit *out, const struct transfer *t, u32 station, u64 left)
{
	struct page_shape s = page_shape(t->graph, false);
	u64 area = area_bytes(&t->need, t->graph, &s), share = t->divided ? 1 : t->n_stations, n,
	    most, areas;
	u64 pages = div_up(t->units[0].n, share) + div_up(t->units[1].n, share);

	areas = min_u64(max_u64(left / AREA_SHARE / area, 1), t->device[station]->n_queues);
	areas = min_u64(areas, max_u64(left / (area + SLOTS_LEAST * s.wire), 1));
	left -= min_u64(left, areas * area);
	n = min_u64(left / s.wire, pages + areas);
	if (!n)
		return fail(MILL_ENOMEM, "the device's budget leaves no room for a page");
	most = n >= pages ? pages : n > areas ? n - areas : 0;
	if (t->options->gts.device_cache)
		most = min_u64(most, size_bytes(t->options->gts.device_cache) / s.wire);
	n = most >= pages ? max_u64(pages, 1) : min_u64(n, most + areas);
	*out = (struct fit){
		.slots = n,
		.most = most,
		.slot_bytes = s.wire,
		.areas = areas,
		.lists = t->graph->codec == PAGE_PACKED ? s.lists : 0,
		.given = t->need.given * s.rows,
	};
	return MILL_OK;
}

/* ---- Plans ---- */

enum which { ALL_PAGES, RESIDENT, MISSING };

/*
 * Adds the moves of pages to their stations: small pages before large ones, each kind in
 * page order. plan_place sets their slots later.
 */
static void list_pages(struct plan *out, const struct activity *a, struct transfer *t,
		       enum which which)
{
	const struct units *u = &t->units[a->in];

	for (int large = 0; large < 2; large++)
		for (u32 page = 0; page < u->n; page++) {
			if (!plan_takes(t, a, page) || page_is_large(u->pages, page) != large)
				continue;
			for (u32 i = t->divided ? 0 : page % t->n_stations; i < t->n_stations;
			     i += t->divided ? 1 : t->n_stations) {
				bool there = residency_find(t->station[i].residency, a->in, page) !=
					     RESIDENCY_NONE;

				if (which == ALL_PAGES || there == (which == RESIDENT))
					plan_add(out,
						 (struct move){ page, RESIDENCY_NONE, (u16)(i + 1),
								WIRE_STORED, MOVE_WORK });
			}
		}
}

/*
 * The missing pages are listed before any page takes a slot. So a resident page that is
 * evicted in this pass has been processed before.
 */
static mill_err gts_plan(struct plan *out, const struct activity *a, struct transfer *t)
{
	const struct pages *p = t->units[a->in].pages;

	for (u32 i = 0; i < t->n_stations; i++)
		residency_begin(t->station[i].residency);
	if (t->options->gts.scan == MILL_SCAN_PAGES) {
		list_pages(out, a, t, ALL_PAGES);
	} else {
		list_pages(out, a, t, RESIDENT);
		list_pages(out, a, t, MISSING);
	}
	plan_window(t);
	for (u32 k = 0; k < out->n; k++) {
		struct move *m = &out->move[k];

		if (k && page_is_large(p, m->unit) != page_is_large(p, m[-1].unit)) {
			plan_window(t);
			m->flags |= MOVE_BREAK;
		}
		plan_place(m, a->in, t);
	}
	return MILL_OK;
}

/* ---- Kernels ---- */

/*
 * A page with fewer than WARP_LEAST edges per vertex is processed by vertices, others by
 * virtual warps of at most WARP_MOST work-items.
 */
#define WARP_LEAST 4u
#define WARP_MOST 32u
/* The most work-groups of virtual warps. A warp takes several vertices, one after the other. */
#define WARP_GROUPS 4096u
#define WARP_GROUPS_CHUNKED 64u
/*
 * The most bytes of a program's arguments. They are copied to replace a vector by the
 * device's.
 */
#define ARGS_MOST 256u

/* How the work of a page is divided among work-items: the paper's micro-level parallelism. */
struct micro {
	const char *kernel;
	u32 warp;		/* work-items that share a vertex */
	u64 groups;
};

/* Section 6.2 of the paper: by vertices, by edges, or as the density of the page suggests. */
static struct micro choose_micro(const struct transfer *t, const struct device *d,
				 const struct device_segment *seg, bool large)
{
	u32 density = seg->n_rows ? seg->n_edges / seg->n_rows : 0,
	    warp = t->options->gts.warp ? t->options->gts.warp : WARP_MOST;
	enum mill_mapping mapping = t->options->mapping;

	if (large)
		return (struct micro){ "join_large", 1,
				       div_up(seg->n_edges, ITEM_EDGES * (u64)d->group) };
	if (mapping == MILL_MAPPING_AUTO)	/* on a CPU, virtual warps gain nothing */
		mapping = d->chunked ? MILL_MAPPING_THREAD : MILL_MAPPING_HYBRID;
	if (mapping == MILL_MAPPING_HYBRID) {
		mapping = density < WARP_LEAST ? MILL_MAPPING_THREAD : MILL_MAPPING_WARP;
		while (warp > WARP_LEAST && warp > density)
			warp /= 2;
	}
	if (mapping == MILL_MAPPING_THREAD)
		return (struct micro){ "join_vertex", 1,
				       div_up(seg->n_rows, ITEM_ROWS * (u64)d->group) };
	return (struct micro){ "join_warp", warp,
			       max_u64(min_u64(div_up((u64)seg->n_rows * warp, d->group),
					       d->chunked ? WARP_GROUPS_CHUNKED : WARP_GROUPS),
				       div_up(warp, d->group)) };
}

static void copy_args(char to[ARGS_MOST], const struct device_pass *p, struct vec *writable)
{
	const struct join_program *join = p->forms->join;

	for (u32 i = 0; i < join->program.n_fields; i++) {
		const struct field *field = &join->program.field[i];
		u64 size = field->array ? sizeof(struct vec *) : field->size;

		assert(field->offset + size <= ARGS_MOST);
		memcpy(to + field->offset, (const char *)p->args + field->offset, size);
	}
	memcpy(to + join->writable, &writable, sizeof(writable));
}

static mill_err gts_launch(struct transfer *t, const struct device_pass *p,
			   const struct device_segment *seg)
{
	struct station *s = seg->station;
	bool in = side_of(t, p->activity.in);
	const struct pages *pages = t->units[in].pages;
	struct micro micro = choose_micro(t, s->device, seg, page_is_large(pages, seg->unit));
	u32 begin = (u32)s->share.begin, end = (u32)s->share.end, flags = p->next != NULL,
	    n_vertices = (u32)t->store->n_linked;
	_Alignas(16) char args[ARGS_MOST];
	struct kernel_call l;

	copy_args(args, p, &s->writable);
	launch_begin(&l, &p->forms->join->program, micro.kernel, args);
	launch_segment(&l, seg);
	launch_buffer(&l, p->given ? &seg->area->given : NULL);
	launch_u32(&l, &begin);
	launch_u32(&l, &end);
	launch_buffer(&l, &s->table[TABLE_START + in]);
	launch_u32(&l, &pages->n_pages);
	launch_u32(&l, &pages->address.slots);
	launch_u32(&l, &flags);
	launch_u32(&l, &micro.warp);
	launch_u32(&l, &seg->unit);
	launch_u32(&l, &n_vertices);
	launch_buffer(&l, &s->fault);
	launch_buffer(&l, &s->counts);
	return launch_groups(s->device, &l, micro.groups);
}

/* ---- Activity ---- */

/* Returns the page where the list begins that continues at the head of this page. */
static u32 list_begin(const struct pages *p, u32 page)
{
	while (p->entry[page].skip && (--page, p->entry[page].n_rows == 1))
		;
	return page;
}

/* Activates all pages of the list that begins as the last row of this page (LP_RANGE). */
static void activate_range(const struct rvt *rvt, u32 *active, u32 page)
{
	for (u32 k = 0; k <= rvt_range(rvt, page); k++)
		active[page + k] |= PAGE_OTHERS;
}

/*
 * A list of several pages is flagged as the first row of the page where it ends or, if ids
 * are addresses, where it begins. All of its pages become active.
 */
static u64 gts_spread(const struct transfer *t, const u32 *flag, u32 *active)
{
	const struct rvt *rvt = ((const struct gts *)t->layout)->rvt[0];
	const struct pages *p = rvt->pages;
	u64 n = 0;

	memcpy(active, flag, p->n_pages * sizeof(u32));
	for (u32 i = 0; i < p->n_pages; i++)
		if (active[i] & PAGE_HEAD && (p->entry[i].skip || p->entry[i].n_rows == 1))
			activate_range(rvt, active, list_begin(p, i));
	for (u32 i = 0; i < p->n_pages; i++)
		n += active[i] != 0;
	return n;
}

static u64 gts_begin(const struct transfer *t, u32 *active, const vid *first)
{
	const struct rvt *rvt = ((const struct gts *)t->layout)->rvt[0];
	const struct pages *p = rvt->pages;
	u64 n = 0;

	for (u32 i = 0; i < p->n_pages; i++)
		active[i] = first ? 0 : PAGE_OTHERS;
	if (first && *first < p->n_rows) {
		struct rid rid = rvt_rid(rvt, *first);

		active[rid.page] = PAGE_OTHERS;
		if (rid.slot + 1 == p->entry[rid.page].n_rows)
			activate_range(rvt, active, rid.page);
	}
	for (u32 i = 0; i < p->n_pages; i++)
		n += active[i] != 0;
	return n;
}

static void gts_report(const struct transfer *t, struct mill_report *out)
{
	struct mill_streaming s = {
		.devices = t->n_stations,
		.strategy = t->divided ? MILL_STRATEGY_S : MILL_STRATEGY_P,
		.why = t->why,
		.chunks = t->chunks,
		.cached_pages = UINT64_MAX,
		.frames = t->stream ? stream_frames(t->stream) : 0,
	};

	for (int in = 0; in < 2; in++)
		if (t->units[in].pages) {
			s.large_pages += pages_large(t->units[in].pages);
			s.small_pages += t->units[in].n;
		}
	s.small_pages -= s.large_pages;
	for (u32 i = 0; i < t->n_stations; i++) {
		s.writable = max_u64(s.writable, state_bytes(t, i));
		s.cached_pages = min_u64(s.cached_pages, residency_most(t->station[i].residency));
	}
	out->streaming = s;
}

static const struct program *gts_takes(const struct own_forms *forms)
{
	return forms->join ? &forms->join->program : NULL;
}

/* ---- The row ---- */

#define AT(field) offsetof(struct mill_gts, field)

static const char *const strategies[] = { "auto", "p", "s", NULL };
static const char *const scans[] = { "cached", "pages", NULL };
static const uint32_t warps[] = { 4, 8, 16, 32, 0 };

static const struct mill_option options[] = {
	{ "strategy", MILL_OPTION_CHOICE, AT(strategy), "p|s",
	  .help = "several devices divide the pages (p) or the vertex state (s); default: p if "
		  "the state fits each device",
	  .word = strategies, .several = true },
	{ "chunks", MILL_OPTION_U32, AT(chunks), "W",
	  .help = "cut the vertex state into W chunks, one on the device at a time "
		  "(default: as few as fit)",
	  .low = 1 },
	{ "device-cache", MILL_OPTION_SIZE, AT(device_cache), "SIZE|0",
	  .help = "size of the pages that stay on a device (default: what fits)", .zero = true },
	{ "main-buffer", MILL_OPTION_SIZE, AT(main_buffer), "SIZE",
	  .help = "size of the pages that stay in main memory (default: what --memory leaves)" },
	{ "warp", MILL_OPTION_U32, AT(warp), "4|8|16|32", .help = "work-items of a virtual warp",
	  .only = warps, .usual = 32 },
	{ "scan", MILL_OPTION_CHOICE, AT(scan), "cached|pages",
	  .help = "order of pages: pages on the device first (default), or by page number",
	  .word = scans },
	{ 0 },
};

/*
 * Figure 14 of the paper: by vertices, by virtual warps of each size, and by each page's
 * density.
 */
static const struct mill_variant mappings[] = {
	{ "thread", .mapping = MILL_MAPPING_THREAD, .count_lanes = true },
	{ "warp 4", .mapping = MILL_MAPPING_WARP, .gts.warp = 4, .count_lanes = true },
	{ "warp 8", .mapping = MILL_MAPPING_WARP, .gts.warp = 8, .count_lanes = true },
	{ "warp 16", .mapping = MILL_MAPPING_WARP, .gts.warp = 16, .count_lanes = true },
	{ "warp 32", .mapping = MILL_MAPPING_WARP, .gts.warp = 32, .count_lanes = true },
	{ "hybrid", .mapping = MILL_MAPPING_HYBRID, .count_lanes = true },
	{ 0 },
};

const struct policy policy_gts = {
	.public = {
		.name = "gts",
		.summary = "bfs, sssp, cc, pagerank and bc on one device or several by streaming, "
			   "as GTS does (SIGMOD 2016); elsewhere as lru",
		.option = options,
		.settings = offsetof(struct mill_options, gts),
		.mappings = mappings,
		.several = true,
		.otherwise = "lru",
	},
	.device = residency_lru,
	.before = residency_latest,	/* windows are short passes of one scan */
	.cpu = residency_lru,
	.home = HOME_HOST,
	.mappings = 1 << MILL_MAPPING_AUTO | 1 << MILL_MAPPING_THREAD | 1 << MILL_MAPPING_WARP |
		    1 << MILL_MAPPING_HYBRID,
	.filters = 1 << MILL_FILTER_FUSED,
	.directions = 1 << MILL_DIRECTION_AUTO | 1 << MILL_DIRECTION_PUSH,
	.own_mappings = 1 << MILL_MAPPING_WARP | 1 << MILL_MAPPING_HYBRID,
	.takes = gts_takes,
	.room = gts_room,
	.layout = gts_layout,
	.unlayout = gts_unlayout,
	.tables = gts_tables,
	.fit = gts_fit,
	.plan = gts_plan,
	.launch = gts_launch,
	.begin = gts_begin,
	.spread = gts_spread,
	.report = gts_report,
};
