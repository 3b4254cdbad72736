/* SPDX-License-Identifier: Apache-2.0 */
/* Components the slow and obvious way, and whether a run finds them. */
#ifndef COMPONENT_H
#define COMPONENT_H

#include "expect.h"

/* part[v]: the smallest vertex of v's component. */
void naive_weak(const struct graph *g, u32 *part);
void naive_strong(const struct graph *g, u32 *part);

/* The ways to find components that this build has. */
struct finder {
	const char *name, *algorithm;
	bool strong;
	struct mill_cc how;
};
extern const struct finder finders[];
extern const size_t n_finders;
mill_err finder_call(const struct finder *f, mill_run *run);

/* Calls the algorithm and compares all that it says; part: of naive_weak or naive_strong. The hash is returned. */
u64 expect_components(const struct graph *g, const char *where, mill_run *run, const struct finder *f,
		      const u32 *part);
/* The right answer of the finder's kind; free it. */
u32 *parts_of(const struct graph *g, const struct finder *f);

#endif
