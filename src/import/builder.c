/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder: collects edges in chunks as they come, turns them into sorted keys (row << bits |
 * column), either in buckets (buckets.h) or in an array with the weights beside it, and writes the
 * keys as lists. Edges that do not fit the budget go to disk (external.h) as soon as that is known.
 *
 * A vertex has three numbers in turn: the original id, its rank among the ids, and its vid, in
 * which vertices with out-edges come first. Each grows with the one before (vids do within the
 * sources and within the rest), so that nothing needs sorting twice.
 *
 * Page addresses (--addressing paged, store/address.h) need nothing here: the writer first
 * writes pages of vertex numbers and replaces them by addresses when a direction is complete,
 * because only then the page in which each list begins is known.
 */
#include "import/builder_internal.h"

#include <string.h>

#include "base/fault.h"
#include "base/number.h"
#include "base/random.h"
#include "import/lists.h"
#include "import/order.h"
#include "import/sparse.h"

#define CHUNK_MIN ((u64)1 << 12) /* edges */
#define CHUNK_MAX ((u64)1 << 20)
#define RESERVE (8 * MIB)	 /* for small buffers, besides the readers' share */

#define KEY_AHEAD 16u		   /* edges to prefetch ahead */
#define REKEY_GRAIN ((u64)1 << 16) /* edges */

/* The edges, and the new number of each vertex. */
struct renumber_ctx {
	struct edges *e;
	const vid *to;
};

struct budget *builder_budget(struct builder *b)
{
	return &b->budget;
}

struct ticker *builder_ticker(struct builder *b)
{
	return &b->ticker;
}

struct pool *builder_pool(struct builder *b)
{
	return b->pool;
}

void builder_set_kind(struct builder *b, bool undirected, enum mill_weight weight)
{
	b->o.undirected = undirected;
	b->o.weight = b->added_type = weight;
}

void builder_set_weight(struct builder *b, enum mill_weight weight)
{
	b->o.weight = weight;
}

void builder_set_fingerprint(struct builder *b, u64 fingerprint)
{
	b->o.fingerprint = fingerprint;
}

void builder_set_names(struct builder *b, struct namer *names, u64 n)
{
	b->names = names;
	b->o.dense = n;
}

/* Fills in the facts that the target decides. */
static void target_facts(struct store_facts *f, const struct mill_target *t)
{
	*f = (struct store_facts){
		.page_size = t->page_size ? t->page_size : PAGE_SIZE_DEFAULT,
		.codec = t->codec == MILL_CODEC_RAW ? PAGE_RAW : PAGE_PACKED,
		.paged = t->addressing == MILL_ADDRESSING_PAGED,
		.page_id_bytes = t->page_id_bytes,
		.slot_bytes = t->slot_bytes,
	};
}

mill_err builder_new(struct builder **out, const struct builder_options *o)
{
	const struct mill_target *t = o->target;
	struct store_facts facts;
	struct builder *b;
	mill_err err;

	if (!t->path || !*t->path)
		return fail(MILL_EUSAGE, "there is no name for the store");
	target_facts(&facts, t);
	TRY(writer_allows(&facts));
	if (o->dense > MAX_VERTICES)
		return fail(MILL_ELIMIT,
			    "a graph of %llu vertices: a store holds at most %llu",
			    (unsigned long long)o->dense, (unsigned long long)MAX_VERTICES);

	TRY(memory_new(&b, NULL, 1, sizeof(*b), "the builder"));
	b->o = *o;
	b->added_type = o->weight;
	b->started = clock_now();
	budget_init(&b->budget, t->memory ? t->memory : memory_available() / 5 * 4);
	ticker_init(&b->ticker, &t->watcher);
	err = pool_new(&b->pool, t->threads);
	if (err)
		goto fail;
	err = writer_open(&b->writer, t->path, t->force, &b->budget);
	if (!err && t->stripes)
		err = writer_stripe(b->writer, t->stripes);
	if (err)
		goto fail;
	*out = b;
	return MILL_OK;
fail:
	builder_abandon(b);
	return err;
}

