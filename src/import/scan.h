/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an input piece by piece: numbers and words of lines of any length, or bytes. It knows
 * the line or byte for messages. An error while reading is kept in `err` and ends the input:
 * scan_peek then returns SCAN_END, and every function that returns mill_err returns the error.
 */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include "import/input.h"

#define SCAN_END (-1)
#define SCAN_WORD 64	/* most bytes of a word, with the final NUL */

struct scan {
	struct input *in;
	u8 *buffer;
	const u8 *at, *end;
	u64 before;	/* bytes of the input before the buffer */
	u64 line;	/* number of the present line, from 1 */
	bool binary;	/* messages name bytes instead of lines */
	mill_err err;
};

/* Borrows `in`. */
mill_err scan_init(struct scan *s, struct input *in, bool binary, struct budget *budget);
void scan_release(struct scan *s);

/*
 * Fails with "FILE:LINE: ..." or "FILE: byte N: ...". If reading has failed before, returns that
 * error instead.
 */
mill_err scan_fail(const struct scan *s, mill_err code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool scan_refill(struct scan *s);

/* Returns the next byte without using it up. */
static inline int scan_peek(struct scan *s)
{
	return __builtin_expect(s->at < s->end, 1) || scan_refill(s) ? *s->at : SCAN_END;
}

/* Returns the number of bytes used so far. */
static inline u64 scan_position(const struct scan *s)
{
	return s->before + (u64)(s->at - s->buffer);
}

/* ---- Text ---- */

/*
 * Skips blanks (spaces, tabs, carriage returns). Returns the next byte of this line without
 * using it up: '\n' at the end of the line, SCAN_END at the end of the input.
 */
int scan_blanks(struct scan *s);
/* Skips the rest of this line and its newline. */
mill_err scan_skip_line(struct scan *s);
/* The same, but fails with MILL_EINPUT if more than blanks is left on the line. */
mill_err scan_end_line(struct scan *s);
/*
 * Skips blank lines and lines that begin with `comment` (0: there are no comments). Returns the
 * first byte of another line, or SCAN_END.
 */
int scan_next_line(struct scan *s, char comment);
/*
 * Copies the next word of this line to `to` (SCAN_WORD bytes); "" if there is none. Fails with
 * MILL_EINPUT if the word is too long.
 */
mill_err scan_word(struct scan *s, char *to);
/* Reads the next word of this line as a number. `what` names it in messages. */
mill_err scan_u64(struct scan *s, u64 *out, const char *what);
/*
 * Reads the next word of this line as a number, not NaN. *whole: it is written as an integer of
 * at most 18 digits, and *integer is its value.
 */
mill_err scan_number(struct scan *s, f64 *out, bool *whole, i64 *integer, const char *what);

/* ---- Bytes ---- */

/* Reads exactly n bytes. Fails with MILL_EINPUT if the input ends before. */
mill_err scan_bytes(struct scan *s, void *to, u64 n);

#endif
