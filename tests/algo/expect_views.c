/* SPDX-License-Identifier: Apache-2.0 */
/* Cores, triangles and label propagation, computed the slow and obvious way. */
#include <math.h>

#include "expect.h"

static void *array(u64 n, size_t size)
{
	void *p = calloc(n + 1, size);

	assert_non_null(p);
	return p;
}

/* ---- The undirected simple graph ---- */

struct simple {
	u64 *row;
	u32 *to;
	u32 *arcs;	/* 1 or 2: the directions in which the edge exists */
};

struct half {
	u32 from, to, direction;
};

static int by_ends(const void *a, const void *b)
{
	const struct half *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static struct simple make_simple(const struct graph *g)
{
	struct half *half = array(2 * g->n_arcs, sizeof(*half));
	struct simple s = {
		.row = array(g->n + 1u, sizeof(u64)),
		.to = array(2 * g->n_arcs, sizeof(u32)),
		.arcs = array(2 * g->n_arcs, sizeof(u32)),
	};
	u64 n = 0, m = 0;

	for (u64 i = 0; i < g->n_arcs; i++) {
		if (g->arc[i].from == g->arc[i].to)
			continue;
		half[n++] = (struct half){ g->arc[i].from, g->arc[i].to, g->undirected ? 3 : 1 };
		half[n++] = (struct half){ g->arc[i].to, g->arc[i].from, g->undirected ? 3 : 2 };
	}
	qsort(half, n, sizeof(*half), by_ends);
	for (u64 i = 0; i < n; m++) {
		u32 directions = 0, from = half[i].from, to = half[i].to;

		for (; i < n && half[i].from == from && half[i].to == to; i++)
			directions |= half[i].direction;
		s.to[m] = to;
		s.arcs[m] = directions == 3 ? 2 : 1;
		s.row[from + 1u] = m + 1;
	}
	for (u32 v = 0; v < g->n; v++)
		if (!s.row[v + 1u])
			s.row[v + 1u] = s.row[v];
	free(half);
	return s;
}

static void free_simple(struct simple *s)
{
	free(s->row);
	free(s->to);
	free(s->arcs);
}

/* Returns the number of arcs between two vertices. */
static u32 arcs_between(const struct simple *s, u32 u, u32 v)
{
	u64 low = s->row[u], high = s->row[u + 1u];

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (s->to[middle] == v)
			return s->arcs[middle];
		if (s->to[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

static u64 degree_of(const struct simple *s, u32 v) { return s->row[v + 1u] - s->row[v]; }

/* ---- Answers ---- */

void naive_kcore(const struct graph *g, u32 *core)
{
	struct simple s = make_simple(g);
	u32 *left = array(g->n, sizeof(*left)), *stack = array(g->n, sizeof(*stack)), gone = 0;

	for (u32 v = 0; v < g->n; v++) {
		left[v] = (u32)degree_of(&s, v);
		core[v] = NONE32;
	}
	for (u32 k = 0; gone < g->n; k++) {
		u32 n = 0;

		for (u32 v = 0; v < g->n; v++)
			if (core[v] == NONE32 && left[v] <= k) {
				core[v] = k;
				stack[n++] = v;
			}
		while (n) {
			u32 v = stack[--n];

			gone++;
			for (u64 i = s.row[v]; i < s.row[v + 1u]; i++)
				if (core[s.to[i]] == NONE32 && --left[s.to[i]] <= k) {
					core[s.to[i]] = k;
					stack[n++] = s.to[i];
				}
		}
	}
	free(left);
	free(stack);
	free_simple(&s);
}

void naive_triangles(const struct graph *g, u64 *count, f64 *lcc, f64 *arc_lcc)
{
	struct simple s = make_simple(g);
	u64 *arcs = array(g->n, sizeof(*arcs));

	memset(count, 0, g->n * sizeof(*count));
	for (u32 u = 0; u < g->n; u++)
		for (u64 i = s.row[u]; i < s.row[u + 1u]; i++) {
			u32 v = s.to[i], few = degree_of(&s, u) < degree_of(&s, v) ? u : v;
			u32 other = u ^ v ^ few;

			for (u64 j = s.row[few]; v > u && j < s.row[few + 1u]; j++) {
				u32 w = s.to[j], far = w > v ? arcs_between(&s, other, w) : 0;

				if (!far)
					continue;
				count[u]++;
				count[v]++;
				count[w]++;
				arcs[w] += s.arcs[i];
				arcs[few] += far;
				arcs[other] += s.arcs[j];
			}
		}
	for (u32 v = 0; v < g->n; v++) {
		f64 pairs = (f64)degree_of(&s, v) * ((f64)degree_of(&s, v) - 1);

		lcc[v] = pairs > 0 ? 2 * (f64)count[v] / pairs : 0;
		arc_lcc[v] = pairs > 0 ? (f64)arcs[v] / pairs : 0;
	}
	free(arcs);
	free_simple(&s);
}

static int by_label(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static u32 naive_mode(u32 *label, u64 n, u32 own)
{
	u64 best = 0, run = 0;

	qsort(label, n, sizeof(*label), by_label);
	for (u64 i = 0; i < n; i++) {
		run = i && label[i] == label[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			own = label[i];
		}
	}
	return own;
}

u32 naive_cdlp(const struct graph *g, u32 most, u32 *label)
{
	u32 *next = array(g->n, sizeof(*next)), *to = array(2 * g->n_arcs, sizeof(*to));
	u32 *around, rounds = 0;
	u64 *row = array(g->n + 2u, sizeof(*row)), longest = 0;
	bool changed = true;

	for (u64 i = 0; i < g->n_arcs; i++) {
		row[g->arc[i].from + 2u]++;
		if (!g->undirected || g->arc[i].from != g->arc[i].to)
			row[g->arc[i].to + 2u]++;
	}
	for (u32 v = 0; v < g->n; v++) {
		longest = max_u64(longest, row[v + 2u]);
		row[v + 2u] += row[v + 1u];
		label[v] = v;
	}
	for (u64 i = 0; i < g->n_arcs; i++) {
		to[row[g->arc[i].from + 1u]++] = g->arc[i].to;
		if (!g->undirected || g->arc[i].from != g->arc[i].to)
			to[row[g->arc[i].to + 1u]++] = g->arc[i].from;
	}
	around = array(longest, sizeof(*around));
	for (; changed && rounds < most; rounds++) {
		changed = false;
		for (u32 v = 0; v < g->n; v++) {
			u64 n = 0;

			for (u64 i = row[v]; i < row[v + 1u]; i++)
				around[n++] = label[to[i]];
			next[v] = naive_mode(around, n, label[v]);
			changed |= next[v] != label[v];
		}
		memcpy(label, next, g->n * sizeof(*label));
	}
	free(around);
	free(row);
	free(to);
	free(next);
	return rounds;
}

/* ---- Runs ---- */

static void expect_frame(const struct graph *g, const char *where, mill_run *run)
{
	struct mill_report report;

	mill_run_report(run, &report);
	if (report.memory_peak > report.memory_budget || report.device_peak > report.device_budget)
		fail_msg("%s, %s: the peak is above the budget", g->name, where);
	if (mill_run_check(run))
		fail_msg("%s, %s: the certificate fails: %s", g->name, where, mill_error());
}

static void expect_is(const struct graph *g, const char *where, const char *what, u64 got, u64 want)
{
	if (got != want)
		fail_msg("%s, %s: %s is %llu, not %llu", g->name, where, what,
			 (unsigned long long)got, (unsigned long long)want);
}

u64 expect_kcore(const struct graph *g, const char *where, mill_run *run)
{
	u32 *want = array(g->n, sizeof(*want)), *got = array(g->n, sizeof(*got));
	u32 largest = 0, size = 0;
	mill_err err = mill_kcore(run);

	if (err)
		fail_msg("%s, %s: kcore: %d, %s", g->name, where, (int)err, mill_error());
	naive_kcore(g, want);
	OK(mill_run_values(run, "core", false, got, NULL));
	for (u32 v = 0; v < g->n; v++) {
		if (got[v] != want[v])
			fail_msg("%s, %s: vertex %u has core %u, not %u", g->name, where, v,
				 got[v], want[v]);
		if (want[v] > largest)
			size = 0;
		largest = want[v] > largest ? want[v] : largest;
		size += want[v] == largest;
	}
	expect_is(g, where, "max_core", fact_of(run, "max_core")->u64, largest);
	expect_is(g, where, "core_size", fact_of(run, "core_size")->u64, size);
	expect_frame(g, where, run);
	free(want);
	free(got);
	return hash_of(run);
}

u64 expect_triangles(const struct graph *g, const char *where, mill_run *run, enum mill_lcc kind)
{
	u64 *want = array(g->n, sizeof(*want)), *got = array(g->n, sizeof(*got)), sum = 0;
	f64 *lcc = array(g->n, sizeof(*lcc)), *arc_lcc = array(g->n, sizeof(*lcc));
	f64 *none = array(g->n, sizeof(*lcc)), *share = array(g->n, sizeof(*lcc));
	const f64 *const of_kind[] = {
		[MILL_LCC_NONE] = none,
		[MILL_LCC_UNDIRECTED] = lcc,
		[MILL_LCC_DIRECTED] = arc_lcc,
	};
	mill_err err = mill_triangles(run, &(struct mill_triangles){ .lcc = kind });
	f64 average = 0;

	if (err)
		fail_msg("%s, %s: triangles: %d, %s", g->name, where, (int)err, mill_error());
	naive_triangles(g, want, lcc, arc_lcc);
	OK(mill_run_values(run, "triangles", false, got, NULL));
	if (kind)
		OK(mill_run_values(run, "lcc", false, share, NULL));
	for (u32 v = 0; v < g->n; v++) {
		f64 expected = of_kind[kind][v];

		if (got[v] != want[v])
			fail_msg("%s, %s: vertex %u has %llu triangles, not %llu", g->name,
				 where, v, (unsigned long long)got[v],
				 (unsigned long long)want[v]);
		if (!(fabs(share[v] - expected) < 1e-12))
			fail_msg("%s, %s: vertex %u has a coefficient of %.17g, not %.17g",
				 g->name, where, v, share[v], expected);
		sum += want[v];
		average += expected / g->n;
	}
	expect_is(g, where, "triangles", fact_of(run, "triangles")->u64, sum / 3);
	if (kind && !(fabs(fact_of(run, "average_lcc")->f64 - average) < 1e-9))
		fail_msg("%s, %s: the average coefficient is wrong", g->name, where);
	expect_frame(g, where, run);
	free(want);
	free(got);
	free(lcc);
	free(arc_lcc);
	free(none);
	free(share);
	return hash_of(run);
}

u64 expect_cdlp(const struct graph *g, const char *where, mill_run *run, u32 iterations)
{
	u32 *want = array(g->n, sizeof(*want)), rounds;
	u64 *got = array(g->n, sizeof(*got));
	mill_err err = mill_cdlp(run, &(struct mill_cdlp){ iterations });
	struct mill_report report;

	/* A narrow build cannot hold the arcs in both directions. */
	if (!g->undirected && g->n_arcs > MAX_EDGES / 2) {
		assert_int_equal(err, MILL_ELIMIT);
		free(want);
		free(got);
		return 0;
	}
	if (err)
		fail_msg("%s, %s: cdlp: %d, %s", g->name, where, (int)err, mill_error());
	rounds = naive_cdlp(g, iterations, want);
	OK(mill_run_values(run, "community", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (got[v] != graph_id(g, want[v]))
			fail_msg(
				"%s, %s: after %u iterations vertex %u has label %llu, not %llu",
				g->name, where, rounds, v, (unsigned long long)got[v],
				(unsigned long long)graph_id(g, want[v]));
	mill_run_report(run, &report);
	expect_is(g, where, "iterations", report.iterations, g->n ? rounds : report.iterations);
	expect_frame(g, where, run);
	free(want);
	free(got);
	return hash_of(run);
}