void builder_abandon(struct builder *b)
{
	if (!b)
		return;
	for (u64 i = 0; i < b->n_chunks; i++)
		chunk_free(&b->chunk[i]);
	memory_free(b->chunk);
	external_free(b->external);
	namer_free(b->names);
	memory_free(b->vertex);
	ids_release(&b->ids);
	memory_free(b->exists);
	memory_free(b->source);
	memory_free(b->target);
	memory_free(b->source_rank);
	memory_free(b->other_rank);
	memory_free(b->new_number);
	edges_release(&b->e);
	buckets_free(b->buckets);
	if (b->writer)
		writer_abandon(b->writer);
	pool_free(b->pool);
	memory_free(b);
}

/* ---- Edges that do not fit ---- */

/* Bytes per edge while it is sorted. */
static u64 key_bytes(const struct builder *b)
{
	return 8 + (b->o.weight ? 8 : 0);
}

/* Bytes per edge while it is collected. */
static u64 chunk_bytes(const struct builder *b)
{
	return (b->wide ? 16 : 8) + weight_size(b->added_type);
}

/* Buckets have no room for weights, and another order of the vertices needs all edges at once. */
static bool uses_buckets(const struct builder *b) { return !b->o.weight && !b->o.target->order; }

/*
 * Returns the bytes that numbering the vertices of n edges takes besides chunks or keys.
 * *sorting: bytes that are needed in addition while there are chunks.
 */
static u64 ids_bytes(const struct builder *b, u64 n, u64 *sorting)
{
	u64 mentions = 2 * n + b->n_vertices, v = b->o.dense, order;

	*sorting = 0;
	if (!b->o.dense)
		v = min_u64(mentions, b->max_id + (b->max_id < UINT64_MAX));
	order = b->o.target->order ? order_bytes(v) : 0;
	if (b->o.dense || !mentions)
		return v * (2 * sizeof(vid)) + v / 8 * 6 + order;
	if (builder_ids_are_close(b, mentions))
		return v * (8 + 2 * sizeof(vid)) + b->max_id / 16 * 15 + order;
	*sorting = 16 * mentions;
	return v * (8 + 2 * sizeof(vid) + 16) + order;
}

/*
 * Returns the bytes that making a store of n edges in memory takes: an upper bound, except for
 * small buffers.
 */
static u64 finish_bytes(const struct builder *b, u64 n)
{
	u64 sorting, ids = ids_bytes(b, n, &sorting);
	u64 flat = n * chunk_bytes(b), sorted;
	u64 page = b->o.target->page_size ? b->o.target->page_size : PAGE_SIZE_DEFAULT;

	if (uses_buckets(b)) {
		/*
		 * Keys are sorted in the chunks' memory. But an undirected edge that came once
		 * makes two keys, so there may be twice as many keys; `holds` assumes the same.
		 */
		sorted = max_u64(flat, 2 * n * key_bytes(b)) +
			 buckets_bytes(&b->budget, pool_size(b->pool), n);
		flat += sorting;
	} else {
		/*
		 * A sort needs a second array; the mirrored edges of an undirected graph are
		 * sorted while the others are still there.
		 */
		sorted = n * key_bytes(b) * (b->o.undirected ? 3 : 2);
		flat += max_u64(sorting, n * key_bytes(b));
	}
	return max_u64(flat, sorted) + ids + b->n_vertices * 8 + 4 * page + RESERVE +
	       b->budget.limit / BUILDER_READER_SHARE;
}

/* Returns whether a store of n edges can be made in memory. */
static bool fits(const struct builder *b, u64 n)
{
	u64 most = fault_hold();

	return finish_bytes(b, n) <= b->budget.limit && (!most || n <= most);
}

/*
 * Returns whether n edges can be collected and then still be moved to disk within the budget.
 * True for every n for which `fits` is true.
 */
