/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the fields of a line. The line is in memory and ends with a newline; fields are
 * separated by blanks or a comma. A name may be in quotes: then it may hold separators, and a
 * quote inside it is doubled.
 */
#ifndef IMPORT_FIELD_H
#define IMPORT_FIELD_H

#include "base/types.h"

static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static inline bool at_line_end(const char *p)
{
	return *p == '\n' || (*p == '\r' && p[1] == '\n');
}

static inline bool at_field_end(const char *p)
{
	return is_blank(*p) || *p == ',' || at_line_end(p);
}

static inline const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

static inline const char *field_end(const char *p)
{
	while (!at_field_end(p))
		p++;
	return p;
}

/* Moves from the end of a field to the next field: over blanks and at most one comma. */
static inline const char *next_field(const char *p)
{
	p = skip_blanks(p);
	return *p == ',' ? skip_blanks(p + 1) : p;
}

/* A name of 1 to STORE_NAME_MAX bytes, none of them a control character. */
struct name {
	const char *text;
	u32 length;
};

enum name_fault { NAME_FINE, NAME_MISSING, NAME_UNQUOTED, NAME_EMPTY, NAME_LONG, NAME_CONTROL };

/*
 * Parses the name at *p and moves *p to the end of its field. `to` has STORE_NAME_MAX bytes;
 * a quoted name is copied there without its quotes.
 */
enum name_fault name_parse(const char **p, char *to, struct name *out);
/* Returns the end of a field that may be in quotes. */
const char *name_end(const char *p);
/*
 * Returns whether the line at p, the first line of a file with names, is a header.
 * weight_column: 0 (no weights), or 3 and higher.
 */
bool name_is_header(const char *p, u32 weight_column);

#endif
