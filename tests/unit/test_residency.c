/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which unit gives its slot to which. Passes: every key's decisions, written down as sequences, and against a table without a heap.
 * Windows: against what least recent use means (of all units placed, the `most` last ones stay), and no unit of a window loses its
 * slot to another.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "stream/residency.h"

#define OK(call) assert_int_equal(call, MILL_OK)
#define PAGES 10u

/* Page 3 has the longest lists, then 7. */
static struct page_entry entry[PAGES];

static void make_entries(void)
{
	for (u32 i = 0; i < PAGES; i++)
		entry[i] = (struct page_entry){ .n_rows = i == 3 ? 2 : i == 7 ? 20 : 1000, .n_edges = 5000 };
}

/* ---- Passes, as sequences ---- */

static const struct {
	const char *name;
	residency_key *key;
} keys[] = {
	{ "auto", residency_auto }, { "fifo", residency_fifo }, { "lru", residency_lru }, { "frequency", residency_frequency },
	{ "pinned", residency_pinned }, { "latest", residency_latest },
};

static residency_key *key_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].key;
	fail_msg("no key %s", name);
	return NULL;
}

static struct residency *open_passes(residency_key *key, u32 n_slots, u32 most, u32 lately)
{
	struct residency_how how = {
		.n_units = { PAGES }, .entry = { entry }, .n_slots = n_slots, .most = most, .lately = lately, .key = key,
	};
	struct residency *r;

	OK(residency_open(&r, NULL, &how));
	return r;
}

/* Active pages as digits; what was missing is added to `read`. As a stream plans it. */
static void pass(struct residency *r, const char *active, char *read)
{
	char missing[PAGES + 1] = "";

	residency_begin(r);
	for (const char *c = active; *c; c++) {
		u32 slot = residency_find(r, false, (u32)(*c - '0'));

		if (slot == RESIDENCY_NONE)
			strncat(missing, c, 1);
		else
			residency_use(r, slot);
	}
	for (const char *c = missing; *c; c++)
		residency_place(r, false, (u32)(*c - '0'), 0);
	strcat(read, missing);
	strcat(read, "|");
}

static void test_decisions(void **state)
{
	static const struct {
		const char *key;
		u32 slots, most, lately;
		const char *passes[6];
		const char *read;
	} cases[] = {
		/* Scans: as many hits as slots, in every pass, where LRU in page order would have none. */
		{ "auto", 4, 4, 0, { "0123456789", "0123456789", "0123456789" }, "0123456789|012345|016789|" },
		{ "lru", 4, 4, 0, { "0123456789", "0123456789" }, "0123456789|012345|" },
		{ "fifo", 4, 4, 0, { "0123456789", "0123456789" }, "0123456789|012345|" },
		/* 0 is old and needed, 1 is old and not: auto keeps 0. */
		{ "auto", 3, 3, 0, { "012", "04", "012" }, "012|4|1|" },
		{ "fifo", 3, 3, 0, { "012", "04", "012" }, "012|4|0|" },
		/* 0 came first but was used last. */
		{ "lru", 3, 3, 0, { "012", "0", "2", "5", "0" }, "012|||5||" },
		{ "fifo", 3, 3, 0, { "012", "0", "2", "5", "0" }, "012|||5|0|" },
		{ "auto", 3, 3, 0, { "012", "0", "2", "5", "0" }, "012|||5|0|" },
		/* The one that came last goes: short passes of one long scan. */
		{ "latest", 3, 3, 0, { "01", "23", "45", "67", "01" }, "01|23|45|67||" },
		{ "fifo", 3, 3, 0, { "01", "23", "45", "67", "01" }, "01|23|45|67|01|" },
		/* 0 was active in three passes, 1 in two: they stay, others pass through the third slot. */
		{ "frequency", 3, 3, 0, { "012", "01", "0", "5", "6", "01" }, "012|||5|6||" },
		{ "lru", 3, 3, 0, { "012", "01", "0", "5", "6", "01" }, "012|||5|6|1|" },
		/* What a page did before it came again counts. */
		{ "frequency", 2, 2, 0, { "0", "0", "0", "123", "0", "4" }, "0|||123||4|" },
		/* Hubs stay. */
		{ "pinned", 3, 3, 0, { "0123456789", "0123456789" }, "0123456789|0124568|" },
		{ "pinned", 3, 3, 0, { "37", "012", "45", "37" }, "37|012|45||" },
		/* Two at a time are under way: no slot is assigned twice in a row, and the hub still stays. */
		{ "pinned", 4, 4, 2, { "3", "012456", "3" }, "3|012456||" },
		/* Slots for transit hold nothing that is found again. */
		{ "fifo", 4, 3, 0, { "012", "3", "0", "123" }, "012|3|0|1|" },
		{ "pinned", 4, 2, 0, { "37", "012", "37" }, "37|012|7|" },
		{ "auto", 2, 0, 0, { "0", "0", "01", "1" }, "0|0|01|1|" },
	};

	(void)state;
	make_entries();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct residency *r = open_passes(key_of(cases[i].key), cases[i].slots, cases[i].most, cases[i].lately);
		char read[128] = "";

		for (size_t k = 0; k < 6 && cases[i].passes[k]; k++)
			pass(r, cases[i].passes[k], read);
		if (strcmp(read, cases[i].read))
			fail_msg("case %zu, %s: read %s instead of %s", i, cases[i].key, read, cases[i].read);
		residency_close(r);
	}
}

