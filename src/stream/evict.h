/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which page gives its place to which: slots (frames in RAM, buffers on a device) that hold pages of a store, and a
 * policy that says which of them is given away next. Decisions are made before a pass begins to read, from page
 * numbers and counts alone, so that a run can be repeated read for read on any number of threads.
 */
#ifndef STREAM_EVICT_H
#define STREAM_EVICT_H

#include "store/store.h"

#define NO_SLOT_HELD UINT32_MAX

struct evict;

/* What a policy sees of a slot that holds a page. Smaller keys go first; equal ones by age. */
struct held {
	u64 arrival, last_use;	/* places in the order of all uses: no two are equal */
	u64 pass;		/* of the last use, counted from 1 */
	u32 uses;		/* passes for which the page was active, also before it came */
	const struct page_entry *entry;
};

struct evict_policy {
	const char *name;
	u64 (*key)(const struct held *h, u64 pass);
};

/* More than this: monotone traversals on a device then go by partitions (engine/partition.h). What goes first is the oldest. */
#define EVICT_GRAPHIE "graphie"
/* What several devices are for. What goes first is what was not used for longest. */
#define EVICT_GTS "gts"

/* Ends with NULL; the first is the default. */
extern const char *const evict_names[];
/* For who makes many short passes of one long scan, over and over: the oldest would be what comes next. */
extern const struct evict_policy evict_latest;
/* NULL if there is none; name NULL: the default. */
const struct evict_policy *evict_find(const char *name);

/*
 * n_pages: of the out- and in-direction, as evict_count_pages says of a store. lately: so many slots given away last are not given away again, so that their pages can be on their way at
 * the same time; fewer where there are few slots.
 */
mill_err evict_open(struct evict **out, struct budget *budget, const u32 n_pages[2], u32 n_slots, u32 lately,
		    const struct evict_policy *policy);
void evict_count_pages(u32 n_pages[2], const struct store *st);
void evict_close(struct evict *e);
u64 evict_bytes(const struct store *st, u64 n_slots);

/* The slot that holds the page, or NO_SLOT_HELD. */
u32 evict_slot(const struct evict *e, const struct pages *p, u32 page);
/* A pass begins: first evict_use of all slots that it finds, in page order, then evict_take of the pages it does not. */
void evict_begin(struct evict *e);
void evict_use(struct evict *e, u32 slot);
/* Gives the page a slot, which holds it from now on. */
u32 evict_take(struct evict *e, const struct pages *p, u32 page);
/* Nothing is where it was thought to be. */
void evict_clear(struct evict *e);

#endif