static bool holds(const struct builder *b, u64 n)
{
	u64 other = b->budget.used - b->held_bytes, most = fault_hold();
	u64 pass = n * max_u64(chunk_bytes(b) + key_bytes(b), 2 * key_bytes(b));
	u64 ids = b->o.dense ? b->o.dense / 8 : min_u64(b->max_id / 2, b->budget.limit / 4);

	if (!b->o.dense && external_needs_sparse(b->budget.limit, b->o.undirected, b->max_id))
		pass = max_u64(pass, n * (chunk_bytes(b) + SPARSE_EDGE_BYTES));
	return other + pass + ids + b->n_vertices * 8 + RESERVE +
			       b->budget.limit / BUILDER_READER_SHARE <=
		       b->budget.limit &&
	       (!most || n <= most);
}

const char *builder_temp_dir(const struct builder *b)
{
	return b->o.target->tmp ? b->o.target->tmp : writer_dir(b->writer);
}

/* Fails with MILL_ENOSPACE if the disk has no room for `bytes` of temporary files. */
static mill_err check_room(const struct builder *b, u64 n_edges, u64 bytes)
{
	char needed[NUMBER_TEXT], there[NUMBER_TEXT];
	u64 room;

	TRY(file_room(builder_temp_dir(b), &room));
	if (bytes <= room)
		return MILL_OK;
	return fail(MILL_ENOSPACE,
		    "sorting %llu edges within %lluM needs %s of temporary files, and %s has %s: "
		    "give more --memory or another --tmp",
		    (unsigned long long)n_edges, (unsigned long long)(b->budget.limit / MIB),
		    size_show(needed, bytes), builder_temp_dir(b), size_show(there, room));
}

mill_err builder_expect(struct builder *b, u64 n_edges)
{
	u64 bytes;

	if (n_edges > UINT64_MAX / 64)
		return fail(MILL_ELIMIT, "%llu edges are too many",
			    (unsigned long long)n_edges);
	bytes = order_bytes(b->o.dense) + b->o.dense / 2 + RESERVE;
	if (b->o.target->order && bytes > b->budget.limit)
		return fail(MILL_ENOMEM,
			    "ordering %llu vertices needs more memory: give --memory %lluM or more",
			    (unsigned long long)b->o.dense, (unsigned long long)div_up(bytes, MIB));
	return fits(b, n_edges) ? MILL_OK : check_room(b, n_edges, 2 * n_edges * key_bytes(b));
}

/*
 * Checks for 9/10 of the projected edges: the first lines of an input may be a little longer or
 * shorter than the others, and that is no reason to refuse it.
 */
mill_err builder_project(struct builder *b, u64 so_far, u64 done, u64 total)
{
	unsigned __int128 rest;
	u64 expected, bytes, written;

	if (done < b->projection.done) {
		b->projection.next = 0;
		b->projection.before = b->projection.so_far;
	}
	b->projection.done = done;
	b->projection.so_far = so_far;
	if (!total || !done || done > total || done < b->projection.next)
		return MILL_OK;
	b->projection.next = 2 * done;
	rest = (unsigned __int128)(so_far - b->projection.before) * (total - done) / done;
	expected = rest > UINT64_MAX / 1024 ? UINT64_MAX / 1024 : so_far + (u64)rest;
	if (fits(b, expected))
		return MILL_OK;
	written = (so_far - min_u64(so_far, b->n_held)) * key_bytes(b);
	bytes = expected / 10 * 18 * key_bytes(b);
	return check_room(b, expected, bytes - min_u64(bytes, written));
}

static void free_chunks(struct builder *b)
{
	for (u64 i = 0; i < b->n_chunks; i++)
		chunk_free(&b->chunk[i]);
	b->n_chunks = b->n_held = b->held_bytes = 0;
}

/* Moves the collected edges and vertices to disk. */
static mill_err spill(struct builder *b)
{
	struct external_setup s = {
		.budget = &b->budget,
		.pool = b->pool,
		.ticker = &b->ticker,
		.dir = builder_temp_dir(b),
		.names = b->names,
		.undirected = b->o.undirected,
		.loops = b->o.loops,
		.added_type = b->added_type,
		.dense = b->o.dense,
	};
	mill_err err;

	if (!b->external)
		TRY(external_new(&b->external, &s));
	TRY(external_add_vertices(b->external, b->vertex, b->n_vertices, b->max_id));
	memory_free(b->vertex);
	b->vertex = NULL;
	b->n_vertices = b->vertex_room = 0;
	err = external_add(b->external, b->chunk, b->n_chunks, b->max_id);
	free_chunks(b);
	return err;
}

