/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of libFuzzer for the reader of FUZZ_FORMAT. `make fuzz` builds a program per format. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/mill-fuzz-XXXXXX";

static void clean(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;

	if (!made) {
		if (!mkdtemp(folder))
			abort();
		atexit(clean);
		made = true;
	}
	fuzz_reader(folder, FUZZ_FORMAT, data, size);
	return 0;
}
