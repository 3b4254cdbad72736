/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Piles: vertices that wait, in buckets by key (Gunrock, 5.1.5; two buckets are near/far,
 * Davidson et al.). Bucket 0 is near: the frontier itself. Buckets 1 .. n - 2 have equal
 * widths, and the last one, far, has all keys beyond them. A bitmap for each bucket holds
 * its vertices, and a bit for each bucket (`filled`) says whether it may hold any. So
 * op_split opens the next bucket without looking at the others. Only when all are empty
 * does it read the far vertices and divide them into buckets again: once in n - 1 steps.
 *
 * Keys may fall while their vertices wait. Then the program activates the vertex again, so
 * it also waits in the bucket of its new key. In its old bucket it is found with a key
 * below the bucket's range, and dropped.
 *
 * At its default delta, sssp takes the same number of steps with any number of buckets, and
 * few steps split, so its default is two buckets. With narrow steps (`--delta 5` on a grid),
 * 8 buckets take 0.95 of the instructions of two.
 */
#ifndef ENGINE_PILES_H
#define ENGINE_PILES_H

#include "base/error.h"
#include "device/dialect.h"

struct mill_run;
struct vec;

#define BUCKETS_LEAST 2u
#define BUCKETS_MOST 64u

struct piles {
	struct vec *far;	/* bitmap of far vertices; NULL: no vertex waits */
	struct vec *bits;	/* bitmaps of buckets 1 .. n - 2, in a row; NULL if n is 2 */
	struct vec *borders;	/* `border` on the run's device; NULL if n is 2 */
	u64 words;		/* words of one bitmap */
	u32 n;			/* buckets, near and far included; 0: no vertex waits */
	u32 near;		/* the bucket that is near now */
	u64 limit;		/* keys below it are near: border[near] */
	u64 filled;		/* bit b: bucket b, which is not far, may hold vertices */
	u64 width;		/* of a bucket, as a key: above 0 */
	bool real;		/* keys are the bits of f64 that are not negative */
	u64 border[BUCKETS_MOST - 1];	/* the end of each bucket but far; at most UINT64_MAX */
};

/* Returns the bytes on the run's device. n: the number of buckets, or 0. */
u64 piles_bytes(u64 n_vertices, u32 n);
mill_err run_piles(struct mill_run *r, struct piles *b, u32 n);
/*
 * Sets the borders: the near bucket begins at the key `begin`, the others follow. All are
 * empty.
 */
mill_err piles_begin(struct piles *b, u64 begin);
/*
 * Opens the next bucket that may hold vertices. If none may, sets new borders for the far
 * vertices: they begin at `rest`, or at the end of the last bucket if `rest` is UINT64_MAX.
 * *from: the bucket with the vertices that the caller has to look at. *begin: vertices with
 * smaller keys are settled.
 */
mill_err piles_open(struct piles *b, u64 rest, u32 *from, u64 *begin);
static inline u32 piles_far(const struct piles *b) { return b->n - 1; }
/* Returns the smallest key that is far. */
static inline u64 piles_end(const struct piles *b) { return b->border[b->n - 2]; }

#endif