/* ---- Collecting ---- */

static mill_err new_chunk(struct builder *b, bool wide, struct chunk **out)
{
	struct chunk *c, new = { .wide = wide };
	mill_err err;

	new.room = b->n_held < CHUNK_MIN ? CHUNK_MIN : min_u64(b->n_held, CHUNK_MAX);
	if (fault_hold())
		new.room = fault_hold();
	if (b->n_held && !holds(b, b->n_held + new.room)) {
		TRY(spill(b));
		new.room = fault_hold() ? fault_hold() : CHUNK_MIN;
	}
	if (b->n_chunks == b->chunk_room) {
		u64 room = b->chunk_room ? 2 * b->chunk_room : 64;

		TRY(memory_new(&c, &b->budget, room, sizeof(*c), "the edges"));
		if (b->n_chunks)
			memcpy(c, b->chunk, b->n_chunks * sizeof(*c));
		memory_free(b->chunk);
		b->chunk = c;
		b->chunk_room = room;
	}
	TRY(memory_new(&new.pair, &b->budget, new.room, new.wide ? 16 : 8, "the edges"));
	if (b->added_type) {
		err = memory_new(&new.weight, &b->budget, new.room, weight_size(b->added_type),
				 "the weights");
		if (err) {
			chunk_free(&new);
			return err;
		}
	}
	new.bytes = new.room * (new.wide ? 16 : 8);
	c = &b->chunk[b->n_chunks++];
	*c = new;
	b->held_bytes += new.room * ((new.wide ? 16 : 8) + weight_size(b->added_type));
	*out = c;
	return MILL_OK;
}

static void fill_chunk(struct chunk *c, const struct raw_edge *edge, size_t n,
		       size_t weight)
{
	if (c->wide) {
		u64 *pair = (u64 *)c->pair + 2 * c->n;

		for (size_t i = 0; i < n; i++) {
			pair[2 * i] = edge[i].from;
			pair[2 * i + 1] = edge[i].to;
		}
	} else {
		u32 *pair = (u32 *)c->pair + 2 * c->n;

		for (size_t i = 0; i < n; i++) {
			pair[2 * i] = (u32)edge[i].from;
			pair[2 * i + 1] = (u32)edge[i].to;
		}
	}
	if (weight == 4)
		for (size_t i = 0; i < n; i++)
			((u32 *)c->weight)[c->n + i] = (u32)edge[i].weight;
	else if (weight == 8)
		for (size_t i = 0; i < n; i++)
			((u64 *)c->weight)[c->n + i] = edge[i].weight;
	c->n += n;
}

static mill_err see_ids(struct builder *b, u64 low, u64 high)
{
	bool first = !b->n_edges && !b->any_vertex;

	if (b->o.dense && high >= b->o.dense)
		return fail(MILL_EBUG, "vertex %llu in a dense graph of %llu",
			    (unsigned long long)high, (unsigned long long)b->o.dense);
	b->min_id = first ? low : min_u64(b->min_id, low);
	b->max_id = first ? high : max_u64(b->max_id, high);
	b->wide |= high > UINT32_MAX;
	return MILL_OK;
}

mill_err builder_add(struct builder *b, const struct raw_edge *edge, size_t n)
{
	struct chunk *c = b->n_chunks ? &b->chunk[b->n_chunks - 1] : NULL;
	u64 low = UINT64_MAX, high = 0;

	if (!n)
		return MILL_OK;
	for (size_t i = 0; i < n; i++) {
		low = min_u64(low, min_u64(edge[i].from, edge[i].to));
		high = max_u64(high, max_u64(edge[i].from, edge[i].to));
	}
	TRY(see_ids(b, low, high));
	while (n) {
		size_t some;

		if (!c || c->n == c->room || (b->wide && !c->wide))
			TRY(new_chunk(b, b->wide, &c));
		some = min_u64(n, c->room - c->n);
		fill_chunk(c, edge, some, weight_size(b->added_type));
		b->n_edges += some;
		b->n_held += some;
		edge += some;
		n -= some;
	}
	return MILL_OK;
}

