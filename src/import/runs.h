/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorted runs of keys in one temporary file, read back as one sorted sequence, piece by piece. A
 * piece is all keys below some bound: a slice of each run. The slices are read one after the
 * other and sorted together. To find them, every `step`-th key of each run (a sample) is kept in
 * memory. Equal keys come in the order in which they were added, and in the same piece; if there
 * are too many for one piece, they come in several pieces without other keys.
 */
#ifndef IMPORT_RUNS_H
#define IMPORT_RUNS_H

#include "base/file.h"
#include "import/edges.h"

/* The samples take at most 1/64 of the budget's limit, and twice that while the array grows. */
#define RUNS_SHARE 64

struct run;

struct runs {
	struct file file;
	struct budget *budget;
	bool weighted;		/* each key has 8 bytes of weight */
	u64 mask;		/* the bits that order a key: bit 0 and the next ones */
	struct run *run;
	u64 n_runs, run_room;
	u64 *sample;		/* ordering bits of keys 0, step, 2 x step, ... of each run */
	u64 n_samples, sample_room, most_samples;
	u64 step;
	u64 n;			/* keys in all runs */
	u64 bytes;		/* size of the file */
	u64 done;		/* keys that have been read */
	bool partial;		/* the last piece is a part of a large group of equal keys ... */
	bool partial_last;	/* ... and it is the last piece of that group */
};

/*
 * dir: the directory of the file; bits: how many bits order a key (at most 64). The caller must
 * call runs_release even if this fails.
 */
mill_err runs_open(struct runs *r, const char *dir, struct budget *budget, bool weighted,
		   unsigned bits);
void runs_release(struct runs *r);
/* Adds a run of keys sorted by the ordering bits. weight: NULL if there are no weights. */
mill_err runs_add(struct runs *r, const u64 *key, const u64 *weight, u64 n);
/* Starts reading from the beginning again. */
void runs_rewind(struct runs *r);
/*
 * Reads the next keys, sorted, into e->key and e->weight, which have room for `room` of them;
 * e->n is 0 at the end. A group of more than `room` equal keys comes in several pieces
 * (r->partial).
 */
mill_err runs_next(struct runs *r, struct edges *e, u64 room);
/* Does the same in the order of the file, for keys that will be sorted by other numbers. */
mill_err runs_next_unsorted(struct runs *r, struct edges *e, u64 room);

#endif
