/* SPDX-License-Identifier: Apache-2.0 */
/* Who gives his place to whom: every policy's decisions, written down as sequences of passes. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "stream/evict.h"

#define PAGES 10u

/* A store of which only what the policies look at is there: page 3 has the longest lists, then 7. */
static struct page_entry entry[PAGES];
static struct store store;

static void make_store(void)
{
	for (u32 i = 0; i < PAGES; i++)
		entry[i] = (struct page_entry){ .n_rows = i == 3 ? 2 : i == 7 ? 20 : 1000, .n_edges = 5000 };
	store = (struct store){ .page_size = PAGE_SIZE_MIN };
	store.out = (struct pages){ .store = &store, .data = STORE_OUT_PAGES, .n_pages = PAGES, .entry = entry };
}

/* Active pages as digits; what was missing is added to `read`. As a stream plans it. */
static void pass(struct evict *e, const char *active, char *read)
{
	char missing[PAGES + 1] = "";

	evict_begin(e);
	for (const char *c = active; *c; c++) {
		u32 slot = evict_slot(e, &store.out, (u32)(*c - '0'));

		if (slot == NO_SLOT_HELD)
			strncat(missing, c, 1);
		else
			evict_use(e, slot);
	}
	for (const char *c = missing; *c; c++)
		evict_take(e, &store.out, (u32)(*c - '0'));
	strcat(read, missing);
	strcat(read, "|");
}

static void test_decisions(void **state)
{
	static const struct {
		const char *policy;
		u32 slots, lately;
		const char *passes[6];
		const char *read;
	} cases[] = {
		/* Scans: as many hits as slots, in every pass, where LRU in page order would have none. */
		{ "auto", 4, 0, { "0123456789", "0123456789", "0123456789" }, "0123456789|012345|016789|" },
		{ "lru", 4, 0, { "0123456789", "0123456789" }, "0123456789|012345|" },
		{ "fifo", 4, 0, { "0123456789", "0123456789" }, "0123456789|012345|" },
		/* 0 is old and needed, 1 is old and not: auto keeps 0. */
		{ "auto", 3, 0, { "012", "04", "012" }, "012|4|1|" },
		{ "fifo", 3, 0, { "012", "04", "012" }, "012|4|0|" },
		/* 0 came first but was used last. */
		{ "lru", 3, 0, { "012", "0", "2", "5", "0" }, "012|||5||" },
		{ "gts", 3, 0, { "012", "0", "2", "5", "0" }, "012|||5||" },
		{ "fifo", 3, 0, { "012", "0", "2", "5", "0" }, "012|||5|0|" },
		{ "auto", 3, 0, { "012", "0", "2", "5", "0" }, "012|||5|0|" },
		/* 0 was active in three passes, 1 in two: they stay, others pass through the third slot. */
		{ "frequency", 3, 0, { "012", "01", "0", "5", "6", "01" }, "012|||5|6||" },
		{ "lru", 3, 0, { "012", "01", "0", "5", "6", "01" }, "012|||5|6|1|" },
		/* What a page did before it came again counts. */
		{ "frequency", 2, 0, { "0", "0", "0", "123", "0", "4" }, "0|||123||4|" },
		/* Hubs stay. */
		{ "pinned", 3, 0, { "0123456789", "0123456789" }, "0123456789|0124568|" },
		{ "pinned", 3, 0, { "37", "012", "45", "37" }, "37|012|45||" },
		/* Two at a time are on their way: no slot is given twice in a row, and the hub still stays. */
		{ "pinned", 4, 2, { "3", "012456", "3" }, "3|012456||" },
	};
	u32 n_pages[2];

	(void)state;
	make_store();
	evict_count_pages(n_pages, &store);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char read[128] = "";
		struct evict *e;

		assert_int_equal(evict_open(&e, NULL, n_pages, cases[i].slots, cases[i].lately, evict_find(cases[i].policy)), 0);
		for (size_t k = 0; k < 6 && cases[i].passes[k]; k++)
			pass(e, cases[i].passes[k], read);
		if (strcmp(read, cases[i].read))
			fail_msg("case %zu, %s: read %s instead of %s", i, cases[i].policy, read, cases[i].read);
		evict_close(e);
	}
}

/* Slots that were given away lately are not given away again, whatever the policy. */
static void test_lately(void **state)
{
	u32 n_pages[2];

	(void)state;
	make_store();
	evict_count_pages(n_pages, &store);
	for (size_t i = 0; evict_names[i]; i++) {
		struct evict *e;
		u32 before[2] = { NO_SLOT_HELD, NO_SLOT_HELD };

		assert_int_equal(evict_open(&e, NULL, n_pages, 5, 2, evict_find(evict_names[i])), 0);
		for (u32 k = 0; k < 3; k++) {
			evict_begin(e);
			for (u32 page = 0; page < PAGES; page++)
				if (evict_slot(e, &store.out, page) != NO_SLOT_HELD)
					evict_use(e, evict_slot(e, &store.out, page));
			for (u32 page = 0; page < PAGES; page++) {
				u32 slot;

				if (evict_slot(e, &store.out, page) != NO_SLOT_HELD)
					continue;
				slot = evict_take(e, &store.out, page);
				assert_true(slot < 5);
				assert_int_equal(evict_slot(e, &store.out, page), slot);
				if (page && (slot == before[0] || slot == before[1]))
					fail_msg("%s: slot %u again", evict_names[i], slot);
				before[0] = before[1];
				before[1] = slot;
			}
			before[0] = before[1] = NO_SLOT_HELD;
		}
		evict_clear(e);
		for (u32 page = 0; page < PAGES; page++)
			assert_int_equal(evict_slot(e, &store.out, page), NO_SLOT_HELD);
		evict_close(e);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_ptr_equal(evict_find(NULL), evict_find("auto"));
	assert_null(evict_find("latest"));	/* is nobody's to choose */
	for (size_t i = 0; evict_names[i]; i++)
		assert_string_equal(evict_find(evict_names[i])->name, evict_names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_lately),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
