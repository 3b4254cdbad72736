/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: host buffers for units that do not cross as they are stored. All threads of the
 * host make the edges or rows of such units, page by page, in one of two stages. While one
 * stage is filled, the transfers of the other are under way.
 */
#include <string.h>

#include "store/packed.h"
#include "transfer/transfer.h"

/* Edges that a stage has room for: fewer if the graph is smaller, more if a page has more. */
#define STAGE_EDGES (512u * 1024)

/* ---- Open and close ---- */

void largest_page(const struct pages *p, const struct store *st, u64 *rows, u64 *edges)
{
	*rows = *edges =
		p ? 0 : (st->codec == PAGE_PACKED ? PACKED_GROWTH : 1u) * (u64)st->page_size / 4;
	for (u32 i = 0; p && i < p->n_pages; i++) {
		*rows = max_u64(*rows, p->entry[i].n_rows);
		*edges = max_u64(*edges, p->entry[i].n_edges);
	}
}

u64 stage_bytes(const struct transfer *t, enum wire w, u64 edge, const struct pages *p, u64 *rows,
		u64 *edges)
{
	*rows = *edges = 0;
	if (w == WIRE_STORED || w == WIRE_ROWS)
		return 0;
	largest_page(p, t->store, rows, edges);
	*edges = max_u64(*edges, p ? min_u64(STAGE_EDGES, p->n_pages * *edges) : STAGE_EDGES);
	*rows = max_u64(*rows, *edges);
	return 2 * (*edges * edge + (w == WIRE_CSR ? 4 * *rows : 0));
}

static u32 weight_bytes(const struct transfer *t)
{
	return t->weights ? (u32)weight_size(t->graph->weight) : 0;
}

mill_err stage_open(struct transfer *t)
{
	const char *what = "edges on their way to the device";

	stage_bytes(t, t->wire, 0, t->units[0].pages, &t->stage_rows, &t->stage_edges);
	for (u32 i = 0; i < 2 && t->stage_edges; i++) {
		struct stage *s = &t->stage[i];

		if (t->wire == WIRE_EDGES)
			TRY(memory_new(&s->source, t->budget, t->stage_edges, sizeof(u32), what));
		else
			TRY(memory_new(&s->row, t->budget, t->stage_rows, sizeof(u32), what));
		TRY(memory_new(&s->neighbour, t->budget, t->stage_edges, sizeof(u32), what));
		if (t->weights)
			TRY(memory_new(&s->weight, t->budget, t->stage_edges, weight_bytes(t),
				       what));
	}
	return MILL_OK;
}

void stage_close(struct transfer *t)
{
	for (u32 i = 0; i < 2; i++) {
		memory_free(t->stage[i].source);
		memory_free(t->stage[i].neighbour);
		memory_free(t->stage[i].weight);
		memory_free(t->stage[i].row);
		t->stage[i] = (struct stage){ 0 };
	}
}

/* ---- The edges that a stage holds at a time ---- */

static u64 edges_end(const struct page_entry *e) { return e->first_edge + e->n_edges; }

static u64 rows_of(const struct transfer *t, u32 page, u32 page_end)
{
	const struct page_entry *entry = t->units[0].pages->entry;

	return entry[page_end - 1].first_vertex + (u64)entry[page_end - 1].n_rows -
	       entry[page].first_vertex;
}

/* Adds whole pages to the part while the stage has room; at least one. */
static void fill_part(const struct transfer *t, u32 unit, struct stage_part *part)
{
	const struct page_entry *entry = t->units[0].pages->entry;

	part->begin = entry[part->page].first_edge;
	part->page_end = part->page + 1;
	while (part->page_end < t->units[0].page_end[unit] &&
	       edges_end(&entry[part->page_end]) - part->begin <= t->stage_edges &&
	       rows_of(t, part->page, part->page_end + 1) <= t->stage_rows)
		part->page_end++;
	part->end = edges_end(&entry[part->page_end - 1]);
}

