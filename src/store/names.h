/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of vertices, in a store that has names. The file `names` has one line for each
 * vertex, in ascending order of the bytes; `names.index` says where each line ends. A name is
 * looked up by its rank, which is the vertex's original id.
 */
#ifndef STORE_NAMES_H
#define STORE_NAMES_H

#include "store/store.h"

#define STORE_NAME_MAX 4095u	/* bytes */
_Static_assert(STORE_NAME_MAX == MILL_NAME_MAX, "the public limit");

struct names;

/*
 * Opens the names with a cache of blocks. The cache has at most `most` bytes, but at least 16
 * blocks (or all, if there are fewer). budget may be NULL.
 */
mill_err names_open(struct names **out, const struct store *st, struct budget *budget, u64 most);
void names_close(struct names *n);	/* NULL is fine */
/*
 * Gets the name of a rank, which is less than `vertices`. The text is valid until the next call.
 * Safe for hostile files.
 */
mill_err names_get(struct names *n, u64 rank, const char **text, u32 *length);

/* Finds the vertex with this name; NO_VERTEX if there is none. */
mill_err names_find(const struct store *st, const char *text, size_t length, vid *out);

/*
 * Copies the first and the last name of a store that has vertices. Free both with memory_free,
 * also on failure.
 */
mill_err names_ends(const struct store *st, struct budget *budget, char **first, char **last);

/*
 * Finds the vertex of an original id as a user writes it: a number, or a name. "id:" may stand
 * before it, for ids that could be mistaken for a keyword. *out is NO_VERTEX if there is no such
 * vertex. *is_id is true if the text has the form of an id.
 */
mill_err names_vertex(const struct store *st, const char *text, size_t length, vid *out,
		      bool *is_id);

/* Compares two names as unsigned bytes, like memcmp; a prefix comes first. */
int name_compare(const char *a, size_t na, const char *b, size_t nb);

/*
 * Writes a name as a field of a line that has these separators. If a reader could misunderstand
 * the plain name, it is quoted, and quotes inside are doubled. `to` has NAME_FIELD_MAX bytes.
 * Returns the length.
 */
#define NAME_FIELD_MAX (2 * STORE_NAME_MAX + 2)
size_t name_put(char *to, const char *text, u32 length, const char *separators);

#endif