/* Slots that were assigned lately are not reassigned, whatever the key. */
static void test_lately(void **state)
{
	(void)state;
	make_entries();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct residency *r = open_passes(keys[i].key, 5, 5, 2);
		u32 before[2] = { RESIDENCY_NONE, RESIDENCY_NONE };

		for (u32 k = 0; k < 3; k++) {
			residency_begin(r);
			for (u32 page = 0; page < PAGES; page++)
				if (residency_find(r, false, page) != RESIDENCY_NONE)
					residency_use(r, residency_find(r, false, page));
			for (u32 page = 0; page < PAGES; page++) {
				u32 slot;

				if (residency_find(r, false, page) != RESIDENCY_NONE)
					continue;
				slot = residency_place(r, false, page, 0);
				assert_true(slot < 5);
				assert_int_equal(residency_find(r, false, page), slot);
				if (page && (slot == before[0] || slot == before[1]))
					fail_msg("%s: slot %u again", keys[i].name, slot);
				before[0] = before[1];
				before[1] = slot;
			}
			before[0] = before[1] = RESIDENCY_NONE;
		}
		residency_clear(r);
		for (u32 page = 0; page < PAGES; page++)
			assert_int_equal(residency_find(r, false, page), RESIDENCY_NONE);
		residency_close(r);
	}
}

/* The policy's own number, and a use after the first unit of a pass was placed. */
static u64 by_value(const struct held *h, u64 pass)
{
	(void)pass;
	assert_null(h->entry);
	return h->value;
}

static void test_value(void **state)
{
	static const u64 value[] = { 40, 10, 30, 20, 50, 5 }, goes[] = { 1, 3, 2 };
	struct residency_how how = { .n_units = { 0, PAGES }, .n_slots = 4, .most = 4, .key = by_value };
	struct residency *r;

	(void)state;
	OK(residency_open(&r, NULL, &how));
	residency_begin(r);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(residency_place(r, true, i, value[i]), i);
	for (u32 i = 0; i < ARRAY_LEN(goes); i++)
		assert_int_equal(residency_place(r, true, 4 + i, 100), goes[i]);
	residency_close(r);
	how.key = residency_lru;
	OK(residency_open(&r, NULL, &how));
	residency_begin(r);
	for (u32 i = 0; i < 4; i++)
		residency_place(r, true, i, 0);
	residency_place(r, true, 4, 0);	/* over 0 */
	residency_use(r, residency_find(r, true, 1));
	assert_int_equal(residency_place(r, true, 5, 0), 2);
	assert_int_equal(residency_place(r, true, 6, 0), 3);
	residency_close(r);
}

