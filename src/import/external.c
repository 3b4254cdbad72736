/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sort on disk. Each batch of edges becomes a run that is sorted by id. After the last batch,
 * vertices are numbered. Then passes over the runs, piece by piece, merge parallel edges, count,
 * and make further runs where needed: sorted by vid, or with rows and columns swapped. The last
 * pass writes the lists.
 */
#include "import/external.h"

#include <string.h>

#include "base/bitmap.h"
#include "base/fault.h"
#include "import/ids.h"
#include "import/lists.h"
#include "import/namer.h"
#include "import/numbering.h"
#include "import/order.h"
#include "import/runs.h"
#include "import/sparse.h"

#define GRAIN ((u64)1 << 16)	/* keys that a worker takes at a time */
#define BUFFER_IDS ((u64)1 << 15)
#define ROOM_MIN ((u64)1 << 12)	/* keys: a smaller piece is not worth a pass */
#define MARGIN (4 * MIB)	/* bytes of the budget that pieces leave for small buffers */

/* Collects keys in any order, and sorts them into a run whenever its buffer is full. */
struct emitter {
	struct runs runs;
	struct edges e;		/* the e.n keys in the buffer */
	u64 room;
};

struct external {
	struct external_setup s;
	enum mill_weight weight;	/* type that the weights become */
	enum mill_weight row_weight;	/* type that they have in `row` */
	enum mill_dedup rule;
	bool settled;		/* ids in `row` are final: ids, or ranks if there is `sparse` */
	struct runs row;	/* keys by id; by vid if `numbered` */
	bool numbered;
	unsigned bits;		/* bits of an id (or vid) in these keys */
	unsigned vid_bits;	/* bits of a vid */
	struct numbering num;
	struct runs col;	/* the other direction, by vid: column << vid_bits | row */
	/* Not NULL once an id was too large for bitmaps: then `num` numbers ranks, not ids. */
	struct sparse *sparse;
	/*
	 * The edges that came before `sparse` was made are in `row`, as keys by id. All their ids
	 * are below low_limit. `low` is a bitmap of all ids below low_limit, which gives their
	 * ranks.
	 */
	u64 *low;
	u64 low_limit;
	u32 *low_before;	/* number of bits set before each word of `low` */
	struct external_facts facts;
};

static struct edges new_edges(const struct external *x, unsigned bits, enum mill_weight type)
{
	return (struct edges){
		.bits = bits,
		.undirected = x->s.undirected,
		.type = type,
		.budget = x->s.budget,
		.pool = x->s.pool,
		.ticker = x->s.ticker,
	};
}

/* Returns the bits of an id in a key. Undirected keys need one bit for EDGE_REVERSED. */
static unsigned id_bits(bool undirected) { return undirected ? 31 : 32; }

static mill_err original_id(const struct external *x, u64 id, u64 *out)
{
	*out = id;
	return x->sparse && x->settled ? sparse_id(x->sparse, id, out) : MILL_OK;
}

static mill_err refuse_loop(u64 id)
{
	return fail(MILL_EINPUT, "vertex %llu has an edge to itself", (unsigned long long)id);
}

mill_err external_new(struct external **out, const struct external_setup *setup)
{
	struct external *x;
	mill_err err;

	TRY(memory_new(&x, setup->budget, 1, sizeof(*x), "the edges on disk"));
	x->s = *setup;
	x->row.file = x->col.file = FILE_CLOSED;
	x->bits = id_bits(setup->undirected);
	err = numbering_init(&x->num, setup->budget, setup->dense, setup->undirected);
	if (!err)
		err = runs_open(&x->row, setup->dir, setup->budget, setup->added_type, 2 * x->bits);
	if (err) {
		external_free(x);
		return err;
	}
	*out = x;
	return MILL_OK;
}

