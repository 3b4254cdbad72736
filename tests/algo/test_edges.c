/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests edge frontiers and filters: from vertices to edges and back, along out- and in-edges
 * and over views, on resident graphs, streamed graphs and devices. Compares with the published
 * values of Gunrock's sample graph, and with plain loops on random graphs. Sums over active
 * vertices and edges have the bits of a plain loop.
 */
#include "cover.h"
#include "expect.h"

#include "device/dialect.h"
#include "op/op.h"

/* Keeps vertices by their flag, and edges by a hash of both ends and the seed (0: all edges). */
#define PICK_FIELDS(ARRAY, SCALAR) \
	ARRAY(u32, flag) \
	SCALAR(u32, seed)

/* Code for the host's compiler, and the same code as text for the device's compiler. */
#define BOTH(name, ...) \
	static const char name[] = #__VA_ARGS__; \
	__VA_ARGS__

static const char pick_fields[] =
	"#define PICK_FIELDS(ARRAY, SCALAR) ARRAY(u32, flag) SCALAR(u32, seed)\n";
BOTH(pick_text,

STATE(pick, PICK_FIELDS);

DEVICE bool pick_edge(struct pick s, vid u, vid v, u32 w)
{
	u64 x = ((u64)u * 100003 + v + w) * 0x9e3779b97f4a7c15u ^ (u64)s.seed * 0xbf58476d1ce4e5b9u;

	x = (x ^ x >> 31) * 0x94d049bb133111ebu;
	return !s.seed || (x >> 33) % 3;
}

DEVICE bool pick_vertex(struct pick s, vid v) { return s.flag[v]; }

DEVICE f64 pick_value(struct pick s, vid v) { return (1.0 + s.seed) / (v + 3); }
DEVICE f64 pick_worth(struct pick s, vid u, vid v, u32 w)
{
	return (1.0 + s.seed) / (f64)((u64)u * 7 + v + 3 * (u64)w);
}
DEVICE f64 pick_price(struct pick s, vid u, vid v, u32 w) { return pick_worth(s, u, v, w); }
)

#define PROGRAM pick
#define FIELDS PICK_FIELDS
#define SOURCE pick_fields, pick_text
#define KEEP_EDGE pick_edge
#include "op/filter.inc"
#define PROGRAM pick
#define FIELDS PICK_FIELDS
#define SOURCE pick_fields, pick_text
#define KEEP_VERTEX pick_vertex
#include "op/filter.inc"
#define PROGRAM pick
#define FIELDS PICK_FIELDS
#define SOURCE pick_fields, pick_text
#define VERTEX pick_value
#define FRONT 1
#include "op/compute.inc"
/* pick_worth gets no weights, pick_price those of the store. */
#define PROGRAM pick
#define FIELDS PICK_FIELDS
#define SOURCE pick_fields, pick_text
#define EDGE pick_worth
#include "op/compute.inc"
#define PROGRAM pick
#define FIELDS PICK_FIELDS
#define SOURCE pick_fields, pick_text
#define EDGE pick_price
#define WEIGHT u32
#include "op/compute.inc"

enum lists { LISTS_OUT, LISTS_IN, LISTS_VIEW };

struct bench {
	mill_run *run;
	enum lists lists;
	struct pick_args args;
	struct frontier *front;
	struct edge_frontier *edges;
	u64 *bits;		/* copy of the edge frontier's bitmap */
};

