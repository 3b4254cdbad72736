/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of the host's threads: a policy that plans as gts does, but leaves some pages to the host,
 * has the cpu's results, on one device and two, under strategies P and S, with the state in chunks,
 * on stores of all kinds, with few frames and little memory.
 */
#include "task.h"

static const char *const device_lists[] = { "opencl", "opencl,opencl" };

/* ---- The policy ---- */

static u32 period = 2, place; /* of so many pages this one is the host's */
static u64 host_moves, device_moves;

static bool is_hosts(u32 page) { return page % period == place; }

/* Adds the host's next pages with work, at most n; the first may begin a window. */
static void add_hosts(struct plan *out, const struct activity *a, const struct transfer *t,
		      u32 *page, u32 n, bool begins)
{
	for (; *page < t->units[a->in].n && n; ++*page) {
		if (!is_hosts(*page) || !plan_takes(t, a, *page))
			continue;
		plan_add(out, (struct move){ .unit = *page,
					     .where = ON_HOST,
					     .flags = MOVE_WORK | (begins ? MOVE_BREAK : 0) });
		begins = false;
		host_moves++;
		n--;
	}
}

/* Plans the other pages as gts does, with the host's in front of each window: they may begin it. */
static mill_err plan_both(struct plan *out, const struct activity *a, struct transfer *t)
{
	u32 *n = calloc(t->units[a->in].n + 1u, sizeof(u32)), page = 0, n_moves;
	struct activity others = { .in = a->in, .subset = true, .n = n };
	struct move *move = calloc(out->most, sizeof(*move));
	mill_err err;

	for (u32 i = 0; i < t->units[a->in].n; i++)
		n[i] = plan_takes(t, a, i) && !is_hosts(i);
	err = policy_gts.plan(out, &others, t);
	n_moves = out->n;
	memcpy(move, out->move, n_moves * sizeof(*move));
	out->n = 0;
	for (u32 k = 0; k < n_moves; k++) {
		u32 before = out->n;

		if (!k || move[k].flags & MOVE_BREAK)
			add_hosts(out, a, t, &page, 1 + k % 2, move[k].flags & MOVE_BREAK);
		if (out->n > before)
			move[k].flags &= (u8)~MOVE_BREAK;
		plan_add(out, move[k]);
		device_moves++;
	}
	add_hosts(out, a, t, &page, UINT32_MAX, false);
	free(move);
	free(n);
	return err;
}

static struct policy both;

/* Opens a run of gts that gets the other policy before anything is there. */
static mill_run *open_both(mill_store *store, struct mill_options o)
{
	mill_run *run;

	both = policy_gts;
	both.host = true;
	both.plan = plan_both;
	o.policy = "gts";
	o.threads = 2;
	o.memory = GIB;
	o.seed = 1;
	if (!o.device_memory)
		o.device_memory = 512 * MIB;
	OK(mill_run_new(&run, store, &o));
	run->policy = run->transfer.policy = &both;
	return run;
}

/* ---- The same results as on the CPU ---- */

static bool can_stream(const struct task *t)
{
	return !strcmp(t->algorithm, "bfs") || !strcmp(t->algorithm, "sssp") ||
	       !strcmp(t->name, "cc, labels") || !strcmp(t->algorithm, "pagerank") ||
	       !strcmp(t->algorithm, "bc");
}

/* Opens a run: devices, strategies, chunks, caches, frames and the host's part come in turn. */
static mill_run *open_choice(mill_store *store, u32 k, const char *name, char *where, size_t size)
{
	bool divided = k / 2 % 2;
	struct mill_options o = {
		.check = true,
		.parents = k % 5 == 1,
		.device = device_lists[k % 2],
		.gts.strategy = divided ? MILL_STRATEGY_S : MILL_STRATEGY_P,
		.gts.chunks = k / 4 % 2 ? 3 : 1,
		.gts.device_cache = (u64[]){ 0, MILL_SIZE_NONE, 128 * KIB }[k % 3],
		.gts.scan = k % 7 < 3 ? MILL_SCAN_PAGES : MILL_SCAN_CACHED,
		.queues = k % 7 == 3 ? 1 : 0,
	};
	mill_run *run = open_both(store, o);

	period = k % 2 ? 3 : 2; /* pages of two devices are by their numbers too */
	place = k / 8 % period;
	run->hook.only_frames = k % 3 == 1 ? 0 : 4;
	snprintf(where, size,
		 "%s (%u: %s, strategy %s, %u chunks, %u frames, the host has %u of %u)", name, k,
		 o.device, divided ? "S" : "P", o.gts.chunks, run->hook.only_frames, place, period);
	return run;
}

