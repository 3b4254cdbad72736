/* SPDX-License-Identifier: Apache-2.0 */
/* What many unit tests need: a scratch directory, whole files. */
#ifndef UNIT_HELPERS_H
#define UNIT_HELPERS_H

#include "base/error.h"
#include "unit.h"

/* The path of the scratch directory, in $TMPDIR or /tmp. */
extern char scratch[200];

/* Setup and teardown of a suite: make the scratch directory, remove it and all that is in it. */
int scratch_make(void **state);
int scratch_remove(void **state);

/*
 * Return the path of a file in a directory, or in the scratch directory. The text stays valid for
 * the next 63 calls of the same function.
 */
const char *path_in(const char *directory, const char *name);
const char *in_scratch(const char *name);

/* Writes a file; replaces an old one. */
void put_file(const char *path, const void *data, size_t size);

/*
 * Runs work in a child process with MILL_FAULT set: a process reads it once, so no call of the
 * parent may have read it before. Returns the exit code, 97 if memory leaked (with the address
 * sanitizer), or 1000 + the signal that ended the child.
 */
int under_fault(const char *fault, int (*work)(void));

/* Reads a file. A zero byte, not counted in size, follows its content. The caller frees it. */
uint8_t *slurp(const char *path, size_t *size);

#endif
