/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums: XXH3 of 64 bits, which stops accidents and not attackers. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include "base/types.h"

u64 checksum(const void *data, size_t size);

/* The same over pieces. */
struct checksum_stream;
struct checksum_stream *checksum_begin(void);	/* NULL without memory */
void checksum_add(struct checksum_stream *s, const void *data, size_t size);
u64 checksum_end(struct checksum_stream *s);	/* frees s */

#endif
