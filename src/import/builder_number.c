/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the vertices of a graph in memory: ids become ranks, and ranks become vids. */
#include <string.h>

#include "import/builder_internal.h"

/* ---- Ids to ranks ---- */

/* Finds the ids by sorting all of them. */
static mill_err collect_scattered_ids(struct builder *b)
{
	u64 n = 0, *id;

	TRY(memory_new(&id, &b->budget, 2 * b->n_edges + b->n_vertices, sizeof(*id),
		       "the ids"));
	for (u64 k = 0; k < b->n_chunks; k++)
		for (u64 i = 0; i < b->chunk[k].n; i++, n += 2)
			chunk_pair(&b->chunk[k], i, &id[n], &id[n + 1]);
	if (b->n_vertices)
		memcpy(id + n, b->vertex, b->n_vertices * sizeof(*id));
	return ids_from_list(&b->ids, &b->budget, b->pool, id, n + b->n_vertices);
}

/*
 * Marks the vertices that will have out-edges and those that will have in-edges, by the ids or
 * ranks in the chunks. Where the bitmap `exists` collects the ids, also marks the vertices of
 * loops, which may have no other edge.
 */
static mill_err mark_chunk(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct builder *b = arg;

	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &b->chunk[k];
		u64 before = UINT64_MAX;

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			if (from == to) {
				if (!c->loops++)
					c->first_loop = from;
				if (b->exists)
					bitmap_claim(b->exists, from);
				if (b->o.loops != MILL_LOOPS_KEEP)
					continue;
			}
			if (from != before)	/* edges often come list by list */
				bitmap_claim(b->source, from);
			before = from;
			bitmap_claim(b->target ? b->target : b->source, to);
		}
	}
	return worker ? MILL_OK : ticker_tick(&b->ticker, begin);
}

static mill_err mark_chunks(struct builder *b)
{
	TRY(memory_new(&b->source, &b->budget, bitmap_words(b->limit), sizeof(*b->source),
		       "the vertices"));
	if (!b->o.undirected)
		TRY(memory_new(&b->target, &b->budget, bitmap_words(b->limit),
			       sizeof(*b->target), "the vertices"));
	TRY(pool_for(b->pool, b->n_chunks, 1, mark_chunk, b));
	b->e.n = 0;
	for (u64 k = 0; k < b->n_chunks; k++) {
		struct chunk *c = &b->chunk[k];

		if (c->loops && b->o.loops == MILL_LOOPS_ERROR)
			return fail(MILL_EINPUT, "vertex %llu has an edge to itself",
				    (unsigned long long)(b->exists ?
								 c->first_loop :
								 ids_at(&b->ids, c->first_loop)));
		b->built.self_loops += c->loops;
		c->at = b->e.n;
		b->e.n += c->n - (b->o.loops == MILL_LOOPS_DROP ? c->loops : 0);
	}
	return MILL_OK;
}

/* Turns the ids of a chunk into ranks, in place: pairs of u64 become pairs of u32. */
static mill_err rank_chunk(void *arg, u64 begin, u64 end, unsigned worker)
{
	struct builder *b = arg;

	for (u64 k = begin; k < end; k++) {
		struct chunk *c = &b->chunk[k];
		u32 *rank = c->pair;

		for (u64 i = 0; i < c->n; i++) {
			u64 from, to;

			chunk_pair(c, i, &from, &to);
			rank[2 * i] = (u32)ids_rank(&b->ids, from);
			rank[2 * i + 1] = (u32)ids_rank(&b->ids, to);
		}
		c->wide = false;
	}
	return worker ? MILL_OK : ticker_tick(&b->ticker, begin);
}

/* Finds the ids with a bitmap, which is no larger than a list of them. */
static mill_err collect_close_ids(struct builder *b)
{
	u64 *bits;

	b->limit = b->max_id + 1;
	TRY(memory_new(&b->exists, &b->budget, bitmap_words(b->limit), sizeof(*b->exists),
		       "the ids"));
	TRY(mark_chunks(b));
	for (u64 i = 0; i < b->n_vertices; i++)
		bitmap_put(b->exists, b->vertex[i]);
	for (u64 w = 0; w < bitmap_words(b->limit); w++)
		b->exists[w] |= b->source[w] | (b->target ? b->target[w] : 0);
	bits = b->exists;
	b->exists = NULL;
	return ids_from_bits(&b->ids, &b->budget, bits, b->limit);
}

mill_err builder_collect_ids(struct builder *b)
{
	u64 mentions = 2 * b->n_edges + b->n_vertices;

	ticker_begin(&b->ticker, "number vertices", "blocks", b->n_chunks);
	if (mentions && !b->o.dense && builder_ids_are_close(b, mentions)) {
		TRY(collect_close_ids(b));
	} else if (mentions && !b->o.dense) {
		TRY(collect_scattered_ids(b));
		TRY(pool_for(b->pool, b->n_chunks, 1, rank_chunk, b));
	} else {
		ids_dense(&b->ids, b->o.dense);
	}
	memory_free(b->vertex);
	b->vertex = NULL;
	if (b->source)
		return MILL_OK;
	b->limit = b->ids.n;
	return mark_chunks(b);
}

/* ---- Ranks to numbers ---- */

struct numbers builder_first_numbers(const struct builder *b)
{
	return (struct numbers){ 0, b->n_sources, b->n_linked };
}

u64 builder_next_number(const struct builder *b, struct numbers *n, u64 rank)
{
	u64 at = b->ids.bits ? ids_at(&b->ids, rank) : rank;

	if (bitmap_get(b->source, at))
		return n->source++;
	return b->target && bitmap_get(b->target, at) ? n->other++ : n->isolated++;
}

u64 builder_id_of(const struct builder *b, u64 v)
{
	struct numbers numbers = builder_first_numbers(b);

	for (u64 r = 0; r < b->ids.n; r++)
		if (builder_next_number(b, &numbers, r) == v)
			return ids_at(&b->ids, r);
	return v;
}

/*
 * Makes an array with an element for every 32 vertices: in the low half the bits of those that
 * are sources, in the high half the number of sources before them. others: the same for the
 * vertices that have in-edges only.
 */
static mill_err count_bits(struct builder *b, u64 **out, bool others)
{
	u64 n = 0;

	TRY(memory_new(out, &b->budget, 2 * bitmap_words(b->limit), sizeof(**out),
		       "the vertices"));
	for (u64 i = 0; i < 2 * bitmap_words(b->limit); i++) {
		u64 word = others ? b->target[i / 2] & ~b->source[i / 2] : b->source[i / 2];
		u32 bits = (u32)(word >> i % 2 * 32);

		(*out)[i] = n << 32 | bits;
		n += bits_in(bits);
	}
	return MILL_OK;
}

mill_err builder_number_vertices(struct builder *b)
{
	b->n_sources = b->n_linked = bitmap_count(b->source, 0, b->limit);
	for (u64 w = 0; b->target && w < bitmap_words(b->limit); w++)
		b->n_linked += (u64)__builtin_popcountll(b->target[w] & ~b->source[w]);
	b->e.bits = bits_for(b->n_linked);
	if (b->o.undirected && 2 * b->e.bits > 63)
		return fail(MILL_ELIMIT,
			    "an undirected graph of %llu vertices with edges: at most 2^31 "
			    "can be built",
			    (unsigned long long)b->n_sources);
	if (b->n_sources == b->limit)
		return MILL_OK; /* all are sources: numbers are the ids or ranks */
	TRY(count_bits(b, &b->source_rank, false));
	return b->o.undirected ? MILL_OK : count_bits(b, &b->other_rank, true);
}

