/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of betweenness. For the last source all numbers are checked, over all
 * edges. The levels must be the levels of a search. The number of paths to a vertex must be
 * the sum over the vertices before it, and its dependency must follow from the vertices
 * after it. For all sources together, the scores must sum to the number of inner vertices of
 * shortest paths, and no score may be less than the contribution of the last source. With
 * one source this proves the whole result.
 */
#include <string.h>

#include "algo/algo.h"
#include "algo/bc.h"

/*
 * The relative error allowed. Sums of positive numbers have an error of about 2^-53 for
 * each addition.
 */
#define BC_RELATIVE 1e-9

struct bc_check {
	struct mill_run *run;
	const struct bc_run *bc;
	const f64 *paths[2], *score;
	const u32 *exponent;
	u32 *depth;	/* from the levels */
	f64 *before;	/* the share of v's paths that its in-neighbours explain: must be 1 */
	f64 *after;	/* v's dependency, computed from its out-neighbours */
};

u64 bc_check_bytes(const struct store *st)
{
	return st->n_linked * (sizeof(u32) + 2 * sizeof(f64));
}

/* Return the paths and the dependency of a vertex that was reached (see struct bc_run). */
static f64 paths_of(const struct bc_check *c, u64 v) { return c->paths[c->depth[v] % 2][v]; }
static f64 dependency_of(const struct bc_check *c, u64 v)
{
	return c->paths[(c->depth[v] + 1) % 2][v];
}

/* Returns the paths to u divided by the paths to v. */
static f64 ratio(const struct bc_check *c, u64 u, u64 v)
{
	i64 e = c->exponent ? (i64)c->exponent[u] - (i64)c->exponent[v] : 0;
	u64 bits = (u64)((e > 1000 ? 1000 : e) + 1023) << 52;	/* 2^e */
	f64 power;

	memcpy(&power, &bits, sizeof(power));
	return e < -1000 ? 0 : paths_of(c, u) / paths_of(c, v) * power;
}

static mill_err check_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct bc_check *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 u = (u64)seg->first + row;
		f64 sum = 0;

		if (c->depth[u] == UINT32_MAX)
			continue;
		for (u32 i = seg->row[row]; i < seg->row[row + 1]; i++) {
			u64 v = seg->neighbour[i];
			f64 part;

			if (c->depth[v] > c->depth[u] + 1)
				return check_wrong(c->run, v,
						   "an edge leads to it on a shorter path");
			if (c->depth[v] <= c->depth[u])
				continue;
			part = ratio(c, u, v);
			sum += part * (1 + dependency_of(c, v));
			check_add(&c->before[v], part);
		}
		check_add(&c->after[u], sum);
	}
	return MILL_OK;
}

static mill_err read_levels(struct bc_check *c)
{
	const struct bc_run *s = c->bc;
	u64 n = c->run->store->n_linked;
	u32 level = UINT32_MAX;

	for (u64 v = 0; v < n; v++)
		c->depth[v] = UINT32_MAX;
	for (u64 i = 0; i < s->levels.n_reached; i++) {
		level += bitmap_get(s->levels.begins, i);
		if (s->levels.order[i] >= n || c->depth[s->levels.order[i]] != UINT32_MAX)
			return fail(MILL_ECHECK, "a vertex was reached twice");
		c->depth[s->levels.order[i]] = level;
	}
	if (!s->levels.n_reached)	/* no source has an edge */
		return MILL_OK;
	return c->depth[c->run->search.root]
		       ? check_wrong(c->run, c->run->search.root,
				     "the distance of the source is not 0")
		       : MILL_OK;
}

static bool is_near(f64 x, f64 want) { return __builtin_fabs(x - want) <= BC_RELATIVE * want; }

static mill_err check_vertex(const struct bc_check *c, u64 v)
{
	const struct bc_run *s = c->bc;
	bool reached = c->depth[v] != UINT32_MAX,
	     root = s->levels.n_reached && v == c->run->search.root;
	f64 given = reached && !root ? dependency_of(c, v) * s->scale : 0;

	if (!(c->score[v] >= given * (1 - BC_RELATIVE)))
		return check_wrong(c->run, v, "its score is less than one source gives");
	if ((s->n_sources == 1 || !s->levels.n_reached) && !is_near(c->score[v], given))
		return check_wrong(c->run, v, "its score is not what the source gives");
	if (!reached)
		return MILL_OK;
	if (root ? paths_of(c, v) != 1 || (c->exponent && c->exponent[v])
		 : !is_near(c->before[v], 1))
		return check_wrong(
			c->run, v,
			"its number of paths is not the sum over the vertices before it");
	if (!is_near(dependency_of(c, v), c->after[v]))
		return check_wrong(c->run, v,
				   "its dependency is not what the vertices after it give");
	return MILL_OK;
}

static mill_err check_scores(struct bc_check *c)
{
	const struct bc_run *s = c->bc;
	struct pass pass = { .work = check_rows, .arg = c };
	struct mill_step step = { 0 };
	f64 sum = 0;

	TRY(read_levels(c));
	TRY(run_pass(c->run, &pass, &step));
	for (u64 v = 0; v < c->run->store->n_linked; v++) {
		TRY(check_vertex(c, v));
		sum += c->score[v];
	}
	if (!is_near(sum, s->loop.hops * s->scale))
		return fail(MILL_ECHECK,
			    "the scores sum to %.17g, the shortest paths have %.17g inner vertices",
			    sum, s->loop.hops * s->scale);
	return MILL_OK;
}

mill_err bc_check(struct mill_run *r)
{
	struct bc_check c = { .run = r, .bc = r->self };
	const struct bc_run *s = c.bc;
	u64 n = r->store->n_linked;
	mill_err err;

	if (!s->n_sources)
		return MILL_OK;
	err = memory_new(&c.depth, &r->budget, n, sizeof(u32), "the certificate");
	if (!err)
		err = memory_new(&c.before, &r->budget, n, sizeof(f64), "the certificate");
	if (!err)
		err = memory_new(&c.after, &r->budget, n, sizeof(f64), "the certificate");
	for (u32 i = 0; !err && i < 2; i++)
		err = vec_map(r, s->paths[i], &c.paths[i]);
	if (!err)
		err = vec_map(r, s->score, &c.score);
	if (!err && s->wide_in)
		err = vec_map(r, s->depth, &c.exponent);
	if (!err) {
		run_announce(r, "check", 0);
		err = check_scores(&c);
	}
	if (c.exponent)
		vec_unmap(s->depth, (void *)c.exponent);
	if (c.score)
		vec_unmap(s->score, (void *)c.score);
	for (u32 i = 0; i < 2; i++)
		if (c.paths[i])
			vec_unmap(s->paths[i], (void *)c.paths[i]);
	memory_free(c.after);
	memory_free(c.before);
	memory_free(c.depth);
	return err;
}
