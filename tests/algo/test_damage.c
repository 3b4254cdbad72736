/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged pages with correct checksums. Devices, one or several, refuse the pages that the
 * host refuses, with the same code, and give the same result for the others. Nothing
 * crashes, and the run can be used again.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/random.h"
#include "task.h"
#include "store/page.h"

static const struct mill_pagerank scan = { .tolerance = -1,
					   .iterations = 1,
					   .precision = MILL_EXACT };

/* A store of one direction. Its pages are changed while runs are open. */
struct victim {
	mill_store *store;
	struct pages *pages;
	int fd;
	u8 *good, *bad;		/* a page before and after the change */
	void *room;		/* memory to decode a page */
	u32 page;		/* the number of that page */
};

static void victim_open(struct victim *v, const struct graph *g)
{
	char path[600];

	v->store = graph_store(g);
	v->pages = &v->store->st->out;
	snprintf(path, sizeof(path), "%s/out.pages", v->store->st->path);
	v->fd = open(path, O_RDWR);
	assert_true(v->fd >= 0 && v->pages->n_pages > 0);
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

/* Writes the page, and sets its checksums. */
static void put_page(struct victim *v, const u8 *from)
{
	u32 size = v->store->st->page_size;
	u64 *sum = v->store->st->sum[STORE_OUT_PAGES] + (u64)v->page * (size / STORE_BLOCK);

	assert_int_equal(pwrite(v->fd, from, size, (off_t)v->page * size), size);
	for (u32 b = 0; b < size / STORE_BLOCK; b++)
		sum[b] = checksum(from + (u64)b * STORE_BLOCK, STORE_BLOCK);
}

/* Changes one to three bytes in the header, the index or the neighbours of a page. */
static void alter(struct victim *v, u64 i)
{
	u32 size = v->store->st->page_size;
	const struct page_header *h = (const struct page_header *)v->good;
	enum { HEADER, ROWS, LISTS };
	static const u8 likely[] = { HEADER, ROWS, ROWS, ROWS, ROWS, LISTS, LISTS, LISTS };
	struct page_wire wire;

	v->page = (u32)random_below(1, i, v->pages->n_pages);
	assert_int_equal(pread(v->fd, v->good, size, (off_t)v->page * size), size);
	memcpy(v->bad, v->good, size);
	OK(page_wire(v->pages, v->page, v->good, &wire));
	for (u64 k = 0; k <= i % 3; k++) {
		const u64 part[][2] = {
			[HEADER] = { 0, sizeof(*h) },
			[ROWS] = { h->row_at, h->neighbour_at },
			[LISTS] = { h->neighbour_at, wire.end },
		};
		u32 what = likely[random_below(2, 4 * i + k, ARRAY_LEN(likely))];
		u64 from = part[what][0], to = part[what][1], x = random_at(3, 4 * i + k);
		u8 *byte = v->bad + from + random_below(4, 4 * i + k, to - from);

		/* Any value, or one bit flipped. */
		*byte = (u8)(x & 256 ? x : *byte ^ 1u << x % 8);
	}
	put_page(v, v->bad);
}

/* Runs the scan again. The run must read all pages again. */
static mill_err run_again(mill_run *run)
{
	run->loaded = false;
	return mill_pagerank(run, &scan);
}

/*
 * The n runs on devices take turns. The result of one run is compared with the CPU's.
 * Several runs are compared with each other: they push where the CPU pulls, and a damaged
 * page makes an undirected graph asymmetric, so the sums differ.
 */
static void try_damage(struct victim *v, mill_run *cpu, mill_run *const *devices, u32 n,
		       const char *where, u64 tries)
{
	u64 refused = 0, hash;
	struct segment seg;

	OK(run_again(cpu));
	hash = hash_of(cpu);
	for (u64 i = 0; i < tries; i++) {
		mill_run *device = devices[i % n], *other = n > 1 ? devices[(i + 1) % n] : cpu;
		mill_err want, got;

		alter(v, i);
		want = page_decode_into(v->pages, v->page, v->bad, v->room, NULL, &seg);
		got = run_again(device);
		if (got != want)
			fail_msg("%s, case %llu, page %u: the device returns %d, the host %d: %s",
				 where, (unsigned long long)i, v->page, (int)got, (int)want,
				 mill_error());
		assert_int_equal(run_again(cpu), want);
		if (n > 1)
			assert_int_equal(run_again(other), want);
		if (!want && hash_of(device) != hash_of(other))
			fail_msg("%s, case %llu, page %u: the hash differs", where,
				 (unsigned long long)i, v->page);
		refused += want != MILL_OK;
		if (want)
			assert_int_equal(want, MILL_ECORRUPT);
		put_page(v, v->good);
	}
	/* Some damage is found and some is harmless; under a sanitizer there are too few tries. */
	if (!is_sanitized())
		assert_true(refused > tries / 20 && refused < tries);
	for (u32 i = 0; i < n; i++) {
		OK(run_again(devices[i]));
		assert_int_equal(hash_of(devices[i]), hash);
	}
}

static const struct {
	const char *shape;
	u32 page_size, tries;
} cases[] = {
	{ "hubs, undirected", 64 * KIB, 300 },
	{ "star, undirected", 64 * KIB, 150 },
	{ "hubs, undirected", 128 * KIB, 150 },
};

/* Returns how many damaged copies to try: a sanitizer gets a third. */
static u64 how_often(u64 tries) { return repeats(is_sanitized() ? tries / 3 : tries); }

static void test_damaged_pages(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 2 * CODEC_LAST * ARRAY_LEN(cases); i++) {
		u32 codec = CODEC_PACKED + i / 2 % CODEC_LAST, which = i / 2 / CODEC_LAST;
		bool slots = i & 1;
		struct mill_options o = {
			.threads = 2, .memory = GIB, .device = "opencl", .device_memory = 64 * MIB,
		};
		mill_run *cpu, *device;
		struct victim v;
		struct mill_plan plan;
		struct graph g;
		char where[96];

		assert_true(shape_make(&g, shape_named(cases[which].shape)));
		g.page_size = cases[which].page_size;
		g.codec = codec;
		victim_open(&v, &g);
		snprintf(where, sizeof(where), "%s, %s, %s", g.name, codec_names[codec],
			 slots ? "slots" : "whole");
		OK(mill_run_new(&cpu, v.store,
				&(struct mill_options){ .threads = 1, .memory = GIB }));
		cpu->hook.only_frames = 1;
		OK(mill_run_new(&device, v.store, &o));
		OK(mill_run_plan(device, "pagerank", &scan, &plan));
		if (slots)
			device->device->memory->limit = plan.device_needed;
		try_damage(&v, cpu, &device, 1, where, how_often(cases[which].tries));
		assert_int_equal(device->transfer.whole, !slots);
		mill_run_free(device);
		mill_run_free(cpu);
		victim_close(&v);
		graph_release(&g);
	}
}