mill_err builder_reserve_pairs(struct builder *b, u32 **pair, u64 *room)
{
	struct chunk *c = b->n_chunks ? &b->chunk[b->n_chunks - 1] : NULL;

	if (!c || c->n == c->room || c->wide)
		TRY(new_chunk(b, false, &c));
	*pair = (u32 *)c->pair + 2 * c->n;
	*room = c->room - c->n;
	return MILL_OK;
}

mill_err builder_commit_pairs(struct builder *b, u64 n, u64 low, u64 high)
{
	if (!n)
		return MILL_OK;
	TRY(see_ids(b, low, high));
	b->chunk[b->n_chunks - 1].n += n;
	b->n_edges += n;
	b->n_held += n;
	return MILL_OK;
}

mill_err builder_add_vertices(struct builder *b, const u64 *id, size_t n)
{
	u64 low = UINT64_MAX, high = 0;

	if (!n)
		return MILL_OK;
	for (size_t i = 0; i < n; i++) {
		low = min_u64(low, id[i]);
		high = max_u64(high, id[i]);
	}
	TRY(see_ids(b, low, high));
	if (b->o.dense)
		return MILL_OK; /* all ids exist */
	b->any_vertex = true;
	if (b->n_vertices && !holds(b, b->n_held + n))
		TRY(spill(b));
	if (n > b->vertex_room - b->n_vertices) {
		u64 room = max_u64(2 * b->vertex_room, b->n_vertices + n), *vertex;

		TRY(memory_new(&vertex, &b->budget, room, sizeof(*vertex), "the vertices"));
		if (b->n_vertices)
			memcpy(vertex, b->vertex, b->n_vertices * sizeof(*vertex));
		memory_free(b->vertex);
		b->vertex = vertex;
		b->vertex_room = room;
	}
	memcpy(b->vertex + b->n_vertices, id, n * sizeof(*id));
	b->n_vertices += n;
	return MILL_OK;
}

/* ---- Ranks to sorted keys ---- */

/* Returns weight i of the chunk as bits of the type that the graph will have. */
static u64 final_weight(const struct builder *b, const struct chunk *c, u64 i)
{
	u64 bits = chunk_weight(c, i, b->added_type);

	return b->added_type == b->o.weight
		       ? bits
		       : weight_bits(b->o.weight, weight_value(b->added_type, bits));
}

/*
 * Makes the key of an edge. Both ends of an undirected edge are sources, and numbers of sources
 * ascend as ids do: so comparing the ids tells which end has the lower number.
 */
static inline u64 edge_key(const struct builder *b, u64 from, u64 to)
{
	bool reversed = b->o.undirected && from > to;
	u64 row = reversed ? to : from, column = reversed ? from : to;

	return (u64)reversed << 63 | builder_number_of(b, row) << b->e.bits |
	       builder_number_of(b, column);
}

/* Prefetches what edge_key will need for the edge KEY_AHEAD places after edge i. */
static inline void edge_ahead(const struct builder *b, const struct chunk *c, u64 i)
{
	u64 from, to;

	if (!b->source_rank || i + KEY_AHEAD >= c->n)
		return;
	chunk_pair(c, i + KEY_AHEAD, &from, &to);
	__builtin_prefetch(&b->source_rank[from / 32]);
	__builtin_prefetch(&b->source_rank[to / 32]);
}

static mill_err key_chunk(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct builder *b = arg;

	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &b->chunk[k];
		u64 at = c->at;

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			edge_ahead(b, c, i);
			if (from == to && b->o.loops == MILL_LOOPS_DROP)
				continue;
			b->e.key[at] = edge_key(b, from, to);
			if (b->e.weight)
				b->e.weight[at] = final_weight(b, c, i);
			at++;
		}
		chunk_free(c);
	}
	return worker ? MILL_OK : ticker_tick(&b->ticker, begin);
}

