/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream from disk to RAM: frames inside the budget through which pages pass, read ahead by
 * threads of their own. Pages that are resident and active are worked on first, then the missing ones are
 * read in page order over the others. Which page takes which frame is decided before the pass
 * begins, from page numbers alone, so that the same run reads the same pages again.
 *
 * Full scans of P pages over F < P frames so read P + (I - 1)(P - F) pages in I passes, as Graphie
 * does; LRU in page order would hit nothing.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/clock.h"
#include "store/store.h"

struct stream;

struct stream_pass {
	const struct pages *pages;
	/* Has any row of the page work? Asked once per page before reading begins. NULL: every page is active. */
	bool (*active)(void *arg, u32 page);
	/* Called once per active page, on any worker; the segment is gone when it returns. */
	mill_err (*work)(void *arg, u32 page, const struct segment *seg, unsigned worker);
	/* NULL: all of them. Asked at any time in the pass, by any worker. */
	const struct row_filter *only;
	void *arg;
	bool in_order;		/* only the calling thread works, in page order: a device computes */
	struct ticker *ticker;

	/* What it cost. */
	u32 n_active, n_read, n_reused;
	u64 bytes_read;
};

/*
 * Frames hold pages as they are on disk; packed ones are decoded by the worker that uses them, into
 * scratch of its own, each time: so the pool holds more of the graph.
 */
u64 stream_scratch(const struct store *store, unsigned workers);
/* As many frames as fit `bytes` beside the scratch, but no more than `most`. */
mill_err stream_open(struct stream **out, struct budget *budget, const struct store *store, u64 bytes,
		     u64 most, unsigned workers);
/* How many that would be. */
u32 stream_fit(const struct store *store, u64 bytes, u64 most, unsigned workers);
void stream_close(struct stream *s);
u32 stream_frames(const struct stream *s);
mill_err stream_run(struct stream *s, struct stream_pass *p);

#endif
