/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where a store is made: the directory PATH.new, locked, which is renamed to PATH or
 * removed. docs/format.md, "Making a store", has the order of writes, syncs and renames.
 */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "base/file.h"
#include "base/memory.h"

struct place;

/*
 * Makes PATH.new. Fails with MILL_EUSAGE if the target exists and force is false, or if force is
 * true and the target is not a store; with MILL_ELOCKED if another process is making it.
 */
mill_err place_open(struct place **out, const char *path, bool force, struct budget *budget);
/*
 * Chooses the directories of the stripes, "DIR,DIR,...", and checks them.
 * place_make_stripes makes the folders in them, when the uuid is known.
 */
mill_err place_stripe(struct place *p, const char *list);
/* Returns the number of stripes. */
u32 place_stripes(const struct place *p);
mill_err place_make_stripes(struct place *p, const u8 *uuid);
/* Creates a file in the folder of a stripe. */
mill_err place_create_in(struct place *p, u32 stripe, struct file *out, const char *name);
/* Returns the path of the directory PATH.new. */
const char *place_dir(const struct place *p);
/* Creates a file in PATH.new. */
mill_err place_create(struct place *p, struct file *out, const char *name);
/* Gives a complete file its final mode and syncs it. */
mill_err place_finish(struct place *p, struct file *f);
/* Writes the manifest and makes the store visible and durable. All files are finished before. */
mill_err place_commit(struct place *p, const char *manifest, size_t size);
/* Removes everything, unless it was committed. NULL is fine. Keeps the caller's mill_error(). */
void place_close(struct place *p);

/* Removes the PATH.new that a killed process left for the store at `path`. Never fails or waits. */
void place_sweep(const char *path);
/*
 * Copies a path without trailing slashes; the copy counts against the budget. Fails with
 * MILL_EUSAGE if the path cannot be that of a store ("", "/").
 */
mill_err place_path(char **out, struct budget *budget, const char *path);

#endif
