/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers the names of a batch with a hash table, sorts them by radix sort of eight bytes at a
 * time, merges the batches (name_merge.h) and replays the edges by rank.
 */
#include "import/namer.h"

#include <string.h>

#include "base/checksum.h"
#include "base/fault.h"
#include "base/number.h"
#include "base/sort.h"
#include "import/name_merge.h"
#include "import/spool.h"
#include "store/names.h"

#define SHARE 4u		/* a batch, or the merge, takes at most 1/4 of the budget */
#define ENTRY_COST 64u		/* bytes per name in a batch besides its text, for sorting too */
#define BATCH_MIN ((u64)1 << 10)	/* names */
#define INSERT_BELOW 16u		/* fewer names are sorted by insertion */
#define EDGES 4096u			/* edges read back at a time */
#define COPY (64 * KIB)

/* A name of the batch. */
struct entry {
	u64 at;			/* offset of its bytes in `text` */
	u32 length;
	u32 hash;
};

/* A complete batch, which has been put aside. */
struct batch {
	struct name_run names;
	/* Offset in `places` of a u32 for each name, by number: its position after sorting. */
	u64 places_at;
	u64 first_edge, n_edges;
};

struct namer {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	u64 share;		/* bytes */
	const char *dir;
	bool weighted;
	/* The present batch. */
	char *text;
	u64 text_n, text_room;
	struct entry *entry;	/* by number */
	u64 n, room;
	u32 *table;		/* hash table: 1 + the number of the name; 0: free */
	u64 table_size;		/* a power of two, 2 x room */
	/* Complete batches. */
	struct spool edges, names, places;
	struct file ranks;	/* if there are several batches: u32 for each sorted name of each */
	struct batch *batch;
	u64 n_batches, batch_room;
	u64 n_edges;
	struct spool sorted;	/* all distinct names in order, each with a newline */
};

mill_err namer_new(struct namer **out, struct budget *budget, struct pool *pool,
		   struct ticker *ticker, const char *dir)
{
	struct namer *n;

	TRY(memory_new(&n, budget, 1, sizeof(*n), "the names"));
	n->budget = budget;
	n->pool = pool;
	n->ticker = ticker;
	n->share = (budget->limit ? budget->limit : GIB) / SHARE;
	spool_init(&n->edges, dir, budget);
	spool_init(&n->names, dir, budget);
	spool_init(&n->places, dir, budget);
	n->ranks = FILE_CLOSED;
	n->dir = dir;
	spool_init(&n->sorted, dir, budget);
	*out = n;
	return MILL_OK;
}

static void free_batch(struct namer *n)
{
	memory_free(n->text);
	memory_free(n->entry);
	memory_free(n->table);
	n->text = NULL;
	n->entry = NULL;
	n->table = NULL;
	n->text_n = n->text_room = n->n = n->room = n->table_size = 0;
}

void namer_free(struct namer *n)
{
	if (!n)
		return;
	free_batch(n);
	memory_free(n->batch);
	spool_release(&n->edges);
	spool_release(&n->names);
	spool_release(&n->places);
	spool_release(&n->sorted);
	file_close(&n->ranks);
	memory_free(n);
}

/* Moves an array of n elements to memory with more room. */
static mill_err grow(struct namer *m, void *array, u64 n, u64 room, size_t size)
{
	void **old = array, *more;

	TRY(memory_new(&more, m->budget, room, size, "the names"));
	if (n)
		memcpy(more, *old, n * size);
	memory_free(*old);
	*old = more;
	return MILL_OK;
}

/* ---- A batch ---- */

static u64 free_place(const struct namer *n, u32 hash)
{
	u64 i = hash & (n->table_size - 1);

	while (n->table[i])
		i = (i + 1) & (n->table_size - 1);
	return i;
}

static mill_err grow_entries(struct namer *n)
{
	u64 room = max_u64(BATCH_MIN, 2 * n->room);

	TRY(grow(n, &n->entry, n->n, room, sizeof(*n->entry)));
	n->room = room;
	memory_free(n->table);
	n->table = NULL;
	n->table_size = 2 * room;
	TRY(memory_new(&n->table, n->budget, n->table_size, sizeof(*n->table), "the names"));
	for (u64 i = 0; i < n->n; i++)
		n->table[free_place(n, n->entry[i].hash)] = (u32)i + 1;
	return MILL_OK;
}

/*
 * Returns whether the batch would be too large with `names` more names of `bytes` bytes together.
 * Arrays double when they are full, and the old and the new array exist at the same time.
 */
