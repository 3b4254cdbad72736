/* SPDX-License-Identifier: Apache-2.0 */
/* Every algorithm with its options, as one call: for tests of what they share. */
#ifndef TASK_H
#define TASK_H

#include "expect.h"

struct task {
	const char *name, *algorithm;
	mill_err (*call)(mill_run *r, const void *how);
	const void *how;
	bool weighted;
	bool sizes;		/* also with work-groups of other sizes: its programs are compiled for each */
	enum { BITS, F32, F64 } promise;	/* of devices: the same bits, or scores that differ little */
};

#define N_TASKS 13u
extern const struct task tasks[N_TASKS];

#endif
