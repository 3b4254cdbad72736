/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests edge numbers and state by edge. A scan visits every number as often as its edge is stored:
 * from both sides, or once from the owner's side. Each visit shows the same ends and weight, on
 * resident graphs, streamed graphs and devices, over stores and views. Intersections get the same
 * numbers. The oracle reads the lists from the store, numbers them, and searches the other end's
 * list for the second copy of an edge.
 */
#include "expect.h"

#include <sys/wait.h>
#include <unistd.h>

#include "device/dialect.h"
#include "engine/cursor.h"
#include "engine/number.h"
#include "op/intersect.h"
#include "op/op.h"

/* ---- Programs ---- */

/* Code for the host's compiler, and the same code as text for the device's compiler. */
#define BOTH(name, ...) \
	static const char name[] = #__VA_ARGS__; \
	__VA_ARGS__

/*
 * By edge: seen is the number of visits, mix a hash of ends and weight. By vertex: met is the
 * number of visited edges. odd: not 0 if the filter keeps only edges with odd numbers.
 */
#define MARK_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, seen) \
	ARRAY(u32, mix) \
	ARRAY(u32, met) \
	SCALAR(u32, odd)

static const char mark_fields[] =
	"#define MARK_FIELDS(ARRAY, SCALAR) "
	"ARRAY(u32, seen) ARRAY(u32, mix) ARRAY(u32, met) SCALAR(u32, odd)\n";
BOTH(mark_text,

DEVICE u32 mix_of(u32 u, u32 v, u32 w)
{
	u64 x = ((u64)(u < v ? u : v) * 0x9e3779b97f4a7c15u ^ (u < v ? v : u)) *
		0xbf58476d1ce4e5b9u + w;

	return (u32)((x ^ x >> 31) * 0x94d049bb133111ebu >> 32) | 1u;
}

/* Records a visit. Returns true if an earlier visit of the number had other ends or weight. */
DEVICE bool note(GLOBAL u32 *seen, GLOBAL u32 *mix, u32 u, u32 v, u32 e, u32 w)
{
	u32 x = mix_of(u, v, w);
	u32 old = dev_load_u32(&mix[e]);

	dev_add_u32(true, &seen[e], 1);
	if (!old)
		dev_store_u32(&mix[e], x);
	return old && old != x;
}

STATE(mark, MARK_FIELDS);

DEVICE bool mark_edge_at(struct mark s, vid u, vid v, u32 e, u32 w)
{
	dev_add_u32(true, &s.met[u], 1);
	return note(s.seen, s.mix, u, v, e, w);
}

DEVICE bool mark_cond(struct mark s, vid v) { return dev_load_u32(&s.met[v]) != 0xffffffffu; }

STATE(heavy, MARK_FIELDS);

DEVICE bool heavy_edge_at(struct heavy s, vid u, vid v, u32 e, u32 w)
{
	return note(s.seen, s.mix, u, v, e, w);
}

STATE(once, MARK_FIELDS);

DEVICE bool once_edge_at(struct once s, vid u, vid v, u32 e, u32 w)
{
	dev_add_u32(true, &s.met[u], 1);
	return note(s.seen, s.mix, u, v, e, w);
}

DEVICE bool once_keep(struct once s, vid u, vid v, u32 e, u32 w)
{
	note(s.seen, s.mix, u, v, e, w);
	return !s.odd || e % 2;
}

STATE(corner, MARK_FIELDS);

DEVICE void corner_found(struct corner s, u32 lane, vid u, vid v, vid w, u32 uv, u32 uw, u32 vw)
{
	u32 wrong = note(s.seen, s.mix, u, v, uv, 1);

	wrong += note(s.seen, s.mix, u, w, uw, 1);
	wrong += note(s.seen, s.mix, v, w, vw, 1);
	dev_add_u32(true, &s.met[u], wrong);
	(void)lane;
}

DEVICE void corner_pair(struct corner s, u32 lane, vid u, vid v, u64 n)
{
	(void)s;
	(void)lane;
	(void)u;
	(void)v;
	(void)n;
}
)

#define PROGRAM mark
#define FIELDS MARK_FIELDS
#define SOURCE mark_fields, mark_text
#define EDGE_AT 1
#define COND 1
#define PULL 1
#define ADVANCE 1
#define SCAN 1
#include "op/program.inc"

