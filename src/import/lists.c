/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a stream of sorted edges into lists and gives them to the writer. */
#include "import/lists.h"

#include <string.h>

#define TICK_EVERY ((u64)1 << 16) /* lists or edges from one progress report to the next */
/*
 * Edges in a piece. A longer list goes to the writer in pieces, so that memory does not depend
 * on degrees.
 */
#define PIECE ((u64)64 * LIST_BLOCK)

/* The edges of the present list that have not been written. */
struct list {
	struct store_writer *w;
	bool in;
	size_t weight_size;
	vid *neighbour;
	void *weight;
	u64 n;
};

static mill_err list_init(struct list *l, struct budget *budget)
{
	TRY(memory_new(&l->neighbour, budget, PIECE, sizeof(*l->neighbour),
		       "a neighbour list"));
	if (l->weight_size)
		TRY(memory_new(&l->weight, budget, PIECE, l->weight_size,
			       "a neighbour list"));
	return MILL_OK;
}

/* Appends edges [begin, end) of the stream's piece, for which there is room. */
static void list_put(struct list *l, const struct edge_stream *s, u64 begin, u64 end)
{
	const struct edges *e = s->e;
	unsigned shift = s->by_column ? e->bits : 0;
	u64 mask = edge_mask(e);
	vid *to = l->neighbour + l->n;

	for (u64 i = begin; i < end; i++)
		to[i - begin] = (vid)(e->key[i] >> shift & mask);
	if (l->weight_size == 4)
		for (u64 i = begin; i < end; i++)
			((u32 *)l->weight)[l->n + i - begin] = (u32)e->weight[i];
	else if (l->weight_size)
		memcpy((u64 *)l->weight + l->n, e->weight + begin,
		       (end - begin) * sizeof(u64));
	l->n += end - begin;
}

/* Does the same for any number of edges: writes pieces of the list to make room. */
static mill_err list_add(struct list *l, const struct edge_stream *s, u64 begin, u64 end)
{
	while (begin < end) {
		u64 some = min_u64(end - begin, PIECE - l->n);

		if (!some) {
			TRY(writer_piece(l->w, l->in, l->neighbour, l->weight, l->n, false));
			l->n = 0;
			continue;
		}
		list_put(l, s, begin, begin + some);
		begin += some;
	}
	return MILL_OK;
}

/* Appends all edges of vertex v in the stream. */
static mill_err list_take(struct list *l, struct edge_stream *s, u64 v)
{
	unsigned shift = s->by_column ? 0 : s->e->bits;
	u64 mask = edge_mask(s->e);

	for (;;) {
		u64 end = s->at;

		while (end < s->e->n && (s->e->key[end] >> shift & mask) == v)
			end++;
		TRY(list_add(l, s, s->at, end));
		s->at = end;
		if (end < s->e->n || !s->more)
			return MILL_OK;
		s->done += s->e->n;
		s->at = 0;
		TRY(s->more(s));
		if (!s->e->n)
			s->more = NULL;
	}
}

mill_err lists_write(struct store_writer *w, bool in, struct edge_stream *low,
		     struct edge_stream *high, u64 n)
{
	const struct edges *e = low ? low->e : high->e;
	struct list l = { .w = w, .in = in, .weight_size = weight_size(e->type) };
	u64 last = 0, done = 0;
	mill_err err;

	ticker_begin(e->ticker, in ? "write in-lists" : "write out-lists", "edges",
		     (low ? low->total : 0) + (high ? high->total : 0));
	err = list_init(&l, e->budget);
	for (u64 v = 0; v < n && !err; v++) {
		if (low)
			err = list_take(&l, low, v);
		if (!err && high)
			err = list_take(&l, high, v);
		if (!err)
			err = writer_piece(w, in, l.neighbour, l.weight, l.n, true);
		l.n = 0;
		done = (low ? low->done + low->at : 0) + (high ? high->done + high->at : 0);
		if (!err && (v % TICK_EVERY == 0 || done - last > TICK_EVERY)) {
			err = ticker_tick(e->ticker, done);
			last = done;
		}
	}
	memory_free(l.neighbour);
	memory_free(l.weight);
	return err;
}