static void bench_init(struct bench *b, mill_store *store, const struct config *c, enum lists lists)
{
	struct declaration d;
	struct mill_plan plan;

	*b = (struct bench){ .lists = lists };
	b->run = run_open(store, c, (struct mill_options){ 0 }, "cc", NULL);
	declaration_init(&d, b->run, "edges", false);
	OK(lists == LISTS_VIEW ? declare_view(&d, VIEW_BOTH, "edges")
			       : declare_direction(&d, lists == LISTS_IN));
	declare_state(&d, &b->args.flag, "flag", sizeof(u32), NULL);
	declare_frontier(&d, &b->front, 0);
	declare_edge_frontier(&d, &b->edges, lists == LISTS_IN);
	declare_filter(&d, &pick_edge_filter);
	declare_filter(&d, &pick_vertex_filter);
	declare_compute(&d, &pick_value_compute, 0);
	declare_compute(&d, &pick_worth_compute, 0);
	if (b->run->store->weight == MILL_WEIGHT_U32 && lists != LISTS_VIEW)
		declare_compute(&d, &pick_price_compute, 0);
	OK(declaration_end(&d));
	if (c->device && c->pages != AMPLE) {
		run_plan(b->run, &d.need, &plan);
		b->run->device->own.limit =
			plan.device_needed + (c->pages - 2) * (u64)b->run->store->page_size;
	}
	OK(run_begin(b->run, &d.need));
	OK(declaration_make(&d));
	frontier_restart(b->front, lists == LISTS_IN);
	b->bits = calloc(1, b->edges->bits->buffer.size + 8);
	assert_non_null(b->bits);
}

static void bench_release(struct bench *b)
{
	if (!b->run->device->native)
		assert_true(b->run->device->own.peak <= b->run->device->own.limit);
	mill_run_free(b->run);
	free(b->bits);
}

/* Sets the flags of n vertices to 1 and all others to 0. */
static void put_flags(struct bench *b, const u32 *vertex, u32 n)
{
	u64 zero = 0;
	u32 one = 1;

	OK(device_fill(&b->args.flag->buffer, &zero, sizeof(u32)));
	for (u32 i = 0; i < n; i++)
		OK(vec_set(b->args.flag, vertex[i], &one));
}

/* Returns true if edge number e is active. */
static bool is_active(struct bench *b, u64 e)
{
	const struct edge_frontier *f = b->edges;

	if (f->dense) {
		OK(device_read(&f->bits->buffer, 0, b->bits, f->bits->buffer.size));
		return bitmap_get(b->bits, e);
	}
	for (u64 i = 0; i < f->n; i++)
		if (f->list[i].edge == e)
			return true;
	return false;
}

static void expect_front(struct bench *b, const bool *want, u64 n, const char *what)
{
	const u64 *bits;
	u64 count = 0;

	OK(frontier_bits(b->front, &bits));
	for (u64 v = 0; v < n; v++) {
		count += want[v];
		if (bitmap_get(bits, v) != want[v])
			fail_msg("%s: vertex %llu is %sactive", what, (unsigned long long)v,
				 want[v] ? "not " : "");
	}
	assert_int_equal(b->front->n, count);
}

/* Makes n vertices the frontier. */
static void choose(struct bench *b, const u32 *vertex, u32 n)
{
	put_flags(b, vertex, n);
	OK(frontier_clear(b->front));
	OK(frontier_set_all(b->front, b->run->store->n_linked));
	OK(op_filter(b->run, &pick_vertex_filter, &b->args, b->front));
	assert_int_equal(b->front->n, n);
}

