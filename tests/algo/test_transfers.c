/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What crosses to a device, against closed forms: of I full scans of P pages through B slots Graphie's P + (I - 1)(P - B), all of
 * them each time without reuse, each once where there is room, in whichever order a policy plans. And budgets: what is planned suffices,
 * one byte less is refused.
 */
#include "base/random.h"
#include "task.h"

#define ITERATIONS 5u

static const struct mill_pagerank scans = { .tolerance = -1, .iterations = ITERATIONS, .precision = MILL_EXACT };

/* ---- Stores and runs ---- */

static mill_store *make_store(bool raw, enum mill_weight weight, bool directed, u32 scale)
{
	static unsigned number;
	char name[32];
	struct mill_generate how = {
		.target = { .page_size = 64 * KIB, .codec = raw ? MILL_CODEC_RAW : MILL_CODEC_PACKED, .threads = 1 },
		.kind = "uniform",
		.scale = scale,
		.degree = 64,
		.directed = directed,
		.weight = weight,
		.seed = 3,
	};
	struct mill_built built;
	mill_store *store;

	snprintf(name, sizeof(name), "generated-%u", number++);
	how.target.path = scratch_path(name);
	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

/* pages: room beyond the least; AMPLE: for all. */
static mill_run *open_run(mill_store *store, struct mill_options o, const char *algorithm, const void *how, u32 pages)
{
	struct config c = { .name = "device", .threads = 2, .device = true, .pages = pages == AMPLE ? AMPLE : pages + 2 };

	return run_open(store, &c, o, algorithm, how);
}

/* Returns the bytes of all pages of a direction that a run reads. */
static u64 wire_bytes(const struct pages *p, bool weights, bool whole)
{
	u64 bytes = 0;
	void *frame;

	OK(page_frame_new(&frame, p->store, NULL));
	for (u32 i = 0; i < p->n_pages; i++) {
		struct page_wire wire;

		OK(page_read(p, i, frame));
		OK(page_wire(p, i, frame, &wire));
		if (!weights)
			bytes += wire.end - wire.begin;
		else if (whole)
			bytes += wire.end - wire.begin + wire.weight_end - wire.weight_at;
		else
			bytes += wire.weight_end - wire.begin;
	}
	memory_free(frame);
	return bytes;
}

/* The sum of a step's field over all steps, against the report. */
static void expect_sums(const char *where, mill_run *run)
{
	struct mill_report r;
	u64 bytes = 0, pages = 0, active = 0, reused = 0;

	mill_run_report(run, &r);
	for (u64 i = 0; i < r.n_steps; i++) {
		struct mill_step s;

		mill_run_step(run, i, &s);
		bytes += s.to_device;
		pages += s.pages_to_device;
		active += s.pages_active;
		reused += s.pages_reused;
		if (!run->options.no_skip && s.pages_active != s.pages_to_device + s.pages_reused)
			fail_msg("%s: step %llu: %llu pages are active, %llu came and %llu were there", where,
				 (unsigned long long)i, (unsigned long long)s.pages_active,
				 (unsigned long long)s.pages_to_device, (unsigned long long)s.pages_reused);
	}
	assert_int_equal(bytes, r.topology);
	assert_int_equal(pages, r.pages_to_device);
	assert_int_equal(active, r.pages_active);
	assert_int_equal(reused, r.pages_reused);
	assert_int_equal(r.to_device + r.from_device, r.topology + r.read_only + r.writable + r.flags);
	assert_true(r.device_peak <= r.device_budget);
}

/* ---- Full scans ---- */

/* What must cross in all: pages of a direction, slots, or a cache that has all. */
static u64 pages_wanted(const struct mill_options *o, u64 pages, u64 slots)
{
	if (o->no_reuse)
		return ITERATIONS * pages;
	return slots >= pages ? pages : pages + (ITERATIONS - 1) * (pages - slots);
}

static void scan_store(mill_store *store, bool no_reuse, u32 room)
{
	struct mill_options o = { .no_reuse = no_reuse };
	mill_run *run = open_run(store, o, "pagerank", &scans, room);
	struct mill_report r;
	u64 pages, slots, want;
	char where[96];

	OK(mill_pagerank(run, &scans));
	mill_run_report(run, &r);
	pages = run_direction(run, true)->pages->n_pages;
	slots = transfer_stays(&run->transfer);
	want = pages_wanted(&o, pages, slots);
	snprintf(where, sizeof(where), "%llu pages, %d slots%s", (unsigned long long)pages, (int)slots,
		 no_reuse ? ", no reuse" : "");
	if (r.pages_to_device != want)
		fail_msg("%s: %llu pages crossed, not %llu", where, (unsigned long long)r.pages_to_device,
			 (unsigned long long)want);
	if (r.pages_active != ITERATIONS * pages)
		fail_msg("%s: %llu pages were active", where, (unsigned long long)r.pages_active);
	if (no_reuse || slots >= pages)	/* all of them, once or in every pass */
		assert_int_equal(r.topology, want / pages * wire_bytes(run_direction(run, true)->pages, false, slots > pages));
	expect_sums(where, run);
	mill_run_free(run);
}

static void test_scans(void **state)
{
	static const u32 room[] = { 0, 1, 2, 7, 30, AMPLE };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 4; i++) {
		mill_store *store = make_store(i % 2, i == 3 ? MILL_WEIGHT_F32 : MILL_WEIGHT_NONE, i < 2, 12);

		for (size_t k = 0; k < ARRAY_LEN(room); k++) {
			scan_store(store, false, room[k]);
			scan_store(store, true, room[k]);
		}
		graph_store_drop(store);
	}
}

