/* SPDX-License-Identifier: Apache-2.0 */
#include "helpers.h"

#include <stdio.h>
#include <stdlib.h>

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

const char *path_in(const char *directory, const char *name)
{
	static char ring[64][512];
	static unsigned next;
	char *to = ring[next++ % 64];

	snprintf(to, sizeof(ring[0]), "%s/%s", directory, name);
	return to;
}

const char *in_scratch(const char *name) { return path_in(scratch, name); }

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
