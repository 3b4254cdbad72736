/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphie (Han, Mawhirter, Wu, Buland, PACT 2017): bfs, sssp and cc on a device, by
 * partitions (policy/partition.h). A partition has one flag of activity, updates are in
 * place, and the state's home is the device: in a superstep only P flags and the counters
 * come back. Resident partitions are processed first. A missing partition takes the slot of
 * the oldest resident one. Runs that the policy does not own evict the oldest page first.
 *
 * Ids become virtual when edges are made for the wire, by all threads into one of two
 * stages. Packed pages keep dense numbers: the kernel looks up the partition of a changed
 * vertex among the first sources of all partitions, log P steps instead of a division.
 *
 * All edges of an active partition are processed: the policy does not record which sources
 * are active. `idle` tests a source by its value, as the paper's BFS does; and in a monotone
 * program an old value changes nothing. So the state has only the vertices' values. Flags
 * are bits in local memory or, if P is too large for that, the global flags. With --no-skip
 * the kernel of an idle partition runs too. It reads the edges but processes none, because
 * no source is active; so all variants take the same steps.
 */
#include <string.h>

#include "policy/partition.h"
#include "policy/policy.h"

#define QUEUES_USUAL 32u	/* the streams of the paper's devices */
#define AREA_SHARE 4u	/* areas to unpack pages take at most 1/4 of the budget */
#define TABLE_SHARE 4u	/* tables by partition take at most 1/4 of the budget */

enum { TABLE_PRE_SUM, TABLE_FIRST };	/* tables of a station: by range; by partition */

struct graphie {
	struct partitions table;
	struct wire_shape shape;
	u64 room;		/* free device bytes before the policy allocated anything */
};

static mill_err graphie_layout(struct transfer *t, u64 left);

static const struct graphie *layout_of(const struct transfer *t) { return t->layout; }

const struct partitions *graphie_table(const struct transfer *t)
{
	return t->own && t->policy->layout == graphie_layout ? &layout_of(t)->table : NULL;
}

/* ---- Sizes ---- */

/* Returns the device bytes besides slots: counters, flags, and two tables. */
static u64 fixed_bytes(u64 n) { return COUNTER_WORDS * sizeof(u64) + 3 * 4 * (n + 2) + 512; }

static enum wire wire_of(const struct transfer *t)
{
	switch (t->options->graphie.wire) {
	case MILL_WIRE_CSR:
		return WIRE_CSR;
	case MILL_WIRE_PACKED:
		return WIRE_STORED;
	default:
		return WIRE_EDGES;
	}
}

static struct wire_shape shape_of(const struct transfer *t, const struct store *st, bool weights)
{
	u32 weight = weights ? (u32)weight_size(st->weight) : 0;

	switch (wire_of(t)) {
	case WIRE_EDGES:
		return (struct wire_shape){ .edge = 8 + weight };
	case WIRE_CSR:
		return (struct wire_shape){ .edge = 4 + weight, .row = 4 };
	default:
		return (struct wire_shape){ .edge = 4 + weight, .page = st->page_size };
	}
}

static const struct pages *pages_of(const struct transfer *t)
{
	return t->need.view ? &t->graph->in : &t->graph->out;
}

/*
 * Returns the number of table entries for n partitions. If the ids of a paged store are
 * taken as they are, tables have an entry per page.
 */
static u64 table_entries(const struct pages *p, const struct wire_shape *w, u64 n)
{
	return p->address.slots && !w->page ? max_u64(n, p->n_pages) : n;
}

/* Returns the smallest number with a square of at least x. */
static u64 ceil_sqrt(u64 x)
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

/* Returns the most edges that the run's graph, the store or a view, can have. */
static u64 edges_of(const struct store *st, const struct need *n)
{
	return n->view && st->directed ? 2 * st->stored_edges : st->stored_edges;
}

/*
 * Returns the least device bytes: the tables and one partition. If the user gives no
 * partition size, the size is chosen that makes tables and partition small together:
 * smaller partitions mean larger tables.
 */
