/* SPDX-License-Identifier: Apache-2.0 */
/* State by edge in memory or in a file; edge_state.h has the contract. */
#include "engine/edge_state.h"

#include <assert.h>
#include <string.h>

/* ---- Vectors ---- */

/* Writes the first values. Uses the buffer that later holds the pages' elements. */
static mill_err fill_file(const struct vec *v, const void *fill)
{
	u64 some = v->buffer.size / v->size;

	if (fill)
		memory_fill(v->buffer.host, v->buffer.size, fill, v->size);
	for (u64 at = 0; at < v->n; at += some)
		TRY(beside_write(v->beside, v->buffer.host, at, min_u64(some, v->n - at)));
	return MILL_OK;
}

static mill_err open_file(struct mill_run *r, struct vec *v)
{
	const struct edge_numbers *n = &r->numbers;
	mill_err err;
	char *dir;

	TRY(memory_new(&v->beside, &r->budget, 1, sizeof(*v->beside), v->name));
	v->beside->file = FILE_CLOSED;
	TRY(view_dir(&dir, r->store, &r->budget));
	err = beside_open(v->beside, dir, n->owned, n->n_pages, v->size);
	memory_free(dir);
	return err;
}

mill_err run_edge_state(struct mill_run *r, struct vec **out, const char *name, u32 size,
			const void *fill, bool beside)
{
	const struct edge_numbers *n = &r->numbers;
	u64 most = 1;

	if (!beside || !r->spills)
		return run_vec(r, out, name, n->n, size, fill);
	for (u32 i = 0; i < n->n_pages; i++)
		most = max_u64(most, n->owned[i + 1] - n->owned[i]);
	TRY(run_vec_host(r, out, name, pool_size(r->pool) * most, size));
	(*out)->n = n->n;
	TRY(open_file(r, *out));
	return fill_file(*out, fill);
}

/* ---- Pages ---- */

mill_err page_args_take(struct page_args *s, struct mill_run *r, const struct program *p,
			const void *args, u32 page, unsigned worker)
{
	s->run = r;
	s->args = args;
	s->page = page;
	s->n = 0;
	for (u32 i = 0; i < p->n_fields; i++) {
		struct vec *v =
			p->field[i].array
				? *(struct vec *const *)((const char *)args + p->field[i].offset)
				: NULL;
		struct vec *mine = &s->vec[s->n];
		const struct beside *b = v ? v->beside : NULL;

		if (!b)
			continue;
		assert(s->n < PAGE_ARGS_VECS && p->args_size <= sizeof(s->copy));
		if (s->args == args)
			s->args = memcpy(s->copy, args, p->args_size);
		s->element[s->n++] = (char *)v->buffer.host + worker * b->most * b->size;
		TRY(beside_read_page(b, s->element[s->n - 1], page));
		*mine = *v;
		/*
		 * The vector is indexed by edge number. Its address may lie outside of the
		 * buffer, so it is computed as an integer.
		 */
		mine->buffer.host =
			(void *)((uintptr_t)s->element[s->n - 1] - b->first[page] * b->size);
		memcpy((char *)s->copy + p->field[i].offset, &mine, sizeof(mine));
	}
	return MILL_OK;
}

mill_err page_args_give(struct page_args *s)
{
	for (u32 i = 0; i < s->n; i++) {
		const struct beside *b = s->vec[i].beside;

		TRY(beside_write_page(b, s->element[i], s->page));
		__atomic_fetch_add(&s->run->edge_state_bytes, beside_elements(b, s->page) * b->size,
				   __ATOMIC_RELAXED);
	}
	return MILL_OK;
}
