/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line has to say for itself: refusals, hints, sizes. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <millrace.h>

/* Keeps the sentence for message() and returns the code: return refuse(MILL_EUSAGE, "...", x); */
mill_err refuse(mill_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for the errno of a failed call. */
mill_err refuse_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Forgets the last refusal. */
void message_clear(void);

/* The last refusal, or if there was none what the library says. One line, valid until the next. */
const char *message(void);

/*
 * The nearest of `name` to a mistyped word, so near that it was probably meant; NULL if none is.
 * A fresh search begins with struct nearest n = { .word = word }.
 */
struct nearest {
	const char *word;
	const char *best;
	unsigned distance;
};
void nearest_try(struct nearest *n, const char *name);
const char *nearest_found(const struct nearest *n);

#define SHOWN_SIZE 24
/* "1.5 GiB"; to holds SHOWN_SIZE. Returns to. */
const char *show_size(char *to, uint64_t bytes);
/* "12 ms", "3.4 s", "5 min": three digits at most. */
const char *show_seconds(char *to, double seconds);

const char *weight_word(enum mill_weight weight);
const char *addressing_word(enum mill_addressing addressing);

/* Seconds of a monotonic clock. */
double now(void);

#endif
