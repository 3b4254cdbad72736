/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names, facts and functions of certificates that weak and strong components share.
 *
 * During a run a component is known by its root: an algorithm gives each vertex a root. At
 * the end component.op.h names each component after the smallest rank in it.
 */
#ifndef ALGO_COMPONENT_H
#define ALGO_COMPONENT_H

#include "algo/algo.h"

/* Declares the programs and bytes of naming, without the roots and one vector of u32. */
void declare_component(struct declaration *d);
/*
 * Turns roots into names and adds the column "component". root[v] is a vertex of v's
 * component, the same one for all of its vertices; it becomes the rank of the smallest id.
 * least: a scratch vector of u32 by vertex, all UINT32_MAX. *n_components: components of
 * vertices that have edges.
 */
mill_err component_names(struct mill_run *r, struct vec *root, struct vec *least,
			 u64 *n_components);
/* Adds the facts, from column 0. */
mill_err component_facts(struct mill_run *r, u64 n_components);

/* ---- Certificates ---- */

/* Certifies column 0 as weak components. Takes component_check_bytes of host memory. */
mill_err cc_check(struct mill_run *r);
u64 component_check_bytes(const struct store *st);
/* Calls check with the names and ranks in host memory. */
mill_err component_check(struct mill_run *r,
			 mill_err (*check)(struct mill_run *r, const u32 *name, const vid *rank));
/* Checks that every component is named after the smallest rank in it. Counts the components. */
mill_err component_check_names(struct mill_run *r, const u32 *name, const vid *rank,
			       u64 *n_components);

#endif
