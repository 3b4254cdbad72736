/* SPDX-License-Identifier: Apache-2.0 */
/* The table of algorithms, and the calls that plan and run one. */
#include "algo/algo.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/option.h"
#include "engine/devices.h"

#define ALGORITHM(name) extern const struct algorithm algorithm_##name;
#include "algo/algorithms.h"
#undef ALGORITHM

#define ALGORITHM(name) &algorithm_##name,
static const struct algorithm *const algorithms[] = {
#include "algo/algorithms.h"
};
#undef ALGORITHM

const struct algorithm *algorithm_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
		if (!strcmp(algorithms[i]->public.name, name))
			return algorithms[i];
	return NULL;
}

/* The public part of each row, in an array. Written once. */
static struct mill_algorithm public_rows[ARRAY_LEN(algorithms) + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fill_public_rows(void)
{
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
		public_rows[i] = algorithms[i]->public;
}

MILL_API const struct mill_algorithm *mill_algorithms(void)
{
	pthread_once(&once, fill_public_rows);
	return public_rows;
}

MILL_API const struct mill_algorithm *mill_algorithm(const char *name)
{
	const struct mill_algorithm *a = mill_algorithms();

	while (a->name && strcmp(a->name, name))
		a++;
	return a->name ? a : NULL;
}

/* ---- Calls ---- */

/* The options of a call that gives none. */
static const u64 defaults[64];

bool algorithm_rounds(const char *name, const void *options)
{
	const struct algorithm *a = algorithm_find(name);

	return a && a->rounds && a->rounds(options ? options : defaults);
}

/* One call of an algorithm, with its options and what it declares. */
struct call {
	const struct mill_algorithm *public;	/* the algorithm that was asked for */
	const struct algorithm *algorithm;	/* the one that runs */
	const void *options;
	void *self;
	struct declaration declaration;
};

static mill_err call_find(struct call *c, const struct mill_run *r, const char *name,
			  const void *options)
{
	const struct algorithm *a = algorithm_find(name);

	if (!a)
		return fail(MILL_EUSAGE, "unknown algorithm '%s'", name);
	assert(a->public.options_size <= sizeof(defaults));
	c->public = &a->public;
	c->options = options ? options : defaults;
	c->algorithm = a;
	TRY(options_check(a->public.option, c->options));
	if (a->undirected && !r->store->directed) {
		c->algorithm = a->undirected;
		c->options = defaults;
	}
	return MILL_OK;
}

/* Makes self and declares. The caller frees self, after a failure too. */
static mill_err call_declare(struct call *c, struct mill_run *r, struct budget *budget, bool plans)
{
	c->self = NULL;
	TRY(memory_new(&c->self, budget, 1, max_u64(c->algorithm->size, 1), c->public->name));
	declaration_init(&c->declaration, r, c->public->name, plans);
	TRY(c->algorithm->declare(&c->declaration, c->options, c->self));
	c->declaration.need.cost = algorithm_find(c->public->name)->cost;
	return declaration_end(&c->declaration);
}

MILL_API mill_err mill_run_algorithm(mill_run *r, const char *name, const void *options)
{
	struct call c;
	mill_err err;

	TRY(call_find(&c, r, name, options));
	err = call_declare(&c, r, &r->budget, false);
	if (!err)	/* the last result stays valid until run_begin */
		err = run_begin(r, &c.declaration.need);
	if (err) {
		memory_free(c.self);
		return err;
	}
	r->self = c.self;
	r->row = c.public;
	TRY(declaration_make(&c.declaration));
	TRY(c.algorithm->run(r, c.self));
	r->result.check = c.algorithm->check;
	return MILL_OK;
}

MILL_API mill_err mill_run_plan(mill_run *r, const char *name, const void *options,
				struct mill_plan *out)
{
	struct call c;
	mill_err err;

	TRY(call_find(&c, r, name, options));
	err = call_declare(&c, r, NULL, true);
	memory_free(c.self);
	TRY(err);
	TRY(devices_suit(r, &c.declaration.need));
	run_plan(r, &c.declaration.need, out);
	out->saved = c.declaration.saved;
	run_predict(r, &c.declaration.need, out);
	return MILL_OK;
}

MILL_API mill_err mill_bfs(mill_run *r, const struct mill_bfs *how)
{
	return mill_run_algorithm(r, "bfs", how);
}
MILL_API mill_err mill_sssp(mill_run *r, const struct mill_sssp *how)
{
	return mill_run_algorithm(r, "sssp", how);
}
MILL_API mill_err mill_pagerank(mill_run *r, const struct mill_pagerank *how)
{
	return mill_run_algorithm(r, "pagerank", how);
}
MILL_API mill_err mill_cc(mill_run *r, const struct mill_cc *how)
{
	return mill_run_algorithm(r, "cc", how);
}
MILL_API mill_err mill_bc(mill_run *r, const struct mill_bc *how)
{
	return mill_run_algorithm(r, "bc", how);
}
MILL_API mill_err mill_triangles(mill_run *r, const struct mill_triangles *how)
{
	return mill_run_algorithm(r, "triangles", how);
}
MILL_API mill_err mill_cdlp(mill_run *r, const struct mill_cdlp *how)
{
	return mill_run_algorithm(r, "cdlp", how);
}
MILL_API mill_err mill_kcore(mill_run *r) { return mill_run_algorithm(r, "kcore", NULL); }
MILL_API mill_err mill_degrees(mill_run *r) { return mill_run_algorithm(r, "degrees", NULL); }
MILL_API mill_err mill_scc(mill_run *r) { return mill_run_algorithm(r, "scc", NULL); }
