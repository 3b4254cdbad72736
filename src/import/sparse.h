/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces ids by ranks, for edges between ids too far apart for a bitmap and too many for
 * memory. Edges come in batches. A batch leaves on disk its distinct ids, sorted, and its edges
 * as pairs of positions among these ids. After the last batch, the ids of all batches are merged,
 * which gives each id its rank. The ranks replace the ids on disk. Then the edges are read once
 * more, with the ranks of one batch in memory at a time.
 *
 * Bytes on disk: 8 per edge, 8 more with weights; 8 for each distinct id of each batch; at the
 * end also the distinct ids of all batches, packed.
 */
#ifndef IMPORT_SPARSE_H
#define IMPORT_SPARSE_H

#include "import/chunk.h"
#include "store/writer.h"

struct sparse;

/* Most bytes of memory that sparse_add takes per edge while it works, besides the chunk. */
#define SPARSE_EDGE_BYTES 48u

struct sparse_setup {
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	const char *dir;		/* directory of the temporary files */
	enum mill_weight added_type;	/* type in which weights are added */
};

mill_err sparse_new(struct sparse **out, const struct sparse_setup *setup);
void sparse_free(struct sparse *s);	/* NULL is fine */

/* Adds the edges of the chunks as a batch, and frees the chunks' memory. */
mill_err sparse_add(struct sparse *s, struct chunk *chunk, u64 n_chunks);
/*
 * Adds vertices that may have no edge, in any order. Calls with ascending ids, each above those
 * of the call before, cost least: they make one run.
 */
mill_err sparse_add_ids(struct sparse *s, const u64 *id, u64 n);
/* Returns the number of edges added. */
u64 sparse_edges(const struct sparse *s);

/*
 * Ranks all ids, after the last edge and id. Calls see (may be NULL) for every distinct id,
 * ascending; *n becomes their number. Fails with MILL_ELIMIT if there are too many.
 */
mill_err sparse_settle(struct sparse *s, void (*see)(void *arg, u64 id), void *arg, u64 *n);
/* Returns the most bytes that sparse_replay takes. */
u64 sparse_replay_bytes(const struct sparse *s);
/*
 * Calls take for all edges, between ranks, in the order in which they came. Can be called only
 * once: it frees their disk space as it goes.
 */
mill_err sparse_replay(struct sparse *s,
		       mill_err (*take)(void *arg, u64 from, u64 to, u64 weight), void *arg);
/* Finds the id of a rank, by a scan of all ids. After sparse_settle. */
mill_err sparse_id(struct sparse *s, u64 rank, u64 *out);
/* Appends all ids to the store's file of ids. */
mill_err sparse_write_ids(struct sparse *s, struct store_writer *w);

#endif
