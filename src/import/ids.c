/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the three forms of ids. */
#include "import/ids.h"

#include "base/bitmap.h"
#include "base/sort.h"

mill_err ids_too_many(u64 n)
{
	return fail(MILL_ELIMIT,
		    "the graph has %llu vertices, and a store holds at most %llu",
		    (unsigned long long)n, (unsigned long long)MAX_VERTICES);
}

void ids_dense(struct ids *m, u64 n)
{
	*m = (struct ids){ .n = n };
}

mill_err ids_from_bits(struct ids *m, struct budget *budget, u64 *bits, u64 limit)
{
	u64 n_words = bitmap_words(limit), n = 0, k = 0;

	*m = (struct ids){ .bits = bits };
	for (u64 w = 0; w < n_words; w++)
		n += (u64)__builtin_popcountll(bits[w]);
	if (n > MAX_VERTICES)
		return ids_too_many(n);
	m->n = n;
	TRY(memory_new(&m->before, budget, n_words, sizeof(*m->before), "the ids"));
	TRY(memory_new(&m->id, budget, n, sizeof(*m->id), "the ids"));
	for (u64 w = 0; w < n_words; w++) {
		m->before[w] = (u32)k;
		for (u64 word = bits[w]; word; word &= word - 1)
			m->id[k++] = w * 64 + (u64)__builtin_ctzll(word);
	}
	return MILL_OK;
}

static unsigned bits_of(u64 x)
{
	return x ? 64u - (unsigned)__builtin_clzll(x) : 0;
}

/*
 * Makes about two buckets per id. Ids that are spread evenly are then found at once, crowded ids
 * in a few steps.
 */
static mill_err make_buckets(struct ids *m, struct budget *budget)
{
	unsigned range = bits_of(m->id[m->n - 1] - m->min), wanted = bits_of(m->n) + 1;
	u64 n_buckets, b = 0;

	m->shift = range > wanted ? range - wanted : 0;
	n_buckets = ((m->id[m->n - 1] - m->min) >> m->shift) + 1;
	TRY(memory_new(&m->bucket, budget, n_buckets + 1, sizeof(*m->bucket), "the ids"));
	for (u64 i = 0; i < m->n; i++)
		for (u64 of = (m->id[i] - m->min) >> m->shift; b <= of; b++)
			m->bucket[b] = (u32)i;
	for (; b <= n_buckets; b++)
		m->bucket[b] = (u32)m->n;
	return MILL_OK;
}

mill_err ids_from_list(struct ids *m, struct budget *budget, struct pool *pool, u64 *id,
		       u64 n)
{
	u64 k = 0, max = 0;

	*m = (struct ids){ .id = id };
	for (u64 i = 0; i < n; i++)
		max = max_u64(max, id[i]);
	TRY(sort_u64(pool, budget, id, NULL, n, max ? bits_of(max) : 1));
	for (u64 i = 0; i < n; i++)
		if (!i || id[i] != id[i - 1])
			k++;
	if (k > MAX_VERTICES)
		return ids_too_many(k);
	/* A new array, because the old one is often several times larger than needed. */
	TRY(memory_new(&m->id, budget, k, sizeof(*m->id), "the ids"));
	for (u64 i = 0; i < n; i++)
		if (!i || id[i] != id[i - 1])
			m->id[m->n++] = id[i];
	memory_free(id);
	return ids_from_sorted(m, budget, m->id, m->n);
}

mill_err ids_from_sorted(struct ids *m, struct budget *budget, u64 *id, u64 n)
{
	*m = (struct ids){ .id = id, .n = n };
	if (!n)
		return MILL_OK;
	m->min = id[0];
	return make_buckets(m, budget);
}

unsigned bits_for(u64 n)
{
	return n > 2 ? 64u - (unsigned)__builtin_clzll(n - 1) : 1;
}

void ids_release(struct ids *m)
{
	memory_free(m->id);
	memory_free(m->bits);
	memory_free(m->before);
	memory_free(m->bucket);
	*m = (struct ids){ .n = 0 };
}
