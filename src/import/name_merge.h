/* SPDX-License-Identifier: Apache-2.0 */
/* Merges sorted runs of names into one sequence, in which each distinct name has a rank. */
#ifndef IMPORT_NAME_MERGE_H
#define IMPORT_NAME_MERGE_H

#include "base/clock.h"
#include "import/spool.h"

/*
 * Distinct names in ascending order: bytes [at, end) of a spool. A name is its length (u16) and
 * its bytes.
 */
struct name_run {
	u64 n;			/* names */
	u64 at, end;
};

struct name_merge {
	/* set by the caller */
	struct budget *budget;
	struct ticker *ticker;
	u64 memory;		/* about how many bytes the merge may take */
	const struct spool *names;
	struct name_run *run;
	u64 n_runs;
	struct spool *sorted;	/* gets the distinct names of all runs, each with a newline */
	const char *dir;
	/* set by name_merge */
	struct file ranks;	/* u32 for each name of each run; closed with at most one run */
	u64 vertices;		/* number of distinct names */
};

/*
 * Fails with MILL_ELIMIT if there are more names than a store has vertices, and with MILL_ENOMEM
 * if there are too many runs. The caller closes `ranks`, even if this fails.
 */
mill_err name_merge(struct name_merge *m);

#endif
