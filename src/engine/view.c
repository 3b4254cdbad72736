/* SPDX-License-Identifier: Apache-2.0 */
/* Makes views by one merge of the two directions; view.h has the contract. */
#include "engine/view.h"

#include <stdlib.h>
#include <string.h>

#include "engine/cursor.h"
#include "engine/run.h"
#include "store/packed.h"
#include "store/writer.h"

/* Neighbours that the merge buffers: a multiple of LIST_BLOCK, where lists may be cut. */
#define BUFFER (16 * LIST_BLOCK)

static bool is_simple(const struct store *st)
{
	return !st->directed && !st->self_loops && !st->parallel_edges;
}

mill_err view_need(const struct store *st, enum view view, const char *what, struct need *n)
{
	if (!st->has_in)
		return fail(MILL_EUSAGE,
			    "%s has no in-edges, which %s needs: import it without --out-only",
			    st->path, what);
	if (view == VIEW_BOTH && st->directed && st->stored_edges > MAX_EDGES / 2)
		return fail(MILL_ELIMIT,
			    "%s has too many edges for %s, which takes each in both directions",
			    st->path, what);
	n->view = VIEW_NONE;
	n->out = n->in = false;
	if (is_simple(st) || (view == VIEW_BOTH && !st->directed))
		n->out = true;
	else
		n->view = view;
	n->weights = false;
	return MILL_OK;
}

u64 view_edges(const struct store *st)
{
	return st->stored_edges * (st->directed ? 2 : 1);
}

static u32 most_segments(u64 edges) { return (u32)(edges / (UINT32_MAX / 2) + 2); }
static size_t view_weight(enum view view) { return view == VIEW_ARCS ? sizeof(u32) : 0; }

u64 view_bytes(const struct store *st, enum view view)
{
	u64 edges = view_edges(st);

	return (st->n_linked + 2 * (u64)most_segments(edges)) * sizeof(u32) +
	       edges * (sizeof(vid) + view_weight(view)) +
	       most_segments(edges) * sizeof(struct segment) +
	       topology_chunk_bytes(st->n_linked, edges, most_segments(edges)) + 64 * KIB;
}

u64 view_making_bytes(const struct store *st)
{
	/* Two cursors; the writer's page, its rows or blocks, weights and checksums; the buffer. */
	return 2 * cursor_bytes(st) + 4 * (u64)st->page_size +
	       BUFFER * (sizeof(vid) + sizeof(u32)) + MIB;
}

u64 view_kept_bytes(const struct store *st, enum view view)
{
	return temporary_bytes(st->n_linked, view_edges(st), st->page_size,
			       view == VIEW_ARCS ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE);
}

u64 view_scratch(const struct store *st, unsigned workers)
{
	u64 page = (u64)PACKED_GROWTH * st->page_size + PACKED_SLACK;

	return st->codec == PAGE_PACKED ? workers * round_up(page, 64) : 0;
}

/* ---- The merge ---- */

/* The merge of two directions. Lists leave it in pieces: all but the last are BUFFER long. */
struct merge {
	struct cursor out, in;		/* `in` is empty for an undirected store */
	enum view view;
	vid *neighbour;			/* the buffer: BUFFER neighbours */
	u32 *arcs;			/* by neighbour: stored directions of the edge, 1 or 2 */
	u32 n;
	/* Takes a piece of v's list. last: it is the last one. */
	mill_err (*piece)(void *arg, u64 v, const vid *neighbour, const u32 *arcs, u32 n,
			  bool last);
	void *arg;
};

/* Sets *out to the next neighbour, or to NO_VERTEX at the end of the list. */
static inline mill_err peek(struct cursor *c, vid *out)
{
	if (c->at == c->end)
		TRY(cursor_more(c));
	*out = c->at == c->end ? NO_VERTEX : *c->at;
	return MILL_OK;
}

static inline mill_err put(struct merge *m, u64 v, vid w, u32 arcs)
{
	if (m->n == BUFFER) {
		TRY(m->piece(m->arg, v, m->neighbour, m->arcs, m->n, false));
		m->n = 0;
	}
	m->neighbour[m->n] = w;
	m->arcs[m->n++] = arcs;
	return MILL_OK;
}

/*
 * Merges the lists of v. Only a corrupt store has lists that do not ascend: they give a
 * wrong list, but not a longer one.
 */
static mill_err merge_list(struct merge *m, u64 v)
{
	vid a, b;

	m->n = 0;
	TRY(cursor_seek(&m->out, v));
	TRY(cursor_seek(&m->in, v));
	for (;;) {
		u32 arcs = 0;
		vid w;

		TRY(peek(&m->out, &a));
		TRY(peek(&m->in, &b));
		w = a < b ? a : b;
		if (w == NO_VERTEX)
			break;
		if (m->view == VIEW_BOTH) {
			if (a == w)
				m->out.at++;
			else
				m->in.at++;
			TRY(put(m, v, w, 1));
			continue;
		}
		while (a == w) {
			arcs |= 1;
			m->out.at++;
			TRY(peek(&m->out, &a));
		}
		while (b == w) {
			arcs |= 2;
			m->in.at++;
			TRY(peek(&m->in, &b));
		}
		if (w != v)
			TRY(put(m, v, w, arcs == 3 ? 2 : 1));
	}
	return m->piece(m->arg, v, m->neighbour, m->arcs, m->n, true);
}

static mill_err merge_all(struct merge *m, const struct store *st, struct budget *budget,
			  struct ticker *ticker)
{
	u64 pages = (u64)st->out.n_pages + (st->directed ? st->in.n_pages : 0);
	mill_err err;

