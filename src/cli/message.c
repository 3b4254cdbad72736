/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages, hints for mistyped words, and numbers as text. */
#include "cli/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static char refusal[4096];

mill_err refuse(mill_err code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(refusal, sizeof(refusal), format, args);
	va_end(args);
	return code;
}

mill_err refuse_errno(const char *format, ...)
{
	int error = errno;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(refusal, sizeof(refusal), format, args);
	va_end(args);
	if (length >= 0 && (size_t)length < sizeof(refusal))
		snprintf(refusal + length, sizeof(refusal) - (size_t)length, ": %s",
			 strerror(error));
	if (error == ENOSPC || error == EDQUOT || error == EFBIG)
		return MILL_ENOSPACE;
	return error == ENOMEM ? MILL_ENOMEM : MILL_EIO;
}

void message_clear(void) { refusal[0] = '\0'; }

/* Replaces control characters, which a path may contain: a message is one line. */
const char *message(void)
{
	static char line[sizeof(refusal)];
	char *c;

	snprintf(line, sizeof(line), "%s", refusal[0] ? refusal : mill_error());
	for (c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return line;
}

/*
 * Returns the Levenshtein distance, computed with one row of the table. Words longer than the row
 * are far from every word.
 */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t n = strlen(b), i, j;

	if (n >= sizeof(row) / sizeof(row[0]) || strlen(a) >= sizeof(row) / sizeof(row[0]))
		return UINT32_MAX;
	for (j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (i = 0; a[i]; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i + 1;
		for (j = 0; j < n; j++) {
			unsigned best = corner + (a[i] != b[j]);

			corner = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (corner + 1 < best)
				best = corner + 1;
			row[j + 1] = best;
		}
	}
	return row[n];
}

void nearest_try(struct nearest *n, const char *name)
{
	unsigned d = distance(n->word, name);

	if (!n->best || d < n->distance) {
		n->best = name;
		n->distance = d;
	}
}

const char *nearest_found(const struct nearest *n)
{
	size_t length = strlen(n->word);

	/* At most two typing errors, and fewer than letters: "bsf" is bfs, "xy" is nothing. */
	return n->best && n->distance <= 2 && n->distance < length ? n->best : NULL;
}

const char *show_size(char *to, uint64_t bytes)
{
	static const char *const unit[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024) {
		snprintf(to, SHOWN_SIZE, "%u bytes", (unsigned)bytes);
		return to;
	}
	while (value >= 999.95 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
		value /= 1024;
		i++;
	}
	snprintf(to, SHOWN_SIZE, "%.*f %s", value < 99.95, value, unit[i]);
	return to;
}

const char *show_seconds(char *to, double seconds)
{
	if (seconds < 0.001)
		snprintf(to, SHOWN_SIZE, "%.0f us", seconds * 1e6);
	else if (seconds < 1)
		snprintf(to, SHOWN_SIZE, "%.*f ms", seconds < 0.1, seconds * 1e3);
	else if (seconds < 120)
		snprintf(to, SHOWN_SIZE, "%.*f s", seconds < 10 ? 2 : 1, seconds);
	else if (seconds < 7200)
		snprintf(to, SHOWN_SIZE, "%.0f min", seconds / 60);
	else
		snprintf(to, SHOWN_SIZE, "%.1f h", seconds / 3600);
	return to;
}

const char *addressing_word(enum mill_addressing addressing)
{
	return addressing == MILL_ADDRESSING_PAGED ? "paged" : "dense";
}

const char *weight_word(enum mill_weight weight)
{
	static const char *const word[] = { "none", "u32", "i32", "f32", "f64" };

	return word[weight];
}

double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
