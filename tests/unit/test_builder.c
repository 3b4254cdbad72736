/* SPDX-License-Identifier: Apache-2.0 */
/* Stores built of small random graphs, compared with a model that is slow and obvious. */
#include "import/builder.h"

#include <math.h>

#include "base/random.h"
#include "readback.h"

#define MAX_EDGES_IN 200

/* ---- The model ---- */

struct model {
	struct arc edge[MAX_EDGES_IN]; /* one arc for each edge that the graph has */
	u64 n;
	u64 self_loops, duplicates, merged;
	bool symmetric;
	mill_err err;
};

static f64 value(enum mill_weight type, u64 bits)
{
	u32 low = (u32)bits;
	f32 f;
	f64 d;

	memcpy(&f, &low, 4);
	memcpy(&d, &bits, 8);
	switch (type) {
	case MILL_WEIGHT_U32:
		return low;
	case MILL_WEIGHT_I32:
		return (i32)low;
	case MILL_WEIGHT_F32:
		return (f64)f;
	default:
		return d;
	}
}

static u64 bits_of(enum mill_weight type, f64 x)
{
	f32 f = (f32)x;
	u32 low;
	u64 bits;

	memcpy(&low, &f, 4);
	memcpy(&bits, &x, 8);
	switch (type) {
	case MILL_WEIGHT_U32:
		return (u32)x;
	case MILL_WEIGHT_I32:
		return (u32)(i32)x;
	case MILL_WEIGHT_F32:
		return low;
	default:
		return bits;
	}
}

static bool same_pair(const struct arc *a, const struct arc *b, bool undirected)
{
	return (a->from == b->from && a->to == b->to) ||
	       (undirected && a->from == b->to && a->to == b->from);
}

static u64 join_weights(const struct builder_options *o, const struct arc *in,
			const int *member, int n)
{
	f64 x = value(o->weight, in[member[0]].weight);

	for (int i = 1; i < n; i++) {
		f64 y = value(o->weight, in[member[i]].weight);

		if (o->dedup == MILL_DEDUP_SUM)
			x += y;
		else if (o->dedup == MILL_DEDUP_MIN)
			x = y < x ? y : x;
		else if (o->dedup == MILL_DEDUP_MAX)
			x = y > x ? y : x;
	}
	return bits_of(o->weight, x);
}

/* Adds the edges of one pair of vertices; its n listings are in the order of the input. */
static void model_group(struct model *m, const struct builder_options *o,
			const struct arc *in, const int *member, int n)
{
	const struct arc *first = &in[member[0]];
	int count[2] = { 0, 0 }, made = 0;
	bool both;

	for (int i = 0; i < n; i++)
		count[in[member[i]].from != first->from]++;
	both = count[1] != 0;
	m->duplicates += (u64)(count[0] - 1) + (u64)(both ? count[1] - 1 : 0);
	if (o->undirected && first->from != first->to && !both)
		m->symmetric = false;
	if (o->dedup) {
		m->merged += both;
		if (n > 1 && o->dedup == MILL_DEDUP_ERROR)
			m->err = MILL_EINPUT;
		m->edge[m->n] = *first;
		m->edge[m->n++].weight = o->weight ? join_weights(o, in, member, n) : 0;
		return;
	}
	m->merged += (u64)(count[0] < count[1] ? count[0] : count[1]);
	count[0] = count[1] = 0;
	for (int i = 0; i < n; i++)
		if (++count[in[member[i]].from != first->from] > made) {
			made++;
			m->edge[m->n] = *first;
			m->edge[m->n++].weight = o->weight ? in[member[i]].weight : 0;
		}
}

