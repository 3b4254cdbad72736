/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream from disk to RAM: pages pass through frames inside the budget. A pass is
 * planned before it begins. Pages that are resident and active come first. Then the missing
 * pages come in page order, each into the frame that the policy chose for it. The worker
 * that frees a frame requests the next read into it, so as many reads are under way as
 * frames are free. The plan depends on page numbers alone, so the same run reads the same
 * pages again.
 *
 * I full scans of P pages through F < P frames read P + (I - 1)(P - F) pages, as Graphie
 * does. LRU in page order would find no page resident.
 *
 * Packed pages stay packed in RAM. The worker that uses a page decodes it into its own
 * scratch each time (at most four times the page, counted in the budget): a page that need
 * not be read from disk is worth more than the decoding.
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
	/* The pages that have work, each once. NULL: `active` is asked instead. */
	const u32 *list;
	u32 n_list;
	/* Called once per page before reading begins. NULL: all pages have work. */
	bool (*active)(void *arg, u32 page);
	/* Called once per active page, on any worker. The segment is valid during the call. */
	mill_err (*work)(void *arg, u32 page, const struct segment *seg, unsigned worker);
	/*
	 * Instead of `work`, and only with in_order: gets the page as it is on disk, with
	 * verified checksums, and sends it on after page_wire has checked it. When it
	 * returns, also with an error, it leaves the tickets of transfers from the frame in
	 * `sent`, which has STREAM_SENDS empty places. The frame is not overwritten until
	 * these transfers have ended.
	 */
	mill_err (*pass_on)(void *arg, u32 page, const void *frame, struct ticket *sent);
	/* The rows that `work` reads. Workers may call want.only at any time in the pass. */
	struct rows_wanted want;
	void *arg;
	/* Only the calling thread works, in the order of the plan: a device computes. */
	bool in_order;
	struct ticker *ticker;

	/* Results: what the pass cost. */
	u32 n_active, n_read, n_reused;
	u64 bytes_read;
	/* Seconds, summed over workers: waiting for a page; verifying and decoding; in `work`. */
	f64 wait, decode, compute;
};

struct stream_how {
	u64 bytes;		/* the stream has as many frames as fit beside the scratch ... */
	u64 most;		/* ... but no more than this */
	unsigned workers;
	enum reader_way way;
	residency_key *key;	/* which page is evicted first; NULL: residency_auto */
};

/* Returns the bytes of all workers' scratch. */
u64 stream_scratch(const struct store *store, unsigned workers);
/* Returns the number of frames that stream_open will make. */
u32 stream_fit(const struct store *store, u64 bytes, u64 most, unsigned workers);
mill_err stream_open(struct stream **out, struct budget *budget, const struct store *store,
		     const struct stream_how *how);
void stream_close(struct stream *s);
u32 stream_frames(const struct stream *s);
enum reader_way stream_way(const struct stream *s);	/* the way that is in use */
mill_err stream_run(struct stream *s, struct stream_pass *p);
/*
 * Sorts a list of pages into the order in which stream_run would deliver them now, for a
 * pass like p: resident pages first, then those that are read.
 */
void stream_order(struct stream *s, struct stream_pass *p, u32 *list, u32 n);
/* Adds the cost of a pass to a step. */
void step_add_pass(struct mill_step *to, const struct stream_pass *p);

#endif
