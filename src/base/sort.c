/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Radix sort from the lowest digit (LSD). In each pass every worker counts the digits of its own
 * contiguous slice, a prefix sum over (digit, slice) gives each slice its places, and the slices are
 * scattered to them. A stable sort has one result only, so the number of slices cannot show.
 */
#include "base/sort.h"

#include <string.h>

/*
 * With 11 bits pairs took 1.3 to 1.7 times as long, in spite of fewer passes (8 million, 44 and 64 bits,
 * 1 and 2 threads); for keys alone neither was better throughout.
 */
#define DIGIT_BITS 8u
#define CACHED_BITS 11u		/* of keys alone that lie in a cache: at 250 thousand of 37 bits 0.7 of the time */
#define BUCKETS (1u << CACHED_BITS)
#define PARALLEL_FROM ((u64)1 << 15)	/* a guess: fewer are not worth waking the others */
#define INSERT_BELOW 32u

struct sorter {
	u64 *key, *value;		/* value: or NULL */
	u64 *key_to, *value_to;
	u64 n, mask;
	unsigned n_slices, shift;
	unsigned digit_bits;		/* the most ... */
	unsigned buckets;		/* ... and what the present pass takes, a power of two */
	struct slice *slice;
};

struct slice {
	u64 varying;			/* bits in which its keys differ from key[0] */
	u64 disorder;			/* not 0: its keys are not ascending */
	u64 *count;			/* of each digit; then where its next key goes */
	u64 pad[5];			/* from the next slice */
};

static u64 slice_begin(const struct sorter *s, unsigned i)
{
	return (u64)((unsigned __int128)s->n * i / s->n_slices);
}

/* Also looks across to the slice before, so that all slices ascending means all keys. */
static mill_err look(void *arg, unsigned i)
{
	struct sorter *s = arg;
	u64 begin, end, first, varying = 0, disorder = 0;

	if (i >= s->n_slices)
		return MILL_OK;
	begin = slice_begin(s, i);
	end = slice_begin(s, i + 1);
	first = s->key[0];
	for (u64 j = begin; j < end; j++) {
		u64 before = s->key[j ? j - 1 : 0] & s->mask;

		varying |= s->key[j] ^ first;
		disorder |= before > (s->key[j] & s->mask);
	}
	s->slice[i].varying = varying & s->mask;
	s->slice[i].disorder = disorder;
	return MILL_OK;
}

static mill_err count(void *arg, unsigned i)
{
	struct sorter *s = arg;
	unsigned shift = s->shift;
	u64 mask = s->mask, digit = s->buckets - 1, end, *n;

	if (i >= s->n_slices)
		return MILL_OK;
	n = s->slice[i].count;
	memset(n, 0, s->buckets * sizeof(*n));
	end = slice_begin(s, i + 1);
	for (u64 j = slice_begin(s, i); j < end; j++)
		n[(s->key[j] & mask) >> shift & digit]++;
	return MILL_OK;
}

/* Counts become the places where a slice's next key of that digit goes. */
static void place(struct sorter *s)
{
	u64 at = 0;

	for (unsigned d = 0; d < s->buckets; d++) {
		for (unsigned i = 0; i < s->n_slices; i++) {
			u64 n = s->slice[i].count[d];

			s->slice[i].count[d] = at;
			at += n;
		}
	}
}

static mill_err scatter(void *arg, unsigned i)
{
	struct sorter *s = arg;
	unsigned shift = s->shift;
	u64 mask = s->mask, digit = s->buckets - 1, end, at, *next;

	if (i >= s->n_slices)
		return MILL_OK;
	next = s->slice[i].count;
	end = slice_begin(s, i + 1);
	for (u64 j = slice_begin(s, i); j < end; j++) {
		u64 key = s->key[j];

		at = next[(key & mask) >> shift & digit]++;
		s->key_to[at] = key;
		if (s->value)
			s->value_to[at] = s->value[j];
	}
	return MILL_OK;
}

static mill_err copy_back(void *arg, unsigned i)
{
	struct sorter *s = arg;
	u64 begin, size;

	if (i >= s->n_slices)
		return MILL_OK;
	begin = slice_begin(s, i);
	size = (slice_begin(s, i + 1) - begin) * sizeof(u64);
	memcpy(s->key_to + begin, s->key + begin, size);
	if (s->value)
		memcpy(s->value_to + begin, s->value + begin, size);
	return MILL_OK;
}

