/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vertices that a user names; personal.h has the contract. */
#include "engine/personal.h"

#include "base/sort.h"
#include "engine/sources.h"

struct name_ctx {
	const struct store *store;
	struct personal *to;
	u64 *isolated;		/* the list; NULL: they are only counted */
};

static mill_err add(void *arg, vid v)
{
	struct name_ctx *n = arg;

	if (v < n->store->n_linked)
		bitmap_put(n->to->bits, v);
	else if (n->isolated)
		n->isolated[n->to->n_isolated++] = v;
	else
		n->to->n_isolated++;
	return MILL_OK;
}

/* Lists the isolated vertices, ascending and each once, for the result. */
static mill_err list_isolated(struct mill_run *r, struct name_ctx *n, const char *text,
			      const char *option)
{
	struct personal *p = n->to;
	struct vec *list;
	u64 kept = 0;

	TRY(run_vec_host(r, &list, "isolated vertices", p->n_isolated, sizeof(u64)));
	n->isolated = list->buffer.host;
	p->n_isolated = 0;
	TRY(each_vertex(r, text, option, add, n));
	TRY(sort_u64(r->pool, &r->budget, n->isolated, NULL, p->n_isolated, 64));
	for (u64 i = 0; i < p->n_isolated; i++)
		if (!i || n->isolated[i] != n->isolated[i - 1])
			n->isolated[kept++] = n->isolated[i];
	r->result.chosen = n->isolated;
	r->result.n_chosen = p->n_isolated = kept;
	return MILL_OK;
}

mill_err run_personal(struct mill_run *r, struct personal *out, const char *text,
		      const char *option)
{
	struct name_ctx n = { .store = r->store, .to = out };
	u64 linked = r->store->n_linked;

	*out = (struct personal){ 0 };
	TRY(memory_new(&out->bits, &r->budget, bitmap_words(linked), sizeof(u64),
		       "the vertices named"));
	TRY(each_vertex(r, text, option, add, &n));
	if (out->n_isolated)
		TRY(list_isolated(r, &n, text, option));
	out->n_linked = bitmap_count(out->bits, 0, linked);
	out->n_dangling = out->n_isolated + bitmap_count(out->bits, r->store->sources, linked);
	if (!out->n_linked && !out->n_isolated)
		return fail(MILL_EUSAGE, "%s names no vertex to personalize for", text + 1);
	return MILL_OK;
}

void personal_release(struct personal *p)
{
	memory_free(p->bits);
	p->bits = NULL;
}
