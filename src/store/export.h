/* SPDX-License-Identifier: Apache-2.0 */
/* A store as a graph file. */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "base/clock.h"
#include "store/store.h"

/*
 * format: "edgelist", "mtx", "sg" or "wsg"; NULL: by the suffix of path, else an edge list. All
 * by original id, ascending; path "-" is stdout. The budget pays for the ids and for the longest list.
 *
 * edgelist: "FROM TO[ WEIGHT]" per line, undirected edges once, by name if the store has names (in quotes if they hold
 * separators or quotes). The others number the vertices of such a store by the order of their names. mtx: ids count from 1, so those of a
 * store that has vertex 0 are one more in the file, which says so. sg, wsg: ids are kept, 32 bits wide.
 * The last three name all ids up to the largest: MILL_ELIMIT if these are very many more than the edges.
 */
mill_err store_export(const struct store *st, const char *path, const char *format,
		      struct budget *budget, struct ticker *ticker);

/* What the formats share. */
struct exporter {
	const struct store *st;
	struct budget *budget;
	struct ticker *ticker;
	struct outfile *out;
	u64 *id;		/* by rank; NULL: dense */
	struct names *names;	/* edgelist: NULL, or what stands for ids */
	u64 shift;		/* mtx: what is added to an id */
	bool weighted;		/* sg: with weights */
};

/* The weight of edge k of a list as text; returns its length. */
size_t export_weight(char *to, enum mill_weight type, const void *weight, u64 k);
/* MILL_ELIMIT if ids up to the largest are too many to be named. */
mill_err export_check_ids(const struct store *st, const char *format, u64 most);

mill_err export_edges(struct exporter *x);
mill_err export_mtx(struct exporter *x);
mill_err export_sg(struct exporter *x);

#endif
