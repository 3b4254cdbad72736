/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and sizes as text: parsing and writing. */
#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool number_u64(u64 *out, const char *text, const char *end)
{
	u64 value = 0;

	if (text >= end)
		return false;
	for (; text < end; text++) {
		if (!is_digit(*text) || __builtin_mul_overflow(value, (u64)10, &value) ||
		    __builtin_add_overflow(value, (u64)(*text - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

/* ---- Reading floating point ---- */

/*
 * A double, or a point half-way between two doubles, has fewer than 800 significant digits. So
 * the digits after the first 800 matter only in one way: whether all of them are 0 (`lost`).
 */
#define MAX_DIGITS 800

/* The number digit[] x 10^exponent. */
struct decimal {
	char digit[MAX_DIGITS + 1];	/* without leading zeros; one more for a sticky digit */
	u32 n_digits;
	i64 exponent;
	u64 mantissa;			/* the same digits, if there are at most 19 */
	bool lost;			/* a digit other than 0 had no room */
};

static void decimal_add(struct decimal *d, char c)
{
	if (!d->n_digits && c == '0')
		return;
	if (d->n_digits < MAX_DIGITS) {
		d->digit[d->n_digits++] = c;
		if (d->n_digits <= 19)
			d->mantissa = d->mantissa * 10 + (u64)(c - '0');
	} else {
		d->exponent++;
		d->lost = d->lost || c != '0';
	}
}

/* Parses all of [at, end), which has no sign. */
static bool decimal_parse(struct decimal *d, const char *at, const char *end)
{
	bool some = false, negative;
	i64 exponent = 0;

	d->n_digits = 0;
	d->exponent = 0;
	d->mantissa = 0;
	d->lost = false;
	for (; at < end && is_digit(*at); at++, some = true)
		decimal_add(d, *at);
	if (at < end && *at == '.') {
		for (at++; at < end && is_digit(*at); at++, some = true) {
			decimal_add(d, *at);
			d->exponent--;
		}
	}
	if (!some)
		return false;
	if (at == end)
		return true;
	if (*at != 'e' && *at != 'E')
		return false;
	at++;
	negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (at == end)
		return false;
	for (; at < end && is_digit(*at); at++)
		/* A larger exponent need not be exact: no text has enough digits to balance it. */
		if (exponent < INT64_C(1000000000000000))
			exponent = exponent * 10 + (*at - '0');
	d->exponent += negative ? -exponent : exponent;
	return at == end;
}

/*
 * If mantissa and power of ten are both exact doubles, one operation with one rounding gives the
 * result (Clinger's fast case). Else strtod does it; the text for it has an integer mantissa, so
 * the locale's decimal point does not matter.
 */
static f64 decimal_value(struct decimal *d)
{
	static const f64 power[] = { 1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,
				     1e8,  1e9,	 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	char text[MAX_DIGITS + 32];
	i64 e = d->exponent;

	if (!d->n_digits)
		return 0;
	if (d->n_digits <= 19 && d->mantissa <= (u64)1 << 53 && e >= -22 && e <= 22)
		return e < 0 ? (f64)d->mantissa / power[-e] : (f64)d->mantissa * power[e];
	if (d->lost) {	/* the value is a little larger than its first 800 digits */
		d->digit[d->n_digits++] = '1';
		e--;
	}
	if (e < -9999)
		e = -9999;
	if (e > 9999)
		e = 9999;
	snprintf(text, sizeof(text), "%.*se%lld", (int)d->n_digits, d->digit, (long long)e);
	return strtod(text, NULL);
}

static bool is_word(const char *text, const char *end, const char *word)
{
	return (size_t)(end - text) == strlen(word) && !strncasecmp(text, word, strlen(word));
}

/* Refuses a finite number that is too large for a double, instead of returning infinity. */
bool number_f64(f64 *out, const char *text, const char *end)
{
	struct decimal d;
	bool negative;
	f64 value;

	if (text >= end)
		return false;
	negative = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (text == end)
		return false;
	if (is_digit(*text) || *text == '.') {
		if (!decimal_parse(&d, text, end))
			return false;
		value = decimal_value(&d);
		if (isinf(value))
			return false;
	} else if (is_word(text, end, "inf") || is_word(text, end, "infinity")) {
		value = INFINITY;
	} else if (is_word(text, end, "nan")) {
		value = NAN;
	} else {
		return false;
	}
	*out = negative ? -value : value;
	return true;
}

/* ---- Writing ---- */

size_t number_put_u64(char *to, u64 value)
{
	char text[20];
	size_t len = 0;

	do {
		text[sizeof(text) - ++len] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	memcpy(to, text + sizeof(text) - len, len);
	return len;
}

/* Writes "inf", "-inf", "nan" and integers below 10^6. Returns 0 for other values. */
static size_t put_simple(char *to, f64 value)
{
	size_t sign = signbit(value) ? 1 : 0;

	if (isnan(value)) {
		memcpy(to, "nan", 3);
		return 3;
	}
	to[0] = '-';
	if (isinf(value)) {
		memcpy(to + sign, "inf", 3);
		return sign + 3;
	}
	value = fabs(value);
	if (value < 1e6 && value == (f64)(u64)value)
		return sign + number_put_u64(to + sign, (u64)value);
	return 0;
}

/* Writes '.' as decimal point. In some locales printf writes another one, of several bytes. */
static size_t put_format(char *to, f64 value, int digits)
{
	char text[64];
	size_t len = 0;
	bool point = false;

	snprintf(text, sizeof(text), "%.*g", digits, value);
	for (const char *c = text; *c; c++) {
		if (is_digit(*c) || *c == '-' || *c == '+' || *c == 'e') {
			to[len++] = *c;
			point = false;
		} else if (!point) {
			to[len++] = '.';
			point = true;
		}
	}
	return len;
}

/*
 * Tries more and more digits until the text reads back. It begins with DBL_DIG (FLT_DIG) digits:
 * decimals up to that length survive the conversion to a normal number and back, and %g drops
 * their trailing zeros, so shorter texts are found too. Subnormal numbers have fewer digits.
 */
size_t number_put_f64(char *to, f64 value)
{
	size_t len = put_simple(to, value);
	f64 back;

	if (len)
		return len;
	for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;; digits++) {
		len = put_format(to, value, digits);
		/*
		 * 17 digits are always enough. With fewer, the largest doubles may round up to a
		 * text that number_f64 refuses.
		 */
		if (digits >= 17 || (number_f64(&back, to, to + len) && back == value))
			return len;
	}
}

static f64 f32_of_bits(u32 bits)
{
	f32 value;

	memcpy(&value, &bits, sizeof(value));
	return (f64)value;
}

/*
 * Returns true if the text reads back as this positive float, both directly and by way of a
 * double. That is so if the double lies strictly between the two points half-way to the float's
 * neighbours.
 */
static bool reads_back_f32(const char *text, size_t len, f32 value)
{
	f64 wide, low, high;
	u32 bits;

	if (!number_f64(&wide, text, text + len))
		return false;
	memcpy(&bits, &value, sizeof(bits));
	low = (f32_of_bits(bits - 1) + (f64)value) / 2;
	high = (f32_of_bits(bits + 1) + (f64)value) / 2;
	return low < wide && wide < high && (f32)wide == value;
}

size_t number_put_f32(char *to, f32 value)
{
	size_t len = put_simple(to, (f64)value);

	if (len)
		return len;
	if (value < 0) {
		*to = '-';
		return 1 + number_put_f32(to + 1, -value);
	}
	for (int digits = value < FLT_MIN ? 1 : FLT_DIG;; digits++) {
		len = put_format(to, (f64)value, digits);
		if (digits >= 9 || reads_back_f32(to, len, value))
			return len;
	}
}

/* ---- Sizes ---- */

static const char units[] = "KMGTPE";

/* Returns true for digits with at most one decimal point: no sign, no exponent. */
static bool is_plain(const char *text, const char *end)
{
	int n_points = 0;

	for (; text < end; text++) {
		if (*text == '.')
			n_points++;
		else if (!is_digit(*text))
			return false;
	}
	return n_points <= 1;
}

mill_err size_parse(u64 *out, const char *text, u64 csr_bytes)
{
	const char *end = text + strlen(text), *unit = NULL;
	char suffix = text == end ? '\0' : end[-1];
	u64 whole, bytes;
	f64 value, scale = 1;
	unsigned shift = 0;

	if (suffix >= 'a' && suffix <= 'z')
		suffix = (char)(suffix - 'a' + 'A');
	if (suffix && suffix != 'P' && suffix != 'E')
		unit = strchr(units, suffix);
	if (unit)
		shift = 10 * (unsigned)(unit - units + 1);
	if (unit || suffix == '%')
		end--;
	if (!is_plain(text, end) || !number_f64(&value, text, end))
		return fail(MILL_EUSAGE, "'%s' is not a size: say 4096, 64K, 1.5G or 25%%", text);
	if (suffix == '%' && !csr_bytes)
		return fail(MILL_EUSAGE, "'%s': a percentage makes no sense here: give a size",
			    text);

	/* Whole numbers are exact, the others as exact as a double. */
	if (suffix != '%' && number_u64(&whole, text, end)) {
		if (__builtin_mul_overflow(whole, (u64)1 << shift, &bytes))
			goto too_large;
		*out = bytes;
		return MILL_OK;
	}
	scale = suffix == '%' ? (f64)csr_bytes / 100 : (f64)((u64)1 << shift);
	if (value * scale >= 0x1p64)
		goto too_large;
	*out = (u64)(value * scale);
	return MILL_OK;
too_large:
	return fail(MILL_EUSAGE, "'%s' is too large for a size", text);
}

MILL_API mill_err mill_size_parse(uint64_t *out, const char *text, uint64_t csr_bytes)
{
	return size_parse(out, text, csr_bytes);
}

char *size_show(char *to, u64 bytes)
{
	unsigned unit = 0;
	u64 tenths;

	if (bytes < KIB) {
		snprintf(to, NUMBER_TEXT, "%u bytes", (unsigned)bytes);
		return to;
	}
	while (unit + 1 < sizeof(units) - 1 && bytes >> (10 * (unit + 2)))
		unit++;
	for (;; unit++) {
		u64 one = KIB << (10 * unit);

		tenths = bytes / one * 10 + (bytes % one / (one / 64) * 10 + 32) / 64;
		if (tenths < 10240 || unit + 2 == sizeof(units))
			break;	/* else it rounds to 1024, which is 1 of the next unit */
	}
	if (tenths % 10)
		snprintf(to, NUMBER_TEXT, "%u.%u %ciB", (unsigned)(tenths / 10),
			 (unsigned)(tenths % 10), units[unit]);
	else
		snprintf(to, NUMBER_TEXT, "%u %ciB", (unsigned)(tenths / 10), units[unit]);
	return to;
}
