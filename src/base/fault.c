/* SPDX-License-Identifier: Apache-2.0 */
/* Parses MILL_FAULT and decides which operation fails. */
#include "base/fault.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FAULTS 16

struct fault {
	enum { ALLOC, HOLD, IO, CL } kind;
	bool sticky;
	bool any;		/* io, cl: every operation matches */
	u32 op;			/* enum fault_op or fault_cl_op */
	int err;		/* io: 0 means a short transfer; cl: 0 means the default code */
	size_t short_size;	/* bytes */
	u64 n;			/* the n-th matching operation fails; hold: the number of edges */
	u64 seen;		/* atomic: matching operations so far */
};

static struct fault fault[MAX_FAULTS];
static size_t n_faults;
static const char *bad;	/* a MILL_FAULT that cannot be parsed */
static bool quiet;	/* atomic: the faults were read, and there are none */
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

/* err: the default code. Numbers of CL/cl.h, because only opencl*.c may include that. */
static const struct {
	const char *name;
	enum fault_cl_op op;
	int err;
} cl_ops[] = {
	{ "open", FAULT_CL_OPEN, -2 /* device not available */ },
	{ "build", FAULT_CL_BUILD, -11 /* build program failure */ },
	{ "alloc", FAULT_CL_ALLOC, -4 /* memory object allocation failure */ },
	{ "write", FAULT_CL_WRITE, -5 /* out of resources */ },
	{ "read", FAULT_CL_READ, -5 },
	{ "fill", FAULT_CL_FILL, -5 },
	{ "launch", FAULT_CL_LAUNCH, -5 },
	{ "wait", FAULT_CL_WAIT, -14 /* an event in the wait list failed */ },
	{ "finish", FAULT_CL_FINISH, -36 /* invalid command queue */ },
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

/* Not number_u64: this file must not call code that it can cause to fail. */
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
	for (size_t i = 0; f->kind == IO && i < ARRAY_LEN(ops); i++) {
		if (is(text, len, ops[i].name)) {
			f->op = ops[i].op;
			return true;
		}
	}
	for (size_t i = 0; f->kind == CL && i < ARRAY_LEN(cl_ops); i++) {
		if (is(text, len, cl_ops[i].name)) {
			f->op = cl_ops[i].op;
			return true;
		}
	}
	return false;
}

static bool parse_err(struct fault *f, const char *text, size_t len)
{
	u64 code;

	if (f->kind == CL) {
		if (!len || *text != '-' || !parse_count(&code, text + 1, len - 1) || !code ||
		    code > 9999)
			return false;
		f->err = -(int)code;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(errs); i++) {
		if (is(text, len, errs[i].name)) {
			f->err = errs[i].err;
			return true;
		}
	}
	return false;
}

static bool parse_kind(struct fault *f, const char *text, size_t len)
{
	static const char *const kind[] = {
		[ALLOC] = "alloc", [HOLD] = "hold", [IO] = "io", [CL] = "cl",
	};

	for (u32 i = 0; i < ARRAY_LEN(kind); i++) {
		if (is(text, len, kind[i])) {
			f->kind = i;
			return true;
		}
	}
	return false;
}

/* Parses KEY=VALUE, or KEY alone if value is NULL. */
static bool parse_pair(struct fault *f, const char *key, size_t key_len, const char *value,
		       size_t len, bool *has_op)
{
	bool has_ops = f->kind == IO || f->kind == CL;
	u64 size;

	if (!value) {
		f->sticky = f->kind != HOLD && is(key, key_len, "sticky");
		return f->sticky;
	}
	if (is(key, key_len, "n"))
		return parse_count(&f->n, value, len);
	if (has_ops && is(key, key_len, "op")) {
		*has_op = true;
		return parse_op(f, value, len);
	}
	if (has_ops && is(key, key_len, "err"))
		return parse_err(f, value, len);
	if (f->kind != IO || !is(key, key_len, "short") || !parse_count(&size, value, len))
		return false;
	f->short_size = size;
	return size != 0;
}

/*
 * Parses one fault, [text, end). A short transfer has at least one byte: a read of 0 bytes is
 * the end of the file, and a reader of a pipe could not tell that from a fault.
 */
static bool parse_fault(struct fault *f, const char *text, const char *end)
{
	const char *colon = memchr(text, ':', (size_t)(end - text));
	bool has_op = false;

	if (!colon || !parse_kind(f, text, (size_t)(colon - text)))
		return false;
	for (const char *at = colon + 1, *next; at <= end; at = next + 1) {
		const char *equals;

		next = memchr(at, ',', (size_t)(end - at));
		if (!next)
			next = end;
		equals = memchr(at, '=', (size_t)(next - at));
		if (!parse_pair(f, at, (size_t)((equals ? equals : next) - at),
				equals ? equals + 1 : NULL,
				equals ? (size_t)(next - equals - 1) : 0, &has_op))
			return false;
	}
	if (!f->n)
		return false;
	if (f->kind == IO)
		return has_op && (f->short_size != 0) != (f->err != 0);
	return f->kind != CL || has_op;
}

static void read_faults(const char *text)
{
	for (const char *at = text, *end; at && *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, ";");
		if (n_faults == MAX_FAULTS || !parse_fault(&fault[n_faults], at, end)) {
			bad = text;
			n_faults = 0;	/* only some of the faults would mislead the tester */
			break;
		}
		n_faults++;
	}
	if (!n_faults)
		__atomic_store_n(&quiet, true, __ATOMIC_RELEASE);
}

static void read_environment(void) { read_faults(getenv("MILL_FAULT")); }

static void read_nothing(void) { }

void fault_arm(const char *text)
{
	pthread_once(&once, read_nothing);
	memset(fault, 0, sizeof(fault));
	n_faults = 0;
	bad = NULL;
	__atomic_store_n(&quiet, false, __ATOMIC_RELEASE);
	read_faults(text);
}

bool fault_struck(void)
{
	const struct fault *last = n_faults ? &fault[n_faults - 1] : NULL;

	return last && __atomic_load_n(&last->seen, __ATOMIC_RELAXED) >= last->n;
}

/* Returns true if MILL_FAULT has faults. */
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
		if (fault[i].kind == ALLOC && strikes(&fault[i]))
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

		if (f->kind != IO || (!f->any && f->op != op) || !strikes(f))
			continue;
		if (f->err && !err)
			err = f->err;
		else if (f->short_size && size && *size > f->short_size)
			*size = f->short_size;
	}
	return err;
}

int fault_cl(enum fault_cl_op op)
{
	int err = 0;

	if (!armed())
		return 0;
	for (size_t i = 0; i < n_faults; i++) {
		struct fault *f = &fault[i];

		if (f->kind == CL && (f->any || f->op == op) && strikes(f) && !err)
			err = f->err ? f->err : cl_ops[op].err;
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
		if (fault[i].kind == HOLD)
			n = fault[i].n;
	return n;
}

void fault_set_hold(u64 n) { __atomic_store_n(&hold_set, n, __ATOMIC_RELAXED); }

const char *fault_bad(void)
{
	pthread_once(&once, read_environment);
	return bad;
}
