/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of a store may lie on several disks: page j of a direction is page j / N of stripe j mod N (GTS's g).
 * `stripe.K` in the store is a link to the folder of stripe K, which holds page files and a mark that says whose they
 * are. docs/format.md, "Stripes".
 */
#ifndef STORE_STRIPE_H
#define STORE_STRIPE_H

#include "base/file.h"
#include "base/memory.h"

#define STRIPES_MAX 16u		/* with both directions half of the open files that import may have */
#define STRIPE_MARK "stripe"	/* the file in the folder that says which one it is */
#define STRIPE_NAME 12u		/* bytes of "stripe.K" with its NUL */

/* The folders of a store that is being made. */
struct stripes {
	u32 n;			/* 0: the pages are in the store itself */
	char *dir[STRIPES_MAX];	/* as the user gave them; NULL-filled */
	char *folder[STRIPES_MAX];
};

/* "DIR,DIR,...": they must be there, each once. Release also if it fails. */
mill_err stripes_choose(struct stripes *s, const char *list, struct budget *budget);
/*
 * Makes the folders, and the links to them in `store`, the directory in which the store at `path` is made. The links
 * are durable first, so that whoever removes the store finds the folders. What a user gave relative becomes relative to
 * the store. mode: of the marks.
 */
mill_err stripes_make(struct stripes *s, int store, const char *made_in, const char *path, const u8 *uuid, u32 mode);
/* A new file in the folder of stripe k. */
mill_err stripe_create(const struct stripes *s, u32 k, struct file *out, const char *name);
/* Everything in them is synced: makes that they are there durable as well. */
mill_err stripes_sync(const struct stripes *s);
void stripes_release(struct stripes *s);

/* "stripe.K" */
void stripe_name(char to[STRIPE_NAME], u32 k);
bool is_stripe_name(const char *name);
/* How many of n pages stripe k of `of` has. */
u64 stripe_share(u64 n, u32 k, u32 of);
/*
 * Opens the folder of stripe k of the store whose directory `store` is, at `path`; *shown is its path, to be freed. Not
 * there: MILL_EIO; that of another store or another stripe: MILL_ECORRUPT.
 */
mill_err stripe_open(struct file *out, char **shown, int store, const char *path, u32 k, u32 of, const u8 *uuid);

/* Removes the folders of a store that goes away, but not those that were made for another: a copy's links. Best effort. */
void stripes_remove(int store, const char *path);

#endif
