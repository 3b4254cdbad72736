/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the vertices that a search reached; reach.h has the contract. */
#include "engine/reach.h"

#include <string.h>

#define DEGREES 8192	/* number of degrees read at a time */

struct count_ctx {
	const void *data;
	u32 size;
	u64 none;
	struct reach *to;
};

static u64 value_at(const struct count_ctx *c, u64 v)
{
	return c->size == sizeof(u32) ? ((const u32 *)c->data)[v] : ((const u64 *)c->data)[v];
}

/* Counts vertices [at, at + n). The first n_sources of them have out-edges. */
static void count_some(const struct count_ctx *c, u64 at, u64 n, const u32 *degree, u64 n_sources)
{
	for (u64 i = 0; i < n; i++) {
		u64 x = value_at(c, at + i);

		if (x == c->none)
			continue;
		c->to->reached++;
		c->to->edges += i < n_sources ? degree[i] : 0;
		c->to->most = max_u64(c->to->most, x);
	}
}

static mill_err count_all(struct mill_run *r, const struct count_ctx *c)
{
	const struct store *st = r->store;
	mill_err err = MILL_OK;
	u32 *degree;

	TRY(memory_new(&degree, &r->budget, DEGREES, sizeof(u32), "degrees"));
	for (u64 at = 0; !err && at < st->n_linked; at += DEGREES) {
		u64 some = min_u64(DEGREES, st->n_linked - at);
		u64 with = at < st->sources ? min_u64(some, st->sources - at) : 0;

		if (with)
			err = store_read(st, STORE_OUT_DEGREES, degree, with * sizeof(u32),
					 at * sizeof(u32));
		if (!err)
			count_some(c, at, some, degree, with);
	}
	memory_free(degree);
	return err;
}

mill_err run_reach(struct mill_run *r, const struct vec *values, const void *none,
		   struct reach *out)
{
	struct count_ctx c = { .size = values->size, .to = out };
	mill_err err;

	*out = (struct reach){ .reached = r->result.n_chosen };	/* 1 if the source is isolated */
	memcpy(&c.none, none, values->size);
	TRY(vec_map(r, values, &c.data));
	err = count_all(r, &c);
	vec_unmap(values, (void *)c.data);
	return err;
}

mill_err run_search_facts(struct mill_run *r, const struct reach *reach)
{
	r->ledger.edges_traversed = reach->edges;
	TRY(run_fact_id(r, "source", r->search.root));
	run_fact(r, "reached", reach->reached);
	return MILL_OK;
}
