/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and the headers that it needs first. Its fail() gives way to the library's function. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
/* Fails the test with a message, formatted as by printf. */
#define fail_msg(...)                         \
	do {                                  \
		print_error(__VA_ARGS__);     \
		print_error("\n");            \
		_fail(__FILE__, __LINE__);    \
	} while (0)

/* Returns how many of n random cases to try: all with LONG set (`make test-long`), else a third. */
static inline unsigned long long repeats(unsigned long long n)
{
	return getenv("LONG") ? n : (n + 2) / 3;
}

/* Returns whether this is a build with a sanitizer: its runs take several times as long, and one of a kind shows what many do. */
static inline bool is_sanitized(void)
{
	const char *sanitizer = getenv("MILL_SANITIZE");

	return sanitizer && *sanitizer;
}

#include "suite.h"

/* Fails the test unless the call returns MILL_OK. */
#define OK(call)                                                                   \
	do {                                                                       \
		mill_err ok_err_ = (call);                                         \
		if (ok_err_)                                                       \
			fail_msg("%s: %d, %s", #call, (int)ok_err_, mill_error()); \
	} while (0)

#endif
