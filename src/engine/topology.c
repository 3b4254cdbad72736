/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a direction into memory, cuts it into chunks and pieces, and runs passes over it;
 * topology.h has the contract.
 */
#include "engine/topology.h"

#include <string.h>

#include "base/trace.h"
#include "engine/number.h"
#include "engine/run.h"

/* Edges of a chunk: about 30 us of work, far above the cost of giving a chunk to a worker. */
#define CHUNK_EDGES 16384u

/* Returns the number of segments if each has at most max_edges. */
static u32 segments_of(const struct pages *p, u64 max_edges)
{
	u32 n = 0;
	u64 edges = 0;

	for (u32 i = 0; i < p->n_pages; i++) {
		if (!n || edges + p->entry[i].n_edges > max_edges) {
			n++;
			edges = 0;
		}
		edges += p->entry[i].n_edges;
	}
	return n;
}

static u64 total_edges(const struct pages *p)
{
	const struct page_entry *last = p->n_pages ? &p->entry[p->n_pages - 1] : NULL;

	return last ? last->first_edge + last->n_edges : 0;
}

/*
 * Each segment has one row offset more than rows, and a list that is cut has a row in both
 * segments.
 */
static u64 n_offsets(const struct pages *p, u32 n_segments)
{
	return (u64)p->n_rows + 2 * (u64)n_segments;
}

u64 topology_chunk_bytes(u64 n_rows, u64 n_edges, u64 n_segments)
{
	u64 pieces = 2 * (n_edges / PIECE_EDGES) + 2 * n_segments;
	u64 chunks = n_edges / CHUNK_EDGES + n_rows / 64 / 64 + 64 + 2 * pieces;

	return 2 * chunks * sizeof(struct chunk) +
	       pieces * (sizeof(struct segment) + 2 * sizeof(u32)) + 64 * KIB;
}

u64 topology_bytes(const struct pages *p, bool weights)
{
	u64 edges = total_edges(p);

	return n_offsets(p, segments_of(p, UINT32_MAX)) * sizeof(u32) + edges * sizeof(vid) +
	       (weights ? edges * weight_size(p->store->weight) : 0) +
	       topology_chunk_bytes(p->n_rows, edges, segments_of(p, UINT32_MAX));
}

void topology_init(struct topology *t, const struct pages *p)
{
	*t = (struct topology){ .pages = p,
				.n_rows = p ? p->n_rows : 0,
				.n_edges = p ? total_edges(p) : 0 };
}

struct load_ctx {
	struct topology *t;
	u32 *page_segment;	/* the segment of each page */
};

static mill_err copy_page(void *arg, u32 page, const struct segment *from, unsigned worker)
{
	struct load_ctx *l = arg;
	struct topology *t = l->t;
	struct segment *to = &t->segment[l->page_segment[page]];
	u32 at = (u32)(from->first_edge - to->first_edge);
	u32 *row = (u32 *)to->row + (from->first - to->first);

	(void)worker;
	/*
	 * If the first list began in an earlier page, that page writes its row, unless this
	 * page is the first of its segment.
	 */
	for (vid i = from->skip && from->first_edge != to->first_edge; i < from->n_rows; i++)
		row[i] = at + from->row[i];
	memcpy((vid *)to->neighbour + at, from->neighbour, from->n_edges * sizeof(vid));
	if (t->weight_size)
		memcpy((char *)to->weight + at * t->weight_size, from->weight,
		       from->n_edges * t->weight_size);
	return MILL_OK;
}

static void cut_segments(struct topology *t, u64 max_edges, u32 *page_segment, size_t weight_bytes)
{
	const struct pages *p = t->pages;
	struct segment *s = NULL;
	u64 offset = 0;
	u32 n = 0;

	for (u32 i = 0; i < p->n_pages; i++) {
		const struct page_entry *e = &p->entry[i];

		if (!s || (u64)s->n_edges + e->n_edges > max_edges) {
			if (s) {
				s->continues = e->skip > 0;
				offset += (u64)s->n_rows + 1;
			}
			s = &t->segment[n++];
			*s = (struct segment){
				.first = (vid)e->first_vertex,
				.first_edge = (eid)e->first_edge,
				.skip = e->skip,
				.row = t->row + offset,
				.neighbour = t->neighbour + e->first_edge,
				.weight = t->weight
						  ? (char *)t->weight + e->first_edge * weight_bytes
						  : NULL,
			};
		}
		page_segment[i] = n - 1;
		s->n_rows = (vid)(e->first_vertex + e->n_rows - s->first);
		s->n_edges += e->n_edges;
	}
}

