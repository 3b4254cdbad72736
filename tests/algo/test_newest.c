/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newest copies: between the levels of a search by gts on one device, the depths on the
 * device are newer than the host's. A reader or writer of the vector gets the newest values
 * first, and the search continues with the values that were written. Test builds overwrite
 * the host's copy, so that reads of a stale copy fail.
 */
#include "task.h"

#include "op/op.h"

#include "algo/bfs.op.h"

/* Returns what a vertex adds to the checksum of the depths: 0 if it is not reached yet. */
static f64 bfs_weight(struct bfs s, vid v)
{
	return s.depth[v] == UNREACHED ? 0 : (f64)(s.depth[v] + 1) * (v % 251 + 1);
}

#define PROGRAM bfs
#define FIELDS BFS_FIELDS
#define SOURCE "algo/bfs.op.h"
#define VERTEX bfs_weight
#include "op/compute.inc"

enum way { LOOK, GET, MAP, COMPUTE, SET, WAYS };
static const char *const way_names[] = { "look", "get", "map", "compute", "set" };

static struct {
	enum way way;
	u32 steps, held;	/* steps so far; those with newer depths on the device */
	u64 n;
	u32 *depth;		/* the final depths, by vertex */
} seen;

static struct vec *depths_of(mill_run *run)
{
	for (u32 i = 0; i < run->n_vecs; i++)
		if (!strcmp(run->vec[i]->name, "depth"))
			return run->vec[i];
	fail_msg("the run has no vector of depths");
	return NULL;
}

/* Returns the depth that a vertex must have before the next step. */
static u32 so_far(u64 v) { return seen.depth[v] <= seen.steps ? seen.depth[v] : UNREACHED; }

/* Reads or writes the depths in the way under test and checks that the host then has them. */
static void read_depths(mill_run *run, struct vec *v)
{
	struct bfs_args args = { .depth = v };
	f64 sum, want = 0;
	u32 *depth, got;

	switch (seen.way) {
	case LOOK:
		return;
	case GET:
		for (u64 i = 0; i < seen.n; i += 97) {
			OK(vec_get(v, i, &got));
			assert_int_equal(got, so_far(i));
		}
		break;
	case MAP:
		OK(vec_map(run, v, &depth));
		for (u64 i = 0; i < seen.n; i++)
			assert_int_equal(depth[i], so_far(i));
		vec_unmap(v, depth);
		break;
	case COMPUTE:
		OK(op_compute(run, &bfs_weight_compute, &args, 0, seen.n, &sum));
		for (u64 i = 0; i < seen.n; i++)
			want += so_far(i) == UNREACHED ? 0
						       : (f64)(so_far(i) + 1) * (f64)(i % 251 + 1);
		assert_true(sum == want); /* integers: exact in any order */
		break;
	default:
		got = so_far(seen.n / 2);
		OK(vec_set(v, seen.n / 2, &got));
	}
	assert_null(v->newest);
	assert_null(run->transfer.held);
	for (u64 i = 0; i < seen.n; i++)
		assert_int_equal(((u32 *)v->buffer.host)[i], so_far(i));
}

/* Checks the depths before each step of the search. */
static void see(mill_run *run, const u32 *active, u32 n)
{
	struct vec *v = depths_of(run);

	(void)active;
	(void)n;
	assert_int_equal(run->transfer.held == v, v->newest == &run->transfer);
	if (v->newest) {
		seen.held++;
#ifdef MILL_POISON
		for (u64 i = 0; i < v->n; i++)
			assert_int_equal(((u32 *)v->buffer.host)[i], 0xa5a5a5a5u);
#endif
	}
	read_depths(run, v);
	seen.steps++;
}

static mill_run *open_gts(mill_store *store, struct mill_options o)
{
	mill_run *run;

	o.policy = "gts";
	o.threads = 2;
	o.memory = GIB;
	o.device_memory = 512 * MIB;
	OK(mill_run_new(&run, store, &o));
	return run;
}