void external_free(struct external *x)
{
	if (!x)
		return;
	runs_release(&x->row);
	runs_release(&x->col);
	sparse_free(x->sparse);
	memory_free(x->low);
	memory_free(x->low_before);
	numbering_release(&x->num);
	memory_free(x);
}

/* ---- Emitting ---- */

/*
 * Computes how many keys each of three equal buffers may hold: a piece, the keys of the next
 * run, and the second array of a sort.
 */
static mill_err piece_room(const struct external *x, u64 *out)
{
	u64 left = budget_left(x->s.budget), key_size = x->s.added_type ? 16 : 8;
	/* The rest of the margin grows with the edges: samples of new runs, checksums. */
	u64 n = x->row.n + (x->sparse ? sparse_edges(x->sparse) : 0);
	u64 margin = MARGIN + x->s.budget->limit / RUNS_SHARE * 2 + n / 256;
	u64 room = left > margin ? (left - margin) / (3 * key_size) : 0;

	if (room < ROOM_MIN)
		return fail(MILL_ENOMEM,
			    "the budget leaves no memory to sort edges: "
			    "give --memory %lluM or more",
			    (unsigned long long)div_up(x->s.budget->used + 2 * margin, MIB));
	if (fault_hold()) {
		*out = fault_hold();
		return MILL_OK;
	}
	*out = max_u64(ROOM_MIN, min_u64(room, n));
	return MILL_OK;
}

static mill_err emitter_open(struct emitter *m, const struct external *x, unsigned bits, u64 room)
{
	m->e = new_edges(x, bits, x->s.added_type);
	m->room = m->e.n = room;
	TRY(runs_open(&m->runs, x->s.dir, x->s.budget, x->s.added_type, 2 * bits));
	TRY(edges_alloc(&m->e));
	m->e.n = 0;
	return MILL_OK;
}

static mill_err emitter_flush(struct emitter *m)
{
	TRY(edges_sort(&m->e));
	TRY(runs_add(&m->runs, m->e.key, m->e.weight, m->e.n));
	m->e.n = 0;
	return MILL_OK;
}

static inline mill_err emit(struct emitter *m, u64 key, u64 weight)
{
	if (m->e.n == m->room)
		TRY(emitter_flush(m));
	if (m->e.weight)
		m->e.weight[m->e.n] = weight;
	m->e.key[m->e.n++] = key;
	return MILL_OK;
}

/* Writes the last run and moves the runs to `out`. */
static mill_err emitter_finish(struct emitter *m, struct runs *out)
{
	mill_err err = emitter_flush(m);

	edges_release(&m->e);
	if (err) {
		runs_release(&m->runs);
		return err;
	}
	runs_release(out);
	*out = m->runs;
	return MILL_OK;
}

static void emitter_abandon(struct emitter *m)
{
	edges_release(&m->e);
	runs_release(&m->runs);
}

/* Emits the edges with rows and columns swapped; without loops if the graph is undirected. */
static mill_err emit_swapped(struct emitter *m, const struct edges *e)
{
	u64 mask = edge_mask(e);

	for (u64 i = 0; i < e->n; i++) {
		u64 row = e->key[i] >> e->bits, column = e->key[i] & mask;

		if (row != column || !e->undirected)
			TRY(emit(m, column << e->bits | row, e->weight ? e->weight[i] : 0));
	}
	return MILL_OK;
}

/* ---- Adding edges ---- */

struct batch {
	struct external *x;
	struct chunk *chunk;
	struct edges e;
};

static mill_err mark_chunk(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct batch *b = arg;
	struct external *x = b->x;

	(void)worker;
	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &b->chunk[k];

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			numbering_exists(&x->num, from);
			if (from == to) {
				if (!c->loops++)
					c->first_loop = from;
				if (x->s.loops != MILL_LOOPS_KEEP)
					continue;
			} else {
				numbering_exists(&x->num, to);
			}
			numbering_edge(&x->num, from, to);
		}
	}
	return MILL_OK;
}

