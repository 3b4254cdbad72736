/* SPDX-License-Identifier: Apache-2.0 */
/* The borders of buckets; piles.h has the contract. */
#include "engine/piles.h"

#include <assert.h>

#include "engine/run.h"

u64 piles_bytes(u64 n_vertices, u32 n)
{
	return (n ? n - 1 : 0) * bitmap_words(n_vertices) * sizeof(u64) +
	       (n > BUCKETS_LEAST ? (n - 1) * sizeof(u64) : 0);
}

mill_err run_piles(struct mill_run *r, struct piles *b, u32 n)
{
	assert(!n || (n >= BUCKETS_LEAST && n <= BUCKETS_MOST));
	b->n = n;
	b->words = bitmap_words(r->store->n_linked);
	b->limit = UINT64_MAX;
	if (n)
		TRY(run_vec(r, &b->far, "far vertices", b->words, sizeof(u64), NULL));
	if (n <= BUCKETS_LEAST)
		return MILL_OK;
	TRY(run_vec(r, &b->borders, "borders of buckets", n - 1, sizeof(u64), NULL));
	return run_vec(r, &b->bits, "vertices in buckets", (n - 2) * b->words, sizeof(u64), NULL);
}

/* Returns the key plus the width, or the next key if rounding adds nothing. At most UINT64_MAX. */
static u64 above(const struct piles *b, u64 key)
{
	u64 sum;

	if (b->real)
		sum = bits_f64(f64_of_bits(key) + f64_of_bits(b->width));
	else if (__builtin_add_overflow(key, b->width, &sum))
		return UINT64_MAX;
	return key == UINT64_MAX ? key : max_u64(sum, key + 1);
}

mill_err piles_begin(struct piles *b, u64 begin)
{
	b->near = 0;
	b->filled = 0;
	for (u32 i = 0; i < b->n - 1; i++)
		begin = b->border[i] = above(b, begin);
	b->limit = b->border[0];
	return b->borders ? device_write(&b->borders->buffer, 0, b->border, b->borders->buffer.size)
			  : MILL_OK;
}

mill_err piles_open(struct piles *b, u64 rest, u32 *from, u64 *begin)
{
	if (b->filled) {
		*from = b->near = (u32)__builtin_ctzll(b->filled);
		*begin = b->border[b->near - 1];
		b->limit = b->border[b->near];
		b->filled &= b->filled - 1;
		return MILL_OK;
	}
	*from = piles_far(b);
	*begin = piles_end(b);
	return piles_begin(b, rest == UINT64_MAX ? *begin : rest);
}
