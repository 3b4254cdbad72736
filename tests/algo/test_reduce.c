/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over all vertices and over chosen ones: the same bits, nobody else is touched, all are counted. */
#include "base/random.h"
#include "device/dialect.h"
#include "expect.h"
#include "op/op.h"

#define TRIAL_FIELDS(ARRAY, SCALAR) \
	ARRAY(f64, value) \
	ARRAY(f64, result) \
	SCALAR(f64, factor)

STATE(trial, TRIAL_FIELDS);

DEVICE f64 trial_start(struct trial s)
{
	(void)s;
	return 0;
}

DEVICE f64 trial_gather(struct trial s, vid u, vid v, u32 w)
{
	(void)v;
	(void)w;
	return s.value[u];
}

DEVICE f64 trial_combine(f64 a, f64 b) { return a + b; }

DEVICE void trial_apply(struct trial s, vid v, f64 sum, u64 *count)
{
	s.result[v] = sum * s.factor;
	count[0] += v % 3 == 0;
	count[1] += v;
}

/* The same for devices, whose compiler sees no file of the tests. */
#define TRIAL_TEXT \
	"#define TRIAL_FIELDS(ARRAY, SCALAR) ARRAY(f64, value) ARRAY(f64, result) SCALAR(f64, factor)\n" \
	"STATE(trial, TRIAL_FIELDS);\n" \
	"DEVICE f64 trial_start(struct trial s) { return 0; }\n" \
	"DEVICE f64 trial_gather(struct trial s, vid u, vid v, u32 w) { return s.value[u]; }\n" \
	"DEVICE f64 trial_combine(f64 a, f64 b) { return a + b; }\n" \
	"DEVICE void trial_apply(struct trial s, vid v, f64 sum, u64 *count)\n" \
	"{ s.result[v] = sum * s.factor; count[0] += v % 3 == 0; count[1] += v; }\n"

#define PROGRAM trial
#define FIELDS TRIAL_FIELDS
#define SOURCE TRIAL_TEXT
#define SUM f64
#define COUNTS 2
#include "op/reduce.inc"

struct trying {
	struct trial_args args;
	struct reducer *reducer;
	struct frontier *front;
};

/* The run's own vectors, for a direction: values that make sums round. */
static void begin(mill_run *run, struct trying *t, bool in)
{
	u64 n = run->store->vertices;
	struct need need = { .state = 2 * n * sizeof(f64) + reducer_bytes(run->store, in, sizeof(f64)) +
				      2 * reducer_list_bytes(run->store) + frontier_bytes(n, false),
			     .host = frontier_host_bytes(n), .out = true, .in = true };
	f64 *x = calloc(n + 1, sizeof(*x));

	*t = (struct trying){ .args = { .factor = 1.5 } };
	OK(run_begin(run, "trial", &need));
	OK(run_vec(run, &t->args.value, "value", n, sizeof(f64), NULL));
	OK(run_vec(run, &t->args.result, "result", n, sizeof(f64), &(f64){ -1 }));
	for (u64 v = 0; v < n; v++)
		x[v] = random_unit(9, v) * __builtin_ldexp(1, (int)(v % 41));
	OK(device_write(&t->args.value->buffer, 0, x, n * sizeof(*x)));
	free(x);
	OK(op_reducer(run, &t->reducer, &trial_reduce, in));
	OK(run_frontier(run, &t->front, false));
}

/* What the result must be: the blocks' sums in order, by the store's own order of a list. */
static f64 *want_of(const struct graph *g, mill_run *run, bool in)
{
	struct mill_run *r = run;
	const struct pages *pages = in && r->store->directed ? &r->store->in : &r->store->out;
	f64 *want = calloc(g->n + 1u, sizeof(*want)), *block = calloc(g->n + 1u, sizeof(*block));
	u64 *seen = calloc(g->n + 1u, sizeof(*seen));
	void *frame;

	OK(page_frame_new(&frame, r->store, NULL));
	for (u32 i = 0; i < pages->n_pages; i++) {
		struct segment seg;

		OK(page_read(pages, i, frame));
		OK(page_decode(pages, i, frame, &seg));
		for (vid row = 0; row < seg.n_rows; row++)
			for (u32 k = seg.row[row]; k < seg.row[row + 1u]; k++) {
				vid v = (vid)(seg.first + row), u = seg.neighbour[k];

				if (seen[v] && seen[v] % 1024 == 0) {
					want[v] += block[v];
					block[v] = 0;
				}
				seen[v]++;
				block[v] += random_unit(9, u) * __builtin_ldexp(1, (int)(u % 41));
			}
	}
	memory_free(frame);
	for (u32 v = 0; v < g->n; v++)
		want[v] = (want[v] + block[v]) * 1.5;
	free(block);
	free(seen);
	return want;
}

static void compare(const struct graph *g, const char *where, mill_run *run, struct trying *t, const f64 *want,
		    const u8 *chosen)
{
	f64 *got;

	OK(vec_map(run, t->args.result, &got));
	for (u32 v = 0; v < g->n; v++) {
		f64 expected = chosen[v] ? want[v] : -1;

		if (got[v] != expected)
			fail_msg("%s, %s: vertex %u has %.17g, not %.17g", g->name, where, v, got[v], expected);
	}
	vec_unmap(t->args.result, got);
}