static void swap(u64 **a, u64 **b)
{
	u64 *was = *a;

	*a = *b;
	*b = was;
}

static mill_err on_slices(struct pool *pool, struct sorter *s, mill_err (*work)(void *, unsigned))
{
	return s->n_slices == 1 ? work(s, 0) : pool_run(pool, work, s);
}

static void sort_few(u64 *key, u64 *value, u64 n, u64 mask)
{
	for (u64 i = 1; i < n; i++) {
		u64 k = key[i], v = value ? value[i] : 0, j = i;

		for (; j && (key[j - 1] & mask) > (k & mask); j--) {
			key[j] = key[j - 1];
			if (value)
				value[j] = value[j - 1];
		}
		key[j] = k;
		if (value)
			value[j] = v;
	}
}

/* Digits begin at bits that vary, so that gaps between such bits cost nothing either, and are about equally long. */
static mill_err sort_passes(struct pool *pool, struct sorter *s, u64 varying)
{
	u64 *home = s->key;

	while (varying) {
		unsigned span = 64 - (unsigned)__builtin_clzll(varying), bits;

		s->shift = (unsigned)__builtin_ctzll(varying);
		span -= s->shift;
		bits = (unsigned)div_up(span, div_up(span, s->digit_bits));
		s->buckets = 1u << bits;
		varying &= s->shift + bits < 64 ? ~(u64)0 << (s->shift + bits) : 0;
		TRY(on_slices(pool, s, count));
		place(s);
		TRY(on_slices(pool, s, scatter));
		swap(&s->key, &s->key_to);
		swap(&s->value, &s->value_to);
	}
	return s->key == home ? MILL_OK : on_slices(pool, s, copy_back);
}

mill_err sort_u64(struct pool *pool, struct budget *budget, u64 *key, u64 *value, u64 n, unsigned bits)
{
	struct sorter s = { .key = key, .value = value, .n = n, .n_slices = 1, .digit_bits = DIGIT_BITS };
	u64 varying = 0, disorder = 0, *temp = NULL;
	mill_err err;

	if (!bits || n < 2)
		return MILL_OK;
	s.mask = bits < 64 ? ((u64)1 << bits) - 1 : ~(u64)0;
	if (n < INSERT_BELOW) {
		sort_few(key, value, n, s.mask);
		return MILL_OK;
	}
	if (pool && n >= PARALLEL_FROM)
		s.n_slices = pool_size(pool);
	TRY(memory_new(&s.slice, budget, s.n_slices, sizeof(*s.slice) + (sizeof(u64) << DIGIT_BITS),
		       "the digits of a sort"));
	for (unsigned i = 0; i < s.n_slices; i++)
		s.slice[i].count = (u64 *)(s.slice + s.n_slices) + ((u64)i << DIGIT_BITS);
	err = on_slices(pool, &s, look);
	for (unsigned i = 0; !err && i < s.n_slices; i++) {
		varying |= s.slice[i].varying;
		disorder |= s.slice[i].disorder;
	}
	if (!err && disorder) {
		err = memory_new(&temp, budget, n, value ? 16 : 8, "a sort's second copy");
		if (!err) {
			s.key_to = temp;
			s.value_to = value ? temp + n : NULL;
			err = sort_passes(pool, &s, varying);
		}
	}
	memory_free(temp);
	memory_free(s.slice);
	return err;
}

void sort_u64_with(u64 *key, u64 *temp, u64 n, unsigned bits)
{
	u64 digits[BUCKETS];
	struct slice slice = { .count = digits };
	struct sorter s = { .key = key, .key_to = temp, .n = n, .n_slices = 1, .slice = &slice };

	s.digit_bits = n < 8 * BUCKETS ? DIGIT_BITS : CACHED_BITS;

	if (!bits || n < 2)
		return;
	s.mask = bits < 64 ? ((u64)1 << bits) - 1 : ~(u64)0;
	if (n < INSERT_BELOW) {
		sort_few(key, NULL, n, s.mask);
		return;
	}
	look(&s, 0);
	if (slice.disorder)
		sort_passes(NULL, &s, slice.varying);
}

u64 prefix_sum_u64(u64 *value, u64 n)
{
	u64 sum = 0;

	for (u64 i = 0; i < n; i++) {
		u64 own = value[i];

		value[i] = sum;
		sum += own;
	}
	return sum;
}
