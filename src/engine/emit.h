/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where active vertices go: the next frontier as one worker writes it, a list while it is known to be short,
 * else a bitmap.
 */
#ifndef ENGINE_EMIT_H
#define ENGINE_EMIT_H

#include <string.h>

#include "base/bitmap.h"
#include "engine/piles.h"

#define EMIT_BUFFER 512

/* What a worker counts. */
struct tally {
	u64 edges;		/* looked at */
	u64 updates;		/* for which `edge` was true */
	u64 emitted;		/* vertices that became active */
	u64 rest;		/* the smallest key that stays far */
	u64 filled;		/* bit b: something went to bucket b */
};

/* One per worker. Aligned, so that no two share a cache line. */
struct emit {
	_Alignas(64) struct tally tally;
	u64 *bits;
	const struct piles *piles;
	u64 *far, *waiting;	/* their bitmaps, or NULL */
	u64 limit, end;		/* keys below it are near; those from there on far */
	bool cascade;		/* the worker goes on at once with what it activates: `buffer` is its queue ... */
	u32 head;		/* ... whose oldest entry is here */
	vid *list;		/* NULL: bitmap */
	u64 *list_n;		/* atomic, shared by the workers */
	u32 n_buffer;
	vid buffer[EMIT_BUFFER];
};

static inline void emit_flush(struct emit *e)
{
	u64 at;

	if (!e->n_buffer)
		return;
	at = __atomic_fetch_add(e->list_n, e->n_buffer, __ATOMIC_RELAXED);
	memcpy(e->list + at, e->buffer, e->n_buffer * sizeof(vid));
	e->n_buffer = 0;
}

/* unique: the caller knows that v comes only once; otherwise the bitmap culls duplicates. True if v is new. */
static inline bool emit_vertex(struct emit *e, vid v, bool unique)
{
	if (!(unique && e->list) && !bitmap_claim(e->bits, v))
		return false;
	e->tally.emitted++;
	if (!e->list)
		return true;
	e->buffer[e->n_buffer++] = v;
	if (e->n_buffer == EMIT_BUFFER)
		emit_flush(e);
	return true;
}

/* v waits in the bucket of its key, which is neither near nor far. Not inlined: with two buckets it is never called. */
static __attribute__((noinline, unused)) void emit_bucket(struct emit *e, vid v, u64 key)
{
	const struct piles *b = e->piles;
	u32 to = dev_bucket(b->border, b->near + 1, piles_far(b), key);

	bitmap_claim(e->waiting + (to - 1) * b->words, v);
	e->tally.filled |= (u64)1 << to;
}

/* v, whose key is not near, waits. */
static inline void emit_wait(struct emit *e, vid v, u64 key)
{
	if (key >= e->end)
		bitmap_claim(e->far, v);
	else
		emit_bucket(e, v, key);
}

#endif
