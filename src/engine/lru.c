/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lru.h"

#include <string.h>

/* A slot is in one of two lists: those whose pages stay, by their last use, or those that are free, by when they became so. */
struct lru_slot {
	u32 page;		/* LRU_NONE: none that stays */
	bool in;
	u32 before, behind;
	u64 window;		/* in which it was used last */
};

struct lru {
	u32 n_slots, most, n_held;
	u64 window;
	struct lru_slot *slot;	/* and two more: the heads of the lists */
	u32 *slot_of[2];
	u32 n_pages[2];
};

static u32 held(const struct lru *l) { return l->n_slots; }
static u32 idle(const struct lru *l) { return l->n_slots + 1; }

static void unlink_slot(struct lru *l, u32 i)
{
	struct lru_slot *s = &l->slot[i];

	l->slot[s->before].behind = s->behind;
	l->slot[s->behind].before = s->before;
}

/* As the last of a list. */
static void append(struct lru *l, u32 list, u32 i)
{
	struct lru_slot *s = &l->slot[i], *head = &l->slot[list];

	s->before = head->before;
	s->behind = list;
	l->slot[head->before].behind = i;
	head->before = i;
}

void lru_clear(struct lru *l)
{
	for (int in = 0; in < 2; in++)
		memset(l->slot_of[in], 0xff, (l->n_pages[in] + 1u) * sizeof(u32));
	for (u32 list = held(l); list <= idle(l); list++)
		l->slot[list].before = l->slot[list].behind = list;
	for (u32 i = 0; i < l->n_slots; i++) {
		l->slot[i].page = LRU_NONE;
		append(l, idle(l), i);
	}
	l->n_held = 0;
}

mill_err lru_open(struct lru **out, struct budget *budget, const u32 n_pages[2], u32 n_slots, u32 most)
{
	struct lru *l;
	mill_err err;

	TRY(memory_new(&l, budget, 1, sizeof(*l), "the page table"));
	l->n_slots = n_slots;
	l->most = most;
	err = memory_new(&l->slot, budget, n_slots + 2u, sizeof(*l->slot), "the slots");
	for (int in = 0; in < 2 && !err; in++) {
		l->n_pages[in] = n_pages[in];
		err = memory_new(&l->slot_of[in], budget, n_pages[in] + 1u, sizeof(u32), "the page table");
	}
	if (err) {
		lru_close(l);
		return err;
	}
	lru_clear(l);
	*out = l;
	return MILL_OK;
}

void lru_close(struct lru *l)
{
	if (!l)
		return;
	memory_free(l->slot_of[0]);
	memory_free(l->slot_of[1]);
	memory_free(l->slot);
	memory_free(l);
}

u32 lru_slots(const struct lru *l) { return l->n_slots; }
u32 lru_most(const struct lru *l) { return l->most; }
void lru_window(struct lru *l) { l->window++; }

static void release(struct lru *l, u32 i)
{
	struct lru_slot *s = &l->slot[i];

	l->slot_of[s->in][s->page] = LRU_NONE;
	s->page = LRU_NONE;
	unlink_slot(l, i);
	append(l, idle(l), i);
	l->n_held--;
}

u32 lru_place(struct lru *l, bool in, u32 page, bool *there)
{
	u32 i = l->slot_of[in][page];

	*there = i != LRU_NONE;
	if (!*there)
		i = l->slot[idle(l)].behind;
	if (!*there && l->slot[i].window == l->window)
		return LRU_NONE;
	l->slot[i].window = l->window;
	unlink_slot(l, i);
	append(l, held(l), i);
	if (*there)
		return i;
	l->slot[i].page = page;
	l->slot[i].in = in;
	l->slot_of[in][page] = i;
	if (++l->n_held > l->most)
		release(l, l->slot[held(l)].behind);
	return i;
}
