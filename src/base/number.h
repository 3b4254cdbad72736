/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text, the same in every locale. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include "base/error.h"
#include "base/types.h"

#define NUMBER_TEXT 32	/* enough for any of the below, with the final NUL */

/* Decimal digits only, the whole of [text, end), at most 2^64 - 1. */
bool number_u64(u64 *out, const char *text, const char *end);
/* A decimal floating point number (also inf, nan), the whole of [text, end). */
bool number_f64(f64 *out, const char *text, const char *end);

/* Write without a final NUL and return the length. */
size_t number_put_u64(char *to, u64 value);
/* Shortest text that reads back as the same value; "inf", "-inf", "nan". Always with a '.' or 'e' or neither, never ','. */
size_t number_put_f64(char *to, f64 value);
size_t number_put_f32(char *to, f32 value);

/* mill_size_parse without the public name. */
mill_err size_parse(u64 *out, const char *text, u64 csr_bytes);
/* "1.5 GiB"; to holds NUMBER_TEXT. Returns to. */
char *size_show(char *to, u64 bytes);

#endif
