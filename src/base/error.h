/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: a code, and one sentence for the user that each thread keeps for itself. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <millrace.h>

/* Stores the sentence for mill_error() and returns the code: return fail(MILL_EINPUT, "...", x); */
mill_err fail(mill_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Does the same for a system call that failed: appends the text of errno. ENOSPC, EDQUOT and
 * EFBIG become MILL_ENOSPACE, ENOMEM becomes MILL_ENOMEM, all others MILL_EIO.
 */
mill_err fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Returns from the calling function if the call fails. For places with nothing to undo. */
#define TRY(call)                              \
	do {                                   \
		mill_err try_err_ = (call);    \
		if (try_err_)                  \
			return try_err_;       \
	} while (0)

/* A saved failure, for example on its way from a worker thread to its caller. */
struct error {
	mill_err code;
	char text[1024];
};

/* Copies the sentence of the calling thread's last failure into e, with this code. */
void error_save(struct error *e, mill_err code);
/* Makes e the calling thread's last failure and returns its code. */
mill_err error_restore(const struct error *e);

#endif