static u64 least(const struct transfer *t, const struct need *n)
{
	const struct store *st = t->store;
	struct wire_shape w = shape_of(t, st, n->weights);
	u64 edges = edges_of(st, n), rows, most, all, each = t->options->graphie.partition_size;
	u64 pages = ((u64)st->out.n_pages + st->in.n_pages) * (n->view ? 4 : 1) + 1;

	largest_page(n->view ? NULL : &st->out, st, &rows, &most);
	if (w.page)
		return fixed_bytes(pages) + (st->paged ? 4 * pages : 0) + max_u64(each, w.page) +
		       page_lists_bytes(rows, most) + 64;
	all = edges * w.edge + w.row * st->n_linked;
	if (each) {
		u64 most_n = edges / max_u64(each / (w.edge + w.row), 1) + pages;

		if (!n->view)
			most_n = table_entries(&st->out, &w, partitions_count(&st->out, &w, each));
		return fixed_bytes(most_n) +
		       round_up(max_u64(w.row ? 2 * each : each, w.edge + w.row), 4);
	}
	return fixed_bytes(QUEUES_USUAL + pages) +
	       min_u64(max_u64(64 * KIB, ceil_sqrt((w.row ? 384 : 192) * all)), 2 * all) + 16;
}

/* With n->advances, a later pass finds parents page by page, so pages need room too. */
static void graphie_room(struct room *out, const struct transfer *t, const struct need *n)
{
	struct wire_shape w = shape_of(t, t->store, n->weights);
	u64 rows, edges;

	pages_room(out, t, n);
	out->device = max_u64(least(t, n), n->advances ? out->device : 0);
	out->host = stage_bytes(t, wire_of(t), w.edge, n->view ? NULL : &t->store->out, &rows,
				&edges);
}

/* ---- Making partitions ---- */

static bool is_cut(void *arg, u32 page) { return partitions_is_cut(arg, page); }

static mill_err place_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	(void)worker;
	partitions_place(arg, page, seg);
	return MILL_OK;
}

/*
 * Decodes the pages that are cut, on all threads, to find the rows of their pieces. Before
 * the run has its stream, it uses a temporary one.
 */
static mill_err place_pieces(struct transfer *t, struct partitions *table, const struct pages *p)
{
	struct stream_pass sp = {
		.pages = p,
		.active = is_cut,
		.work = place_page,
		.arg = table,
		.want = { .lists_only = true, .rows_only = true },
		.ticker = t->ticker,
	};
	struct stream *stream = t->stream;
	mill_err err = MILL_OK;

	if (!table->n_cut)
		return MILL_OK;
	if (!stream)
		err = t->lend_stream(t->run, &stream);
	if (!err)
		err = stream_run(stream, &sp);
	if (stream != t->stream)
		stream_close(stream);
	return err;
}

static mill_err make(struct transfer *t, const struct pages *p, u64 size)
{
	struct graphie *g = t->layout;
	f64 began = clock_now(), placed;
	mill_err err = partitions_cut(&g->table, t->budget, p, &g->shape, size);

	if (!err)
		err = place_pieces(t, &g->table, p);
	placed = clock_now();
	if (!err)
		err = partitions_number(&g->table, &g->shape, t->store->n_linked, t->budget);
	/* The ids of a paged store were made by import: its table does not count as renaming. */
	t->time.renaming += g->table.stored ? 0 : clock_now() - placed;
	t->time.cutting += (g->table.stored ? clock_now() : placed) - began;
	if (err)
		partitions_release(&g->table);
	return err;
}

/* Rule V-C, but at least the size at which tables leave room for partitions. */
u64 graphie_size(const struct transfer *t, u32 queues)
{
	const struct graphie *g = layout_of(t);
	const struct pages *p = pages_of(t);
	u64 all = partition_bytes(&g->shape, p, 0, p->n_pages), size, most;

	most = fixed_bytes(table_entries(p, &g->shape, queues));
	most = g->room > most ? g->room - most : 0;
	size = partition_size(all, most, queues);
	most = g->room / TABLE_SHARE > fixed_bytes(0) ?
		       (g->room / TABLE_SHARE - fixed_bytes(0)) / 12 :
		       1;
	return max_u64(size, div_up(all, max_u64(most, queues)));
}

/* Returns the device bytes to unpack a page of a partition that crosses packed. */
static u64 area_bytes(const struct transfer *t)
{
	u64 rows, edges;

	if (wire_of(t) != WIRE_STORED || t->graph->codec != PAGE_PACKED)
		return 0;
	largest_page(pages_of(t), t->graph, &rows, &edges);
	return page_lists_bytes(rows, edges) + 64;
}