/* Slots for all pages where unpacked lists would not fit: each page crosses once in this form too. */
static void test_all_slots(void **state)
{
	struct mill_report r;
	mill_store *store;
	mill_run *run;
	u32 pages;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_store(false, MILL_WEIGHT_NONE, true, 13);
	pages = store->st->in.n_pages;
	run = open_run(store, (struct mill_options){ 0 }, "pagerank", &scans, pages);
	OK(mill_pagerank(run, &scans));
	mill_run_report(run, &r);
	assert_true(!run->transfer.whole && transfer_stays(&run->transfer) == pages);
	assert_int_equal(r.pages_to_device, pages);
	assert_int_equal(r.pages_reused, (ITERATIONS - 1) * pages);
	assert_int_equal(r.topology, wire_bytes(&store->st->in, false, false));
	OK(mill_pagerank(run, &scans));	/* once more: all are there */
	mill_run_report(run, &r);
	assert_true(!r.pages_to_device && !r.topology && r.pages_reused == ITERATIONS * pages);
	mill_run_free(run);
	graph_store_drop(store);
}

/* ---- Policies that order pages ---- */

/* Resident pages, then the others in a random order: not that in which frames deliver them. */
static mill_err random_order(struct plan *out, const struct activity *a, struct transfer *t)
{
	struct residency *r = t->station[0].residency;
	u32 n_there = 0, n = 0;

	residency_begin(r);
	plan_window(t);
	for (int there = 1; there >= 0; there--)
		for (u32 i = 0; i < t->units[a->in].n; i++)
			if (plan_takes(t, a, i) && (residency_find(r, a->in, i) != RESIDENCY_NONE) == there) {
				t->list[n++] = i;
				n_there += (u32)there;
			}
	for (u32 k = n; k > n_there + 1; k--) {
		u32 other = n_there + (u32)random_below(1, n + k, k - n_there), page = t->list[other];

		t->list[other] = t->list[k - 1];
		t->list[k - 1] = page;
	}
	for (u32 k = 0; k < n; k++) {
		struct move m = {
			.unit = t->list[k], .where = 1, .wire = (u8)t->wire, .flags = plan_active(t, a, t->list[k]) ? MOVE_WORK : 0,
		};

		plan_place(&m, a->in, t);
		plan_add(out, m);
	}
	return MILL_OK;
}

static void order_pages(mill_store *store, const struct task *t, const struct policy *policy, struct mill_options o, u32 room, u32 frames)
{
	mill_run *run = open_run(store, o, t->algorithm, t->how, room), *cpu;
	struct mill_report r, want;

	OK(mill_run_new(&cpu, store, NULL));
	OK(t->call(cpu, t->how));
	run->policy = run->transfer.policy = policy;
	run->hook.only_frames = frames;
	OK(t->call(run, t->how));
	mill_run_report(cpu, &want);
	mill_run_report(run, &r);
	if (r.hash != want.hash)
		fail_msg("%s, %s, %u pages more, %u frames: another result", t->name, policy->public.name, room, frames);
	expect_sums(t->name, run);
	if (t->how == &scans)
		assert_int_equal(r.pages_to_device, pages_wanted(&o, run_direction(run, true)->pages->n_pages, transfer_stays(&run->transfer)));
	mill_run_free(cpu);
	mill_run_free(run);
}