static const struct mill_bfs how = { "max-degree" };

/* Searches on the cpu, stores the depths in `seen` and returns the hash. */
static u64 search_native(mill_store *store)
{
	const u32 *depth;
	mill_run *run;
	u64 hash;

	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 2, .memory = GIB }));
	OK(mill_bfs(run, &how));
	hash = hash_of(run);
	seen.n = run->store->n_linked;
	seen.depth = calloc(seen.n + 1, sizeof(u32));
	OK(vec_map(run, run->result.column[0].vec, &depth));
	memcpy(seen.depth, depth, seen.n * sizeof(u32));
	vec_unmap(run->result.column[0].vec, (void *)depth);
	mill_run_free(run);
	return hash;
}

static const struct layout {
	enum mill_codec codec;
	enum mill_addressing addressing;
	u64 device_cache;
} layouts[] = {
	{ MILL_CODEC_PACKED, MILL_ADDRESSING_DENSE, 0 },
	{ MILL_CODEC_RAW, MILL_ADDRESSING_DENSE, MILL_SIZE_NONE },
	{ MILL_CODEC_RAW, MILL_ADDRESSING_PAGED, 0 },
};

static mill_store *make_store(const struct layout *layout)
{
	struct mill_generate as = {
		.target = { .path = scratch_path("rmat"),
			    .page_size = 64 * KIB,
			    .force = true,
			    .codec = layout->codec,
			    .addressing = layout->addressing },
		.kind = "rmat",
		.scale = 12,
		.degree = 24,
		.seed = 5,
	};
	struct mill_built built;
	mill_store *store;

	OK(mill_generate(&built, &as));
	OK(mill_store_open(&store, as.target.path));
	return store;
}

/* Reads and writes the depths in every way between the steps. */
static void test_readers(void **state)
{
	(void)state;
	if (!have_opencl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
		mill_store *store = make_store(&layouts[i]);
		u64 hash = search_native(store);

		for (enum way way = LOOK; way < WAYS; way++) {
			struct mill_options o = { .gts.device_cache = layouts[i].device_cache,
						  .device = "opencl" };
			mill_run *run = open_gts(store, o);

			for (u32 again = 0; again < 2; again++) {
				run->hook.see_step = see;
				seen.way = way;
				seen.steps = seen.held = 0;
				OK(mill_bfs(run, &how));
				if (hash_of(run) != hash)
					fail_msg("%s: the depths differ from the cpu's",
						 way_names[way]);
				assert_true(seen.steps > 2);
				/* Before all steps but the first. */
				assert_int_equal(seen.held, seen.steps - 1);
				assert_null(run->transfer.held);
			}
			mill_run_free(run);
		}
		free(seen.depth);
		graph_store_drop(store);
	}
}

/* Checks that no depths stay on the device if copies are merged or the state is in chunks. */
static void test_chunks(void **state)
{
	static const struct mill_options cases[] = {
		{ .device = "opencl", .gts.chunks = 2 },
		{ .device = "opencl,opencl", .gts.strategy = MILL_STRATEGY_P },
		{ .device = "opencl,opencl", .gts.strategy = MILL_STRATEGY_S },
	};
	mill_store *store;
	u64 hash;

	(void)state;
	if (!have_opencl())
		skip();
	store = make_store(&layouts[0]);
	hash = search_native(store);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		mill_run *run = open_gts(store, cases[i]);

		run->hook.see_step = see;
		seen.way = LOOK;
		seen.steps = seen.held = 0;
		OK(mill_bfs(run, &how));
		assert_int_equal(hash_of(run), hash);
		assert_int_equal(seen.held, 0);
		assert_true(seen.steps > 2);
		mill_run_free(run);
	}
	free(seen.depth);
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_readers),
	cmocka_unit_test(test_chunks),
};

SUITE(newest, tests, .setup = scratch_make, .teardown = scratch_remove);