/* Returns whether the device has room for one partition beside the tables. */
static bool holds_one(const struct transfer *t)
{
	const struct graphie *g = layout_of(t);
	u64 addresses = t->graph->paged && g->shape.page ? 4 * (pages_of(t)->n_pages + 2ull) : 0;

	return fixed_bytes(max_u64(g->table.n, g->table.n_ranges)) + addresses + area_bytes(t) +
	       round_up(g->table.largest, 4) <= g->room;
}

/*
 * Makes partitions of the smallest size at which ids do not overflow. They overflow at size
 * low, and do not at size high.
 */
static mill_err bisect(struct transfer *t, const struct pages *p, u64 low, u64 high)
{
	while (low + 1 < high) {
		u64 middle = low + (high - low) / 2;
		mill_err err = make(t, p, middle);

		if (err && err != MILL_ELIMIT)
			return err;
		if (!err)
			partitions_release(&((struct graphie *)t->layout)->table);
		*(err ? &low : &high) = middle;
	}
	return make(t, p, high);
}

/*
 * Makes the partitions. If ids overflow, the size grows. If few queues make partitions so
 * large that the tables leave no room for one, the size shrinks.
 */
static mill_err make_partitions(struct transfer *t, const struct pages *p)
{
	struct graphie *g = t->layout;
	u64 asked = t->options->graphie.partition_size,
	    size = asked ? asked : graphie_size(t, t->device[0]->n_queues);
	mill_err err = make(t, p, size);

	if (asked)
		return err;
	if (err == MILL_ELIMIT && size < g->room)
		return bisect(t, p, size, g->room);
	for (; !err && size > max_u64(g->shape.page, 1) && !holds_one(t); err = make(t, p, size)) {
		size -= div_up(size, 16);
		partitions_release(&g->table);
	}
	return err;
}

/* ---- Ids on the wire ---- */

/*
 * Writes the ids of the neighbours at positions [begin, end) of a segment, which ascend.
 * Ids of the store are copied.
 */
static void rename_list(const struct transfer *t, u32 *to, const struct segment *seg, u32 begin,
			u32 end)
{
	const struct partitions *p = &layout_of(t)->table;
	u32 near;

	if (p->stored) {
		memcpy(to, seg->neighbour + begin, (end - begin) * sizeof(*to));
		return;
	}
	near = begin < end && seg->neighbour[begin] < p->first[p->n] ?
		       partitions_find(p, seg->neighbour[begin]) :
		       0;
	for (u32 i = begin; i < end; i++)
		*to++ = partitions_id(p, seg->neighbour[i], &near);
}

/*
 * Returns the number of virtual ids before the range of a source: the range of its
 * partition or, if ids are the store's, of the page in which its list begins.
 */
static u32 source_shift(const struct transfer *t, u32 page, const struct segment *seg, u32 row)
{
	const struct partitions *p = &layout_of(t)->table;

	if (!p->stored)
		return p->pre_sum[partitions_find(p, (vid)(seg->first + row))];
	return p->pre_sum[row || !seg->skip ? page : pages_find(t->units[0].pages, seg->first)];
}

/* ---- Layout ---- */

static mill_err graphie_layout(struct transfer *t, u64 left)
{
	const struct pages *p = pages_of(t);
	struct graphie *g;

	TRY(memory_new(&g, t->budget, 1, sizeof(*g), "the partitions"));
	t->layout = g;
	g->room = left;
	g->shape = shape_of(t, t->graph, t->weights);
	t->time.cutting = t->time.renaming = 0;
	TRY(make_partitions(t, p));
	t->wire = wire_of(t);
	t->renumber = t->graph->paged && t->wire == WIRE_STORED;
	t->ids = (struct wire_ids){ g->table.stored, rename_list, source_shift };
	t->n_flags = g->table.n_ranges;
	t->units[0] = (struct units){
		.pages = p,
		.entry = g->table.unit.entry,
		.page = g->table.page,
		.page_end = g->table.page_end,
		.n = g->table.n,
	};
	return MILL_OK;
}

