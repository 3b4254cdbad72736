/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the ids of each batch, merges them (id_merge.h) and replays the edges by rank. The
 * distinct ids of all batches are kept packed, as the gaps between them.
 */
#include "import/sparse.h"

#include <string.h>

#include "base/sort.h"
#include "import/id_merge.h"
#include "import/ids.h"
#include "import/spool.h"

#define MERGE_SHARE 4u		/* merging takes at most 1/4 of what the budget leaves */
#define EDGES 4096u		/* edges read at a time */
#define PACKED_PAIR 17u		/* most bytes of two packed ids */
#define READ_BYTES (64 * KIB)

struct batch {
	struct id_run ids;
	u64 first_edge, n_edges;
	u64 last;		/* its largest id */
};

/*
 * Ascending ids, packed. An id is stored as its distance from the one before, less 1. Two
 * distances are stored together: a byte with their lengths (0 to 8 bytes, 4 bits each, the first
 * in the low half), then their bytes, little-endian.
 */
struct packed_ids {
	struct spool spool;
	u64 n, last;		/* number of ids, and the last one */
	u64 gap;		/* distance that waits for the second of its pair */
};

struct sparse {
	struct sparse_setup s;
	struct file ids;	/* sorted runs of ids; after sparse_settle, of ranks */
	u64 ids_bytes;
	/* Two positions among the ids of the batch, u32 each; with weights, 8 bytes more. */
	struct spool edges;
	u64 n_edges;
	struct batch *batch;
	u64 n_batches, batch_room;
	struct packed_ids all;
	void (*see)(void *arg, u64 id);
	void *see_arg;
};

mill_err sparse_new(struct sparse **out, const struct sparse_setup *setup)
{
	struct sparse *s;
	mill_err err;

	TRY(memory_new(&s, setup->budget, 1, sizeof(*s), "the ids"));
	s->s = *setup;
	spool_init(&s->edges, setup->dir, setup->budget);
	spool_init(&s->all.spool, setup->dir, setup->budget);
	err = file_temp(&s->ids, setup->dir);
	if (err) {
		s->ids = FILE_CLOSED;
		sparse_free(s);
		return err;
	}
	*out = s;
	return MILL_OK;
}

void sparse_free(struct sparse *s)
{
	if (!s)
		return;
	file_close(&s->ids);
	spool_release(&s->edges);
	spool_release(&s->all.spool);
	memory_free(s->batch);
	memory_free(s);
}

u64 sparse_edges(const struct sparse *s) { return s->n_edges; }

static u64 edge_size(const struct sparse *s) { return s->s.added_type ? 16 : 8; }

/* ---- Batches ---- */

/*
 * Adds n distinct ids, ascending, as the run of a batch of n_edges edges, which are not in the
 * spool yet. Ids without edges that continue a run without edges extend that run.
 */
static mill_err add_run(struct sparse *s, const u64 *id, u64 n, u64 n_edges)
{
	struct batch *last = s->n_batches ? &s->batch[s->n_batches - 1] : NULL;

	if (!n)
		return MILL_OK;
	if (s->n_batches == s->batch_room) {
		u64 room = max_u64(64, 2 * s->batch_room);
		struct batch *more;

		TRY(memory_new(&more, s->s.budget, room, sizeof(*more), "the ids"));
		if (s->n_batches)
			memcpy(more, s->batch, s->n_batches * sizeof(*more));
		memory_free(s->batch);
		s->batch = more;
		s->batch_room = room;
		last = s->n_batches ? &s->batch[s->n_batches - 1] : NULL;
	}
	TRY(file_write_at(&s->ids, id, n * sizeof(*id), s->ids_bytes));
	if (last && !last->n_edges && !n_edges && last->last < id[0]) {
		last->ids.n += n;
		last->last = id[n - 1];
	} else {
		s->batch[s->n_batches++] = (struct batch){
			.ids = { .at = s->ids_bytes, .n = n },
			.first_edge = s->n_edges,
			.n_edges = n_edges,
			.last = id[n - 1],
		};
	}
	s->ids_bytes += n * sizeof(*id);
	return MILL_OK;
}