static u64 make_key(const struct external *x, unsigned bits, u64 from, u64 to)
{
	if (x->s.undirected && from > to)
		return EDGE_REVERSED | to << bits | from;
	return from << bits | to;
}

static mill_err key_chunk(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct batch *b = arg;
	const struct external *x = b->x;

	(void)worker;
	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &b->chunk[k];
		u64 at = c->at;

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			if (from == to && x->s.loops == MILL_LOOPS_DROP)
				continue;
			b->e.key[at] = make_key(x, x->bits, from, to);
			if (b->e.weight)
				b->e.weight[at] = chunk_weight(c, i, x->s.added_type);
			at++;
		}
		chunk_free(c);
	}
	return MILL_OK;
}

static mill_err count_loops(struct batch *b, u64 n_chunks)
{
	const struct external *x = b->x;

	b->e.n = 0;
	for (u64 k = 0; k < n_chunks; k++) {
		struct chunk *c = &b->chunk[k];

		if (c->loops && x->s.loops == MILL_LOOPS_ERROR)
			return refuse_loop(c->first_loop);
		b->x->facts.loops_read += c->loops;
		c->at = b->e.n;
		b->e.n += c->n - (x->s.loops == MILL_LOOPS_DROP ? c->loops : 0);
	}
	return MILL_OK;
}

static mill_err add_run(struct external *x, struct chunk *chunk, u64 n_chunks)
{
	struct batch b = { .x = x, .chunk = chunk, .e = new_edges(x, x->bits, x->s.added_type) };
	mill_err err;

	TRY(pool_for(x->s.pool, n_chunks, 1, mark_chunk, &b));
	TRY(count_loops(&b, n_chunks));
	err = edges_alloc(&b.e);
	if (!err)
		err = pool_for(x->s.pool, n_chunks, 1, key_chunk, &b);
	if (!err)
		err = ticker_tick(x->s.ticker, x->s.ticker->progress.done);
	if (!err)
		err = edges_sort(&b.e);
	if (!err)
		err = runs_add(&x->row, b.e.key, b.e.weight, b.e.n);
	edges_release(&b.e);
	return err;
}

/*
 * Makes `sparse`, because an id is too large for bitmaps. Later edges go there. The ids that came
 * before are added to it too.
 */
static mill_err switch_to_sparse(struct external *x)
{
	struct sparse_setup setup = {
		.budget = x->s.budget,
		.pool = x->s.pool,
		.ticker = x->s.ticker,
		.dir = x->s.dir,
		.added_type = x->s.added_type,
	};
	u64 *id, n = 0;
	mill_err err = MILL_OK;

	TRY(sparse_new(&x->sparse, &setup));
	TRY(memory_new(&id, x->s.budget, BUFFER_IDS, sizeof(*id), "the ids"));
	for (u64 w = 0; !err && w < bitmap_words(x->num.limit); w++)
		for (u64 word = x->num.exists[w]; !err && word; word &= word - 1) {
			id[n++] = w * 64 + (u64)__builtin_ctzll(word);
			if (n == BUFFER_IDS) {
				err = sparse_add_ids(x->sparse, id, n);
				n = 0;
			}
		}
	if (!err)
		err = sparse_add_ids(x->sparse, id, n);
	memory_free(id);
	if (x->row.n) {
		x->low = x->num.exists;
		x->low_limit = x->num.limit;
		x->num.exists = NULL;
	}
	numbering_release(&x->num);
	return err;
}

/* The bitmaps and their counts take at most 1/4 of the budget. */
bool external_needs_sparse(u64 budget, bool undirected, u64 max_id)
{
	return max_id >> id_bits(undirected) || max_id / 16 * (undirected ? 6 : 9) > budget / 4;
}

