/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over all vertices and over chosen ones: the same bits, no other vertex is touched, all are counted. */
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

/* The same for devices: their compiler sees no file of the tests. */
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

struct try_ctx {
	struct trial_args args;
	struct reducer *reducer;
	struct frontier *front;
};

static f64 value_of(vid u) { return random_unit(9, u) * __builtin_ldexp(1, (int)(u % 41)); }

/* The run's own vectors, for a direction or a view: values that make sums round. */
static void begin_view(mill_run *run, struct try_ctx *t, bool in, enum view view)
{
	u64 n = run->store->n_linked;
	static const f64 minus_one = -1;
	f64 *x = calloc(n + 1, sizeof(*x));
	struct declaration d;

	*t = (struct try_ctx){ .args = { .factor = 1.5 } };
	declaration_init(&d, run, "trial", false);
	if (view)
		OK(declare_view(&d, view, "trial"));
	declare_state(&d, &t->args.value, "value", sizeof(f64), NULL);
	declare_state(&d, &t->args.result, "result", sizeof(f64), &minus_one);
	declare_frontier(&d, &t->front, 0);
	OK(declare_reducer(&d, &t->reducer, &trial_reduce, LISTS | (in ? OVER_IN : 0)));
	OK(declaration_end(&d));
	OK(run_begin(run, &d.need));
	OK(declaration_make(&d));
	for (u64 v = 0; v < n; v++)
		x[v] = value_of((vid)v);
	OK(device_write(&t->args.value->buffer, 0, x, n * sizeof(*x)));
	free(x);
}

static void begin(mill_run *run, struct try_ctx *t, bool in) { begin_view(run, t, in, VIEW_NONE); }

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
				block[v] += value_of(u);
			}
	}
	memory_free(frame);
	for (u32 v = 0; v < g->n; v++)
		want[v] = (want[v] + block[v]) * 1.5;
	free(block);
	free(seen);
	return want;
}

