/* SPDX-License-Identifier: Apache-2.0 */
#include "component.h"

const struct finder finders[] = {
	{ "afforest", "cc", false, { MILL_CC_AFFOREST } },
	{ "hooking", "cc", false, { MILL_CC_HOOKING } },
	{ "labels", "cc", false, { MILL_CC_LABELS } },
	{ "strong", "scc", true, { 0 } },
};
const size_t n_finders = ARRAY_LEN(finders);

mill_err finder_call(const struct finder *f, mill_run *run)
{
	return f->strong ? mill_scc(run) : mill_cc(run, &f->how);
}

static void *array(u64 n, size_t size)
{
	void *p = calloc(n + 1, size);

	assert_non_null(p);
	return p;
}

static u32 top_of(u32 *part, u32 v)
{
	while (part[v] != v) {
		part[v] = part[part[v]];
		v = part[v];
	}
	return v;
}

void naive_weak(const struct graph *g, u32 *part)
{
	for (u32 v = 0; v < g->n; v++)
		part[v] = v;
	for (u64 i = 0; i < g->n_arcs; i++) {
		u32 a = top_of(part, g->arc[i].from), b = top_of(part, g->arc[i].to);

		part[a > b ? a : b] = a > b ? b : a;
	}
	for (u32 v = 0; v < g->n; v++)
		part[v] = top_of(part, v);
}

/* Kosaraju: a depth-first search gives the order, then searches go against the edges. */
void naive_strong(const struct graph *g, u32 *part)
{
	u32 *order = array(g->n, sizeof(u32)), *stack = array(g->n, sizeof(u32));
	u32 n_order = 0, depth;
	u64 *at = array(g->n, sizeof(u64)), *in = array((u64)g->n + 1, sizeof(u64));
	u32 *from = array(g->n_stored, sizeof(u32));

	for (u32 v = 0; v < g->n; v++) {
		at[v] = g->row[v];
		part[v] = 0;	/* not visited */
	}
	for (u32 root = 0; root < g->n; root++) {
		if (part[root])
			continue;
		part[root] = 1;
		stack[0] = root;
		for (depth = 1; depth;) {
			u32 u = stack[depth - 1], v;

			if (at[u] == g->row[u + 1u]) {
				order[n_order++] = u;
				depth--;
				continue;
			}
			v = g->stored[at[u]++].to;
			if (!part[v]) {
				part[v] = 1;
				stack[depth++] = v;
			}
		}
	}
	for (u64 i = 0; i < g->n_stored; i++)
		in[g->stored[i].to + 1u]++;
	for (u32 v = 0; v < g->n; v++)
		in[v + 1u] += in[v];
	for (u32 u = 0; u < g->n; u++)
		for (u64 i = g->row[u]; i < g->row[u + 1u]; i++)
			from[in[g->stored[i].to]++] = u;
	for (u32 v = g->n; v; v--)
		in[v] = in[v - 1];
	in[0] = 0;
	for (u32 v = 0; v < g->n; v++)
		part[v] = NONE32;
	for (u32 k = g->n; k--;) {
		u32 least = order[k], n = 0;

		if (part[order[k]] != NONE32)
			continue;
		part[order[k]] = order[k];
		stack[n++] = order[k];
		for (u32 i = 0; i < n; i++)	/* the stack keeps all vertices found */
			for (u64 e = in[stack[i]]; e < in[stack[i] + 1u]; e++)
				if (part[from[e]] == NONE32) {
					part[from[e]] = order[k];
					stack[n++] = from[e];
					least = from[e] < least ? from[e] : least;
				}
		for (u32 i = 0; i < n; i++)
			part[stack[i]] = least;
	}
	free(order);
	free(stack);
	free(at);
	free(in);
	free(from);
}

u32 *parts_of(const struct graph *g, const struct finder *f)
{
	u32 *part = array(g->n, sizeof(*part));

	(f->strong ? naive_strong : naive_weak)(g, part);
	return part;
}

u64 expect_components(const struct graph *g, const char *where, mill_run *run,
		      const struct finder *f, const u32 *part)
{
	u64 *got = array(g->n, sizeof(*got)), components = 0, largest = 0;
	u32 *size = array(g->n, sizeof(*size));
	mill_err err = finder_call(f, run);
	struct mill_report report;

	if (err)
		fail_msg("%s, %s, %s: %d, %s", g->name, f->name, where, (int)err, mill_error());
	OK(mill_run_values(run, "component", false, got, NULL));
	for (u32 v = 0; v < g->n; v++) {
		if (got[v] != graph_id(g, part[v]))
			fail_msg("%s, %s, %s: vertex %u has component %llu, not %llu", g->name,
				 f->name, where, v, (unsigned long long)got[v],
				 (unsigned long long)graph_id(g, part[v]));
		components += part[v] == v;
		size[part[v]]++;
		largest = max_u64(largest, size[part[v]]);
	}
	if (fact_of(run, "components")->u64 != components ||
	    fact_of(run, "largest")->u64 != largest)
		fail_msg("%s, %s, %s: %llu components, the largest of %llu, not %llu of %llu",
			 g->name, f->name, where,
			 (unsigned long long)fact_of(run, "components")->u64,
			 (unsigned long long)fact_of(run, "largest")->u64,
			 (unsigned long long)components, (unsigned long long)largest);
	err = mill_run_check(run);
	if (err)
		fail_msg("%s, %s, %s: the certificate fails: %s", g->name, f->name, where,
			 mill_error());
	mill_run_report(run, &report);
	if (report.memory_peak > report.memory_budget || report.device_peak > report.device_budget)
		fail_msg("%s, %s, %s: the peak is above the budget", g->name, f->name, where);
	free(got);
	free(size);
	return report.hash;
}
