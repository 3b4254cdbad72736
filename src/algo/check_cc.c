/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certificate of weak components. Each component is named after the smallest id in it,
 * no edge leads from one component to another, and there are as many components as a plain
 * union-find over all edges finds. So no named component is really two.
 */
#include <pthread.h>

#include "algo/component.h"
#include "engine/result.h"

struct cc_check {
	struct mill_run *run;
	const u32 *name;	/* ranks */
	const vid *rank;
	u32 *forest;
	pthread_mutex_t lock;	/* protects the forest: all workers call check_rows */
};

u64 component_check_bytes(const struct store *st)
{
	return st->n_linked * sizeof(u32) + bitmap_words(st->n_linked) * sizeof(u64);
}

static u32 root_of(u32 *forest, u32 v)
{
	while (forest[v] != v)
		v = forest[v] = forest[forest[v]];
	return v;
}

static void join(u32 *forest, u32 u, u32 v)
{
	u = root_of(forest, u);
	v = root_of(forest, v);
	if (u < v)
		forest[v] = u;
	else
		forest[u] = v;
}

static mill_err check_rows(void *arg, const struct segment *seg, vid begin, vid end, u32 page,
			   unsigned worker)
{
	struct cc_check *c = arg;
	mill_err err = MILL_OK;

	(void)page;
	(void)worker;
	pthread_mutex_lock(&c->lock);
	for (vid row = begin; row < end && !err; row++) {
		u32 u = seg->first + row;

		for (u32 i = seg->row[row]; i < seg->row[row + 1] && !err; i++) {
			if (c->name[u] != c->name[seg->neighbour[i]])
				err = check_wrong(c->run, u,
						  "an edge leads from its component to another");
			else
				join(c->forest, u, seg->neighbour[i]);
		}
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

mill_err component_check_names(struct mill_run *r, const u32 *name, const vid *rank,
			       u64 *n_components)
{
	u64 n = r->store->n_linked, *own;
	mill_err err = MILL_OK;

	TRY(memory_new(&own, &r->budget, bitmap_words(n), sizeof(u64), "the certificate"));
	*n_components = 0;
	for (u64 v = 0; v < n; v++)
		if (name[v] == rank[v]) {
			bitmap_put(own, name[v]);
			++*n_components;
		}
	for (u64 v = 0; v < n && !err; v++) {
		if (name[v] > rank[v])
			err = check_wrong(r, v, "its id is smaller than its component's");
		else if (!bitmap_get(own, name[v]))
			err = check_wrong(r, v, "its component is named after a vertex of another");
	}
	memory_free(own);
	return err;
}

static mill_err check_components(struct cc_check *c)
{
	struct pass pass = { .work = check_rows, .arg = c };
	u64 n = c->run->store->n_linked, named, found = 0;
	struct mill_step step = { 0 };
	mill_err err;

	TRY(component_check_names(c->run, c->name, c->rank, &named));
	TRY(memory_new(&c->forest, &c->run->budget, n, sizeof(u32), "the certificate"));
	for (u64 v = 0; v < n; v++)
		c->forest[v] = (u32)v;
	err = run_pass(c->run, &pass, &step);
	for (u64 v = 0; v < n; v++)
		found += c->forest[v] == v;
	memory_free(c->forest);
	if (!err && found != named)
		err = fail(MILL_ECHECK, "the result has %llu components, the graph %llu",
			   (unsigned long long)named, (unsigned long long)found);
	return err;
}

mill_err component_check(struct mill_run *r,
			 mill_err (*check)(struct mill_run *r, const u32 *name, const vid *rank))
{
	const struct vec *name = r->result.column[0].vec;
	struct vec *rank;
	vid *ranks = NULL;
	u32 *names;
	mill_err err;

	TRY(result_ranks(r, &rank));
	TRY(vec_map(r, name, &names));
	err = vec_map(r, rank, &ranks);
	if (!err) {
		run_announce(r, "check", 0);
		err = check(r, names, ranks);
	}
	if (ranks)
		vec_unmap(rank, ranks);
	vec_unmap(name, names);
	return err;
}

static mill_err check_weak(struct mill_run *r, const u32 *name, const vid *rank)
{
	struct cc_check c = {
		.run = r, .name = name, .rank = rank, .lock = PTHREAD_MUTEX_INITIALIZER
	};

	return check_components(&c);
}

mill_err cc_check(struct mill_run *r) { return component_check(r, check_weak); }