/* Sorts ids and removes repeated ones. */
static mill_err sort_distinct(struct sparse *s, u64 *id, u64 *n)
{
	u64 k = 0;

	TRY(sort_u64(s->s.pool, s->s.budget, id, NULL, *n, 64));
	for (u64 i = 0; i < *n; i++)
		if (!i || id[i] != id[i - 1])
			id[k++] = id[i];
	*n = k;
	return MILL_OK;
}

struct rank_ctx {
	struct chunk *chunk;
	struct ids ids;		/* of the batch */
};

/* Replaces ids by positions, in the same memory: pairs of u64 become pairs of u32. */
static mill_err rank_chunks(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct rank_ctx *r = arg;

	(void)worker;
	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &r->chunk[k];
		u32 *place = c->pair;

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			place[2 * i] = (u32)ids_rank(&r->ids, from);
			place[2 * i + 1] = (u32)ids_rank(&r->ids, to);
		}
		c->wide = false;
	}
	return MILL_OK;
}

static mill_err put_edges(struct sparse *s, const struct chunk *c)
{
	const u32 *place = c->pair;

	s->n_edges += c->n;
	if (!s->s.added_type)
		return spool_add(&s->edges, place, c->n * 2 * sizeof(*place));
	for (u64 i = 0; i < c->n; i++) {
		u64 weight = chunk_weight(c, i, s->s.added_type);

		TRY(spool_add(&s->edges, place + 2 * i, 2 * sizeof(*place)));
		TRY(spool_add(&s->edges, &weight, sizeof(weight)));
	}
	return MILL_OK;
}

/* Adds a batch; id: its n distinct ids, ascending. Frees `id`. */
static mill_err add_ranked(struct sparse *s, struct chunk *chunk, u64 n_chunks, u64 n_edges,
			   u64 *id, u64 n)
{
	struct rank_ctx r = { .chunk = chunk };
	mill_err err;

	/* Keeps `id` even if it fails, so ids_release frees it. */
	err = ids_from_sorted(&r.ids, s->s.budget, id, n);
	if (!err)
		err = add_run(s, r.ids.id, r.ids.n, n_edges);
	if (!err)
		err = pool_for(s->s.pool, n_chunks, 1, rank_chunks, &r);
	ids_release(&r.ids);
	for (u64 k = 0; !err && k < n_chunks; k++) {
		err = put_edges(s, &chunk[k]);
		chunk_free(&chunk[k]);
	}
	return err;
}

mill_err sparse_add(struct sparse *s, struct chunk *chunk, u64 n_chunks)
{
	u64 n = 0, n_edges = 0, *id;
	mill_err err;

	for (u64 k = 0; k < n_chunks; k++)
		n_edges += chunk[k].n;
	if (!n_edges)
		return MILL_OK;
	TRY(memory_new(&id, s->s.budget, 2 * n_edges, sizeof(*id), "the ids"));
	for (u64 k = 0; k < n_chunks; k++)
		for (u64 i = 0; i < chunk[k].n; i++, n += 2)
			chunk_pair(&chunk[k], i, &id[n], &id[n + 1]);
	err = sort_distinct(s, id, &n);
	if (err) {
		memory_free(id);
		return err;
	}
	return add_ranked(s, chunk, n_chunks, n_edges, id, n);
}

mill_err sparse_add_ids(struct sparse *s, const u64 *id, u64 n)
{
	u64 *copy;
	mill_err err;

	TRY(memory_new(&copy, s->s.budget, n, sizeof(*copy), "the ids"));
	if (n)
		memcpy(copy, id, n * sizeof(*copy));
	err = sort_distinct(s, copy, &n);
	if (!err)
		err = add_run(s, copy, n, 0);
	memory_free(copy);
	return err;
}

/* ---- All ids, packed ---- */

