/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which slots of a device hold which pages: `most` pages stay, of which the least recently used goes first (GTS's cachedPIDMap), and other slots
 * take turns for those that pass. Decided for the pages of a window in their order, before any of them moves.
 */
#ifndef ENGINE_LRU_H
#define ENGINE_LRU_H

#include "base/memory.h"

#define LRU_NONE UINT32_MAX

struct lru;

/* n_pages: of both directions. n_slots > most, or as many as there are pages. */
mill_err lru_open(struct lru **out, struct budget *budget, const u32 n_pages[2], u32 n_slots, u32 most);
void lru_close(struct lru *l);
u32 lru_slots(const struct lru *l);
u32 lru_most(const struct lru *l);
void lru_clear(struct lru *l);

/*
 * The slot for a page, and whether it is there already. LRU_NONE: the slot that it would get is used by another page of this window, which must
 * pass first; nothing is changed then.
 */
void lru_window(struct lru *l);		/* the next one begins */
u32 lru_place(struct lru *l, bool in, u32 page, bool *there);

#endif
