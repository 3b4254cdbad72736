/* SPDX-License-Identifier: Apache-2.0 */
/* The formats that import reads: one table, one reader each. */
#ifndef IMPORT_FORMAT_H
#define IMPORT_FORMAT_H

#include "import/reader.h"

struct format {
	const char *name;		/* what --format takes */
	const char *shown;		/* in sentences */
	const char *const *suffix;	/* NULL-terminated, without that of a compression */
	/* Do these first bytes of an input settle it? NULL: its suffix or --format must. */
	bool (*sniff)(const char *head, u64 size);
	mill_err (*read)(struct reader *r);
};

/* NULL-terminated: the names. */
const char *const *format_names(void);
/* MILL_EUSAGE, with the names that there are, if there is no such. */
mill_err format_find(const struct format **out, const char *name);
/* Reads one input, in the format asked for or else found. */
mill_err format_read(struct intake *k, const char *path);

/*
 * Length of path without the suffix of a compression, and without one of `suffix` besides:
 * 0 if it has none of them.
 */
size_t path_stem(const char *path, const char *const *suffix);

/* One per file of this folder. Bad input is MILL_EINPUT with its line or byte. */
mill_err edges_read(struct reader *r);
mill_err mtx_read(struct reader *r);
mill_err dimacs_read(struct reader *r);
mill_err metis_read(struct reader *r);
mill_err ascii_read(struct reader *r);
mill_err sg_read(struct reader *r);
mill_err wsg_read(struct reader *r);
mill_err raw_read(struct reader *r);
mill_err ldbc_read(struct reader *r);
mill_err bvgraph_read(struct reader *r);

/* Is the file at `path` (its stem: the first `stem` bytes) beside properties of a BVGraph? */
mill_err bvgraph_is(bool *out, const char *path, size_t stem);

#endif
