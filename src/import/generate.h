/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates graphs. Edge i of a graph depends only on the seed and on i, so that any number of
 * threads makes the same store.
 */
#ifndef IMPORT_GENERATE_H
#define IMPORT_GENERATE_H

#include "base/error.h"

/* Does what mill_generate promises (millrace.h). */
mill_err generate(struct mill_built *out, const struct mill_generate *how);
/* Returns the names of the generators, NULL-terminated. */
const char *const *generate_kinds(void);

#endif
