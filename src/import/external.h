/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph whose edges do not fit the budget. They are kept on disk as sorted runs of keys by original
 * id and read back in pieces that fit; which vertices exist and have out-edges are two bitmaps,
 * from which every vertex number follows. Ids too far apart for bitmaps are first replaced by their
 * ranks: sparse.h. The store is byte for byte what the builder makes in memory.
 *
 * On disk, at any time: 16 bytes an edge, and 8 more for each copy if there are weights; while there are
 * ids too far apart 35 at most, where each id occurs once, and 16 where they are few.
 */
#ifndef IMPORT_EXTERNAL_H
#define IMPORT_EXTERNAL_H

#include "import/chunk.h"
#include "store/writer.h"

struct external_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	const char *dir;	/* of the temporary files */
	bool undirected;
	enum mill_loops loops;
	enum mill_weight added_type;	/* the type in which weights come */
	u64 dense;		/* not 0: the ids are 0 .. dense - 1 and all of them exist */
	struct namer *names;	/* of the ids, for messages; or NULL */
};

struct external;

/* Is this id too large for bitmaps, within such a budget? Then ids are sorted. */
bool external_needs_sparse(u64 budget, bool undirected, u64 max_id);

mill_err external_new(struct external **out, const struct external_setup *setup);
void external_free(struct external *x);

/* Takes all edges and frees the chunks' memory. max_id: no id that came so far is larger. */
mill_err external_add(struct external *x, struct chunk *chunk, u64 n_chunks, u64 max_id);
mill_err external_add_vertices(struct external *x, const u64 *id, u64 n, u64 max_id);

/* What the graph turned out to be. */
struct external_facts {
	u64 vertices, sources, n_linked, edges;	/* edges: as the store counts them */
	u64 min_id, max_id;		/* 0 without vertices */
	u64 loops_read;
	bool by_degree;			/* the order of the vertices */
	struct edges_found found;
};

/* All edges are there: numbers the vertices and merges parallel edges. Weights become this type. */
mill_err external_settle(struct external *x, enum mill_dedup rule, enum mill_weight weight,
			 enum mill_order order, struct external_facts *out);
/* Writes the lists, ids and orders into a writer that has been begun. */
mill_err external_write(struct external *x, struct store_writer *w, bool in_pages);

#endif
