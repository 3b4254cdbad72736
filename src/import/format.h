/* SPDX-License-Identifier: Apache-2.0 */
/* The formats that import reads: a table with one reader for each. */
#ifndef IMPORT_FORMAT_H
#define IMPORT_FORMAT_H

#include "import/reader.h"

struct format {
	const char *name;		/* value of --format */
	const char *shown;		/* name in messages */
	const char *const *suffix;	/* NULL-terminated, without those of compression */
	/* Returns true if the first bytes show this format. NULL: only suffix or --format can. */
	bool (*sniff)(const char *head, u64 size);
	mill_err (*read)(struct reader *r);
};

/* Returns the names of all formats, NULL-terminated. */
const char *const *format_names(void);
/* Finds a format. Fails with MILL_EUSAGE, and lists the names, if there is no such format. */
mill_err format_find(const struct format **out, const char *name);
/* Reads one input in the format that --format names. Without --format, finds the format. */
mill_err format_read(struct intake *k, const char *path);

/*
 * Returns the length of path without the suffix of a compression (.gz and others) and without
 * one of `suffix`; 0 if path has none of `suffix`.
 */
size_t path_stem(const char *path, const char *const *suffix);

/* The readers. They fail with MILL_EINPUT, and name the line or byte, if the input is bad. */
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

/*
 * Sets *out to whether the .properties file with the stem of `path` (its first `stem` bytes)
 * describes a BVGraph.
 */
mill_err bvgraph_is(bool *out, const char *path, size_t stem);

#endif
