/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that somebody altered and made the checksums right again: a device refuses those that the host refuses, with the same code,
 * and gives the same result for the others. Nothing crashes, and the run can be used again.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/random.h"
#include "engine/cache.h"
#include "expect.h"
#include "store/page.h"

static const struct mill_pagerank scan = { .iterations = 1, .precision = MILL_EXACT };

/* A store of one direction whose pages are altered under the eyes of the runs. */
struct victim {
	mill_store *store;
	struct pages *pages;
	int fd;
	u8 *good, *bad;		/* a page */
	void *room;		/* to decode it */
	u32 page;
};

static void victim_open(struct victim *v, const struct graph *g)
{
	char path[600];

	v->store = graph_store(g);
	v->pages = &v->store->st->out;
	snprintf(path, sizeof(path), "%s/out.pages", v->store->st->path);
	v->fd = open(path, O_RDWR);
	assert_true(v->fd >= 0 && v->pages->n_pages > 1);
	v->good = malloc(g->page_size);
	v->bad = malloc(g->page_size);
	assert_true(v->good && v->bad);
	OK(memory_new(&v->room, NULL, store_scratch(v->store->st) + 64, 1, "a page"));
}

static void victim_close(struct victim *v)
{
	close(v->fd);
	free(v->good);
	free(v->bad);
	memory_free(v->room);
	graph_store_drop(v->store);
}

/* The page as it is in `from`, with checksums that say so. */
static void put_page(struct victim *v, const u8 *from)
{
	u32 size = v->store->st->page_size;
	u64 *sum = v->store->st->sum[STORE_OUT_PAGES] + (u64)v->page * (size / STORE_BLOCK);

	assert_int_equal(pwrite(v->fd, from, size, (off_t)v->page * size), size);
	for (u32 b = 0; b < size / STORE_BLOCK; b++)
		sum[b] = checksum(from + (u64)b * STORE_BLOCK, STORE_BLOCK);
}

/* One to three bytes of the header, the index or the rest. */
static void alter(struct victim *v, u64 i)
{
	u32 size = v->store->st->page_size;
	const struct page_header *h = (const struct page_header *)v->good;
	struct page_wire wire;

	v->page = (u32)random_below(1, i, v->pages->n_pages);
	assert_int_equal(pread(v->fd, v->good, size, (off_t)v->page * size), size);
	memcpy(v->bad, v->good, size);
	OK(page_wire(v->pages, v->page, v->good, &wire));
	for (u64 k = 0; k <= i % 3; k++) {
		u64 what = random_below(2, 4 * i + k, 8), x = random_at(3, 4 * i + k);
		u64 from = what < 1 ? 0 : what < 5 ? h->row_at : h->neighbour_at;
		u64 to = what < 1 ? sizeof(*h) : what < 5 ? h->neighbour_at : wire.end;
		u8 *byte = v->bad + from + random_below(4, 4 * i + k, to - from);

		*byte = (u8)(x & 256 ? x : *byte ^ 1u << x % 8);	/* any value, or near the right one */
	}
	put_page(v, v->bad);
}

/* The run forgets all that it has read. */
static mill_err run_again(mill_run *run)
{
	run->loaded = false;
	return mill_pagerank(run, &scan);
}

static void try_damage(struct victim *v, mill_run *cpu, mill_run *device, const char *where, u64 tries)
{
	u64 refused = 0, hash;
	struct segment seg;

	OK(run_again(cpu));
	hash = hash_of(cpu);
	for (u64 i = 0; i < tries; i++) {
		mill_err want, got;

		alter(v, i);
		want = page_decode_into(v->pages, v->page, v->bad, v->room, NULL, &seg);
		got = run_again(device);
		if (got != want)
			fail_msg("%s, case %llu, page %u: the device says %d, the host %d: %s", where, (unsigned long long)i,
				 v->page, (int)got, (int)want, mill_error());
		assert_int_equal(run_again(cpu), want);
		if (!want && hash_of(device) != hash_of(cpu))
			fail_msg("%s, case %llu, page %u: other bits", where, (unsigned long long)i, v->page);
		refused += want != MILL_OK;
		if (want)
			assert_int_equal(want, MILL_ECORRUPT);
		put_page(v, v->good);
	}
	assert_true(refused > tries / 20 && refused < tries);
	OK(run_again(device));
	assert_int_equal(hash_of(device), hash);
}

static const struct {
	const char *shape;
	u32 page_size, tries;
} cases[] = {
	{ "hubs, undirected", 64 * KIB, 300 }, { "star, undirected", 64 * KIB, 150 }, { "hubs, undirected", 128 * KIB, 150 },
};

static void test_hostile(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 4 * ARRAY_LEN(cases); i++) {
		bool raw = i & 1, slots = i & 2;
		struct mill_options o = { .threads = 2, .memory = GIB, .device = "opencl", .device_memory = 64 * MIB };
		mill_run *cpu, *device;
		struct victim v;
		struct mill_plan plan;
		struct graph g;
		char where[96];

		assert_true(shape_make(&g, shape_named(cases[i / 4].shape)));
		g.page_size = cases[i / 4].page_size;
		g.codec = raw ? CODEC_RAW : CODEC_PACKED;
		victim_open(&v, &g);
		snprintf(where, sizeof(where), "%s, %s, %s", g.name, raw ? "raw" : "packed", slots ? "slots" : "whole");
		OK(mill_run_new(&cpu, v.store, &(struct mill_options){ .threads = 1, .memory = GIB }));
		cpu->only_frames = 1;
		OK(mill_run_new(&device, v.store, &o));
		OK(mill_run_plan(device, "pagerank", &scan, &plan));
		if (slots)
			device->device->memory->limit = plan.device_needed;
		try_damage(&v, cpu, device, where, cases[i / 4].tries);
		assert_int_equal(cache_is_whole(device->cache), !slots);
		mill_run_free(device);
		mill_run_free(cpu);
		victim_close(&v);
		graph_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
