/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest of a store: a text that is accepted only if every byte is as it was written. */
#ifndef STORE_MANIFEST_H
#define STORE_MANIFEST_H

#include "store/store.h"

#define MANIFEST_NAME "manifest"
#define SUMS_NAME "sums"
#define MANIFEST_MAX 4096u	/* most bytes of a manifest of this version */
#define MANIFEST_READ_MAX MIB	/* most bytes of a later version: only its version is read */
#define ORIGIN_MAX 1000u

struct manifest {
	u32 version;		/* written: STORE_FORMAT if paged, else STORE_FORMAT_DENSE */
	u8 uuid[16];
	char origin[ORIGIN_MAX + 1];
	u64 fingerprint;
	enum page_codec codec;
	u32 page_size;
	u32 stripes;		/* 0: pages are in the store's directory; not in version 1 */
	bool paged;		/* lists hold page addresses: always so from version 3 on */
	u32 slots[2];		/* ids per page: out, in; 0: a dense store, or no in-pages */
	bool directed, in_pages, names;
	enum mill_weight weight;
	u64 vertices, sources, n_linked, edges, stored_edges, in_rows, self_loops, parallel_edges;
	u64 max_degree;
	u64 min_id, max_id;
	f64 min_weight, max_weight, sum_weight;
	u64 size[STORE_FILES];	/* 0 for files that do not exist */
	u64 sums;		/* checksum of the file `sums` */
};

/* Returns the name of a file inside the store, like "out.pages". */
const char *store_file_name(enum store_file f);
/* Returns true if a store with this manifest has the file. */
bool manifest_has(const struct manifest *m, enum store_file f);
/* Writes 36 characters and a NUL. */
void uuid_show(char *to, const u8 *uuid);

/*
 * Writes the manifest as text. text has MANIFEST_MAX bytes. Returns the length; there is no
 * final NUL.
 */
size_t manifest_format(char *text, const struct manifest *m);
/*
 * Parses a manifest. `shown` names the file in messages. Verifies the checksum before it uses the
 * version. Then checks all that can be checked without the other files: limits, sizes, counts
 * that must agree.
 */
mill_err manifest_parse(struct manifest *out, const char *text, size_t size, const char *shown);

#endif
