/* SPDX-License-Identifier: Apache-2.0 */
#include "cover.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

/*
 * The rows made so far. met[x][y]: values x and y are in one row; values are numbered over
 * all factors.
 */
struct made {
	const struct cover *c;
	u32 base[COVER_FACTORS + 1];	/* the number of each factor's first value */
	bool *met;
	struct cover_row *row;
	u32 n, capacity;
};

static bool may_meet(const struct cover *c, u32 a, u32 i, u32 b, u32 j)
{
	if (!c->may_meet)
		return true;
	return a < b ? c->may_meet(a, i, b, j) : c->may_meet(b, j, a, i);
}

static bool *met(struct made *m, u32 a, u32 i, u32 b, u32 j)
{
	return &m->met[(u64)(m->base[a] + i) * m->base[m->c->n_factors] + m->base[b] + j];
}

static void made_init(struct made *m, const struct cover *c)
{
	*m = (struct made){ .c = c };
	for (u32 a = 0; a < c->n_factors; a++)
		m->base[a + 1] = m->base[a] + c->n_values[a];
	m->met = calloc((u64)m->base[c->n_factors] * m->base[c->n_factors], sizeof(*m->met));
	assert_non_null(m->met);
}

/* Marks the pairs of the row's first n_factors factors. */
static void mark(struct made *m, const struct cover_row *row, u32 n_factors)
{
	for (u32 a = 0; a < n_factors; a++)
		for (u32 b = 0; b < n_factors; b++)
			*met(m, a, row->value[a], b, row->value[b]) = true;
}

static void append(struct made *m, const struct cover_row *row)
{
	if (m->n == m->capacity) {
		m->capacity = m->capacity ? 2 * m->capacity : 256;
		m->row = realloc(m->row, m->capacity * sizeof(*m->row));
		assert_non_null(m->row);
	}
	m->row[m->n++] = *row;
}

/*
 * Returns the number of new pairs that value i of factor a makes with the factors in the bit
 * set `fixed`, or -1 if it may not meet one of their values.
 */
static int gain(struct made *m, const struct cover_row *row, u32 fixed, u32 a, u32 i)
{
	int n = 0;

	for (u32 b = 0; b < m->c->n_factors; b++)
		if (fixed >> b & 1) {
			if (!may_meet(m->c, a, i, b, row->value[b]))
				return -1;
			n += !*met(m, a, i, b, row->value[b]);
		}
	return n;
}

/*
 * Chooses values for the factors below n that are not fixed, those that make the most new pairs
 * first. Returns false if no values are compatible.
 */
static bool complete(struct made *m, struct cover_row *row, u32 fixed, u32 n)
{
	bool tried[COVER_VALUES] = { false };
	u32 a = 0;

	while (a < n && fixed >> a & 1)
		a++;
	if (a == n)
		return true;
	for (;;) {
		int most = -1;
		u32 best = 0;

		/* The search starts at another value in each row, so that ties take turns. */
		for (u32 k = 0; k < m->c->n_values[a]; k++) {
			u32 i = (k + m->n) % m->c->n_values[a];
			int g = tried[i] ? -1 : gain(m, row, fixed, a, i);

			if (g > most) {
				most = g;
				best = i;
			}
		}
		if (most < 0)
			return false;
		tried[best] = true;
		row->value[a] = (u8)best;
		if (complete(m, row, fixed | 1u << a, n))
			return true;
	}
}

/*
 * Makes a row for every pair of values of the first n factors that is in no row yet, if one
 * of its factors is `from` or a later one.
 */
static void make_rows(struct made *m, u32 n, u32 from)
{
	for (u32 a = 0; a < n; a++)
		for (u32 i = 0; i < m->c->n_values[a]; i++)
			for (u32 b = a + 1 < from ? from : a + 1; b < n; b++)
				for (u32 j = 0; j < m->c->n_values[b]; j++) {
					struct cover_row row = { 0 };

					row.value[a] = (u8)i;
					row.value[b] = (u8)j;
					if (*met(m, a, i, b, j) || !may_meet(m->c, a, i, b, j) ||
					    !complete(m, &row, 1u << a | 1u << b, n))
						continue;
					mark(m, &row, n);
					append(m, &row);
				}
}

static int by_values(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct cover_row));
}

static void add_last(struct made *m, struct cover_row row, u32 value)
{
	row.value[m->c->n_factors - 1] = (u8)value;
	mark(m, &row, m->c->n_factors);
	append(m, &row);
}

u32 cover_make(const struct cover *c, bool every, struct cover_row **out)
{
	u32 last = c->n_factors - 1, all = (1u << last) - 1;
	struct made groups, m;

	made_init(&groups, c);
	made_init(&m, c);
	make_rows(&groups, last, 0);
	qsort(groups.row, groups.n, sizeof(*groups.row), by_values);
	for (u32 g = 0; g < groups.n; g++) {
		u32 before = m.n;

		for (u32 i = 0; i < c->n_values[last]; i++)
			if (gain(&m, &groups.row[g], all, last, i) > (every ? -1 : 0))
				add_last(&m, groups.row[g], i);
		/* No value makes a new pair: the groups take turns with the compatible ones. */
		for (u32 k = 0; m.n == before && k < c->n_values[last]; k++)
			if (gain(&m, &groups.row[g], all, last, (g + k) % c->n_values[last]) >= 0)
				add_last(&m, groups.row[g], (g + k) % c->n_values[last]);
	}
	/* Pairs with a value of the last factor that no group allows get rows of their own. */
	make_rows(&m, c->n_factors, last);
	qsort(m.row, m.n, sizeof(*m.row), by_values);
	free(groups.met);
	free(groups.row);
	free(m.met);
	*out = m.row;
	return m.n;
}

u64 cover_missing(const struct cover *c, const struct cover_row *row, u32 n)
{
	u64 missing = 0;

	for (u32 a = 0; a < c->n_factors; a++)
		for (u32 b = a + 1; b < c->n_factors; b++)
			for (u32 i = 0; i < c->n_values[a]; i++)
				for (u32 j = 0; j < c->n_values[b]; j++) {
					bool found = !may_meet(c, a, i, b, j);

					for (u32 r = 0; r < n && !found; r++)
						found = row[r].value[a] == i &&
							row[r].value[b] == j;
					missing += !found;
				}
	return missing;
}
