/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: text, indentation, escapes and numbers. */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct json *j, const char *text, size_t length)
{
	size_t capacity = j->capacity ? j->capacity : 4096;
	char *larger;

	if (j->broken)
		return;
	while (j->length + length + 1 > capacity)
		capacity *= 2;
	if (capacity != j->capacity) {
		larger = realloc(j->text, capacity);
		if (!larger) {
			j->broken = true;
			return;
		}
		j->text = larger;
		j->capacity = capacity;
	}
	memcpy(j->text + j->length, text, length);
	j->length += length;
	j->text[j->length] = '\0';
}

static void puts_(struct json *j, const char *text)
{
	put(j, text, strlen(text));
}

static void new_line(struct json *j)
{
	unsigned i;

	if (j->flat && j->depth >= j->flat) {
		puts_(j, " ");
		return;
	}
	puts_(j, "\n");
	for (i = 0; i < j->depth; i++)
		puts_(j, "  ");
}

size_t utf8_length(const unsigned char *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return (s[1] & 0xc0) == 0x80 ? 2 : 0;
	if ((s[0] & 0xf0) == 0xe0) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80)
			return 0;
		if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
			return 0;
		return 3;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80 || (s[3] & 0xc0) != 0x80)
			return 0;
		if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

static void put_string(struct json *j, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	char escape[8];

	puts_(j, "\"");
	while (*s) {
		size_t length = utf8_length(s);

		if (!length) {
			puts_(j, "\xef\xbf\xbd");
			length = 1;
		} else if (*s == '"' || *s == '\\') {
			snprintf(escape, sizeof(escape), "\\%c", *s);
			puts_(j, escape);
		} else if (*s < 0x20 || *s == 0x7f) {
			snprintf(escape, sizeof(escape), "\\u%04x", *s);
			puts_(j, escape);
		} else {
			put(j, (const char *)s, length);
		}
		s += length;
	}
	puts_(j, "\"");
}

static void put_key(struct json *j, const char *key)
{
	if (!j->first)
		puts_(j, ",");
	if (j->depth)
		new_line(j);
	j->first = false;
	if (key) {
		put_string(j, key);
		puts_(j, ": ");
	}
}

static void open_container(struct json *j, const char *key, const char *bracket)
{
	put_key(j, key);
	puts_(j, bracket);
	j->depth++;
	if (!j->flat && !key && j->depth > 1)
		j->flat = j->depth;	/* an object or array inside an array */
	j->first = true;
}

static void close_container(struct json *j, const char *bracket)
{
	bool flat = j->flat && j->depth >= j->flat;

	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (!j->first) {
		if (flat)
			puts_(j, " ");
		else
			new_line(j);
	}
	puts_(j, bracket);
	j->first = false;
}

void json_release(struct json *j)
{
	free(j->text);
	*j = JSON_EMPTY;
}

const char *json_text(struct json *j)
{
	puts_(j, "\n");
	return j->broken ? NULL : j->text;
}

void json_object(struct json *j, const char *key)
{
	open_container(j, key, "{");
}

void json_object_end(struct json *j)
{
	close_container(j, "}");
}

void json_array(struct json *j, const char *key)
{
	open_container(j, key, "[");
}

void json_array_end(struct json *j)
{
	close_container(j, "]");
}

void json_null(struct json *j, const char *key)
{
	put_key(j, key);
	puts_(j, "null");
}

void json_bool(struct json *j, const char *key, bool value)
{
	put_key(j, key);
	puts_(j, value ? "true" : "false");
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), value > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64,
		 value);
	put_key(j, key);
	puts_(j, text);
}

/* The program never calls setlocale(), so the decimal separator is a point. */
void json_f64(struct json *j, const char *key, double value)
{
	char text[40];
	int digits;

	put_key(j, key);
	if (!isfinite(value)) {
		puts_(j, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
		return;
	}
	for (digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	puts_(j, text);
}

void json_string(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	put_key(j, key);
	put_string(j, value);
}
