/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tarjan's strong components (1972) without recursion. A vertex goes to the stack of
 * components only when the search leaves it, as in Pearce (2016). So a vertex is on that
 * stack or on the search's, never on both, and one array holds both stacks.
 */
#include "algo/scc.h"

struct search_ctx {
	const struct lists *lists;
	u32 *root;
	const u32 *colour;
	u32 *low;		/* by vertex: the smallest number it leads back to; 0: not seen */
	u32 *next;		/* by vertex: the index of its next edge */
	/*
	 * From 0 up: the search's stack. From n - 1 down: vertices that are left but have
	 * no component yet.
	 */
	u32 *stack;
	u64 *lowered;		/* by vertex: it leads back to a vertex that was seen before it */
	u64 depth, waiting;	/* end of the search's stack, beginning of the other stack */
	u64 n;
	u32 seen;		/* vertices seen */
};

u64 scc_finish_bytes(const struct store *st)
{
	return st->n_linked * 3 * sizeof(u32) + bitmap_words(st->n_linked) * sizeof(u64);
}

static void enter(struct search_ctx *s, u32 v)
{
	s->low[v] = ++s->seen;
	s->stack[s->depth++] = v;
}

/*
 * Leaves v, when all of its edges have been followed. If v is the first vertex of its
 * component, the component is complete; else v waits until the search leaves that vertex.
 */
static void leave(struct search_ctx *s, u32 v)
{
	s->depth--;
	if (bitmap_get(s->lowered, v)) {
		s->stack[--s->waiting] = v;
		return;
	}
	while (s->waiting < s->n && s->low[s->stack[s->waiting]] >= s->low[v])
		s->root[s->stack[s->waiting++]] = v;
	s->root[v] = v;
}

static void search_from(struct search_ctx *s, u32 start)
{
	enter(s, start);
	while (s->depth) {
		u32 v = s->stack[s->depth - 1];
		vid w = lists_at(s->lists, (vid)v, s->next[v]);

		if (w == NO_VERTEX) {
			leave(s, v);
			continue;
		}
		if (s->root[w] != UINT32_MAX || s->colour[w] != s->colour[v] || w == v) {
			s->next[v]++;
		} else if (!s->low[w]) {
			enter(s, w);	/* the edge is looked at again after w is left */
		} else {
			if (s->low[w] < s->low[v]) {
				s->low[v] = s->low[w];
				bitmap_put(s->lowered, v);
			}
			s->next[v]++;
		}
	}
}

static mill_err search_all(struct mill_run *r, struct search_ctx *s)
{
	for (u64 v = 0; v < s->n; v++) {
		if (s->root[v] == UINT32_MAX)
			search_from(s, (u32)v);
		if (v % 65536 == 0)
			TRY(ticker_tick(&r->ticker, v));
	}
	return MILL_OK;
}

mill_err scc_finish(struct mill_run *r, const struct lists *l, u32 *root, const u32 *colour)
{
	u64 n = r->store->n_linked;
	struct search_ctx s = { .lists = l, .root = root, .colour = colour, .n = n, .waiting = n };
	mill_err err;

	err = memory_new(&s.low, &r->budget, n, sizeof(u32), "the search");
	if (!err)
		err = memory_new(&s.next, &r->budget, n, sizeof(u32), "the search");
	if (!err)
		err = memory_new(&s.stack, &r->budget, n, sizeof(u32), "the search");
	if (!err)
		err = memory_new(&s.lowered, &r->budget, bitmap_words(n), sizeof(u64),
				 "the search");
	if (!err)
		err = search_all(r, &s);
	memory_free(s.lowered);
	memory_free(s.stack);
	memory_free(s.next);
	memory_free(s.low);
	return err;
}
