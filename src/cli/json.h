/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one JSON document into memory. Objects and arrays indent, arrays of scalars and objects
 * inside arrays stay on one line. A key is NULL inside an array. Running out of memory is kept
 * and told by json_text().
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
	unsigned flat;		/* depth from which everything stays on one line; 0: none */
	bool first;		/* nothing stands in the innermost container yet */
	bool broken;		/* no memory */
};

#define JSON_EMPTY ((struct json){ .first = true })

void json_release(struct json *j);
/* The whole document with a final newline, or NULL without memory. */
const char *json_text(struct json *j);

void json_object(struct json *j, const char *key);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *key);
void json_array_end(struct json *j);

void json_null(struct json *j, const char *key);
void json_bool(struct json *j, const char *key, bool value);
/* Above 2^63 - 1 as a string: many readers hold integers in signed 64 bits. */
void json_u64(struct json *j, const char *key, uint64_t value);
/* The shortest text that reads back as the same double; infinities as strings. */
void json_f64(struct json *j, const char *key, double value);
/* NULL is null. Bytes that are not UTF-8 become U+FFFD. */
void json_string(struct json *j, const char *key, const char *value);

/* The length of the UTF-8 sequence at s, 0 if it is none (overlong and surrogates included). */
size_t utf8_length(const unsigned char *s);

#endif
