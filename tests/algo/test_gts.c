/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy gts: closed forms of what crosses, for one to three devices, strategies, chunks and caches; hubs that have pages of their
 * own; budgets. test_matrix.c compares its results.
 */
#include "cover.h"
#include "task.h"

static const char *const device_lists[] = { "opencl", "opencl,opencl", "opencl,opencl,opencl" };

static mill_run *open_gts(mill_store *store, struct mill_options o)
{
	mill_run *run;

	if (!o.device)
		o.device = device_lists[0];
	o.policy = "gts";
	o.threads = 2;
	o.memory = GIB;
	o.seed = 1;
	if (!o.device_memory)
		o.device_memory = 512 * MIB;
	OK(mill_run_new(&run, store, &o));
	return run;
}

/* ---- Results ---- */

static bool can_stream(const struct task *t)
{
	return !strcmp(t->algorithm, "bfs") || !strcmp(t->algorithm, "sssp") || !strcmp(t->name, "cc, labels") ||
	       !strcmp(t->algorithm, "pagerank") || !strcmp(t->algorithm, "bc");
}

static mill_store *make_rmat(u32 i, u32 scale)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("rmat"), .page_size = 64 * KIB, .force = true,
			    .codec = i % 2 ? MILL_CODEC_RAW : MILL_CODEC_PACKED,
			    .addressing = i % 4 == 1 ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE },
		.kind = "rmat", .scale = scale, .degree = 40, .directed = i >= 2, .multigraph = i == 2,
		.weight = i % 3 ? MILL_WEIGHT_U32 : MILL_WEIGHT_F32, .seed = i,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

/* Counting lanes is compiled into other kernels, which give the same. */
static void test_counted(void **state)
{
	struct answer want[N_TASKS];
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(1, 11);
	answers_begin(want, store);
	run = open_gts(store, (struct mill_options){ .count_lanes = true, .mapping = MILL_MAPPING_HYBRID });
	for (size_t t = 0; t < N_TASKS; t++)
		if (can_stream(&tasks[t]))
			expect_answer("counted", run, &tasks[t], &want[t]);
	mill_run_free(run);
	answers_end(want);
	graph_store_drop(store);
}

/* ---- Closed forms ---- */

#define ITERATIONS 4u
static const struct mill_pagerank scans = { .tolerance = -1, .iterations = ITERATIONS, .precision = MILL_EXACT };

static u64 moved(const mill_run *run, enum traffic kind, bool down)
{
	u64 sum = 0;

	for (u32 i = 0; i < run->n_opened; i++)
		sum += down ? run->opened[i]->to_device[kind] : run->opened[i]->from_device[kind];
	return sum;
}

/* Rows of pages, with those of lists that lie in several counted in each: what sources give crosses with every page. */
static u64 rows_of(const struct pages *p)
{
	u64 n = 0;

	for (u32 i = 0; i < p->n_pages; i++)
		n += p->entry[i].n_rows;
	return n;
}

/*
 * A scan moves P = N x WA + RA + SP + LP, or S = WA + N (RA + SP + LP), each W times but for WA. What is summed begins at 0, which
 * devices write themselves, so WA only comes back. With a cache of B < P pages each scan in page order moves all of them; one that begins
 * with the pages that are there finds B of them, but for the first.
 */
static u64 crossing(u32 n_pages, u32 n, bool divided, u64 passes, u32 found)
{
	u64 sum = 0;

	for (u32 i = 0; i < n; i++) {
		u64 own = divided ? n_pages : (n_pages + n - 1 - i) / n;

		sum += own + (passes - 1) * (own - min_u64(own, found));
	}
	return sum;
}