static unsigned bytes_of(u64 x) { return x ? 8u - (unsigned)__builtin_clzll(x) / 8 : 0; }

static mill_err pack_pair(struct packed_ids *p, u64 first, u64 second)
{
	unsigned a = bytes_of(first), b = bytes_of(second);
	u8 to[PACKED_PAIR] = { (u8)(a | b << 4) };

	memcpy(to + 1, &first, a);
	memcpy(to + 1 + a, &second, b);
	return spool_add(&p->spool, to, 1 + a + b);
}

static mill_err pack(struct packed_ids *p, u64 id)
{
	u64 gap = p->n ? id - p->last - 1 : id;

	p->last = id;
	if (p->n++ % 2)
		return pack_pair(p, p->gap, gap);
	p->gap = gap;
	return MILL_OK;
}

static mill_err pack_end(struct packed_ids *p)
{
	return p->n % 2 ? pack_pair(p, p->gap, 0) : MILL_OK;
}

/* Calls take for each id, ascending, until it sets *stop. */
static mill_err unpack(struct sparse *s, mill_err (*take)(void *arg, u64 id, bool *stop), void *arg)
{
	const struct packed_ids *p = &s->all;
	u64 at = 0, used = 0, fill = 0, id = 0;
	mill_err err = MILL_OK;
	bool stop = false;
	u8 *buffer;

	TRY(memory_new(&buffer, s->s.budget, READ_BYTES, 1, "the ids"));
	for (u64 i = 0; !err && !stop && i < p->n; i += 2) {
		u64 gap[2] = { 0, 0 }, more;
		unsigned n[2];

		if (fill - used < PACKED_PAIR && at < p->spool.size) {
			memmove(buffer, buffer + used, fill - used);
			fill -= used;
			used = 0;
			more = min_u64(READ_BYTES - fill, p->spool.size - at);
			err = spool_read(&p->spool, buffer + fill, more, at);
			at += more;
			fill += more;
			if (err)
				break;
		}
		n[0] = buffer[used] & 15;
		n[1] = buffer[used] >> 4;
		memcpy(&gap[0], buffer + used + 1, n[0]);
		memcpy(&gap[1], buffer + used + 1 + n[0], n[1]);
		used += 1 + n[0] + n[1];
		for (u64 k = 0; !err && !stop && k < min_u64(2, p->n - i); k++) {
			id = i + k ? id + gap[k] + 1 : gap[k];
			err = take(arg, id, &stop);
		}
	}
	memory_free(buffer);
	return err;
}

struct search {
	u64 rank;	/* of the id that is searched */
	u64 at, id;	/* rank of the next id; the last id seen */
};

static mill_err search(void *arg, u64 id, bool *stop)
{
	struct search *s = arg;

	s->id = id;
	*stop = s->at++ == s->rank;
	return MILL_OK;
}

mill_err sparse_id(struct sparse *s, u64 rank, u64 *out)
{
	struct search look = { .rank = rank };

	TRY(unpack(s, search, &look));
	*out = look.id;
	return MILL_OK;
}

struct write_ctx {
	struct store_writer *w;
	u64 n, id[EDGES];
};

static mill_err flush_ids(struct write_ctx *w)
{
	u64 n = w->n;

	w->n = 0;
	return writer_append(w->w, STORE_IDS, w->id, n * sizeof(*w->id));
}

static mill_err write_id(void *arg, u64 id, bool *stop)
{
	struct write_ctx *w = arg;

	(void)stop;
	w->id[w->n++] = id;
	return w->n == EDGES ? flush_ids(w) : MILL_OK;
}

mill_err sparse_write_ids(struct sparse *s, struct store_writer *w)
{
	struct write_ctx *to;
	mill_err err;

	TRY(memory_new(&to, s->s.budget, 1, sizeof(*to), "a file buffer"));
	to->w = w;
	err = unpack(s, write_id, to);
	if (!err)
		err = flush_ids(to);
	memory_free(to);
	return err;
}

