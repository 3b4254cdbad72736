/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the runs with a heap of cursors. A single run is only copied. */
#include "import/name_merge.h"

#include <string.h>

#include "import/field.h"
#include "import/ids.h"
#include "store/names.h"

#define CURSOR_MIN (8 * KIB)	/* names take 3/4 of it, which is more than the longest record */
#define CURSOR_MAX (1 * MIB)
#define TICK ((u64)1 << 16)	/* names */

/* The reading position in a run of names. */
struct cursor {
	u8 *buffer;
	u64 size;		/* bytes of the buffer */
	u64 at, end;		/* the bytes in the spool that have not been read */
	u64 used, fill;		/* bytes of the buffer that were used, and that it holds */
	u32 *rank;		/* buffer of ranks */
	u64 n_ranks;		/* ranks in it, which wait to be written ... */
	u64 ranks_at;		/* ... at this byte of the file */
	struct name name;	/* the present name; length 0: there are no more */
};

struct merge {
	struct name_merge *m;
	struct cursor *cursor;
	u8 *buffers;
	u32 *heap;		/* numbers of runs, the one with the lowest name at the top */
	u64 n_heap;
	u64 ranks;		/* number of ranks that a cursor has room for */
	char *last;		/* the last distinct name */
	u32 last_length;
};

/* Moves the cursor to the next name. */
static mill_err cursor_next(const struct name_merge *m, struct cursor *c)
{
	u16 length;

	if (c->fill - c->used < sizeof(length) + STORE_NAME_MAX && c->at < c->end) {
		u64 more;

		memmove(c->buffer, c->buffer + c->used, c->fill - c->used);
		c->fill -= c->used;
		c->used = 0;
		more = min_u64(c->size - c->fill, c->end - c->at);
		TRY(spool_read(m->names, c->buffer + c->fill, more, c->at));
		c->at += more;
		c->fill += more;
	}
	c->name.length = 0;
	if (c->used == c->fill)
		return MILL_OK;
	memcpy(&length, c->buffer + c->used, sizeof(length));
	c->name = (struct name){ (const char *)c->buffer + c->used + sizeof(length), length };
	c->used += sizeof(length) + length;
	return MILL_OK;
}

static mill_err put_name(struct name_merge *m, struct name name)
{
	if (m->vertices == MAX_VERTICES)
		return ids_too_many(m->vertices + 1);
	m->vertices++;
	TRY(spool_add(m->sorted, name.text, name.length));
	return spool_add(m->sorted, "\n", 1);
}

/* ---- Several runs ---- */

static bool comes_before(const struct merge *x, u32 a, u32 b)
{
	const struct name *p = &x->cursor[a].name, *q = &x->cursor[b].name;

	return name_compare(p->text, p->length, q->text, q->length) < 0;
}

static void sift_down(struct merge *x, u64 i)
{
	for (;;) {
		u64 least = i;
		u32 it = x->heap[i];

		for (u64 k = 2 * i + 1; k < 2 * i + 3 && k < x->n_heap; k++)
			if (comes_before(x, x->heap[k], x->heap[least]))
				least = k;
		if (least == i)
			return;
		x->heap[i] = x->heap[least];
		x->heap[least] = it;
		i = least;
	}
}

static mill_err flush_ranks(struct merge *x, struct cursor *c)
{
	TRY(file_write_at(&x->m->ranks, c->rank, c->n_ranks * sizeof(u32), c->ranks_at));
	c->ranks_at += c->n_ranks * sizeof(u32);
	c->n_ranks = 0;
	return MILL_OK;
}

/* Takes the lowest name, which may be the same as the last one, and gives it its rank. */
static mill_err merge_step(struct merge *x)
{
	struct cursor *c = &x->cursor[x->heap[0]];
	struct name_merge *m = x->m;

	if (!m->vertices || name_compare(x->last, x->last_length, c->name.text, c->name.length)) {
		TRY(put_name(m, c->name));
		memcpy(x->last, c->name.text, c->name.length);
		x->last_length = c->name.length;
	}
	c->rank[c->n_ranks++] = (u32)(m->vertices - 1);
	if (c->n_ranks == x->ranks)
		TRY(flush_ranks(x, c));
	TRY(cursor_next(m, c));
	if (!c->name.length) {
		TRY(flush_ranks(x, c));
		x->heap[0] = x->heap[--x->n_heap];
	}
	if (x->n_heap)
		sift_down(x, 0);
	return MILL_OK;
}

static mill_err merge_open(struct merge *x)
{
	struct name_merge *m = x->m;
	u64 each = m->memory / m->n_runs, at = 0;

	each = min_u64(each - each % 64, CURSOR_MAX);
	if (each < CURSOR_MIN)
		return fail(MILL_ENOMEM,
			    "the names came in %llu batches, too many to merge: "
			    "give %llu times the --memory",
			    (unsigned long long)m->n_runs,
			    (unsigned long long)div_up(m->n_runs * CURSOR_MIN, m->memory));
	TRY(memory_new(&x->cursor, m->budget, m->n_runs, sizeof(*x->cursor), "the names"));
	TRY(memory_new(&x->heap, m->budget, m->n_runs, sizeof(*x->heap), "the names"));
	TRY(memory_new(&x->last, m->budget, STORE_NAME_MAX, 1, "the names"));
	TRY(memory_new(&x->buffers, m->budget, m->n_runs, each, "the names"));
	TRY(file_temp(&m->ranks, m->dir));
	for (u64 i = 0; i < m->n_runs; i++) {
		struct cursor *c = &x->cursor[i];

		c->buffer = x->buffers + i * each;
		c->size = round_up(each / 4 * 3, 8);
		c->rank = (u32 *)(c->buffer + c->size);
		x->ranks = (each - c->size) / sizeof(u32);
		c->at = m->run[i].at;
		c->end = m->run[i].end;
		c->ranks_at = at;
		at += m->run[i].n * sizeof(u32);
		TRY(cursor_next(m, c));
		x->heap[x->n_heap++] = (u32)i;
	}
	for (u64 i = x->n_heap / 2; i--;)
		sift_down(x, i);
	return MILL_OK;
}

static mill_err merge_runs(struct name_merge *m)
{
	struct merge x = { .m = m };
	mill_err err;
	u64 done = 0;

	err = merge_open(&x);
	while (!err && x.n_heap) {
		err = merge_step(&x);
		if (!err && ++done % TICK == 0)
			err = ticker_tick(m->ticker, m->sorted->size);
	}
	memory_free(x.buffers);
	memory_free(x.last);
	memory_free(x.heap);
	memory_free(x.cursor);
	return err;
}

/* Copies the only run. The rank of a name is its position in that run. */
static mill_err copy_run(struct name_merge *m)
{
	struct cursor c = { .at = m->run[0].at, .end = m->run[0].end, .size = CURSOR_MIN };
	mill_err err;

	TRY(memory_new(&c.buffer, m->budget, c.size, 1, "the names"));
	err = cursor_next(m, &c);
	while (!err && c.name.length) {
		err = put_name(m, c.name);
		if (!err && m->vertices % TICK == 0)
			err = ticker_tick(m->ticker, m->sorted->size);
		if (!err)
			err = cursor_next(m, &c);
	}
	memory_free(c.buffer);
	return err;
}

mill_err name_merge(struct name_merge *m)
{
	m->vertices = 0;
	m->ranks = FILE_CLOSED;
	ticker_begin(m->ticker, "merge names", "bytes", m->names->size);
	if (m->n_runs > 1)
		return merge_runs(m);
	return m->n_runs ? copy_run(m) : MILL_OK;
}
