/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums, computed by the xxHash library. */
#include "base/checksum.h"

#define XXH_STATIC_LINKING_ONLY	/* shows the size of the state, which our allocator needs */
#include <xxhash.h>

#include "base/memory.h"

struct checksum_stream {
	XXH3_state_t state;	/* needs 64-byte alignment; memory_new gives that */
};

u64 checksum(const void *data, size_t size)
{
	return XXH3_64bits(data, size);
}

struct checksum_stream *checksum_begin(void)
{
	struct checksum_stream *s;

	if (memory_new(&s, NULL, 1, sizeof(*s), "a checksum"))
		return NULL;
	XXH3_64bits_reset(&s->state);
	return s;
}

void checksum_add(struct checksum_stream *s, const void *data, size_t size)
{
	XXH3_64bits_update(&s->state, data, size);
}

u64 checksum_end(struct checksum_stream *s)
{
	u64 sum = XXH3_64bits_digest(&s->state);

	memory_free(s);
	return sum;
}
