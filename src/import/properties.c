/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the whole file and turns it, in the same memory, into keys and values that end with NUL. */
#include "import/properties.h"

#include <string.h>

#include "base/number.h"
#include "import/input.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static mill_err read_all(struct properties *p, const char *path, struct budget *budget)
{
	struct input *in;
	mill_err err;
	u64 got = 1;

	TRY(input_open(&in, path, budget));
	err = memory_new(&p->text, budget, PROPERTIES_MAX + 2, 1, "a file of properties");
	while (!err && got && p->size <= PROPERTIES_MAX) {
		err = input_read(in, p->text + p->size, PROPERTIES_MAX + 1 - p->size, &got);
		p->size += err ? 0 : got;
	}
	input_close(in);
	return err;
}

/*
 * Writes the key and value of the line [from, end) to `to`, which is never after `from`. Returns
 * the new `to`, or NULL if the line has no separator.
 */
static char *take_line(char *to, const char *from, const char *end)
{
	bool in_value = false;

	while (from < end && is_blank(*from))
		from++;
	while (end > from && is_blank(end[-1]))
		end--;
	if (from == end || *from == '#' || *from == '!')
		return to;
	for (; from < end; from++) {
		if (!in_value && (*from == '=' || *from == ':' || is_blank(*from))) {
			while (from + 1 < end && is_blank(*from))
				from++;
			if (*from != '=' && *from != ':')
				from--; /* a blank without = or : separates too */
			while (from + 1 < end && is_blank(from[1]))
				from++;
			*to++ = 0;
			in_value = true;
			continue;
		}
		if (*from == '\\' && from + 1 < end)
			from++;
		*to++ = *from;
	}
	if (!in_value)
		return NULL;
	*to++ = 0;
	return to;
}

mill_err properties_read(struct properties *p, const char *path, struct budget *budget)
{
	char *to;
	u64 line = 1;

	*p = (struct properties){ .size = 0 };
	TRY(memory_string(&p->name, budget, path));
	TRY(read_all(p, path, budget));
	if (p->size > PROPERTIES_MAX || memchr(p->text, 0, p->size))
		return fail(MILL_EINPUT, "%s: not a file of properties", path);
	to = p->text;
	for (char *at = p->text, *end, *last = p->text + p->size; at < last; at = end + 1) {
		end = memchr(at, '\n', (size_t)(last - at));
		end = end ? end : last;
		to = take_line(to, at, end);
		if (!to)
			return fail(MILL_EINPUT, "%s:%llu: this is not a \"key = value\" line",
				    path, (unsigned long long)line);
		line++;
	}
	p->size = (u64)(to - p->text);
	return MILL_OK;
}

void properties_release(struct properties *p)
{
	memory_free(p->text);
	memory_free(p->name);
	*p = (struct properties){ .size = 0 };
}

const char *properties_get(const struct properties *p, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = p->text; at < p->text + p->size;) {
		size_t length = strlen(at);
		const char *value = at + length + 1;

		if (*key == '.' ? length > n && !strcmp(at + length - n, key)
				: !strcmp(at, key))
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

mill_err properties_u64(const struct properties *p, const char *key, u64 missing, u64 most,
			u64 *out)
{
	const char *value = properties_get(p, key);

	*out = missing;
	if (!value)
		return MILL_OK;
	if (!number_u64(out, value, value + strlen(value)))
		return fail(MILL_EINPUT, "%s: %s is \"%.40s\", not a number", p->name, key,
			    value);
	if (*out > most)
		return fail(MILL_ELIMIT, "%s: %s is %llu, and at most %llu is supported", p->name,
			    key, (unsigned long long)*out, (unsigned long long)most);
	return MILL_OK;
}
