/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suite is the table of cmocka tests that one file tests/FOLDER/test_NAME.c defines. All suites
 * of a folder are linked into one program, FOLDER_tests (suite.c). CMake lists them by file name:
 * a file without SUITE does not link.
 *
 *	static const struct CMUnitTest tests[] = { cmocka_unit_test(test_path) };
 *	SUITE(bfs, tests, .setup = scratch_make, .teardown = scratch_remove);
 */
#ifndef SUITE_H
#define SUITE_H

#include <stdbool.h>

#include "unit/unit.h"	/* cmocka; it includes this file too */

struct suite {
	const char *name;
	const struct CMUnitTest *test;
	size_t n_tests;
	/* Optional: before and after all tests, as cmocka calls them. */
	CMFixtureFunction setup, teardown;
	/* Optional: returns false if the machine lacks what the suite needs: it is skipped then. */
	bool (*usable)(void);
	/* Optional: SUITE_CHILD calls it in a new process; returns the exit code. */
	int (*child)(int argc, char **argv);
};

/* The name is the file's, between "test_" and ".c". The rest are members of struct suite. */
#define SUITE(name_, tests_, ...)                                                        \
	extern const struct suite suite_##name_;                                         \
	const struct suite suite_##name_ = { .name = #name_,                             \
					     .test = (tests_),                           \
					     .n_tests = sizeof(tests_) / sizeof((tests_)[0]), \
					     ##__VA_ARGS__ }

/* A test that needs a process of its own executes /proc/self/exe SUITE_CHILD name argument... */
#define SUITE_CHILD "--child"

/* All suites of the program, in the order of their names; ends with NULL. CMake generates it. */
extern const struct suite *const suites[];

#endif