static bool is_full(const struct namer *n, u64 names, u64 bytes)
{
	u64 room = max_u64(BATCH_MIN, n->room), text = max_u64(COPY, n->text_room);

	if (fault_hold())
		return n->n + names > max_u64(2, fault_hold());
	while (room < n->n + names)
		room *= 2;
	while (text < n->text_n + bytes)
		text *= 2;
	return n->n && (room * ENTRY_COST + text * 3 / 2 > n->share || room > (u64)1 << 31);
}

/* Finds or adds a name in the batch. *out is its number. */
static mill_err number(struct namer *n, struct name name, u32 *out)
{
	u32 hash = (u32)checksum(name.text, name.length);
	u64 i;

	if (n->n == n->room)
		TRY(grow_entries(n));
	for (i = hash & (n->table_size - 1); n->table[i]; i = (i + 1) & (n->table_size - 1)) {
		const struct entry *e = &n->entry[n->table[i] - 1];

		if (e->hash == hash && e->length == name.length &&
		    !memcmp(n->text + e->at, name.text, name.length)) {
			*out = n->table[i] - 1;
			return MILL_OK;
		}
	}
	if (name.length > n->text_room - n->text_n) {
		u64 room = max_u64(COPY, 2 * n->text_room);

		TRY(grow(n, &n->text, n->text_n, room, 1));
		n->text_room = room;
	}
	memcpy(n->text + n->text_n, name.text, name.length);
	n->entry[n->n] = (struct entry){ .at = n->text_n, .length = name.length, .hash = hash };
	n->text_n += name.length;
	*out = (u32)n->n++;
	n->table[i] = *out + 1;
	return MILL_OK;
}

static u64 edge_size(const struct namer *n) { return n->weighted ? 16 : 8; }

/*
 * Returns the eight bytes of a name from `depth` on as a number, so that numbers are ordered as
 * the bytes are. After the end of the name the bytes are zero.
 */
static u64 key_at(const struct namer *n, u64 i, u64 depth)
{
	const struct entry *e = &n->entry[i];
	u8 bytes[8] = { 0 };
	u64 key;

	if (depth < e->length)
		memcpy(bytes, n->text + e->at + depth, min_u64(8, e->length - depth));
	memcpy(&key, bytes, sizeof(key));
	return __builtin_bswap64(key);
}

static void insertion_sort(const struct namer *n, u64 *index, u64 count)
{
	for (u64 i = 1; i < count; i++) {
		u64 it = index[i], k = i;
		const struct entry *a = &n->entry[it];

		for (; k; k--) {
			const struct entry *b = &n->entry[index[k - 1]];

			if (name_compare(n->text + a->at, a->length, n->text + b->at,
					 b->length) > 0)
				break;
			index[k] = index[k - 1];
		}
		index[k] = it;
	}
}

/*
 * Sorts names that are equal up to `depth`: by their next eight bytes, then recursively those
 * that are equal in these. Names are distinct and hold no zero byte, so that of names with equal
 * keys at most one ends with these bytes. Therefore the recursion ends.
 */
static mill_err sort_names(struct namer *n, u64 *key, u64 *index, u64 count, u64 depth)
{
	u64 end;

	if (count < INSERT_BELOW) {
		insertion_sort(n, index, count);
		return MILL_OK;
	}
	for (u64 i = 0; i < count; i++)
		key[i] = key_at(n, index[i], depth);
	TRY(sort_u64(n->pool, n->budget, key, index, count, 64));
	for (u64 i = 0; i < count; i = end) {
		for (end = i + 1; end < count && key[end] == key[i]; end++)
			;
		if (end - i > 1)
			TRY(sort_names(n, key + i, index + i, end - i, depth + 8));
	}
	return MILL_OK;
}

static mill_err put_sorted(struct namer *n, const u64 *index)
{
	for (u64 i = 0; i < n->n; i++) {
		const struct entry *e = &n->entry[index[i]];
		u16 length = (u16)e->length;

		TRY(spool_add(&n->names, &length, sizeof(length)));
		TRY(spool_add(&n->names, n->text + e->at, length));
	}
	return MILL_OK;
}

static mill_err put_places(struct namer *n, const u64 *index, u64 *key)
{
	u32 *place = (u32 *)key;	/* the keys are not needed any more, and are larger */

	for (u64 i = 0; i < n->n; i++)
		place[index[i]] = (u32)i;
	return spool_add(&n->places, place, n->n * sizeof(*place));
}