u32 stage_window(const struct transfer *t, u32 begin, u32 end, struct stage_part *out)
{
	const struct units *u = &t->units[0];
	u32 k = begin, unit = t->plan.move[begin].unit;

	*out = (struct stage_part){ .begin = u->entry[unit].first_edge, .page = u->page[unit] };
	for (; k < end; k++) {
		u32 i = t->plan.move[k].unit;

		if (i < unit || edges_end(&u->entry[i]) - out->begin > t->stage_edges ||
		    rows_of(t, out->page, u->page_end[i]) > t->stage_rows)
			break;
		out->end = edges_end(&u->entry[i]);
		out->page_end = u->page_end[i];
	}
	if (k > begin)
		return k;
	fill_part(t, unit, out);
	return begin + 1;
}

bool stage_next(const struct transfer *t, u32 unit, struct stage_part *part)
{
	if (part->page_end >= t->units[0].page_end[unit])
		return false;
	part->page = part->page_end;
	fill_part(t, unit, part);
	return true;
}

/* ---- Filling ---- */

struct stage_ctx {
	const struct transfer *t;
	const struct stage_part *part;
	struct stage *stage;
	u32 weight;
};

/* Returns the row that has edge `at`. */
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

static mill_err fill_stage(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct stage_ctx *c = arg;
	const struct transfer *t = c->t;
	const struct stage_part *part = c->part;
	struct stage *s = c->stage;
	u64 base = seg->first_edge, at;
	u32 low = (u32)(max_u64(part->begin, base) - base),
	    high = (u32)min_u64(part->end - base, seg->n_edges);
	vid v0 = (vid)t->units[0].pages->entry[part->page].first_vertex;

	(void)worker;
	at = base + low - part->begin;
	for (u32 row = row_at(seg, low); row < seg->n_rows && seg->row[row] <= high; row++) {
		u32 begin = (u32)max_u64(seg->row[row], low),
		    end = (u32)min_u64(seg->row[row + 1], high);
		u32 source = s->source ? seg->first + row + t->ids.source(t, page, seg, row) : 0;

		if (s->row && !(row == 0 && seg->skip) && seg->row[row] >= low)
			s->row[seg->first + row - v0] = (u32)(base + seg->row[row]);
		if (begin >= end)
			continue;
		t->ids.list(t, s->neighbour + at, seg, begin, end);
		for (u32 i = 0; s->source && i < end - begin; i++)
			s->source[at + i] = source;
		at += end - begin;
	}
	if (s->weight)
		memcpy(s->weight + (base + low - part->begin) * c->weight,
		       (const u8 *)seg->weight + (u64)low * c->weight,
		       (u64)(high - low) * c->weight);
	return MILL_OK;
}

/* Waits until all transfers from the stage have ended. */
static mill_err empty_stage(struct stage *s)
{
	mill_err err = MILL_OK, late;

	for (u32 i = 0; i < s->n_sent; i++) {
		late = device_wait(&s->sent[i]);
		err = err ? err : late;
	}
	s->n_sent = 0;
	return err;
}

mill_err stage_drain(struct transfer *t)
{
	mill_err err = empty_stage(&t->stage[0]), late = empty_stage(&t->stage[1]);

	return err ? err : late;
}

static struct stage *current(struct transfer *t) { return &t->stage[t->next_stage % 2]; }

mill_err stage_load(struct transfer *t, const struct stage_part *part, const u32 *list, u32 n,
		    struct mill_step *step)
{
	struct stage_ctx c = { .t = t, .part = part, .weight = weight_bytes(t) };
	struct stream_pass sp = {
		.pages = t->units[0].pages,
		.list = list,
		.n_list = n,
		.work = fill_stage,
		.arg = &c,
		.want = { .lists_only = !t->weights, .as_stored = t->ids.stored },
		.ticker = t->ticker,
	};
	mill_err err;