/* ---- Passes, against a table without a heap ---- */

#define SLOTS 20u
#define UNITS 40u

struct plain {
	u32 n_slots, lately, n_given;
	u32 unit[SLOTS], given[UNITS];	/* unit: of both directions, or RESIDENCY_NONE; given: slots of this pass */
	struct held held[SLOTS];
	u32 uses[2 * UNITS];
	u64 clock, pass;
};

static bool is_late(const struct plain *p, u32 slot)
{
	for (u32 i = 1; i <= p->lately && i <= p->n_given; i++)
		if (p->given[p->n_given - i] == slot)
			return true;
	return false;
}

/* The first empty slot, or of those that are not late the one with the smallest key. */
static u32 plain_choice(const struct plain *p, residency_key *key)
{
	u32 best = RESIDENCY_NONE;

	for (u32 i = 0; i < p->n_slots; i++)
		if (p->unit[i] == RESIDENCY_NONE)
			return i;
	for (u32 i = 0; i < p->n_slots; i++) {
		const struct held *x = &p->held[i], *y = &p->held[best == RESIDENCY_NONE ? i : best];
		u64 a = key(x, p->pass), b = key(y, p->pass);

		if (!is_late(p, i) && (best == RESIDENCY_NONE || a < b || (a == b && x->arrival < y->arrival)))
			best = i;
	}
	return best;
}

static void plain_use(struct plain *p, u32 slot)
{
	p->held[slot].last_use = ++p->clock;
	p->held[slot].pass = p->pass;
	p->held[slot].uses = ++p->uses[p->unit[slot]];
}

static void plain_pass(struct residency *r, struct plain *p, bool in, const struct residency_how *how, u32 seed)
{
	residency_begin(r);
	p->pass++;
	p->n_given = 0;
	for (u32 i = 0; i < p->n_slots; i++)	/* in any order, as long as it is the same */
		if (p->unit[i] != RESIDENCY_NONE && p->unit[i] / UNITS == in && random_below(seed, p->clock, 2)) {
			assert_int_equal(residency_find(r, in, p->unit[i] % UNITS), i);
			residency_use(r, i);
			plain_use(p, i);
		}
	for (u32 i = 0; i < how->n_units[in]; i++) {
		u32 slot;

		if (residency_find(r, in, i) != RESIDENCY_NONE || random_below(seed, p->clock + i, 2))
			continue;
		slot = plain_choice(p, how->key);
		assert_int_equal(residency_place(r, in, i, 0), slot);
		p->given[p->n_given++] = slot;
		p->unit[slot] = in * UNITS + i;
		p->held[slot] = (struct held){ .arrival = p->clock + 1, .entry = &how->entry[in][i] };
		plain_use(p, slot);
	}
}

static void test_passes(void **state)
{
	static struct page_entry random_entry[UNITS];

	(void)state;
	for (u32 i = 0; i < UNITS; i++)
		random_entry[i] = (struct page_entry){ .n_rows = (u32)random_below(1, i, 5), .n_edges = (u32)random_below(2, i, 5) };
	for (u32 seed = 0; seed < repeats(3000); seed++) {
		u32 n_slots = 1 + (u32)random_below(seed, 0, SLOTS), lately = (u32)random_below(seed, 1, n_slots + 2);
		struct residency_how how = {
			.n_units = { 1 + (u32)random_below(seed, 2, UNITS), (u32)random_below(seed, 3, UNITS) },
			.entry = { random_entry, random_entry },
			.n_slots = n_slots, .most = n_slots, .lately = lately, .key = keys[seed % ARRAY_LEN(keys)].key,
		};
		struct plain p = { .n_slots = n_slots, .lately = (u32)min_u64(lately, n_slots / 2) };
		struct residency *r;

		OK(residency_open(&r, NULL, &how));
		memset(p.unit, 0xff, sizeof(p.unit));
		for (u32 i = 0; i < 20; i++) {
			if (random_below(seed, 4 + i, 10) == 0) {
				residency_clear(r);
				memset(p.unit, 0xff, sizeof(p.unit));
			}
			plain_pass(r, &p, random_below(seed, 100 + i, 3) == 0, &how, seed);
		}
		residency_close(r);
	}
}