static void make_model(struct model *m, const struct builder_options *o,
		       const struct arc *in, int n)
{
	bool done[MAX_EDGES_IN] = { false };

	*m = (struct model){ .symmetric = true };
	for (int i = 0; i < n; i++) {
		int member[MAX_EDGES_IN] = { i }, k = 0;
		bool reverse = false;

		if (in[i].from == in[i].to) {
			m->self_loops++;
			if (o->loops == MILL_LOOPS_ERROR)
				m->err = MILL_EINPUT;
			if (o->loops != MILL_LOOPS_KEEP)
				continue;
		}
		for (int j = 0; j < n; j++)
			reverse |= in[j].from == in[i].to && in[j].to == in[i].from;
		if (!o->undirected && !reverse)
			m->symmetric = false;
		if (done[i])
			continue;
		for (int j = i; j < n; j++)
			if (same_pair(&in[i], &in[j], o->undirected)) {
				member[k++] = j;
				done[j] = true;
			}
		model_group(m, o, in, member, k);
	}
}

/* ---- Comparing ---- */

static const u64 *id_of_vid; /* by vertex number; vid_of searches it */

static u64 vid_of(u64 id)
{
	u64 v = 0;

	while (id_of_vid[v] != id)
		v++;
	return v;
}

static int by_vid(const void *x, const void *y)
{
	const struct arc *a = x, *b = y;
	u64 from_a = vid_of(a->from), from_b = vid_of(b->from), to_a = vid_of(a->to),
	    to_b = vid_of(b->to);

	if (from_a != from_b)
		return from_a < from_b ? -1 : 1;
	return (to_a > to_b) - (to_a < to_b);
}

static int by_vid_in(const void *x, const void *y)
{
	const struct arc *a = x, *b = y;
	struct arc ra = { a->to, a->from, 0 }, rb = { b->to, b->from, 0 };

	return by_vid(&ra, &rb);
}

/* Sorts by insertion, which is stable. */
static void sort_arcs(struct arc *a, u64 n, int (*compare)(const void *, const void *))
{
	for (u64 i = 1; i < n; i++)
		for (u64 j = i; j && compare(&a[j - 1], &a[j]) > 0; j--) {
			struct arc t = a[j];

			a[j] = a[j - 1];
			a[j - 1] = t;
		}
}

static void assert_arcs(const struct store *st, const struct model *m, bool in)
{
	struct arc expected[2 * MAX_EDGES_IN];
	struct arcs a = read_arcs(st, in);
	u64 n = 0, *id = read_ids(st);

	for (u64 i = 0; i < m->n; i++) {
		const struct arc *e = &m->edge[i];

		expected[n++] = *e;
		if (!st->directed && e->from != e->to)
			expected[n++] = (struct arc){ e->to, e->from, e->weight };
	}
	id_of_vid = id;
	sort_arcs(expected, n, in ? by_vid_in : by_vid);
	assert_int_equal(a.n, n);
	for (u64 i = 0; i < n; i++) {
		assert_int_equal(a.arc[i].from, expected[i].from);
		assert_int_equal(a.arc[i].to, expected[i].to);
		assert_int_equal(a.arc[i].weight, expected[i].weight);
	}
	free(a.arc);
	free(id);
}

/* Checks the order of vertices: sources, then sinks, then isolated ones; each group by id. */
static void assert_numbering(const struct store *st)
{
	for (u64 v = 0; v < st->vertices; v++) {
		u64 id, before;
		u32 degree;
		vid back;

		OK(store_id(st, (vid)v, &id));
		OK(store_vertex(st, id, &back));
		assert_int_equal(back, v);
		OK(store_degree(st, (vid)v, &degree));
		assert_int_equal(degree > 0, v < st->sources);
		if (st->directed && st->has_in) {
			OK(store_read(st, STORE_IN_DEGREES, &degree, sizeof(degree),
				      v * sizeof(degree)));
			assert_true(v < st->sources || (degree > 0) == (v < st->n_linked));
		} else if (!st->directed) {
			assert_int_equal(st->n_linked, st->sources);
		}
		if (!v || v == st->sources || v == st->n_linked)
			continue;
		OK(store_id(st, (vid)(v - 1), &before));
		assert_true(before < id);
	}
}

static mill_err build(const struct builder_options *o, const struct arc *in, int n,
		      struct mill_built *built)
{
	struct raw_edge raw[MAX_EDGES_IN];
	struct builder *b;
	mill_err err = MILL_OK;