static mill_err sort_edges(struct builder *b)
{
	struct edges *e = &b->e;

	e->undirected = b->o.undirected;
	e->type = b->o.weight;
	e->budget = &b->budget;
	e->pool = b->pool;
	e->ticker = &b->ticker;
	TRY(edges_alloc(e));
	ticker_begin(&b->ticker, "order edges", "blocks", b->n_chunks);
	TRY(pool_for(b->pool, b->n_chunks, 1, key_chunk, b));
	ticker_begin(&b->ticker, "sort", "edges", e->n);
	TRY(ticker_tick(&b->ticker, 0));
	TRY(edges_sort(e));
	return ticker_tick(&b->ticker, e->n);
}

static mill_err pour_chunk(void *arg, struct sorter *s, u64 k)
{
	struct builder *b = arg;
	struct chunk *c = &b->chunk[k];
	struct deal *to_buckets = sorter_deal(s);

	for (u64 i = 0; i < c->n; i++) {
		u64 from, to;

		chunk_pair(c, i, &from, &to);
		edge_ahead(b, c, i);
		if (from != to || b->o.loops != MILL_LOOPS_DROP)
			TRY(sorter_put(s, to_buckets, edge_key(b, from, to)));
	}
	sorter_adopt(s, c->pair, c->bytes);
	c->pair = NULL;
	return MILL_OK;
}

static mill_err fill_buckets(struct builder *b)
{
	struct buckets_setup s = {
		.budget = &b->budget,
		.pool = b->pool,
		.ticker = &b->ticker,
		.n = b->e.n,
		.bits = b->e.bits,
		.undirected = b->o.undirected,
	};

	TRY(buckets_new(&b->buckets, &s));
	ticker_begin(&b->ticker, "order edges", "blocks", b->n_chunks);
	return buckets_fill(b->buckets, b->n_chunks, pour_chunk, b);
}

static mill_err fail_edge(const struct builder *b, mill_err code, u64 key)
{
	return namer_fail_edge(b->names, code, builder_id_of(b, key >> b->e.bits),
			       builder_id_of(b, key & edge_mask(&b->e)));
}

static mill_err reduce_edges(struct builder *b, u64 *loops)
{
	struct edges_found found;

	if (b->buckets)
		TRY(buckets_reduce(b->buckets, b->o.dedup, &found, &b->e.n));
	else
		TRY(edges_reduce(&b->e, b->o.dedup, &found));
	if (found.err)
		return fail_edge(b, found.err, found.key);
	b->built.duplicates = found.duplicates;
	b->built.merged = found.merged;
	b->built.symmetric = found.symmetric;
	*loops = found.loops;
	return MILL_OK;
}

/* ---- Another order of the vertices ---- */

static mill_err renumber_keys(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct renumber_ctx *r = arg;
	struct edges *e = r->e;
	u64 mask = edge_mask(e);

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		u64 from = r->to[e->key[i] >> e->bits], to = r->to[e->key[i] & mask];

		e->key[i] = e->undirected && from > to ? to << e->bits | from
						       : from << e->bits | to;
	}
	return MILL_OK;
}

static mill_err renumber(struct builder *b)
{
	struct renumber_ctx r = { .e = &b->e, .to = b->new_number };

	TRY(pool_for(b->pool, b->e.n, REKEY_GRAIN, renumber_keys, &r));
	b->built.by_degree = true;
	return edges_sort(&b->e);
}

/* Orders the vertices by degree, if that was asked for or if a sample of the lists gets shorter. */
static mill_err order_vertices(struct builder *b, u64 loops)
{
	u64 n = b->ids.n, stored = b->o.undirected ? 2 * b->e.n - loops : b->e.n;
	bool pays = b->o.target->order == MILL_ORDER_DEGREE;
	struct order_sample s = { .n = 0 };
	u32 *degree = NULL;
	vid *to = NULL;
	mill_err err;

	ticker_begin(&b->ticker, "order vertices", "edges", b->e.n);
	err = memory_new(&degree, &b->budget, n, sizeof(*degree), "the degrees");
	if (!err)
		err = memory_new(&to, &b->budget, n, sizeof(*to), "the vertices");
	if (!err) {
		order_count(degree, &b->e);
		err = order_by_degree(to, degree, n, b->n_sources, &b->budget, b->pool);
	}
	if (!err && !pays) {
		err = order_sample_init(&s, degree, n, b->n_sources, stored, &b->budget);
		if (!err) {
			order_sample_add(&s, &b->e);
			err = order_sample_pays(&s, to, &b->budget, b->pool, &pays);
		}
		order_sample_release(&s);
	}
	memory_free(degree);
	if (!err)
		err = ticker_tick(&b->ticker, b->e.n);
	if (!err && pays) {
		b->new_number = to;
		return renumber(b);
	}
	memory_free(to);
	return err;
}