/* Makes room in the bitmaps for ids up to max_id, or switches to `sparse`. */
static mill_err admit_id(struct external *x, u64 max_id)
{
	if (x->sparse || max_id < x->num.limit)
		return MILL_OK;
	if (external_needs_sparse(x->s.budget->limit, x->s.undirected, max_id))
		return switch_to_sparse(x);
	return numbering_grow(&x->num, min_u64(max_u64(max_id + 1, 2 * x->num.limit),
					       (u64)1 << x->bits));
}

mill_err external_add(struct external *x, struct chunk *chunk, u64 n_chunks, u64 max_id)
{
	TRY(admit_id(x, max_id));
	return x->sparse ? sparse_add(x->sparse, chunk, n_chunks) : add_run(x, chunk, n_chunks);
}

mill_err external_add_vertices(struct external *x, const u64 *id, u64 n, u64 max_id)
{
	if (!n || x->s.dense)
		return MILL_OK;
	TRY(admit_id(x, max_id));
	if (x->sparse)
		return sparse_add_ids(x->sparse, id, n);
	for (u64 i = 0; i < n; i++)
		numbering_exists(&x->num, id[i]);
	return MILL_OK;
}

/* ---- Ranks of scattered ids ---- */

/*
 * Marks an id below low_limit in `low`, even if it came after the switch to `sparse`. Ids below
 * low_limit have the lowest ranks, so low_rank can count them in `low`.
 */
static void see_id(void *arg, u64 id)
{
	struct external *x = arg;

	if (id < x->low_limit)
		bitmap_put(x->low, id);
}

static mill_err count_low(struct external *x)
{
	u64 words = bitmap_words(x->low_limit);
	u32 n = 0;

	TRY(memory_new(&x->low_before, x->s.budget, words, sizeof(*x->low_before), "the ids"));
	for (u64 w = 0; w < words; w++) {
		x->low_before[w] = n;
		n += (u32)__builtin_popcountll(x->low[w]);
	}
	return MILL_OK;
}

static u64 low_rank(const struct external *x, u64 id)
{
	u64 below = ((u64)1 << (id % 64)) - 1;

	return x->low_before[id / 64] + (u64)__builtin_popcountll(x->low[id / 64] & below);
}

struct rank_ctx {
	struct external *x;
	struct emitter m;
};

static mill_err emit_ranks(void *arg, u64 from, u64 to, u64 weight)
{
	struct rank_ctx *r = arg;
	struct external *x = r->x;
	u64 id;

	if (from == to) {
		x->facts.loops_read++;
		if (x->s.loops == MILL_LOOPS_ERROR) {
			TRY(sparse_id(x->sparse, from, &id));
			return refuse_loop(id);
		}
		if (x->s.loops == MILL_LOOPS_DROP)
			return MILL_OK;
	}
	numbering_edge(&x->num, from, to);
	return emit(&r->m, make_key(x, r->m.e.bits, from, to), weight);
}

/*
 * Emits the edges that came before the switch to `sparse`. Their loops were counted when they
 * came.
 */
static mill_err rank_runs(struct rank_ctx *r, struct edges *e, u64 room)
{
	struct external *x = r->x;
	u64 mask = edge_mask(e), loops = x->facts.loops_read;

	for (;;) {
		TRY(runs_next_unsorted(&x->row, e, room));
		if (!e->n)
			break;
		for (u64 i = 0; i < e->n; i++) {
			bool reversed = x->s.undirected && e->key[i] & EDGE_REVERSED;
			u64 low = low_rank(x, e->key[i] >> e->bits & mask);
			u64 high = low_rank(x, e->key[i] & mask);

			TRY(emit_ranks(r, reversed ? high : low, reversed ? low : high,
				       e->weight ? e->weight[i] : 0));
		}
	}
	x->facts.loops_read = loops;
	return MILL_OK;
}

