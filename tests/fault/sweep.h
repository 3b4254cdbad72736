/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep: one command, in which the first operation fails, then the second, ... */
#ifndef SWEEP_H
#define SWEEP_H

#include "fault/command.h"

/* A command, and what it makes. */
struct subject {
	const char *line;
	const char *makes;	/* a file or a store in the working folder; NULL: nothing */
	const char *want;	/* equals what it makes; NULL: that holds times */
	const char *hold;	/* another fault, which every run has; or NULL */
};

/* A fault, and how a command may end that meets it. */
struct plague {
	const char *fault;	/* "alloc:n=%u": the number is the operation that fails */
	int code[4];		/* exit codes other than 0 that are right; none: it never fails */
	bool makers_only;	/* for commands that make something */
	/* Each operation up to `every` fails in turn, then some: n grows by per_cent. */
	unsigned every, per_cent;
};

/*
 * Runs the command again and again, until the fault no longer strikes. After each run: the exit
 * code is right, an error is one line, exit 0 means the same bytes as without faults, no part of
 * the result and no other file stays, and all files are closed. If the fault has exit codes, at
 * least one run must fail.
 */
void sweep(const struct subject *s, const struct plague *p);
/* Does one run of that and returns its exit code. n replaces the %u of the fault, if any. */
int sweep_once(const struct subject *s, const struct plague *p, unsigned n);

#endif
