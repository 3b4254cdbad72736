/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of strong components. Each component is named after the smallest id in
 * it. The vertex of that id reaches all others of its component, and all reach it, without
 * leaving the component. And the components have an order that all edges between them
 * follow, so no two of them are really one. If the lists are in memory or fit, plain
 * searches check this, else passes that are repeated until nothing changes.
 */
#include "algo/scc.h"

struct scc_check {
	struct mill_run *run;
	const u32 *name;	/* ranks */
	const vid *rank;
	u64 n, n_components;

	/* Searches. */
	u64 *seen;
	u32 *stack;
	u64 *incoming;		/* by component: edges into it from others that are not removed */
	u32 *start, *member;	/* the vertices of each component */

	/* Passes. */
	u64 *now, *next;
	u32 *level;
	bool changed;		/* atomic */
};

u64 scc_check_bytes(const struct store *st)
{
	return (st->n_linked + 1) * (sizeof(u64) + 3 * sizeof(u32)) +
	       3 * bitmap_words(st->n_linked) * sizeof(u64);
}

static mill_err check_seen(const struct scc_check *c, bool in)
{
	for (u64 v = 0; v < c->n; v++)
		if (!bitmap_get(c->seen, v))
			return check_wrong(
				c->run, v,
				in ? "it does not lead to the first vertex of its component"
				   : "the first vertex of its component does not lead to it");
	return MILL_OK;
}

static bool is_first(const struct scc_check *c, u64 v) { return c->name[v] == c->rank[v]; }

/* ---- Searches in memory ---- */

static mill_err search(struct scc_check *c, const struct lists *l, bool in)
{
	u64 depth = 0;

	for (u64 w = 0; w < bitmap_words(c->n); w++)
		c->seen[w] = 0;
	for (u64 v = 0; v < c->n; v++)
		if (is_first(c, v)) {
			bitmap_put(c->seen, v);
			c->stack[depth++] = (u32)v;
		}
	while (depth) {
		u32 u = c->stack[--depth];
		vid v;

		for (u64 i = 0; (v = lists_at(l, (vid)u, i)) != NO_VERTEX; i++)
			if (c->name[u] == c->name[v] && !bitmap_get(c->seen, v)) {
				bitmap_put(c->seen, v);
				c->stack[depth++] = v;
			}
	}
	return check_seen(c, in);
}

static void list_members(struct scc_check *c)
{
	u32 at = 0;

	for (u64 v = 0; v < c->n; v++)
		c->start[c->name[v]]++;
	for (u64 k = 0; k < c->n; k++) {
		u32 size = c->start[k];

		c->start[k] = at;
		at += size;
	}
	for (u64 v = 0; v < c->n; v++)
		c->member[c->start[c->name[v]]++] = (u32)v;
	/* Filling has moved each start to the end of its component. */
	for (u64 k = c->n; k; k--)
		c->start[k] = c->start[k - 1];
	c->start[0] = 0;
}

/*
 * Removes components without incoming edges until none is left. A circle of components is
 * never removed.
 */
static mill_err peel(struct scc_check *c, const struct lists *l)
{
	u64 taken = 0, waiting = 0;
	vid v;

	list_members(c);
	for (u64 u = 0; u < c->n; u++)
		for (u64 i = 0; (v = lists_at(l, (vid)u, i)) != NO_VERTEX; i++)
			c->incoming[c->name[v]] += c->name[u] != c->name[v];
	for (u64 u = 0; u < c->n; u++)
		if (is_first(c, u) && !c->incoming[c->name[u]])
			c->stack[waiting++] = c->name[u];
	for (; waiting; taken++) {
		u32 k = c->stack[--waiting];

		for (u32 m = c->start[k]; m < c->start[k + 1u]; m++)
			for (u64 i = 0; (v = lists_at(l, (vid)c->member[m], i)) != NO_VERTEX; i++)
				if (c->name[v] != k && !--c->incoming[c->name[v]])
					c->stack[waiting++] = c->name[v];
	}
	if (taken != c->n_components)
		return fail(MILL_ECHECK, "%llu components lead to each other and should be fewer",
			    (unsigned long long)(c->n_components - taken));
	return MILL_OK;
}

static bool take_all(void *arg, vid u, vid v)
{
	(void)arg;
	(void)u;
	(void)v;
	return true;
}