static mill_err rank_edges(struct rank_ctx *r)
{
	struct external *x = r->x;
	struct edges e = new_edges(x, id_bits(x->s.undirected), x->s.added_type);
	u64 room = 0, reserve = sparse_replay_bytes(x->sparse);
	void *held;
	mill_err err;

	/* Reserves what sparse_replay will need, so that piece_room does not give it away. */
	TRY(memory_new(&held, x->s.budget, reserve, 1, "the ids"));
	err = piece_room(x, &room);
	if (!err)
		err = emitter_open(&r->m, x, x->bits, room);
	e.n = room;
	if (!err && x->row.n) {
		err = edges_alloc(&e);
		if (!err)
			err = rank_runs(r, &e, room);
		edges_release(&e);
	}
	memory_free(held);
	return err ? err : sparse_replay(x->sparse, emit_ranks, r);
}

static mill_err ids_to_ranks(struct external *x)
{
	struct rank_ctx r = { .x = x, .m.runs.file = FILE_CLOSED };
	u64 n;
	mill_err err;

	TRY(sparse_settle(x->sparse, see_id, x, &n));
	if (x->low)
		TRY(count_low(x));
	TRY(numbering_init(&x->num, x->s.budget, n, x->s.undirected));
	x->bits = bits_for(n);
	if (x->s.undirected && 2 * x->bits > 63)
		return fail(MILL_ELIMIT,
			    "an undirected graph of %llu vertices: at most 2^31 can be built",
			    (unsigned long long)n);
	ticker_begin(x->s.ticker, "number edges", "edges", sparse_edges(x->sparse));
	err = rank_edges(&r);
	memory_free(x->low);
	memory_free(x->low_before);
	x->low = NULL;
	x->low_before = NULL;
	if (err) {
		emitter_abandon(&r.m);
		return err;
	}
	return emitter_finish(&r.m, &x->row);
}

/* ---- Pieces of the sorted edges ---- */

/* Reads the edges in `row`. */
struct rows {
	struct external *x;
	struct edges e;		/* the present piece */
	u64 room;
	bool count;		/* add up what is found */
	struct emitter *tap;	/* not NULL: gets each edge with row and column swapped */
	struct edges_group group;
};

static mill_err rows_open(struct rows *r, struct external *x, u64 room)
{
	*r = (struct rows){ .x = x, .room = room };
	r->e = new_edges(x, x->bits, x->weight);
	r->e.n = room;
	runs_rewind(&x->row);
	return edges_alloc(&r->e);
}

struct piece_work {
	const struct external *x;
	struct edges *e;
	unsigned from_bits;
};

static mill_err convert_weights(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct piece_work *w = arg;

	(void)worker;
	for (u64 i = begin; i < end; i++)
		w->e->weight[i] = weight_bits(w->x->weight,
					      weight_value(w->x->row_weight, w->e->weight[i]));
	return MILL_OK;
}

static mill_err number_keys(void *arg, u64 begin, u64 end, unsigned worker)
{
	const struct piece_work *w = arg;
	const struct external *x = w->x;
	u64 mask = ((u64)1 << w->from_bits) - 1, row = UINT64_MAX, row_vid = 0;

	(void)worker;
	for (u64 i = begin; i < end; i++) {
		u64 key = w->e->key[i];

		if (key >> w->from_bits != row) {
			row = key >> w->from_bits;
			row_vid = numbering_vid(&x->num, row);
		}
		w->e->key[i] = row_vid << x->vid_bits | numbering_vid(&x->num, key & mask);
	}
	return MILL_OK;
}

static mill_err fail_edge(const struct external *x, mill_err code, u64 key)
{
	u64 from, to;

	TRY(original_id(x, key >> x->bits, &from));
	TRY(original_id(x, key & (((u64)1 << x->bits) - 1), &to));
	return namer_fail_edge(x->s.names, code, from, to);
}