/* ---- Fleets ---- */

/* All pages stay on the device; no page does; every device gets all pages for each chunk. */
static const struct mill_options fleets[] = {
	{ .device = "opencl", .mapping = MILL_MAPPING_HYBRID },
	{ .device = "opencl,opencl", .gts.device_cache = MILL_SIZE_NONE },
	{ .device = "opencl,opencl,opencl", .gts.strategy = MILL_STRATEGY_S, .gts.chunks = 2,
	  .mapping = MILL_MAPPING_WARP },
};
#define N_FLEETS ARRAY_LEN(fleets)

static void open_fleets(mill_run **out, mill_store *store)
{
	for (u32 i = 0; i < N_FLEETS; i++) {
		struct mill_options o = fleets[i];

		o.policy = "gts";
		o.threads = 2;
		o.memory = GIB;
		o.device_memory = 64 * MIB;
		o.seed = 1;
		OK(mill_run_new(&out[i], store, &o));
	}
}

static void close_fleets(mill_run **fleet)
{
	for (u32 i = 0; i < N_FLEETS; i++)
		mill_run_free(fleet[i]);
}

static void test_damaged_pages_on_fleets(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < CODEC_LAST * ARRAY_LEN(cases); i++) {
		u32 codec = CODEC_PACKED + i % CODEC_LAST, which = i / CODEC_LAST;
		mill_run *cpu, *fleet[N_FLEETS];
		struct victim v;
		struct graph g;
		char where[96];

		assert_true(shape_make(&g, shape_named(cases[which].shape)));
		g.page_size = cases[which].page_size;
		g.codec = codec;
		victim_open(&v, &g);
		snprintf(where, sizeof(where), "%s, %s, fleets", g.name, codec_names[codec]);
		OK(mill_run_new(&cpu, v.store,
				&(struct mill_options){ .threads = 1, .memory = GIB }));
		cpu->hook.only_frames = 1;
		open_fleets(fleet, v.store);
		try_damage(&v, cpu, fleet, N_FLEETS, where, how_often(cases[which].tries / 2));
		close_fleets(fleet);
		mill_run_free(cpu);
		victim_close(&v);
		graph_release(&g);
	}
}