/* Vertices {1, 2, 3} have edges 3 .. 10, which end at 0 2 4 3 4 5 5 6; of these, 4 5 6 are new. */
static void test_sample(void **state)
{
	static const u32 chosen[] = { 1, 2, 3 }, fresh[] = { 4, 5, 6 };
	static const char *const places[] = { "1 thread", "2 threads", "2 threads, 1 frame",
					      "opencl", "opencl, 2 pages" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		bool ends[7] = { true, false, true, true, true, true, true };
		bool kept[7] = { 0 }, all[7];
		struct graph g;
		mill_store *store;
		struct bench b;

		if (!config_usable(config_named(places[i])))
			continue;
		assert_true(shape_make(&g, shape_named("Gunrock's sample")));
		store = graph_store(&g);
		bench_init(&b, store, config_named(places[i]), LISTS_OUT);
		choose(&b, chosen, 3);
		OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
		assert_int_equal(b.edges->n, 8);
		for (u64 e = 0; e < 15; e++)
			assert_int_equal(is_active(&b, e), e >= 3 && e <= 10);
		OK(op_ends(b.run, b.edges, b.front));
		expect_front(&b, ends, 7, "ends");
		put_flags(&b, fresh, 3);
		for (u32 k = 0; k < 3; k++)
			kept[fresh[k]] = true;
		OK(op_filter(b.run, &pick_vertex_filter, &b.args, b.front));
		expect_front(&b, kept, 7, "filtered");
		/* Edges 11 .. 14 belong to vertices 4, 5 and 6. */
		OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
		assert_int_equal(b.edges->n, 4);
		for (u64 e = 0; e < 15; e++)
			assert_int_equal(is_active(&b, e), e >= 11);
		/* A bitmap and a list of edges have the same ends. */
		for (int list = 0; list < 2; list++) {
			if (list)
				edge_frontier_list(b.edges);
			OK(op_ends(b.run, b.edges, b.front));
			memset(all, 0, sizeof(all));
			all[2] = all[5] = all[6] = true;
			expect_front(&b, all, 7, "ends of edges 11 .. 14");
		}
		bench_release(&b);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Filters all edges in rounds, each with another seed, on graphs with long and short lists. */
static void test_filter(void **state)
{
	static const char *const names[] = {
		"hubs", "random, sparse", "star, undirected", "self-loops", "no vertex",
		"all dangling", "clique",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t j = 0; j < n_configs; j++) {
			const struct config *c = &configs[j];
			struct graph g;
			mill_store *store;
			struct bench b;
			u64 before;

			if (!config_usable(c) || !shape_make(&g, shape_named(names[i])))
				continue;
			store = graph_store(&g);
			bench_init(&b, store, c, LISTS_OUT);
			OK(edge_frontier_set_all(b.edges));
			assert_int_equal(b.edges->n, g.n_stored);
			for (b.args.seed = 1; b.args.seed < 40 && b.edges->n; b.args.seed++) {
				before = b.edges->n;
				OK(op_filter_edges(b.run, &pick_edge_filter, &b.args, b.edges));
				/* Keeps about two thirds; repeating the filter changes nothing. */
				if (before > 3000 &&
				    (b.edges->n < before / 2 || b.edges->n > before / 5 * 4))
					fail_msg("%s, %s: %llu of %llu edges stay", g.name,
						 c->name, (unsigned long long)b.edges->n,
						 (unsigned long long)before);
				before = b.edges->n;
				OK(op_filter_edges(b.run, &pick_edge_filter, &b.args, b.edges));
				assert_int_equal(b.edges->n, before);
			}
			bench_release(&b);
			graph_store_drop(store);
			graph_release(&g);
		}
}

/* Every configuration keeps the same number of edges. */
static void test_same_counts(void **state)
{
	u64 want[12] = { 0 };
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("hubs, undirected")))
		skip();
	store = graph_store(&g);
	for (size_t j = 0; j < n_configs; j++) {
		struct bench b;

		if (!config_usable(&configs[j]))
			continue;
		bench_init(&b, store, &configs[j], LISTS_OUT);
		OK(edge_frontier_set_all(b.edges));
		for (u32 round = 0; round < ARRAY_LEN(want); round++) {
			b.args.seed = round + 1;
			OK(op_filter_edges(b.run, &pick_edge_filter, &b.args, b.edges));
			if (j && b.edges->n != want[round])
				fail_msg("%s: %llu edges stay in round %u, not %llu",
					 configs[j].name, (unsigned long long)b.edges->n, round,
					 (unsigned long long)want[round]);
			want[round] = b.edges->n;
		}
		/* Few edges are left: the frontier is a list if the graph is resident. */
		edge_frontier_list(b.edges);
		assert_int_equal(b.edges->dense, configs[j].frames || configs[j].device);
		bench_release(&b);
	}
	graph_store_drop(store);
	graph_release(&g);
}

/*
 * Expands a few vertices to edges, and edges to their ends. The sets are the same in every
 * configuration, and devices get only pages with active edges.
 */
