/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream from disk to RAM: frames inside the budget through which pages pass. A pass is planned before it begins: pages
 * that are resident and active are worked on first, then the missing ones come in page order, each into the
 * frame that the policy chose for it. A read is asked for as soon as its frame is free, by the worker that freed it, so
 * as many are under way as there are frames. The plan follows page numbers alone, so the same run reads the same pages again.
 *
 * Full scans of P pages over F < P frames so read P + (I - 1)(P - F) pages in I passes, as Graphie
 * does; LRU in page order would hit nothing.
 *
 * Of a packed page that was whole here once, later passes with few active rows read only the slices that hold them; what
 * else is wanted while it stays is added.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <millrace.h>

#include "base/clock.h"
#include "device/device.h"
#include "store/store.h"
#include "stream/reader.h"
#include "stream/residency.h"

struct stream;

#define STREAM_SENDS MILL_DEVICES_MOST

struct stream_pass {
	const struct pages *pages;
	/* The pages that have work, each once. NULL: ask `active`, once per page before reading begins; NULL too: all have. */
	const u32 *list;
	u32 n_list;
	bool (*active)(void *arg, u32 page);
	/* Called once per active page, on any worker; the segment is gone when it returns. */
	mill_err (*work)(void *arg, u32 page, const struct segment *seg, unsigned worker);
	/*
	 * Or instead, and only in order: the page as it is on disk, its checksums verified, for whoever passes it on after a look by page_wire.
	 * Transfers from the frame that are under way when it returns, also with an error, are left in `sent`, which has STREAM_SENDS
	 * places for none: the frame stays as it is until they have ended.
	 */
	mill_err (*pass_on)(void *arg, u32 page, const void *frame, struct ticket *sent);
	/* Which rows `work` looks at. Asked at any time in the pass, by any worker. */
	struct rows_wanted want;
	void *arg;
	bool in_order;		/* only the calling thread works, in the order of the plan: a device computes */
	struct ticker *ticker;

	/* What it cost. */
	u32 n_active, n_read, n_reused;
	u64 bytes_read;
	f64 wait, decode, compute;	/* seconds of all workers: without a page, verifying and decoding, in `work` */
};

struct stream_how {
	u64 bytes;		/* as many frames as fit beside the scratch ... */
	u64 most;		/* ... but no more than this */
	unsigned workers;
	enum reader_way way;
	residency_key *key;	/* what gives its frame away first; NULL: residency_auto */
};

/*
 * Frames hold pages as they are on disk; packed ones are decoded by the worker that uses them, into
 * scratch of its own, each time: so the pool holds more of the graph.
 */
u64 stream_scratch(const struct store *store, unsigned workers);
/* How many frames that will be. */
u32 stream_fit(const struct store *store, u64 bytes, u64 most, unsigned workers);
mill_err stream_open(struct stream **out, struct budget *budget, const struct store *store,
		     const struct stream_how *how);
void stream_close(struct stream *s);
u32 stream_frames(const struct stream *s);
enum reader_way stream_way(const struct stream *s);	/* which it came to */
mill_err stream_run(struct stream *s, struct stream_pass *p);
/* Sorts a list of pages as stream_run would deliver them now, for a pass like p: those that are here first, then what is read. */
void stream_order(struct stream *s, struct stream_pass *p, u32 *list, u32 n);
/* Adds what a pass cost. */
void step_add_pass(struct mill_step *to, const struct stream_pass *p);

#endif