static mill_err check_in_memory(struct scc_check *c)
{
	struct budget *b = &c->run->budget;
	struct lists l = { 0 };
	mill_err err;

	TRY(memory_new(&c->stack, b, c->n, sizeof(u32), "the certificate"));
	TRY(memory_new(&c->incoming, b, c->n, sizeof(u64), "the certificate"));
	TRY(memory_new(&c->start, b, c->n + 1, sizeof(u32), "the certificate"));
	TRY(memory_new(&c->member, b, c->n, sizeof(u32), "the certificate"));
	TRY(lists_get(c->run, &l, false, NULL, take_all, NULL));
	err = search(c, &l, false);
	if (!err)
		err = peel(c, &l);
	lists_release(&l);
	if (err)
		return err;
	TRY(lists_get(c->run, &l, true, NULL, take_all, NULL));
	err = search(c, &l, true);
	lists_release(&l);
	return err;
}

/* ---- Passes ---- */

static bool is_active(void *arg, u64 begin, u64 end)
{
	struct scc_check *c = arg;

	return bitmap_any(c->now, begin, end);
}

static mill_err reach_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct scc_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 u = (u64)seg->first + row;

		if (!bitmap_get(c->now, u))
			continue;
		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			vid v = seg->neighbour[i];

			if (c->name[u] == c->name[v] && bitmap_claim(c->seen, v)) {
				bitmap_claim(c->next, v);
				__atomic_store_n(&c->changed, true, __ATOMIC_RELAXED);
			}
		}
	}
	return MILL_OK;
}

static mill_err reach_by_passes(struct scc_check *c, bool in)
{
	struct pass pass = { .in = in, .active = is_active, .work = reach_rows, .arg = c };
	struct mill_step step = { 0 };
	u64 words = bitmap_words(c->n);

	for (u64 w = 0; w < words; w++)
		c->seen[w] = c->now[w] = c->next[w] = 0;
	for (u64 v = 0; v < c->n; v++)
		if (is_first(c, v)) {
			bitmap_put(c->seen, v);
			bitmap_put(c->now, v);
		}
	do {
		c->changed = false;
		TRY(run_pass(c->run, &pass, &step));
		for (u64 w = 0; w < words; w++) {
			c->now[w] = c->next[w];
			c->next[w] = 0;
		}
	} while (c->changed);
	return check_seen(c, in);
}

/*
 * Computes the level of each component: the longest path to it over other components.
 * Levels grow without end if components form a circle.
 */
static mill_err level_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct scc_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u32 from = c->name[seg->first + row];

		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u32 to = c->name[seg->neighbour[i]], over, old;

			if (from == to)
				continue;
			over = __atomic_load_n(&c->level[from], __ATOMIC_RELAXED) + 1;
			old = __atomic_load_n(&c->level[to], __ATOMIC_RELAXED);
			while (old < over &&
			       !__atomic_compare_exchange_n(&c->level[to], &old, over, true,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
				;
			if (over >= c->n_components)
				return fail(MILL_ECHECK,
					    "components lead to each other and should be fewer");
			if (old < over)
				__atomic_store_n(&c->changed, true, __ATOMIC_RELAXED);
		}
	}
	return MILL_OK;
}

static mill_err check_by_passes(struct scc_check *c)
{
	struct pass pass = { .work = level_rows, .arg = c };
	struct budget *b = &c->run->budget;
	struct mill_step step = { 0 };

	TRY(memory_new(&c->now, b, bitmap_words(c->n), sizeof(u64), "the certificate"));
	TRY(memory_new(&c->next, b, bitmap_words(c->n), sizeof(u64), "the certificate"));
	TRY(memory_new(&c->level, b, c->n, sizeof(u32), "the certificate"));
	TRY(reach_by_passes(c, false));
	TRY(reach_by_passes(c, true));
	do {
		c->changed = false;
		TRY(run_pass(c->run, &pass, &step));
	} while (c->changed);
	return MILL_OK;
}

static mill_err check_strong(struct mill_run *r, const u32 *name, const vid *rank)
{
	struct scc_check c = { .run = r, .name = name, .rank = rank, .n = r->store->n_linked };
	bool fits = run_direction(r, false)->resident ||
		    r->store->stored_edges <= lists_most(r->store);
	mill_err err;

	TRY(component_check_names(r, name, rank, &c.n_components));
	TRY(memory_new(&c.seen, &r->budget, bitmap_words(c.n), sizeof(u64), "the certificate"));
	err = fits ? check_in_memory(&c) : check_by_passes(&c);
	memory_free(c.level);
	memory_free(c.next);
	memory_free(c.now);
	memory_free(c.member);
	memory_free(c.start);
	memory_free(c.incoming);
	memory_free(c.stack);
	memory_free(c.seen);
	return err;
}

mill_err scc_check(struct mill_run *r) { return component_check(r, check_strong); }
