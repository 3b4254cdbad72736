/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deals keys into buckets, sorts each bucket in a core's cache, and streams the sorted keys.
 * Every worker has a sorter: it takes free blocks from its own list and deals into its own
 * chains, so that workers share nothing until the chains are joined.
 */
#include "import/buckets.h"

#include <string.h>

#include "base/queue.h"
#include "base/sort.h"

#define BUCKETS_MAX ((u64)1 << 11)
#define BUCKET_KEYS ((u64)1 << 17)	/* about how many keys a bucket has, below BUCKETS_MAX */
#define ROOM_MAX ((u64)1 << 19)		/* keys sorted at once */
#define ROOM_MIN ((u64)1 << 8)
#define SHARE 16	/* at most 1/16 of the budget's limit is for open blocks and scratch */
#define DEEPER_BITS 8u			/* bits by which a large bucket is dealt again */
#define DEPTH (64 / DEEPER_BITS)
#define SLAB_MAX (4 * MIB)
#define SLAB_MIN (16 * BLOCK_BYTES)

_Static_assert(sizeof(struct key_block) == BLOCK_BYTES,
	       "a full block ends where the next may begin");

/* Memory that has been cut into blocks. This struct is in its first block. */
struct slab {
	struct slab *next;
	void *memory;
};

struct sorter {
	struct buckets *b;
	struct key_block *free;
	struct slab *slab;
	u64 *scratch;		/* 2 x room keys */
	struct deal deal;	/* into buckets */
	struct deal deeper[DEPTH];
	struct edges_found found;
	u64 n;			/* keys that remain */
	u8 pad[64];		/* keeps the next worker's sorter in other cache lines */
};

struct buckets {
	struct buckets_setup s;
	u64 n_buckets;
	u64 slab;		/* bytes of a new slab */
	unsigned low_bits;	/* number of low bits in which the keys of a bucket differ */
	bool mirror;		/* sorting also deals the mirrored keys */
	enum mill_dedup rule;
	bool reduce;		/* sorting also merges parallel edges */
	struct key_chain *bucket;
	struct key_chain *other;	/* undirected: buckets of the mirrored keys */
	u64 n, n_loops;		/* after buckets_reduce: keys, and loops among them */
	struct sorter *sorter;
	unsigned n_sorters;
	/* Callbacks of buckets_fill and buckets_write, and their argument: */
	mill_err (*pour)(void *arg, struct sorter *s, u64 source);
	mill_err (*write)(void *arg);
	void *arg;
	/* The mirrored keys while lists are written: */
	u64 claimed;		/* atomic: buckets that some worker sorts or has sorted */
	u8 *sorted;		/* atomic, by bucket: it is sorted */
	struct queue *done;	/* a number for each sorted bucket; closed: a worker failed */
	struct error error;	/* the error of that worker */
};

/* ---- Blocks ---- */

static void keep_block(struct sorter *s, struct key_block *block)
{
	block->next = s->free;
	s->free = block;
}

void sorter_adopt(struct sorter *s, void *memory, u64 size)
{
	u8 *begin = memory, *end = begin + size;
	struct slab *slab;

	begin += round_up((uintptr_t)begin, BLOCK_BYTES) - (uintptr_t)begin;
	if (begin >= end || (u64)(end - begin) < 2 * BLOCK_BYTES) {
		memory_free(memory);
		return;
	}
	slab = (struct slab *)(void *)begin;
	*slab = (struct slab){ .next = s->slab, .memory = memory };
	s->slab = slab;
	/* From the last block to the first, so that the first is used first. */
	for (u8 *at = begin + (u64)(end - begin) / BLOCK_BYTES * BLOCK_BYTES - BLOCK_BYTES;
	     at > begin; at -= BLOCK_BYTES)
		keep_block(s, (struct key_block *)(void *)at);
}

static mill_err take_block(struct sorter *s, struct key_block **out)
{
	void *memory;

	if (!s->free) {
		TRY(memory_new(&memory, s->b->s.budget, s->b->slab, 1, "the edges"));
		sorter_adopt(s, memory, s->b->slab);
	}
	*out = s->free;
	s->free = (*out)->next;
	(*out)->next = NULL;
	return MILL_OK;
}

static mill_err chain_grow(struct sorter *s, struct key_chain *c)
{
	struct key_block *block;

	TRY(take_block(s, &block));
	if (c->last)
		c->last->next = block;
	else
		c->first = block;
	c->last = block;
	return MILL_OK;
}

