/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Altered pages with correct checksums: a device refuses those that the host refuses, with the same code,
 * and gives the same result for the others; so do several devices together. Nothing crashes, and the run can be used again.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/random.h"
#include "task.h"
#include "store/page.h"

static const struct mill_pagerank scan = { .tolerance = -1, .iterations = 1, .precision = MILL_EXACT };

/* A store of one direction; its pages are altered while runs are open. */
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

/*
 * The devices, of which there are n, come in turn. One alone gives what the cpu gives; but several push what the cpu pulls, which is
 * another sum in a graph that was undirected, so each of several gives what the next one does.
 */
static void try_damage(struct victim *v, mill_run *cpu, mill_run *const *devices, u32 n, const char *where, u64 tries)
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
			fail_msg("%s, case %llu, page %u: the device says %d, the host %d: %s", where, (unsigned long long)i,
				 v->page, (int)got, (int)want, mill_error());
		assert_int_equal(run_again(cpu), want);
		if (n > 1)
			assert_int_equal(run_again(other), want);
		if (!want && hash_of(device) != hash_of(other))
			fail_msg("%s, case %llu, page %u: other bits", where, (unsigned long long)i, v->page);
		refused += want != MILL_OK;
		if (want)
			assert_int_equal(want, MILL_ECORRUPT);
		put_page(v, v->good);
	}
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
	{ "hubs, undirected", 64 * KIB, 300 }, { "star, undirected", 64 * KIB, 150 }, { "hubs, undirected", 128 * KIB, 150 },
};

static u64 how_often(u64 tries) { return repeats(is_sanitized() ? tries / 3 : tries); }

static void test_hostile(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 2 * CODEC_LAST * ARRAY_LEN(cases); i++) {
		u32 codec = CODEC_PACKED + i / 2 % CODEC_LAST, which = i / 2 / CODEC_LAST;
		bool slots = i & 1;
		struct mill_options o = { .threads = 2, .memory = GIB, .device = "opencl", .device_memory = 64 * MIB };
		mill_run *cpu, *device;
		struct victim v;
		struct mill_plan plan;
		struct graph g;
		char where[96];

		assert_true(shape_make(&g, shape_named(cases[which].shape)));
		g.page_size = cases[which].page_size;
		g.codec = codec;
		victim_open(&v, &g);
		snprintf(where, sizeof(where), "%s, %s, %s", g.name, codec_names[codec], slots ? "slots" : "whole");
		OK(mill_run_new(&cpu, v.store, &(struct mill_options){ .threads = 1, .memory = GIB }));
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

/* Where all pages stay, where none does, and where all of them pass all devices for every chunk. */
static const struct mill_options fleets[] = {
	{ .device = "opencl", .mapping = MILL_MAPPING_HYBRID },
	{ .device = "opencl,opencl", .gts.device_cache = MILL_SIZE_NONE },
	{ .device = "opencl,opencl,opencl", .gts.strategy = MILL_STRATEGY_S, .gts.chunks = 2, .mapping = MILL_MAPPING_WARP },
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

static void test_hostile_fleets(void **state)
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
		OK(mill_run_new(&cpu, v.store, &(struct mill_options){ .threads = 1, .memory = GIB }));
		cpu->hook.only_frames = 1;
		open_fleets(fleet, v.store);
		try_damage(&v, cpu, fleet, N_FLEETS, where, how_often(cases[which].tries / 2));
		close_fleets(fleet);
		mill_run_free(cpu);
		victim_close(&v);
		graph_release(&g);
	}
}

/* The k-th address that no vertex has: behind the rows of a page, in a page where no list begins, behind the last. False: no more. */
static bool bad_address(const struct addresses *a, u32 k, u32 *out)
{
	u32 rows = k <= a->n_pages ? a->first[k + 1] - a->first[k] : 0;

	*out = k <= a->n_pages && rows < a->slots ? k * a->slots + rows : UINT32_MAX;	/* a full page has none */
	return k < a->n_pages + 2;
}

/* Writes the address over the first or the last neighbour of a page. */
static void plant(struct victim *v, u32 page, bool last, u32 address)
{
	u32 size = v->store->st->page_size;
	const struct page_header *h = (const struct page_header *)v->good;

	v->page = page;
	assert_int_equal(pread(v->fd, v->good, size, (off_t)page * size), size);
	memcpy(v->bad, v->good, size);
	memcpy(v->bad + h->neighbour_at + (last ? 4 * (h->n_edges - 1) : 0), &address, sizeof(address));
	put_page(v, v->bad);
}

/* Tasks that come to every edge of a graph that hangs together, though some of them long after its page. */
static const struct task *const through[] = { &tasks[0], &tasks[4], &tasks[7], &tasks[10], &tasks[12] };

/* Tries the k-th damage with a task and a fleet in turn; the page is good again after it. */
static void try_address(struct victim *v, mill_run *const *fleet, const struct answer *want, u32 k)
{
	const struct task *t = through[k % ARRAY_LEN(through)];
	mill_run *run = fleet[k % N_FLEETS];

	run->loaded = false;
	for (u32 again = 0; again < 2; again++)
		REFUSED(MILL_ECORRUPT, t->call(run, t->how), t->name);
	put_page(v, v->good);
	run->loaded = false;
	expect_answer("after damage", run, t, &want[t - tasks]);	/* nothing of it is left */
}

static void test_addresses(void **state)
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
				assert_int_equal(page_decode_into(v.pages, v.page, v.bad, v.room, NULL, &seg), MILL_ECORRUPT);
				try_address(&v, fleet, want, 2 * k + last);
			}
		close_fleets(fleet);
		answers_end(want);
		victim_close(&v);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_hostile),
	cmocka_unit_test(test_hostile_fleets),
	cmocka_unit_test(test_addresses),
};

SUITE(damage, tests, .setup = scratch_make, .teardown = scratch_remove);
