/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: every algorithm with its options, as one call. For tests of all algorithms. */
#ifndef TASK_H
#define TASK_H

#include "expect.h"

struct task {
	const char *name, *algorithm;
	mill_err (*call)(mill_run *r, const void *how);
	const void *how;
	bool weighted;
	bool sizes;		/* also run with other work-group sizes (slow to compile) */
	/* What devices promise: the same bits as the CPU, or scores within ANSWER_TOLERANCE. */
	enum { BITS, F32, F64 } promise;
};

#define N_TASKS 13u
extern const struct task tasks[N_TASKS];

/* The result of a task, or the error if it refuses the graph. */
struct answer {
	mill_err err;
	u64 hash;
	f64 *score;		/* NULL if equal bits are promised */
};

#define ANSWER_TOLERANCE 1e-6

/* Runs all tasks that suit the store on the CPU. */
void answers_begin(struct answer out[N_TASKS], mill_store *store);
void answers_end(struct answer answer[N_TASKS]);
/* Returns false if the task needs weights and the store has none. */
bool task_suits(const struct task *t, mill_store *store);
/*
 * Runs the task. Fails the test unless the answer is the same, the certificate holds and no
 * peak of memory is above its budget.
 */
void expect_answer(const char *where, mill_run *run, const struct task *t,
		   const struct answer *want);
/*
 * Sets the budget of every device to the least that the task needs plus `more` bytes.
 * Devices drop the data that they hold.
 */
void task_room(mill_run *run, const struct task *t, u64 more);

#endif