static mill_err reduce(struct rows *r)
{
	struct external *x = r->x;
	struct edges_found found;

	if (x->row.partial) {
		edges_reduce_partial(&r->e, x->rule, &r->group, x->row.partial_last, &found);
		if (x->row.partial_last)
			r->group = (struct edges_group){ .made = 0 };
	} else {
		TRY(edges_reduce(&r->e, x->rule, &found));
	}
	if (found.err)
		return fail_edge(x, found.err, found.key);
	if (r->count) {
		edges_found_add(&x->facts.found, &found);
		x->facts.edges += r->e.n;
	}
	return MILL_OK;
}

/* Reads the next piece of `row`, by vid and with parallel edges merged. */
static mill_err rows_next(struct rows *r)
{
	struct external *x = r->x;
	struct piece_work w = { .x = x, .e = &r->e, .from_bits = x->bits };

	do {	/* merging may leave no edge of a piece of a large group */
		r->e.bits = x->bits;
		TRY(runs_next(&x->row, &r->e, r->room));
		if (!r->e.n)
			return MILL_OK;
		if (!x->numbered && r->e.weight && x->row_weight != x->weight)
			TRY(pool_for(x->s.pool, r->e.n, GRAIN, convert_weights, &w));
		if (!x->numbered)
			TRY(reduce(r));
	} while (!r->e.n);
	if (!x->numbered) {
		TRY(pool_for(x->s.pool, r->e.n, GRAIN, number_keys, &w));
		r->e.bits = x->vid_bits;
	}
	return r->tap ? emit_swapped(r->tap, &r->e) : MILL_OK;
}

static mill_err rows_more(struct edge_stream *s) { return rows_next(s->arg); }

/* ---- Settling ---- */

/* Returns whether vids ascend as ids do among the vertices with edges: then `row` stays sorted. */
static bool is_monotone(const struct external *x)
{
	return !x->num.place && (x->s.undirected || x->num.sources == x->num.n_linked);
}

/* What a pass over the rows does. */
enum pass {
	PASS_COUNT,	/* only counts what is found */
	PASS_DEGREES,	/* counts degrees */
	PASS_SAMPLE,	/* collects a sample of the lists */
	PASS_NUMBER,	/* makes runs of the rows in the order of the vids */
	PASS_SWAP	/* makes runs of the other direction */
};

struct pass_ctx {
	struct external *x;
	enum pass pass;
	u32 *degree;
	struct order_sample *sample;
	struct emitter *m;
	u64 edges, loops;	/* counted by PASS_DEGREES */
};

static mill_err emit_rows(struct emitter *m, const struct edges *e)
{
	u64 mask = edge_mask(e);

	for (u64 i = 0; i < e->n; i++) {
		u64 key = e->key[i], row = key >> e->bits, column = key & mask;

		if (e->undirected && row > column)
			key = column << e->bits | row;
		TRY(emit(m, key, e->weight ? e->weight[i] : 0));
	}
	return MILL_OK;
}

static mill_err pass_piece(struct pass_ctx *p, const struct edges *e)
{
	u64 mask = edge_mask(e);

	switch (p->pass) {
	case PASS_COUNT:
		break;
	case PASS_DEGREES:
		order_count(p->degree, e);
		p->edges += e->n;
		for (u64 i = 0; i < e->n; i++)
			p->loops += e->key[i] >> e->bits == (e->key[i] & mask);
		break;
	case PASS_SAMPLE:
		order_sample_add(p->sample, e);
		break;
	case PASS_NUMBER:
		return emit_rows(p->m, e);
	case PASS_SWAP:
		return emit_swapped(p->m, e);
	}
	return MILL_OK;
}

/*
 * Makes a pass over the rows. what: its name in the progress report. count: adds up what is
 * found; only one pass does. out: not NULL if the pass makes runs.
 */
