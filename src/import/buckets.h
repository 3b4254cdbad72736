/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts edges without weights in the memory in which they came. Each worker deals keys into
 * buckets by their leading bits. A bucket is a chain of 4 KiB blocks, and the blocks that a
 * worker has emptied are the ones that it fills next. So the edges need no second array. That
 * halves the memory that is touched for the first time, which was the most expensive part of an
 * import. A bucket fits a core's cache, where it is sorted; a larger bucket is dealt once more by
 * its next bits.
 *
 * The result does not depend on which worker dealt which key, because equal keys are
 * identical. Arrays are sorted instead (edges.h) if the edges have weights, which would have to
 * move with their keys, or if vertices are ordered by degree, which needs all edges at once.
 */
#ifndef IMPORT_BUCKETS_H
#define IMPORT_BUCKETS_H

#include "import/edges.h"
#include "import/lists.h"

#define BLOCK_BYTES 4096u	/* size and alignment of a block */
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

/* Deals keys into chains: chain (key & mask) >> shift gets the key. */
struct deal {
	/*
	 * By chain: where its next key goes. NULL, or a multiple of BLOCK_BYTES (the end of a
	 * block): the chain needs a new block first.
	 */
	u64 **at;
	struct key_chain *chain;
	unsigned shift;
	u64 mask;
};

struct sorter;			/* one worker's blocks, deals and scratch memory */
struct buckets;

struct buckets_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	u64 n;			/* about how many keys will come */
	unsigned bits;		/* bits of a vertex number */
	bool undirected;
	u64 room;		/* number of keys sorted at once; 0: as many as suit a cache */
};

mill_err buckets_new(struct buckets **out, const struct buckets_setup *setup);
void buckets_free(struct buckets *b);	/* NULL is fine */
/* Returns the bytes that sorting n keys takes, besides the memory in which the keys came. */
u64 buckets_bytes(const struct budget *budget, unsigned workers, u64 n);

/* Calls pour for each of n sources, on all workers. pour puts the source's keys (sorter_put). */
mill_err buckets_fill(struct buckets *b, u64 n,
		      mill_err (*pour)(void *arg, struct sorter *s, u64 source), void *arg);
/* Gives the worker memory from memory_new, for blocks. The caller must not use or free it again. */
void sorter_adopt(struct sorter *s, void *memory, u64 size);

/*
 * Sorts the keys and merges parallel edges as edges_reduce does. In an undirected graph, also
 * deals the mirrored keys (ends swapped). *n becomes the number of keys that remain.
 */
mill_err buckets_reduce(struct buckets *b, enum mill_dedup rule, struct edges_found *found, u64 *n);
/* Directed graphs: replaces every key by the key of the reversed edge, and sorts again. */
mill_err buckets_turn(struct buckets *b);

/*
 * Calls write once, on this thread. Meanwhile the other threads sort the mirrored keys of an
 * undirected graph, which write reads through buckets_stream.
 */
mill_err buckets_write(struct buckets *b, mill_err (*write)(void *arg), void *arg);

/* The position of a stream of keys. */
struct bucket_stream {
	struct edges e;
	struct buckets *b;
	bool other;		/* it streams the mirrored keys */
	u64 next;		/* number of the next bucket */
	struct key_block *block; /* the next block of the present bucket; NULL: the bucket ended */
};

/*
 * Makes `out` a stream of the keys by row, or of the mirrored keys (`other`, only within
 * buckets_write). `from` must live as long as `out`.
 */
void buckets_stream(struct buckets *b, bool other, struct bucket_stream *from,
		    struct edge_stream *out);

/* Closes the full block of chain i, if there is one, and gives the chain a new block. */
mill_err deal_block(struct sorter *s, struct deal *d, u64 i);
/* Returns the worker's deal into the buckets. */
struct deal *sorter_deal(struct sorter *s);

static inline mill_err sorter_put(struct sorter *s, struct deal *d, u64 key)
{
	u64 i = (key & d->mask) >> d->shift;

	if (!((uintptr_t)d->at[i] % BLOCK_BYTES))
		TRY(deal_block(s, d, i));
	*d->at[i]++ = key;
	/* There are too many write streams for the hardware to prefetch them. */
	__builtin_prefetch((const u8 *)d->at[i] + 64, 1);
	return MILL_OK;
}

#endif
