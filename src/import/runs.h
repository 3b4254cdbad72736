/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted runs of keys in one temporary file, read back as one sorted sequence, piece by piece. The
 * first key of every so many is remembered, so that a piece, all keys below some bound, is a slice
 * of each run: slices are read one after the other and sorted together. Equal keys come in the
 * order in which they were added, and in the same piece, or in pieces of their own if they are too many.
 */
#ifndef IMPORT_RUNS_H
#define IMPORT_RUNS_H

#include "base/file.h"
#include "import/edges.h"

/* Of the budget's limit, what runs may remember of their keys is at most this part, and twice that for a moment. */
#define RUNS_SHARE 64

struct run;

struct runs {
	struct file file;
	struct budget *budget;
	bool weighted;		/* each key has 8 bytes of weight */
	u64 mask;		/* the bits of a key that order it: a contiguous range from bit 0 */
	struct run *run;
	u64 n_runs, run_room;
	u64 *sample;		/* ordering bits of keys 0, step, 2 x step, ... of each run */
	u64 n_samples, sample_room, most_samples;
	u64 step;
	u64 n;			/* keys in all runs */
	u64 bytes;		/* of the file */
	u64 done;		/* keys that have been read */
	bool partial;		/* the last piece holds a part of one group of equal keys, and nothing else ... */
	bool partial_last;		/* ... namely the last */
};

/* dir: where the file is; bits: how many order a key (at most 64). Released also when it fails. */
mill_err runs_open(struct runs *r, const char *dir, struct budget *budget, bool weighted, unsigned bits);
void runs_release(struct runs *r);
/* Adds a run: keys sorted by the ordering bits; weight may be NULL if there are none. */
mill_err runs_add(struct runs *r, const u64 *key, const u64 *weight, u64 n);
/* From the beginning again. */
void runs_rewind(struct runs *r);
/*
 * The next keys, at most `room`, sorted, into e->key and e->weight, which have that room; e->n = 0 at
 * the end. A group of equal keys that is larger comes in several pieces: r->partial.
 */
mill_err runs_next(struct runs *r, struct edges *e, u64 room);
/* The same in the order of the file: for what is sorted anew. */
mill_err runs_next_unsorted(struct runs *r, struct edges *e, u64 room);

#endif
