/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/evict.h"

#include <assert.h>
#include <string.h>

struct slot {
	const struct pages *pages;	/* NULL: empty */
	u32 page;
	struct held held;
	u64 key;
};

struct evict {
	u32 n_pages[2];		/* out, in */
	const struct evict_policy *policy;
	u32 n_slots, n_lately;
	struct slot *slot;
	u32 *slot_of[2];	/* by page; out, in */
	u32 *uses[2];		/* passes for which each page was active */
	u64 clock, pass;
	/* The slots that can be given away: a heap, the next one on top. Made when the first page asks. */
	u32 *heap, n_heap;
	bool heaped;
	u32 *lately, n_given;	/* a ring: the last n_lately of n_given slots */
};

/* The default: what this pass does not need goes first, the oldest first; then what it has used already, in that order. */
static u64 auto_key(const struct held *h, u64 pass) { return h->pass < pass ? h->arrival : h->last_use; }

static u64 fifo_key(const struct held *h, u64 pass)
{
	(void)pass;
	return h->arrival;
}

static u64 lru_key(const struct held *h, u64 pass)
{
	(void)pass;
	return h->last_use;
}

static u64 frequency_key(const struct held *h, u64 pass)
{
	(void)pass;
	return h->uses;
}

/* What came by last will be wanted last. */
static u64 latest_key(const struct held *h, u64 pass)
{
	(void)pass;
	return ~h->last_use;
}

const struct evict_policy evict_latest = { "latest", latest_key };

/*
 * Hubs stay: the page with the shortest lists goes first, by edges a row in 1/256. Which vertices have most in-edges
 * no page knows, but most graphs have them where the long lists are, and the longest fill pages of their own.
 */
static u64 pinned_key(const struct held *h, u64 pass)
{
	(void)pass;
	return ((u64)h->entry->n_edges << 8) / max_u64(h->entry->n_rows, 1);
}

static const struct evict_policy policies[] = {
	{ "auto", auto_key }, { "fifo", fifo_key }, { "lru", lru_key },
	{ "frequency", frequency_key }, { "pinned", pinned_key },
	{ EVICT_GRAPHIE, fifo_key }, { EVICT_GTS, lru_key },
};

const char *const evict_names[] = { "auto", "fifo", "lru", "frequency", "pinned", EVICT_GRAPHIE, EVICT_GTS, NULL };
_Static_assert(ARRAY_LEN(evict_names) == ARRAY_LEN(policies) + 1, "every policy has its name");

const struct evict_policy *evict_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (!name || !strcmp(policies[i].name, name))
			return &policies[i];
	return NULL;
}

static int side(const struct pages *p) { return p->data == STORE_OUT_PAGES ? 0 : 1; }
static u32 in_pages(const struct store *st) { return st->has_in && st->directed ? st->in.n_pages : 0; }

u64 evict_bytes(const struct store *st, u64 n_slots)
{
	return 2 * sizeof(u32) * ((u64)st->out.n_pages + in_pages(st)) + n_slots * (sizeof(struct slot) + 2 * sizeof(u32));
}

void evict_count_pages(u32 n_pages[2], const struct store *st)
{
	n_pages[0] = st->out.n_pages;
	n_pages[1] = in_pages(st);
}

mill_err evict_open(struct evict **out, struct budget *budget, const u32 n_pages[2], u32 n_slots, u32 lately,
		    const struct evict_policy *policy)
{
	struct evict *e;
	mill_err err;

	TRY(memory_new(&e, budget, 1, sizeof(*e), "the page table"));
	e->n_pages[0] = n_pages[0];
	e->n_pages[1] = n_pages[1];
	e->policy = policy;
	e->n_slots = n_slots;
	e->n_lately = (u32)min_u64(lately, n_slots / 2);
	err = memory_new(&e->slot, budget, n_slots + 1u, sizeof(*e->slot), "the slots");
	if (!err)
		err = memory_new(&e->heap, budget, n_slots + 1u, sizeof(u32), "the slots");
	if (!err)
		err = memory_new(&e->lately, budget, e->n_lately + 1u, sizeof(u32), "the slots");
	for (int i = 0; i < 2 && !err; i++) {
		err = memory_new(&e->slot_of[i], budget, n_pages[i] + 1u, sizeof(u32), "the page table");
		if (!err)
			err = memory_new(&e->uses[i], budget, n_pages[i] + 1u, sizeof(u32), "the page table");
	}
	if (err) {
		evict_close(e);
		return err;
	}
	evict_clear(e);
	*out = e;
	return MILL_OK;
}