/* ---- Sorted keys to the store ---- */

static mill_err write_undirected(struct builder *b, u64 loops)
{
	struct edges m = { .n = 0 };
	struct edge_stream low = { .e = &m, .by_column = true };
	struct edge_stream high = { .e = &b->e, .total = b->e.n };
	mill_err err;

	ticker_begin(&b->ticker, "mirror", "edges", b->e.n);
	err = edges_mirror(&m, &b->e, loops);
	if (!err)
		err = ticker_tick(&b->ticker, b->e.n);
	low.total = m.n;
	if (!err)
		err = lists_write(b->writer, false, &low, &high, b->n_sources);
	edges_release(&m);
	return err;
}

static mill_err write_directed(struct builder *b, bool in_pages)
{
	struct edge_stream out = { .e = &b->e, .total = b->e.n }, in = out;

	TRY(lists_write(b->writer, false, NULL, &out, b->n_sources));
	if (!in_pages)
		return MILL_OK;
	ticker_begin(&b->ticker, "sort in-edges", "edges", b->e.n);
	TRY(ticker_tick(&b->ticker, 0));
	TRY(edges_sort_by_column(&b->e));
	in.by_column = true;
	return lists_write(b->writer, true, &in, NULL, b->ids.n);
}

static mill_err write_ids(struct builder *b)
{
	u64 id[4096], n = b->ids.n;
	struct numbers numbers = builder_first_numbers(b);
	vid order[ARRAY_LEN(id)], *rank;
	mill_err err = MILL_OK;

	TRY(memory_new(&rank, &b->budget, n, sizeof(*rank), "the vertices"));
	for (u64 r = 0; r < n && !err; r += ARRAY_LEN(id)) {
		u64 some = min_u64(ARRAY_LEN(id), n - r);

		for (u64 i = 0; i < some; i++) {
			id[i] = ids_at(&b->ids, r + i);
			order[i] = (vid)builder_next_number(b, &numbers, r + i);
			if (b->new_number)
				order[i] = b->new_number[order[i]];
			rank[order[i]] = (vid)(r + i);
		}
		err = writer_append(b->writer, STORE_IDS, id, some * sizeof(*id));
		if (!err)
			err = writer_append(b->writer, STORE_ORDER, order,
					    some * sizeof(*order));
	}
	if (!err)
		err = writer_append(b->writer, STORE_RANK, rank, n * sizeof(*rank));
	memory_free(rank);
	return err;
}

/* Hashes everything that changes a byte of the pages. */
static u64 fingerprint(const struct builder *b, const struct store_facts *f)
{
	const u64 option[] = { b->o.undirected, b->o.dedup,   b->o.loops, b->o.weight,
			       f->in_pages,     f->page_size, b->o.dense };
	u64 h = b->o.fingerprint;

	for (size_t i = 0; i < ARRAY_LEN(option); i++)
		h = random_at(h, option[i]);
	return b->built.by_degree ? random_at(h, 1) : h;
}

static mill_err write_out_lists(void *arg)
{
	struct builder *b = arg;
	struct bucket_stream from[2];
	struct edge_stream first, other;

	buckets_stream(b->buckets, false, &from[0], &first);
	if (b->o.undirected)
		buckets_stream(b->buckets, true, &from[1], &other);
	return lists_write(b->writer, false, b->o.undirected ? &other : NULL, &first, b->n_sources);
}

