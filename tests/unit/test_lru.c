/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pages stay on a device, against what LRU means: of all that were placed, the `most` last ones. Slots are given so that no
 * page of a window loses its own to another, and a window ends only where none is left.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "engine/lru.h"

#define OK(call) assert_int_equal(call, MILL_OK)

static struct lru *open_lru(u32 out_pages, u32 in_pages, u32 n_slots, u32 most)
{
	struct lru *l;

	OK(lru_open(&l, NULL, (u32[2]){ out_pages, in_pages }, n_slots, most));
	assert_int_equal(lru_slots(l), n_slots);
	assert_int_equal(lru_most(l), most);
	lru_window(l);
	return l;
}

/* ---- Sequences ---- */

/* Pages as letters, lower case out, upper case in; '|' begins a window, '!' forgets all. What each gets: '.' there, '+' moved, '0' no slot. */
static void test_sequences(void **state)
{
	static const struct {
		u32 n_slots, most;
		const char *pages, *got;
	} cases[] = {
		{ 3, 2, "ab|ab|c|a|b|c", "++|..|+|+|+|+" },	/* a was used before b, so c takes its place, and so on */
		{ 3, 2, "ab|ba|c|a|b", "++|..|+|.|+" },		/* b was used before a */
		{ 3, 2, "ab|a|c|ab", "++|.|+|.+" },
		{ 4, 2, "abc|d|cd|ab", "+++|+|..|++" },
		{ 2, 2, "ab|ab|ba", "++|..|.." },		/* as many slots as pages */
		{ 2, 0, "ab|ab", "++|++" },			/* nothing stays */
		{ 2, 0, "abc|c", "++0|+" },
		{ 1, 0, "ab|b|a", "+0|+|+" },
		{ 2, 1, "abc|c|b", "++0|+|+" },
		{ 3, 1, "abcd|d|c", "+++0|+|+" },
		{ 3, 2, "ab|cb|a", "++|+.|+" },
		{ 3, 2, "aA|aA|b|A|a", "++|..|+|.|+" },		/* directions have pages of their own */
		{ 2, 1, "a|A|a|A", "+|+|+|+" },
		{ 3, 2, "ab|!ab|ab", "++|!++|.." },
		{ 2, 1, "ab!c|a", "++!0|+" },			/* what is forgotten is still in use */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct lru *l = open_lru(26, 26, cases[i].n_slots, cases[i].most);
		char got[64] = "";

		for (const char *c = cases[i].pages; *c; c++) {
			bool there, in = *c < 'a';

			if (*c == '|')
				lru_window(l);
			else if (*c == '!')
				lru_clear(l);
			else if (lru_place(l, in, (u32)(*c - (in ? 'A' : 'a')), &there) == LRU_NONE)
				strcat(got, "0");
			else
				strcat(got, there ? "." : "+");
			if (*c == '|' || *c == '!')
				strncat(got, c, 1);
		}
		if (strcmp(got, cases[i].got))
			fail_msg("%u slots, %u stay, %s: %s, not %s", cases[i].n_slots, cases[i].most, cases[i].pages, got, cases[i].got);
		lru_close(l);
	}
}

/* ---- The model ---- */

#define MODEL_PAGES 24u

struct model {
	u32 n_slots, most;
	u32 n_recent, recent[2 * MODEL_PAGES];	/* pages by their last use, the last first; of in-edges: + MODEL_PAGES */
	u32 slot[2 * MODEL_PAGES];	/* what each got last */
	bool used[2 * MODEL_PAGES];	/* slots, in this window */
};

static u32 rank_of(const struct model *m, u32 page)
{
	u32 i = 0;

	while (i < m->n_recent && m->recent[i] != page)
		i++;
	return i;
}