/* Completes the batch: sorts its names and puts them aside. */
static mill_err close_batch(struct namer *n)
{
	struct batch p = {
		.names = { .n = n->n, .at = n->names.size },
		.places_at = n->places.size,
		.first_edge = n->n_batches ? n->batch[n->n_batches - 1].first_edge +
						     n->batch[n->n_batches - 1].n_edges
					   : 0,
	};
	u64 *key = NULL, *index = NULL;
	mill_err err;

	if (!n->n)
		return MILL_OK;
	p.n_edges = n->n_edges - p.first_edge;
	memory_free(n->table);
	n->table = NULL;
	if (n->n_batches == n->batch_room) {
		TRY(grow(n, &n->batch, n->n_batches, max_u64(16, 2 * n->batch_room),
			 sizeof(*n->batch)));
		n->batch_room = max_u64(16, 2 * n->batch_room);
	}
	err = memory_new(&key, n->budget, n->n, sizeof(*key), "the names");
	if (!err)
		err = memory_new(&index, n->budget, n->n, sizeof(*index), "the names");
	for (u64 i = 0; !err && i < n->n; i++)
		index[i] = i;
	if (!err)
		err = sort_names(n, key, index, n->n, 0);
	if (!err)
		err = put_sorted(n, index);
	if (!err)
		err = put_places(n, index, key);
	memory_free(index);
	memory_free(key);
	p.names.end = n->names.size;
	if (!err)
		n->batch[n->n_batches++] = p;
	free_batch(n);
	return err;
}

mill_err namer_add(struct namer *n, struct name from, struct name to, const u64 *weight)
{
	u32 pair[2];

	if (is_full(n, 2, from.length + to.length))
		TRY(close_batch(n));
	TRY(number(n, from, &pair[0]));
	TRY(number(n, to, &pair[1]));
	n->weighted = weight;
	TRY(spool_add(&n->edges, pair, sizeof(pair)));
	if (weight)
		TRY(spool_add(&n->edges, weight, sizeof(*weight)));
	n->n_edges++;
	return MILL_OK;
}

/* ---- All batches together ---- */

mill_err namer_settle(struct namer *n, u64 *vertices)
{
	struct name_merge m = {
		.budget = n->budget,
		.ticker = n->ticker,
		.memory = n->share,
		.names = &n->names,
		.sorted = &n->sorted,
		.dir = n->dir,
	};
	mill_err err;

	TRY(close_batch(n));
	TRY(memory_new(&m.run, n->budget, n->n_batches, sizeof(*m.run), "the names"));
	for (u64 i = 0; i < n->n_batches; i++)
		m.run[i] = n->batch[i].names;
	m.n_runs = n->n_batches;
	err = name_merge(&m);
	n->ranks = m.ranks;
	memory_free(m.run);
	spool_release(&n->names);
	*vertices = m.vertices;
	return err;
}

/* ---- Replaying the edges ---- */

struct replay {
	struct namer *n;
	u32 *to;		/* rank of each name of the batch, by number */
	u8 *packed;
	struct raw_edge *edge;
};

static mill_err load_ranks(struct replay *r, const struct batch *p, u64 ranks_at)
{
	struct namer *n = r->n;
	u32 *rank;
	mill_err err;

	TRY(memory_new(&r->to, n->budget, p->names.n, sizeof(*r->to), "the names"));
	TRY(spool_read(&n->places, r->to, p->names.n * sizeof(*r->to), p->places_at));
	if (n->n_batches == 1)
		return MILL_OK;
	TRY(memory_new(&rank, n->budget, p->names.n, sizeof(*rank), "the names"));
	err = file_read_at(&n->ranks, rank, p->names.n * sizeof(*rank), ranks_at);
	for (u64 i = 0; !err && i < p->names.n; i++)
		r->to[i] = rank[r->to[i]];
	memory_free(rank);
	return err;
}

static mill_err replay_batch(struct replay *r, const struct batch *p,
			     mill_err (*take)(void *arg, const struct raw_edge *edge, u64 n),
			     void *arg)
{
	struct namer *n = r->n;
	u64 size = edge_size(n);

	for (u64 at = p->first_edge, end = at + p->n_edges; at < end;) {
		u64 some = min_u64(EDGES, end - at);

		TRY(spool_read(&n->edges, r->packed, some * size, at * size));
		for (u64 i = 0; i < some; i++) {
			u32 pair[2];

			memcpy(pair, r->packed + i * size, sizeof(pair));
			r->edge[i] = (struct raw_edge){ r->to[pair[0]], r->to[pair[1]], 0 };
			if (n->weighted)
				memcpy(&r->edge[i].weight, r->packed + i * size + 8, 8);
		}
		TRY(take(arg, r->edge, some));
		at += some;
		TRY(ticker_tick(n->ticker, at));
	}
	return MILL_OK;
}

