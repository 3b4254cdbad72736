/* SPDX-License-Identifier: Apache-2.0 */
/* The table of residency: a heap of slots by key, and a queue of free slots. */
#include "stream/residency.h"

#include <assert.h>

/*
 * A slot goes through these states: free (in the queue `free`), lately assigned (in the
 * queue `lately`), evictable (in the heap), then free again.
 */
struct slot {
	struct held held;
	u64 key;	/* in the heap */
	u64 window;	/* the window of the last use; 0: none */
	u32 unit;	/* RESIDENCY_NONE: free */
	u32 at;		/* its index in the heap; RESIDENCY_NONE: not there */
	bool in;
};

struct unit {
	u32 slot;	/* or RESIDENCY_NONE */
	u32 uses;	/* kept when the unit is evicted */
};

struct queue {
	u32 *slot, first, n;	/* a ring of n_slots */
};

struct residency {
	struct residency_how how;
	struct slot *slot;
	struct unit *unit[2];		/* one block of memory: out-units, then in-units */
	u64 clock, pass, window;
	u32 n_held;
	u32 *heap, n_heap;		/* the next slot to evict is heap[0]; valid if heap_valid */
	bool heap_valid;		/* false from the start of a pass until it places a unit */
	/* The last how.lately slots assigned since the heap was made. */
	struct queue lately;
	struct queue free;
};

u64 residency_auto(const struct held *h, u64 pass)
{
	return h->pass < pass ? h->arrival : h->last_use;
}

u64 residency_fifo(const struct held *h, u64 pass) { (void)pass; return h->arrival; }
u64 residency_lru(const struct held *h, u64 pass) { (void)pass; return h->last_use; }
u64 residency_frequency(const struct held *h, u64 pass) { (void)pass; return h->uses; }
u64 residency_latest(const struct held *h, u64 pass) { (void)pass; return ~h->last_use; }

u64 residency_pinned(const struct held *h, u64 pass)
{
	(void)pass;
	return ((u64)h->entry->n_edges << 8) / max_u64(h->entry->n_rows, 1);
}

/*
 * The budget counts 64 bytes more for a block than it has. For a large block it counts up
 * to 8191 bytes more, which is less than 1/256 of the block.
 */
u64 residency_bytes(u64 n_units, u64 n_slots)
{
	u64 each = sizeof(struct slot) + 3 * sizeof(u32);

	return sizeof(struct residency) + 4 * 64 + (n_units + 1) * sizeof(struct unit) +
	       div_up(n_units, 32) + n_slots * (each + 1);
}
_Static_assert(sizeof(struct slot) + 3 * sizeof(u32) <= 256 && sizeof(struct unit) == 8,
	       "residency_bytes assumes these sizes");

mill_err residency_open(struct residency **out, struct budget *budget,
			const struct residency_how *how)
{
	u64 n_units = (u64)how->n_units[0] + how->n_units[1];
	struct residency *r;
	mill_err err;

	assert(how->n_slots && how->most <= how->n_slots);
	TRY(memory_new(&r, budget, 1, sizeof(*r), "the page table"));
	r->how = *how;
	r->how.lately = (u32)min_u64(how->lately, how->most / 2);
	err = memory_new(&r->slot, budget, how->n_slots, sizeof(*r->slot), "the slots");
	if (!err)
		err = memory_new(&r->heap, budget, 3 * (u64)how->n_slots, sizeof(u32), "the slots");
	if (!err)
		err = memory_new(&r->unit[0], budget, n_units + 1, sizeof(struct unit),
				 "the page table");
	if (err) {
		residency_close(r);
		return err;
	}
	r->lately.slot = r->heap + how->n_slots;
	r->free.slot = r->lately.slot + how->n_slots;
	r->unit[1] = r->unit[0] + how->n_units[0];
	residency_clear(r);
	*out = r;
	return MILL_OK;
}

void residency_close(struct residency *r)
{
	if (!r)
		return;
	memory_free(r->unit[0]);
	memory_free(r->heap);
	memory_free(r->slot);
	memory_free(r);
}

u32 residency_slots(const struct residency *r) { return r->how.n_slots; }
u32 residency_most(const struct residency *r) { return r->how.most; }
u32 residency_find(const struct residency *r, bool in, u32 unit) { return r->unit[in][unit].slot; }

/* ---- The heap ---- */

static bool goes_before(const struct residency *r, u32 a, u32 b)
{
	const struct slot *x = &r->slot[a], *y = &r->slot[b];

	return x->key < y->key || (x->key == y->key && x->held.arrival < y->held.arrival);
}