#define PROGRAM heavy
#define FIELDS MARK_FIELDS
#define SOURCE mark_fields, mark_text
#define EDGE_AT 1
#define WEIGHT u32
#include "op/scan.inc"

#define PROGRAM once
#define FIELDS MARK_FIELDS
#define SOURCE mark_fields, mark_text
#define EDGE_AT 1
#define OWNED 1
#define SCAN 1
#define KEEP_EDGE once_keep
#include "op/program.inc"

#define PROGRAM corner
#define FIELDS MARK_FIELDS
#define SOURCE mark_fields, mark_text
#define NUMBERS 1
#include "op/intersect.inc"

/* ---- The oracle ---- */

struct lists {
	u64 n_rows, *row;
	u32 *to, *weight;
	u32 *number;		/* edge number, by position in `to` */
};

struct oracle {
	struct lists out, in;	/* in: empty unless the store is directed and has in-lists */
	bool symmetric, both;	/* both: in-lists are numbered too */
	u64 n;			/* edge numbers */
	u32 *mix, *mix_weighted, *stored, *triangles;	/* by number */
};

static void *array(u64 n, size_t size)
{
	void *p = calloc(n + 1, size);

	assert_non_null(p);
	return p;
}

static void lists_init(struct lists *l, u64 n_rows, u64 n_edges)
{
	*l = (struct lists){ n_rows, array(n_rows + 1, 8), array(n_edges, 4), array(n_edges, 4),
			     array(n_edges, 4) };
}

static void lists_free(struct lists *l)
{
	free(l->row);
	free(l->to);
	free(l->weight);
	free(l->number);
}

static void read_lists(struct lists *l, const struct store *st, const struct pages *p)
{
	bool weighted = st->weight == MILL_WEIGHT_U32;
	struct cursor c;
	u64 n = 0;

	lists_init(l, st->n_linked, st->stored_edges);
	OK(cursor_open(&c, p, NULL));
	for (u64 u = 0; u < st->n_linked; u++) {
		OK(cursor_seek(&c, u));
		while (c.at < c.end) {
			for (u64 i = 0; c.at < c.end; i++, n++) {
				l->weight[n] = weighted ? ((const u32 *)c.weight)[i] : 1;
				l->to[n] = *c.at++;
			}
			OK(cursor_more(&c));
		}
		l->row[u + 1] = n;
	}
	cursor_close(&c);
}

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Merges out- and in-lists into the sorted lists of a view. VIEW_SIMPLE drops loops and copies. */
static void merge_lists(struct lists *to, const struct lists *out, const struct lists *in,
			enum view view)
{
	u64 n = 0;

	lists_init(to, out->n_rows, out->row[out->n_rows] + in->row[in->n_rows]);
	for (u64 u = 0; u < out->n_rows; u++) {
		u64 first = n, kept;

		for (u64 i = out->row[u]; i < out->row[u + 1]; i++)
			to->to[n++] = out->to[i];
		for (u64 i = in->row[u]; i < in->row[u + 1]; i++)
			to->to[n++] = in->to[i];
		qsort(to->to + first, n - first, sizeof(u32), by_value);
		kept = first;
		for (u64 i = first; i < n; i++)
			if (view == VIEW_BOTH ||
			    (to->to[i] != u && (i == first || to->to[i] != to->to[i - 1])))
				to->to[kept++] = to->to[i];
		n = kept;
		to->row[u + 1] = n;
	}
	for (u64 i = 0; i < n; i++)
		to->weight[i] = 1;
}

