/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-cores of a graph that is streamed from disk. Peeling would read it several times for
 * every k. Here every vertex has an upper bound of its core number, at first its degree. It
 * lowers the bound to the largest h such that h neighbours have a bound of at least h
 * (Montresor, De Pellegrini, Miorandi, TPDS 2013; on disk: Wen et al., ICDE 2016). Only
 * vertices with a neighbour that was lowered are looked at again, and only their pages are
 * read. There is one fixed point, the core numbers, for any order.
 *
 * Neighbours are counted by how far their bounds lie below the vertex's own, in STEPS
 * counters that become coarser with the distance. The new bound that follows is never too
 * low, and it equals the old one only if that is right, so repeating leads to the fixed
 * point. So the pieces of a list that spans pages can be counted one by one, in little
 * memory.
 */
#include <string.h>

#include "algo/kcore.h"
#include "base/bitmap.h"

#define FINE 64u		/* counters of one value each */
#define PER_OCTAVE 8u
#define STEPS (FINE + PER_OCTAVE * 26u)

/* A list that spans pages. */
struct split {
	vid vertex;
	bool lowered;		/* in the last pass; its neighbours are activated in this one */
	u32 count[STEPS];
};

struct settle_ctx {
	struct mill_run *run;
	u32 *core;
	const u64 *bits;	/* vertices that look at their neighbours in this pass */
	u64 *next;		/* vertices that look at them in the next pass */
	struct split *split;	/* in the order of the vertices */
	u64 n_splits;
	u64 edges, updates;	/* atomic */
};

/* Returns the counter of a bound that lies d below the vertex's. */
static u32 step_of(u32 d)
{
	u32 octave;

	if (d < FINE)
		return d;
	octave = 25 - (u32)__builtin_clz(d);
	return FINE + PER_OCTAVE * octave + (d >> (octave + 3)) % PER_OCTAVE;
}

/* Returns the smallest d of a counter. */
static u64 step_begin(u32 step)
{
	if (step < FINE)
		return step;
	step -= FINE;
	return (u64)(PER_OCTAVE + step % PER_OCTAVE) << (step / PER_OCTAVE + 3);
}

/* Returns the bound that follows from the counts of the neighbours. */
static u32 lower(u32 bound, const u32 *count)
{
	u64 above = 0;

	for (u32 step = 0;; step++) {
		u64 last = step_begin(step + 1) - 1;	/* the largest d of this counter */

		above += count[step];
		if (last >= bound || above >= bound - last)
			return (u32)min_u64(bound - step_begin(step), above);
	}
}

static void count_neighbours(const struct settle_ctx *s, const vid *neighbour, u32 n, u32 bound,
			     u32 *count, bool shared)
{
	for (u32 i = 0; i < n; i++) {
		u32 other = __atomic_load_n(&s->core[neighbour[i]], __ATOMIC_RELAXED);
		u32 step = other < bound ? step_of(bound - other) : 0;

		if (shared)
			__atomic_fetch_add(&count[step], 1, __ATOMIC_RELAXED);
		else
			count[step]++;
	}
}

/*
 * Activates the neighbours that have a larger bound: they must look again. Bounds only
 * fall, so a stale bound read here activates a vertex too often, never too seldom.
 */
static void notify_neighbours(const struct settle_ctx *s, const vid *neighbour, u32 n, u32 bound)
{
	for (u32 i = 0; i < n; i++)
		if (__atomic_load_n(&s->core[neighbour[i]], __ATOMIC_RELAXED) > bound)
			bitmap_claim(s->next, neighbour[i]);
}

static void settle_row(const struct settle_ctx *s, vid v, const vid *neighbour, u32 n, u64 *updates)
{
	u32 before = s->core[v], bound = before, count[STEPS];

	for (;;) {
		u32 next, enough = 0;

		/* In most cases the bound stays. */
		for (u32 i = 0; i < n && enough < bound; i++)
			enough += __atomic_load_n(&s->core[neighbour[i]], __ATOMIC_RELAXED) >=
				  bound;
		if (enough >= bound)
			break;
		memset(count, 0, sizeof(count));
		count_neighbours(s, neighbour, n, bound, count, false);
		next = lower(bound, count);
		if (next == bound)
			break;
		bound = next;
	}
	if (bound == before)
		return;
	__atomic_store_n(&s->core[v], bound, __ATOMIC_RELAXED);
	notify_neighbours(s, neighbour, n, bound);
	++*updates;
}