/* Appends the blocks of chain `more` to c. */
static void chain_join(struct key_chain *c, const struct key_chain *more)
{
	if (!more->first)
		return;
	if (c->last)
		c->last->next = more->first;
	else
		c->first = more->first;
	c->last = more->last;
	c->n += more->n;
}

static mill_err chain_add(struct sorter *s, struct key_chain *c, const u64 *key, u64 n)
{
	while (n) {
		u64 some;

		if (!c->last || c->last->n == BLOCK_KEYS) {
			TRY(chain_grow(s, c));
			c->last->n = 0;
		}
		some = min_u64(n, BLOCK_KEYS - c->last->n);
		memcpy(c->last->key + c->last->n, key, some * sizeof(*key));
		c->last->n += some;
		c->n += some;
		key += some;
		n -= some;
	}
	return MILL_OK;
}

/* Copies the keys of a chain to `to` and frees its blocks. */
static void chain_empty(struct sorter *s, struct key_chain *c, u64 *to)
{
	struct key_block *next;

	for (struct key_block *block = c->first; block; block = next) {
		next = block->next;
		memcpy(to, block->key, block->n * sizeof(*to));
		to += block->n;
		keep_block(s, block);
	}
	*c = (struct key_chain){ .n = 0 };
}

/* ---- Dealing ---- */

static mill_err deal_new(struct deal *d, struct budget *budget, u64 n)
{
	TRY(memory_new(&d->at, budget, n, sizeof(*d->at), "the buckets"));
	return memory_new(&d->chain, budget, n, sizeof(*d->chain), "the buckets");
}

/* Makes d deal by bits [low, high) of a key. */
static void deal_by(struct deal *d, unsigned low, unsigned high)
{
	d->shift = low < high ? low : 0;
	d->mask = low < high ? (((u64)1 << (high - low)) - 1) << low : 0;
}

static void deal_release(struct deal *d)
{
	memory_free(d->at);
	memory_free(d->chain);
	*d = (struct deal){ .shift = 0 };
}

mill_err deal_block(struct sorter *s, struct deal *d, u64 i)
{
	struct key_chain *c = &d->chain[i];

	if (c->last) {
		c->last->n = BLOCK_KEYS;
		c->n += BLOCK_KEYS;
	}
	TRY(chain_grow(s, c));
	d->at[i] = c->last->key;
	return MILL_OK;
}

struct deal *sorter_deal(struct sorter *s)
{
	return &s->deal;
}

/* Appends chain i to `to` and empties it. */
static void deal_take(struct deal *d, u64 i, struct key_chain *to)
{
	struct key_chain *c = &d->chain[i];

	if (c->last) {
		c->last->n = (u64)(d->at[i] - c->last->key);
		c->n += c->last->n;
	}
	chain_join(to, c);
	*c = (struct key_chain){ .n = 0 };
	d->at[i] = NULL;
}

/* Moves the keys that all workers have dealt to the buckets `to`. */
static void collect(struct buckets *b, struct key_chain *to)
{
	for (u64 i = 0; i < b->n_buckets; i++)
		for (unsigned k = 0; k < b->n_sorters; k++)
			deal_take(&b->sorter[k].deal, i, &to[i]);
}

/* ---- Making and filling buckets ---- */

static u64 room_for(const struct budget *budget, unsigned workers)
{
	u64 share = (budget->limit ? budget->limit : GIB) / SHARE / workers;

	return max_u64(ROOM_MIN, min_u64(ROOM_MAX, share / 2 / (2 * sizeof(u64))));
}

static u64 buckets_for(const struct budget *budget, unsigned workers, u64 n)
{
	u64 share = (budget->limit ? budget->limit : GIB) / SHARE / workers;
	u64 most = min_u64(BUCKETS_MAX, share / 2 / (BLOCK_BYTES + 64)), k = 1;

	while (2 * k <= most && n / k > BUCKET_KEYS)
		k *= 2;
	return k;
}

static u64 slab_for(u64 n)
{
	return max_u64(SLAB_MIN, min_u64(SLAB_MAX, n / 2 / BLOCK_BYTES * BLOCK_BYTES));
}

u64 buckets_bytes(const struct budget *budget, unsigned workers, u64 n)
{
	/*
	 * Blocks that are not full: for each bucket two per worker (one that is emptied, one that
	 * is filled), and one of sorted keys.
	 */
	u64 k = buckets_for(budget, workers, n);
	u64 open = (2 * k + (1 << DEEPER_BITS)) * (BLOCK_BYTES + 64);

	return workers * (open + 2 * min_u64(n, room_for(budget, workers)) * sizeof(u64) +
			  2 * slab_for(n)) +
	       k * BLOCK_BYTES + 2 * n / BLOCK_KEYS * 16;
}

