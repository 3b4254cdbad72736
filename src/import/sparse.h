/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edges between ids too far apart for a bitmap, and too many for memory. They come in batches: a batch
 * leaves its distinct ids, sorted, and its edges as pairs of places among them. When all have come, the ids of all
 * batches are merged, which gives each of them its rank; these take the place of the ids on disk, and the
 * edges are gone through once more, with the ranks of one batch in memory at a time.
 *
 * On disk: 8 bytes an edge, 8 more with weights; 8 for each distinct id of a batch; at the end the ids themselves, packed.
 */
#ifndef IMPORT_SPARSE_H
#define IMPORT_SPARSE_H

#include "import/chunk.h"
#include "store/writer.h"

struct sparse;

/* What adding an edge takes at most for a moment, besides its chunk. */
#define SPARSE_EDGE_BYTES 48u

struct sparse_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	const char *dir;	/* of temporary files */
	enum mill_weight added_type;	/* the type in which weights come */
};

mill_err sparse_new(struct sparse **out, const struct sparse_setup *setup);
void sparse_free(struct sparse *s);	/* NULL is fine */

/* A batch; frees the chunks' memory. */
mill_err sparse_add(struct sparse *s, struct chunk *chunk, u64 n_chunks);
/* Vertices that may have no edge, in any order; ascending ones that go on where the last ones ended cost least. */
mill_err sparse_add_ids(struct sparse *s, const u64 *id, u64 n);
/* Edges that have been added. */
u64 sparse_edges(const struct sparse *s);

/* No more will come. Calls see (may be NULL) for every distinct id, ascending. MILL_ELIMIT: too many. */
mill_err sparse_settle(struct sparse *s, void (*see)(void *arg, u64 id), void *arg, u64 *n);
/* What replaying takes at most. */
u64 sparse_replay_bytes(const struct sparse *s);
/* All edges by rank, in the order in which they came. Once: frees what they took. */
mill_err sparse_replay(struct sparse *s, mill_err (*take)(void *arg, u64 from, u64 to, u64 weight), void *arg);
/* After sparse_settle, by a scan. */
mill_err sparse_id(struct sparse *s, u64 rank, u64 *out);
/* Appends all ids to the store's. */
mill_err sparse_write_ids(struct sparse *s, struct store_writer *w);

#endif