static struct split *find_split(const struct settle_ctx *s, vid v)
{
	u64 low = 0, high = s->n_splits;

	while (high - low > 1) {
		u64 middle = (low + high) / 2;

		if (s->split[middle].vertex <= v)
			low = middle;
		else
			high = middle;
	}
	return &s->split[low];
}

static mill_err settle_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			    unsigned worker)
{
	struct settle_ctx *s = arg;
	u64 first = (u64)seg->first + begin, last = (u64)seg->first + end, edges = 0, updates = 0;

	(void)page;
	(void)worker;
	for (u64 w = first / 64; w < div_up(last, 64); w++)
		for (u64 word = bitmap_window(s->bits, w, first, last); word; word &= word - 1) {
			u64 v = w * 64 + (u64)__builtin_ctzll(word);
			vid row = (vid)(v - seg->first);
			const vid *neighbour = seg->neighbour + seg->row[row];
			u32 n = seg->row[row + 1] - seg->row[row];

			edges += n;
			if (segment_row_is_partial(seg, row)) {
				struct split *split = find_split(s, (vid)v);

				if (split->lowered)
					notify_neighbours(s, neighbour, n, s->core[v]);
				count_neighbours(s, neighbour, n, s->core[v], split->count, true);
			} else {
				settle_row(s, (vid)v, neighbour, n, &updates);
			}
		}
	__atomic_fetch_add(&s->edges, edges, __ATOMIC_RELAXED);
	__atomic_fetch_add(&s->updates, updates, __ATOMIC_RELAXED);
	return MILL_OK;
}

static bool is_active(void *arg, u64 begin, u64 end)
{
	return bitmap_any(((const struct settle_ctx *)arg)->bits, begin, end);
}

/*
 * Lowers the bounds of vertices with lists that span pages. Their neighbours are activated
 * in the next pass.
 */
static void settle_splits(struct settle_ctx *s)
{
	for (u64 i = 0; i < s->n_splits; i++) {
		struct split *split = &s->split[i];
		u32 bound = s->core[split->vertex], next;

		split->lowered = false;
		if (!bitmap_get(s->bits, split->vertex))
			continue;
		next = lower(bound, split->count);
		memset(split->count, 0, sizeof(split->count));
		if (next == bound)
			continue;
		s->core[split->vertex] = next;
		split->lowered = true;
		bitmap_claim(s->next, split->vertex);
		s->updates++;
	}
}

/* Returns an upper bound of the lists that span pages: each has at least a block of neighbours. */
static u64 most_splits(const struct mill_run *r)
{
	const struct store *st = r->store;
	u64 edges = view_edges(st);

	return min_u64(edges / LIST_BLOCK, 2 * (edges * sizeof(vid) / st->page_size) + 2) + 1;
}

u64 kcore_settle_bytes(const struct mill_run *r)
{
	return most_splits(r) * sizeof(struct split) + 64 * KIB;
}

static mill_err find_splits(struct settle_ctx *s)
{
	const struct pages *p = run_direction(s->run, false)->pages;
	struct vec *vec;

	TRY(run_vec_host(s->run, &vec, "lists that span pages", p->n_split + 1u,
			 sizeof(struct split)));
	s->split = vec->buffer.host;
	for (u32 i = 0; i < p->n_pages; i++) {
		vid v = (vid)p->entry[i].first_vertex;

		if (p->entry[i].skip && (!s->n_splits || s->split[s->n_splits - 1].vertex != v))
			s->split[s->n_splits++].vertex = v;
	}
	return MILL_OK;
}

mill_err kcore_settle(struct mill_run *r, struct vec *core, struct frontier *front)
{
	struct settle_ctx s = { .run = r, .core = core->buffer.host };
	struct pass pass = { .active = is_active, .work = settle_rows, .arg = &s };

	TRY(find_splits(&s));
	TRY(frontier_set_all(front, r->store->n_linked));
	while (front->n) {
		struct mill_step step = { .frontier = front->n, .direction = "scan" };
		f64 began = clock_now();

		run_announce(r, "pass %llu", r->ledger.total.step + 1);
		TRY(frontier_bits(front, &s.bits));
		s.next = front->next_bits->buffer.host;
		s.edges = s.updates = 0;
		TRY(run_pass(r, &pass, &step));
		settle_splits(&s);
		TRY(frontier_turn(front, true, false, bitmap_count(s.next, 0, r->store->n_linked)));
		step.edges = s.edges;
		step.updates = s.updates;
		ledger_add(&r->ledger, &step, began);
	}
	return MILL_OK;
}
