/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of residency: which units (pages, partitions) are in which slots (frames in RAM,
 * slots on a device). Every boundary that units cross has one. Its decisions depend on unit
 * numbers and counts alone, never on time, so a run can be repeated read for read on any
 * number of threads.
 *
 * `most` units stay. If `most` is n_slots, a unit that arrives takes the slot of the unit
 * with the smallest key. If it is less, the other slots are for transit: a unit that
 * arrives takes the slot that has been free for longest, and the slot of the evicted unit
 * becomes free.
 *
 * There are two kinds of callers:
 * - By passes: residency_begin; then residency_use of every slot that the pass finds, in
 *   unit order; then residency_place of the units that it does not find. The last `lately`
 *   slots assigned in the pass are not reassigned: their units can be under way at once.
 * - By windows: residency_window, then residency_use and residency_place in any order. A
 *   slot is assigned once in a window. residency_place refuses to assign it again; the
 *   caller then begins a new window, when the units have crossed.
 *
 * Partitions (Graphie) and windows (GTS) split a scan of the graph into many short passes at
 * the boundary from disk to RAM. There residency_latest evicts the most recent page. If the
 * graph is larger than RAM, this reads half as much as eviction of the oldest page (kron 20
 * through 28 MiB: 94 MiB instead of 193).
 */
#ifndef STREAM_RESIDENCY_H
#define STREAM_RESIDENCY_H

#include "store/store.h"

#define RESIDENCY_NONE UINT32_MAX	/* no slot */

struct residency;

/* The facts about a unit in a slot that a key function may use. */
struct held {
	u64 arrival, last_use;	/* positions in the order of all uses: no two are equal */
	u64 pass;		/* the pass of the last use, counted from 1 */
	u32 uses;		/* passes that used the unit, also during earlier stays */
	const struct page_entry *entry;		/* NULL: the table was opened without entries */
	u64 value;		/* the number that the policy gave to residency_place */
};

/*
 * Returns the key of a unit. The unit with the smallest key is evicted first; of equal
 * keys, the one that arrived first. A key may change when the unit is used and when a pass
 * begins, not otherwise.
 */
typedef u64 residency_key(const struct held *h, u64 pass);

/*
 * Evicts units that this pass has not used, the oldest first; then those it has used, in
 * that order.
 */
residency_key residency_auto;
residency_key residency_fifo;		/* evicts the oldest */
residency_key residency_lru;		/* evicts the least recently used */
residency_key residency_frequency;	/* evicts the unit that the fewest passes used */
/*
 * Evicts the page with the shortest lists (edges per row, in 1/256), so that hubs stay. A
 * page does not tell which vertices have the most in-edges. But in most graphs these
 * vertices also have long lists, and the longest lists fill pages of their own.
 */
residency_key residency_pinned;
/*
 * Evicts the most recent. For scans that are split into many short passes: there FIFO
 * evicts the unit that is needed next.
 */
residency_key residency_latest;

struct residency_how {
	u32 n_units[2];		/* units of the out- and of the in-direction */
	/* The entry of each unit; NULL: none. The caller keeps them while the table is open. */
	const struct page_entry *entry[2];
	u32 n_slots;		/* at least 1 */
	u32 most;		/* the most units that stay; may be 0 */
	/*
	 * The last `lately` slots assigned in a pass are not reassigned. At most half of
	 * `most` counts.
	 */
	u32 lately;
	residency_key *key;
};

mill_err residency_open(struct residency **out, struct budget *budget,
			const struct residency_how *how);
void residency_close(struct residency *r);
/*
 * Returns an upper bound, linear in n_slots, of the bytes that residency_open takes from
 * the budget. n_units: of both directions together.
 */
u64 residency_bytes(u64 n_units, u64 n_slots);
u32 residency_slots(const struct residency *r);
u32 residency_most(const struct residency *r);

/* Returns the unit's slot, or RESIDENCY_NONE. An undirected graph has the units of `out` only. */
u32 residency_find(const struct residency *r, bool in, u32 unit);
/* Begins a pass. Keys are computed anew, and every slot can be assigned. */
void residency_begin(struct residency *r);
/* Begins a window. If a table never has a window, residency_place refuses nothing. */
void residency_window(struct residency *r);
/*
 * Counts a use of the unit in the slot. In this window the slot is not assigned again, even
 * if the unit is evicted.
 */
void residency_use(struct residency *r, u32 slot);
/*
 * Assigns a slot to a unit that residency_find does not find, and returns the slot. From
 * now on the table finds the unit there, unless `most` is 0. Returns RESIDENCY_NONE, and
 * changes nothing, if the slot has been used in this window already.
 */
u32 residency_place(struct residency *r, bool in, u32 unit, u64 value);
/*
 * Frees all slots, in the order of their numbers. A slot used in this window cannot be
 * assigned again in this window.
 */
void residency_clear(struct residency *r);

#endif
