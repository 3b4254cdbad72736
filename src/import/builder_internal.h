/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a builder, for the files that make it up: builder.c and builder_number.c. */
#ifndef IMPORT_BUILDER_INTERNAL_H
#define IMPORT_BUILDER_INTERNAL_H

#include "base/bitmap.h"
#include "import/buckets.h"
#include "import/builder.h"
#include "import/chunk.h"
#include "import/external.h"
#include "import/ids.h"
#include "import/namer.h"
#include "store/writer.h"

struct builder {
	struct builder_options o;
	struct budget budget;
	struct ticker ticker;
	struct pool *pool;
	struct store_writer *writer;
	f64 started;			/* time at which builder_new was called */
	enum mill_weight added_type;	/* type of the weights in the chunks */

	struct chunk *chunk;
	u64 n_chunks, chunk_room;
	u64 *vertex;		/* ids from builder_add_vertices */
	u64 n_vertices, vertex_room;
	bool any_vertex;	/* builder_add_vertices was called */
	u64 n_edges;		/* edges added */
	u64 n_held;		/* edges in chunks now */
	u64 held_bytes;		/* bytes of these chunks */
	u64 min_id, max_id;
	bool wide;		/* an id has more than 32 bits */

	struct ids ids;
	u64 *exists;		/* bitmap by id, while ids that are close are collected */
	u64 limit;		/* the ids (or ranks) in the chunks are below it */
	u64 *source;		/* bitmap by id (or rank): has out-edges */
	u64 *target;		/* has in-edges; NULL: undirected, the same as source */
	/* Made by count_bits. NULL: vertex numbers are the ids (or ranks), and all are sources. */
	u64 *source_rank, *other_rank;
	vid *new_number;	/* by number: the number in another order; NULL: no other order */
	u64 n_sources, n_linked;
	struct edges e;
	struct buckets *buckets;   /* the edges without weights, once they are keys */
	struct external *external; /* the edges on disk; NULL: all are in memory */
	struct namer *names;
	struct {		/* for builder_project */
		u64 done;	/* bytes of this input that were read at the last call */
		u64 next;	/* bytes at which it checks again */
		u64 so_far;	/* edges of all inputs at the last call */
		u64 before;	/* edges of the inputs before this one */
	} projection;
	struct mill_built built;
};

/* ---- builder_number.c ---- */

/*
 * Returns whether a bitmap of all ids is no larger than a list of them. mentions: how often an
 * id occurs, as the end of an edge or as a vertex.
 */
static inline bool builder_ids_are_close(const struct builder *b, u64 mentions)
{
	return b->max_id / 64 <= mentions || b->max_id < 64 * KIB;
}

/*
 * Finds the vertices (b->ids) and makes the bitmaps of those with out-edges and in-edges. Ids
 * that are too far apart for bitmaps become ranks in the chunks.
 */
mill_err builder_collect_ids(struct builder *b);
/*
 * Numbers the vertices (Graphie's first renaming): first those with out-edges, then those with
 * in-edges only, last those without an edge. Within each kind, numbers ascend as ids do.
 */
mill_err builder_number_vertices(struct builder *b);

/* The next vertex number of each kind. */
struct numbers {
	u64 source, other, isolated;
};

struct numbers builder_first_numbers(const struct builder *b);
/* Returns the number of the vertex of this rank. Must be called for ranks 0, 1, 2, ... in turn. */
u64 builder_next_number(const struct builder *b, struct numbers *n, u64 rank);
/* Returns the original id of vertex v, by a scan of all vertices. */
u64 builder_id_of(const struct builder *b, u64 v);

/* Returns the number of bits set before bit `id`; word: the element of count_bits that holds it. */
static inline u64 count_before(u64 word, u64 id)
{
	return (word >> 32) + bits_in((u32)word & (((u32)1 << id % 32) - 1));
}

/* Returns the number of a vertex with edges. id: as in the chunks, an id or a rank. */
static inline u64 builder_number_of(const struct builder *b, u64 id)
{
	u64 word;

	if (!b->source_rank)
		return id;
	word = b->source_rank[id / 32];
	if (!b->other_rank || word >> id % 32 & 1)
		return count_before(word, id);
	return b->n_sources + count_before(b->other_rank[id / 32], id);
}

#endif
