/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the policy graphie: every number of the paper's example (figures 2 and 3), closed forms
 * of transfers, limits. test_matrix.c compares its results.
 */
#include "base/random.h"
#include "policy/partition.h"
#include "task.h"

static const char *const wire_names[] = { "auto", "edges", "csr", "packed" };

static mill_run *open_graphie(mill_store *store, struct mill_options o)
{
	mill_run *run;

	o.device = "opencl";
	o.policy = "graphie";
	o.threads = 2;
	o.memory = GIB;
	o.seed = 1;
	OK(mill_run_new(&run, store, &o));
	return run;
}

/* Limits device memory to the least that the algorithm needs plus `more` bytes. */
static void set_room(mill_run *run, const char *algorithm, const void *how, u64 more)
{
	struct mill_plan plan;

	run->device->memory->limit = 512 * MIB;
	OK(mill_run_plan(run, algorithm, how, &plan));
	run->device->memory->limit = plan.device_needed + more;
	run->device->memory->peak = 0;
	run->loaded = false;
}

/* ---- Figures 2 and 3 ---- */

static mill_store *figure_store(void)
{
	mill_store *store;
	struct graph g;

	assert_true(shape_make(&g, shape_named("Graphie's figure 2")));
	g.codec = CODEC_RAW;	/* a paged store would have flags by page */
	store = graph_store(&g);
	graph_release(&g);
	return store;
}

/* The set of active partitions in each step, one bit a partition. */
static u32 seen[16], n_seen;

static void see(struct mill_run *r, const u32 *active, u32 n)
{
	u32 set = 0;

	(void)r;
	for (u32 i = 0; i < n; i++)
		set |= active[i] ? 1u << i : 0;
	seen[n_seen++] = set;
}

static void test_arrays(void **state)
{
	static const u32 pre_sum[] = { 0, 2, 2, 4, 6 }, sources[] = { 1, 3, 1, 1 };
	static const u32 ids[] = { 0, 3, 4, 5, 6, 9, 12, 13 };
	static const u64 old[] = { 0, 1, 2, 5, 6, 7, 3, 4 };
	const struct partitions *t;
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	store = figure_store();
	run = open_graphie(store, (struct mill_options){ .graphie.partition_size = 32 });
	OK(mill_bfs(run, &(struct mill_bfs){ "5" }));
	t = graphie_table(&run->transfer);
	assert_int_equal(t->n, 4);
	assert_int_equal(t->range, 3);
	assert_int_equal(t->unit.n_rows, 6);
	assert_memory_equal(t->pre_sum, pre_sum, sizeof(pre_sum));
	for (u32 v = 0, near = 0; v < 8; v++) {
		u64 id;

		OK(store_id(store->st, (vid)v, &id));
		assert_int_equal(id, old[v]);	/* new_to_old of the first renaming */
		assert_int_equal(partitions_id(t, (vid)v, &near), ids[v]);
	}
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(partitions_sources(t, i), sources[i]);
	mill_run_free(run);
	graph_store_drop(store);
}

/*
 * Two searches, and the partitions that each moves: naive without skipping or reuse, opt1 with
 * skipping, opt2 with reuse, both with both. Arrays: by the number of buffers, less 1.
 */
static const struct search {
	const char *source;
	u32 n_steps, active[4], updates, depth[8];
	u32 naive, opt1, opt2[4], both[4];
} searches[] = {
	{ "5", 4, { 2, 2, 1, 6 }, 6, { 2, 1, 3, 3, 2, 0, 3, UINT32_MAX },
	  16, 5, { 13, 10, 7, 4 }, { 4, 3, 3, 3 } },
	{ "7", 3, { 8, 6, 3 }, 7, { 2, 2, 1, 2, 1, 1, 1, 0 },
	  12, 5, { 10, 8, 6, 4 }, { 5, 4, 4, 4 } },
};

static void search_figure(mill_store *store, const struct search *s, u32 buffers,
			  struct mill_options o, u32 want)
{
	struct mill_bfs how = { s->source };
	struct mill_report r;
	u32 depth[8];
	mill_run *run;

