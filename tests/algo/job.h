/* SPDX-License-Identifier: Apache-2.0 */
/* Every algorithm with its options, each compared with the naive answer: for tests of what algorithms share. */
#ifndef JOB_H
#define JOB_H

#include "expect.h"

enum {
	JOB_SOURCE = 1,		/* is refused where there is no vertex */
	JOB_WEIGHTS = 2,	/* needs weights */
	JOB_IN = 4,		/* needs the in-edges of a directed graph */
	JOB_ASYNC = 8,		/* runs with and without steps */
	JOB_FLOATS = 16,	/* devices may give other last bits */
	JOB_GRAPHIE = 32,	/* has kernels of that policy */
	JOB_GTS = 64,
	JOB_GROUPS = 128,	/* is tried with work-groups of other sizes: kernels are compiled for each */
	JOB_HOST = 256,		/* not on devices, or tested there elsewhere */
	JOB_SMALL = 512,	/* not on large graphs: the naive answer takes long */
	JOB_MANY_STEPS = 2048,	/* not of large graphs on devices: each step waits for them */
	JOB_ONLY_ASYNC = 1024,	/* in steps it is another job */
};

struct job {
	const char *name, *algorithm;
	/* Calls the algorithm, compares all that it gives, holds the certificate against it and returns the hash. */
	u64 (*expect)(const struct graph *g, const char *where, mill_run *run, u32 root);
	const void *how;	/* for the plan */
	u32 flags;
};

extern const struct job jobs[];
extern const u32 n_jobs;

#endif
