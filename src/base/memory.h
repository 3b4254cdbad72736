/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that counts against a budget. All memory of the library comes from memory_new, which
 * adds the block to its budget and fails if the sum would exceed the limit. A run allocates its
 * state first; frames for pages get the rest. So `--memory` is a promise, and the fault layer
 * (base/fault.h) can make each allocation fail.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/error.h"
#include "base/types.h"

struct budget {
	u64 limit;	/* bytes; 0: no limit */
	u64 used;	/* atomic */
	u64 peak;	/* atomic */
};

void budget_init(struct budget *b, u64 limit);
/* Returns the bytes that are left; UINT64_MAX without a limit. */
u64 budget_left(const struct budget *b);

/*
 * Allocates n zeroed elements of `size` bytes. Fails if n * size overflows. On failure
 * *out_pointer is unchanged. Blocks of 2 MiB or more get a mapping of their own, aligned to a
 * memory page (good for O_DIRECT) and advised to use huge pages, which makes random access to
 * vertex state up to 1.8 times faster. Smaller blocks are aligned to 64 bytes. budget NULL: the
 * block is not counted. `what` names the block in error messages; it may be a plural noun.
 */
mill_err memory_new(void *out_pointer, struct budget *budget, u64 n, size_t size, const char *what);
/* Frees a block and subtracts it from its budget; NULL is fine. */
void memory_free(void *p);
/* Fills `bytes` bytes with copies of a pattern of `size` bytes. The last copy may be cut. */
void memory_fill(void *to, u64 bytes, const void *pattern, size_t size);
/* Makes a copy of a string that counts against the budget. */
mill_err memory_string(char **out, struct budget *budget, const char *text);
mill_err memory_printf(char **out, struct budget *budget, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Returns the bytes that this process can still use: the least of MemAvailable and, for each
 * cgroup of the process (v1 and v2), the limit minus the use.
 */
u64 memory_available(void);
/* Return the largest resident set so far (VmHWM) and the present one (VmRSS), in bytes. */
u64 memory_peak_rss(void);
u64 memory_rss(void);

#endif