static mill_err write_buckets(struct builder *b, bool in_pages)
{
	struct bucket_stream from;
	struct edge_stream in;

	TRY(buckets_write(b->buckets, write_out_lists, b));
	if (!in_pages)
		return MILL_OK;
	TRY(buckets_turn(b->buckets));
	buckets_stream(b->buckets, false, &from, &in);
	return lists_write(b->writer, true, NULL, &in, b->ids.n);
}

/* Writes the lists, ids and orders of a graph in memory. */
static mill_err write_held(struct builder *b, bool in_pages, u64 loops)
{
	if (b->buckets)
		TRY(write_buckets(b, in_pages));
	else
		TRY(b->o.undirected ? write_undirected(b, loops) : write_directed(b, in_pages));
	edges_release(&b->e);
	buckets_free(b->buckets);
	b->buckets = NULL;
	return write_ids(b);
}

static mill_err write_store(struct builder *b, u64 vertices, u64 sources, u64 n_linked, u64 edges,
			    u64 loops)
{
	const struct mill_target *t = b->o.target;
	struct store_facts f;
	u64 stored = b->o.undirected ? 2 * edges - loops : edges;
	struct store_writer *w = b->writer;

	if (stored > MAX_EDGES)
		return fail(MILL_ELIMIT,
			    "the store would have %llu edges, and it holds at most %llu",
			    (unsigned long long)stored, (unsigned long long)MAX_EDGES);
	target_facts(&f, t);
	f.vertices = vertices;
	f.sources = sources;
	f.n_linked = n_linked;
	f.edges = edges;
	f.directed = !b->o.undirected;
	f.in_pages = !b->o.undirected && !t->out_only;
	f.names = b->names;
	f.weight = b->o.weight;
	f.origin = b->o.origin;
	f.fingerprint = fingerprint(b, &f);
	TRY(writer_begin(w, &f));
	if (b->external)
		TRY(external_write(b->external, w, f.in_pages));
	else
		TRY(write_held(b, f.in_pages, loops));
	if (b->names)
		TRY(namer_write(b->names, w));
	/* Before the store appears, so that no temporary file exists longer than it. */
	external_free(b->external);
	namer_free(b->names);
	b->external = NULL;
	b->names = NULL;
	ticker_begin(&b->ticker, "make durable", "edges", stored);
	TRY(ticker_tick(&b->ticker, stored));
	b->writer = NULL; /* commit frees it */
	TRY(writer_commit(w));

	b->built.vertices = f.vertices;
	b->built.edges = f.edges;
	b->built.stored_edges = stored;
	b->built.weight = f.weight;
	return MILL_OK;
}

static mill_err finish_held(struct builder *b)
{
	u64 loops = 0;

	TRY(builder_collect_ids(b));
	TRY(builder_number_vertices(b));
	TRY(uses_buckets(b) ? fill_buckets(b) : sort_edges(b));
	TRY(reduce_edges(b, &loops));
	if (b->o.target->order)
		TRY(order_vertices(b, loops));
	if (b->ids.n) {
		b->built.min_id = ids_at(&b->ids, 0);
		b->built.max_id = ids_at(&b->ids, b->ids.n - 1);
	}
	return write_store(b, b->ids.n, b->n_sources, b->n_linked, b->e.n, loops);
}

static mill_err finish_external(struct builder *b)
{
	struct external_facts f;

	TRY(spill(b));
	TRY(external_settle(b->external, b->o.dedup, b->o.weight, b->o.target->order, &f));
	b->built.by_degree = f.by_degree;
	b->built.self_loops = f.loops_read;
	b->built.duplicates = f.found.duplicates;
	b->built.merged = f.found.merged;
	b->built.symmetric = f.found.symmetric;
	b->built.min_id = f.min_id;
	b->built.max_id = f.max_id;
	return write_store(b, f.vertices, f.sources, f.n_linked, f.edges, f.found.loops);
}

mill_err builder_finish(struct builder *b, struct mill_built *out)
{
	mill_err err;

	b->built.edges_read = b->n_edges;
	err = b->external || !fits(b, b->n_held) ? finish_external(b) : finish_held(b);
	if (!err) {
		b->built.seconds = clock_now() - b->started;
		*out = b->built;
	}
	builder_abandon(b);
	return err;
}