	t->next_stage++;
	c.stage = current(t);
	TRY(empty_stage(c.stage));
	err = stream_run(t->stream, &sp);
	sp.n_active = sp.n_reused = 0;	/* the step counts units, not pages */
	step_add_pass(step, &sp);
	t->time.staging += (sp.decode + sp.compute) / pool_size(t->pool);
	return err;
}

/* ---- Sending ---- */

static mill_err send(struct transfer *t, struct buffer *to, u64 at, const void *from, u64 bytes,
		     u32 queue, struct mill_step *step)
{
	struct stage *s = current(t);

	if (!bytes)
		return MILL_OK;
	if (s->n_sent == STAGE_SENDS)
		TRY(empty_stage(s));
	step->to_device += bytes;
	TRY(device_send(to, at, from, bytes, queue, &s->sent[s->n_sent]));
	s->n_sent++;
	return MILL_OK;
}

/* Byte offsets in a slot: weights come first, then neighbours, then sources or rows. */
static u64 neighbour_at(const struct transfer *t, u32 unit)
{
	return (u64)weight_bytes(t) * t->units[0].entry[unit].n_edges;
}

static u64 source_at(const struct transfer *t, u32 unit)
{
	return neighbour_at(t, unit) + 4ull * t->units[0].entry[unit].n_edges;
}

/* Sends the offsets of the rows that begin in the part's pages. */
static mill_err send_rows(struct transfer *t, const struct stage_part *part, u32 unit,
			  struct buffer *to, u32 queue, struct mill_step *step)
{
	const struct page_entry *e = &t->units[0].entry[unit], *page = t->units[0].pages->entry;
	u64 v0 = page[part->page].first_vertex,
	    from = max_u64(e->first_vertex, v0 + (page[part->page].skip != 0));
	u64 end = min_u64(e->first_vertex + (u64)e->n_rows,
			  page[part->page_end - 1].first_vertex +
				  (u64)page[part->page_end - 1].n_rows);

	if (from >= end)
		return MILL_OK;
	return send(t, to, source_at(t, unit) + 4 * (from - e->first_vertex),
		    current(t)->row + (from - v0), 4 * (end - from), queue, step);
}

mill_err stage_send(struct transfer *t, const struct stage_part *part, u32 unit, struct buffer *to,
		    u32 queue, struct mill_step *step)
{
	const struct page_entry *e = &t->units[0].entry[unit];
	const struct stage *s = current(t);
	u64 from = max_u64(e->first_edge, part->begin), end = min_u64(edges_end(e), part->end),
	    n = end - from;
	u64 in_stage = from - part->begin, at = from - e->first_edge, weight = weight_bytes(t);

	TRY(send(t, to, neighbour_at(t, unit) + 4 * at, s->neighbour + in_stage, 4 * n, queue,
		 step));
	if (weight)
		TRY(send(t, to, weight * at, s->weight + weight * in_stage, weight * n, queue,
			 step));
	if (t->wire == WIRE_CSR)
		return send_rows(t, part, unit, to, queue, step);
	return send(t, to, source_at(t, unit) + 4 * at, s->source + in_stage, 4 * n, queue, step);
}

struct device_segment stage_segment(const struct transfer *t, const struct slot *s, u32 unit)
{
	const struct page_entry *e = &t->units[0].entry[unit];

	return (struct device_segment){
		.lists = &s->buffer,
		.weights = t->weights ? &s->buffer : NULL,
		.row_at = (u32)(source_at(t, unit) / 4),
		.neighbour_at = (u32)(neighbour_at(t, unit) / 4),
		.first = e->first_vertex,
		.n_rows = e->n_rows,
		.n_edges = e->n_edges,
		.unit = unit,
		.first_edge = e->first_edge,
		.skip = e->skip,
		.wire = t->wire,
		.base = (u32)e->first_edge,
	};
}