	for (int i = 0; i < n; i++)
		raw[i] = (struct raw_edge){ in[i].from, in[i].to, in[i].weight };
	OK(builder_new(&b, o));
	for (int i = 0; i < n && !err; i += 7) /* 7 edges a call */
		err = builder_add(b, raw + i, (size_t)(n - i < 7 ? n - i : 7));
	if (err) {
		builder_abandon(b);
		return err;
	}
	return builder_finish(b, built);
}

static void check(const struct builder_options *o, const struct arc *in, int n)
{
	struct mill_built built;
	struct model m;
	struct store *st;
	mill_err err;

	make_model(&m, o, in, n);
	err = build(o, in, n, &built);
	assert_int_equal(err, m.err);
	if (err)
		return;
	OK(store_open(&st, o->target->path, NULL));
	assert_int_equal(st->directed, !o->undirected);
	assert_int_equal(st->edges, m.n);
	assert_int_equal(built.edges, m.n);
	assert_int_equal(built.vertices, st->vertices);
	assert_int_equal(built.stored_edges, st->stored_edges);
	assert_int_equal(built.edges_read, n);
	assert_int_equal(built.self_loops, m.self_loops);
	assert_int_equal(built.duplicates, m.duplicates);
	assert_int_equal(built.merged, m.merged);
	assert_int_equal(built.symmetric, m.symmetric);
	assert_numbering(st);
	assert_arcs(st, &m, false);
	if (st->directed && !o->target->out_only)
		assert_arcs(st, &m, true);
	assert_verifies(st);
	store_close(st);
}

/* ---- Tests ---- */

/* How the ids of vertices lie. */
enum spread { CLOSE, FAR, BEYOND_32_BITS, SPREADS };

static u64 id_of(enum spread how, u64 x)
{
	switch (how) {
	case CLOSE:
		return x;
	case FAR:
		return x * 1000003 + 17;
	default:
		return x % 3 ? random_mix(x + 1) : x;
	}
}

static void test_random(void **state)
{
	static const enum mill_weight weights[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32,
						    MILL_WEIGHT_I32, MILL_WEIGHT_F32,
						    MILL_WEIGHT_F64 };
	struct mill_target t = { .path = in_scratch("random"),
				 .force = true,
				 .page_size = 64 * KIB,
				 .memory = 64 * MIB,
				 .threads = 2 };
	u64 seed = 1;

	(void)state;
	for (unsigned k = 0; k < 360; k++, seed++) {
		enum spread how = (enum spread)(k / 6 % SPREADS);
		struct builder_options o = {
			.target = &t,
			.undirected = k % 2,
			.dedup = (enum mill_dedup)(k / 2 % 6),
			.loops = (enum mill_loops)(
				random_below(seed, 1, 8) == 0 ? 2 : k / 12 % 2),
			.weight = weights[k / 24 % 5],
			.fingerprint = k,
			.origin = "a test",
		};
		int n = (int)random_below(seed, 2, k < 20 ? 4 : MAX_EDGES_IN);
		u64 vertices = 1 + random_below(seed, 3, 30);
		struct arc in[MAX_EDGES_IN];

		if (o.dedup == MILL_DEDUP_ERROR)
			n %= 4;
		t.out_only = random_below(seed, 4, 4) == 0;
		for (int i = 0; i < n; i++) {
			f64 weight = (f64)random_below(seed, 12 + 3 * (u64)i, 50);

			in[i].from = id_of(how, random_below(seed, 10 + 3 * (u64)i, vertices));
			in[i].to = id_of(how, random_below(seed, 11 + 3 * (u64)i, vertices));
			in[i].weight = o.weight ? bits_of(o.weight, weight) : 0;
		}
		check(&o, in, n);
	}
}

