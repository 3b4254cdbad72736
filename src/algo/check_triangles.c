/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of triangle counts. For all vertices: the sum of the counts is a multiple
 * of 3, no count is larger than the number of pairs of neighbours, and the coefficients
 * follow from the counts. A sample is counted again exactly: the vertices of the largest
 * count and degree and random ones, or all of a small graph. Two passes count the edges
 * among the neighbours of 64 vertices at a time: for each vertex a word of bits says which
 * of the 64 have it as a neighbour.
 */
#include <string.h>

#include "algo/algo.h"
#include "algo/triangles.h"
#include "base/bitmap.h"
#include "base/random.h"

#define SAMPLE 64u
#define SMALL 1024u	/* a graph with at most this many vertices is counted again as a whole */

struct check_ctx {
	struct mill_run *run;
	bool of_arcs;		/* the coefficients count arcs */
	const u64 *count;
	const f64 *lcc;		/* coefficients, or NULL */
	u32 *degree;
	u64 *neighbour_of;	/* by vertex: bit i is set if it is a neighbour of sample[i] */
	vid sample[SAMPLE];
	u32 n;
	/*
	 * Edges among the neighbours of a sample, and their arcs, counted from both ends.
	 * Atomic.
	 */
	u64 twice[SAMPLE], arcs[SAMPLE];
};

u64 triangles_check_bytes(const struct store *st)
{
	return st->n_linked * (sizeof(u64) + sizeof(u32)) + 8192;
}

static bool is_sampled(void *arg, u64 begin, u64 end)
{
	const struct check_ctx *c = arg;

	for (u32 i = 0; i < c->n; i++)
		if (c->sample[i] >= begin && c->sample[i] < end)
			return true;
	return false;
}

static mill_err mark_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			  unsigned worker)
{
	struct check_ctx *c = arg;

	(void)page;
	(void)worker;
	for (u32 i = 0; i < c->n; i++) {
		vid row = (vid)(c->sample[i] - seg->first);

		if (c->sample[i] < seg->first || row < begin || row >= end)
			continue;
		__atomic_fetch_add(&c->degree[c->sample[i]], seg->row[row + 1] - seg->row[row],
				   __ATOMIC_RELAXED);
		for (u32 k = seg->row[row]; k < seg->row[row + 1]; k++)
			__atomic_fetch_or(&c->neighbour_of[seg->neighbour[k]], (u64)1 << i,
					  __ATOMIC_RELAXED);
	}
	return MILL_OK;
}

static bool is_neighbour(void *arg, u64 begin, u64 end)
{
	const struct check_ctx *c = arg;
	u64 any = 0;

	for (u64 v = begin; v < end; v++)
		any |= c->neighbour_of[v];
	return any;
}

static mill_err count_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	u64 twice[SAMPLE] = { 0 }, arcs[SAMPLE] = { 0 };
	struct check_ctx *c = arg;

	(void)page;
	(void)worker;
	for (vid row = begin; row < end; row++) {
		u64 mine = c->neighbour_of[(u64)seg->first + row];

		if (!mine)
			continue;
		for (u32 k = seg->row[row]; k < seg->row[row + 1]; k++)
			for (u64 both = mine & c->neighbour_of[seg->neighbour[k]]; both;
			     both &= both - 1) {
				u32 i = (u32)__builtin_ctzll(both);

				twice[i]++;
				arcs[i] += c->of_arcs ? ((const u32 *)seg->weight)[k] : 2;
			}
	}
	for (u32 i = 0; i < c->n; i++) {
		__atomic_fetch_add(&c->twice[i], twice[i], __ATOMIC_RELAXED);
		__atomic_fetch_add(&c->arcs[i], arcs[i], __ATOMIC_RELAXED);
	}
	return MILL_OK;
}

