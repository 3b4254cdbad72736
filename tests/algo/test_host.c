/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests moves of the host's threads. A policy that plans as gts does, but leaves some pages to the
 * host, gives the results of the CPU: on one and two devices, under strategies P and S, with the
 * state in chunks, on stores of all kinds, with few frames and little memory.
 */
#include "task.h"

static const char *const device_lists[] = { "opencl", "opencl,opencl" };

/* ---- The policy ---- */

static u32 period = 2, place; /* the host takes pages with number % period == place */
static u64 host_moves, device_moves;

static bool is_hosts(u32 page) { return page % period == place; }

/* Adds at most n of the host's next active pages. begins: the first begins a window. */
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

/* Plans the other pages as gts does, and puts pages of the host in front of each window. */
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

/* Opens a run of gts, and replaces its policy before the run allocates anything. */
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

/* Returns true if gts can stream the task. */
static bool can_stream(const struct task *t)
{
	return !strcmp(t->algorithm, "bfs") || !strcmp(t->algorithm, "sssp") ||
	       !strcmp(t->name, "cc, labels") || !strcmp(t->algorithm, "pagerank") ||
	       !strcmp(t->algorithm, "bc");
}

/* Opens a run. k selects devices, strategy, chunks, cache, frames and the pages of the host. */
static mill_run *open_choice(mill_store *store, u32 k, const char *name, char *where, size_t size)
{
	static const enum mill_strategy strategies[] = { MILL_STRATEGY_P, MILL_STRATEGY_S };
	static const u64 caches[] = { 0, MILL_SIZE_NONE, 128 * KIB };
	static const u32 chunks[] = { 1, 3 }, frames[] = { 4, 0, 4 };
	bool divided = k / 2 % 2;
	struct mill_options o = {
		.check = true,
		.parents = k % 5 == 1,
		.device = device_lists[k % 2],
		.gts.strategy = strategies[divided],
		.gts.chunks = chunks[k / 4 % 2],
		.gts.device_cache = caches[k % 3],
		.gts.scan = k % 7 < 3 ? MILL_SCAN_PAGES : MILL_SCAN_CACHED,
		.queues = k % 7 == 3 ? 1 : 0,
	};
	mill_run *run = open_both(store, o);

	/* Two devices share the pages by number % 2, so the host needs another period. */
	period = k % 2 ? 3 : 2;
	place = k / 8 % period;
	run->hook.only_frames = frames[k % 3];
	snprintf(where, size,
		 "%s (%u: %s, strategy %s, %u chunks, %u frames, host: pages %u mod %u)", name, k,
		 o.device, divided ? "S" : "P", o.gts.chunks, run->hook.only_frames, place, period);
	return run;
}

/* Fails unless host and devices had work, if there are enough pages and the task uses them all. */
static void expect_both(const char *where, const mill_run *run, const struct task *t)
{
	struct mill_report r;

	mill_run_report(run, &r);
	if (run->transfer.units[0].n < 2 * period ||
	    (strcmp(t->algorithm, "pagerank") && strncmp(where, "rmat", 4)))
		return;
	if (!r.pages_to_device || r.pages_active <= r.pages_to_device + r.pages_reused)
		fail_msg("%s: %s: %llu active pages: %llu moved to the devices, %llu reused",
			 where, t->name, (unsigned long long)r.pages_active,
			 (unsigned long long)r.pages_to_device,
			 (unsigned long long)r.pages_reused);
}

/* Tries the next n_choices values of *k, each with one in of_tasks tasks. */
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

static const struct {
	const char *name;
	enum mill_codec codec;
	enum mill_addressing addressing;
	enum mill_weight weight;
	bool directed, multigraph;
} rmats[] = {
	{ "rmat", MILL_CODEC_PACKED, MILL_ADDRESSING_DENSE, MILL_WEIGHT_F32, false, false },
	{ "rmat, paged", MILL_CODEC_RAW, MILL_ADDRESSING_PAGED, MILL_WEIGHT_U32, false, false },
	{ "rmat", MILL_CODEC_PACKED, MILL_ADDRESSING_DENSE, MILL_WEIGHT_U32, true, true },
	{ "rmat", MILL_CODEC_RAW, MILL_ADDRESSING_DENSE, MILL_WEIGHT_F32, true, false },
	{ "rmat", MILL_CODEC_PACKED, MILL_ADDRESSING_DENSE, MILL_WEIGHT_U32, true, false },
	{ "rmat, paged", MILL_CODEC_RAW, MILL_ADDRESSING_PAGED, MILL_WEIGHT_U32, true, false },
};

static mill_store *make_rmat(u32 i, u32 scale)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("rmat"),
			    .page_size = 64 * KIB,
			    .force = true,
			    .codec = rmats[i].codec,
			    .addressing = rmats[i].addressing },
		.kind = "rmat",
		.scale = scale,
		.degree = 40,
		.directed = rmats[i].directed,
		.multigraph = rmats[i].multigraph,
		.weight = rmats[i].weight,
		.seed = i,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	return store;
}

/* Packed, raw and paged stores of several pages, some with parts of lists. */
static void test_rmat(void **state)
{
	u32 k = 0;

	(void)state;
	if (!have_opencl())
		skip();
	for (u32 i = 0; i < ARRAY_LEN(rmats); i++) {
		mill_store *store = make_rmat(i, 11);

		try_store(store, rmats[i].name, &k, (u32)repeats(9), getenv("LONG") ? 1 : 2);
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

/* A hub: the host and the devices have pages of the same list. */
static void test_hub(void **state)
{
	static const struct {
		const char *name;
		enum mill_addressing addressing;
	} stars[] = {
		{ "star", MILL_ADDRESSING_DENSE },
		{ "star, paged", MILL_ADDRESSING_PAGED },
	};
	u32 k = 3;

	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(stars); i++) {
		struct mill_generate how = {
			.target = { .path = scratch_path("star"),
				    .page_size = 64 * KIB,
				    .codec = MILL_CODEC_RAW,
				    .force = true,
				    .addressing = stars[i].addressing },
			.kind = "star",
			.vertices = 100000,
		};
		struct mill_built built;
		mill_store *store;

		OK(mill_generate(&built, &how));
		OK(mill_store_open(&store, how.target.path));
		try_store(store, stars[i].name, &k, 2, 2);
		graph_store_drop(store);
	}
}

/* The host adds the results of devices with shares of different sizes. */
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
		struct mill_options o = { .device = device_lists[1],
					  .gts.strategy = (enum mill_strategy)s,
					  .device_memories = memories,
					  .n_device_memories = ARRAY_LEN(memories) };
		mill_run *run = open_both(store, o);

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