mill_err buckets_new(struct buckets **out, const struct buckets_setup *setup)
{
	unsigned workers = pool_size(setup->pool);
	struct buckets *b;
	mill_err err;

	TRY(memory_new(&b, setup->budget, 1, sizeof(*b), "the buckets"));
	b->s = *setup;
	b->low_bits = 2 * setup->bits;
	b->n_buckets = min_u64(buckets_for(setup->budget, workers, setup->n),
			       (u64)1 << setup->bits);
	for (u64 k = b->n_buckets; k > 1; k /= 2)
		b->low_bits--;
	b->slab = slab_for(setup->n);
	if (!b->s.room)
		b->s.room = min_u64(max_u64(setup->n, 1), room_for(setup->budget, workers));
	err = memory_new(&b->bucket, setup->budget, b->n_buckets, sizeof(*b->bucket),
			 "the buckets");
	if (!err && setup->undirected)
		err = memory_new(&b->other, setup->budget, b->n_buckets, sizeof(*b->other),
				 "the buckets");
	if (!err)
		err = memory_new(&b->sorter, setup->budget, workers, sizeof(*b->sorter),
				 "the buckets");
	if (!err)
		b->n_sorters = workers;
	for (unsigned k = 0; !err && k < workers; k++) {
		b->sorter[k].b = b;
		err = deal_new(&b->sorter[k].deal, setup->budget, b->n_buckets);
		deal_by(&b->sorter[k].deal, b->low_bits, 2 * setup->bits);
	}
	if (err) {
		buckets_free(b);
		return err;
	}
	*out = b;
	return MILL_OK;
}

void buckets_free(struct buckets *b)
{
	if (!b)
		return;
	for (unsigned k = 0; k < b->n_sorters; k++) {
		struct sorter *s = &b->sorter[k];
		struct slab *next;

		for (struct slab *slab = s->slab; slab; slab = next) {
			next = slab->next;
			memory_free(slab->memory);
		}
		memory_free(s->scratch);
		deal_release(&s->deal);
		for (unsigned d = 0; d < DEPTH; d++)
			deal_release(&s->deeper[d]);
	}
	memory_free(b->sorter);
	memory_free(b->bucket);
	memory_free(b->other);
	memory_free(b->sorted);
	queue_free(b->done);
	memory_free(b);
}

static mill_err fill_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct buckets *b = arg;

	for (u64 i = begin; i < end; i++)
		TRY(b->pour(b->arg, &b->sorter[worker], i));
	return worker ? MILL_OK : ticker_tick(b->s.ticker, begin);
}

mill_err buckets_fill(struct buckets *b, u64 n,
		      mill_err (*pour)(void *arg, struct sorter *s, u64 source), void *arg)
{
	b->pour = pour;
	b->arg = arg;
	TRY(pool_for(b->s.pool, n, 1, fill_some, b));
	collect(b, b->bucket);
	return MILL_OK;
}

/* ---- Sorting ---- */

static struct edges as_edges(const struct buckets *b, u64 *key, u64 n)
{
	return (struct edges){
		.key = key,
		.n = n,
		.bits = b->s.bits,
		.undirected = b->s.undirected,
		.budget = b->s.budget,
		.pool = b->s.pool,
		.ticker = b->s.ticker,
	};
}

/* Deals the mirrored keys: rows and columns swapped, without loops if the graph is undirected. */
static mill_err deal_swapped(struct sorter *s, const u64 *key, u64 n)
{
	const struct buckets *b = s->b;
	unsigned bits = b->s.bits;
	u64 mask = ((u64)1 << bits) - 1;

	for (u64 i = 0; i < n; i++) {
		u64 row = key[i] >> bits, column = key[i] & mask;

		if (row != column || !b->s.undirected)
			TRY(sorter_put(s, &s->deal, column << bits | row));
	}
	return MILL_OK;
}

/* Appends sorted keys, with parallel edges merged, to the bucket. */
static mill_err put_reduced(struct sorter *s, struct key_chain *out, const struct edges *e,
			    const struct edges_found *found)
{
	edges_found_add(&s->found, found);
	TRY(chain_add(s, out, e->key, e->n));
	s->n += e->n;
	return s->b->mirror ? deal_swapped(s, e->key, e->n) : MILL_OK;
}

