/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph laid out for reductions over in-neighbours in which what u gives does not depend on who takes it: the
 * idea of propagation blocking and of partition-centric processing (Beamer et al., IPDPS 2017; Lakhotia et al., ATC 2018). Destinations are
 * cut into bins whose sums stay in a core's own cache; a bin has its edges in ascending order of the source, so that values are
 * read nearly in sequence and each once a bin, instead of at random and once an edge.
 *
 * Resident in place of rows of in-edges, made from the out-pages: 2 bytes an edge, and 4 a source and bin.
 */
#ifndef ENGINE_BINS_H
#define ENGINE_BINS_H

#include "base/clock.h"
#include "base/thread.h"
#include "store/store.h"
#include "stream/stream.h"

#define BIN_BITS 15			/* an entry has 16: reduce.inc takes several at once */
#define BIN_VERTICES (1u << BIN_BITS)
#define BIN_PLACE (BIN_VERTICES - 1)	/* in an entry: the destination, counted from the bin's first */
/* The bit above: this is the first entry of the bin's next source. A bin's first entry has it. */
#define BIN_AHEAD 64u			/* so many entries and sources after a bin's last can be read */

/* Values of fewer bytes than this lie in a core's cache anyway, wherever they are. */
#define BINS_FROM (512 * KIB)

struct bin {
	vid first;
	u32 n_vertices;
	u64 n_entries, n_cuts;
	const u16 *entry;
	const vid *source;	/* ascending */
	/*
	 * Entries before which a block of LIST_BLOCK of their destination's list ends: what has been summed of it is a block's
	 * sum. So sums have the bits that rows give.
	 */
	const u64 *cut;
};

struct bins {
	u32 n_bins;
	struct bin *bin;	/* largest first, which is how they are handed out */
	u16 *entry;
	vid *source;
	u64 *cut;
	char *sum;		/* of each worker: twice BIN_VERTICES of 8 bytes */
};

/* Host bytes at most; the number of sources a bin is known only when they are counted. */
u64 bins_bytes(const struct store *st, unsigned workers);
/*
 * Are neighbours so far apart in the vertices' order that values of `size` bytes are better read by bins than by rows? Reads a
 * sample of the pages.
 */
mill_err bins_pay(const struct store *st, struct budget *budget, u32 size, bool *out);
mill_err bins_load(struct bins **out, struct budget *budget, struct stream *stream, struct pool *pool,
		   const struct store *st, struct ticker *ticker);
void bins_free(struct bins *b);

#endif
