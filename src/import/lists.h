/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted edges on their way into the store: list after list. */
#ifndef IMPORT_LISTS_H
#define IMPORT_LISTS_H

#include "import/edges.h"
#include "store/writer.h"

/*
 * Writes the out- or in-lists of vertices 0 .. n - 1. by_row: edges sorted by row, a
 * vertex's neighbours are the columns; by_column: the other way round. Either may be NULL;
 * with both, those by column come first (the lower neighbours of an undirected graph). A
 * degree above 2^32 - 1 is MILL_ELIMIT.
 */
mill_err lists_write(struct store_writer *w, bool in, const struct edges *by_row,
		     const struct edges *by_column, u64 n);

#endif
