/* SPDX-License-Identifier: Apache-2.0 */
/* Scans an input through a buffer of 256 KiB. */
#include "import/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

#define BUFFER (256 * KIB)
#define SHOWN 24 /* bytes of a bad word that a message quotes */

mill_err scan_init(struct scan *s, struct input *in, bool binary, struct budget *budget)
{
	*s = (struct scan){ .in = in, .line = 1, .binary = binary };
	TRY(memory_new(&s->buffer, budget, BUFFER, 1, "an input"));
	s->at = s->end = s->buffer;
	return MILL_OK;
}

void scan_release(struct scan *s)
{
	memory_free(s->buffer);
	s->buffer = NULL;
}

mill_err scan_fail(const struct scan *s, mill_err code, const char *format, ...)
{
	char text[512];
	va_list args;

	if (s->err)
		return s->err;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->binary)
		return fail(code, "%s: byte %llu: %s", input_name(s->in),
			    (unsigned long long)scan_position(s), text);
	return fail(code, "%s:%llu: %s", input_name(s->in), (unsigned long long)s->line,
		    text);
}

bool scan_refill(struct scan *s)
{
	u64 got = 0;

	if (s->err)
		return false;
	s->before += (u64)(s->end - s->buffer);
	s->at = s->end = s->buffer;
	s->err = input_read(s->in, s->buffer, BUFFER, &got);
	if (s->err)
		return false;
	s->end = s->buffer + got;
	return got > 0;
}

/* ---- Text ---- */

int scan_blanks(struct scan *s)
{
	int c;

	while ((c = scan_peek(s)) == ' ' || c == '\t' || c == '\r')
		s->at++;
	return c;
}

mill_err scan_skip_line(struct scan *s)
{
	int c;

	while ((c = scan_peek(s)) != SCAN_END) {
		s->at++;
		if (c == '\n') {
			s->line++;
			break;
		}
	}
	return s->err;
}

/* Copies the present word for a message. Characters that cannot be printed become '?'. */
static void show(struct scan *s, char *to)
{
	size_t n = 0;
	int c;

	while ((c = scan_peek(s)) > ' ' && n < SHOWN) {
		to[n++] = (char)(c == 0x7f ? '?' : c);
		s->at++;
	}
	if (!n && c != SCAN_END && c != '\n')
		to[n++] = '?';
	strcpy(to + n, n == SHOWN && c > ' ' ? "..." : "");
}

mill_err scan_end_line(struct scan *s)
{
	char word[SHOWN + 4];
	int c = scan_blanks(s);

	if (c != '\n' && c != SCAN_END) {
		show(s, word);
		return scan_fail(s, MILL_EINPUT,
				 "\"%s\" is unexpected: the line should end here", word);
	}
	return scan_skip_line(s);
}

int scan_next_line(struct scan *s, char comment)
{
	for (;;) {
		int c = scan_blanks(s);

		if (c == SCAN_END || (c != '\n' && (!comment || c != comment)))
			return c;
		if (scan_skip_line(s))
			return SCAN_END;
	}
}

mill_err scan_word(struct scan *s, char *to)
{
	size_t n = 0;
	int c = scan_blanks(s);

	for (; c > ' '; c = scan_peek(s)) {
		if (n == SCAN_WORD - 1) {
			strcpy(to + SHOWN, "...");
			return scan_fail(s, MILL_EINPUT, "\"%s\" is too long", to);
		}
		to[n++] = (char)c;
		s->at++;
	}
	to[n] = 0;
	if (s->err)
		return s->err;
	if (c != SCAN_END && c != ' ' && c != '\t' && c != '\r' && c != '\n')
		return scan_fail(s, MILL_EINPUT, "a control character: this is not text");
	return MILL_OK;
}

/* Fails. Of the bad number, only its `n` leading digits have been used up. */
static mill_err bad_u64(struct scan *s, const char *what, const char *digits, size_t n)
{
	char word[SHOWN + 4], all[2 * SHOWN + 8];
	int c = scan_peek(s);

	if (s->err)
		return s->err;
	if (!n && (c == '\n' || c == SCAN_END))
		return scan_fail(s, MILL_EINPUT, "%s is missing", what);
	show(s, word);
	snprintf(all, sizeof(all), "%.*s%s", (int)min_u64(n, SHOWN), digits, word);
	if (!n && c == '-')
		return scan_fail(s, MILL_EINPUT, "\"%s\" is negative, and %s cannot be", all,
				 what);
	if (n > 19 && !*word)
		return scan_fail(s, MILL_EINPUT, "%s... is above 2^64 - 1", all);
	return scan_fail(s, MILL_EINPUT, "\"%s\" is not %s", all, what);
}

mill_err scan_u64(struct scan *s, u64 *out, const char *what)
{
	char digits[SHOWN];
	bool over = false;
	size_t n = 0;
	u64 value = 0;
	int c = scan_blanks(s);

	for (; c >= '0' && c <= '9'; c = scan_peek(s)) {
		if (n < SHOWN)
			digits[n] = (char)c;
		n++;
		if (__builtin_expect(n > 19, 0))
			over |= __builtin_mul_overflow(value, (u64)10, &value) ||
				__builtin_add_overflow(value, (u64)(c - '0'), &value);
		else
			value = value * 10 + (u64)(c - '0');
		s->at++;
	}
	if (__builtin_expect(!n || over ||
				     (c != ' ' && c != '\n' && c != '\t' && c != '\r' &&
				      c != SCAN_END) ||
				     s->err,
			     0))
		return bad_u64(s, what, digits, n);
	*out = value;
	return MILL_OK;
}

mill_err scan_number(struct scan *s, f64 *out, bool *whole, i64 *integer, const char *what)
{
	char word[SCAN_WORD];
	const char *digit = word;
	size_t n;
	u64 value;

	TRY(scan_word(s, word));
	n = strlen(word);
	if (!n)
		return scan_fail(s, MILL_EINPUT, "%s is missing", what);
	if (*digit == '-' || *digit == '+')
		digit++;
	*whole = n - (size_t)(digit - word) <= 18 && number_u64(&value, digit, word + n);
	if (*whole) {
		*integer = *word == '-' ? -(i64)value : (i64)value;
		*out = (f64)*integer;
		return MILL_OK;
	}
	*integer = 0;
	if (number_f64(out, *word == '+' ? word + 1 : word, word + n) && !isnan(*out))
		return MILL_OK;
	if (n > SHOWN)
		strcpy(word + SHOWN, "...");
	return scan_fail(s, MILL_EINPUT, "\"%s\" is not %s", word, what);
}

/* ---- Bytes ---- */

mill_err scan_bytes(struct scan *s, void *to, u64 n)
{
	u8 *p = to;

	while (n) {
		u64 some;

		if (scan_peek(s) == SCAN_END)
			return scan_fail(s, MILL_EINPUT,
					 "the file ends at least %llu bytes too early",
					 (unsigned long long)n);
		some = min_u64(n, (u64)(s->end - s->at));
		memcpy(p, s->at, some);
		s->at += some;
		p += some;
		n -= some;
	}
	return MILL_OK;
}
