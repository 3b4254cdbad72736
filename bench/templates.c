/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates STORE [REPEAT]: compares the operator templates with plain loops: the same
 * algorithms on the same resident graph, with the same threads, run in turns. Prints medians
 * and their ratio. The store must be undirected, with u32 weights and fewer than 2^32 edges.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/run.h"

static struct segment g;	/* the graph */
static struct pool *pool;
static u64 n_all;

static void die(const char *what)
{
	fprintf(stderr, "templates: %s: %s\n", what, mill_error());
	exit(1);
}

static void *zeroed(u64 n, size_t size)
{
	void *p = NULL;

	if (memory_new(&p, NULL, n, size, "a bench vector"))
		die("memory");
	return p;
}

/* ---- BFS by hand ---- */

static u32 *depth, level;
static u64 *front, *next;
static vid *list, *next_list;
static u64 list_n, next_n, found;

/* Appends vertices to the list of the next step. */
static inline void append(const vid *local, u32 n)
{
	u64 at = __atomic_fetch_add(&next_n, n, __ATOMIC_RELAXED);

	memcpy(next_list + at, local, n * sizeof(vid));
}

static mill_err bfs_push(void *arg, u64 begin, u64 end, unsigned worker)
{
	vid local[512];
	u32 n = 0;

	(void)arg;
	(void)worker;
	for (u64 k = begin; k < end; k++) {
		vid u = list[k];

		if (u >= g.n_rows)
			continue;
		for (u32 i = g.row[u]; i < g.row[u + 1]; i++) {
			vid v = g.neighbour[i];
			u32 old = UINT32_MAX;

			if (__atomic_load_n(&depth[v], __ATOMIC_RELAXED) != UINT32_MAX)
				continue;
			if (!__atomic_compare_exchange_n(&depth[v], &old, level + 1, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				continue;
			local[n++] = v;
			if (n == 512) {
				append(local, n);
				n = 0;
			}
		}
	}
	append(local, n);
	return MILL_OK;
}

static mill_err bfs_pull(void *arg, u64 begin, u64 end, unsigned worker)
{
	u64 some = 0;

	(void)arg;
	(void)worker;
	for (u64 v = begin; v < end; v++) {
		if (depth[v] != UINT32_MAX)
			continue;
		for (u32 i = g.row[v]; i < g.row[v + 1]; i++)
			if (front[g.neighbour[i] / 64] >> (g.neighbour[i] % 64) & 1) {
				depth[v] = level + 1;
				next[v / 64] |= (u64)1 << (v % 64);
				some++;
				break;
			}
	}
	__atomic_fetch_add(&found, some, __ATOMIC_RELAXED);
	return MILL_OK;
}

static u64 work_of_list(void)
{
	u64 work = 0;

	for (u64 i = 0; i < list_n; i++)
		if (list[i] < g.n_rows)
			work += g.row[list[i] + 1] - g.row[list[i]];
	return work;
}

static void hand_bfs(vid root)
{
	u64 left = g.n_edges, words = bitmap_words(n_all), n = 1, last;

	memset(depth, 0xff, n_all * sizeof(u32));
	depth[root] = level = 0;
	list[0] = root;
	list_n = 1;
	while (list_n) {
		u64 work = work_of_list();

		left -= min_u64(left, work);
		if (work <= left / 15 || work <= n_all / 18) {
			vid *t = list;

			next_n = 0;
			pool_for(pool, list_n, max_u64(list_n / 64, 16), bfs_push, NULL);
			list = next_list;
			next_list = t;
			list_n = next_n;
			level++;
			continue;
		}
		memset(front, 0, words * 8);
		for (u64 i = 0; i < list_n; i++)
			front[list[i] / 64] |= (u64)1 << (list[i] % 64);
		n = list_n;
		do {
			u64 *t = front;

			last = n;
			memset(next, 0, words * 8);
			found = 0;
			pool_for(pool, g.n_rows, 4096, bfs_pull, NULL);
			front = next;
			next = t;
			n = found;
			level++;
		} while (n && (n >= last || n > n_all / 18));
		list_n = 0;
		for (u64 w = 0; w < words; w++)
			for (u64 word = front[w]; word; word &= word - 1)
				list[list_n++] = (vid)(w * 64 + (u64)__builtin_ctzll(word));
	}
}

/* ---- PageRank by hand ---- */

static f32 *score, *share;
static f64 *incoming, base, change[4096];

static mill_err rank_rows(void *arg, u64 begin, u64 end, unsigned worker)
{
	(void)arg;
	(void)worker;
	for (u64 v = begin; v < end; v++) {
		f64 sum = 0;

		for (u32 i = g.row[v]; i < g.row[v + 1]; i++)
			sum += share[g.neighbour[i]];
		incoming[v] = sum;
	}
	return MILL_OK;
}

static mill_err rank_vertices(void *arg, u64 begin, u64 end, unsigned worker)
{
	(void)arg;
	for (u64 v = begin; v < end; v++) {
		f64 rank = base + 0.85 * incoming[v];

		change[worker * 16] += rank > score[v] ? rank - score[v] : score[v] - rank;
		score[v] = (f32)rank;
		if (v < g.n_rows)
			share[v] = (f32)(rank / (g.row[v + 1] - g.row[v]));
	}
	return MILL_OK;
}

static void hand_pagerank(u32 iterations)
{
	memset(incoming, 0, n_all * sizeof(f64));
	base = 1 / (f64)n_all;
	pool_for(pool, n_all, 16384, rank_vertices, NULL);
	for (u32 i = 0; i < iterations; i++) {
		f64 dangling = 0;

		for (u64 v = g.n_rows; v < n_all; v++)
			dangling += score[v];
		base = (0.15 + 0.85 * dangling) / (f64)n_all;
		pool_for(pool, g.n_rows, 1024, rank_rows, NULL);
		pool_for(pool, n_all, 16384, rank_vertices, NULL);
	}
}

/* ---- SSSP by hand: near/far ---- */

static u32 *distance, limit;
static u64 *far, *mark;

static mill_err relax(void *arg, u64 begin, u64 end, unsigned worker)
{
	const u32 *weight = g.weight;
	vid local[512];
	u32 n = 0;

	(void)arg;
	(void)worker;
	for (u64 k = begin; k < end; k++) {
		vid u = list[k];

		if (u >= g.n_rows)
			continue;
		for (u32 i = g.row[u]; i < g.row[u + 1]; i++) {
			vid v = g.neighbour[i];
			u32 d = __atomic_load_n(&distance[u], __ATOMIC_RELAXED) + weight[i];
			u32 old = __atomic_load_n(&distance[v], __ATOMIC_RELAXED);

			while (d < old &&
			       !__atomic_compare_exchange_n(&distance[v], &old, d, true,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				;
			if (d >= old)
				continue;
			if (d >= limit) {
				bitmap_claim(far, v);
				continue;
			}
			if (!bitmap_claim(mark, v))
				continue;
			local[n++] = v;
			if (n == 512) {
				append(local, n);
				n = 0;
			}
		}
	}
	append(local, n);
	return MILL_OK;
}

static void hand_sssp(vid root, u32 delta)
{
	u64 words = bitmap_words(n_all);

	memset(distance, 0xff, n_all * sizeof(u32));
	memset(far, 0, words * 8);
	memset(mark, 0, words * 8);
	distance[root] = 0;
	list[0] = root;
	list_n = 1;
	limit = delta;
	for (;;) {
		u32 old = limit, rest = UINT32_MAX;

		while (list_n) {
			vid *t = list;

			next_n = 0;
			pool_for(pool, list_n, max_u64(list_n / 64, 16), relax, NULL);
			for (u64 i = 0; i < next_n; i++)
				mark[next_list[i] / 64] = 0;
			list = next_list;
			next_list = t;
			list_n = next_n;
		}
		limit += delta;
		for (u64 w = 0; w < words; w++)
			for (u64 word = far[w]; word; word &= word - 1) {
				vid v = (vid)(w * 64 + (u64)__builtin_ctzll(word));

				if (distance[v] >= limit) {
					rest = distance[v] < rest ? distance[v] : rest;
					continue;
				}
				far[w] &= ~(word & -word);
				if (distance[v] >= old)
					list[list_n++] = v;
			}
		if (!list_n && rest == UINT32_MAX)
			return;
		if (!list_n)
			limit = rest;
	}
}

/* ---- Comparing ---- */

static int ascending(const void *a, const void *b)
{
	f64 x = *(const f64 *)a, y = *(const f64 *)b;

	return (x > y) - (x < y);
}

static f64 median(f64 *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), ascending);
	return x[n / 2];
}

static void print_row(const char *name, f64 *by_hand, f64 *by_operator, int n)
{
	f64 hand = median(by_hand, n), ours = median(by_operator, n);

	printf("%-10s %10.2fms %10.2fms %8.3f\n", name, hand * 1e3, ours * 1e3, ours / hand);
}

static f64 last_run(mill_run *r)
{
	struct mill_report report;

	mill_run_report(r, &report);
	return report.run_seconds[report.n_runs - 1];
}

static f64 fact(mill_run *r, const char *name)
{
	struct mill_report report;

	mill_run_report(r, &report);
	for (size_t i = 0; i < report.n_facts; i++)
		if (!strcmp(report.fact[i].name, name))
			return report.fact[i].type == MILL_TYPE_F64 ? report.fact[i].f64
								    : (f64)report.fact[i].u64;
	return 0;
}

/* Ends the program if the result of the loops differs from that of the operators. */
static void same(const char *what, const void *a, const struct vec *b, u64 size)
{
	if (memcmp(a, b->buffer.host, size)) {
		fprintf(stderr, "templates: %s by hand and by operator differ\n", what);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct mill_pagerank rank = { .iterations = 5, .tolerance = -1 };
	struct mill_sssp sssp = { .source = "max-degree" };
	int repeat = argc > 2 ? atoi(argv[2]) : 9;
	f64 by_hand[64], by_operator[64];
	mill_store *store;
	mill_run *r;

	if (argc < 2 || repeat < 1 || repeat > 64)
		return fprintf(stderr, "usage: templates STORE [REPEAT]\n"), 2;
	if (mill_store_open(&store, argv[1]) || mill_run_new(&r, store, NULL) ||
	    mill_sssp(r, &sssp))
		die(argv[1]);
	g = r->out.segment[0];
	pool = r->pool;
	n_all = r->store->n_linked;	/* isolated vertices have no state */
	depth = zeroed(n_all, 4);
	distance = zeroed(n_all, 4);
	front = zeroed(bitmap_words(n_all), 8);
	next = zeroed(bitmap_words(n_all), 8);
	far = zeroed(bitmap_words(n_all), 8);
	mark = zeroed(bitmap_words(n_all), 8);
	list = zeroed(n_all, sizeof(vid));
	next_list = zeroed(n_all, sizeof(vid));
	score = zeroed(n_all, 4);
	share = zeroed(n_all, 4);
	incoming = zeroed(n_all, 8);

	printf("%-10s %12s %12s %8s\n", "", "by hand", "operator", "ratio");
	for (int i = 0; i < repeat; i++) {
		f64 began = clock_now();

		hand_sssp(r->search.root, (u32)fact(r, "delta"));
		by_hand[i] = clock_now() - began;
		if (mill_sssp(r, &sssp))
			die("sssp");
		by_operator[i] = last_run(r);
		same("sssp", distance, r->result.column[0].vec, n_all * 4);
	}
	print_row("sssp", by_hand, by_operator, repeat);
	for (int i = 0; i < repeat; i++) {
		f64 began = clock_now();

		hand_bfs(r->search.root);
		by_hand[i] = clock_now() - began;
		if (mill_bfs(r, &(struct mill_bfs){ .source = "max-degree" }))
			die("bfs");
		by_operator[i] = last_run(r);
		same("bfs", depth, r->result.column[0].vec, n_all * 4);
		g = r->out.segment[0];
	}
	print_row("bfs", by_hand, by_operator, repeat);
	for (int i = 0; i < repeat; i++) {
		f64 began = clock_now();

		hand_pagerank(rank.iterations);
		by_hand[i] = (clock_now() - began) / rank.iterations;
		if (mill_pagerank(r, &rank))
			die("pagerank");
		by_operator[i] = last_run(r) / rank.iterations;
		g = r->out.segment[0];
	}
	print_row("pagerank/it", by_hand, by_operator, repeat);
	mill_run_free(r);
	mill_store_close(store);
	return 0;
}
