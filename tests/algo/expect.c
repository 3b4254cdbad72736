/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <math.h>

static void *array(u64 n, size_t size)
{
	void *p = calloc(n + 1, size);

	assert_non_null(p);
	return p;
}

static u64 bits_of(f64 x)
{
	u64 bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static f64 real_of(u64 bits)
{
	f64 x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* ---- Answers ---- */

void naive_bfs(const struct graph *g, u32 root, u32 *depth)
{
	u32 *queue = array(g->n, sizeof(*queue)), head = 0, tail = 0;

	for (u32 v = 0; v < g->n; v++)
		depth[v] = NONE32;
	depth[root] = 0;
	queue[tail++] = root;
	while (head < tail) {
		u32 u = queue[head++];

		for (u64 i = g->row[u]; i < g->row[u + 1u]; i++) {
			u32 v = g->stored[i].to;

			if (depth[v] != NONE32)
				continue;
			depth[v] = depth[u] + 1;
			queue[tail++] = v;
		}
	}
	free(queue);
}

bool keys_are_real(const struct graph *g, bool unit)
{
	return !unit && (g->weight == MILL_WEIGHT_F32 || g->weight == MILL_WEIGHT_F64);
}

static u64 none_of(bool real) { return real ? bits_of(INFINITY) : UINT64_MAX; }

static u64 over_arc(u64 key, const struct arc *a, bool real, bool unit)
{
	if (real)
		return bits_of(real_of(key) + a->weight);
	return key + (unit ? 1 : (u64)a->weight);
}

void naive_sssp(const struct graph *g, u32 root, bool unit, u64 *key)
{
	bool real = keys_are_real(g, unit), *waits = array(g->n, sizeof(*waits));
	u32 *queue = array(g->n, sizeof(*queue)), head = 0, n = 0;

	for (u32 v = 0; v < g->n; v++)
		key[v] = none_of(real);
	key[root] = 0;
	queue[n++] = root;
	while (n) {
		u32 u = queue[head];

		head = (head + 1) % g->n;
		n--;
		waits[u] = false;
		for (u64 i = g->row[u]; i < g->row[u + 1u]; i++) {
			u32 v = g->stored[i].to;
			u64 over = over_arc(key[u], &g->stored[i], real, unit);

			if (over >= key[v])
				continue;
			key[v] = over;
			if (waits[v])
				continue;
			waits[v] = true;
			queue[(head + n++) % g->n] = v;
		}
	}
	free(waits);
	free(queue);
}

void naive_parents(const struct graph *g, u32 root, bool unit, const u64 *key, u32 *parent)
{
	bool real = keys_are_real(g, unit), more = true;
	u32 *hop = array(g->n, sizeof(*hop));

	for (u32 v = 0; v < g->n; v++)
		parent[v] = NONE32;
	for (u64 i = 0; i < g->n_stored; i++) {	/* sources ascend: the first is the smallest */
		const struct arc *a = &g->stored[i];

		if (key[a->from] < key[a->to] &&
		    over_arc(key[a->from], a, real, unit) == key[a->to] &&
		    key[a->to] != none_of(real) && parent[a->to] == NONE32)
			parent[a->to] = a->from;
	}
	parent[root] = root;
	for (u32 v = 0; v < g->n; v++)
		hop[v] = parent[v] == NONE32 ? NONE32 : 0;
	for (u32 round = 1; more; round++) {
		more = false;
		for (u64 i = 0; i < g->n_stored; i++) {
			const struct arc *a = &g->stored[i];

			if (key[a->from] != key[a->to] ||
			    over_arc(key[a->from], a, real, unit) != key[a->to] ||
			    hop[a->from] != round - 1 || hop[a->to] != NONE32 ||
			    key[a->to] == none_of(real))
				continue;
			hop[a->to] = round;
			parent[a->to] = a->from;
			more = true;
		}
	}
	free(hop);
}

void naive_pagerank(const struct graph *g, f64 damping, u32 iterations, const f64 *teleport,
		    f64 *score)
{
	/* Sums need more precision than the results that are compared with them. */
	long double *next = array(g->n, sizeof(*next));

	for (u32 v = 0; v < g->n; v++)
		score[v] = teleport ? teleport[v] : 1 / (f64)g->n;
	for (u32 i = 0; i < iterations; i++) {
		long double dangling = 0;

		memset(next, 0, g->n * sizeof(*next));
		for (u32 u = 0; u < g->n; u++) {
			u64 degree = g->row[u + 1u] - g->row[u];

			if (!degree)
				dangling += score[u];
			for (u64 j = g->row[u]; j < g->row[u + 1u]; j++)
				next[g->stored[j].to] += (long double)score[u] / degree;
		}
		for (u32 v = 0; v < g->n; v++)
			score[v] = (f64)(damping * next[v] +
					 (1 - damping + damping * dangling) *
						 (teleport ? teleport[v] : 1 / (f64)g->n));
	}
	free(next);
}

/* ---- Runs ---- */

const struct mill_fact *fact_of(const mill_run *run, const char *name)
{
	struct mill_report report;

	mill_run_report(run, &report);
	for (size_t i = 0; i < report.n_facts; i++)
		if (!strcmp(report.fact[i].name, name))
			return &report.fact[i];
	fail_msg("there is no fact '%s'", name);
	return NULL;
}

u64 hash_of(const mill_run *run)
{
	struct mill_report report;

	mill_run_report(run, &report);
	return report.hash;
}

static void expect_fact(const struct graph *g, const char *where, const mill_run *run,
			const char *name, u64 want)
{
	u64 got = fact_of(run, name)->u64;

	if (got != want)
		fail_msg("%s, %s: %s is %llu, not %llu", g->name, where, name,
			 (unsigned long long)got, (unsigned long long)want);
}

static void expect_certificate(const struct graph *g, const char *where, mill_run *run)
{
	if (mill_run_check(run))
		fail_msg("%s, %s: the certificate fails: %s", g->name, where, mill_error());
}

static void expect_parents(const struct graph *g, const char *where, mill_run *run, u32 root,
			   bool unit, const u64 *key)
{
	u64 *got = array(g->n, sizeof(*got)), *id = array(g->n, sizeof(*id));
	u32 *want = array(g->n, sizeof(*want));

	naive_parents(g, root, unit, key, want);
	OK(mill_run_values(run, "parent", false, got, id));
	for (u32 v = 0; v < g->n; v++) {
		u64 parent = want[v] == NONE32 ? UINT64_MAX : graph_id(g, want[v]);

		if (id[v] != graph_id(g, v))
			fail_msg("%s, %s: vertex %u has id %llu", g->name, where, v,
				 (unsigned long long)id[v]);
		if (got[v] != parent)
			fail_msg("%s, %s: vertex %u has parent %lld, not %lld", g->name, where, v,
				 (long long)got[v], (long long)parent);
	}
	free(got);
	free(id);
	free(want);
}

/* Compares the facts that all searches report: source, reached vertices, traversed edges. */
static void expect_reach(const struct graph *g, const char *where, const mill_run *run,
			 u32 root, u64 none, const u64 *key)
{
	struct mill_report report;
	u64 reached = 0, edges = 0;

	for (u32 v = 0; v < g->n; v++)
		if (key[v] != none) {
			reached++;
			edges += g->row[v + 1u] - g->row[v];
		}
	mill_run_report(run, &report);
	expect_fact(g, where, run, "source", graph_id(g, root));
	expect_fact(g, where, run, "reached", reached);
	if (report.edges_traversed != edges)
		fail_msg("%s, %s: %llu edges were traversed, not %llu", g->name, where,
			 (unsigned long long)report.edges_traversed, (unsigned long long)edges);
	if (report.memory_peak > report.memory_budget || report.device_peak > report.device_budget)
		fail_msg("%s, %s: the peak is above the budget", g->name, where);
}

u64 expect_bfs(const struct graph *g, const char *where, mill_run *run, u32 root)
{
	u32 *want = array(g->n, sizeof(*want)), *got = array(g->n, sizeof(*got)), deepest = 0;
	u64 *key = array(g->n, sizeof(*key));
	char source[32];
	mill_err err;

	snprintf(source, sizeof(source), "%llu", (unsigned long long)graph_id(g, root));
	err = mill_bfs(run, &(struct mill_bfs){ .source = source });
	if (err)
		fail_msg("%s, %s: bfs from %u: %d, %s", g->name, where, root, (int)err,
			 mill_error());
	naive_bfs(g, root, want);
	OK(mill_run_values(run, "depth", false, got, NULL));
	for (u32 v = 0; v < g->n; v++) {
		if (got[v] != want[v])
			fail_msg("%s, %s: from %u vertex %u has depth %d, not %d", g->name,
				 where, root, v, (int)got[v], (int)want[v]);
		key[v] = want[v] == NONE32 ? UINT64_MAX : want[v];
		if (want[v] != NONE32 && want[v] > deepest)
			deepest = want[v];
	}
	expect_reach(g, where, run, root, UINT64_MAX, key);
	expect_fact(g, where, run, "max_depth", deepest);
	if (run->options.parents)
		expect_parents(g, where, run, root, true, key);
	expect_certificate(g, where, run);
	free(want);
	free(got);
	free(key);
	return hash_of(run);
}

u64 expect_sssp(const struct graph *g, const char *where, mill_run *run, u32 root, f64 delta,
		bool unit)
{
	return expect_sssp_with(g, where, run, root,
				(struct mill_sssp){ .delta = delta, .unit_weights = unit });
}

u64 expect_sssp_with(const struct graph *g, const char *where, mill_run *run, u32 root,
		     struct mill_sssp how)
{
	u64 *want = array(g->n, sizeof(*want)), *got = array(g->n, sizeof(*got));
	bool unit = how.unit_weights, real = keys_are_real(g, unit);
	char source[32];
	mill_err err;

	snprintf(source, sizeof(source), "%llu", (unsigned long long)graph_id(g, root));
	how.source = source;
	err = mill_sssp(run, &how);
	if (err)
		fail_msg("%s, %s: sssp from %u: %d, %s", g->name, where, root, (int)err,
			 mill_error());
	naive_sssp(g, root, unit, want);
	OK(mill_run_values(run, "distance", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (got[v] != want[v])
			fail_msg("%s, %s: from %u vertex %u has distance %.17g, not %.17g",
				 g->name, where, root, v, real ? real_of(got[v]) : (f64)got[v],
				 real ? real_of(want[v]) : (f64)want[v]);
	expect_reach(g, where, run, root, none_of(real), want);
	if (run->options.parents)
		expect_parents(g, where, run, root, unit, want);
	expect_certificate(g, where, run);
	free(want);
	free(got);
	return hash_of(run);
}

f64 *scores_of(const struct graph *g, mill_run *run, enum mill_precision precision)
{
	f64 *score = array(g->n, sizeof(*score));
	f32 *narrow;

	if (precision != MILL_F32) {
		OK(mill_run_values(run, "score", false, score, NULL));
		return score;
	}
	narrow = array(g->n, sizeof(*narrow));
	OK(mill_run_values(run, "score", false, narrow, NULL));
	for (u32 v = 0; v < g->n; v++)
		score[v] = (f64)narrow[v];
	free(narrow);
	return score;
}

u64 expect_pagerank(const struct graph *g, const char *where, mill_run *run,
		    const struct mill_pagerank *how, const f64 *want, f64 relative)
{
	mill_err err = mill_pagerank(run, how);
	struct mill_report report;
	f64 *got, sum;

	if (err)
		fail_msg("%s, %s: pagerank: %d, %s", g->name, where, (int)err, mill_error());
	got = scores_of(g, run, how ? how->precision : MILL_F32);
	for (u32 v = 0; v < g->n; v++)
		if (!(fabs(got[v] - want[v]) <= relative * want[v]))
			fail_msg("%s, %s: vertex %u has score %.17g, not %.17g (%g off)",
				 g->name, where, v, got[v], want[v],
				 fabs(got[v] - want[v]) / want[v]);
	sum = fact_of(run, "sum")->f64;
	if (!(fabs(sum - (g->n ? 1 : 0)) < 1e-5))
		fail_msg("%s, %s: the scores sum to %.17g", g->name, where, sum);
	mill_run_report(run, &report);
	if (report.n_top != (g->n < 10 ? g->n : 10))
		fail_msg("%s, %s: the top ten have %zu entries", g->name, where, report.n_top);
	if (report.memory_peak > report.memory_budget || report.device_peak > report.device_budget)
		fail_msg("%s, %s: the peak is above the budget", g->name, where);
	for (size_t i = 0; i < report.n_top; i++) {
		u64 v = (report.top[i].id - g->base) / g->stride;

		if (v >= g->n || report.top[i].value != got[v] ||
		    (i && (report.top[i].value > report.top[i - 1].value ||
			   (report.top[i].value == report.top[i - 1].value &&
			    report.top[i].id < report.top[i - 1].id))))
			fail_msg("%s, %s: entry %zu of the top ten is wrong", g->name, where, i);
	}
	expect_certificate(g, where, run);
	free(got);
	return report.hash;
}