/* One vertex, none, some in no order, all; as lists and as frontiers. */
static void try_sets(const struct graph *g, const char *where, mill_run *run, bool in)
{
	vid *list = calloc(g->n + 1u, sizeof(*list));
	u64 *bits = calloc(bitmap_words(g->n) + 1, sizeof(*bits));
	u8 *chosen = calloc(g->n + 1u, 1);
	f64 *want = want_of(g, run, in);
	u64 count[2] = { 99, 99 };
	struct trying t;

	/* All of them, by the operator that needs no list. */
	begin(run, &t, in);
	OK(op_reduce(run, t.reducer, &t.args, count));
	memset(chosen, 1, g->n + 1u);
	compare(g, where, run, &t, want, chosen);
	assert_int_equal(count[0], (g->n + 2) / 3);
	assert_int_equal(count[1], (u64)g->n * (g->n - 1) / 2);
	for (u64 set = 0; set < 6; set++) {
		static const u32 of[] = { 0, 1, 2, 7, 100, 2000 };
		u64 n = 0, expected[2] = { 0 };

		memset(chosen, 0, g->n + 1u);
		for (u32 i = 0; of[set] && i < g->n; i++) {
			u32 v = (u32)(((u64)i * 7919 + set) % g->n);

			if ((random_at(set, v) % of[set] && v > 10) || chosen[v])
				continue;
			chosen[v] = 1;
			list[n++] = (vid)v;
			expected[0] += v % 3 == 0;
			expected[1] += v;
		}
		begin(run, &t, in);
		OK(op_reduce_list(run, t.reducer, &t.args, list, n, count));
		assert_memory_equal(count, expected, sizeof(count));
		compare(g, where, run, &t, want, chosen);

		begin(run, &t, in);
		memset(bits, 0, bitmap_words(g->n) * sizeof(*bits));
		for (u64 i = 0; i < n; i++)
			bitmap_put(bits, list[i]);
		OK(device_write(&t.front->bits->buffer, 0, bits, bitmap_words(g->n) * sizeof(*bits)));
		t.front->n = n;
		t.front->dense = true;
		if (set % 2 && n && t.front->capacity >= n)
			frontier_list(t.front);
		OK(op_reduce_front(run, t.reducer, &t.args, t.front, count));
		assert_memory_equal(count, expected, sizeof(count));
		compare(g, where, run, &t, want, chosen);
	}
	free(list);
	free(bits);
	free(chosen);
	free(want);
}

static const char *const names[] = { "one self-loop", "parallel edges", "out-star", "in-star", "star, undirected", "hubs",
				     "hubs, undirected", "random, sparse", "components" };

static void test_sets(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		store = graph_store(&g);
		for (size_t j = 0; j < n_configs; j++) {
			mill_run *run;

			if (!config_usable(&configs[j]) || (configs[j].device && (i + j) % 3))
				continue;
			OK(mill_run_new(&run, store,
					&(struct mill_options){ .threads = configs[j].threads, .memory = GIB,
								.device = configs[j].device ? "opencl" : NULL,
								.device_memory = configs[j].device ? 64 * MIB : 0 }));
			run->only_frames = configs[j].frames;
			try_sets(&g, configs[j].name, run, true);
			try_sets(&g, configs[j].name, run, false);
			mill_run_free(run);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Resident in several segments, as graphs of 2^32 edges and more have it. */
static void test_segments(void **state)
{
	static const u64 sizes[] = { 1, 16384, 50000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(sizes); i++) {
		vid *list;
		u8 *chosen;
		f64 *want;
		u64 count[2], bytes = 0;
		struct stream_how how = { .bytes = 8 * MIB, .most = 4, .workers = 2 };
		struct stream *stream;
		struct trying t;
		struct graph g;
		mill_store *store;
		mill_run *run;

		if (!shape_make(&g, shape_named(names[i / ARRAY_LEN(sizes)])))
			continue;
		store = graph_store(&g);
		OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 3, .memory = GIB }));
		chosen = calloc(g.n + 1u, 1);
		list = calloc(g.n + 1u, sizeof(*list));
		want = want_of(&g, run, true);
		begin(run, &t, true);
		topology_release(run_direction(run, true));
		OK(stream_open(&stream, &run->budget, run->store, &how));
		OK(topology_load(run_direction(run, true), &run->budget, stream, false, sizes[i % ARRAY_LEN(sizes)],
				 &run->ticker, &bytes));
		stream_close(stream);
		/* The split lists of these segments. */
		OK(op_reducer(run, &t.reducer, &trial_reduce, true));
		for (u32 v = 0; v < g.n; v++) {
			list[g.n - 1 - v] = (vid)v;
			chosen[v] = 1;
		}
		OK(op_reduce_list(run, t.reducer, &t.args, list, g.n, count));
		compare(&g, "segments", run, &t, want, chosen);
		for (int dense = 0; dense < 2; dense++) {
			OK(device_fill(&t.args.result->buffer, &(f64){ -1 }, sizeof(f64)));
			OK(frontier_set_all(t.front, g.n));
			if (!dense)
				frontier_list(t.front);
			OK(op_reduce_front(run, t.reducer, &t.args, t.front, count));
			compare(&g, "segments, frontier", run, &t, want, chosen);
		}
		free(want);
			free(chosen);
		free(list);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_segments),
	};

	return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
