/* SPDX-License-Identifier: Apache-2.0 */
/* The resident topology in several segments, the form of graphs with 2^32 edges or more. */
#define _GNU_SOURCE	/* qsort_r */
#include "expect.h"

static const u64 sizes[] = { 1, 5000, 16384, 20000, 50000, 100000, UINT32_MAX };

/* Replaces the loaded topology of a direction by segments of at most max_edges edges. */
static void reload(mill_run *run, struct topology *t, bool weights, u64 max_edges)
{
	struct stream_how how = { .bytes = 8 * MIB, .most = 4, .workers = 2 };
	struct stream *stream;

	topology_release(t);
	OK(stream_open(&stream, &run->budget, run->store, &how));
	OK(topology_load(t, &run->budget, stream, weights, max_edges, &run->ticker));
	stream_close(stream);
	assert_true(t->resident);
}

/* Checks a part of a list that several workers share: edges of row `row` of segment s. */
static void compare_part(const struct topology *t, const struct chunk *c, const struct segment *s,
			 vid row, u32 number)
{
	const struct segment *p = c->segment;
	u64 begin = p->first_edge - s->first_edge;

	assert_ptr_equal(p, &t->piece[number]);
	assert_int_equal(c->end - c->begin, 1);
	assert_int_equal(p->first, s->first + row);
	assert_int_equal(p->n_rows, 1);
	assert_int_equal(p->row[1] - p->row[0], p->n_edges);
	assert_true(begin >= s->row[row] && begin + p->n_edges <= s->row[row + 1u]);
	assert_int_equal(p->skip, (row ? 0 : s->skip) + begin - s->row[row]);
	assert_int_equal(p->skip % LIST_BLOCK, 0);
	assert_ptr_equal(p->neighbour, s->neighbour + begin);
	if (p->continues && number + 1 < t->n_pieces)
		assert_int_equal(t->piece[number + 1].first, p->first);
}

/* Compares all neighbours and weights in order, and checks that chunks cover all rows. */
static void compare(const struct graph *g, const struct store *st, const struct topology *t,
		    u64 max_edges)
{
	u64 edge = 0, end = 0, *id = calloc(g->n + 1u, sizeof(*id));
	vid *rank = calloc(g->n + 1u, sizeof(*rank));
	u32 chunk = 0, part = 0;

	OK(store_read(st, STORE_RANK, rank, g->n * sizeof(*rank), 0));
	for (u32 v = 0; v < g->n; v++)
		id[v] = graph_id(g, rank[v]);
	free(rank);
	for (u32 i = 0; i < t->n_segments; i++) {
		const struct segment *s = &t->segment[i];
		vid covered = 0;

		if (s->first_edge != edge ||
		    (t->n_segments > 1 && i && (s->skip > 0) != t->segment[i - 1].continues))
			fail_msg("%s, size %llu: segment %u has a wrong beginning",
				 g->name, (unsigned long long)max_edges, i);
		assert_int_equal(s->row[0], 0);
		assert_int_equal(s->row[s->n_rows], s->n_edges);
		for (vid r = 0; r < s->n_rows; r++) {
			u64 v = (id[s->first + r] - g->base) / g->stride, before = r ? 0 : s->skip;

			for (u32 k = s->row[r]; k < s->row[r + 1u]; k++, edge++) {
				u64 stored = g->row[v] + before + k - s->row[r];
				const struct arc *a = &g->stored[stored];

				if (stored >= g->row[v + 1u] ||
				    graph_id(g, a->to) != id[s->neighbour[k]] ||
				    (t->weight && ((const u32 *)s->weight)[k] != (u32)a->weight))
					fail_msg("%s, size %llu: wrong neighbour %u in segment %u",
						 g->name, (unsigned long long)max_edges, k, i);
			}
		}
		end = s->first + s->n_rows;
		for (; chunk < t->n_chunks && covered < s->n_rows; chunk++) {
			const struct chunk *c = &t->chunk[chunk];
			const struct segment *p = c->segment;

			if (p == s) {	/* whole lists */
				assert_int_equal(c->begin, covered);
				covered = c->end;
			} else {
				compare_part(t, c, s, covered, part++);
				if (p->first_edge + p->n_edges ==
				    s->first_edge + s->row[covered + 1u])
					covered++;
			}
		}
		assert_int_equal(covered, s->n_rows);
	}
	free(id);
	assert_int_equal(chunk, t->n_chunks);
	assert_int_equal(part, t->n_pieces);
	assert_int_equal(edge, st->stored_edges);
	assert_int_equal(end, t->pages->n_rows);
}

