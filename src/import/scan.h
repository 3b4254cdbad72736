/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An input piece by piece: numbers and words of lines of any length, or bytes and their
 * position. A failure to read ends the input early and is kept: scan_peek gives SCAN_END then,
 * and every function that returns mill_err returns it.
 */
#ifndef IMPORT_SCAN_H
#define IMPORT_SCAN_H

#include "import/input.h"

#define SCAN_END (-1)
#define SCAN_WORD 64	/* bytes of a word, with the final NUL */

struct scan {
	struct input *in;
	u8 *buffer;
	const u8 *at, *end;
	u64 before;	/* bytes in front of the buffer */
	u64 line;	/* the present one, from 1 */
	bool binary;	/* messages name bytes instead of lines */
	mill_err err;
};

/* in is borrowed. */
mill_err scan_init(struct scan *s, struct input *in, bool binary, struct budget *budget);
void scan_release(struct scan *s);

/* "FILE:LINE: ..." or "FILE: byte N: ..."; what failed to be read before comes first. */
mill_err scan_fail(const struct scan *s, mill_err code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool scan_refill(struct scan *s);

/* The next byte, which stays. */
static inline int scan_peek(struct scan *s)
{
	return __builtin_expect(s->at < s->end, 1) || scan_refill(s) ? *s->at : SCAN_END;
}

/* Bytes used so far. */
static inline u64 scan_position(const struct scan *s)
{
	return s->before + (u64)(s->at - s->buffer);
}

/* ---- Text ---- */

/* To the next thing of this line; its first byte, '\n' at the end (a final CR is skipped), or SCAN_END. */
int scan_blanks(struct scan *s);
/* Behind the end of this line, whatever is on it. */
mill_err scan_skip_line(struct scan *s);
/* The same, but nothing may be left on the line. */
mill_err scan_end_line(struct scan *s);
/* Over blank lines and those that begin with `comment` (0: none) to the first byte of another. */
int scan_next_line(struct scan *s, char comment);
/* The next word of this line, "" if there is none; a longer one is MILL_EINPUT. */
mill_err scan_word(struct scan *s, char *to);
/* The next word of this line as a number; `what` names it in messages. */
mill_err scan_u64(struct scan *s, u64 *out, const char *what);
/* whole: it is written as an integer, of at most 18 digits, and *integer is it. No NaN. */
mill_err scan_number(struct scan *s, f64 *out, bool *whole, i64 *integer, const char *what);

/* ---- Bytes ---- */

/* Exactly n bytes; the end before that is MILL_EINPUT. */
mill_err scan_bytes(struct scan *s, void *to, u64 n);

#endif