static bool stays(const struct model *m, u32 page)
{
	u32 rank = rank_of(m, page);

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

static void model_use(struct model *m, u32 page, u32 slot)
{
	u32 rank = rank_of(m, page);

	if (rank == m->n_recent)
		m->n_recent++;
	memmove(m->recent + 1, m->recent, rank * sizeof(u32));
	m->recent[0] = page;
	m->slot[page] = slot;
	m->used[slot] = true;
}

/* One page; says whether it got a slot. */
static bool place_both(struct lru *l, struct model *m, bool in, u32 page)
{
	u32 key = page + in * MODEL_PAGES, slot;
	bool want = stays(m, key), there;

	slot = lru_place(l, in, page, &there);
	assert_int_equal(there, want);
	if (slot == LRU_NONE) {
		assert_false(want);
		assert_false(has_free_slot(m));
		return false;
	}
	assert_in_range(slot, 0, m->n_slots - 1);
	if (want) {
		assert_int_equal(slot, m->slot[key]);
	} else {
		assert_false(m->used[slot]);
		for (u32 i = 0; i < m->n_recent && i < m->most; i++)
			assert_int_not_equal(slot, m->slot[m->recent[i]]);
	}
	model_use(m, key, slot);
	return true;
}

static void next_window(struct lru *l, struct model *m)
{
	lru_window(l);
	memset(m->used, 0, sizeof(m->used));
}

static void test_random(void **state)
{
	u32 refused = 0;

	(void)state;
	for (u32 seed = 0; seed < 300; seed++) {
		u32 n_out = 1 + (u32)random_below(seed, 0, MODEL_PAGES), n_in = (u32)random_below(seed, 1, MODEL_PAGES), all = n_out + n_in;
		u32 most = seed % 5 == 0 ? 0 : seed % 5 == 1 ? all : (u32)random_below(seed, 2, all);
		u32 n_slots = most == all ? all : most + 1 + (u32)random_below(seed, 3, 4);
		struct lru *l = open_lru(n_out, n_in, n_slots, most);
		struct model m = { .n_slots = n_slots, .most = most };

		for (u32 i = 4; i < 1004; i++) {
			u32 page = (u32)random_below(seed, 2 * i, random_below(seed, 2 * i + 1, 3) ? all : all / 3 + 1);
			bool in = page >= n_out;

			page -= in * n_out;
			if (i % 97 == 0) {
				next_window(l, &m);
				lru_clear(l);
				m.n_recent = 0;
			} else if (random_below(seed, 4 * i, 7) == 0) {
				next_window(l, &m);
			}
			if (!place_both(l, &m, in, page)) {
				refused++;
				assert_false(place_both(l, &m, in, page));	/* nothing was changed */
				next_window(l, &m);
				assert_true(place_both(l, &m, in, page));
			}
		}
		lru_close(l);
	}
	assert_in_range(refused, 1000, 300 * 900);	/* both ways are gone */
}

/* ---- Closed form ---- */

/* I scans of P pages move I x P with B < P that stay, for the page that comes next is the one that went; else P. */
static void test_scans(void **state)
{
	(void)state;
	for (u32 pages = 1; pages <= 12; pages++)
		for (u32 most = 0; most <= pages; most++)
			for (u32 lanes = 1; lanes <= 3; lanes++) {
				u32 scans = 4, moved = 0, windows = 0, n_slots = most == pages ? pages : most + lanes;
				struct lru *l = open_lru(pages, 0, n_slots, most);

				for (u32 i = 0; i < scans * pages; i++) {
					bool there;

					if (i % pages == 0)
						lru_window(l);
					if (lru_place(l, false, i % pages, &there) == LRU_NONE) {
						windows++;
						lru_window(l);
						assert_int_not_equal(lru_place(l, false, i % pages, &there), LRU_NONE);
					}
					moved += !there;
				}
				assert_int_equal(moved, most < pages ? scans * pages : pages);
				if (most == 0)	/* as many at a time as there are slots */
					assert_int_equal(windows, scans * (div_up(pages, n_slots) - 1));
				if (most == pages)
					assert_int_equal(windows, 0);
				lru_close(l);
			}
}

/* ---- Memory ---- */

static void test_memory(void **state)
{
	const u32 n_pages[2] = { 100, 50 };
	struct budget b;
	struct lru *l;
	u64 whole;

	(void)state;
	budget_init(&b, 1 << 20);
	OK(lru_open(&l, &b, n_pages, 20, 10));
	whole = b.used;
	lru_close(l);
	lru_close(NULL);
	assert_int_equal(b.used, 0);
	for (u64 limit = 1; limit < whole; limit += 64) {
		budget_init(&b, limit);
		assert_int_equal(lru_open(&l, &b, n_pages, 20, 10), MILL_ENOMEM);
		assert_int_equal(b.used, 0);
	}
	budget_init(&b, whole);
	OK(lru_open(&l, &b, n_pages, 20, 10));
	lru_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sequences),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_scans),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
