/* SPDX-License-Identifier: Apache-2.0 */
/* Error messages of the command line, hints for mistyped words, and numbers as text. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <millrace.h>

/* Keeps the message for message() and returns the code: return refuse(MILL_EUSAGE, "...", x); */
mill_err refuse(mill_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the message and the text of errno, and returns the code that fits errno. */
mill_err refuse_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Forgets the message of the last refuse(). */
void message_clear(void);

/*
 * Returns the message of the last refuse(), or mill_error() if there was none. It is one line,
 * valid until the next call.
 */
const char *message(void);

/* The search for the name that a mistyped word probably meant. Starts as { .word = word }. */
struct nearest {
	const char *word;
	const char *best;	/* the nearest name so far */
	unsigned distance;	/* its edit distance */
};
/* Compares one more name. */
void nearest_try(struct nearest *n, const char *name);
/* Returns the nearest name, or NULL if no name is near enough. */
const char *nearest_found(const struct nearest *n);

#define SHOWN_SIZE 24
/* Writes "1.5 GiB" to `to`, which has SHOWN_SIZE bytes. Returns `to`. */
const char *show_size(char *to, uint64_t bytes);
/* Writes "12 ms", "3.4 s" or "5 min". Returns `to`. */
const char *show_seconds(char *to, double seconds);

const char *weight_word(enum mill_weight weight);
const char *addressing_word(enum mill_addressing addressing);

/* Returns the seconds of a monotonic clock. */
double now(void);

#endif
