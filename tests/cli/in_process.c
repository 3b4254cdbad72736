/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs millrace commands for transcripts, all in this process: `one_process` of lib.sh. Reads from stdin, each
 * field ended by a zero byte: the faults (may be empty), the number of arguments, the arguments. Writes stdout and
 * stderr of the command to ./out and ./err, and its exit code as a line to the file that is argv[1].
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/fault.h"
#include "fault/command.h"

#define MAX_WORDS 256

static FILE *requests, *answers;

/* Reads a field; exits at the end of all requests. */
static char *read_field(void)
{
	char *text = NULL;
	size_t size = 0;

	if (getdelim(&text, &size, '\0', requests) < 0)
		exit(0);
	return text;
}

static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags | O_CLOEXEC, 0666);

	if (file < 0 || dup2(file, fd) < 0) {
		fprintf(answers, "cannot write %s: %s\n", path, strerror(errno));
		exit(1);
	}
	if (file != fd)
		close(file);
}

static int run(char *faults, int argc, char **argv)
{
	int code;

	redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
	redirect(STDOUT_FILENO, "out", O_WRONLY | O_CREAT | O_TRUNC);
	redirect(STDERR_FILENO, "err", O_WRONLY | O_CREAT | O_TRUNC);
	fault_arm(*faults ? faults : NULL);
	code = millrace_main(argc, argv);
	fault_arm(NULL);
	fflush(stdout);
	clearerr(stdout);
	return code;
}

int main(int argc, char **argv)
{
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);

	if (argc != 2)
		return 2;
	requests = fdopen(fd, "r");
	answers = fopen(argv[1], "we");
	if (!requests || !answers)
		return 2;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	__sanitizer_set_report_fd((void *)(intptr_t)fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10));
#endif
	for (;;) {
		char *faults = read_field(), *number = read_field(),
		     *word[MAX_WORDS + 2] = { "millrace" };
		char *keep[MAX_WORDS] = {
			NULL
		}; /* the command changes the order of its arguments */
		int n = atoi(number);

		for (int i = 0; i < n && i < MAX_WORDS; i++)
			word[i + 1] = keep[i] = read_field();
		fprintf(answers, "%d\n", run(faults, n + 1, word));
		fflush(answers);
		for (int i = 0; i < n && i < MAX_WORDS; i++)
			free(keep[i]);
		free(number);
		free(faults);
	}
}