static const struct mill_bfs search = { "max-degree" };
static mill_err call_scans(mill_run *r, const void *how) { return mill_pagerank(r, how); }
static mill_err call_search(mill_run *r, const void *how) { return mill_bfs(r, how); }

/* With slots and frames for some pages and every key: the same results, and as many pages cross as in any other order. */
static void test_order(void **state)
{
	static const struct task ordered[] = {
		{ .name = "scans", .algorithm = "pagerank", .call = call_scans, .how = &scans },
		{ .name = "search", .algorithm = "bfs", .call = call_search, .how = &search },
	};
	static const u32 room[] = { 0, 1, 5, AMPLE }, frames[] = { 4, 9, 100 };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 4; i++) {
		mill_store *store = make_store(i % 2, MILL_WEIGHT_NONE, false, 12);

		for (u32 k = 0; k < ARRAY_LEN(room) * ARRAY_LEN(frames); k++) {
			struct policy policy = *policy_find(mill_policies()[(k + i) % 5].name);
			struct mill_options o = { .no_reuse = k % 5 == 4, .no_skip = k % 7 == 6 };

			policy.plan = random_order;
			order_pages(store, &ordered[i / 2], &policy, o, room[k % ARRAY_LEN(room)], frames[k % ARRAY_LEN(frames)]);
		}
		graph_store_drop(store);
	}
}

static mill_err no_plan(struct plan *out, const struct activity *a, struct transfer *t)
{
	(void)out, (void)a, (void)t;
	return fail(MILL_EUSAGE, "the run is not the policy's");
}

/* A policy that owns searches is not asked how the pages of a reduction cross. */
static void test_others_order(void **state)
{
	struct policy policy = policy_graphie;
	struct mill_report r;
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	policy.plan = no_plan;
	store = make_store(true, MILL_WEIGHT_NONE, false, 12);
	run = open_run(store, (struct mill_options){ 0 }, "pagerank", &scans, 1);
	run->policy = run->transfer.policy = &policy;
	OK(mill_pagerank(run, &scans));
	mill_run_report(run, &r);
	assert_true(r.pages_to_device && !r.policy_owns);
	mill_run_free(run);
	graph_store_drop(store);
}

/* ---- Searches ---- */

/* A graph of which a search reaches part after part: a path of pages. */
static void make_chain(struct graph *g, bool raw)
{
	graph_init(g, "chain", 24000);
	g->codec = raw ? CODEC_RAW : CODEC_PACKED;
	for (u32 v = 0; v < g->n; v++)
		for (u32 i = 0; i < 12; i++)
			if (v + 1 < g->n)
				graph_add(g, v, (u32)min_u64(v + 1 + random_below(v, i, 4000), g->n - 1));
	graph_index(g);
}

