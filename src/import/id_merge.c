/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the runs with a heap, and writes the ranks of a run over its ids. Ranks are half as long
 * as ids, and a rank is written only after its id has been read, so that ranks never overwrite
 * an unread id. The second half of each run, which no rank will need, is given back to the disk
 * as it is read.
 */
#include "import/id_merge.h"

#include <string.h>

#include "base/fault.h"

#define CURSOR_MIN ((u64)64)		/* ids in the buffer of a run */
#define CURSOR_MAX ((u64)1 << 16)
#define CURSOR_ID (sizeof(u64) + sizeof(u32))	/* bytes of an id and its rank */
#define DISCARD (256 * KIB)		/* fewest bytes that are worth a call */
#define TICK ((u64)1 << 18)		/* ids */

/* The reading position in a run. */
struct cursor {
	u64 *id;		/* buffer of ids */
	u64 used, fill;		/* ids of the buffer that were used, and that it holds */
	u64 at, left;		/* ids in the file: byte of the next, and how many */
	u32 *rank;		/* buffer of ranks */
	u64 n_ranks;		/* ranks in it, which wait to be written ... */
	u64 ranks_at;		/* ... at this byte of the file */
	u64 discarded_to;	/* bytes from here on have not been given back */
};

/* A run and its next id. The heap has the lowest id at the top. */
struct heap_entry {
	u64 id;
	u32 run;
};

struct merge {
	const struct id_merge *m;
	struct cursor *cursor;
	struct heap_entry *heap;
	u64 n_heap;
	u64 room;		/* ids and ranks that a cursor's buffers hold */
	u8 *buffers;
	u64 last, n;		/* the last distinct id, and the number of distinct ids so far */
};

/* Returns the next id of a run in *id. *more is false if there is none. */
static mill_err cursor_next(const struct merge *x, struct cursor *c, u64 *id, bool *more)
{
	if (c->used == c->fill) {
		u64 n = min_u64(x->room, c->left);

		*more = n;
		if (!n)
			return MILL_OK;
		TRY(file_read_at(x->m->file, c->id, n * sizeof(u64), c->at));
		c->at += n * sizeof(u64);
		c->left -= n;
		c->used = 0;
		c->fill = n;
	}
	*more = true;
	*id = c->id[c->used++];
	return MILL_OK;
}

static mill_err flush_ranks(const struct merge *x, struct cursor *c)
{
	TRY(file_write_at(x->m->file, c->rank, c->n_ranks * sizeof(u32), c->ranks_at));
	c->ranks_at += c->n_ranks * sizeof(u32);
	c->n_ranks = 0;
	/* Gives back only the second half of the run: no rank will need it. */
	if (c->at > c->discarded_to && (!c->left || c->at - c->discarded_to >= DISCARD)) {
		file_discard(x->m->file, c->discarded_to, c->at - c->discarded_to);
		c->discarded_to = c->at;
	}
	return MILL_OK;
}

static void sift_down(struct merge *x, u64 i)
{
	struct heap_entry it = x->heap[i];

	for (;;) {
		u64 child = 2 * i + 1;

		if (child + 1 < x->n_heap && x->heap[child + 1].id < x->heap[child].id)
			child++;
		if (child >= x->n_heap || x->heap[child].id >= it.id)
			break;
		x->heap[i] = x->heap[child];
		i = child;
	}
	x->heap[i] = it;
}

/* Takes the lowest id, which may be the same as the last one, and gives it its rank. */
static mill_err step(struct merge *x)
{
	struct heap_entry *top = &x->heap[0];
	struct cursor *c = &x->cursor[top->run];
	bool more;

	if (!x->n || top->id != x->last) {
		TRY(x->m->take(x->m->arg, top->id));
		x->last = top->id;
		x->n++;
	}
	c->rank[c->n_ranks++] = (u32)(x->n - 1);
	TRY(cursor_next(x, c, &top->id, &more));
	/*
	 * Both buffers hold equally many, so when the ranks are written, the ids that they
	 * overwrite have been read.
	 */
	if (c->n_ranks == x->room || !more)
		TRY(flush_ranks(x, c));
	if (!more)
		*top = x->heap[--x->n_heap];
	if (x->n_heap)
		sift_down(x, 0);
	return MILL_OK;
}

static mill_err open_cursors(struct merge *x)
{
	const struct id_merge *m = x->m;
	u64 each = m->memory / max_u64(m->n_runs, 1) / CURSOR_ID;
	bool more;

	x->room = fault_hold() ? 4 : min_u64(CURSOR_MAX, each & ~(u64)1);
	if (x->room < (fault_hold() ? 4 : CURSOR_MIN))
		return fail(MILL_ENOMEM,
			    "the ids came in %llu batches, too many to merge: "
			    "give %llu times the --memory",
			    (unsigned long long)m->n_runs,
			    (unsigned long long)div_up(m->n_runs * CURSOR_MIN * CURSOR_ID,
						       max_u64(m->memory, 1)));
	TRY(memory_new(&x->cursor, m->budget, m->n_runs, sizeof(*x->cursor), "the ids"));
	TRY(memory_new(&x->heap, m->budget, m->n_runs, sizeof(*x->heap), "the ids"));
	TRY(memory_new(&x->buffers, m->budget, m->n_runs, x->room * CURSOR_ID, "the ids"));
	for (u64 i = 0; i < m->n_runs; i++) {
		struct cursor *c = &x->cursor[i];

		c->id = (u64 *)(x->buffers + i * x->room * CURSOR_ID);
		c->rank = (u32 *)(c->id + x->room);
		c->at = c->ranks_at = m->run[i].at;
		c->left = m->run[i].n;
		c->discarded_to = c->at + c->left * sizeof(u32);
		x->heap[x->n_heap].run = (u32)i;
		TRY(cursor_next(x, c, &x->heap[x->n_heap].id, &more));
		x->n_heap += more;
	}
	for (u64 i = x->n_heap / 2; i--;)
		sift_down(x, i);
	return MILL_OK;
}

mill_err id_merge(const struct id_merge *m)
{
	struct merge x = { .m = m };
	mill_err err;
	u64 done = 0;

	err = open_cursors(&x);
	while (!err && x.n_heap) {
		err = step(&x);
		if (!err && ++done % TICK == 0)
			err = ticker_tick(m->ticker, done);
	}
	memory_free(x.buffers);
	memory_free(x.heap);
	memory_free(x.cursor);
	return err;
}
