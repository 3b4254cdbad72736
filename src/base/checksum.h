/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums: 64-bit XXH3. They detect accidental damage, not an attacker's changes. */
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include "base/types.h"

u64 checksum(const void *data, size_t size);

/* Computes the same checksum over data that comes in several pieces. */
struct checksum_stream;
struct checksum_stream *checksum_begin(void);	/* NULL if there is no memory */
void checksum_add(struct checksum_stream *s, const void *data, size_t size);
u64 checksum_end(struct checksum_stream *s);	/* frees s */

#endif