/* ---- Windows, as sequences ---- */

static struct residency *open_windows(u32 out_units, u32 in_units, u32 n_slots, u32 most)
{
	struct residency_how how = { .n_units = { out_units, in_units }, .n_slots = n_slots, .most = most, .key = residency_lru };
	struct residency *r;

	OK(residency_open(&r, NULL, &how));
	assert_int_equal(residency_slots(r), n_slots);
	assert_int_equal(residency_most(r), most);
	residency_window(r);
	return r;
}

static u32 place(struct residency *r, bool in, u32 unit, bool *there)
{
	u32 slot = residency_find(r, in, unit);

	*there = slot != RESIDENCY_NONE;
	if (!*there)
		return residency_place(r, in, unit, 0);
	residency_use(r, slot);
	return slot;
}

/* Units as letters, lower case out, upper case in; '|' begins a window, '!' forgets all. What each gets: '.' there, '+' moved, '0' no slot. */
static void test_windows(void **state)
{
	static const struct {
		u32 n_slots, most;
		const char *units, *got;
	} cases[] = {
		{ 3, 2, "ab|ab|c|a|b|c", "++|..|+|+|+|+" },	/* a was used before b, so c takes its place, and so on */
		{ 3, 2, "ab|ba|c|a|b", "++|..|+|.|+" },		/* b was used before a */
		{ 3, 2, "ab|a|c|ab", "++|.|+|.+" },
		{ 4, 2, "abc|d|cd|ab", "+++|+|..|++" },
		{ 2, 2, "ab|ab|ba", "++|..|.." },		/* as many slots as units */
		{ 2, 2, "abc|c|ab|bc", "++0|+|++|.+" },		/* fewer, and none for transit */
		{ 2, 0, "ab|ab", "++|++" },			/* nothing stays */
		{ 2, 0, "abc|c", "++0|+" },
		{ 1, 0, "ab|b|a", "+0|+|+" },
		{ 2, 1, "abc|c|b", "++0|+|+" },
		{ 3, 1, "abcd|d|c", "+++0|+|+" },
		{ 3, 2, "ab|cb|a", "++|+.|+" },
		{ 3, 2, "aA|aA|b|A|a", "++|..|+|.|+" },		/* directions have units of their own */
		{ 2, 1, "a|A|a|A", "+|+|+|+" },
		{ 3, 2, "ab|!ab|ab", "++|!++|.." },
		{ 2, 1, "ab!c|a", "++!0|+" },			/* what is forgotten is still in use */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct residency *r = open_windows(26, 26, cases[i].n_slots, cases[i].most);
		char got[64] = "";

		for (const char *c = cases[i].units; *c; c++) {
			bool there, in = *c < 'a';

			if (*c == '|')
				residency_window(r);
			else if (*c == '!')
				residency_clear(r);
			else if (place(r, in, (u32)(*c - (in ? 'A' : 'a')), &there) == RESIDENCY_NONE)
				strcat(got, "0");
			else
				strcat(got, there ? "." : "+");
			if (*c == '|' || *c == '!')
				strncat(got, c, 1);
		}
		if (strcmp(got, cases[i].got))
			fail_msg("%u slots, %u stay, %s: %s, not %s", cases[i].n_slots, cases[i].most, cases[i].units, got, cases[i].got);
		residency_close(r);
	}
}

/* ---- Windows, against a model ---- */

#define MODEL_UNITS 24u

struct model {
	u32 n_slots, most;
	u32 n_recent, recent[2 * MODEL_UNITS];	/* units by their last use, the last first; of in-edges: + MODEL_UNITS */
	u32 slot[2 * MODEL_UNITS];	/* what each got last */
	bool used[2 * MODEL_UNITS];	/* slots, in this window */
};

static u32 rank_of(const struct model *m, u32 unit)
{
	u32 i = 0;

	while (i < m->n_recent && m->recent[i] != unit)
		i++;
	return i;
}