static mill_err pass_rows(struct pass_ctx *p, const char *what, bool count, struct runs *out)
{
	struct external *x = p->x;
	struct emitter m = { .runs.file = FILE_CLOSED };
	struct rows r = { .e.n = 0 };
	u64 room = 0;
	mill_err err;

	p->m = &m;
	ticker_begin(x->s.ticker, what, "edges", x->row.n);
	err = piece_room(x, &room);
	if (!err)
		err = rows_open(&r, x, room);
	r.count = count;
	if (!err && out)
		err = emitter_open(&m, x, x->vid_bits, room);
	while (!err) {
		err = rows_next(&r);
		if (err || !r.e.n)
			break;
		err = pass_piece(p, &r.e);
		if (!err)
			err = ticker_tick(x->s.ticker, x->row.done);
	}
	edges_release(&r.e);
	if (!err && out)
		return emitter_finish(&m, out);
	emitter_abandon(&m);
	return err;
}

/*
 * Counts what is found, and makes the runs that cannot be made while lists are written: the rows
 * in the order of the vids, if that is not the order of the ids; and the other direction of an
 * undirected graph, because its lists need both directions at the same time.
 */
static mill_err merge(struct external *x)
{
	struct pass_ctx p = { .x = x, .pass = PASS_NUMBER };

	if (!is_monotone(x)) {
		TRY(pass_rows(&p, "merge", true, &x->row));
		x->numbered = true;
		x->bits = x->vid_bits;
		x->row_weight = x->weight;
		p.pass = PASS_SWAP;
		return x->s.undirected ? pass_rows(&p, "mirror", false, &x->col) : MILL_OK;
	}
	p.pass = x->s.undirected ? PASS_SWAP : PASS_COUNT;
	return pass_rows(&p, "merge", true, x->s.undirected ? &x->col : NULL);
}

/* Makes the numbering return to[v] in place of v. */
static mill_err use_numbers(struct external *x, const vid *to)
{
	vid *place;
	u64 rank = 0;

	TRY(memory_new(&place, x->s.budget, x->num.n, sizeof(*place), "the vertices"));
	for (u64 id = 0; id < x->num.limit; id++)
		if (!x->num.exists || bitmap_get(x->num.exists, id))
			place[rank++] = to[numbering_vid(&x->num, id)];
	x->num.place = place;
	x->facts.by_degree = true;
	return MILL_OK;
}

static mill_err ask_sample(struct external *x, struct pass_ctx *p, const vid *to, bool *pays)
{
	struct order_sample s;
	u64 stored = x->s.undirected ? 2 * p->edges - p->loops : p->edges;
	mill_err err;

	err = order_sample_init(&s, p->degree, x->num.n, x->num.sources, stored, x->s.budget);
	p->pass = PASS_SAMPLE;
	p->sample = &s;
	if (!err)
		err = pass_rows(p, "sample", false, NULL);
	if (!err)
		err = order_sample_pays(&s, to, x->s.budget, x->s.pool, pays);
	order_sample_release(&s);
	return err;
}

static mill_err order_vertices(struct external *x, enum mill_order order)
{
	struct pass_ctx p = { .x = x, .pass = PASS_DEGREES };
	bool pays = order == MILL_ORDER_DEGREE;
	u64 n = x->num.n;
	vid *to = NULL;
	mill_err err;

	if (order_bytes(n) + MARGIN > budget_left(x->s.budget))
		return fail(MILL_ENOMEM,
			    "ordering %llu vertices needs more memory: give --memory %lluM or more",
			    (unsigned long long)n,
			    (unsigned long long)div_up(x->s.budget->used + order_bytes(n) +
							       2 * MARGIN, MIB));
	err = memory_new(&p.degree, x->s.budget, n, sizeof(*p.degree), "the degrees");
	if (!err)
		err = pass_rows(&p, "count degrees", false, NULL);
	if (!err)
		err = memory_new(&to, x->s.budget, n, sizeof(*to), "the vertices");
	if (!err)
		err = order_by_degree(to, p.degree, n, x->num.sources, x->s.budget, x->s.pool);
	if (!err && !pays)
		err = ask_sample(x, &p, to, &pays);
	if (!err && pays)
		err = use_numbers(x, to);
	memory_free(to);
	memory_free(p.degree);
	return err;
}