/* Counts chunks and pieces, and stores them if their arrays are allocated already. */
struct cut_ctx {
	struct topology *t;
	u32 n_chunks, n_pieces;
};

static void put_chunk(struct cut_ctx *c, const struct segment *seg, u64 begin, u64 end)
{
	if (begin == end)
		return;
	if (c->t->chunk)
		c->t->chunk[c->n_chunks] = (struct chunk){ seg, (vid)begin, (vid)end };
	c->n_chunks++;
}

static void put_pieces(struct cut_ctx *c, const struct segment *s, vid row)
{
	struct topology *t = c->t;
	u32 end = s->row[row + 1];

	for (u32 at = s->row[row]; at < end;) {
		u32 n = end - at > HUB_EDGES ? PIECE_EDGES : end - at;

		if (t->piece) {
			u32 *rows = &t->piece_row[2 * c->n_pieces];
			struct segment *piece = &t->piece[c->n_pieces];

			rows[1] = n;
			*piece = (struct segment){
				.first = (vid)(s->first + row),
				.n_rows = 1,
				.n_edges = n,
				.first_edge = (eid)(s->first_edge + at),
				.skip = (row ? 0 : s->skip) + (at - s->row[row]),
				.continues = at + n < end || (s->continues && row + 1 == s->n_rows),
				.row = rows,
				.neighbour = s->neighbour + at,
				.weight = s->weight ? (const char *)s->weight + at * t->weight_size
						    : NULL,
			};
			put_chunk(c, piece, 0, 1);
		} else {
			c->n_chunks++;
		}
		c->n_pieces++;
		at += n;
	}
}

/*
 * Cuts the rows of a segment. A chunk ends when it has CHUNK_EDGES edges or 4096 rows, at a
 * multiple of 64 vertices (a word of a bitmap), or before a hub.
 */
static void cut_rows(struct cut_ctx *c, const struct segment *s)
{
	u64 begin = 0;

	for (u64 row = 0; row < s->n_rows; row++) {
		u64 word = (s->first + row) % 64;

		if (s->row[row + 1] - s->row[row] > HUB_EDGES ||
		    segment_row_is_partial(s, (vid)row)) {
			put_chunk(c, s, begin, row);
			put_pieces(c, s, (vid)row);
			begin = row + 1;
		} else if (word == 63 && (s->row[row + 1] - s->row[begin] >= CHUNK_EDGES ||
					  row - begin >= 4095)) {
			put_chunk(c, s, begin, row + 1);
			begin = row + 1;
		}
	}
	put_chunk(c, s, begin, s->n_rows);
}

mill_err topology_cut_chunks(struct topology *t, struct budget *budget)
{
	struct cut_ctx c = { .t = t };

	for (u32 i = 0; i < t->n_segments; i++)
		cut_rows(&c, &t->segment[i]);
	TRY(memory_new(&t->chunk, budget, c.n_chunks, sizeof(*t->chunk), "the chunks"));
	TRY(memory_new(&t->piece, budget, max_u64(c.n_pieces, 1), sizeof(*t->piece),
		       "the pieces of long lists"));
	TRY(memory_new(&t->piece_row, budget, max_u64(c.n_pieces, 1), 2 * sizeof(u32),
		       "the pieces of long lists"));
	c = (struct cut_ctx){ .t = t };
	for (u32 i = 0; i < t->n_segments; i++)
		cut_rows(&c, &t->segment[i]);
	t->n_chunks = c.n_chunks;
	t->n_pieces = c.n_pieces;
	return MILL_OK;
}