	o.graphie.partition_size = 32;
	run = open_graphie(store, o);
	set_room(run, "bfs", &how, (buffers - 1) * 32);
	run->hook.see_step = see;
	n_seen = 0;
	OK(mill_bfs(run, &how));
	mill_run_report(run, &r);
	assert_int_equal(r.partitions.count, 4);
	assert_int_equal(r.partitions.buffers, buffers);
	assert_int_equal(r.partitions.bytes, 32);
	assert_int_equal(r.updates, s->updates);
	assert_int_equal(r.iterations, s->n_steps);
	assert_int_equal(n_seen, s->n_steps);
	assert_memory_equal(seen, s->active, s->n_steps * sizeof(u32));
	if (r.pages_to_device != want)
		fail_msg("from %s, %u buffers%s%s: %d partitions moved, not %u", s->source,
			 buffers, o.no_skip ? ", no skip" : "", o.no_reuse ? ", no reuse" : "",
			 (int)r.pages_to_device, want);
	assert_int_equal(r.topology, 32 * want);
	OK(mill_run_values(run, "depth", false, depth, NULL));
	assert_memory_equal(depth, s->depth, sizeof(depth));
	mill_run_free(run);
}

static void test_figures(void **state)
{
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	store = figure_store();
	for (size_t i = 0; i < ARRAY_LEN(searches); i++)
		for (u32 b = 1; b <= 4; b++) {
			const struct search *s = &searches[i];
			const struct {
				struct mill_options options;
				u32 want;
			} ways[] = {
				{ { .no_skip = true, .no_reuse = true }, s->naive },
				{ { .no_reuse = true }, s->opt1 },
				{ { .no_skip = true }, s->opt2[b - 1] },
				{ { 0 }, s->both[b - 1] },
				{ { .graphie.no_staging = true, .queues = 1 }, s->both[b - 1] },
			};

			for (size_t k = 0; k < ARRAY_LEN(ways); k++)
				search_figure(store, s, b, ways[k].options, ways[k].want);
		}
	graph_store_drop(store);
}

/* ---- Closed forms ---- */

/*
 * Without skipping, I steps over P partitions with B buffers move P + (I - 1)(P - B) partitions
 * with reuse, and I P without.
 */
static void test_scans(void **state)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("scans"), .page_size = 64 * KIB },
		.kind = "rmat", .scale = 12, .degree = 24, .weight = MILL_WEIGHT_U32, .seed = 2,
	};
	static const struct mill_sssp paths = { .source = "max-degree" };
	static const u64 sizes[] = { 0, 20000 };
	struct mill_built built;
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	for (u32 k = 0; k < 12; k++) {
		struct mill_options o = { .graphie.wire = (enum mill_wire)(1 + k % 3),
					  .no_skip = true,
					  .no_reuse = k % 4 == 3,
					  .graphie.partition_size = sizes[k % 2] };
		mill_run *run = open_graphie(store, o);
		u64 crossed, p, b;
		struct mill_report r;

		set_room(run, "sssp", &paths, random_below(7, k, 600) * KIB);
		OK(mill_sssp(run, &paths));
		mill_run_report(run, &r);
		p = r.partitions.count;
		b = r.partitions.buffers;
		crossed = o.no_reuse ? r.iterations * p : p + (r.iterations - 1) * (p - b);
		if (r.pages_to_device != crossed)
			fail_msg("%s: %llu steps, %llu partitions, %llu buffers%s: "
				 "%llu moved, not %llu",
				 wire_names[o.graphie.wire], (unsigned long long)r.iterations,
				 (unsigned long long)p, (unsigned long long)b,
				 o.no_reuse ? ", no reuse" : "",
				 (unsigned long long)r.pages_to_device,
				 (unsigned long long)crossed);
		assert_true(r.device_peak <= r.device_budget);
		if (o.graphie.wire == MILL_WIRE_EDGES && o.no_reuse)	/* 12 bytes an edge */
			assert_int_equal(r.topology, r.iterations * 12 * built.stored_edges);
		mill_run_free(run);
	}
	graph_store_drop(store);
}

/*
 * All partitions fit on the device. Connected components move each of them in the first step and
 * none later; a search moves each at most once.
 */