static void test_empty(void **state)
{
	struct mill_target t = { .path = in_scratch("empty") };
	struct builder_options o = { .target = &t, .origin = "a test" };
	struct mill_built built;
	struct builder *b;
	struct store *st;

	(void)state;
	OK(builder_new(&b, &o));
	OK(builder_finish(b, &built));
	OK(store_open(&st, t.path, NULL));
	assert_int_equal(st->vertices, 0);
	assert_int_equal(st->edges, 0);
	assert_true(built.symmetric);
	assert_verifies(st);
	store_close(st);
}

static void test_vertices(void **state)
{
	struct mill_target t = { .path = in_scratch("vertices") };
	static const u64 id[] = { 7, UINT64_MAX, 3, 7, 0 };
	struct builder_options o = { .target = &t, .origin = "a test" };
	struct mill_built built;
	struct builder *b;
	struct store *st;
	vid v;

	(void)state;
	OK(builder_new(&b, &o));
	OK(builder_add_vertices(b, id, 2));
	OK(builder_add(b, &(struct raw_edge){ 3, 5, 0 }, 1));
	OK(builder_add_vertices(b, id + 2, 3));
	OK(builder_finish(b, &built));
	assert_int_equal(built.vertices, 5);
	assert_int_equal(built.min_id, 0);
	assert_int_equal(built.max_id, UINT64_MAX);
	OK(store_open(&st, t.path, NULL));
	OK(store_vertex(st, 3, &v));
	assert_int_equal(v, 0);
	OK(store_vertex(st, UINT64_MAX, &v));
	assert_int_equal(v, 4);
	assert_verifies(st);
	store_close(st);
}

/* The type of weights is set after edges were added. */
static void test_late_weight(void **state)
{
	static const struct {
		enum mill_weight type;
		f64 weight;
	} cases[] = {
		{ MILL_WEIGHT_U32, 4e9 },
		{ MILL_WEIGHT_I32, -7 },
		{ MILL_WEIGHT_F32, -7 },
		{ MILL_WEIGHT_F64, -7 },
	};
	struct mill_target t = { .path = in_scratch("late"), .force = true };
	struct builder_options o = { .target = &t,
				     .weight = MILL_WEIGHT_F64,
				     .origin = "a test" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct raw_edge edge = { 1, 2, bits_of(MILL_WEIGHT_F64, cases[i].weight) };
		struct mill_built built;
		struct builder *b;
		struct store *st;
		struct arcs a;

		OK(builder_new(&b, &o));
		OK(builder_add(b, &edge, 1));
		builder_set_weight(b, cases[i].type);
		OK(builder_finish(b, &built));
		assert_int_equal(built.weight, cases[i].type);
		OK(store_open(&st, t.path, NULL));
		assert_int_equal(st->weight, cases[i].type);
		a = read_arcs(st, false);
		assert_true(value(cases[i].type, a.arc[0].weight) == cases[i].weight);
		free(a.arc);
		store_close(st);
	}
}

static void test_sum_overflow(void **state)
{
	static const struct {
		enum mill_weight type;
		f64 x, y;
		mill_err err;
	} cases[] = {
		{ MILL_WEIGHT_U32, 4294967295., 0, MILL_OK },
		{ MILL_WEIGHT_U32, 4294967295., 1, MILL_ELIMIT },
		{ MILL_WEIGHT_I32, 2147483647., 1, MILL_ELIMIT },
		{ MILL_WEIGHT_I32, -2147483648., -1, MILL_ELIMIT },
		{ MILL_WEIGHT_I32, -2147483647., -1, MILL_OK },
		{ MILL_WEIGHT_F64, (f64)INFINITY, -(f64)INFINITY, MILL_ELIMIT },
	};
	struct mill_target t = { .path = in_scratch("sum"), .force = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct builder_options o = { .target = &t,
					     .weight = cases[i].type,
					     .dedup = MILL_DEDUP_SUM,
					     .origin = "a test" };
		struct arc in[] = { { 1, 2, bits_of(cases[i].type, cases[i].x) },
				    { 1, 2, bits_of(cases[i].type, cases[i].y) } };
		struct mill_built built;

		assert_int_equal(build(&o, in, 2, &built), cases[i].err);
		if (cases[i].err)
			assert_non_null(strstr(mill_error(), "from 1 to 2"));
	}
}

