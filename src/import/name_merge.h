/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs of names become one, in which each has a rank. */
#ifndef IMPORT_NAME_MERGE_H
#define IMPORT_NAME_MERGE_H

#include "base/clock.h"
#include "import/spool.h"

/* Distinct names in ascending order: bytes [at, end) of a spool, as u16 length and the bytes. */
struct name_run {
	u64 n;
	u64 at, end;
};

struct name_merge {
	/* set by the caller */
	struct budget *budget;
	struct ticker *ticker;
	u64 memory;		/* that the merging may take, about */
	const struct spool *names;
	struct name_run *run;
	u64 n_runs;
	struct spool *sorted;	/* takes the distinct names of all runs, each with a newline */
	const char *dir;
	/* what comes of it */
	struct file ranks;	/* u32 for each name of each run, unless there is one run only, or none */
	u64 vertices;
};

/* MILL_ELIMIT if there are more names than vertices can be, MILL_ENOMEM if too many runs. ranks is the caller's, always. */
mill_err name_merge(struct name_merge *m);

#endif
