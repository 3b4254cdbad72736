/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: every algorithm with its options, and a function that compares its result with the
 * naive answer.
 */
#ifndef JOB_H
#define JOB_H

#include "expect.h"

enum {
	JOB_SOURCE = 1,		/* is refused if there is no vertex */
	JOB_WEIGHTS = 2,	/* needs weights */
	JOB_IN = 4,		/* needs the in-edges of a directed graph */
	JOB_ASYNC = 8,		/* runs with async too */
	JOB_FLOATS = 16,	/* sums floats: devices may round differently */
	JOB_GRAPHIE = 32,	/* has kernels of that policy */
	JOB_GTS = 64,		/* the same */
	JOB_GROUPS = 128,	/* is also tried with other work-group sizes (slow to compile) */
	JOB_HOST = 256,		/* does not run on devices, or another test covers them */
	JOB_SMALL = 512,	/* skips large graphs: the naive answer takes long */
	JOB_MANY_STEPS = 2048,	/* skips large graphs on devices: each step waits for the device */
	JOB_ONLY_ASYNC = 1024,	/* without async it is another job */
};

struct job {
	const char *name, *algorithm;
	/* Calls the algorithm, compares the result, checks the certificate, returns the hash. */
	u64 (*expect)(const struct graph *g, const char *where, mill_run *run, u32 root);
	const void *how;	/* options, for mill_run_plan */
	u32 flags;
};

extern const struct job jobs[];
extern const u32 n_jobs;

#endif