static void test_scans(void **state)
{
	static const u32 chunks[] = { 1, 2, 5 };
	static const struct {
		u32 n;
		bool first;	/* pages that are there come first */
	} caches[] = { { 0, false }, { 3, false }, { 3, true } };
	/* Any two of: devices, chunks, a cache, a strategy. */
	struct cover c = { .n_factors = 4, .n_values = { 3, ARRAY_LEN(chunks), ARRAY_LEN(caches), 2 } };
	struct cover_row *row;
	mill_store *store;
	u32 n_rows;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(1, 12);
	n_rows = cover_make(&c, getenv("LONG"), &row);
	assert_int_equal(cover_missing(&c, row, n_rows), 0);
	for (u32 k = 0; k < n_rows; k++) {
		u32 n = 1 + row[k].value[0], w = chunks[row[k].value[1]], cached = caches[row[k].value[2]].n;
		bool first = caches[row[k].value[2]].first, divided = row[k].value[3];
		struct mill_options o = {
			.device = device_lists[n - 1], .gts.strategy = divided ? MILL_STRATEGY_S : MILL_STRATEGY_P, .gts.chunks = w,
			.gts.device_cache = cached ? cached * 64 * KIB : MILL_SIZE_NONE,
			.gts.scan = first ? MILL_SCAN_CACHED : MILL_SCAN_PAGES,
		};
		mill_run *run = open_gts(store, o);
		const struct pages *p = &run->store->out;
		u64 times = (u64)ITERATIONS * w * (divided ? n : 1), copies = divided ? 1 : n, wa = 8 * run->store->n_linked;
		struct mill_report r;
		u64 want;

		OK(mill_pagerank(run, &scans));
		mill_run_report(run, &r);
		assert_int_equal(r.streaming.devices, n);
		assert_int_equal(r.streaming.chunks, w);
		assert_int_equal(r.streaming.small_pages + r.streaming.large_pages, p->n_pages);
		assert_int_equal(r.streaming.cached_pages, cached);
		assert_int_equal(r.pages_active, times * p->n_pages);
		want = crossing(p->n_pages, n, divided, (u64)ITERATIONS * w, first ? cached : 0);
		assert_int_equal(r.pages_to_device, want);
		assert_int_equal(r.pages_reused, r.pages_active - want);
		assert_int_equal(moved(run, TRAFFIC_READ_ONLY, true), times * 8 * rows_of(p));
		assert_int_equal(moved(run, TRAFFIC_WRITABLE, true), 0);
		assert_int_equal(moved(run, TRAFFIC_WRITABLE, false), ITERATIONS * copies * wa);
		mill_run_free(run);
	}
	free(row);
	graph_store_drop(store);
}

/* Where all pages stay, each crosses once to whoever gets it; labels bring WA down in every level but with one device. */
static void test_all_stay(void **state)
{
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(0, 12);
	for (u32 k = 0; k < 6; k++) {
		u32 n = 1 + k % 3;
		bool divided = k / 3 && n > 1;
		struct mill_options o = { .device = device_lists[n - 1], .gts.strategy = k / 3 ? MILL_STRATEGY_S : MILL_STRATEGY_P };
		mill_run *run = open_gts(store, o);
		u64 wa = 4 * run->store->n_linked, crossings;
		struct mill_report r;

		OK(mill_cc(run, NULL));
		mill_run_report(run, &r);
		assert_int_equal(r.pages_to_device, (divided ? n : 1) * run->store->out.n_pages);
		assert_int_equal(r.pages_to_device + r.pages_reused, r.pages_active);
		crossings = n == 1 ? 1 : r.iterations * (divided ? 1 : n);
		assert_true(r.iterations > 1);
		assert_int_equal(moved(run, TRAFFIC_WRITABLE, true), crossings * wa);
		assert_int_equal(moved(run, TRAFFIC_WRITABLE, false), crossings * wa);
		if (!divided)
			assert_int_equal(moved(run, TRAFFIC_READ_ONLY, true), 0);
		else
			assert_true(moved(run, TRAFFIC_READ_ONLY, true) > 0);
		mill_run_free(run);
	}
	graph_store_drop(store);
}

/* A packed page is unpacked once where there is a lane for each, and for every use where there are fewer. */
static void test_lanes(void **state)
{
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(0, 12);
	for (u32 k = 0; k < 4; k++) {
		mill_run *run = open_gts(store, (struct mill_options){ .queues = k % 2 ? 1 : 32, .no_reuse = k / 2 });
		struct mill_report r;

		OK(mill_pagerank(run, &scans));
		mill_run_report(run, &r);
		assert_in_range(run->store->out.n_pages, 2, 32);
		assert_int_equal(r.pages_active, (u64)ITERATIONS * run->store->out.n_pages);
		assert_int_equal(run->opened[0]->time.launches, r.pages_active + (k ? r.pages_active : run->store->out.n_pages));
		mill_run_free(run);
	}
	graph_store_drop(store);
}