/* Fails unless both sides had work, where there are pages enough and all of them are looked at. */
static void expect_both(const char *where, const mill_run *run, const struct task *t)
{
	struct mill_report r;

	mill_run_report(run, &r);
	if (run->transfer.units[0].n < 2 * period ||
	    (strcmp(t->algorithm, "pagerank") && strncmp(where, "rmat", 4)))
		return;
	if (!r.pages_to_device || r.pages_active <= r.pages_to_device + r.pages_reused)
		fail_msg(
			"%s: %s: of %llu pages with work %llu went to the devices and %llu were there",
			where, t->name, (unsigned long long)r.pages_active,
			(unsigned long long)r.pages_to_device, (unsigned long long)r.pages_reused);
}

static void try_store(mill_store *store, const char *name, u32 *k, u32 n_choices, u32 of_tasks)
{
	struct answer want[N_TASKS];
	struct mill_info info;
	u64 rooms[3] = { 400 * MIB, 0, 200 * KIB };

	mill_store_info(store, &info);
	rooms[1] = 2 * info.vertices;
	answers_begin(want, store);
	for (u32 i = 0; i < n_choices; i++, ++*k) {
		char where[256];
		mill_run *run = open_choice(store, *k, name, where, sizeof(where));

		for (size_t t = 0; t < N_TASKS; t++) {
			if (!task_suits(&tasks[t], store) || !can_stream(&tasks[t]) ||
			    (*k + t) % of_tasks)
				continue;
			if (!want[t].err)
				task_room(run, &tasks[t], rooms[(*k + t) % ARRAY_LEN(rooms)]);
			expect_answer(where, run, &tasks[t], &want[t]);
			if (!want[t].err && strcmp(tasks[t].algorithm, "bc"))
				expect_both(where, run, &tasks[t]);
		}
		mill_run_free(run);
	}
	answers_end(want);
}

static mill_store *make_rmat(u32 i, u32 scale)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("rmat"),
			    .page_size = 64 * KIB,
			    .force = true,
			    .codec = i % 2 ? MILL_CODEC_RAW : MILL_CODEC_PACKED,
			    .addressing =
				    i % 4 == 1 ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE },
		.kind = "rmat",
		.scale = scale,
		.degree = 40,
		.directed = i >= 2,
		.multigraph = i == 2,
		.weight = i % 3 ? MILL_WEIGHT_U32 : MILL_WEIGHT_F32,
		.seed = i,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

/* Packed, raw and paged, of several pages, some of which hold parts of lists. */
static void test_rmat(void **state)
{
	u32 k = 0;

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 6; i++) {
		mill_store *store = make_rmat(i, 11);

		try_store(store, i % 4 == 1 ? "rmat, paged" : "rmat", &k, (u32)repeats(9),
			  getenv("LONG") ? 1 : 2);
		graph_store_drop(store);
	}
	assert_true(host_moves && device_moves);
}

static void try_shape(mill_store *store, const char *name, const struct shape *s, void *k)
{
	if (getenv("LONG") || (s - shapes) % 5 < 2)
		try_store(store, name, k, 1, 2);
}

static void test_shapes(void **state)
{
	u32 k = 1;

	(void)state;
	if (!have_opencl())
		skip();
	shapes_each(try_shape, &k);
}

/* Hubs: pages of one list are on both sides. */
static void test_hub(void **state)
{
	u32 k = 3;

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < 2; i++) {
		struct mill_generate how = {
			.target = { .path = scratch_path("star"),
				    .page_size = 64 * KIB,
				    .codec = MILL_CODEC_RAW,
				    .force = true,
				    .addressing =
					    i ? MILL_ADDRESSING_PAGED : MILL_ADDRESSING_DENSE },
			.kind = "star",
			.vertices = 100000,
		};
		struct mill_built built;
		mill_store *store;

		OK(mill_generate(&built, &how));
		OK(mill_store_open(&store, how.target.path));
		try_store(store, i ? "star, paged" : "star", &k, 2, 2);
		graph_store_drop(store);
	}
}

/* The host adds what comes back from shares of all sizes. */
static void test_unequal(void **state)
{
	static const u64 memories[] = { 1 * MIB, 16 * MIB };
	struct answer want[N_TASKS];
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_rmat(3, 12);
	answers_begin(want, store);
	for (u32 s = MILL_STRATEGY_P; s <= MILL_STRATEGY_S; s++) {
		mill_run *run = open_both(
			store, (struct mill_options){ .device = device_lists[1],
						      .gts.strategy = (enum mill_strategy)s,
						      .device_memories = memories,
						      .n_device_memories = 2 });

		for (size_t t = 0; t < N_TASKS; t++)
			if (can_stream(&tasks[t]))
				expect_answer("unequal devices", run, &tasks[t], &want[t]);
		mill_run_free(run);
	}
	answers_end(want);
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_rmat),
	cmocka_unit_test(test_shapes),
	cmocka_unit_test(test_hub),
	cmocka_unit_test(test_unequal),
};

SUITE(host, tests, .setup = scratch_make, .teardown = scratch_remove);
