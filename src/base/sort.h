/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting and prefix sums, in parallel and with a result that does not depend on the threads. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include "base/memory.h"
#include "base/thread.h"

/*
 * Stable radix sort of n keys by their low `bits` bits, carrying value[i] with key[i] (value may be NULL).
 * Takes as much temporary memory again, from the budget. Digits that are equal in all keys cost no pass.
 */
mill_err sort_u64(struct pool *pool, struct budget *budget, u64 *key, u64 *value, u64 n, unsigned bits);

/* The same for keys alone on the calling thread; temp has room for n. */
void sort_u64_with(u64 *key, u64 *temp, u64 n, unsigned bits);

/* Exclusive prefix sum in place over n values; returns the total. */
u64 prefix_sum_u64(u64 *value, u64 n);

#endif
