/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: a code and one sentence, kept per thread. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <millrace.h>

/* Keeps the sentence for mill_error() and returns the code: return fail(MILL_EINPUT, "...", x); */
mill_err fail(mill_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * The same for the errno of a failed call; appends its text. Running out of space or quota or
 * file size is MILL_ENOSPACE, ENOMEM is MILL_ENOMEM, anything else MILL_EIO.
 */
mill_err fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns on failure; for places where there is nothing to undo. */
#define TRY(call)                              \
	do {                                   \
		mill_err try_err_ = (call);    \
		if (try_err_)                  \
			return try_err_;       \
	} while (0)

/* A failure on its way from a worker to its caller. */
struct error {
	mill_err code;
	char text[1024];
};

/* Copies the calling thread's last failure, with this code, into e. */
void error_save(struct error *e, mill_err code);
/* Makes e the calling thread's last failure and returns its code. */
mill_err error_restore(const struct error *e);

#endif