void evict_close(struct evict *e)
{
	if (!e)
		return;
	for (int i = 0; i < 2; i++) {
		memory_free(e->uses[i]);
		memory_free(e->slot_of[i]);
	}
	memory_free(e->lately);
	memory_free(e->heap);
	memory_free(e->slot);
	memory_free(e);
}

void evict_clear(struct evict *e)
{
	memset(e->slot_of[0], 0xff, (e->n_pages[0] + 1u) * sizeof(u32));
	memset(e->slot_of[1], 0xff, (e->n_pages[1] + 1u) * sizeof(u32));
	for (u32 i = 0; i < e->n_slots; i++)
		e->slot[i].pages = NULL;
}

u32 evict_slot(const struct evict *e, const struct pages *p, u32 page) { return e->slot_of[side(p)][page]; }

/* ---- The heap ---- */

/* Empty slots first, in the order of their memory. */
static bool goes_before(const struct evict *e, u32 a, u32 b)
{
	const struct slot *x = &e->slot[a], *y = &e->slot[b];

	if (!x->pages || !y->pages)
		return !x->pages && (y->pages || a < b);
	return x->key < y->key || (x->key == y->key && x->held.arrival < y->held.arrival);
}

static void heap_put(struct evict *e, u32 slot)
{
	u32 at = e->n_heap++;

	if (e->slot[slot].pages)
		e->slot[slot].key = e->policy->key(&e->slot[slot].held, e->pass);
	for (; at && goes_before(e, slot, e->heap[(at - 1) / 2]); at = (at - 1) / 2)
		e->heap[at] = e->heap[(at - 1) / 2];
	e->heap[at] = slot;
}

static u32 heap_get(struct evict *e)
{
	u32 top = e->heap[0], last = e->heap[--e->n_heap], at = 0;

	for (u32 child; child = 2 * at + 1, child < e->n_heap; at = child) {
		if (child + 1 < e->n_heap && goes_before(e, e->heap[child + 1], e->heap[child]))
			child++;
		if (!goes_before(e, e->heap[child], last))
			break;
		e->heap[at] = e->heap[child];
	}
	e->heap[at] = last;
	return top;
}

/* ---- Passes ---- */

void evict_begin(struct evict *e)
{
	e->pass++;
	e->heaped = false;
}

static void count_use(struct evict *e, u32 slot)
{
	struct slot *s = &e->slot[slot];

	s->held.last_use = ++e->clock;
	s->held.pass = e->pass;
	s->held.uses = ++e->uses[side(s->pages)][s->page];
}

void evict_use(struct evict *e, u32 slot)
{
	assert(!e->heaped && e->slot[slot].pages);
	count_use(e, slot);
}

static u32 give_away(struct evict *e)
{
	u32 slot;

	if (!e->heaped) {
		e->heaped = true;
		e->n_heap = e->n_given = 0;
		for (u32 i = 0; i < e->n_slots; i++)
			heap_put(e, i);
	}
	slot = heap_get(e);
	if (!e->n_lately)
		return slot;
	/* What leaves the ring can be given away again. */
	if (e->n_given >= e->n_lately)
		heap_put(e, e->lately[e->n_given % e->n_lately]);
	e->lately[e->n_given++ % e->n_lately] = slot;
	return slot;
}

u32 evict_take(struct evict *e, const struct pages *p, u32 page)
{
	u32 slot = give_away(e);
	struct slot *s = &e->slot[slot];

	if (s->pages)
		e->slot_of[side(s->pages)][s->page] = NO_SLOT_HELD;
	s->pages = p;
	s->page = page;
	s->held = (struct held){ .arrival = e->clock + 1, .entry = &p->entry[page] };
	e->slot_of[side(p)][page] = slot;
	count_use(e, slot);
	if (!e->n_lately)
		heap_put(e, slot);
	return slot;
}
