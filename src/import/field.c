/* SPDX-License-Identifier: Apache-2.0 */
/* Parses names, with or without quotes, and recognizes headers of files with names. */
#include "import/field.h"

#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "store/names.h"

/* Returns the position after the closing quote of a field in quotes; NULL if there is none. */
static const char *quoted_end(const char *p)
{
	for (p++; *p != '\n'; p++) {
		if (*p != '"')
			continue;
		if (p[1] != '"')
			return p + 1;
		p++;
	}
	return NULL;
}

const char *name_end(const char *p)
{
	const char *end = *p == '"' ? quoted_end(p) : NULL;

	return field_end(end ? end : p);
}

/* Copies a name without its quotes; two quotes inside become one. False: it is too long. */
static bool unquote(const char *p, const char *end, char *to, struct name *out)
{
	u32 n = 0;

	for (p++; p < end - 1; p++) {
		if (n == STORE_NAME_MAX)
			return false;
		to[n++] = *p;
		p += *p == '"';
	}
	*out = (struct name){ to, n };
	return true;
}

enum name_fault name_parse(const char **p, char *to, struct name *out)
{
	const char *begin = *p, *end;

	if (at_line_end(begin) || *begin == ',')
		return NAME_MISSING;
	end = *begin == '"' ? quoted_end(begin) : field_end(begin);
	if (!end || !at_field_end(end))
		return NAME_UNQUOTED;
	if (*begin == '"') {
		if (!unquote(begin, end, to, out))
			return NAME_LONG;
	} else {
		if (end - begin > STORE_NAME_MAX)
			return NAME_LONG;
		*out = (struct name){ begin, (u32)(end - begin) };
	}
	if (!out->length)
		return NAME_EMPTY;
	for (u32 i = 0; i < out->length; i++)
		if ((unsigned char)out->text[i] < 0x20 || out->text[i] == 0x7f)
			return NAME_CONTROL;
	*p = end;
	return NAME_FINE;
}

static bool is_word(const char *p, const char *end, const char *word)
{
	size_t n = strlen(word);

	if (*p == '"' && end - p > 2) {
		p++;
		end--;
	}
	return (size_t)(end - p) == n && !strncasecmp(p, word, n);
}

/*
 * A line is a header if its weight is not a number or, without weights, if its first two fields
 * are words for the ends of an edge.
 */
bool name_is_header(const char *p, u32 weight_column)
{
	static const char *const word[][2] = {
		{ "source", "target" }, { "source", "sink" },
		{ "src", "dst" },	{ "from", "to" },
		{ "node1", "node2" },	{ "id_1", "id_2" },
		{ "id1", "id2" },	{ "fromnodeid", "tonodeid" },
	};
	const char *field[2], *end[2];
	f64 value;

	for (int i = 0; i < 2; i++) {
		field[i] = p;
		end[i] = name_end(p);
		p = next_field(end[i]);
	}
	if (*skip_blanks(end[0]) != ',')
		return false;
	if (weight_column) {
		for (u32 column = 3; column < weight_column && !at_line_end(p); column++)
			p = next_field(name_end(p));
		return !at_line_end(p) && !number_f64(&value, p, field_end(p));
	}
	for (size_t k = 0; k < ARRAY_LEN(word); k++)
		if (is_word(field[0], end[0], word[k][0]) &&
		    is_word(field[1], end[1], word[k][1]))
			return true;
	return false;
}