static bool stays(const struct model *m, u32 unit)
{
	u32 rank = rank_of(m, unit);

	return rank < m->n_recent && rank < m->most;
}

static bool has_free_slot(const struct model *m)
{
	for (u32 s = 0; s < m->n_slots; s++) {
		bool taken = m->used[s];

		for (u32 i = 0; i < m->n_recent && i < m->most; i++)
			taken = taken || m->slot[m->recent[i]] == s;
		if (!taken)
			return true;
	}
	return false;
}

static void model_use(struct model *m, u32 unit, u32 slot)
{
	u32 rank = rank_of(m, unit);

	if (rank == m->n_recent)
		m->n_recent++;
	memmove(m->recent + 1, m->recent, rank * sizeof(u32));
	m->recent[0] = unit;
	m->slot[unit] = slot;
	m->used[slot] = true;
}

/* Places one unit; returns whether it got a slot. */
static bool place_both(struct residency *r, struct model *m, bool in, u32 unit)
{
	u32 number = unit + in * MODEL_UNITS, slot;
	bool want = stays(m, number), there;

	slot = place(r, in, unit, &there);
	assert_int_equal(there, want);
	if (slot == RESIDENCY_NONE) {
		assert_false(want);
		assert_false(has_free_slot(m));
		return false;
	}
	assert_in_range(slot, 0, m->n_slots - 1);
	if (want) {
		assert_int_equal(slot, m->slot[number]);
	} else {
		assert_false(m->used[slot]);
		for (u32 i = 0; i < m->n_recent && i < m->most; i++)
			assert_int_not_equal(slot, m->slot[m->recent[i]]);
	}
	model_use(m, number, slot);
	return true;
}

static void next_window(struct residency *r, struct model *m)
{
	residency_window(r);
	memset(m->used, 0, sizeof(m->used));
}

static void test_random_windows(void **state)
{
	u32 refused = 0;

	(void)state;
	for (u32 seed = 0; seed < 300; seed++) {
		u32 n_out = 1 + (u32)random_below(seed, 0, MODEL_UNITS), n_in = (u32)random_below(seed, 1, MODEL_UNITS);
		u32 all = n_out + n_in, most = seed % 5 == 0 ? 0 : seed % 5 == 1 ? all : (u32)random_below(seed, 2, all);
		u32 n_slots = most == all ? all : most + 1 + (u32)random_below(seed, 3, 4);
		struct residency *r = open_windows(n_out, n_in, n_slots, most);
		struct model m = { .n_slots = n_slots, .most = most };

		for (u32 i = 4; i < 1004; i++) {
			u32 unit = (u32)random_below(seed, 2 * i, random_below(seed, 2 * i + 1, 3) ? all : all / 3 + 1);
			bool in = unit >= n_out;

			unit -= in * n_out;
			if (i % 97 == 0) {
				next_window(r, &m);
				residency_clear(r);
				m.n_recent = 0;
			} else if (random_below(seed, 4 * i, 7) == 0) {
				next_window(r, &m);
			}
			if (!place_both(r, &m, in, unit)) {
				refused++;
				assert_false(place_both(r, &m, in, unit));	/* nothing was changed */
				next_window(r, &m);
				assert_true(place_both(r, &m, in, unit));
			}
		}
		residency_close(r);
	}
	assert_in_range(refused, 1000, 300 * 900);	/* units were refused, and units were placed */
}

