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

/* What a task gives, or that it refuses the graph. */
struct answer {
	mill_err err;
	u64 hash;
	f64 *score;		/* where no bits are promised */
};

#define ANSWER_TOLERANCE 1e-6

/* Of all tasks that the store can be asked for, on the cpu. */
void answers_begin(struct answer out[N_TASKS], mill_store *store);
void answers_end(struct answer answer[N_TASKS]);
bool task_suits(const struct task *t, mill_store *store);
/* Calls it and fails unless it gives the same, its certificate holds and no budget was passed. */
void expect_answer(const char *where, mill_run *run, const struct task *t, const struct answer *want);
/* Every device gets the least that the task needs and so many bytes more; it begins anew. */
void task_room(mill_run *run, const struct task *t, u64 more);

#endif
