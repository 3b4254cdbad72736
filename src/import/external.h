/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts on disk the edges of a graph that do not fit the budget. Edges are kept in a temporary
 * file as sorted runs of 64-bit keys by original id (runs.h). They are read back in pieces that
 * fit in memory: a piece is all keys below a bound, that is a slice of every run, and it is
 * sorted after reading. So the code is the same as in memory and uses all threads. A merge would
 * limit the number of runs by its fan-in; this does not.
 *
 * Vertex numbers are ranks in bitmaps (numbering.h): which ids exist, which have out-edges, and
 * in a directed graph which have in-edges. So a vertex takes 3 bits of memory, plus the counts,
 * unless the user asks for an order of the vertices. Ids too far apart for bitmaps are sorted in
 * batches; merging the batches replaces each id by its rank (sparse.h).
 *
 * The store is byte for byte the one that the builder makes in memory; a test compares them.
 * Temporary files have no names, so that none is left behind.
 *
 * Bytes on disk at any time: 16 per edge, and 8 more for each copy of an edge if there are
 * weights. While there are ids too far apart: at most 35 per edge (each id occurs once), and 16
 * if there are few distinct ids.
 */
#ifndef IMPORT_EXTERNAL_H
#define IMPORT_EXTERNAL_H

#include "import/chunk.h"
#include "store/writer.h"

struct external_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	const char *dir;		/* directory of the temporary files */
	bool undirected;
	enum mill_loops loops;
	enum mill_weight added_type;	/* type in which weights are added */
	u64 dense;		/* not 0: the ids are 0 .. dense - 1 and all of them exist */
	struct namer *names;	/* the names of the ids, for messages; or NULL */
};

struct external;

/* Returns whether this id is too large for bitmaps within such a budget, so that ids are sorted. */
bool external_needs_sparse(u64 budget, bool undirected, u64 max_id);

mill_err external_new(struct external **out, const struct external_setup *setup);
void external_free(struct external *x);

/* Adds all edges of the chunks and frees the chunks' memory. max_id: the largest id so far. */
mill_err external_add(struct external *x, struct chunk *chunk, u64 n_chunks, u64 max_id);
mill_err external_add_vertices(struct external *x, const u64 *id, u64 n, u64 max_id);

/* Facts about the whole graph. */
struct external_facts {
	u64 vertices, sources, n_linked;
	u64 edges;		/* as the store counts them */
	u64 min_id, max_id;	/* 0 without vertices */
	u64 loops_read;
	bool by_degree;		/* the vertices are ordered by degree */
	struct edges_found found;
};

/*
 * Numbers the vertices and merges parallel edges, after all edges have been added. Weights
 * become this type.
 */
mill_err external_settle(struct external *x, enum mill_dedup rule, enum mill_weight weight,
			 enum mill_order order, struct external_facts *out);
/* Writes the lists, ids and orders. writer_begin has been called. */
mill_err external_write(struct external *x, struct store_writer *w, bool in_pages);

#endif
