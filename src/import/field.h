/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of a line that lies in memory and ends with a newline, separated by blanks or a comma. A name may
 * be in quotes, with those inside doubled; then it may hold separators.
 */
#ifndef IMPORT_FIELD_H
#define IMPORT_FIELD_H

#include "base/types.h"

static inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static inline bool at_line_end(const char *p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

static inline bool at_field_end(const char *p) { return is_blank(*p) || *p == ',' || at_line_end(p); }

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

/* From the end of a field to the next one: blanks, and at most one comma. */
static inline const char *next_field(const char *p)
{
	p = skip_blanks(p);
	return *p == ',' ? skip_blanks(p + 1) : p;
}

/* 1 to STORE_NAME_MAX bytes, none of them a control character. */
struct name {
	const char *text;
	u32 length;
};

enum name_fault { NAME_FINE, NAME_MISSING, NAME_UNQUOTED, NAME_EMPTY, NAME_LONG, NAME_CONTROL };

/* The name at *p, which becomes its end; `to`: STORE_NAME_MAX bytes, for one that is quoted. */
enum name_fault name_parse(const char **p, char *to, struct name *out);
/* The end of a field that may be in quotes. */
const char *name_end(const char *p);
/* Is the line at p, the first of a file with names, a header? weight_column: 0, or from 3 on. */
bool name_is_header(const char *p, u32 weight_column);

#endif