/* Slots for transit take turns, in the order in which they became free. */
static void test_transit(void **state)
{
	static const u32 slots[] = { 0, 1, 2, 3, 4, 0, 1, 2, 3, 4 };
	struct residency *r = open_windows(PAGES, 0, 5, 2);

	(void)state;
	for (u32 i = 0; i < PAGES; i++) {
		residency_window(r);
		assert_int_equal(residency_place(r, false, i, 0), slots[i]);
	}
	residency_window(r);
	residency_use(r, 3);		/* 8 in slot 3, 9 in slot 4: now 9 goes first */
	assert_int_equal(residency_place(r, false, 0, 0), 0);
	assert_int_equal(residency_find(r, false, 9), RESIDENCY_NONE);
	assert_int_equal(residency_find(r, false, 8), 3);
	assert_int_equal(residency_place(r, false, 1, 0), 1);
	assert_int_equal(residency_place(r, false, 2, 0), 2);
	assert_int_equal(residency_place(r, false, 3, 0), 4);	/* 9's, which had no use in this window; 8's had */
	assert_int_equal(residency_place(r, false, 4, 0), RESIDENCY_NONE);
	residency_close(r);
}

/* I scans of P units move I x P with B < P that stay, for the unit that comes next is the one that went; else P. */
static void test_scans(void **state)
{
	(void)state;
	for (u32 units = 1; units <= 12; units++)
		for (u32 most = 0; most <= units; most++)
			for (u32 lanes = 1; lanes <= 3; lanes++) {
				u32 scans = 4, moved = 0, windows = 0, n_slots = most == units ? units : most + lanes;
				struct residency *r = open_windows(units, 0, n_slots, most);

				for (u32 i = 0; i < scans * units; i++) {
					bool there;

					if (i % units == 0)
						residency_window(r);
					if (place(r, false, i % units, &there) == RESIDENCY_NONE) {
						windows++;
						residency_window(r);
						assert_int_not_equal(place(r, false, i % units, &there), RESIDENCY_NONE);
					}
					moved += !there;
				}
				assert_int_equal(moved, most < units ? scans * units : units);
				if (most == 0)	/* as many at a time as there are slots */
					assert_int_equal(windows, scans * (div_up(units, n_slots) - 1));
				if (most == units)
					assert_int_equal(windows, 0);
				residency_close(r);
			}
}

/* ---- Memory ---- */

static void test_memory(void **state)
{
	struct residency_how how = { .n_units = { 100, 50 }, .n_slots = 20, .most = 10, .key = residency_lru };
	struct residency *r;
	struct budget b;
	u64 whole;

	(void)state;
	budget_init(&b, 1 << 20);
	OK(residency_open(&r, &b, &how));
	whole = b.used;
	residency_close(r);
	residency_close(NULL);
	assert_int_equal(b.used, 0);
	for (u64 limit = 1; limit < whole; limit += 64) {
		budget_init(&b, limit);
		assert_int_equal(residency_open(&r, &b, &how), MILL_ENOMEM);
		assert_int_equal(b.used, 0);
	}
	budget_init(&b, whole);
	OK(residency_open(&r, &b, &how));
	residency_close(r);
}

/* Says at least what is taken, and not much more; large blocks count more than small ones. */
static void test_bytes(void **state)
{
	static const u32 sizes[] = { 0, 1, 2, 31, 32, 33, 1000, 174761, 174762, 174763, 262142, 262143, 262144, 700000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (size_t k = 1; k < ARRAY_LEN(sizes); k++) {
			struct residency_how how = {
				.n_units = { sizes[i] / 3, sizes[i] - sizes[i] / 3 }, .n_slots = sizes[k], .most = sizes[k], .key = residency_lru,
			};
			u64 bytes = residency_bytes(sizes[i], sizes[k]);
			struct residency *r;
			struct budget b;

			assert_int_equal(residency_bytes(sizes[i], 0) + sizes[k] * (residency_bytes(5, 3) - residency_bytes(5, 2)), bytes);
			budget_init(&b, bytes);
			OK(residency_open(&r, &b, &how));
			assert_in_range(bytes - b.used, 0, 64 + bytes / 50);
			residency_close(r);
		}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_decisions),
	cmocka_unit_test(test_lately),
	cmocka_unit_test(test_value),
	cmocka_unit_test(test_passes),
	cmocka_unit_test(test_windows),
	cmocka_unit_test(test_random_windows),
	cmocka_unit_test(test_transit),
	cmocka_unit_test(test_scans),
	cmocka_unit_test(test_memory),
	cmocka_unit_test(test_bytes),
};

SUITE(residency, tests);