static mill_err check_sample(struct check_ctx *c)
{
	struct pass mark = { .active = is_sampled, .work = mark_rows, .arg = c };
	struct pass count = { .active = is_neighbour, .work = count_rows, .arg = c };
	u64 n = c->run->store->n_linked;
	struct mill_step step = { 0 };

	memset(c->neighbour_of, 0, n * sizeof(u64));
	memset(c->twice, 0, sizeof(c->twice));
	memset(c->arcs, 0, sizeof(c->arcs));
	for (u32 i = 0; i < c->n; i++)
		c->degree[c->sample[i]] = 0;
	TRY(run_pass(c->run, &mark, &step));
	TRY(run_pass(c->run, &count, &step));
	for (u32 i = 0; i < c->n; i++) {
		vid v = c->sample[i];
		f64 pairs = (f64)c->degree[v] * ((f64)c->degree[v] - 1) / 2;
		f64 lcc = c->degree[v] > 1 ? (f64)c->arcs[i] / 4 / pairs : 0;

		if (c->twice[i] != 2 * c->count[v])
			return check_wrong(
				c->run, v,
				"its neighbours have another number of edges among them");
		if (c->lcc && !(c->lcc[v] - lcc < 1e-12 && lcc - c->lcc[v] < 1e-12))
			return check_wrong(c->run, v, "its clustering coefficient is wrong");
	}
	return MILL_OK;
}

/* Checks each vertex by itself. degree: the degrees of all vertices, from the run. */
static mill_err check_all(struct check_ctx *c, const u32 *degree)
{
	u64 n = c->run->store->n_linked, rest = 0;

	for (u64 v = 0; v < n; v++) {
		f64 pairs = degree[v] > 1 ? (f64)degree[v] * ((f64)degree[v] - 1) / 2 : 0, share;

		rest = (rest + c->count[v] % 3) % 3;
		if ((f64)c->count[v] > pairs * (1 + 1e-15))
			return check_wrong(c->run, v,
					   "it has more triangles than pairs of neighbours");
		if (!c->lcc)
			continue;
		share = pairs > 0 ? (f64)c->count[v] / pairs : 0;
		if (!(c->lcc[v] <= share + 1e-12 &&
		      c->lcc[v] >= (c->of_arcs ? share / 2 : share) - 1e-12))
			return check_wrong(
				c->run, v,
				"its clustering coefficient does not follow from its count");
	}
	if (rest)
		return fail(MILL_ECHECK,
			    "the result is wrong: the sum of all counts is not a multiple of 3");
	return MILL_OK;
}

/* Chooses the vertices of the largest count and the largest degree, and random ones. */
static void choose_sample(struct check_ctx *c, const u32 *degree)
{
	u64 n = c->run->store->n_linked;
	vid most = 0, hub = 0;

	for (u64 v = 1; v < n; v++) {
		most = c->count[v] > c->count[most] ? (vid)v : most;
		hub = degree[v] > degree[hub] ? (vid)v : hub;
	}
	c->sample[0] = most;
	c->sample[1] = hub;
	for (c->n = 2; c->n < SAMPLE; c->n++)
		c->sample[c->n] = (vid)random_below(c->run->options.seed, c->n, n);
	/* Remove duplicates: the last vertex takes the place of a duplicate. */
	for (u32 i = 0; i < c->n; i++)
		for (u32 j = i + 1; j < c->n;)
			if (c->sample[j] == c->sample[i])
				c->sample[j] = c->sample[--c->n];
			else
				j++;
}

static mill_err check(struct check_ctx *c, struct vec *degree)
{
	u64 n = c->run->store->n_linked;

	TRY(run_degrees(c->run, degree));
	TRY(check_all(c, c->degree));
	if (n > SMALL) {
		choose_sample(c, c->degree);
		return check_sample(c);
	}
	for (u64 v = 0; v < n; v += SAMPLE) {
		c->n = (u32)min_u64(SAMPLE, n - v);
		for (u32 i = 0; i < c->n; i++)
			c->sample[i] = (vid)(v + i);
		TRY(check_sample(c));
	}
	return MILL_OK;
}

mill_err triangles_check(struct mill_run *r, bool arcs)
{
	struct check_ctx c = { .run = r,
			       .of_arcs = arcs,
			       .count = r->result.column[0].vec->buffer.host };
	struct vec *neighbour_of, *degree;
	u32 before = r->n_vecs;
	mill_err err;

	if (r->result.n_columns > 1)
		c.lcc = r->result.column[1].vec->buffer.host;
	TRY(run_vec_host(r, &neighbour_of, "the certificate", r->store->n_linked, sizeof(u64)));
	err = run_vec_host(r, &degree, "the certificate", r->store->n_linked, sizeof(u32));
	if (!err) {
		c.neighbour_of = neighbour_of->buffer.host;
		c.degree = degree->buffer.host;
		run_announce(r, "check", 0);
		err = check(&c, degree);
	}
	while (r->n_vecs > before)
		run_vec_free(r, r->vec[r->n_vecs - 1]);
	return err;
}