/*
 * Gets the k-th address without a vertex: behind the rows of a page, in a page without rows,
 * or behind the last page. Returns false if there are no more.
 */
static bool bad_address(const struct addresses *a, u32 k, u32 *out)
{
	u32 rows = k <= a->n_pages ? a->first[k + 1] - a->first[k] : 0;

	/* A full page has no such address: UINT32_MAX instead. */
	*out = k <= a->n_pages && rows < a->slots ? k * a->slots + rows : UINT32_MAX;
	return k < a->n_pages + 2;
}

/* Replaces the first or the last neighbour of a page by the address. */
static void plant(struct victim *v, u32 page, bool last, u32 address)
{
	u32 size = v->store->st->page_size;
	const struct page_header *h = (const struct page_header *)v->good;

	v->page = page;
	assert_int_equal(pread(v->fd, v->good, size, (off_t)page * size), size);
	memcpy(v->bad, v->good, size);
	memcpy(v->bad + h->neighbour_at + (last ? 4 * (h->n_edges - 1) : 0), &address,
	       sizeof(address));
	put_page(v, v->bad);
}

/*
 * Tasks that traverse every edge of a connected graph, some of them long after reading its
 * page.
 */
static const struct task *const through[] = {
	&tasks[0], &tasks[4], &tasks[7], &tasks[10], &tasks[12],
};

/*
 * Runs the k-th task and fleet, in turn, on the damaged page. Restores the page and runs
 * again.
 */
static void try_address(struct victim *v, mill_run *const *fleet, const struct answer *want, u32 k)
{
	const struct task *t = through[k % ARRAY_LEN(through)];
	mill_run *run = fleet[k % N_FLEETS];

	run->loaded = false;
	for (u32 again = 0; again < 2; again++)
		REFUSED(MILL_ECORRUPT, t->call(run, t->how), t->name);
	put_page(v, v->good);
	run->loaded = false;
	expect_answer("after damage", run, t, &want[t - tasks]);
}

static void test_bad_addresses(void **state)
{
	static const char *const shapes_tried[] = { "star, undirected", "path, undirected" };

	(void)state;
	if (!have_opencl() || CODEC_LAST != CODEC_PAGED)
		skip();
	for (size_t s = 0; s < ARRAY_LEN(shapes_tried); s++) {
		mill_run *fleet[N_FLEETS];
		struct answer want[N_TASKS];
		struct segment seg;
		struct victim v;
		struct graph g;
		u32 bad;

		assert_true(shape_make(&g, shape_named(shapes_tried[s])));
		g.page_size = 64 * KIB;
		g.codec = CODEC_PAGED;
		victim_open(&v, &g);
		answers_begin(want, v.store);
		open_fleets(fleet, v.store);
		for (u32 k = 0; bad_address(&v.pages->address, k, &bad); k++)
			for (u32 last = 0; last < 2; last++) {
				plant(&v, (k + last) % v.pages->n_pages, last, bad);
				assert_int_equal(page_decode_into(v.pages, v.page, v.bad, v.room,
								  NULL, &seg),
						 MILL_ECORRUPT);
				try_address(&v, fleet, want, 2 * k + last);
			}
		close_fleets(fleet);
		answers_end(want);
		victim_close(&v);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_damaged_pages),
	cmocka_unit_test(test_damaged_pages_on_fleets),
	cmocka_unit_test(test_bad_addresses),
};

SUITE(damage, tests, .setup = scratch_make, .teardown = scratch_remove);