/* ---- Ranks ---- */

static mill_err take_id(void *arg, u64 id)
{
	struct sparse *s = arg;

	if (s->all.n == MAX_VERTICES)
		return ids_too_many(s->all.n + 1);
	if (s->see)
		s->see(s->see_arg, id);
	return pack(&s->all, id);
}

mill_err sparse_settle(struct sparse *s, void (*see)(void *arg, u64 id), void *arg, u64 *n)
{
	struct id_merge m = {
		.budget = s->s.budget,
		.ticker = s->s.ticker,
		.memory = min_u64(budget_left(s->s.budget), GIB) / MERGE_SHARE,
		.file = &s->ids,
		.n_runs = s->n_batches,
		.take = take_id,
		.arg = s,
	};
	struct id_run *run;
	mill_err err;

	s->see = see;
	s->see_arg = arg;
	TRY(memory_new(&run, s->s.budget, s->n_batches, sizeof(*run), "the ids"));
	for (u64 i = 0; i < s->n_batches; i++)
		run[i] = s->batch[i].ids;
	m.run = run;
	ticker_begin(s->s.ticker, "number vertices", "ids", s->ids_bytes / sizeof(u64));
	err = id_merge(&m);
	memory_free(run);
	if (!err)
		err = pack_end(&s->all);
	*n = s->all.n;
	return err;
}

static u64 largest_batch(const struct sparse *s)
{
	u64 n = 0;

	for (u64 i = 0; i < s->n_batches; i++)
		if (s->batch[i].n_edges)
			n = max_u64(n, s->batch[i].ids.n);
	return n;
}

u64 sparse_replay_bytes(const struct sparse *s)
{
	return largest_batch(s) * sizeof(u32) + EDGES * edge_size(s) + 64 * KIB;
}

static mill_err replay_batch(struct sparse *s, const struct batch *b, const u32 *rank, u8 *buffer,
			     mill_err (*take)(void *arg, u64 from, u64 to, u64 weight), void *arg)
{
	u64 size = edge_size(s), end = b->first_edge + b->n_edges;

	for (u64 at = b->first_edge; at < end;) {
		u64 some = min_u64(EDGES, end - at);

		TRY(spool_read(&s->edges, buffer, some * size, at * size));
		for (u64 i = 0; i < some; i++) {
			u64 weight = 0;
			u32 place[2];

			memcpy(place, buffer + i * size, sizeof(place));
			if (s->s.added_type)
				memcpy(&weight, buffer + i * size + sizeof(place), sizeof(weight));
			TRY(take(arg, rank[place[0]], rank[place[1]], weight));
		}
		at += some;
		TRY(ticker_tick(s->s.ticker, at));
	}
	return MILL_OK;
}

mill_err sparse_replay(struct sparse *s,
		       mill_err (*take)(void *arg, u64 from, u64 to, u64 weight), void *arg)
{
	u32 *rank = NULL;
	u8 *buffer = NULL;
	mill_err err;

	err = memory_new(&rank, s->s.budget, largest_batch(s), sizeof(*rank), "the ids");
	if (!err)
		err = memory_new(&buffer, s->s.budget, EDGES, edge_size(s),
				 "edges on their way from disk");
	for (u64 i = 0; !err && i < s->n_batches; i++) {
		const struct batch *b = &s->batch[i];

		if (!b->n_edges)
			continue;
		err = file_read_at(&s->ids, rank, b->ids.n * sizeof(*rank), b->ids.at);
		if (!err)
			err = replay_batch(s, b, rank, buffer, take, arg);
		/* The keys that `take` makes of these edges need the disk space. */
		file_discard(&s->ids, b->ids.at, b->ids.n * sizeof(u64));
		spool_discard(&s->edges, b->n_edges * edge_size(s), b->first_edge * edge_size(s));
	}
	memory_free(buffer);
	memory_free(rank);
	spool_release(&s->edges);
	file_close(&s->ids);
	return err;
}
