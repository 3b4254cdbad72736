/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generators. Edge i of a graph is a function of the seed and i only, so that any number
 * of threads makes the same store.
 */
#ifndef IMPORT_GENERATE_H
#define IMPORT_GENERATE_H

#include "base/error.h"

/* mill_generate without the public name. */
mill_err generate(struct mill_built *out, const struct mill_generate *how);
/* NULL-terminated. */
const char *const *generate_kinds(void);

#endif
