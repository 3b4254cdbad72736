/* SPDX-License-Identifier: Apache-2.0 */
/* Computes components the slow and obvious way, and compares the results of runs with them. */
#ifndef COMPONENT_H
#define COMPONENT_H

#include "expect.h"

/* Set part[v] to the smallest vertex of v's component. */
void naive_weak(const struct graph *g, u32 *part);
void naive_strong(const struct graph *g, u32 *part);

/* A method to find components. */
struct finder {
	const char *name, *algorithm;
	bool strong;
	struct mill_cc how;
};
extern const struct finder finders[];
extern const size_t n_finders;
mill_err finder_call(const struct finder *f, mill_run *run);

/*
 * Calls the algorithm, compares values and facts with part, verifies the certificate and
 * returns the hash of the result. part: from parts_of.
 */
u64 expect_components(const struct graph *g, const char *where, mill_run *run,
		      const struct finder *f, const u32 *part);
/* Returns the weak or strong components, as the finder computes them; the caller frees them. */
u32 *parts_of(const struct graph *g, const struct finder *f);

#endif