/* Orders the neighbours of a list by vertex number: sources by id, then the others by id. */
static int by_neighbour(const void *a, const void *b, void *row)
{
	const struct arc *x = a, *y = b;
	const u64 *r = row;
	int sink_x = r[x->to] == r[x->to + 1u], sink_y = r[y->to] == r[y->to + 1u];

	if (sink_x != sink_y)
		return sink_x - sink_y;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->weight > y->weight) - (x->weight < y->weight);
}

static const char *const names[] = {
	"no vertex", "self-loops",	 "out-star",	  "in-star",	    "star, undirected",
	"hubs",	     "hubs, undirected", "random, dense", "random, sparse",
};

static void test_neighbours(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct graph g;
		mill_store *store;
		mill_run *run;

		if (!shape_make(&g, shape_named(names[i])))
			continue;
		/* Parallel arcs have the same weight. */
		g.weight = MILL_WEIGHT_U32;
		for (u64 a = 0; a < g.n_arcs; a++)
			g.arc[a].weight = g.arc[a].from % 1000 * 1000 + g.arc[a].to % 1000;
		graph_index(&g);
		for (u32 v = 0; v < g.n; v++)
			qsort_r(g.stored + g.row[v], g.row[v + 1u] - g.row[v], sizeof(struct arc),
				by_neighbour, g.row);
		store = graph_store(&g);
		run = run_open(store, config_named("1 thread"), (struct mill_options){ 0 }, "bfs",
			       NULL);
		for (size_t j = 0; j < ARRAY_LEN(sizes); j++)
			for (int weights = 0; weights < 2; weights++) {
				reload(run, &run->out, weights, sizes[j]);
				compare(&g, run->store, &run->out, sizes[j]);
				assert_true(!weights == !run->out.weight || !g.n_arcs);
			}
		assert_int_equal(run->out.n_segments, g.n_arcs ? 1 : 0);
		mill_run_free(run);
		graph_store_drop(store);
		graph_release(&g);
	}
}

/* Checks that results do not depend on the segments. */
static void test_algorithms(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct mill_pagerank how = { .precision = MILL_F64,
					     .tolerance = -1,
					     .iterations = 5 };
		u64 bfs = 0, sssp = 0, pagerank = 0;
		struct graph g;
		mill_store *store;
		mill_run *run;
		f64 *want;

		if (!shape_make_some(&g, shape_named(names[i])))
			continue;
		graph_weigh(&g, MILL_WEIGHT_U32, WEIGH_SMALL, i);
		store = graph_store(&g);
		want = calloc(g.n, sizeof(*want));
		naive_pagerank(&g, 0.85, how.iterations, NULL, want);
		for (size_t j = 0; j < ARRAY_LEN(sizes); j++) {
			struct mill_options o = { .parents = true, .check = true };

			run = run_open(store, config_named("4 threads"), o, "bfs", NULL);
			OK(mill_bfs(run, NULL));	/* reload replaces its topology */
			reload(run, &run->out, false, sizes[j]);
			if (g.undirected == (run->in.resident != 0))
				fail_msg("%s: wrong residency of the in-edges", g.name);
			if (!g.undirected)
				reload(run, &run->in, false, sizes[j]);
			expect_bfs(&g, "segments", run, g.n / 2);
			assert_true(!j || hash_of(run) == bfs);
			bfs = hash_of(run);
			mill_run_free(run);

			run = run_open(store, config_named("4 threads"), o, "sssp", NULL);
			OK(mill_sssp(run, NULL));
			reload(run, &run->out, true, sizes[j]);
			expect_sssp(&g, "segments", run, g.n / 2, 0, false);
			assert_true(!j || hash_of(run) == sssp);
			sssp = hash_of(run);
			mill_run_free(run);

			run = run_open(store, config_named("4 threads"), o, "pagerank", &how);
			OK(mill_pagerank(run, &how));
			reload(run, run_direction(run, true), false, sizes[j]);
			expect_pagerank(&g, "segments", run, &how, want, 1e-12);
			if (j && hash_of(run) != pagerank)
				fail_msg("%s, size %llu: another hash of pagerank", g.name,
					 (unsigned long long)sizes[j]);
			pagerank = hash_of(run);
			mill_run_free(run);
		}
		free(want);
		graph_store_drop(store);
		graph_release(&g);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_neighbours),
	cmocka_unit_test(test_algorithms),
};

SUITE(topology, tests, .setup = scratch_make, .teardown = scratch_remove);