static void test_resident(void **state)
{
	struct mill_generate how = {
		.target = { .path = scratch_path("stay"), .page_size = 64 * KIB },
		.kind = "kron",
		.scale = 12,
		.seed = 3,
	};
	struct mill_built built;
	struct mill_report r;
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	run = open_graphie(store, (struct mill_options){ 0 });
	OK(mill_cc(run, NULL));
	mill_run_report(run, &r);
	assert_int_equal(r.pages_to_device, r.partitions.count);
	assert_true(r.iterations > 1 && r.partitions.count >= 32);
	assert_int_equal(r.topology, 8 * built.stored_edges);
	for (u64 i = 0; i < r.n_steps; i++) {
		struct mill_step s;

		mill_run_step(run, i, &s);
		assert_int_equal(s.pages_to_device, i ? 0 : r.partitions.count);
	}
	OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
	mill_run_report(run, &r);
	assert_true(r.pages_to_device <= r.partitions.count);
	/* A step reads back counters and partition flags, and no array by vertex. */
	assert_int_equal(run->device->from_device[TRAFFIC_FLAGS],
			 r.iterations * (COUNT_COPIES * COUNT_STRIDE * 8 +
					 4 * round_up(r.partitions.count, 2)));
	mill_run_free(run);
	graph_store_drop(store);
}

/* ---- Kernels compiled with other options ---- */

/* Lane counts and work-group sizes change no result. test_matrix.c tests the other options. */
static void test_kernels(void **state)
{
	static const struct mill_options ways[] = {
		{ .count_lanes = true, .graphie.wire = MILL_WIRE_PACKED },
		{ .group_size = 64, .graphie.wire = MILL_WIRE_CSR },
	};
	static const struct task *const some[] = { &tasks[0], &tasks[1], &tasks[7] };
	struct answer want[N_TASKS];
	mill_store *store;
	struct graph g;

	(void)state;
	if (!have_opencl())
		skip();
	assert_true(shape_make(&g, shape_named("rmat")));
	graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, 1);
	store = graph_store(&g);
	answers_begin(want, store);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		mill_run *run = open_graphie(store, ways[i]);

		for (size_t k = 0; k < ARRAY_LEN(some); k++) {
			task_room(run, some[k], 200 * KIB);
			expect_answer("other kernels", run, some[k], &want[some[k] - tasks]);
		}
		mill_run_free(run);
	}
	answers_end(want);
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- The ids of a paged store ---- */

#if MILL_VID_BITS == 32
/* The policy keeps the ids of a paged store: no second renaming, and one range for each page. */
static void test_stored_ids(void **state)
{
	static const u64 size[] = { 0, 1000, 300 * KIB };
	static const enum mill_wire wires[] = { MILL_WIRE_EDGES, MILL_WIRE_CSR };
	struct mill_generate how = {
		.target = { .path = scratch_path("paged"),
			    .page_size = 64 * KIB,
			    .codec = MILL_CODEC_RAW,
			    .addressing = MILL_ADDRESSING_PAGED },
		.kind = "rmat",
		.scale = 13,
		.degree = 24,
		.directed = true,
		.seed = 4,
	};
	struct addresses *a;
	struct mill_built built;
	mill_store *store;

	(void)state;
	if (!have_opencl())
		skip();
	OK(mill_generate(&built, &how));
	OK(mill_store_open(&store, how.target.path));
	a = &store->st->out.address;
	OK(addresses_make_hints(a, NULL));
	for (u32 k = 0; k < 6; k++) {
		struct mill_options o = { .graphie.wire = wires[k % 2],
					  .graphie.partition_size = size[k / 2] };
		mill_run *run = open_graphie(store, o);
		const struct partitions *t;
		struct mill_report r;

		OK(mill_cc(run, &(struct mill_cc){ .method = MILL_CC_LABELS }));
		mill_run_report(run, &r);
		t = graphie_table(&run->transfer);
		if (t) {	/* components use a view, and views have dense ids */
			assert_false(t->stored);
			assert_int_equal(r.partitions.addressing, MILL_ADDRESSING_DENSE);
		}
		OK(mill_bfs(run, &(struct mill_bfs){ "max-degree" }));
		mill_run_report(run, &r);
		t = graphie_table(&run->transfer);
		assert_true(t && t->stored && t->n_ranges == store->st->out.n_pages &&
			    t->n_ranges > 3);
		assert_int_equal(r.partitions.addressing, MILL_ADDRESSING_PAGED);
		assert_int_equal(r.partitions.range, a->slots);
		assert_true(r.partitions.round2_seconds == 0);
		for (vid v = 0; v < store->st->n_linked; v++) {
			vid id;

			addresses_encode(a, &v, 1, &id);
			assert_int_equal(partitions_index(t, id), v);
			if (v < t->unit.n_rows)
				assert_int_equal(partitions_of_id(t, id),
						 pages_find(&store->st->out, v));
			else
				assert_int_equal(partitions_of_id(t, id), t->n_ranges);
		}
		mill_run_free(run);
	}
	memory_free(a->hint);
	a->hint = NULL;
	graph_store_drop(store);
}
#endif

