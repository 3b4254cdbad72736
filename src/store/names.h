/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a store whose vertices have some. The file `names` has a line for each, in the order of
 * their bytes; `names.index` says where each ends. A name is looked up by its rank, which is the
 * vertex's original id.
 */
#ifndef STORE_NAMES_H
#define STORE_NAMES_H

#include "store/store.h"

#define STORE_NAME_MAX 4095u	/* bytes */
_Static_assert(STORE_NAME_MAX == MILL_NAME_MAX, "the public limit");

struct names;

/* Blocks that have been read are kept in at most `most` bytes, at least in a few. budget may be NULL. */
mill_err names_open(struct names **out, const struct store *st, struct budget *budget, u64 most);
void names_close(struct names *n);	/* NULL is fine */
/* The name of a rank below `vertices`, which stays until the next call. Safe for hostile files. */
mill_err names_get(struct names *n, u64 rank, const char **text, u32 *length);

/* The vertex of that name; NO_VERTEX if there is none. */
mill_err names_find(const struct store *st, const char *text, size_t length, vid *out);

/* The first and the last name, of a store that has vertices; memory_free them, also when it fails. */
mill_err names_ends(const struct store *st, struct budget *budget, char **first, char **last);

/*
 * The vertex of an original id as a user writes it: a number, or a name. "id:" before it sets one apart from
 * words that mean something else. NO_VERTEX: there is none; *is_id: but it could be.
 */
mill_err names_vertex(const struct store *st, const char *text, size_t length, vid *out, bool *is_id);

/* By bytes, a prefix first. */
int name_compare(const char *a, size_t na, const char *b, size_t nb);

/*
 * As a field of a text whose fields `separators` keep apart: in quotes, with those inside doubled, if the reader could misunderstand
 * it otherwise. `to` has NAME_FIELD_MAX bytes; returns the length.
 */
#define NAME_FIELD_MAX (2 * STORE_NAME_MAX + 2)
size_t name_put(char *to, const char *text, u32 length, const char *separators);

#endif
