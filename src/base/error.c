/* SPDX-License-Identifier: Apache-2.0 */
/* The last error of each thread. */
#define _GNU_SOURCE 1	/* the strerror_r that returns a string */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last[sizeof(((struct error *)0)->text)];

MILL_API const char *mill_error(void)
{
	return last;
}

mill_err fail(mill_err code, const char *format, ...)
{
	char text[sizeof(last)];	/* not `last`: an argument may be mill_error() itself */
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(last, text, sizeof(last));
	return code;
}

static mill_err errno_code(int err)
{
	switch (err) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return MILL_ENOSPACE;
	case ENOMEM:
		return MILL_ENOMEM;
	default:
		return MILL_EIO;
	}
}

mill_err fail_errno(const char *format, ...)
{
	int err = errno;
	char text[sizeof(last)], why[128];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* A very long path is cut, so that the reason still fits. */
	return fail(errno_code(err), "%.*s: %s", (int)(sizeof(last) - sizeof(why) - 3), text,
		    strerror_r(err, why, sizeof(why)));
}

void error_save(struct error *e, mill_err code)
{
	e->code = code;
	memcpy(e->text, last, sizeof(last));
}

mill_err error_restore(const struct error *e)
{
	memcpy(last, e->text, sizeof(last));
	return e->code;
}