mill_err namer_edges(struct namer *n,
		     mill_err (*take)(void *arg, const struct raw_edge *edge, u64 n), void *arg)
{
	struct replay r = { .n = n };
	u64 ranks_at = 0;
	mill_err err;

	ticker_begin(n->ticker, "number edges", "edges", n->n_edges);
	err = memory_new(&r.packed, n->budget, EDGES, 16, "the edges");
	if (!err)
		err = memory_new(&r.edge, n->budget, EDGES, sizeof(*r.edge), "the edges");
	for (u64 i = 0; !err && i < n->n_batches; i++) {
		err = load_ranks(&r, &n->batch[i], ranks_at);
		ranks_at += n->batch[i].names.n * sizeof(u32);
		if (!err)
			err = replay_batch(&r, &n->batch[i], take, arg);
		memory_free(r.to);
		r.to = NULL;
	}
	memory_free(r.edge);
	memory_free(r.packed);
	spool_release(&n->edges);
	spool_release(&n->places);
	file_close(&n->ranks);
	return err;
}

/* ---- Names in order ---- */

/* Calls take for all bytes of `sorted`, piece by piece. */
static mill_err each_piece(struct namer *n,
			   mill_err (*take)(void *arg, const char *text, u64 size), void *arg)
{
	char *buffer;
	mill_err err = MILL_OK;

	TRY(memory_new(&buffer, n->budget, COPY, 1, "the names"));
	for (u64 at = 0; !err && at < n->sorted.size; at += COPY) {
		u64 some = min_u64(COPY, n->sorted.size - at);

		err = spool_read(&n->sorted, buffer, some, at);
		if (!err)
			err = take(arg, buffer, some);
	}
	memory_free(buffer);
	return err;
}

static mill_err add_to_sum(void *arg, const char *text, u64 size)
{
	checksum_add(arg, text, size);
	return MILL_OK;
}

mill_err namer_fingerprint(struct namer *n, u64 *out)
{
	struct checksum_stream *sum = checksum_begin();
	mill_err err;

	if (!sum)
		return fail(MILL_ENOMEM, "no memory for a checksum");
	err = each_piece(n, add_to_sum, sum);
	*out = checksum_end(sum);
	return err;
}

struct search {
	u64 rank, at;		/* rank of the name that is searched, and of the present name */
	char *to;
	u32 length;
};

static mill_err search_piece(void *arg, const char *text, u64 size)
{
	struct search *s = arg;

	for (u64 i = 0; i < size; i++) {
		if (text[i] == '\n')
			s->at++;
		else if (s->at == s->rank)
			s->to[s->length++] = text[i];
	}
	return MILL_OK;
}

/* Writes the name of a rank to `to`; the rank itself if n is NULL. */
static mill_err show(struct namer *n, u64 rank, char *to)
{
	struct search s = { .rank = rank, .to = to };

	if (!n) {
		to[number_put_u64(to, rank)] = '\0';
		return MILL_OK;
	}
	TRY(each_piece(n, search_piece, &s));
	to[s.length] = '\0';
	return MILL_OK;
}

mill_err namer_fail_edge(struct namer *n, mill_err code, u64 from, u64 to)
{
	char a[STORE_NAME_MAX + 1], b[STORE_NAME_MAX + 1];

	TRY(show(n, from, a));
	TRY(show(n, to, b));
	if (code == MILL_EINPUT)
		return fail(code, "the edge from %.400s to %.400s is listed more than once", a, b);
	return fail(code,
		    "the weights from %.400s to %.400s add up to more than their type holds", a, b);
}

struct write_ctx {
	struct store_writer *w;
	u64 at;			/* bytes so far */
	u64 end[1024];		/* offsets at which names end, for the index */
	u64 n;
};

static mill_err flush_ends(struct write_ctx *w)
{
	u64 n = w->n;

	w->n = 0;
	return writer_append(w->w, STORE_NAMES_INDEX, w->end, n * sizeof(*w->end));
}

static mill_err write_piece(void *arg, const char *text, u64 size)
{
	struct write_ctx *w = arg;
	const char *p = text, *end = text + size;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		p++;
		w->end[w->n++] = w->at + (u64)(p - text);
		if (w->n == ARRAY_LEN(w->end))
			TRY(flush_ends(w));
	}
	w->at += size;
	return writer_append(w->w, STORE_NAMES, text, size);
}

mill_err namer_write(struct namer *n, struct store_writer *w)
{
	struct write_ctx to = { .w = w };

	TRY(each_piece(n, write_piece, &to));
	return flush_ends(&to);
}