/* ---- Hubs ---- */

/* Reaching the centre of a star brings all pages of its list, and from there all others. */
static void test_hub(void **state)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("star"), .page_size = 64 * KIB, .codec = MILL_CODEC_RAW }, .kind = "star", .vertices = 100000,
	};
	struct mill_built built;
	struct mill_step step[3];
	struct mill_report r;
	u32 n_hub = 0;
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	run = open_gts(store, (struct mill_options){ .check = true });
	OK(mill_bfs(run, &(struct mill_bfs){ "99999" }));
	mill_run_report(run, &r);
	assert_int_equal(r.iterations, 3);
	for (u32 i = 0; i < 3; i++)
		mill_run_step(run, i, &step[i]);
	for (u32 i = 0; i < run->store->out.n_pages; i++)
		n_hub += i == 0 || run->store->out.entry[i].skip;
	assert_true(n_hub > 4 && r.streaming.large_pages >= n_hub - 1);
	assert_int_equal(step[0].pages_active, 1);
	assert_int_equal(step[1].pages_active, n_hub);
	assert_int_equal(step[1].updates, 99998);
	assert_int_equal(step[2].pages_active, run->store->out.n_pages - n_hub + (run->store->out.entry[n_hub - 1].n_rows > 1));
	OK(mill_run_check(run));
	mill_run_free(run);
	graph_store_drop(store);
}

/* ---- Budgets ---- */

/* Less than the state: as many chunks as it takes. What is planned suffices, one byte less is refused. */
static void test_budgets(void **state)
{
	static const struct task *const some[] = { &tasks[0], &tasks[7], &tasks[10], &tasks[12] };
	struct answer want[N_TASKS];
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(0, 14);
	answers_begin(want, store);
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		for (u32 n = 1; n <= 2; n++) {
			mill_run *run = open_gts(store, (struct mill_options){ .device = device_lists[n - 1],
									       .gts.strategy = n > 1 ? MILL_STRATEGY_S : MILL_STRATEGY_P });
			struct mill_report r;

			task_room(run, some[i], 20000);
			expect_answer("20000 bytes more", run, some[i], &want[some[i] - tasks]);
			mill_run_report(run, &r);
			assert_true(r.streaming.chunks > 1 && r.streaming.writable < 4 * run->store->n_linked);
			task_room(run, some[i], 0);
			run->opened[n - 1]->memory->limit--;
			REFUSED(MILL_ENOMEM, some[i]->call(run, some[i]->how), "a byte less");
			mill_run_free(run);
		}
	answers_end(want);
	graph_store_drop(store);
}

/* Strategy S gives larger devices more of the state; under P the smallest device is the limit. */
static void test_unequal(void **state)
{
	static const u64 memories[] = { 4 * MIB, 1 * MIB, 2 * MIB };
	struct answer want[N_TASKS];
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(3, 12);
	answers_begin(want, store);
	for (u32 s = MILL_STRATEGY_P; s <= MILL_STRATEGY_S; s++) {
		mill_run *run = open_gts(store, (struct mill_options){ .device = device_lists[2], .gts.strategy = (enum mill_strategy)s,
								       .device_memories = memories, .n_device_memories = 3 });

		for (size_t t = 0; t < N_TASKS; t++)
			if (can_stream(&tasks[t]))
				expect_answer("unequal devices", run, &tasks[t], &want[t]);
		mill_run_free(run);
	}
	answers_end(want);
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_counted),
	cmocka_unit_test(test_scans),
	cmocka_unit_test(test_all_stay),
	cmocka_unit_test(test_lanes),
	cmocka_unit_test(test_hub),
	cmocka_unit_test(test_budgets),
	cmocka_unit_test(test_unequal),
};

SUITE(gts, tests, .setup = scratch_make, .teardown = scratch_remove);