static void compare(const struct graph *g, const char *where, mill_run *run, struct try_ctx *t, const f64 *want,
		    const u8 *chosen)
{
	f64 *got;

	OK(vec_map(run, t->args.result, &got));
	for (u32 v = 0; v < run->store->n_linked; v++) {
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
	u64 count[2] = { 99, 99 }, all = run->store->n_linked;
	struct try_ctx t;

	/* All of them, by the operator that needs no list. */
	begin(run, &t, in);
	OK(op_reduce(run, t.reducer, &t.args, count));
	memset(chosen, 1, g->n + 1u);
	compare(g, where, run, &t, want, chosen);
	assert_int_equal(count[0], (all + 2) / 3);
	assert_int_equal(count[1], all * (all - 1) / 2);
	for (u64 set = 0; set < 6; set++) {
		static const u32 of[] = { 0, 1, 2, 7, 100, 2000 };
		u64 n = 0, expected[2] = { 0 };

		memset(chosen, 0, g->n + 1u);
		for (u64 i = 0; of[set] && i < all; i++) {
			u32 v = (u32)((i * 7919 + set) % all);

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
		memset(bits, 0, bitmap_words(all) * sizeof(*bits));
		for (u64 i = 0; i < n; i++)
			bitmap_put(bits, list[i]);
		OK(device_write(&t.front->bits->buffer, 0, bits, bitmap_words(all) * sizeof(*bits)));
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
			run->hook.only_frames = configs[j].frames;
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
		struct try_ctx t;
		struct graph g;
		mill_store *store;
		mill_run *run;
		u32 n;

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
		n = (u32)run->store->n_linked;
		for (u32 v = 0; v < n; v++) {
			list[n - 1 - v] = (vid)v;
			chosen[v] = 1;
		}
		OK(op_reduce_list(run, t.reducer, &t.args, list, n, count));
		compare(&g, "segments", run, &t, want, chosen);
		for (int dense = 0; dense < 2; dense++) {
			OK(device_fill(&t.args.result->buffer, &(f64){ -1 }, sizeof(f64)));
			OK(frontier_set_all(t.front, n));
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

/* ---- Views ---- */

struct ends {
	vid v, u;
};

static int by_ends(const void *x, const void *y)
{
	const struct ends *a = x, *b = y;

	if (a->v != b->v)
		return a->v < b->v ? -1 : 1;
	return a->u < b->u ? -1 : a->u > b->u;
}

static u64 add_ends(const struct pages *p, struct ends *to)
{
	void *frame;
	u64 n = 0;

	OK(page_frame_new(&frame, p->store, NULL));
	for (u32 i = 0; i < p->n_pages; i++) {
		struct segment seg;

		OK(page_read(p, i, frame));
		OK(page_decode(p, i, frame, &seg));
		for (vid row = 0; row < seg.n_rows; row++)
			for (u32 k = seg.row[row]; k < seg.row[row + 1u]; k++)
				to[n++] = (struct ends){ (vid)(seg.first + row), seg.neighbour[k] };
	}
	memory_free(frame);
	return n;
}

/* The sums over a view's lists, which are both directions of the store together; edges: how many it has. */
static f64 *want_of_view(const struct graph *g, mill_run *run, enum view view, u64 *edges)
{
	const struct store *st = run->store;
	struct ends *e = calloc(2 * st->stored_edges + 1, sizeof(*e));
	f64 *want = calloc(g->n + 1u, sizeof(*want)), block = 0;
	u64 n = add_ends(&st->out, e), kept = 0, row = 0;

	if (st->directed)
		n += add_ends(&st->in, e + n);
	qsort(e, n, sizeof(*e), by_ends);
	for (u64 i = 0; i < n; i++)
		if (view == VIEW_BOTH || (e[i].v != e[i].u && (!kept || by_ends(&e[kept - 1], &e[i]))))
			e[kept++] = e[i];
	for (u64 i = 0; i < kept; i++) {
		block += value_of(e[i].u);
		row++;
		if (i + 1 == kept || e[i + 1].v != e[i].v || row % 1024 == 0) {
			want[e[i].v] += block;
			block = 0;
		}
		if (i + 1 < kept && e[i + 1].v != e[i].v)
			row = 0;
	}
	for (u32 v = 0; v < g->n; v++)
		want[v] *= 1.5;
	free(e);
	*edges = kept;
	return want;
}

/* By the operator for all vertices and by a list of them; in memory and on disk. */
static void try_view(const struct graph *g, mill_store *store, enum view view, u32 frames)
{
	const char *where = frames ? "view, 5 frames" : "view";
	u8 *chosen = calloc(g->n + 1u, 1);
	vid *list = calloc(g->n + 1u, sizeof(*list));
	u64 count[2], edges, all;
	struct try_ctx t;
	mill_run *run;
	f64 *want;

	OK(mill_run_new(&run, store, &(struct mill_options){ .threads = 3, .memory = GIB }));
	run->hook.only_frames = frames;
	all = run->store->n_linked;
	want = want_of_view(g, run, view, &edges);
	begin_view(run, &t, true, view);
	assert_int_equal(run_direction(run, true)->resident, !frames);
	OK(op_reduce(run, t.reducer, &t.args, count));
	memset(chosen, 1, g->n + 1u);
	compare(g, where, run, &t, want, chosen);
	assert_int_equal(count[1], all * (all - 1) / 2);
	assert_int_equal(run->ledger.total.edges, edges);
	assert_int_equal(run->ledger.total.updates, run_direction(run, true)->n_rows);
	for (u64 v = 0; v < all; v++) {
		chosen[v] = v % 3 == 0;
		if (chosen[v])
			list[v / 3] = (vid)v;
	}
	begin_view(run, &t, false, view);
	OK(op_reduce_list(run, t.reducer, &t.args, list, div_up(all, 3), count));
	compare(g, where, run, &t, want, chosen);
	free(list);
	free(chosen);
	free(want);
	mill_run_free(run);
}

static void test_views(void **state)
{
	static const enum view views[] = { VIEW_SIMPLE, VIEW_ARCS, VIEW_BOTH };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		store = graph_store(&g);
		for (size_t k = 0; k < ARRAY_LEN(views); k++) {
			if ((views[k] == VIEW_ARCS && g.undirected) || (views[k] == VIEW_BOTH && g.n_arcs > MAX_EDGES / 2))
				continue;
			try_view(&g, store, views[k], 0);
			try_view(&g, store, views[k], 5);
		}
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sets),
	cmocka_unit_test(test_segments),
	cmocka_unit_test(test_views),
};

SUITE(reduce, tests, .setup = scratch_make, .teardown = scratch_remove);
