/* SPDX-License-Identifier: Apache-2.0 */
/* A store as an edge list. */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "base/clock.h"
#include "store/store.h"

/*
 * "FROM TO[ WEIGHT]" per line by original id, ascending; undirected edges once. path "-" is
 * stdout. The budget pays for the ids and for the longest list.
 */
mill_err store_export(const struct store *st, const char *path, struct budget *budget,
		      struct ticker *ticker);

#endif
