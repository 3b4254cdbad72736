/* SPDX-License-Identifier: Apache-2.0 */
#include "expect.h"

#include <math.h>

#define RELATIVE 1e-9

/*
 * Adds the contribution of one source. Path counts up to 2^16383 fit. score[n] counts the
 * traversed edges, forward and back.
 */
static void naive_source(const struct graph *g, u32 root, f64 *score)
{
	long double *paths = calloc(g->n, sizeof(*paths)), *given = calloc(g->n, sizeof(*given));
	u32 *depth = malloc(g->n * sizeof(*depth)), *queue = calloc(g->n, sizeof(*queue)), tail = 0;

	memset(depth, 0xff, g->n * sizeof(*depth));
	depth[root] = 0;
	paths[root] = 1;
	queue[tail++] = root;
	for (u32 head = 0; head < tail; head++)
		for (u64 i = g->row[queue[head]]; i < g->row[queue[head] + 1u]; i++) {
			u32 v = g->stored[i].to;

			if (depth[v] == NONE32) {
				depth[v] = depth[queue[head]] + 1;
				queue[tail++] = v;
			}
			if (depth[v] == depth[queue[head]] + 1)
				paths[v] += paths[queue[head]];
		}
	while (tail--) {
		u32 u = queue[tail];

		score[g->n] += 2 * (f64)(g->row[u + 1u] - g->row[u]);
		for (u64 i = g->row[u]; i < g->row[u + 1u]; i++) {
			u32 v = g->stored[i].to;

			if (depth[v] == depth[u] + 1)
				given[u] += paths[u] / paths[v] * (1 + given[v]);
		}
		if (u != root)
			score[u] += (f64)given[u];
	}
	free(paths);
	free(given);
	free(depth);
	free(queue);
}

f64 *naive_bc(const struct graph *g, const u32 *root, u32 n)
{
	f64 *score = calloc(g->n + 1u, sizeof(*score));

	for (u32 i = 0; i < (root ? n : g->n); i++)
		naive_source(g, root ? root[i] : i, score);
	for (u32 v = 0; !root && g->undirected && v < g->n; v++)
		score[v] /= 2;
	return score;
}

u64 expect_bc(const struct graph *g, const char *where, mill_run *run,
	      const struct mill_bc *how, const f64 *want)
{
	mill_err err = mill_bc(run, how);
	struct mill_report report;
	f64 *got;

	if (err)
		fail_msg("%s, %s: bc: %d, %s", g->name, where, (int)err, mill_error());
	got = calloc(g->n + 1u, sizeof(*got));
	OK(mill_run_values(run, "score", false, got, NULL));
	for (u32 v = 0; v < g->n; v++)
		if (!(fabs(got[v] - want[v]) <= RELATIVE * want[v]))
			fail_msg("%s, %s: vertex %u has score %.17g, not %.17g", g->name, where,
				 v, got[v], want[v]);
	if (mill_run_check(run))
		fail_msg("%s, %s: the certificate fails: %s", g->name, where, mill_error());
	mill_run_report(run, &report);
	if (report.edges_traversed != (u64)want[g->n])
		fail_msg("%s, %s: %llu edges were traversed, not %.0f", g->name, where,
			 (unsigned long long)report.edges_traversed, want[g->n]);
	if (report.memory_peak > report.memory_budget || report.device_peak > report.device_budget)
		fail_msg("%s, %s: the peak is above the budget", g->name, where);
	free(got);
	return report.hash;
}

void write_sources(const struct graph *g, const u32 *root, u32 n, char *to, size_t size)
{
	*to = 0;
	for (u32 i = 0; i < n; i++)
		snprintf(to + strlen(to), size - strlen(to), "%s%llu", i ? "," : "",
			 (unsigned long long)graph_id(g, root[i]));
}