	err = cursor_open(&m->out, &st->out, budget);
	if (!err)
		err = cursor_open(&m->in, st->directed ? &st->in : NULL, budget);
	if (!err)
		err = memory_new(&m->neighbour, budget, BUFFER, sizeof(vid), "the merged lists");
	if (!err)
		err = memory_new(&m->arcs, budget, BUFFER, sizeof(u32), "the merged lists");
	ticker_begin(ticker, "load", "pages", pages);
	for (u64 v = 0; !err && v < st->n_linked; v++) {
		err = merge_list(m, v);
		if (!err && v % 1024 == 0)
			err = ticker_tick(ticker, (u64)m->out.n_read + m->in.n_read);
	}
	memory_free(m->arcs);
	memory_free(m->neighbour);
	cursor_close(&m->in);
	cursor_close(&m->out);
	return err;
}

/* ---- Views in memory ---- */

struct load_ctx {
	struct topology *t;
	struct segment *seg;
	u64 edges;		/* edges in all segments so far */
	u64 offset;		/* of the segment's first row in t->row */
	u64 list_n;		/* edges of the present list so far */
	bool begun;		/* the present list has a row in the segment */
};

static u32 *rows_of(struct load_ctx *l) { return l->t->row + l->offset; }

static void open_segment(struct load_ctx *l, u64 v)
{
	struct topology *t = l->t;

	if (l->seg) {
		l->seg->continues = l->list_n > 0;
		rows_of(l)[l->seg->n_rows] = l->seg->n_edges;
		l->offset += (u64)l->seg->n_rows + 1;
	}
	l->seg = &t->segment[t->n_segments++];
	*l->seg = (struct segment){
		.first = (vid)v,
		.first_edge = (eid)l->edges,
		.skip = l->list_n,
		.row = t->row + l->offset,
		.neighbour = t->neighbour + l->edges,
		.weight = t->weight ? (u32 *)t->weight + l->edges : NULL,
	};
	l->begun = false;
}

static mill_err load_piece(void *arg, u64 v, const vid *neighbour, const u32 *arcs, u32 n,
			   bool last)
{
	struct load_ctx *l = arg;

	if (!l->seg || l->seg->n_edges > UINT32_MAX - n)
		open_segment(l, v);
	if (!l->begun) {
		rows_of(l)[l->seg->n_rows++] = l->seg->n_edges;
		l->begun = true;
	}
	memcpy(l->t->neighbour + l->edges, neighbour, n * sizeof(vid));
	if (l->t->weight)
		memcpy((u32 *)l->t->weight + l->edges, arcs, n * sizeof(u32));
	l->edges += n;
	l->seg->n_edges += n;
	l->list_n += n;
	if (last) {
		l->list_n = 0;
		l->begun = false;
	}
	return MILL_OK;
}

mill_err view_load(struct topology *t, const struct store *st, enum view view,
		   struct budget *budget, struct ticker *ticker)
{
	u64 edges = view_edges(st);
	struct load_ctx l = { .t = t };
	struct merge m = { .view = view, .piece = load_piece, .arg = &l };

	TRY(memory_new(&t->segment, budget, most_segments(edges), sizeof(*t->segment),
		       "the segments"));
	TRY(memory_new(&t->row, budget, st->n_linked + 2 * (u64)most_segments(edges), sizeof(u32),
		       "the row offsets"));
	TRY(memory_new(&t->neighbour, budget, edges, sizeof(vid), "the undirected graph"));
	t->weight_size = view_weight(view);
	if (t->weight_size)
		TRY(memory_new(&t->weight, budget, edges, sizeof(u32), "the undirected graph"));
	TRY(merge_all(&m, st, budget, ticker));
	if (l.seg)
		rows_of(&l)[l.seg->n_rows] = l.seg->n_edges;
	t->n_rows = st->n_linked;
	t->n_edges = l.edges;
	TRY(topology_cut_chunks(t, budget));
	t->resident = true;
	return MILL_OK;
}

/* ---- Views on disk ---- */

mill_err view_dir(char **out, const struct store *st, struct budget *budget)
{
	const char *tmp = getenv("TMPDIR"), *end = st->path + strlen(st->path);

	if (tmp && *tmp)
		return memory_string(out, budget, tmp);
	while (end > st->path && end[-1] == '/')
		end--;
	while (end > st->path && end[-1] != '/')
		end--;
	if (end == st->path)
		return memory_string(out, budget, ".");
	return memory_printf(out, budget, "%.*s", (int)(end - st->path), st->path);
}

static mill_err spill_piece(void *arg, u64 v, const vid *neighbour, const u32 *arcs, u32 n,
			    bool last)
{
	(void)v;
	return writer_piece(arg, true, neighbour, arcs, n, last);
}

mill_err view_spill(struct store **out, const struct store *st, enum view view,
		    struct budget *budget, struct ticker *ticker)
{
	struct store_facts facts = {
		.vertices = st->n_linked,
		.n_linked = st->n_linked,
		.directed = true,
		.in_pages = true,
		.weight = view == VIEW_ARCS ? MILL_WEIGHT_U32 : MILL_WEIGHT_NONE,
		.page_size = st->page_size,
		.codec = st->codec,
	};
	struct merge m = { .view = view, .piece = spill_piece };
	struct store_writer *w;
	mill_err err;
	char *dir;

	TRY(view_dir(&dir, st, budget));
	err = writer_open_temporary(&w, dir, budget);
	memory_free(dir);
	if (err)
		return err;
	m.arg = w;
	err = writer_begin(w, &facts);
	if (!err)
		err = merge_all(&m, st, budget, ticker);
	if (err) {
		writer_abandon(w);
		return err;
	}
	return writer_keep(w, out);
}