static mill_err build_path(const char *name, u64 n, bool dense)
{
	struct mill_target t = { .path = in_scratch(name), .force = true };
	struct builder_options o = { .target = &t,
				     .dense = dense ? n : 0,
				     .origin = "a test" };
	struct mill_built built;
	struct builder *b;

	TRY(builder_new(&b, &o));
	for (u64 i = 0; i + 1 < n; i++)
		OK(builder_add(b, &(struct raw_edge){ i, i + 1, 0 }, 1));
	return builder_finish(b, &built);
}

static void test_limits(void **state)
{
	struct mill_target t = { .path = in_scratch("limits") };
	struct builder_options o = { .target = &t,
				     .dense = MAX_VERTICES + 1,
				     .origin = "a test" };
	struct builder *b;

	(void)state;
	assert_int_equal(builder_new(&b, &o), MILL_ELIMIT);
	assert_false(path_exists(t.path));
#if MILL_VID_BITS == 8
	OK(build_path("limits", 254, false));
	OK(build_path("limits", 255, true));
	assert_int_equal(build_path("limits", 256, false), MILL_ELIMIT);
	assert_int_equal(build_path("limits", 256, true), MILL_ELIMIT);
#else
	OK(build_path("limits", 256, false));
	OK(build_path("limits", 256, true));
#endif
#if MILL_EID_BITS == 16
	for (int undirected = 0; undirected < 2; undirected++) {
		/* One stored edge too many: an undirected edge is stored twice. */
		u64 n = undirected ? MAX_EDGES / 2 + 1 : MAX_EDGES + 1;
		struct mill_built built;

		t.force = true;
		o = (struct builder_options){ .target = &t,
					      .undirected = undirected,
					      .origin = "a test" };
		for (int more = 0; more < 2; more++) {
			OK(builder_new(&b, &o));
			for (u64 i = 0; i < n - !more; i++)
				OK(builder_add(
					b, &(struct raw_edge){ i % 100, 100 + i % 99, 0 },
					1));
			assert_int_equal(builder_finish(b, &built),
					 more ? MILL_ELIMIT : MILL_OK);
		}
	}
#endif
}

static void test_budget(void **state)
{
	struct mill_target t = { .path = in_scratch("budget"), .memory = 64 * MIB };
	struct builder_options o = {
		.target = &t, .dense = 100, .undirected = true, .origin = "a test"
	};
	struct raw_edge edge = { 1, 2, 0 };
	struct mill_built built;
	struct builder *b;
	mill_err err = MILL_OK;

	(void)state;
	OK(builder_new(&b, &o));
	OK(builder_expect(b, MIB));
	assert_int_equal(builder_expect(b, (u64)1 << 50), MILL_ENOSPACE);
	assert_non_null(strstr(mill_error(), "--tmp"));
	assert_int_equal(builder_expect(b, UINT64_MAX), MILL_ELIMIT);
	/* Projections from the edges in the bytes read so far. */
	OK(builder_project(b, 1000, 4000, 0));
	OK(builder_project(b, 1000, 4000, 4000));
	OK(builder_project(b, 2000, 8000, 12000));
	OK(builder_project(b, 2010, 40, (u64)1 << 20));	/* another input */
	OK(builder_project(b, 2011, 41, (u64)1 << 60));	/* too soon: not computed again */
	assert_int_equal(builder_project(b, 2020, 80, (u64)1 << 60), MILL_ENOSPACE);
	assert_int_equal(builder_project(b, 1 << 20, 160, UINT64_MAX), MILL_ENOSPACE);
	/* So many listings of one edge that they do not fit memory: they are merged in pieces. */
	for (u64 i = 0; i < 4 * MIB && !err; i++)
		err = builder_add(b, &edge, 1);
	OK(err);
#if MILL_EID_BITS == 64
	OK(builder_finish(b, &built));
	assert_int_equal(built.edges, 4 * MIB);
	assert_int_equal(built.duplicates, 4 * MIB - 1);
#else
	assert_int_equal(builder_finish(b, &built), MILL_ELIMIT);
#endif
	assert_false(path_exists(in_scratch("budget.new")));
}

