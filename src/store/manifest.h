/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a store: a text that is read back only if every byte is as it was written. */
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include "store/store.h"

#define MANIFEST_NAME "manifest"
#define SUMS_NAME "sums"
#define MANIFEST_MAX 4096u	/* bytes of a manifest of this version */
#define MANIFEST_READ_MAX MIB	/* ... and of a later one, of which only the version is read */
#define ORIGIN_MAX 1000u

struct manifest {
	u32 version;		/* of the format: STORE_FORMAT of a paged store, else what is written is STORE_FORMAT_DENSE */
	u8 uuid[16];
	char origin[ORIGIN_MAX + 1];
	u64 fingerprint;
	enum page_codec codec;
	u32 page_size;
	u32 stripes;		/* 0: the pages are in the store's own directory; not in version 1 */
	bool paged;		/* lists hold page addresses: from version 3 on, where it is always so */
	u32 slots[2];		/* their strides: out, in; 0 for pages that do not exist, and in others */
	bool directed, in_pages, names;
	enum mill_weight weight;
	u64 vertices, sources, n_linked, edges, stored_edges, in_rows, self_loops, parallel_edges, max_degree;
	u64 min_id, max_id;
	f64 min_weight, max_weight, sum_weight;
	u64 size[STORE_FILES];	/* 0 for files that do not exist */
	u64 sums;		/* digest of the file of that name */
};

/* The name of a file inside the store: "out.pages". */
const char *store_file_name(enum store_file f);
/* Does a store of this shape have the file? */
bool manifest_has(const struct manifest *m, enum store_file f);
/* 36 characters and a NUL. */
void uuid_show(char *to, const u8 *uuid);

/* text holds MANIFEST_MAX bytes; returns the length, without a final NUL. */
size_t manifest_format(char *text, const struct manifest *m);
/*
 * `shown` names the file in messages. Checks the checksum before it believes the version, and
 * all that can be known without the other files: limits, sizes, how counts depend on each other.
 */
mill_err manifest_parse(struct manifest *out, const char *text, size_t size, const char *shown);

#endif
