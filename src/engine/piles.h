/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vertices that wait, in buckets by key (Gunrock, 5.1.5; with two of them near/far, Davidson et al.). Bucket 0 is near: the frontier itself. Buckets
 * 1 .. n - 2 are as wide as each other, and the last one, far, has all keys beyond. What is near was bucket `near` before; op_split opens the next one
 * that holds something, and only if none does, it looks at the far vertices and parts them again.
 *
 * Keys may fall while their vertices wait. The program then activates the vertex again, so it waits in the bucket of its new key, and where
 * it waited before it is found with a key below the bucket's, and dropped.
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
	struct vec *far;	/* a bitmap; NULL: nothing waits */
	struct vec *bits;	/* of buckets 1, 2, ...: bitmaps side by side; NULL if there are two buckets */
	struct vec *borders;	/* `border` on a device, likewise */
	u64 words;		/* of a bitmap */
	u32 n;			/* with near and far */
	u32 near;
	u64 limit;		/* keys below it are near: border[near] */
	u64 filled;		/* bit b: bucket b, far left out, may hold something */
	u64 width;		/* as a key: above 0 */
	bool real;		/* keys are the bits of f64 that are not negative */
	u64 border[BUCKETS_MOST - 1];	/* where each ends, far left out; UINT64_MAX if that would be beyond */
};

/* Bytes where the device is; n: 0 without buckets. */
u64 piles_bytes(u64 n_vertices, u32 n);
mill_err run_piles(struct mill_run *r, struct piles *b, u32 n);
/* The near bucket begins at a key, the others follow. They are to be empty. */
mill_err piles_begin(struct piles *b, u64 begin);
/*
 * Opens the next bucket that may hold something. If none does, it parts the far keys: from `rest`, or where the last bucket ended if that is UINT64_MAX.
 * Returns the bucket whose vertices are to be looked at; *begin: keys below it are settled.
 */
mill_err piles_open(struct piles *b, u64 rest, u32 *from, u64 *begin);
static inline u32 piles_far(const struct piles *b) { return b->n - 1; }
/* The first key that no bucket but far has. */
static inline u64 piles_end(const struct piles *b) { return b->border[b->n - 2]; }

#endif