static void graphie_unlayout(struct transfer *t)
{
	struct graphie *g = t->layout;

	if (g)
		partitions_release(&g->table);
	memory_free(g);
}

static mill_err graphie_tables(struct transfer *t, struct station *s)
{
	const struct partitions *p = &layout_of(t)->table;

	if (t->wire == WIRE_STORED)
		TRY(station_addresses(t, s, 0));
	TRY(station_table(s, &s->table[TABLE_PRE_SUM], p->pre_sum, p->n_ranges + 1ull));
	return t->wire == WIRE_STORED ?
		       station_table(s, &s->table[TABLE_FIRST], p->first, p->n + 1ull) :
		       MILL_OK;
}

/* Makes as many slots as fit. Packed pages also need an area per queue, to be unpacked in. */
static mill_err graphie_fit(struct fit *out, const struct transfer *t, u32 station, u64 left)
{
	const struct graphie *g = layout_of(t);
	const struct partitions *p = &g->table;
	u64 size = round_up(max_u64(p->largest, 4), 4), area = area_bytes(t), queues, slots;
	u64 fixed = fixed_bytes(max_u64(p->n, p->n_ranges)) +
		    t->station[station].side[0].first.size;

	left = g->room > fixed ? g->room - fixed : 0;
	queues = min_u64(min_u64(t->device[0]->n_queues, max_u64(p->n, 1)), left / (area + size));
	queues = max_u64(queues, 1);
	if (area)	/* with few slots, another queue would take the place of a slot */
		queues = max_u64(min_u64(queues, left / AREA_SHARE / area), 1);
	slots = left > queues * area ? min_u64((left - queues * area) / size, max_u64(p->n, 1)) : 0;
	if (!slots)
		return fail(MILL_ENOMEM,
			    "the device's budget leaves %llu bytes for partitions, but one takes "
			    "%llu: raise --device-memory",
			    (unsigned long long)left, (unsigned long long)size);
	queues = min_u64(queues, slots);
	*out = (struct fit){
		.slots = slots,
		.most = slots,
		.slot_bytes = size,
		.areas = queues,
		.lately = queues,
		.lists = area,
		.own_queues = true,
	};
	return MILL_OK;
}

/* ---- Passes ---- */

static mill_err graphie_plan(struct plan *out, const struct activity *a, struct transfer *t)
{
	return plan_resident_first(out, a, t, &(struct plan_how){ .idle = true });
}

static u32 tile_edges(const struct device *d) { return d->group * (d->chunked ? TILE_EDGES : 1); }

/*
 * Returns the words of flags in local memory; 0 if they do not fit beside the tile's values
 * (at most 8 bytes each) and 64 more bytes.
 */
static u32 flag_words(const struct device *d, const struct partitions *p)
{
	u64 words = div_up(p->n_ranges, 32);

	return 4 * words + 8ull * tile_edges(d) + 64 <= d->local ? (u32)words : 0;
}

static mill_err graphie_launch(struct transfer *t, const struct device_pass *p,
			       const struct device_segment *seg)
{
	const struct partitions *table = &layout_of(t)->table;
	struct device *d = seg->station->device;
	u32 words = flag_words(d, table), staging = !t->options->graphie.no_staging,
	    active = seg->n_active != 0;
	u64 groups = div_up(seg->n_edges, tile_edges(d));
	struct kernel_call l;

	p->step->edges += active ? seg->n_edges : 0;
	launch_begin(&l, p->forms->in_place,
		     seg->wire == WIRE_EDGES ? "partition_edges" : "partition_rows", p->args);
	launch_buffer(&l, seg->lists);
	launch_buffer(&l, seg->weights);
	launch_u32(&l, &seg->row_at);
	launch_u32(&l, &seg->neighbour_at);
	launch_u32(&l, &seg->weight_at);
	launch_u32(&l, &seg->n_edges);
	launch_buffer(&l, &seg->station->table[TABLE_PRE_SUM]);
	launch_u32(&l, &table->n_ranges);
	launch_u32(&l, &table->range);
	launch_u32(&l, &staging);
	launch_u32(&l, &active);
	launch_buffer(&l, &seg->station->counts);
	launch_local(&l, words ? 4ull * words : 4);
	launch_u32(&l, &words);
	if (seg->wire != WIRE_EDGES) {
		launch_u32(&l, &seg->first);
		launch_u32(&l, &seg->n_rows);
		launch_u32(&l, &seg->base);
		launch_buffer(&l,
			      seg->wire == WIRE_STORED ? &seg->station->table[TABLE_FIRST] : NULL);
	}
	l.launch.queue = seg->queue;
	/* A work-group takes several tiles, so that clearing and merging its flags pays. */
	return launch_groups(d, &l, min_u64(groups, d->chunked ? 64 : 1024));
}

