/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emit: how one worker writes the next frontier. It is a list while it is known to be short,
 * else a bitmap. Vertices with a key that is not near go to buckets (engine/piles.h).
 */
#ifndef ENGINE_EMIT_H
#define ENGINE_EMIT_H

#include <string.h>

#include "base/bitmap.h"
#include "engine/piles.h"

#define EMIT_BUFFER 512

/* The counters of one worker. */
struct tally {
	u64 edges;		/* edges processed */
	u64 updates;		/* edges for which `edge` returned true */
	u64 emitted;		/* vertices that became active */
	u64 rest;		/* the smallest key of the vertices that stay far */
	u64 filled;		/* bit b: a vertex went to bucket b */
};

/* One for each worker. Aligned, so that no two share a cache line. */
struct emit {
	_Alignas(64) struct tally tally;
	u64 *bits;
	const struct piles *piles;
	u64 *far, *waiting;	/* bitmaps of far vertices and of those in buckets, or NULL */
	u64 limit, end;		/* keys below limit are near, keys from end on are far */
	/*
	 * The worker at once processes the vertices that it activates. `buffer` is their
	 * queue; the oldest entry is at `head`.
	 */
	bool cascade;
	u32 head;
	vid *list;		/* NULL: bitmap */
	u64 *list_n;		/* length of the list: atomic, shared by the workers */
	u32 n_buffer;
	vid buffer[EMIT_BUFFER];
};

/* Appends the buffer to the list. */
static inline void emit_flush(struct emit *e)
{
	u64 at;

	if (!e->n_buffer)
		return;
	at = __atomic_fetch_add(e->list_n, e->n_buffer, __ATOMIC_RELAXED);
	memcpy(e->list + at, e->buffer, e->n_buffer * sizeof(vid));
	e->n_buffer = 0;
}

/*
 * Activates v. Returns true if v was not active yet. unique: the caller emits v only once, so no
 * bitmap is needed to find duplicates.
 */
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

/*
 * Puts v into the bucket of its key, which is neither near nor far. Not inlined: with two buckets
 * it is never called.
 */
static __attribute__((noinline, unused)) void emit_bucket(struct emit *e, vid v, u64 key)
{
	const struct piles *b = e->piles;
	u32 to = dev_bucket(b->border, b->near + 1, piles_far(b), key);

	bitmap_claim(e->waiting + (to - 1) * b->words, v);
	e->tally.filled |= (u64)1 << to;
}

/* Makes v wait. Its key is not near. */
static inline void emit_wait(struct emit *e, vid v, u64 key)
{
	if (key >= e->end)
		bitmap_claim(e->far, v);
	else
		emit_bucket(e, v, key);
}

#endif
