/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which units (pages, partitions) are in which slots (frames in RAM, buffers on a device). One table for every boundary that units
 * cross. Its decisions depend on unit numbers and counts alone, never on time, so a run can be repeated read for read on any number
 * of threads.
 *
 * `most` units stay. Where `most` is n_slots, a unit that comes takes the slot of the unit that its key puts first. Where it is less,
 * the others are slots for transit: a unit that comes takes the slot that has been free for longest, and the slot of the unit that
 * goes becomes free.
 *
 * Two kinds of callers:
 * - A pass at a time: residency_begin; residency_use of every slot that the pass finds, in unit order; residency_place of the units
 *   that it does not find. The last `lately` slots assigned in the pass are not reassigned: their units can be under way at once.
 * - A window at a time: residency_window, then residency_use and residency_place in any order. A slot is assigned once in a window;
 *   residency_place refuses when it would be assigned again, and the caller begins a new window when the units have crossed.
 */
#ifndef STREAM_RESIDENCY_H
#define STREAM_RESIDENCY_H

#include "store/store.h"

#define RESIDENCY_NONE UINT32_MAX	/* no slot */

struct residency;

/* What a key sees of a unit in its slot. */
struct held {
	u64 arrival, last_use;	/* positions in the order of all uses: no two are equal */
	u64 pass;		/* of the last use, counted from 1 */
	u32 uses;		/* passes that used the unit, also before it came */
	const struct page_entry *entry;		/* NULL: the table was opened without entries */
	u64 value;		/* the policy's, as given to residency_place */
};

/* Smaller keys go first; equal ones by arrival. It may change with a use of the unit and when a pass begins, not otherwise. */
typedef u64 residency_key(const struct held *h, u64 pass);

residency_key residency_auto;		/* what this pass does not need, the oldest first; then what it has used, in that order */
residency_key residency_fifo;		/* the oldest */
residency_key residency_lru;		/* what was not used for longest */
residency_key residency_frequency;	/* what the fewest passes used */
/*
 * The page with the shortest lists, by edges a row in 1/256, so that hubs stay. No page knows which vertices have the most in-edges,
 * but most graphs have them where the long lists are, and the longest lists fill pages of their own.
 */
residency_key residency_pinned;
residency_key residency_latest;		/* the most recent. For scans split into many short passes, where FIFO evicts what is needed next */

struct residency_how {
	u32 n_units[2];		/* of the out- and the in-direction */
	const struct page_entry *entry[2];	/* of each unit; NULL: none. Kept by the caller while the table is open */
	u32 n_slots;		/* at least 1 */
	u32 most;		/* of them, for units that stay; 0 is fine */
	u32 lately;		/* the last `lately` slots assigned in a pass are not reassigned; taken as at most half of `most` */
	residency_key *key;
};

mill_err residency_open(struct residency **out, struct budget *budget, const struct residency_how *how);
void residency_close(struct residency *r);
/* Returns at least what residency_open takes from the budget, linear in n_slots. n_units: of both directions. */
u64 residency_bytes(u64 n_units, u64 n_slots);
u32 residency_slots(const struct residency *r);
u32 residency_most(const struct residency *r);

/* Returns the unit's slot, or RESIDENCY_NONE. Units of an undirected graph are those of the out-direction. */
u32 residency_find(const struct residency *r, bool in, u32 unit);
/* Begins a pass. Keys are looked at anew, and every slot can be assigned. */
void residency_begin(struct residency *r);
/* Begins a window. A table without windows refuses nothing. */
void residency_window(struct residency *r);
/* Counts a use of the unit in the slot. In this window the slot is not assigned again, even if the unit goes. */
void residency_use(struct residency *r, u32 slot);
/*
 * Assigns a slot to a unit that residency_find does not find. The slot holds it from now on, or, if `most` is 0, until another unit
 * gets the slot. RESIDENCY_NONE: the slot was used in this window already; nothing is changed then.
 */
u32 residency_place(struct residency *r, bool in, u32 unit, u64 value);
/* Forgets what is in the slots: all of them are free, in the order of their numbers. A slot used in this window stays so. */
void residency_clear(struct residency *r);

#endif