/* ---- Limits ---- */

/* Flags that do not fit local memory are set in global memory, and the report shows it. */
static void test_many_partitions(void **state)
{
	static const struct task *const some[] = { &tasks[0], &tasks[7] };
	mill_store *store;
	struct graph g;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	assert_true(shape_make(&g, shape_named("random, sparse")));
	g.codec = CODEC_RAW;	/* a paged store would have flags by page */
	store = graph_store(&g);
	for (u32 wire = MILL_WIRE_EDGES; wire <= MILL_WIRE_CSR; wire++)
		for (size_t t = 0; t < ARRAY_LEN(some); t++) {
			struct mill_options cpu = { .threads = 1, .seed = 1 };
			struct mill_options o = { .graphie.partition_size = 8,
						  .graphie.wire = (enum mill_wire)wire };
			struct mill_report r;
			u64 hash;
			u32 tile;

			OK(mill_run_new(&run, store, &cpu));
			OK(some[t]->call(run, some[t]->how));
			hash = hash_of(run);
			mill_run_free(run);
			run = open_graphie(store, o);
			OK(some[t]->call(run, some[t]->how));
			mill_run_report(run, &r);
			assert_true(r.partitions.local_flags && r.partitions.count > 64);
			assert_int_equal(r.hash, hash);
			tile = run->device->group * (run->device->chunked ? TILE_EDGES : 1);
			run->device->local = 8 * tile + 64 + 7;
			OK(some[t]->call(run, some[t]->how));
			mill_run_report(run, &r);
			assert_false(r.partitions.local_flags);
			assert_int_equal(r.hash, hash);
			mill_run_free(run);
		}
	graph_store_drop(store);
	graph_release(&g);
}

/* The least memory suffices, and one byte less is refused. Other policies refuse the options. */
static void test_budgets(void **state)
{
	static const u64 sizes[] = { 0, 32 };
	struct mill_options wire = { .graphie.wire = MILL_WIRE_CSR };
	struct mill_options size = { .policy = "fifo", .graphie.partition_size = 8 };
	struct mill_bfs how = { "max-degree" };
	mill_store *store;
	mill_run *run;

	(void)state;
	if (!have_opencl())
		skip();
	store = figure_store();
	for (u32 k = 0; k < 6; k++) {
		struct mill_options o = { .graphie.wire = (enum mill_wire)(1 + k / 2),
					  .graphie.partition_size = sizes[k % 2] };

		run = open_graphie(store, o);
		set_room(run, "bfs", &how, 0);
		OK(mill_bfs(run, &how));
		run->device->memory->limit--;
		run->loaded = false;
		REFUSED(MILL_ENOMEM, mill_bfs(run, &how), "one byte less");
		mill_run_free(run);
	}
	REFUSED(MILL_EUSAGE, mill_run_new(&run, store, &wire), "another policy");
	REFUSED(MILL_EUSAGE, mill_run_new(&run, store, &size), "another policy");
	graph_store_drop(store);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_arrays),
	cmocka_unit_test(test_figures),
	cmocka_unit_test(test_scans),
	cmocka_unit_test(test_resident),
	cmocka_unit_test(test_kernels),
#if MILL_VID_BITS == 32
	cmocka_unit_test(test_stored_ids),
#endif
	cmocka_unit_test(test_many_partitions),
	cmocka_unit_test(test_budgets),
};

SUITE(graphie, tests, .setup = scratch_make, .teardown = scratch_remove);