static void heap_set(struct residency *r, u32 at, u32 slot)
{
	r->heap[at] = slot;
	r->slot[slot].at = at;
}

/*
 * Puts the slot into the gap at index `at` of the heap, then moves it up or down by its
 * key.
 */
static void heap_sift(struct residency *r, u32 at, u32 slot)
{
	for (; at && goes_before(r, slot, r->heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_set(r, at, r->heap[(at - 1) / 2]);
	for (u32 child; child = 2 * at + 1, child < r->n_heap; at = child) {
		if (child + 1 < r->n_heap && goes_before(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (!goes_before(r, r->heap[child], slot))
			break;
		heap_set(r, at, r->heap[child]);
	}
	heap_set(r, at, slot);
}

static void heap_put(struct residency *r, u32 slot)
{
	r->slot[slot].key = r->how.key(&r->slot[slot].held, r->pass);
	heap_sift(r, r->n_heap++, slot);
}

static u32 heap_get(struct residency *r)
{
	u32 top = r->heap[0], last = r->heap[--r->n_heap];

	if (r->n_heap)
		heap_sift(r, 0, last);
	r->slot[top].at = RESIDENCY_NONE;
	return top;
}

static void heap_make(struct residency *r)
{
	r->heap_valid = true;
	r->n_heap = r->lately.n = 0;
	for (u32 i = 0; i < r->how.n_slots; i++)
		if (r->slot[i].unit != RESIDENCY_NONE)
			heap_put(r, i);
}

/* ---- Slots ---- */

static void push(const struct residency *r, struct queue *q, u32 slot)
{
	q->slot[(q->first + (u64)q->n++) % r->how.n_slots] = slot;
}

static u32 pop(const struct residency *r, struct queue *q)
{
	u32 slot = q->slot[q->first];

	q->first = (q->first + 1) % r->how.n_slots;
	q->n--;
	return slot;
}

static void release(struct residency *r, u32 slot)
{
	struct slot *s = &r->slot[slot];

	r->unit[s->in][s->unit].slot = RESIDENCY_NONE;
	s->unit = RESIDENCY_NONE;
	r->n_held--;
	push(r, &r->free, slot);
}

static void hold(struct residency *r, u32 slot, bool in, u32 unit, u64 value)
{
	struct slot *s = &r->slot[slot];

	s->in = in;
	s->unit = unit;
	s->held = (struct held){ .arrival = r->clock + 1, .value = value };
	if (r->how.entry[in])
		s->held.entry = &r->how.entry[in][unit];
	r->unit[in][unit].slot = slot;
	r->n_held++;
	residency_use(r, slot);
}

void residency_clear(struct residency *r)
{
	u64 n_units = (u64)r->how.n_units[0] + r->how.n_units[1];

	for (u64 i = 0; i < n_units; i++)
		r->unit[0][i].slot = RESIDENCY_NONE;
	r->n_held = r->free.n = 0;
	for (u32 i = 0; i < r->how.n_slots; i++) {
		r->slot[i].unit = r->slot[i].at = RESIDENCY_NONE;
		push(r, &r->free, i);
	}
	r->heap_valid = false;
}

/* ---- Passes and windows ---- */

void residency_begin(struct residency *r)
{
	r->pass++;
	r->heap_valid = false;
}

void residency_window(struct residency *r) { r->window++; }

void residency_use(struct residency *r, u32 slot)
{
	struct slot *s = &r->slot[slot];

	assert(s->unit != RESIDENCY_NONE);
	s->window = r->window;
	s->held.last_use = ++r->clock;
	s->held.pass = r->pass;
	s->held.uses = ++r->unit[s->in][s->unit].uses;
	if (r->heap_valid && s->at != RESIDENCY_NONE) {
		s->key = r->how.key(&s->held, r->pass);
		heap_sift(r, s->at, slot);
	}
}

u32 residency_place(struct residency *r, bool in, u32 unit, u64 value)
{
	u32 slot;

	assert(residency_find(r, in, unit) == RESIDENCY_NONE);
	if (!r->heap_valid)
		heap_make(r);
	slot = r->free.n ? r->free.slot[r->free.first] : r->heap[0];
	if (r->window && r->slot[slot].window == r->window)
		return RESIDENCY_NONE;
	if (r->n_held && r->n_held == r->how.most)
		release(r, heap_get(r));
	slot = pop(r, &r->free);
	hold(r, slot, in, unit, value);
	if (!r->how.most) {
		release(r, slot);
		return slot;
	}
	push(r, &r->lately, slot);
	if (r->lately.n > r->how.lately)
		heap_put(r, pop(r, &r->lately));
	return slot;
}
