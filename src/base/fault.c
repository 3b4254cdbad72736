/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS 16

struct fault {
	bool alloc, hold;	/* else io */
	bool sticky;
	bool any;		/* io: every op */
	enum fault_op op;
	int err;		/* io: 0 means a short transfer */
	size_t short_size;
	u64 n;
	u64 seen;		/* atomic: operations so far that this fault counts */
};

static struct fault fault[MAX_FAULTS];
static size_t n_faults;
static const char *bad;
static bool quiet;	/* atomic: the environment was read and asks for nothing */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
	const char *name;
	enum fault_op op;
} ops[] = {
	{ "open", FAULT_OPEN },		{ "read", FAULT_READ },
	{ "write", FAULT_WRITE },	{ "sync", FAULT_SYNC },
	{ "rename", FAULT_RENAME },	{ "mkdir", FAULT_MKDIR },
	{ "unlink", FAULT_UNLINK },	{ "truncate", FAULT_TRUNCATE },
	{ "ring", FAULT_RING },		{ "direct", FAULT_DIRECT },
};

static const struct {
	const char *name;
	int err;
} errs[] = {
	{ "EIO", EIO },		{ "ENOSPC", ENOSPC },	{ "EFBIG", EFBIG },
	{ "EINTR", EINTR },	{ "EAGAIN", EAGAIN },	{ "ENOMEM", ENOMEM },
	{ "EACCES", EACCES },	{ "EPERM", EPERM },	{ "EINVAL", EINVAL },
};

static bool is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* Not number_u64: this must not depend on anything that it can make fail. */
static bool parse_count(u64 *out, const char *text, size_t len)
{
	u64 value = 0;

	if (!len || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (u64)(text[i] - '0');
	}
	*out = value;
	return true;
}

static bool parse_op(struct fault *f, const char *text, size_t len)
{
	f->any = is(text, len, "any");
	if (f->any)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (is(text, len, ops[i].name)) {
			f->op = ops[i].op;
			return true;
		}
	}
	return false;
}

static bool parse_err(struct fault *f, const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(errs); i++) {
		if (is(text, len, errs[i].name)) {
			f->err = errs[i].err;
			return true;
		}
	}
	return false;
}

/*
 * One fault, [text, end). A transfer of no bytes cannot be asked for: a read of 0 is the end
 * of a file, which no reader of a pipe could tell from a fault.
 */
static bool parse_fault(struct fault *f, const char *text, const char *end)
{
	bool has_op = false, has_short = false;
	const char *colon = memchr(text, ':', (size_t)(end - text));
	u64 value;

	if (!colon)
		return false;
	f->alloc = is(text, (size_t)(colon - text), "alloc");
	f->hold = is(text, (size_t)(colon - text), "hold");
	if (!f->alloc && !f->hold && !is(text, (size_t)(colon - text), "io"))
		return false;

	for (const char *at = colon + 1, *next; at <= end; at = next + 1) {
		next = memchr(at, ',', (size_t)(end - at));
		if (!next)
			next = end;

		size_t len = (size_t)(next - at);
		const char *equals = memchr(at, '=', len);
		size_t key = equals ? (size_t)(equals - at) : len;
		const char *text_value = equals ? equals + 1 : next;
		size_t value_len = (size_t)(next - text_value);

		if (f->hold && !(equals && is(at, key, "n")))
			return false;
		if (!equals && is(at, key, "sticky")) {
			f->sticky = true;
		} else if (equals && is(at, key, "n")) {
			if (!parse_count(&f->n, text_value, value_len))
				return false;
		} else if (equals && is(at, key, "op") && !f->alloc) {
			if (!parse_op(f, text_value, value_len))
				return false;
			has_op = true;
		} else if (equals && is(at, key, "err") && !f->alloc) {
			if (!parse_err(f, text_value, value_len))
				return false;
		} else if (equals && is(at, key, "short") && !f->alloc) {
			if (!parse_count(&value, text_value, value_len) || !value)
				return false;
			f->short_size = value;
			has_short = true;
		} else {
			return false;
		}
	}
	if (!f->n)
		return false;
	return f->alloc || f->hold || (has_op && has_short != (f->err != 0));
}

static void read_environment(void)
{
	const char *text = getenv("MILL_FAULT");

	for (const char *at = text, *end; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, ";");
		if (n_faults == MAX_FAULTS || !parse_fault(&fault[n_faults], at, end)) {
			bad = text;
			n_faults = 0;	/* half of what was asked for would mislead */
			break;
		}
		n_faults++;
	}
	if (!n_faults)
		__atomic_store_n(&quiet, true, __ATOMIC_RELEASE);
}

/* True if something may be asked for. */
static inline bool armed(void)
{
	if (__builtin_expect(__atomic_load_n(&quiet, __ATOMIC_RELAXED), true))
		return false;
	pthread_once(&once, read_environment);
	return n_faults != 0;
}

static bool strikes(struct fault *f)
{
	u64 i = __atomic_add_fetch(&f->seen, 1, __ATOMIC_RELAXED);

	return i == f->n || (f->sticky && i > f->n);
}

bool fault_alloc(void)
{
	bool hit = false;

	if (!armed())
		return false;
	for (size_t i = 0; i < n_faults; i++)
		if (fault[i].alloc && strikes(&fault[i]))
			hit = true;
	return hit;
}

int fault_io(enum fault_op op, size_t *size)
{
	int err = 0;

	if (!armed())
		return 0;
	for (size_t i = 0; i < n_faults; i++) {
		struct fault *f = &fault[i];

		if (f->alloc || f->hold || (!f->any && f->op != op) || !strikes(f))
			continue;
		if (f->err && !err)
			err = f->err;
		else if (f->short_size && size && *size > f->short_size)
			*size = f->short_size;
	}
	return err;
}

static u64 hold_set;	/* atomic */

u64 fault_hold(void)
{
	u64 n = __atomic_load_n(&hold_set, __ATOMIC_RELAXED);

	if (n || !armed())
		return n;
	for (size_t i = 0; i < n_faults; i++)
		if (fault[i].hold)
			n = fault[i].n;
	return n;
}

void fault_set_hold(u64 n) { __atomic_store_n(&hold_set, n, __ATOMIC_RELAXED); }

const char *fault_bad(void)
{
	pthread_once(&once, read_environment);
	return bad;
}