/* Sorts a chain that fits the scratch memory. */
static mill_err sort_few(struct sorter *s, struct key_chain *in, struct key_chain *out,
			 unsigned bits)
{
	const struct buckets *b = s->b;
	struct edges_found found;
	struct edges e;

	if (!s->scratch)
		TRY(memory_new(&s->scratch, b->s.budget, 2 * b->s.room, sizeof(u64),
			       "a bucket"));
	e = as_edges(b, s->scratch, in->n);
	chain_empty(s, in, e.key);
	sort_u64_with(e.key, s->scratch + b->s.room, e.n, bits);
	if (!b->reduce)
		return chain_add(s, out, e.key, e.n);
	edges_reduce_alone(&e, b->rule, &found);
	return put_reduced(s, out, &e, &found);
}

/*
 * Handles a chain of equal keys that does not fit the scratch memory. There is nothing to sort;
 * parallel edges are merged block by block.
 */
static mill_err reduce_equal(struct sorter *s, struct key_chain *in, struct key_chain *out)
{
	const struct buckets *b = s->b;
	struct edges_group group = { .made = 0 };
	struct key_block *next;

	if (!b->reduce) {
		chain_join(out, in);
		*in = (struct key_chain){ .n = 0 };
		return MILL_OK;
	}
	for (struct key_block *block = in->first; block; block = next) {
		struct edges e = as_edges(b, block->key, block->n);
		struct edges_found found;

		next = block->next;
		edges_reduce_partial(&e, b->rule, &group, !next, &found);
		TRY(put_reduced(s, out, &e, &found));
		keep_block(s, block);
	}
	*in = (struct key_chain){ .n = 0 };
	return MILL_OK;
}

static mill_err sort_chain(struct sorter *s, struct key_chain *in, struct key_chain *out,
			   unsigned bits, unsigned depth);

/* Deals a chain that is too long once more, by the highest of its low `bits` bits. */
static mill_err sort_many(struct sorter *s, struct key_chain *in, struct key_chain *out,
			  unsigned bits, unsigned depth)
{
	struct deal *d = &s->deeper[depth];
	unsigned shift = bits > DEEPER_BITS ? bits - DEEPER_BITS : 0;
	struct key_block *next;

	if (!d->at)
		TRY(deal_new(d, s->b->s.budget, 1 << DEEPER_BITS));
	deal_by(d, shift, bits);
	for (struct key_block *block = in->first; block; block = next) {
		next = block->next;
		for (u64 i = 0; i < block->n; i++)
			TRY(sorter_put(s, d, block->key[i]));
		keep_block(s, block);
	}
	*in = (struct key_chain){ .n = 0 };
	for (u64 i = 0; i < (u64)1 << DEEPER_BITS; i++) {
		struct key_chain c = { .n = 0 };

		deal_take(d, i, &c);
		if (c.n)
			TRY(sort_chain(s, &c, out, shift, depth + 1));
	}
	return MILL_OK;
}

/* Sorts the chain `in` into `out`. Its keys differ only in their low `bits` bits. */
static mill_err sort_chain(struct sorter *s, struct key_chain *in, struct key_chain *out,
			   unsigned bits, unsigned depth)
{
	if (in->n <= s->b->s.room)
		return sort_few(s, in, out, bits);
	return bits ? sort_many(s, in, out, bits, depth) : reduce_equal(s, in, out);
}

static mill_err sort_bucket(struct sorter *s, struct key_chain *bucket)
{
	struct key_chain in = *bucket;

	*bucket = (struct key_chain){ .n = 0 };
	return sort_chain(s, &in, bucket, s->b->low_bits, 0);
}

static mill_err sort_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct buckets *b = arg;

	for (u64 i = begin; i < end; i++)
		TRY(sort_bucket(&b->sorter[worker], &b->bucket[i]));
	return worker ? MILL_OK : ticker_tick(b->s.ticker, begin);
}

mill_err buckets_reduce(struct buckets *b, enum mill_dedup rule, struct edges_found *found,
			u64 *n)
{
	*n = 0;
	*found = (struct edges_found){ .loops = 0 };
	b->rule = rule;
	b->reduce = true;
	b->mirror = b->s.undirected;
	ticker_begin(b->s.ticker, "sort", "blocks", b->n_buckets);
	TRY(pool_for(b->s.pool, b->n_buckets, 1, sort_some, b));
	b->reduce = b->mirror = false;
	for (unsigned k = 0; k < b->n_sorters; k++) {
		edges_found_add(found, &b->sorter[k].found);
		*n += b->sorter[k].n;
	}
	b->n = *n;
	b->n_loops = found->loops;
	found->symmetric = b->s.undirected ? !found->one_way
					   : found->forward == found->backward;
	if (b->s.undirected)
		collect(b, b->other);
	return MILL_OK;
}