mill_err topology_load(struct topology *t, struct budget *budget, struct stream *stream,
		       bool weights, u64 max_edges, struct ticker *ticker)
{
	const struct pages *p = t->pages;
	u64 edges = total_edges(p);
	struct load_ctx l = { .t = t };
	struct stream_pass pass = { .pages = p, .work = copy_page, .arg = &l, .ticker = ticker };
	mill_err err;

	t->weight_size = weights ? weight_size(p->store->weight) : 0;
	t->n_segments = segments_of(p, max_edges);
	TRY(memory_new(&t->segment, budget, t->n_segments, sizeof(*t->segment), "the segments"));
	TRY(memory_new(&t->row, budget, n_offsets(p, t->n_segments), sizeof(u32),
		       "the row offsets"));
	TRY(memory_new(&t->neighbour, budget, edges, sizeof(vid), "the resident topology"));
	if (t->weight_size)
		TRY(memory_new(&t->weight, budget, edges, t->weight_size, "the resident weights"));
	TRY(memory_new(&l.page_segment, budget, p->n_pages, sizeof(u32), "the pages' segments"));
	cut_segments(t, max_edges, l.page_segment, t->weight_size);
	ticker_begin(ticker, "load", "pages", p->n_pages);
	err = stream_run(stream, &pass);
	memory_free(l.page_segment);
	if (err)
		return err;
	for (u32 i = 0; i < t->n_segments; i++)
		((u32 *)t->segment[i].row)[t->segment[i].n_rows] = t->segment[i].n_edges;
	TRY(topology_cut_chunks(t, budget));
	t->resident = true;
	return MILL_OK;
}

void topology_release(struct topology *t)
{
	memory_free(t->piece_row);
	memory_free(t->piece);
	memory_free(t->chunk);
	memory_free(t->weight);
	memory_free(t->neighbour);
	memory_free(t->row);
	memory_free(t->segment);
	topology_init(t, t->pages);
}

u32 topology_find(const struct topology *t, vid v)
{
	return segment_find(t->segment, t->n_segments, v);
}

const struct segment *topology_pieces(const struct topology *t, vid v, u32 *n)
{
	u32 low = 0, high = t->n_pieces;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (t->piece[middle].first < v)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < t->n_pieces && t->piece[high].first == v; high++)
		;
	*n = high - low;
	return &t->piece[low];
}

/* ---- Degrees ---- */

#define DEGREES 8192	/* number of degrees at a time */

/*
 * Adds the lengths of rows [begin, end) in all segments: a list that is cut has a row in
 * several.
 */
static void count_rows(const struct topology *t, u64 begin, u64 end, u32 *degree)
{
	for (u32 i = 0; i < t->n_segments; i++) {
		const struct segment *s = &t->segment[i];
		u64 from = max_u64(begin, s->first), to = min_u64(end, (u64)s->first + s->n_rows);

		for (u64 v = from; v < to; v++)
			degree[v - begin] += s->row[v - s->first + 1] - s->row[v - s->first];
	}
}

struct count_ctx {
	const struct topology *topology;
	u32 *degree;
};

static mill_err count_degrees(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct count_ctx *c = arg;

	(void)worker;
	memset(c->degree + begin, 0, (end - begin) * sizeof(u32));
	count_rows(c->topology, begin, end, c->degree + begin);
	return MILL_OK;
}

mill_err run_degrees(struct mill_run *r, struct vec *to)
{
	const struct topology *t = run_direction(r, false);
	struct count_ctx ctx = { t, to->buffer.host };
	mill_err err = MILL_OK;
	u32 *degree;

	if (t->resident)
		return pool_for(r->pool, to->n, DEGREES, count_degrees, &ctx);
	TRY(memory_new(&degree, &r->budget, DEGREES, sizeof(u32), "degrees"));
	for (u64 at = 0; !err && at < to->n; at += DEGREES) {
		u64 some = min_u64(DEGREES, to->n - at),
		    with = at < t->n_rows ? min_u64(some, t->n_rows - at) : 0;

		memset(degree + with, 0, (some - with) * sizeof(u32));
		if (with)
			err = store_read(r->graph, t->pages->degrees, degree, with * sizeof(u32),
					 at * sizeof(u32));
		if (!err)
			err = device_write(&to->buffer, at * sizeof(u32), degree,
					   some * sizeof(u32));
	}
	memory_free(degree);
	return err;
}

