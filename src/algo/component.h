/* SPDX-License-Identifier: Apache-2.0 */
/* What weak and strong components share: their names, what is said of them, parts of their certificates. */
#ifndef ALGO_COMPONENT_H
#define ALGO_COMPONENT_H

#include "algo/algo.h"

/* Declares what naming takes beside the roots themselves and one vector of u32. */
void declare_component(struct declaration *d);
/*
 * root[v] = a vertex of v's component, the same for all of them, becomes the column "component": the rank of the
 * smallest id. Components of those with edges are counted. least is a vector of as many u32, all UINT32_MAX.
 */
mill_err component_names(struct mill_run *r, struct vec *root, struct vec *least, u64 *n_components);
/* The facts, from column 0. */
mill_err component_facts(struct mill_run *r, u64 n_components);

/* ---- Certificates ---- */

/* Certifies column 0 as weak components, by component_check_bytes of memory. */
mill_err cc_check(struct mill_run *r);
u64 component_check_bytes(const struct store *st);
/* Calls check with the names and ranks on the host. */
mill_err component_check(struct mill_run *r,
			 mill_err (*check)(struct mill_run *r, const u32 *name, const vid *rank));
/* Every component is named after the smallest rank in it. Counts them. */
mill_err component_check_names(struct mill_run *r, const u32 *name, const vid *rank, u64 *n_components);

#endif