static void test_refused(void **state)
{
	static const u32 sizes[] = { 1, 32768, 65537, 98304, 1u << 27 };
	struct mill_target t = { .path = in_scratch("refused") };
	struct builder_options o = { .target = &t, .origin = "a test" };
	struct mill_built built;
	struct builder *b;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		t.page_size = sizes[i];
		assert_int_equal(builder_new(&b, &o), MILL_EUSAGE);
	}
	t.page_size = 0;
	OK(builder_new(&b, &o));
	OK(builder_finish(b, &built));
	assert_int_equal(builder_new(&b, &o), MILL_EUSAGE); /* the target exists */
	t.path = "";
	assert_int_equal(builder_new(&b, &o), MILL_EUSAGE);
}

static int stop(void *arg, const struct mill_progress *p)
{
	(void)arg;
	(void)p;
	return 1;
}

static void test_cancelled(void **state)
{
	struct mill_target t = { .path = in_scratch("cancelled"),
				 .watcher = { stop, NULL } };
	struct builder_options o = { .target = &t, .origin = "a test" };
	struct mill_built built;
	struct builder *b;

	(void)state;
	OK(builder_new(&b, &o));
	OK(builder_add(b, &(struct raw_edge){ 1, 2, 0 }, 1));
	assert_int_equal(builder_finish(b, &built), MILL_ECANCELLED);
	assert_false(path_exists(t.path));
}

#if MILL_VID_BITS == 32
/* Many chunks, groups of equal edges across the borders of blocks, lists over many pages. */
static void test_large(void **state)
{
	struct mill_target t = { .path = in_scratch("large"),
				 .page_size = 64 * KIB,
				 .threads = 3 };
	struct builder_options o = { .target = &t,
				     .weight = MILL_WEIGHT_U32,
				     .origin = "a test" };
	const u64 n = 900000;
	struct mill_built built;
	struct builder *b;
	struct store *st;
	struct arcs a, in;
	u64 sum = 0, hub = 0;

	(void)state;
	OK(builder_new(&b, &o));
	for (u64 i = 0; i < n; i++) {
		/* Half of all edges go from 5 to 6. */
		struct raw_edge e = { 5, 6, i };

		if (i % 2)
			e = (struct raw_edge){ random_below(1, i, 1000),
					       random_below(2, i, 70000), i };
		OK(builder_add(b, &e, 1));
	}
	OK(builder_finish(b, &built));
	assert_int_equal(built.edges, n);
	OK(store_open(&st, t.path, NULL));
	a = read_arcs(st, false);
	in = read_arcs(st, true);
	assert_int_equal(a.n, n);
	assert_int_equal(in.n, n);
	for (u64 i = 0; i < n; i++) {
		sum += a.arc[i].weight - in.arc[i].weight;
		hub += a.arc[i].from == 5 && a.arc[i].to == 6;
		/* Equal edges stay in the order of the input. */
		if (i && a.arc[i].from == a.arc[i - 1].from && a.arc[i].to == a.arc[i - 1].to)
			assert_true(a.arc[i - 1].weight < a.arc[i].weight);
	}
	assert_int_equal(sum, 0);
	assert_true(hub >= n / 2);
	assert_verifies(st);
	store_close(st);
	free(a.arc);
	free(in.arc);
}
#endif

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_random),
	cmocka_unit_test(test_empty),
	cmocka_unit_test(test_vertices),
	cmocka_unit_test(test_late_weight),
	cmocka_unit_test(test_sum_overflow),
	cmocka_unit_test(test_limits),
	cmocka_unit_test(test_budget),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_cancelled),
#if MILL_VID_BITS == 32
	cmocka_unit_test(test_large),
#endif
};

SUITE(builder, tests, .setup = scratch_make, .teardown = scratch_remove);
