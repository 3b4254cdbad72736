/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator, the counting of budgets, and the amount of memory that the system has left. */
#define _GNU_SOURCE 1	/* MADV_HUGEPAGE */
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/number.h"

#define HUGE_PAGE (2 * MIB)
#define MEMORY_PAGE 4096u

/* The header of a block: the 64 bytes before the pointer that the caller gets. */
struct block {
	struct budget *budget;	/* or NULL */
	u64 counted;		/* bytes counted in the budget */
	void *base;		/* start of the mapping or the heap block */
	u64 mapped;		/* bytes of the mapping; 0: from the heap */
	u8 pad[32];
};
_Static_assert(sizeof(struct block) == 64, "keeps small blocks aligned to a cache line");

void budget_init(struct budget *b, u64 limit)
{
	*b = (struct budget){ .limit = limit };
}

u64 budget_left(const struct budget *b)
{
	u64 used = __atomic_load_n(&b->used, __ATOMIC_RELAXED);

	if (!b->limit)
		return UINT64_MAX;
	return used < b->limit ? b->limit - used : 0;
}

/*
 * Uses compare-and-swap. With "add, then undo if it was too much", one thread's large request
 * could make another thread's small one fail.
 */
static mill_err budget_take(struct budget *b, u64 bytes, const char *what)
{
	u64 used = __atomic_load_n(&b->used, __ATOMIC_RELAXED);
	u64 peak, sum;

	do {
		u64 left = used < b->limit ? b->limit - used : 0;

		if (__builtin_add_overflow(used, bytes, &sum) || (b->limit && bytes > left)) {
			char need[NUMBER_TEXT], limit[NUMBER_TEXT], rest[NUMBER_TEXT];

			return fail(MILL_ENOMEM,
				    "no room for %s: this needs %s, the budget of %s leaves %s",
				    what, size_show(need, bytes), size_show(limit, b->limit),
				    size_show(rest, left));
		}
	} while (!__atomic_compare_exchange_n(&b->used, &used, sum, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	peak = __atomic_load_n(&b->peak, __ATOMIC_RELAXED);
	while (peak < sum && !__atomic_compare_exchange_n(&b->peak, &peak, sum, true,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return MILL_OK;
}

static void budget_give(struct budget *b, u64 bytes)
{
	__atomic_sub_fetch(&b->used, bytes, __ATOMIC_RELAXED);
}

#ifndef __SANITIZE_ADDRESS__
/* Maps memory at a multiple of the huge page size, so that all but the end can be huge pages. */
static void *map_aligned(u64 size)
{
	u64 span = size + HUGE_PAGE;
	char *raw, *base;

	raw = mmap(NULL, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (raw == MAP_FAILED)
		return NULL;
	base = raw + (round_up((uintptr_t)raw, HUGE_PAGE) - (uintptr_t)raw);
	if (base > raw)
		munmap(raw, (size_t)(base - raw));
	if (base + size < raw + span)
		munmap(base + size, (size_t)(raw + span - (base + size)));
	madvise(base, size, MADV_HUGEPAGE);	/* may fail: a kernel without huge pages is fine */
	return base;
}
#endif

/*
 * Returns the caller's pointer: zeroed memory with its header in front. NULL if there is no
 * memory. Under AddressSanitizer large blocks come from the heap too, because it finds overruns
 * and leaks only there.
 */
static void *block_new(u64 bytes, u64 total, bool large)
{
	u64 front = large ? MEMORY_PAGE : sizeof(struct block);
	void *base;
	u64 mapped = 0;
	char *p;

#ifndef __SANITIZE_ADDRESS__
	if (large) {
		base = map_aligned(total);
		if (!base)
			return NULL;
		mapped = total;
	} else
#else
	if (total >> 38)	/* AddressSanitizer would abort instead of returning NULL */
		return NULL;
#endif
	{
		if (posix_memalign(&base, front, front + bytes))
			return NULL;
		memset(base, 0, front + bytes);
	}
	p = (char *)base + front;
	((struct block *)(void *)p)[-1] = (struct block){ .base = base, .mapped = mapped };
	return p;
}

mill_err memory_new(void *out_pointer, struct budget *budget, u64 n, size_t size, const char *what)
{
	char shown[NUMBER_TEXT];
	u64 bytes, total;
	bool large;
	void *p;

	if (__builtin_mul_overflow(n, (u64)size, &bytes) || bytes > PTRDIFF_MAX - 2 * HUGE_PAGE)
		return fail(MILL_ENOMEM, "no memory for %s: %llu times %zu bytes is more than "
			    "can be addressed", what, (unsigned long long)n, size);
	/* Every command allocates, so the user hears of a mistyped MILL_FAULT at once. */
	if (fault_bad())
		return fail(MILL_EUSAGE, "MILL_FAULT is not understood: %s", fault_bad());
	large = bytes >= HUGE_PAGE;
	total = large ? round_up(bytes + MEMORY_PAGE, MEMORY_PAGE) : bytes + sizeof(struct block);

	if (budget)
		TRY(budget_take(budget, total, what));
	p = fault_alloc() ? NULL : block_new(bytes, total, large);
	if (!p) {
		if (budget)
			budget_give(budget, total);
		return fail(MILL_ENOMEM, "no memory for %s (%s)", what, size_show(shown, total));
	}
	((struct block *)p)[-1].budget = budget;
	((struct block *)p)[-1].counted = total;
	memcpy(out_pointer, &p, sizeof(p));	/* memcpy: the pointer can have any type */
	return MILL_OK;
}

void memory_free(void *p)
{
	struct block b;

	if (!p)
		return;
	b = ((struct block *)p)[-1];
	if (b.mapped)
		munmap(b.base, b.mapped);
	else
		free(b.base);
	if (b.budget)
		budget_give(b.budget, b.counted);
}

void memory_fill(void *to, u64 bytes, const void *pattern, size_t size)
{
	memcpy(to, pattern, min_u64(size, bytes));
	for (u64 done = size; done < bytes; done *= 2)	/* doubles, so that copies are long */
		memcpy((char *)to + done, to, min_u64(done, bytes - done));
}

mill_err memory_string(char **out, struct budget *budget, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = NULL;

	TRY(memory_new(&copy, budget, size, 1, "a text"));
	memcpy(copy, text, size);
	*out = copy;
	return MILL_OK;
}

mill_err memory_printf(char **out, struct budget *budget, const char *format, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0)
		return fail(MILL_EBUG, "cannot format a text");
	TRY(memory_new(&text, budget, (u64)len + 1, 1, "a text"));
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	*out = text;
	return MILL_OK;
}

/*
 * Reads a small file of /proc or /sys into a string; "" if it cannot be read. Does not use
 * base/file.h: each of these files may be missing without harm, and a file's name for messages
 * would need memory.
 */
static void slurp(char *to, size_t size, const char *path)
{
	size_t fill = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && fill + 1 < size) {
		ssize_t got = read(fd, to + fill, size - 1 - fill);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		fill += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	to[fill] = '\0';
}

/* Returns the number after `key` at the beginning of a line, 0 if there is none. */
static u64 value_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!strncmp(line, key, len))
			return strtoull(line + len, NULL, 10);
	}
	return 0;
}

struct cgroup_files {
	const char *root, *limit, *use, *reclaimable;
};

static const struct cgroup_files cgroup_v2 = { "/sys/fs/cgroup", "memory.max", "memory.current",
					       "inactive_file " };
static const struct cgroup_files cgroup_v1 = { "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
					       "memory.usage_in_bytes", "total_inactive_file " };

/*
 * Returns the bytes that the cgroup limits leave to this process: the least over the group at
 * path ("" or with a leading '/') and all groups above it.
 */
static u64 cgroup_left(const struct cgroup_files *v, char *path)
{
	u64 least = UINT64_MAX;
	char name[4096 + 128], text[8192];

	for (;;) {
		u64 limit, use, cache;
		char *slash;

		snprintf(name, sizeof(name), "%s%s/%s", v->root, path, v->limit);
		slurp(text, sizeof(text), name);
		if (text[0] >= '0' && text[0] <= '9') {	/* not "max", not missing */
			limit = strtoull(text, NULL, 10);
			snprintf(name, sizeof(name), "%s%s/%s", v->root, path, v->use);
			slurp(text, sizeof(text), name);
			use = strtoull(text, NULL, 10);
			/* The use includes page cache, which the kernel frees when needed. */
			snprintf(name, sizeof(name), "%s%s/memory.stat", v->root, path);
			slurp(text, sizeof(text), name);
			cache = value_of(text, v->reclaimable);
			use -= min_u64(use, cache);
			least = min_u64(least, limit > use ? limit - use : 0);
		}
		slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Returns true if `name` is one of the comma-separated words before the ':'. */
static bool lists(const char *words, const char *name)
{
	size_t len = strlen(name);

	for (;;) {
		size_t word = strcspn(words, ",:");

		if (word == len && !memcmp(words, name, len))
			return true;
		if (words[word] != ',')
			return false;
		words += word + 1;
	}
}

u64 memory_available(void)
{
	u64 least = UINT64_MAX, free_bytes;
	char text[8192], path[4096];

	slurp(text, sizeof(text), "/proc/meminfo");
	free_bytes = value_of(text, "MemAvailable:");
	if (free_bytes)
		least = free_bytes * KIB;
	else if (sysconf(_SC_AVPHYS_PAGES) > 0)
		least = (u64)sysconf(_SC_AVPHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);

	/* Lines "hierarchy:controllers:path"; version 2 is hierarchy 0 without controllers. */
	slurp(text, sizeof(text), "/proc/self/cgroup");
	for (char *line = text, *next; *line; line = next) {
		const struct cgroup_files *v = NULL;
		char *controllers;

		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		controllers = strchr(line, ':');
		if (!controllers)
			continue;
		controllers++;
		if (*controllers == ':')
			v = &cgroup_v2;
		else if (lists(controllers, "memory"))
			v = &cgroup_v1;
		controllers = strchr(controllers, ':');
		if (!v || !controllers)
			continue;
		snprintf(path, sizeof(path), "%s", controllers + 1);
		if (!strcmp(path, "/"))
			path[0] = '\0';
		least = min_u64(least, cgroup_left(v, path));
	}
	return least;
}

static u64 status_bytes(const char *key)
{
	char text[8192];

	slurp(text, sizeof(text), "/proc/self/status");
	return value_of(text, key) * KIB;
}

u64 memory_peak_rss(void)
{
	return status_bytes("VmHWM:");
}

u64 memory_rss(void)
{
	return status_bytes("VmRSS:");
}