static void test_expand_and_ends(void **state)
{
	static const u32 chosen[] = { 3, 4, 5, 700, 1999 };
	u64 edges = 0, ends = 0, hash = 0;
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		skip();
	store = graph_store(&g);
	for (size_t j = 0; j < n_configs; j++) {
		const u64 *bits;
		struct bench b;
		u64 sum = 0;

		if (!config_usable(&configs[j]))
			continue;
		bench_init(&b, store, &configs[j], LISTS_OUT);
		b.args.seed = 1;
		choose(&b, chosen, ARRAY_LEN(chosen));
		OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
		OK(op_ends(b.run, b.edges, b.front));
		OK(frontier_bits(b.front, &bits));
		for (u64 v = 0; v < b.run->store->n_linked; v++)
			sum += bitmap_get(bits, v) ? v * v + 1 : 0;
		if (j && (b.edges->n != edges || b.front->n != ends || sum != hash))
			fail_msg("%s: %llu edges end at %llu vertices, expected %llu and %llu, "
				 "or other vertices", configs[j].name,
				 (unsigned long long)b.edges->n, (unsigned long long)b.front->n,
				 (unsigned long long)edges, (unsigned long long)ends);
		if (configs[j].device && b.edges->n) {
			const struct ledger *l = &b.run->ledger;
			u64 active = 0, n = 0;

			for (u32 i = 0; i < b.run->graph->out.n_pages; i++) {
				active += b.edges->page_n[i] != 0;
				n += b.edges->page_n[i];
			}
			assert_int_equal(n, b.edges->n);
			assert_true(active <= ARRAY_LEN(chosen) + b.run->graph->out.n_split);
			assert_int_equal(l->step[l->n_steps - 1].pages_active, active);
		}
		edges = b.edges->n;
		ends = b.front->n;
		hash = sum;
		/* An empty frontier has no edges and no ends. */
		OK(frontier_clear(b.front));
		OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
		OK(op_ends(b.run, b.edges, b.front));
		assert_true(!b.edges->n && !b.front->n);
		bench_release(&b);
	}
	assert_true(edges > 0 && ends > 0);
	graph_store_drop(store);
	graph_release(&g);
}

/* ---- In both directions, and over views ---- */

/* All edges of the lists as plain arrays, by edge number. */
struct plain {
	u64 n, vertices;
	u32 *u, *v, *w;
};

static void plain_init(struct plain *p, mill_store *store, enum lists lists)
{
	const struct topology *t;
	struct bench b;

	bench_init(&b, store, config_named("1 thread"), lists);
	t = run_direction(b.run, lists == LISTS_IN);
	*p = (struct plain){ .n = t->n_edges, .vertices = b.run->store->n_linked };
	p->u = calloc(p->n + 1, sizeof(u32));
	p->v = calloc(p->n + 1, sizeof(u32));
	p->w = calloc(p->n + 1, sizeof(u32));
	for (u32 k = 0; k < t->n_segments; k++) {
		const struct segment *s = &t->segment[k];
		const u32 *weight = lists == LISTS_VIEW ? NULL : s->weight;

		for (vid row = 0; row < s->n_rows; row++)
			for (u32 i = s->row[row]; i < s->row[row + 1]; i++) {
				p->u[s->first_edge + i] = s->first + row;
				p->v[s->first_edge + i] = s->neighbour[i];
				p->w[s->first_edge + i] = weight ? weight[i] : 1;
			}
	}
	bench_release(&b);
}

static void plain_release(struct plain *p)
{
	free(p->u);
	free(p->v);
	free(p->w);
}

static void expect_bits(const struct bench *b, const char *what, f64 got, f64 want)
{
	if (bits_f64(got) != bits_f64(want))
		fail_msg("%s, lists %d: the sum at %s is %.17g, not %.17g",
			 b->run->device->native ? "native" : "opencl", (int)b->lists, what, got,
			 want);
}

