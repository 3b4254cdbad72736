/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a store as a graph file. */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "base/clock.h"
#include "store/store.h"

/*
 * format: "edgelist", "mtx", "sg" or "wsg"; NULL: by the suffix of path, else an edge list.
 * Vertices are in ascending order of their original ids. The path "-" is stdout. The budget pays
 * for the ids and for the longest list.
 *
 * edgelist: one line "FROM TO[ WEIGHT]" per edge, undirected edges once. If the store has names,
 * they stand in place of ids, in quotes if they contain separators or quotes. The other formats
 * number the vertices of such a store by the order of their names.
 * mtx: ids count from 1. If the store has a vertex 0, all ids are one more in the file, which
 * says so in a comment.
 * sg, wsg: ids are kept, with 32 bits.
 *
 * Files in the last three formats have every id up to the largest. Fails with MILL_ELIMIT if
 * these are far more than the edges.
 */
mill_err store_export(const struct store *st, const char *path, const char *format,
		      struct budget *budget, struct ticker *ticker);

/* The arguments of an export, which all formats share. */
struct exporter {
	const struct store *st;
	struct budget *budget;
	struct ticker *ticker;
	struct outfile *out;
	u64 *id;		/* by rank; NULL: the id is min_id + rank */
	struct names *names;	/* edgelist: names in place of ids; NULL: none */
	u64 shift;		/* mtx: added to every id */
	bool weighted;		/* sg: with weights */
};

/* Writes the weight of edge k of a list as text; returns the length. */
size_t export_weight(char *to, enum mill_weight type, const void *weight, u64 k);
/* Fails with MILL_ELIMIT if the largest id is more than `most`, or too large for this graph. */
mill_err export_check_ids(const struct store *st, const char *format, u64 most);

mill_err export_edges(struct exporter *x);
mill_err export_mtx(struct exporter *x);
mill_err export_sg(struct exporter *x);

#endif
