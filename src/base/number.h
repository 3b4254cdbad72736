/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and sizes as text, the same in every locale. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/error.h"
#include "base/types.h"

#define NUMBER_TEXT 32	/* bytes that hold any text made here, with the final NUL */

/* ---- Parsing ---- */

/* Both functions parse all of [text, end) and return false if the text has another form. */

/* Parses decimal digits only, at most 2^64 - 1. */
bool number_u64(u64 *out, const char *text, const char *end);
/* Parses a decimal floating point number, inf or nan. */
bool number_f64(f64 *out, const char *text, const char *end);

/* ---- Writing ---- */

/* These functions write no final NUL and return the length. */
size_t number_put_u64(char *to, u64 value);
/*
 * Writes the shortest text that reads back as the same value, or "inf", "-inf", "nan". The
 * decimal point is always '.'.
 */
size_t number_put_f64(char *to, f64 value);
size_t number_put_f32(char *to, f32 value);

/* ---- Sizes ---- */

/* Does the work of mill_size_parse (millrace.h). */
mill_err size_parse(u64 *out, const char *text, u64 csr_bytes);
/* Writes a size like "1.5 GiB". `to` has NUMBER_TEXT bytes. Returns to. */
char *size_show(char *to, u64 bytes);

#endif
