/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main function of unit_tests, algo_tests and fault_tests.
 *
 *	algo_tests                   runs all suites, each in its own process
 *	algo_tests bfs sssp          runs these suites
 *	algo_tests bfs.test_printed  runs one test
 *	algo_tests 'bfs.test_*'      runs the tests that match a shell pattern
 *	algo_tests --list            prints the names of all tests
 *
 * Exits with 0 if all tests passed, with 77 if all suites were skipped, else with 1. It is an
 * error if an argument selects no test.
 */
#include "suite.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PASSED, FAILED, SKIPPED = 77 };

/*
 * fsync and fdatasync replace those of libc: no store of a test must survive a power cut, and
 * waiting for the disk took most of the time.
 */
int fsync(int fd)
{
	return fcntl(fd, F_GETFD) < 0 ? -1 : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

static void list_tests(void)
{
	for (const struct suite *const *s = suites; *s; s++)
		for (size_t i = 0; i < (*s)->n_tests; i++)
			printf("%s.%s\n", (*s)->name, (*s)->test[i].name);
}

static int run_child(int argc, char **argv)
{
	for (const struct suite *const *s = suites; argc && *s; s++)
		if (!strcmp((*s)->name, argv[0]) && (*s)->child)
			return (*s)->child(argc - 1, argv + 1);
	return FAILED;
}

/* Returns true if the selector, "suite" or "suite.test", matches this test. */
static bool is_selected(const struct suite *s, const struct CMUnitTest *test, const char *selector)
{
	char name[200];

	if (strchr(selector, '.'))
		snprintf(name, sizeof(name), "%s.%s", s->name, test->name);
	else
		snprintf(name, sizeof(name), "%s", s->name);
	return !fnmatch(selector, name, 0);
}

/* Copies the selected tests to out, which may be NULL. Returns their number. */
static size_t select_tests(const struct suite *s, char **selectors, struct CMUnitTest *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_tests; i++)
		for (char **selector = selectors; *selector; selector++)
			if (is_selected(s, &s->test[i], *selector)) {
				if (out)
					out[n] = s->test[i];
				n++;
				break;
			}
	return n;
}

static bool selects_something(char *selector)
{
	for (const struct suite *const *s = suites; *s; s++)
		if (select_tests(*s, (char *[]){ selector, NULL }, NULL))
			return true;
	fprintf(stderr, "'%s' selects no test (--list prints all)\n", selector);
	return false;
}

static int run_suite(const struct suite *s, char **selectors)
{
	struct CMUnitTest *test;
	size_t n;
	int n_failed;

	if (s->usable && !s->usable()) {
		printf("%s is skipped: this machine lacks what it needs\n", s->name);
		return SKIPPED;
	}
	test = calloc(s->n_tests, sizeof(*test));
	if (!test)
		return FAILED;
	n = select_tests(s, selectors, test);
	n_failed = _cmocka_run_group_tests(s->name, test, n, s->setup, s->teardown);
	free(test);
	return n_failed ? FAILED : PASSED;
}

/* Runs the suite in a new process: some settings, such as MILL_FAULT, are read once per process. */
static int run_suite_apart(const struct suite *s, char **selectors)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return FAILED;
	if (!pid)
		exit(run_suite(s, selectors));
	if (waitpid(pid, &status, 0) != pid)
		return FAILED;
	if (WIFSIGNALED(status))
		fprintf(stderr, "%s ended with signal %d\n", s->name, WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static int run_selected(char **selectors)
{
	unsigned n_chosen = 0, n_passed = 0, n_skipped = 0;

	for (const struct suite *const *s = suites; *s; s++)
		n_chosen += select_tests(*s, selectors, NULL) > 0;
	for (const struct suite *const *s = suites; *s; s++) {
		int code;

		if (!select_tests(*s, selectors, NULL))
			continue;
		code = n_chosen > 1 ? run_suite_apart(*s, selectors) : run_suite(*s, selectors);
		n_passed += code == PASSED;
		n_skipped += code == SKIPPED;
	}
	if (n_passed + n_skipped < n_chosen)
		return FAILED;
	return n_passed ? PASSED : SKIPPED;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list_tests();
		return PASSED;
	}
	if (argc > 1 && !strcmp(argv[1], SUITE_CHILD))
		return run_child(argc - 2, argv + 2);
	for (int i = 1; i < argc; i++)
		if (!selects_something(argv[i]))
			return FAILED;
	return run_selected(argc > 1 ? argv + 1 : (char *[]){ "*", NULL });
}