/* As many pages have work in each push as in one of the CPU that streams. */
static void test_active(void **state)
{
	static const u32 room[] = { 0, 3, AMPLE };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 2 * ARRAY_LEN(room); i++) {
		struct mill_options o = { .direction = MILL_DIRECTION_PUSH };
		mill_run *run, *streamed;
		struct mill_report r, want;
		struct graph g;
		mill_store *store;

		make_chain(&g, i % 2);
		store = graph_store(&g);
		streamed = run_open(store, config_named("2 threads, 2 frames"), o, "bfs", &search);
		run = open_run(store, o, "bfs", &search, room[i / 2]);
		OK(mill_bfs(streamed, &(struct mill_bfs){ "0" }));
		OK(mill_bfs(run, &(struct mill_bfs){ "0" }));
		mill_run_report(run, &r);
		mill_run_report(streamed, &want);
		assert_int_equal(r.n_steps, want.n_steps);
		assert_true(want.pages_active < want.n_steps * store->st->out.n_pages);
		for (u64 k = 0; k < r.n_steps; k++) {
			struct mill_step a, b;

			mill_run_step(run, k, &a);
			mill_run_step(streamed, k, &b);
			if (a.pages_active != b.pages_active || a.frontier != b.frontier || a.edges != b.edges ||
			    a.updates != b.updates)
				fail_msg("step %llu: %llu pages, on the cpu %llu", (unsigned long long)k,
					 (unsigned long long)a.pages_active, (unsigned long long)b.pages_active);
		}
		if (room[i / 2] == AMPLE)	/* at 100 % each page crosses at most once */
			assert_true(r.pages_to_device <= store->st->out.n_pages);
		expect_sums("active", run);
		mill_run_free(run);
		mill_run_free(streamed);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Without skipping and reuse all pages cross in every step, with one of them something in between. */
static void test_switches(void **state)
{
	static const u32 room[] = { 0, 3, AMPLE };

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 2 * ARRAY_LEN(room); i++) {
		u64 crossed[4], hash[4];
		struct graph g;
		mill_store *store;

		make_chain(&g, i % 2);
		store = graph_store(&g);
		for (u32 k = 0; k < 4; k++) {
			struct mill_options o = { .direction = MILL_DIRECTION_PUSH, .no_skip = k & 1, .no_reuse = k & 2 };
			mill_run *run = open_run(store, o, "bfs", &search, room[i / 2]);
			struct mill_report r;

			OK(mill_bfs(run, &(struct mill_bfs){ "0" }));
			mill_run_report(run, &r);
			crossed[k] = r.pages_to_device;
			hash[k] = r.hash;
			assert_int_equal(hash[k], hash[0]);
			if (k == 2)
				assert_int_equal(r.pages_to_device, r.pages_active);
			if (k == 3)
				assert_int_equal(r.pages_to_device, r.n_steps * store->st->out.n_pages);
			expect_sums("switches", run);
			mill_run_free(run);
		}
		assert_true(crossed[0] <= crossed[1] && crossed[1] <= crossed[3] && crossed[0] <= crossed[2] &&
			    crossed[2] < crossed[3]);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Weights cross with their pages, in either form, and only for programs that read them. */
static void test_weights(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 4; i++) {
		struct mill_sssp paths = { .source = "max-degree", .unit_weights = i / 2 };
		mill_store *store = make_store(i % 2, MILL_WEIGHT_U32, false, 11);
		mill_run *run = open_run(store, (struct mill_options){ 0 }, "sssp", &paths, AMPLE);
		struct mill_report r;

		OK(mill_sssp(run, &paths));
		mill_run_report(run, &r);
		assert_true(run->transfer.whole);
		assert_int_equal(r.pages_to_device, store->st->out.n_pages);
		assert_int_equal(r.topology, wire_bytes(&store->st->out, !paths.unit_weights, true));
		mill_run_free(run);
		graph_store_drop(store);
	}
}

/* ---- Budgets ---- */

/* One byte below what the plan says is refused, with the number; at it all goes well, with as little memory on the host. */
static void keep_budget(mill_store *store, const struct task *t, struct mill_options o)
{
	struct mill_report r;
	struct mill_plan plan;
	char needed[32];
	mill_run *run;

	OK(mill_run_new(&run, store, &o));
	OK(mill_run_plan(run, t->algorithm, t->how, &plan));
	mill_run_free(run);
	if (!plan.device_needed)	/* it computes on the host */
		return;
	o.device_memory = plan.device_needed - 1;
	OK(mill_run_new(&run, store, &o));
	REFUSED(MILL_ENOMEM, t->call(run, t->how), t->name);
	snprintf(needed, sizeof(needed), "%llu", (unsigned long long)plan.device_needed);
	assert_non_null(strstr(mill_error(), needed));
	mill_run_free(run);
	o.device_memory = plan.device_needed;
	o.memory = plan.needed;
	OK(mill_run_new(&run, store, &o));
	OK(t->call(run, t->how));
	OK(mill_run_check(run));
	mill_run_report(run, &r);
	if (r.device_peak > plan.device_needed || r.memory_peak > plan.needed || r.device_budget != plan.device_needed)
		fail_msg("%s: the peak is above what was planned", t->name);
	mill_run_free(run);
}

static void test_budgets(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 4; i++) {
		mill_store *store = make_store(i % 2, MILL_WEIGHT_U32, i / 2, 10);

		for (u32 t = 0; t < N_TASKS; t++)
			keep_budget(store, &tasks[t], (struct mill_options){
				.threads = 2, .memory = GIB, .device = "opencl", .parents = t % 2, .check = true,
				.filter = (enum mill_filter)((i + t) % 3),
			});
		graph_store_drop(store);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_scans),
	cmocka_unit_test(test_all_slots),
	cmocka_unit_test(test_order),
	cmocka_unit_test(test_others_order),
	cmocka_unit_test(test_active),
	cmocka_unit_test(test_switches),
	cmocka_unit_test(test_weights),
	cmocka_unit_test(test_budgets),
};

SUITE(transfers, tests, .setup = scratch_make, .teardown = scratch_remove);