static mill_err turn_some(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct buckets *b = arg;
	struct sorter *s = &b->sorter[worker];

	for (u64 i = begin; i < end; i++) {
		struct key_block *next;

		for (struct key_block *block = b->bucket[i].first; block; block = next) {
			next = block->next;
			TRY(deal_swapped(s, block->key, block->n));
			keep_block(s, block);
		}
		b->bucket[i] = (struct key_chain){ .n = 0 };
	}
	return worker ? MILL_OK : ticker_tick(b->s.ticker, begin);
}

mill_err buckets_turn(struct buckets *b)
{
	ticker_begin(b->s.ticker, "sort in-edges", "blocks", b->n_buckets);
	TRY(pool_for(b->s.pool, b->n_buckets, 1, turn_some, b));
	collect(b, b->bucket);
	return pool_for(b->s.pool, b->n_buckets, 1, sort_some, b);
}

/* ---- Writing ---- */

/* Claims the next bucket of mirrored keys for this worker. False: all are claimed. */
static bool claim_other(struct buckets *b, u64 *i)
{
	*i = __atomic_fetch_add(&b->claimed, 1, __ATOMIC_RELAXED);
	return *i < b->n_buckets;
}

static mill_err sort_other(struct buckets *b, struct sorter *s, u64 i)
{
	TRY(sort_bucket(s, &b->other[i]));
	__atomic_store_n(&b->sorted[i], 1, __ATOMIC_RELEASE);
	return MILL_OK;
}

/* Worker 0 writes; the others sort the mirrored keys ahead of it. */
static mill_err write_share(void *arg, unsigned worker)
{
	struct buckets *b = arg;
	mill_err err = MILL_OK;
	u64 i;

	if (!worker) {
		err = b->write(b->arg);
		__atomic_store_n(&b->claimed, b->n_buckets, __ATOMIC_RELAXED);
		return err;
	}
	while (!err && claim_other(b, &i)) {
		err = sort_other(b, &b->sorter[worker], i);
		if (!err)
			queue_push(b->done, i);
	}
	if (err) {
		error_save(&b->error, err);
		queue_close(b->done);
	}
	return MILL_OK; /* worker 0 returns the error: await_other */
}

mill_err buckets_write(struct buckets *b, mill_err (*write)(void *arg), void *arg)
{
	if (!b->s.undirected)
		return write(arg);
	b->write = write;
	b->arg = arg;
	TRY(memory_new(&b->sorted, b->s.budget, b->n_buckets, 1, "the buckets"));
	TRY(queue_new(&b->done, b->s.budget, (u32)b->n_buckets));
	return pool_run(b->s.pool, write_share, b);
}

/*
 * Waits until bucket i of the mirrored keys is sorted. Sorts unclaimed buckets meanwhile; sleeps
 * only while other workers sort the last ones.
 */
static mill_err await_other(struct buckets *b, u64 i)
{
	while (!__atomic_load_n(&b->sorted[i], __ATOMIC_ACQUIRE)) {
		u64 k;

		if (claim_other(b, &k))
			TRY(sort_other(b, &b->sorter[0], k));
		else if (!queue_pop(b->done, &k))
			return error_restore(&b->error);
	}
	return MILL_OK;
}

static mill_err next_block(struct edge_stream *s)
{
	struct bucket_stream *from = s->arg;
	struct buckets *b = from->b;

	while (!from->block && from->next < b->n_buckets) {
		if (from->other)
			TRY(await_other(b, from->next));
		from->block = (from->other ? b->other : b->bucket)[from->next++].first;
	}
	from->e.n = 0;
	if (!from->block)
		return MILL_OK;
	from->e.key = from->block->key;
	from->e.n = from->block->n;
	from->block = from->block->next;
	return MILL_OK;
}

void buckets_stream(struct buckets *b, bool other, struct bucket_stream *from,
		    struct edge_stream *out)
{
	*from = (struct bucket_stream){ .e = as_edges(b, NULL, 0), .b = b, .other = other };
	/* The total is computed, not counted: other workers may be sorting the mirrored keys. */
	*out = (struct edge_stream){
		.e = &from->e,
		.total = b->n - (other ? b->n_loops : 0),
		.more = next_block,
		.arg = from,
	};
}
