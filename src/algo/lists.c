/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists in memory for one thread: the resident lists themselves, or a small subgraph of a
 * streamed graph.
 */
#include "algo/scc.h"

u64 lists_most(const struct store *st) { return st->n_linked + 4096; }

u64 lists_bytes(const struct store *st)
{
	return (st->n_linked + 1) * sizeof(u32) + lists_most(st) * sizeof(vid);
}

struct extract_ctx {
	u32 *row;		/* at u + 1: the number of u's edges, then the place of the next */
	vid *neighbour;		/* NULL: edges are counted */
	bool (*active)(void *arg, u64 begin, u64 end);
	bool (*inner)(void *arg, vid u, vid v);
	void *arg;
};

static mill_err extract_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			     unsigned worker)
{
	struct extract_ctx *x = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		vid u = (vid)(seg->first + row);

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u32 at;

			if (!x->inner(x->arg, u, seg->neighbour[i]))
				continue;
			at = __atomic_fetch_add(&x->row[u + 1u], 1, __ATOMIC_RELAXED);
			if (x->neighbour)
				x->neighbour[at] = seg->neighbour[i];
		}
	}
	return MILL_OK;
}

static bool is_active(void *arg, u64 begin, u64 end)
{
	struct extract_ctx *x = arg;

	return x->active(x->arg, begin, end);
}

/*
 * Turns counts into beginnings: row[v + 1] becomes the beginning of v's list. Filling the
 * list moves it to the end of v's list, where row[v + 1] must be. Returns the sum.
 */
static u64 begin_rows(u32 *row, u64 n)
{
	u64 sum = 0;

	for (u64 v = 0; v < n; v++) {
		u32 count = row[v + 1];

		row[v + 1] = (u32)sum;
		sum += count;
	}
	return sum;
}

static mill_err extract(struct mill_run *r, struct lists *l, bool in, struct extract_ctx *x)
{
	struct pass pass = {
		.in = in, .active = x->active ? is_active : NULL, .work = extract_rows, .arg = x
	};
	u64 n = r->store->n_linked, edges;
	struct mill_step step = { 0 };
	f64 began = clock_now();

	TRY(memory_new(&l->row, &r->budget, n + 1, sizeof(u32), "the rows of the remaining graph"));
	x->row = l->row;
	TRY(run_pass(r, &pass, &step));
	edges = begin_rows(l->row, n);
	if (edges > lists_most(r->store))
		return fail(MILL_EBUG, "%llu edges are too many to extract",
			    (unsigned long long)edges);
	TRY(memory_new(&l->neighbour, &r->budget, edges, sizeof(vid),
		       "the edges of the remaining graph"));
	x->neighbour = l->neighbour;
	TRY(run_pass(r, &pass, &step));
	step.direction = "scan";
	step.frontier = n;
	step.edges = edges;
	ledger_add(&r->ledger, &step, began);
	l->own = (struct segment){
		.n_rows = (vid)n, .n_edges = (u32)edges, .row = l->row, .neighbour = l->neighbour
	};
	l->segment = &l->own;
	l->n_segments = 1;
	return MILL_OK;
}

mill_err lists_get(struct mill_run *r, struct lists *out, bool in,
		   bool (*active)(void *arg, u64 begin, u64 end),
		   bool (*inner)(void *arg, vid u, vid v), void *arg)
{
	const struct topology *t = run_direction(r, in);
	struct extract_ctx x = { .active = active, .inner = inner, .arg = arg };
	mill_err err;

	*out = (struct lists){ .segment = t->segment, .n_segments = t->n_segments };
	if (t->resident)
		return MILL_OK;
	err = extract(r, out, in, &x);
	if (err)
		lists_release(out);
	return err;
}

void lists_release(struct lists *l)
{
	memory_free(l->neighbour);
	memory_free(l->row);
	l->neighbour = NULL;
	l->row = NULL;
}

vid lists_at(const struct lists *l, vid v, u64 i)
{
	for (u32 k = 0; k < l->n_segments; k++) {
		const struct segment *s = &l->segment[k];
		u64 row = (u64)v - s->first, n;

		if (v < s->first || row >= s->n_rows)
			continue;
		n = s->row[row + 1] - s->row[row];
		if (i < n)
			return s->neighbour[s->row[row] + i];
		i -= n;
	}
	return NO_VERTEX;
}
