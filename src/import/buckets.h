/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges without weights, sorted in the memory in which they came. Keys are dealt into buckets by their leading
 * bits, and what has been dealt from is what is dealt into next: buckets are chains of small blocks. A bucket fits
 * a core's cache, where it is sorted; one that does not is dealt once more. Which worker dealt a key cannot be
 * told afterwards, since equal keys are alike.
 */
#ifndef IMPORT_BUCKETS_H
#define IMPORT_BUCKETS_H

#include "import/edges.h"
#include "import/lists.h"

#define BLOCK_BYTES 4096u	/* and aligned to it */
#define BLOCK_KEYS (BLOCK_BYTES / 8 - 2)

struct key_block {
	struct key_block *next;
	u64 n;
	u64 key[BLOCK_KEYS];
};

struct key_chain {
	struct key_block *first, *last;
	u64 n;			/* keys */
};

/* Keys on their way into chains, by the bits from `shift` on. */
struct deal {
	u64 **at;		/* where the next key of each goes; at the end of a block, or NULL: into another */
	struct key_chain *chain;
	unsigned shift;
	u64 mask;
};

struct sorter;			/* what a worker has of it */
struct buckets;

struct buckets_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	u64 n;			/* keys that will come, or about as many */
	unsigned bits;		/* of a vertex number */
	bool undirected;
	u64 room;		/* keys that are sorted at once; 0: what suits a cache */
};

mill_err buckets_new(struct buckets **out, const struct buckets_setup *setup);
void buckets_free(struct buckets *b);	/* NULL is fine */
/* What sorting n keys takes, beside the memory in which they came. */
u64 buckets_bytes(const struct budget *budget, unsigned workers, u64 n);

/* Calls pour for each of n sources, on all workers; it puts their keys. */
mill_err buckets_fill(struct buckets *b, u64 n, mill_err (*pour)(void *arg, struct sorter *s, u64 source), void *arg);
/* Gives a worker memory of memory_new for blocks: nobody else uses or frees it any more. */
void sorter_adopt(struct sorter *s, void *memory, u64 size);

/* Sorts and reduces: see edges_reduce. Undirected: deals the other directions too. Says how many keys remain. */
mill_err buckets_reduce(struct buckets *b, enum mill_dedup rule, struct edges_found *found, u64 *n);
/* Directed: the other direction takes the place of the first. */
mill_err buckets_turn(struct buckets *b);

/* Calls write once, on this thread, while the others sort ahead the other directions, which it streams. */
mill_err buckets_write(struct buckets *b, mill_err (*write)(void *arg), void *arg);

/* Where a stream of keys is. */
struct bucket_stream {
	struct edges e;
	struct buckets *b;
	bool other;
	u64 next;		/* bucket */
	struct key_block *block; /* the next of the one before; NULL: it ended */
};

/* The keys, or the other directions of undirected ones (within buckets_write), by row. `from` lasts as long as `out`. */
void buckets_stream(struct buckets *b, bool other, struct bucket_stream *from, struct edge_stream *out);

mill_err deal_block(struct sorter *s, struct deal *d, u64 i);
struct deal *sorter_deal(struct sorter *s);

static inline mill_err sorter_put(struct sorter *s, struct deal *d, u64 key)
{
	u64 i = (key & d->mask) >> d->shift;

	if (!((uintptr_t)d->at[i] % BLOCK_BYTES))
		TRY(deal_block(s, d, i));
	*d->at[i]++ = key;
	__builtin_prefetch((const u8 *)d->at[i] + 64, 1);	/* too many streams for the hardware to see */
	return MILL_OK;
}

#endif