/* A partition that starts with the rest of a list is active when the list's owner is. */
static u64 spread_owners(const struct partitions *p, u32 *active)
{
	u64 n = 0;

	/*
	 * The loop goes from the last partition to the first. An owner has a smaller
	 * number, so the loop has not changed the owner's flag yet.
	 */
	for (u32 i = p->n; i-- > 0;)
		if (active[p->owner[i]])
			active[i] = 1;
	for (u32 i = 0; i < p->n; i++)
		n += active[i] != 0;
	return n;
}

static u64 graphie_begin(const struct transfer *t, u32 *active, const vid *first)
{
	const struct partitions *p = &layout_of(t)->table;
	bool has_edges = !first || *first < p->unit.n_rows;

	for (u32 i = 0; i < p->n; i++)
		active[i] = !first || (has_edges && i == partitions_find(p, *first));
	return spread_owners(p, active);
}

/*
 * Flags are by partition or, if ids are the store's, by page: then a partition is active if
 * one of its pages is flagged.
 */
static u64 graphie_spread(const struct transfer *t, const u32 *flag, u32 *active)
{
	const struct partitions *p = &layout_of(t)->table;

	for (u32 i = 0; i < p->n; i++) {
		active[i] = p->stored ? 0 : flag[i];
		for (u32 page = p->page[i]; p->stored && page < p->page_end[i]; page++)
			active[i] |= flag[page];
	}
	return spread_owners(p, active);
}

static void graphie_report(const struct transfer *t, struct mill_report *out)
{
	const struct partitions *p = &layout_of(t)->table;

	out->partitions = (struct mill_partitions){
		.count = p->n,
		.bytes = p->largest,
		.buffers = t->station[0].n_slots,
		.range = p->range,
		.ids = p->ids,
		.wire = t->options->graphie.wire ? t->options->graphie.wire : MILL_WIRE_EDGES,
		.staged = !t->options->graphie.no_staging,
		.addressing = p->stored ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE,
		.local_flags = flag_words(t->device[0], p) || !p->n,
	};
}

static const struct program *graphie_takes(const struct own_forms *forms)
{
	return forms->in_place;
}

/* ---- The row ---- */

#define AT(field) offsetof(struct mill_graphie, field)

static const char *const wires[] = { "auto", "edges", "csr", "packed", NULL };

static const struct mill_option options[] = {
	{ "wire", MILL_OPTION_CHOICE, AT(wire), "edges|csr|packed",
	  .help = "form in which partitions cross to the device", .word = wires,
	  .usual = MILL_WIRE_EDGES },
	{ "partition-size", MILL_OPTION_SIZE, AT(partition_size), "SIZE",
	  .help = "bytes of a partition as it crosses (default: from graph, device and "
		  "queues)" },
	{ "no-staging", MILL_OPTION_FLAG, AT(no_staging), NULL,
	  .help = "do not copy the values of sources to local memory" },
	{ 0 },
};

const struct policy policy_graphie = {
	.public = {
		.name = "graphie",
		.summary = "bfs, sssp and cc on a device by partitions, as Graphie does "
			   "(PACT 2017); elsewhere as fifo",
		.option = options,
		.settings = offsetof(struct mill_options, graphie),
		.otherwise = "fifo",
	},
	.device = residency_fifo,
	.before = residency_latest,	/* partitions are short passes of one scan */
	.cpu = residency_fifo,
	.home = HOME_DEVICE,
	.in_place = true,
	.takes = graphie_takes,
	.room = graphie_room,
	.layout = graphie_layout,
	.unlayout = graphie_unlayout,
	.tables = graphie_tables,
	.fit = graphie_fit,
	.plan = graphie_plan,
	.launch = graphie_launch,
	.begin = graphie_begin,
	.spread = graphie_spread,
	.report = graphie_report,
};