/* Returns the position of the k-th copy of edge (u, v). */
static u64 position_of(const struct lists *l, u32 u, u32 v, u64 k)
{
	u64 low = l->row[u], high = l->row[u + 1];

	while (low < high) {
		u64 middle = (low + high) / 2;

		if (l->to[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	assert_true(low + k < l->row[u + 1] && l->to[low + k] == v);
	return low + k;
}

/*
 * Gives edges (u, v) the number of edge (v, u) in `other`. all: every edge; else only those that
 * v owns, where v < u.
 */
static void number_others(struct lists *l, const struct lists *other, bool all)
{
	for (u64 u = 0; u < l->n_rows; u++)
		for (u64 i = l->row[u], k = 0; i < l->row[u + 1]; i++) {
			k = i > l->row[u] && l->to[i] == l->to[i - 1] ? k + 1 : 0;
			if (all || l->to[i] < u)
				l->number[i] =
					other->number[position_of(other, l->to[i], (u32)u, k)];
		}
}

static void count_stored(struct oracle *o, const struct lists *l)
{
	for (u64 u = 0; u < l->n_rows; u++)
		for (u64 i = l->row[u]; i < l->row[u + 1]; i++) {
			u32 e = l->number[i], mix = mix_of((u32)u, l->to[i], 1);
			u32 with = mix_of((u32)u, l->to[i], l->weight[i]);

			assert_true(!o->stored[e] ||
				    (o->mix[e] == mix && o->mix_weighted[e] == with));
			o->mix[e] = mix;
			o->mix_weighted[e] = with;
			o->stored[e]++;
		}
}

/* Counts the triangles through each edge of a simple graph. */
#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread")))	/* single-threaded; instrumented code takes minutes */
#endif
static void count_triangles(struct oracle *o)
{
	const struct lists *l = &o->out;
	bool *near = array(l->n_rows, sizeof(bool));

	for (u32 u = 0; u < l->n_rows; u++) {
		for (u64 i = l->row[u]; i < l->row[u + 1]; i++)
			near[l->to[i]] = true;
		for (u64 i = l->row[u]; i < l->row[u + 1]; i++)
			for (u64 k = l->row[l->to[i]];
			     u < l->to[i] && k < l->row[l->to[i] + 1]; k++)
				o->triangles[l->number[i]] += near[l->to[k]];
		for (u64 i = l->row[u]; i < l->row[u + 1]; i++)
			near[l->to[i]] = false;
	}
	free(near);
}

static void oracle_init(struct oracle *o, const struct store *st, enum view view)
{
	struct lists out, in;

	*o = (struct oracle){ .symmetric = !st->directed || view,
			      .both = st->directed && !view && st->has_in };
	read_lists(&out, st, &st->out);
	if (st->directed && st->has_in)
		read_lists(&in, st, &st->in);
	else
		lists_init(&in, st->n_linked, 0);
	o->out = out;
	o->in = in;
	if (view && (st->directed || view == VIEW_SIMPLE)) {
		merge_lists(&o->out, &out, &in, view);
		lists_free(&out);
	}
	for (u64 u = 0; u < o->out.n_rows; u++)
		for (u64 i = o->out.row[u]; i < o->out.row[u + 1]; i++)
			if (!o->symmetric || o->out.to[i] >= u)
				o->out.number[i] = (u32)o->n++;
	if (o->symmetric)
		number_others(&o->out, &o->out, false);
	if (o->both)
		number_others(&o->in, &o->out, true);
	o->mix = array(o->n, 4);
	o->mix_weighted = array(o->n, 4);
	o->stored = array(o->n, 4);
	o->triangles = array(o->n, 4);
	count_stored(o, &o->out);
}

static void oracle_release(struct oracle *o)
{
	lists_free(&o->out);
	lists_free(&o->in);
	free(o->mix);
	free(o->mix_weighted);
	free(o->stored);
	free(o->triangles);
}

/* ---- Runs ---- */

/* What a bench declares and runs. */
enum what {
	SCANS = 1,
	WEIGHTS_TOO = 2,
	ONCE = 4,
	ADVANCES = 8,
	FILTERS = 16,
	CORNERS = 32,
	IN_TOO = 64,
};

struct bench {
	mill_run *run;
	struct mark_args args;	/* for all programs: their fields are the same */
	struct frontier *front;
	struct edge_frontier *edges;
	struct vec *degree;
	char name[160];
};

static mill_err declare(struct bench *b, struct declaration *d, enum what what, enum view view)
{
	declaration_init(d, b->run, "edge numbers", false);
	declare_edge_state(d, &b->args.seen, "seen", sizeof(u32), NULL, what == ONCE ? BESIDE : 0);
	declare_edge_state(d, &b->args.mix, "mix", sizeof(u32), NULL, what == ONCE ? BESIDE : 0);
	declare_state(d, &b->args.met, "met", sizeof(u32), NULL);
	if (what & SCANS)
		declare_scan(d, &mark_scan);
	if (what & WEIGHTS_TOO)
		declare_scan(d, &heavy_scan);
	if (what & ONCE)
		declare_scan(d, &once_scan);
	if (what & ADVANCES) {
		declare_frontier(d, &b->front, false);
		declare_advance(d, &mark_advance, MAIN);
	}
	if (what & FILTERS) {
		declare_edge_frontier(d, &b->edges, false);
		declare_filter(d, &once_keep_filter);
	}
	if (what & CORNERS)
		TRY(declare_intersect(d, &corner_intersect, &b->degree, false, "triangles"));
	if (what & IN_TOO)
		TRY(declare_direction(d, true));
	d->need.weights = what & WEIGHTS_TOO;
	if (view)
		TRY(declare_view(d, view, "numbers"));
	else if (!(what & CORNERS))
		TRY(declare_direction(d, false));
	return declaration_end(d);
}

/* Opens a run and makes its state. o.memory == 0: ample memory. */
static mill_err bench_open(struct bench *b, mill_store *store, const struct config *c,
			   struct mill_options o, enum what what, enum view view)
{
	struct declaration d;
	struct mill_plan plan;
	mill_err err;

	o.threads = c->threads;
	o.memory = o.memory ? o.memory : GIB;
	o.device = c->device ? "opencl" : "cpu";
	o.device_memory = c->device ? 512 * MIB : 0;
	*b = (struct bench){ 0 };
	snprintf(b->name, sizeof(b->name), "%s, view %d, what %d", c->name, (int)view, (int)what);
	TRY(mill_run_new(&b->run, store, &o));
	b->run->hook.only_frames = c->frames;
	err = declare(b, &d, what, view);
	if (!err && c->device && c->pages != AMPLE) {
		run_plan(b->run, &d.need, &plan);
		b->run->opened[0]->own.limit =
			plan.device_needed + (c->pages - 2) * (u64)b->run->store->page_size;
	}
	if (!err)
		err = run_begin(b->run, &d.need);
	if (!err)
		err = declaration_make(&d);
	return err;
}

static void bench_init(struct bench *b, mill_store *store, const struct config *c,
		       struct mill_options o, enum what what, enum view view)
{
	OK(bench_open(b, store, c, o, what, view));
}

static void bench_release(struct bench *b)
{
	if (b->run && b->run->device) {
		assert_true(b->run->budget.peak <= b->run->budget.limit);
		if (!b->run->device->native)
			assert_true(b->run->device->own.peak <= b->run->device->own.limit);
	}
	mill_run_free(b->run);
}

static void clear(struct bench *b)
{
	u64 zero = 0;

	OK(device_fill(&b->args.seen->buffer, &zero, sizeof(u32)));
	OK(device_fill(&b->args.mix->buffer, &zero, sizeof(u32)));
	OK(device_fill(&b->args.met->buffer, &zero, sizeof(u32)));
}

/*
 * Fails unless edge e was visited times[e] times, or `once` times if `times` is NULL, each time
 * with the ends and weight of mix[e].
 */
static void expect_seen(struct bench *b, const struct oracle *o, const u32 *times, u32 once,
			const u32 *mix, const char *after)
{
	u32 *seen, *got;

	assert_int_equal(b->args.seen->n, o->n);
	OK(vec_map(b->run, b->args.seen, &seen));
	OK(vec_map(b->run, b->args.mix, &got));
	for (u64 e = 0; e < o->n; e++) {
		u32 want = times ? times[e] : once;

		if (seen[e] != want || (want && got[e] != mix[e]))
			fail_msg("%s, %s: edge %llu: %u visits, expected %u, or wrong ends",
				 b->name, after, (unsigned long long)e, seen[e], want);
	}
	vec_unmap(b->args.seen, seen);
	vec_unmap(b->args.mix, got);
}

/* Fails unless each vertex visited the edges of its list; owned: only the edges it owns. */
static void expect_met(struct bench *b, const struct lists *l, bool owned, const char *after)
{
	u32 *met;

	OK(vec_map(b->run, b->args.met, &met));
	for (u64 u = 0; u < l->n_rows; u++) {
		u32 want = 0;

		for (u64 i = l->row[u]; i < l->row[u + 1]; i++)
			want += !owned || l->to[i] >= u;
		if (met[u] != want)
			fail_msg("%s, %s: vertex %llu visited %u edges, not %u", b->name, after,
				 (unsigned long long)u, met[u], want);
	}
	vec_unmap(b->args.met, met);
}

static void try_scans(struct bench *b, const struct oracle *o, enum what what)
{
	struct scan how = { 0 };
	u64 wrong;

	if (what & SCANS) {
		OK(op_scan(b->run, &mark_scan, &b->args, &how, &wrong));
		assert_int_equal(wrong, 0);
		expect_seen(b, o, o->stored, 0, o->mix, "from both sides");
		expect_met(b, &o->out, false, "from both sides");
		if (o->both && what & IN_TOO) {
			how.in = true;
			OK(op_scan(b->run, &mark_scan, &b->args, &how, &wrong));
			assert_int_equal(wrong, 0);
			expect_seen(b, o, NULL, 2, o->mix, "over in-edges");
			how.in = false;
		}
		clear(b);
	}
	if (what & ONCE) {
		OK(op_scan(b->run, &once_scan, &b->args, &how, &wrong));
		assert_int_equal(wrong, 0);
		expect_seen(b, o, NULL, 1, o->mix, "once");
		expect_met(b, &o->out, o->symmetric, "once");
	}
}

static const enum view views[] = { VIEW_NONE, VIEW_SIMPLE, VIEW_BOTH };

/*
 * Returns true if a shape runs in a configuration. Small shapes run in every second configuration
 * of the CPU and every eighth of the device, large shapes in the quick ones of the CPU and every
 * fourth of the device.
 */
static bool is_chosen(size_t shape, size_t config)
{
	const struct config *c = &configs[config];

	if (!config_usable(c))
		return false;
	if (c->device)
		return (shape + config) % (shapes[shape].large ? 4 : 8) == 0;
	if (is_sanitized())
		return (shape + config) % 5 == 0;
	return shapes[shape].large ? c->quick : (shape + config) % 2 == 0;
}

/* Calls `each` for chosen shapes and configurations: without a view, and in every fourth view. */
static void each_case(void (*each)(mill_store *store, const struct config *c, enum view view))
{
	for (size_t i = 0, turn = 0; i < n_shapes; i++) {
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, &shapes[i]))
			continue;
		if (i % 2)
			graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, i);
		store = graph_store(&g);
		for (size_t j = 0; j < n_configs; j++)
			for (size_t k = 0; k < ARRAY_LEN(views); k++)
				if (is_chosen(i, j) && (!k || turn++ % 4 == 0))
					each(store, &configs[j], views[k]);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static void scan_case(mill_store *store, const struct config *c, enum view view)
{
	enum what what =
		SCANS | ONCE | (store->st->directed && store->st->has_in && !view ? IN_TOO : 0);
	struct oracle o;
	struct bench b;

	oracle_init(&o, store->st, view);
	bench_init(&b, store, c, (struct mill_options){ 0 }, what, view);
	assert_int_equal(b.run->numbers.n, o.n);
	try_scans(&b, &o, what);
	bench_release(&b);
	if (!view && store->st->weight == MILL_WEIGHT_U32) {
		u64 wrong;

		bench_init(&b, store, c, (struct mill_options){ 0 }, WEIGHTS_TOO, view);
		OK(op_scan(b.run, &heavy_scan, &b.args, &(struct scan){ 0 }, &wrong));
		assert_int_equal(wrong, 0);
		expect_seen(&b, &o, o.stored, 0, o.mix_weighted, "with weights");
		bench_release(&b);
	}
	oracle_release(&o);
}

static void test_scan(void **state)
{
	(void)state;
	each_case(scan_case);
}

static const char *const some_shapes[] = { "parallel edges, undirected", "self-loops, undirected",
					   "random, ids up to 2^64", "hubs", "hubs, undirected" };

/* A frontier of all vertices, pushed or pulled, visits the same edges as a scan. */
static void advance_case(mill_store *store, const struct config *c, enum mill_direction direction)
{
	bool pull = direction == MILL_DIRECTION_PULL;
	const char *name = pull ? "pull" : "push";
	struct oracle o;
	struct bench b;

	oracle_init(&o, store->st, VIEW_NONE);
	bench_init(&b, store, c, (struct mill_options){ .direction = direction }, ADVANCES,
		   VIEW_NONE);
	OK(frontier_set_all(b.front, b.run->store->n_linked));
	OK(op_advance(b.run, &mark_advance, &b.args, b.front));
	assert_int_equal(b.front->n, 0);
	if (b.run->ledger.n_steps)
		assert_string_equal(b.run->ledger.step[0].direction, name);
	expect_seen(&b, &o, o.stored, 0, o.mix, name);
	/* One vertex: a resident graph advances from a list. */
	clear(&b);
	OK(frontier_clear(b.front));
	if (o.out.n_rows && !pull) {
		u32 *times = array(o.n, 4);

		OK(frontier_begin(b.front, b.args.met, 0));
		clear(&b);
		for (u64 i = o.out.row[0]; i < o.out.row[1]; i++)
			times[o.out.number[i]]++;
		OK(op_advance(b.run, &mark_advance, &b.args, b.front));
		expect_seen(&b, &o, times, 0, o.mix, "push of one vertex");
		free(times);
	}
	bench_release(&b);
	oracle_release(&o);
}

static void test_advance(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(some_shapes); i++) {
		const struct shape *s = shape_named(some_shapes[i]);
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, s))
			continue;
		store = graph_store(&g);
		for (size_t j = 0; j < n_configs; j++)
			if (is_chosen((size_t)(s - shapes), j)) {
				advance_case(store, &configs[j], MILL_DIRECTION_PUSH);
				advance_case(store, &configs[j], MILL_DIRECTION_PULL);
			}
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Owners filter an edge frontier: the first filter keeps every edge, the second odd numbers. */
static void test_filter(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(some_shapes); i++)
		for (size_t j = 0; j < n_configs; j++) {
			const struct shape *s = shape_named(some_shapes[i]);
			struct oracle o;
			struct graph g;
			mill_store *store;
			struct bench b;

			if (!is_chosen((size_t)(s - shapes), j) || !shape_make(&g, s))
				continue;
			store = graph_store(&g);
			oracle_init(&o, store->st, VIEW_NONE);
			bench_init(&b, store, &configs[j], (struct mill_options){ 0 }, FILTERS,
				   VIEW_NONE);
			OK(edge_frontier_set_all(b.edges));
			OK(op_filter_edges(b.run, &once_keep_filter, &b.args, b.edges));
			assert_int_equal(b.edges->n, o.n);
			expect_seen(&b, &o, NULL, 1, o.mix, "filtered");
			b.args.odd = 1;
			OK(op_filter_edges(b.run, &once_keep_filter, &b.args, b.edges));
			assert_int_equal(b.edges->n, o.n / 2);
			expect_seen(&b, &o, NULL, 2, o.mix, "filtered again");
			bench_release(&b);
			oracle_release(&o);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Compares the triangles through each edge, counted by the numbers that corner_found gets. */
static void corner_case(mill_store *store, const struct config *c, const struct oracle *o)
{
	struct bench b;
	u32 *met;

	bench_init(&b, store, c, (struct mill_options){ 0 }, CORNERS, VIEW_NONE);
	OK(run_degrees(b.run, b.degree));
	OK(op_intersect(b.run, &corner_intersect, &b.args, b.degree));
	expect_seen(&b, o, o->triangles, 0, o->mix, "in triangles");
	OK(vec_map(b.run, b.args.met, &met));
	for (u64 v = 0; v < b.run->store->n_linked; v++)
		assert_int_equal(met[v], 0);
	vec_unmap(b.args.met, met);
	bench_release(&b);
}

static void test_intersect(void **state)
{
	/* Not the largest: the oracle goes over the lists of all neighbours. */
	static const char *const names[] = { "no vertex", "parallel edges, undirected", "self-loops", "components, undirected", "random, tiny", "grid",
					     "star, undirected", "random, sparse", "hubs" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct oracle o;
		struct graph g;
		mill_store *store;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		store = graph_store(&g);
		oracle_init(&o, store->st, VIEW_SIMPLE);
		count_triangles(&o);
		for (size_t j = 0; j < n_configs; j++)
			if (config_usable(&configs[j]) && (i + j) % 2)
				corner_case(store, &configs[j], &o);
		oracle_release(&o);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* ---- Budgets ---- */

/* Computes the smallest budget of a run, which then streams all that it can. */
static mill_err least_memory(mill_store *store, struct mill_options o, enum what what,
			     enum view view, u64 *out)
{
	struct mill_plan plan = { 0 };
	struct bench b = { 0 };
	struct declaration d;
	mill_err err;

	o.memory = 0;
	TRY(mill_run_new(&b.run, store, &o));
	b.run->budget.limit = 1;
	err = declare(&b, &d, what, view);
	if (!err)
		run_plan(b.run, &d.need, &plan);
	*out = plan.needed;
	mill_run_free(b.run);
	return err;
}

/* must: the state is large enough that the run has to stream it. */
static void streamed_case(mill_store *store, const struct config *c, enum view view, bool must)
{
	struct mill_options options = { .threads = c->threads };
	struct oracle o;
	struct bench b;

	OK(least_memory(store, options, ONCE, view, &options.memory));
	oracle_init(&o, store->st, view);
	bench_init(&b, store, c, options, ONCE, view);
	try_scans(&b, &o, ONCE);
	assert_true(b.run->spills || !must);
	if (b.run->spills) {
		struct mill_step *t = &b.run->ledger.total;
		u64 bytes = o.n * 2 * sizeof(u32);

		assert_non_null(b.args.seen->beside);
		assert_true(t->disk_written == bytes && t->disk_read >= bytes);
		/* A second scan reads the state that the first wrote. */
		OK(op_scan(b.run, &once_scan, &b.args, &(struct scan){ 0 }, NULL));
		expect_seen(&b, &o, NULL, 2, o.mix, "twice");
		/* Programs that do not own their edges cannot use streamed state. */
		REFUSED(MILL_ENOMEM,
			op_scan(b.run, &mark_scan, &b.args, &(struct scan){ 0 }, NULL), c->name);
	}
	bench_release(&b);
	options.memory--;
	REFUSED(MILL_ENOMEM, bench_open(&b, store, c, options, ONCE, view), c->name);
	mill_run_free(b.run);
	oracle_release(&o);
}

static void make_large(struct graph *g, bool undirected)
{
	graph_init(g, "large", 0);
	g->undirected = undirected;
	graph_random(g, MILL_VID_BITS == 32 ? 5000 : 200, MILL_VID_BITS == 32 ? 150000 : 10000, 7);
	for (u64 i = 0; i < g->n_arcs; i++)
		if (undirected && g->arc[i].from > g->arc[i].to) {
			u32 from = g->arc[i].from;

			g->arc[i].from = g->arc[i].to;
			g->arc[i].to = from;
		}
	graph_index(g);
}

/* Streams state beside the pages with the smallest budget; one byte less is refused. */
static void test_streamed(void **state)
{
	struct config c = { "streamed state", 1, 0, false, 0, false };
	mill_store *store;
	struct graph g;

	(void)state;
	for (int undirected = 0; undirected < 2; undirected++)
		for (unsigned codec = CODEC_PACKED; codec <= CODEC_LAST; codec++) {
			make_large(&g, undirected);
			g.codec = codec;
			store = graph_store(&g);
			for (size_t k = 0; k < ARRAY_LEN(views); k++)
				for (c.threads = 1; c.threads <= 2; c.threads++) {
					bool must = !views[k] || c.threads == 1;

					c.frames = c.threads == 1 ? 0 : 2;
					streamed_case(store, &c, views[k],
						      MILL_VID_BITS == 32 && must);
				}
			graph_store_drop(store);
			graph_release(&g);
		}
	c.threads = 2;
	for (size_t i = 0; i < n_shapes; i++) {
		if (!shape_make(&g, &shapes[i]))
			continue;
		store = graph_store(&g);
		streamed_case(store, &c, views[i % 3], false);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* The planned memory suffices, and one byte less is refused. */
static void test_least_memory(void **state)
{
	static const enum what whats[] = { SCANS, ONCE, ADVANCES, SCANS | ONCE | FILTERS };
	static const struct {
		const char *config, *device;
	} places[] = {
		{ "2 threads, 2 frames", "cpu" },
		{ "opencl, 2 pages", "opencl" },
	};
	mill_store *store;
	struct graph g;

	(void)state;
	if (!shape_make(&g, shape_named("hubs, undirected")))
		skip();
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(whats); i++)
		for (int k = 0; k < 1 + have_opencl(); k++) {
			struct config c = *config_named(places[k].config);
			struct mill_options o = { .threads = 2,
						  .device = places[k].device,
						  .device_memory = 512 * MIB };
			struct bench b;

			OK(least_memory(store, o, whats[i], VIEW_NONE, &o.memory));
			bench_init(&b, store, &c, o, whats[i], VIEW_NONE);
			bench_release(&b);
			o.memory--;
			REFUSED(MILL_ENOMEM, bench_open(&b, store, &c, o, whats[i], VIEW_NONE),
				c.name);
			mill_run_free(b.run);
		}
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- Faults ---- */

/* Scans once, resident or streamed. A separate process, where MILL_FAULT injects a failure. */
static int child(int argc, char **argv)
{
	const char *path = argv[0];
	bool streamed = argc > 1 && !strcmp(argv[1], "streamed");
	struct config c = *config_named("2 threads, 2 frames");
	enum what what = streamed ? ONCE : SCANS | ONCE;
	struct mill_options o = { .threads = 2 };
	mill_store *store;
	struct bench b = { 0 };
	u64 wrong = 0;
	mill_err err = mill_store_open(&store, path);

	if (err)
		return (int)err;
	if (streamed)
		err = least_memory(store, o, ONCE, VIEW_NONE, &o.memory);
	if (!err)
		err = bench_open(&b, store, &c, o, what, VIEW_NONE);
	if (!err && streamed && !b.run->spills)
		err = MILL_ECHECK;
	if (!err && !streamed)
		err = op_scan(b.run, &mark_scan, &b.args, &(struct scan){ 0 }, &wrong);
	if (!err && !wrong)
		err = op_scan(b.run, &once_scan, &b.args, &(struct scan){ 0 }, &wrong);
	mill_run_free(b.run);
	mill_store_close(store);
	if (!err && wrong)
		err = MILL_ECHECK;
	return (int)err;
}

static int spawn(const char *fault, const char *path, bool streamed)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		setenv("MILL_FAULT", fault, 1);
		execl("/proc/self/exe", "algo_tests", SUITE_CHILD, "edge_state", path,
		      streamed ? "streamed" : "resident", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void test_faults(void **state)
{
	static const struct {
		const char *format;
		mill_err err;
		int step;	/* from one n to the next */
	} faults[] = {
		{ "alloc:n=%d", MILL_ENOMEM, 1 },
		{ "io:op=write,n=%d,err=ENOSPC", MILL_ENOSPACE, 3 },
		{ "io:op=write,n=%d,short=7", MILL_OK, 3 },
		{ "io:op=read,n=%d,err=EINTR", MILL_OK, 3 },
	};
	struct mill_info info;
	mill_store *store;
	struct graph g;
	char path[600];

	(void)state;
	make_large(&g, true);
	g.codec = CODEC_RAW;
	store = graph_store(&g);
	mill_store_info(store, &info);
	snprintf(path, sizeof(path), "%s", info.path);
	/* Stores of narrow ids are too small for streamed state to save memory. */
	for (int streamed = 0; streamed < (MILL_VID_BITS == 32 ? 2 : 1); streamed++)
		for (size_t i = 0; i < ARRAY_LEN(faults); i++)
			for (int n = 1, clean = 0; clean < 2; n += faults[i].step) {
				char fault[128];
				int code;

				snprintf(fault, sizeof(fault), faults[i].format, n);
				code = spawn(fault, path, streamed);
				if (code && code != (int)faults[i].err)
					fail_msg("%s, %s: exit code %d", fault,
						 streamed ? "streamed" : "resident", code);
				clean = code || (!faults[i].err && n < 40) ? 0 : clean + 1;
			}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_scan),
	cmocka_unit_test(test_advance),
	cmocka_unit_test(test_filter),
	cmocka_unit_test(test_intersect),
	cmocka_unit_test(test_streamed),
	cmocka_unit_test(test_least_memory),
	cmocka_unit_test(test_faults),
};

SUITE(edge_state, tests, .setup = scratch_make, .teardown = scratch_remove, .child = child);