static void expect_edges(struct bench *b, const struct plain *p, const bool *want, const char *what)
{
	const struct edge_frontier *f = b->edges;
	u64 count = 0;

	memset(b->bits, 0, f->bits->buffer.size);
	if (f->dense)
		OK(device_read(&f->bits->buffer, 0, b->bits, f->bits->buffer.size));
	for (u64 i = 0; !f->dense && i < f->n; i++) {
		assert_int_equal(f->list[i].source, p->u[f->list[i].edge]);
		bitmap_put(b->bits, f->list[i].edge);
	}
	for (u64 e = 0; e < p->n; e++) {
		count += want[e];
		if (bitmap_get(b->bits, e) != want[e])
			fail_msg("%s: edge %llu, from %u to %u, is %sactive", what,
				 (unsigned long long)e, p->u[e], p->v[e], want[e] ? "not " : "");
	}
	assert_int_equal(f->n, count);
}

/* Sums in blocks of EDGE_BLOCK edges, the order that the operators promise. */
static f64 sum_edges(const struct plain *p, const bool *active, struct pick s, bool weights)
{
	f64 sum = 0, block = 0;

	for (u64 e = 0; e < p->n; e++) {
		if (active[e])
			block += pick_worth(s, (vid)p->u[e], (vid)p->v[e], weights ? p->w[e] : 1);
		if (e % EDGE_BLOCK == EDGE_BLOCK - 1 || e + 1 == p->n) {
			sum += block;
			block = 0;
		}
	}
	return sum;
}

/* Sums in blocks of COMPUTE_BLOCK vertices. */
static f64 sum_vertices(u64 n, const bool *active, struct pick s)
{
	f64 sum = 0, block = 0;

	for (u64 v = 0; v < n; v++) {
		if (active[v])
			block += pick_value(s, (vid)v);
		if (v % COMPUTE_BLOCK == COMPUTE_BLOCK - 1 || v + 1 == n) {
			sum += block;
			block = 0;
		}
	}
	return sum;
}

/* Compares sums over the active vertices and edges: as bitmaps, then on the CPU as lists. */
static void expect_sums(struct bench *b, const struct plain *p, const bool *edge,
			const bool *vertex)
{
	struct pick s = { .seed = b->args.seed };
	f64 got;

	for (int list = 0; list < 2; list++) {
		if (list && b->run->device->native) {
			frontier_list(b->front);
			edge_frontier_list(b->edges);
		}
		OK(op_compute_front(b->run, &pick_value_compute, &b->args, b->front, &got));
		expect_bits(b, "vertices", got, sum_vertices(p->vertices, vertex, s));
		OK(op_compute_edges(b->run, &pick_worth_compute, &b->args, b->edges, &got));
		expect_bits(b, "edges", got, sum_edges(p, edge, s, false));
		if (b->run->need.weights) {
			OK(op_compute_edges(b->run, &pick_price_compute, &b->args, b->edges, &got));
			expect_bits(b, "edges with weights", got, sum_edges(p, edge, s, true));
		}
		expect_edges(b, p, edge, "after sums");
		expect_front(b, vertex, p->vertices, "after sums");
	}
}

/* Expands every third vertex to edges, filters them, takes their ends; then filters all edges. */
static void try_lists(mill_store *store, const struct config *c, const struct plain *p,
		      enum lists lists)
{
	bool *edge = calloc(p->n + 1, sizeof(bool)),
	     *vertex = calloc(p->vertices + 1, sizeof(bool));
	u32 *chosen = calloc(p->vertices + 1, sizeof(u32)), n = 0;
	struct pick s = { .seed = 1 };
	struct bench b;

