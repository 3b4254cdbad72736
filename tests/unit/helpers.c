/* SPDX-License-Identifier: Apache-2.0 */
#include "helpers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

char scratch[200];

int scratch_make(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/millrace-test-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(scratch) ? 0 : -1;
}

int scratch_remove(void **state)
{
	char command[sizeof(scratch) + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", scratch);
	return system(command);
}

/* The last 64 paths that a function returned. */
struct path_ring {
	char path[64][512];
	unsigned next;
};

static const char *ring_put(struct path_ring *r, const char *directory, const char *name)
{
	char *to = r->path[r->next++ % 64];

	snprintf(to, sizeof(r->path[0]), "%s/%s", directory, name);
	return to;
}

const char *path_in(const char *directory, const char *name)
{
	static struct path_ring ring;

	return ring_put(&ring, directory, name);
}

const char *in_scratch(const char *name)
{
	static struct path_ring ring;

	return ring_put(&ring, scratch, name);
}

int under_fault(const char *fault, int (*work)(void))
{
	int status;
	pid_t child;

	fflush(stdout);
	fflush(stderr);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		setenv("MILL_FAULT", fault, 1);
		alarm(60);	/* a hang fails the test */
		status = work();
#ifdef __SANITIZE_ADDRESS__
		if (__lsan_do_recoverable_leak_check())
			status = 97;
#endif
		_exit(status);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void put_file(const char *path, const void *data, size_t size)
{
	FILE *f = fopen(path, "wb");

	if (!f)
		fail_msg("cannot write %s", path);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

uint8_t *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!f)
		fail_msg("cannot read %s", path);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	n = ftell(f);
	rewind(f);
	data = calloc((size_t)n + 1, 1);
	assert_non_null(data);
	*size = fread(data, 1, (size_t)n, f);
	assert_int_equal(*size, n);
	fclose(f);
	return data;
}
