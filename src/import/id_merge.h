/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges sorted runs of distinct ids in a file. Merging replaces each id in the file by its rank
 * among the ids of all runs.
 */
#ifndef IMPORT_ID_MERGE_H
#define IMPORT_ID_MERGE_H

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

struct id_run {
	/* Byte of its first id (u64 each); after merging, of the first of n ranks (u32 each). */
	u64 at;
	u64 n;
};

struct id_merge {
	struct budget *budget;
	struct ticker *ticker;
	u64 memory;		/* about how many bytes the merge may take */
	struct file *file;
	const struct id_run *run;
	u64 n_runs;
	/* Called with the distinct ids of all runs, ascending: first the id of rank 0. */
	mill_err (*take)(void *arg, u64 id);
	void *arg;
};

/* Fails with MILL_ENOMEM, and says how much is needed, if there are too many runs. */
mill_err id_merge(const struct id_merge *m);

#endif
