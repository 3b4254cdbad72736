/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON document into memory. Each member of an object or array gets a line of its own,
 * but an object or array inside an array stays on one line. Inside an array the key is NULL. If
 * memory runs out, json_text() returns NULL at the end.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	char *text;
	size_t length, capacity;
	unsigned depth;
	unsigned flat;		/* from this depth on all is on one line; 0: nowhere */
	bool first;		/* the innermost object or array is still empty */
	bool broken;		/* memory ran out */
};

#define JSON_EMPTY ((struct json){ .first = true })

void json_release(struct json *j);
/* Ends the document with a newline and returns it; NULL if memory ran out. */
const char *json_text(struct json *j);

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);

void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool value);
/* Writes a number above 2^63 - 1 as a string: many readers have signed 64-bit integers. */
void json_u64(struct json *j, const char *key, uint64_t value);
/* Writes the shortest text that reads back as the same double; infinity and NaN as strings. */
void json_f64(struct json *j, const char *key, double value);
/* Writes NULL as null. Bytes that are not UTF-8 become U+FFFD. */
void json_string(struct json *j, const char *key, const char *value);

/*
 * Returns the length of the UTF-8 sequence at s, or 0 if it is not valid UTF-8 (overlong forms and
 * surrogates are not valid).
 */
size_t utf8_length(const unsigned char *s);

#endif
