/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where a store is made: PATH.new, locked, which becomes PATH or vanishes. The order of
 * writes, syncs and renames is that of docs/format.md, "Making a store".
 */
#ifndef STORE_PLACE_H
#define STORE_PLACE_H

#include "base/file.h"
#include "base/memory.h"

struct place;

/*
 * MILL_EUSAGE if the target exists without force, or with force is not a store; MILL_ELOCKED if
 * another process is making it.
 */
mill_err place_open(struct place **out, const char *path, bool force, struct budget *budget);
/* The directories of its stripes, "DIR,DIR,...", are looked at now; their folders are made when the uuid is known. */
mill_err place_stripe(struct place *p, const char *list);
u32 place_stripes(const struct place *p);
mill_err place_make_stripes(struct place *p, const u8 *uuid);
mill_err place_create_in(struct place *p, u32 stripe, struct file *out, const char *name);
/* The path of the directory. */
const char *place_dir(const struct place *p);
/* A new file in it. */
mill_err place_create(struct place *p, struct file *out, const char *name);
/* The file is complete: gives it its final mode and syncs it. */
mill_err place_finish(struct place *p, struct file *f);
/* All files are finished: writes the manifest and makes the store visible and durable. */
mill_err place_commit(struct place *p, const char *manifest, size_t size);
/* Removes everything, unless it was committed. NULL is fine. Keeps the caller's mill_error(). */
void place_close(struct place *p);

/* Removes what a killed process left of making the store at `path`. Never fails, never waits. */
void place_sweep(const char *path);
/* path without trailing slashes; counted. MILL_EUSAGE if it can name no store ("", "/"). */
mill_err place_path(char **out, struct budget *budget, const char *path);

#endif
