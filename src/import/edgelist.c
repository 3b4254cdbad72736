/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads edge lists: finds the column of the weights, by the options or in the first line, and
 * lets text.h read the rest.
 */
#include <string.h>
#include <strings.h>

#include "import/format.h"

struct line {
	const char *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Finds the first line that is neither empty nor a comment. */
static bool first_line(struct line *l, const char *head, u64 size)
{
	const char *last = head + size;

	if (size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3))
		head += 3;
	for (; head < last; head = l->end + 1) {
		l->end = memchr(head, '\n', (size_t)(last - head));
		if (!l->end)
			l->end = last;
		for (l->at = head; l->at < l->end && is_blank(*l->at); l->at++)
			;
		if (l->at < l->end && *l->at != '#' && *l->at != '%')
			return true;
	}
	return false;
}

/* Cuts the next field off the line. Separators are the same as in text.h. */
static bool next_field(struct line *l, struct line *field)
{
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (l->at >= l->end)
		return false;
	field->at = l->at;
	while (l->at < l->end && !is_blank(*l->at) && *l->at != ',')
		l->at++;
	field->end = l->at;
	while (l->at < l->end && is_blank(*l->at))
		l->at++;
	if (l->at < l->end && *l->at == ',')
		l->at++;
	return true;
}

static bool is_name(const struct line *field, const char *name)
{
	size_t n = (size_t)(field->end - field->at);

	return strlen(name) == n && !strncasecmp(field->at, name, n);
}

/* Returns the column of that name; name NULL: 3. Returns 0 if there is no such column. */
static u32 find_column(struct line l, const char *name)
{
	struct line field;
	u32 column = 0;

	while (next_field(&l, &field)) {
		column++;
		if (column >= 3 && (!name || is_name(&field, name)))
			return column;
	}
	return 0;
}

static mill_err settle_column(struct reader *r, u32 *out)
{
	const struct mill_import *how = r->k->how;
	const char *head;
	struct line l;
	u64 size;

	*out = how->weight_column;
	if (how->weights == MILL_WEIGHTS_NONE || how->weight_column)
		return MILL_OK;
	if (how->weights != MILL_WEIGHTS_AUTO && !how->weight_name)
		return MILL_OK;
	TRY(input_peek(r->in, &head, &size));
	if (!first_line(&l, head, size)) {
		*out = how->weight_name ? 0 : 3; /* there are no edges: any column is right */
		return MILL_OK;
	}
	if (how->weight_name) {
		*out = find_column(l, how->weight_name);
		if (*out && memchr(l.at, ',', (size_t)(l.end - l.at)))
			return MILL_OK;
		return fail(MILL_EINPUT,
			    "%s: no column after the second is called \"%s\" in a header line",
			    input_name(r->in), how->weight_name);
	}
	*out = find_column(l, "weight"); /* if the line is a header */
	if (!*out)
		*out = find_column(l, NULL);
	return MILL_OK;
}

mill_err edges_read(struct reader *r)
{
	struct intake *k = r->k;
	const struct mill_import *how = k->how;
	u32 column;

	if (how->weight_type && how->weights == MILL_WEIGHTS_DEFAULT &&
	    !how->weight_column && !how->weight_name)
		return fail(MILL_EUSAGE,
			    "a weight type needs weights: give --weights auto or a column");
	TRY(settle_column(r, &column));
	TRY(reader_settle(r, HEADER_UNSAID, column != 0, false));
	k->text.weight_column = k->weighted ? column : 0;
	k->text.base = how->base;
	return text_read(&k->text, k->b, r->in);
}
