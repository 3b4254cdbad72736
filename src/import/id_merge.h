/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted runs of distinct ids in a file; merging replaces each id by its rank among all. */
#ifndef IMPORT_ID_MERGE_H
#define IMPORT_ID_MERGE_H

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

struct id_run {
	u64 at;		/* byte of its first id; after merging, of the first of n ranks, u32 each */
	u64 n;
};

struct id_merge {
	struct budget *budget;
	struct ticker *ticker;
	u64 memory;		/* that the merging may take, about */
	struct file *file;
	const struct id_run *run;
	u64 n_runs;
	/* Takes the distinct ids of all runs, ascending: the n-th is the id of rank n. */
	mill_err (*take)(void *arg, u64 id);
	void *arg;
};

/* MILL_ENOMEM, with how much is needed, if there are too many runs. */
mill_err id_merge(const struct id_merge *m);

#endif