	bench_init(&b, store, c, lists);
	for (u32 v = 0; v < p->vertices; v += 3) {
		chosen[n++] = v;
		vertex[v] = true;
	}
	if (n)
		choose(&b, chosen, n);
	b.args.seed = 1;
	OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
	for (u64 e = 0; e < p->n; e++)
		edge[e] = vertex[p->u[e]] && pick_edge(s, (vid)p->u[e], (vid)p->v[e], 1);
	expect_edges(&b, p, edge, "expanded");
	expect_sums(&b, p, edge, vertex);
	b.args.seed = s.seed = 2;
	OK(op_filter_edges(b.run, &pick_edge_filter, &b.args, b.edges));
	for (u64 e = 0; e < p->n; e++)
		edge[e] &= pick_edge(s, (vid)p->u[e], (vid)p->v[e], 1);
	expect_edges(&b, p, edge, "filtered");
	OK(op_ends(b.run, b.edges, b.front));
	memset(vertex, 0, p->vertices * sizeof(bool));
	for (u64 e = 0; e < p->n; e++)
		vertex[p->v[e]] |= edge[e];
	expect_front(&b, vertex, p->vertices, "ends");
	expect_sums(&b, p, edge, vertex);
	OK(edge_frontier_set_all(b.edges));
	OK(op_filter_edges(b.run, &pick_edge_filter, &b.args, b.edges));
	for (u64 e = 0; e < p->n; e++)
		edge[e] = pick_edge(s, (vid)p->u[e], (vid)p->v[e], 1);
	expect_sums(&b, p, edge, vertex);
	bench_release(&b);
	free(edge);
	free(vertex);
	free(chosen);
}

static void test_directions(void **state)
{
	static const char *const names[] = {
		"hubs", "random, sparse, undirected", "star, undirected", "self-loops",
		"parallel edges", "all dangling", "no vertex",
	};
	/* Covers every pair of values of: shape, lists, configuration. */
	struct cover c = { .n_factors = 3, .n_values = { ARRAY_LEN(names), 3, (u32)n_configs } };
	struct cover_row *row;
	u32 n;

	(void)state;
	n = cover_make(&c, getenv("LONG"), &row);
	assert_int_equal(cover_missing(&c, row, n), 0);
	for (u32 i = 0; i < n; i++) {
		enum lists lists = (enum lists)row[i].value[1];
		const struct config *where = &configs[row[i].value[2]];
		struct plain p;
		struct graph g;
		mill_store *store;

		if (is_sanitized() && i % 3)
			continue;	/* a sanitizer sees every third run */
		if (!config_usable(where) ||
		    !shape_make(&g, shape_named(names[row[i].value[0]])))
			continue;
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, i);
		store = graph_store(&g);
		plain_init(&p, store, lists);
		try_lists(store, where, &p, lists);
		plain_release(&p);
		graph_store_drop(store);
		graph_release(&g);
	}
	free(row);
}

/* op_compute_edges neither reads nor sends pages without an active edge. */
static void test_few_pages(void **state)
{
	static const char *const where[] = { "2 threads, 1 frame", "opencl, 2 pages" };
	static const u32 one = 5;
	struct graph g;
	mill_store *store;

	(void)state;
	if (!shape_make(&g, shape_named("hubs")))
		skip();
	store = graph_store(&g);
	for (size_t i = 0; i < ARRAY_LEN(where); i++) {
		struct bench b;
		f64 sum;

		if (!config_usable(config_named(where[i])))
			continue;
		bench_init(&b, store, config_named(where[i]), LISTS_OUT);
		choose(&b, &one, 1);
		OK(op_expand(b.run, &pick_edge_filter, &b.args, b.front, b.edges));
		OK(op_compute_edges(b.run, &pick_worth_compute, &b.args, b.edges, &sum));
		assert_true(b.run->graph->out.n_pages > 4);
		assert_true(b.run->ledger.step[b.run->ledger.n_steps - 1].pages_active <=
			    1 + b.run->graph->out.n_split);
		bench_release(&b);
	}
	graph_store_drop(store);
	graph_release(&g);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_sample),
	cmocka_unit_test(test_filter),
	cmocka_unit_test(test_same_counts),
	cmocka_unit_test(test_expand_and_ends),
	cmocka_unit_test(test_directions),
	cmocka_unit_test(test_few_pages),
};

SUITE(edges, tests, .setup = scratch_make, .teardown = scratch_remove);