mill_err external_settle(struct external *x, enum mill_dedup rule, enum mill_weight weight,
			 enum mill_order order, struct external_facts *out)
{
	struct external_facts *f = &x->facts;

	x->row_weight = x->s.added_type;
	x->weight = weight;
	x->rule = rule;
	if (x->sparse)
		TRY(ids_to_ranks(x));
	x->settled = true;
	TRY(numbering_close(&x->num));
	f->vertices = x->num.n;
	f->sources = x->num.sources;
	f->n_linked = x->num.n_linked;
	if (f->vertices) {
		TRY(original_id(x, numbering_id(&x->num, 0), &f->min_id));
		TRY(original_id(x, numbering_id(&x->num, f->vertices - 1), &f->max_id));
	}
	x->vid_bits = bits_for(f->n_linked);
	if (order)
		TRY(order_vertices(x, order));
	TRY(merge(x));
	f->found.symmetric = x->s.undirected ? !f->found.one_way
					     : f->found.forward == f->found.backward;
	*out = *f;
	return MILL_OK;
}

/* ---- Writing ---- */

/* A stream of the edges in `col`. */
struct columns {
	struct external *x;
	struct edges e;
	u64 room;
};

static mill_err columns_more(struct edge_stream *s)
{
	struct columns *c = s->arg;

	return runs_next(&c->x->col, &c->e, c->room);
}

static mill_err columns_open(struct columns *c, struct external *x, u64 room, struct edge_stream *s)
{
	*c = (struct columns){ .x = x, .room = room, .e = new_edges(x, x->vid_bits, x->weight) };
	*s = (struct edge_stream){ .e = &c->e, .total = x->col.n, .more = columns_more, .arg = c };
	runs_rewind(&x->col);
	c->e.n = room;
	TRY(edges_alloc(&c->e));
	c->e.n = 0;
	return MILL_OK;
}

static mill_err write_out(struct external *x, struct store_writer *w, struct emitter *tap, u64 room)
{
	struct edge_stream low, high;
	struct columns c = { .e.n = 0 };
	struct rows r = { .e.n = 0 };
	mill_err err;

	err = rows_open(&r, x, room);
	r.e.n = 0;
	r.e.bits = x->vid_bits;
	r.tap = tap;
	high = (struct edge_stream){
		.e = &r.e, .total = x->facts.edges, .more = rows_more, .arg = &r
	};
	if (!err && x->s.undirected)
		err = columns_open(&c, x, room, &low);
	if (!err)
		err = lists_write(w, false, x->s.undirected ? &low : NULL, &high, x->num.sources);
	edges_release(&r.e);
	edges_release(&c.e);
	return err;
}

static mill_err write_in(struct external *x, struct store_writer *w, u64 room)
{
	struct edge_stream s;
	struct columns c;
	mill_err err;

	err = columns_open(&c, x, room, &s);
	if (!err)
		err = lists_write(w, true, NULL, &s, x->num.n);
	edges_release(&c.e);
	return err;
}

mill_err external_write(struct external *x, struct store_writer *w, bool in_pages)
{
	struct emitter m = { .runs.file = FILE_CLOSED };
	u64 room = 0;
	mill_err err = MILL_OK;

	TRY(piece_room(x, &room));
	if (in_pages)
		err = emitter_open(&m, x, x->vid_bits, room);
	if (!err)
		err = write_out(x, w, in_pages ? &m : NULL, room);
	runs_release(&x->row);
	if (!err && in_pages)
		err = emitter_finish(&m, &x->col);
	if (err) {
		emitter_abandon(&m);
		return err;
	}
	if (in_pages)
		TRY(write_in(x, w, room));
	runs_release(&x->col);
	return numbering_write(&x->num, w, x->sparse);
}
