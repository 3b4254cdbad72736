/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and prefix sums. The result does not depend on the number of threads. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/memory.h"
#include "base/thread.h"

/*
 * Sorts n keys by their low `bits` bits: a stable radix sort. value[i] moves with key[i]; value
 * may be NULL. Takes temporary memory of the same size from the budget. Bits that are equal in
 * all keys cost no pass.
 */
mill_err sort_u64(struct pool *pool, struct budget *budget, u64 *key, u64 *value, u64 n,
		  unsigned bits);

/* Does the same for keys without values, on the calling thread. temp has room for n keys. */
void sort_u64_with(u64 *key, u64 *temp, u64 n, unsigned bits);

/* Replaces each value by the sum of those before it. Returns the total. */
u64 prefix_sum_u64(u64 *value, u64 n);

#endif