/* ---- Passes ---- */

struct pass_ctx {
	struct mill_run *run;
	const struct pass *pass;
	const struct topology *topology;
	u64 bytes;		/* bytes read for edge numbers; atomic */
};

static mill_err pass_chunks(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct pass_ctx *p = arg;
	const struct topology *t = p->topology;
	f64 began = trace_begin();

	for (u64 i = begin; i < end; i++) {
		const struct chunk *c = &t->chunk[i];

		TRY(p->pass->work(p->pass->arg, c->segment, c->begin, c->end, 0, worker));
	}
	trace_end(began, "compute", "chunk", begin);
	if (!worker)
		return ticker_tick(&p->run->ticker, end);
	return ticker_cancelled(&p->run->ticker) ? fail(MILL_ECANCELLED, "cancelled") : MILL_OK;
}

static bool pass_active(void *arg, u32 page)
{
	struct pass_ctx *p = arg;
	const struct page_entry *e = &p->topology->pages->entry[page];

	if (!transfer_takes(&p->run->transfer, page))
		return false;
	if (p->pass->active_edges)
		return p->pass->active_edges(p->pass->arg, e->first_edge,
					     e->first_edge + e->n_edges);
	return !p->pass->active ||
	       p->pass->active(p->pass->arg, e->first_vertex, (u64)e->first_vertex + e->n_rows);
}

static mill_err pass_page(void *arg, u32 page, const struct segment *seg, unsigned worker)
{
	struct pass_ctx *p = arg;
	struct segment numbered = *seg;

	if (p->pass->numbers)
		TRY(numbers_attach(p->run, p->pass->in, p->pass->numbers, page, worker, &numbered,
				   &p->bytes));
	return p->pass->work(p->pass->arg, &numbered, 0, seg->n_rows, page, worker);
}

mill_err run_pass(struct mill_run *r, const struct pass *p, struct mill_step *step)
{
	struct pass_ctx ctx = { r, p, run_direction(r, p->in), 0 };
	struct row_filter only = { p->active, p->arg };
	struct stream_pass sp = {
		.pages = ctx.topology->pages,
		.active = p->active || p->active_edges || r->transfer.sample ? pass_active : NULL,
		.want = { .only = p->active && !p->whole ? &only : NULL,
			  .lists_only = !r->need.weights },
		.work = pass_page,
		.arg = &ctx,
		.ticker = &r->ticker,
	};
	mill_err err;

	if (ctx.topology->resident)
		return pool_for(r->pool, ctx.topology->n_chunks, 4, pass_chunks, &ctx);
	r->edge_state_bytes = 0;
	err = stream_run(r->stream, &sp);
	step_add_pass(step, &sp);
	step->disk_read += ctx.bytes + r->edge_state_bytes;
	step->disk_written += r->edge_state_bytes;
	return err;
}

mill_err run_divisors(struct mill_run *r, struct vec *to)
{
	const struct store *st = r->store;
	u32 *degree;
	mill_err err;

	TRY(vec_map(r, to, &degree));
	err = store_read(st, STORE_OUT_DEGREES, degree, st->sources * sizeof(u32), 0);
	for (u64 v = st->sources; v < st->n_linked; v++)
		degree[v] = 1;
	/* A corrupt store must not cause a division by zero. */
	for (u64 v = 0; !err && v < st->sources; v++)
		if (!degree[v])
			err = fail(MILL_ECORRUPT, "%s: vertex %llu is a source without out-edges",
				   st->path, (unsigned long long)v);
	if (!err && !r->device->native)
		err = device_write(&to->buffer, 0, degree, to->buffer.size);
	vec_unmap(to, degree);
	return err;
}
