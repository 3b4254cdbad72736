/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka and what it wants included first. The name fail() is the library's own. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef fail
#undef fail_msg
/* Fails the test with a printf sentence. */
#define fail_msg(...)                         \
	do {                                  \
		print_error(__VA_ARGS__);     \
		print_error("\n");            \
		_fail(__FILE__, __LINE__);    \
	} while (0)

#endif
