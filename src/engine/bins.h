/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bins: a resident layout of the graph for reductions over in-neighbours. It serves programs
 * with SPREAD, in which the value that a source gives does not depend on the destination. The
 * idea is that of propagation blocking and of partition-centric processing (Beamer et al.,
 * IPDPS 2017; Lakhotia et al., ATC 2018). Destinations are cut into bins. The sums of one bin
 * stay in a core's own cache. A bin has its edges in ascending order of the source. So a
 * source value is read once per bin and nearly in sequence, instead of once per edge and at
 * random.
 *
 * Bins replace the rows of in-edges. They are made from the out-pages and take 2 bytes per edge
 * and 4 bytes for each source of a bin. Blocks of long lists are cut where rows cut them, so
 * results have the same bits as with rows. A run uses bins if a sample of the pages finds that
 * most neighbours are too far apart for a cache (bins_pay).
 */
#ifndef ENGINE_BINS_H
#define ENGINE_BINS_H

#include "base/clock.h"
#include "base/thread.h"
#include "store/store.h"
#include "stream/stream.h"

/* An entry has 16 bits, and reduce.inc takes several entries at once. */
#define BIN_BITS 15
#define BIN_VERTICES (1u << BIN_BITS)
/*
 * The low bits of an entry: its destination, counted from the bin's first vertex. The bit above
 * is set in the first entry of each source of the bin, so always in the bin's first entry.
 */
#define BIN_PLACE (BIN_VERTICES - 1)
/* Number of entries and sources after a bin's last one that are still safe to read. */
#define BIN_AHEAD 64u

/* If all values together take fewer bytes than this, they lie in a core's cache anyway. */
#define BINS_FROM (512 * KIB)

struct bin {
	vid first;
	u32 n_vertices;
	u64 n_entries, n_cuts;
	const u16 *entry;
	const vid *source;	/* ascending */
	/*
	 * Positions of entries. Before such an entry, a block of LIST_BLOCK neighbours of its
	 * destination is complete: the sum so far is the sum of that block. So sums have the
	 * same bits as with rows.
	 */
	const u64 *cut;
};

struct bins {
	u32 n_bins;
	struct bin *bin;	/* largest first: the order in which workers take them */
	u16 *entry;
	vid *source;
	u64 *cut;
	char *sum;		/* for each worker: 2 * BIN_VERTICES sums of 8 bytes */
};

/* Returns an upper bound of the host bytes: the number of sources is known only when counted. */
u64 bins_bytes(const struct store *st, unsigned workers);
/*
 * Sets *out to true if neighbours are so far apart in the order of vertices that values of
 * `size` bytes are better read by bins than by rows. Reads a sample of the pages.
 */
mill_err bins_pay(const struct store *st, struct budget *budget, u32 size, bool *out);
/*
 * Makes the bins. Reads all out-pages twice: to count the edges of each bin, and to place
 * them.
 */
mill_err bins_load(struct bins **out, struct budget *budget, struct stream *stream,
		   struct pool *pool, const struct store *st, struct ticker *ticker);
void bins_free(struct bins *b);

#endif
