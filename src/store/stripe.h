/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes: the pages of a store may lie on several disks. Page j of a direction is page j / N of
 * stripe j mod N (the function g of the GTS paper). docs/format.md, "Stripes", has the details.
 *
 * Stripes are links: `stripe.K` in the store is a symbolic link to a folder on another disk, which
 * holds every N-th page. Readers see only page_place. A link can be seen, moved and made again
 * without a special tool. A file in the folder, its mark, says to which store the folder belongs:
 * by the store's uuid for readers, and by the inode of the store's directory for code that removes
 * the folder.
 */
#ifndef STORE_STRIPE_H
#define STORE_STRIPE_H

#include "base/file.h"
#include "base/memory.h"

#define STRIPES_MAX 16u		/* with both directions, 32 page files are open at once */
#define STRIPE_MARK "stripe"	/* name of the mark in a stripe's folder */
#define STRIPE_NAME 12u		/* bytes of "stripe.K" with its NUL */

/* The folders of a store that is being made. */
struct stripes {
	u32 n;			/* 0: the pages are in the store itself */
	char *dir[STRIPES_MAX];	/* directories as the user gave them; unused ones are NULL */
	char *folder[STRIPES_MAX];
};

/*
 * Takes a list "DIR,DIR,..." of directories that exist and differ. Call stripes_release also on
 * failure.
 */
mill_err stripes_choose(struct stripes *s, const char *list, struct budget *budget);
/*
 * Makes the folders, and the links to them. store: the open directory made_in (PATH.new), in which
 * the store at `path` is made. The links are durable before the folders exist, so that code which
 * removes the store finds the folders. A directory that the user gave as a relative path becomes
 * relative to the store. mode: the file mode of the marks.
 */
mill_err stripes_make(struct stripes *s, int store, const char *made_in, const char *path,
		      const u8 *uuid, u32 mode);
/* Creates a file in the folder of stripe k. */
mill_err stripe_create(const struct stripes *s, u32 k, struct file *out, const char *name);
/* Makes the folders themselves durable, when all files in them are synced. */
mill_err stripes_sync(const struct stripes *s);
void stripes_release(struct stripes *s);

/* Writes "stripe.K". */
void stripe_name(char to[STRIPE_NAME], u32 k);
bool is_stripe_name(const char *name);
/* Returns the number of pages that stripe k has, if `of` stripes have n pages. */
u64 stripe_share(u64 n, u32 k, u32 of);
/*
 * Opens the folder of stripe k. store: the open directory of the store at `path`. *shown is the
 * folder's path, to be freed by the caller. Fails with MILL_EIO if the folder is missing, with
 * MILL_ECORRUPT if it belongs to another store or is another stripe.
 */
mill_err stripe_open(struct file *out, char **shown, int store, const char *path, u32 k, u32 of,
		     const u8 *uuid);

/*
 * Removes the folders of a store that is removed, as far as possible. Folders that were made for
 * another store stay: the links of a copied store lead to those of the original.
 */
void stripes_remove(int store, const char *path);

#endif
