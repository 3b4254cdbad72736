/* SPDX-License-Identifier: Apache-2.0 */
#include "fault/sweep.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include "base/fault.h"
#include "unit/unit.h"

#define N_MOST 20000u

/* Sanitizers take five times as long for a run: they see a part of them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const unsigned most_every = 8, least_per_cent = 25;
#else
static const unsigned most_every = N_MOST, least_per_cent = 0;
#endif

static unsigned open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static bool is_right(const struct plague *p, int code)
{
	for (size_t i = 0; i < ARRAY_LEN(p->code); i++)
		if (code == p->code[i])
			return true;
	return code == 0;
}

/* Formats the fault of the n-th run. */
static void fault_text(char *out, size_t size, const struct subject *s, const struct plague *p,
		       unsigned n)
{
	int length = s->hold ? snprintf(out, size, "%s;", s->hold) : 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(out + length, size - (size_t)length, p->fault, n);
#pragma GCC diagnostic pop
}

int sweep_once(const struct subject *s, const struct plague *p, unsigned n)
{
	unsigned files = open_files(), entries;
	char fault[128];
	int code;

	fault_text(fault, sizeof(fault), s, p, n);
	if (s->makes)
		tree_remove(s->makes);
	entries = tree_count(".");
	code = command_run(fault, s->line);
	if (!is_right(p, code))
		fail_msg("MILL_FAULT='%s' millrace %s: exit %d: %s", fault, s->line, code,
			 printed.err);
	if (code ? !printed_one_error() : printed.err[0] != '\0')
		fail_msg("MILL_FAULT='%s' millrace %s: exit %d, stderr is '%s'", fault, s->line,
			 code, printed.err);
	/* A command may fail after its result has appeared; then it is whole. */
	if (s->makes && s->want && (!code || file_exists(s->makes)) &&
	    !trees_equal(s->makes, s->want))
		fail_msg("MILL_FAULT='%s' millrace %s: exit %d, %s is not as %s", fault, s->line,
			 code, s->makes, s->want);
	if (s->makes)
		tree_remove(s->makes);
	if (tree_count(".") != entries)
		fail_msg("MILL_FAULT='%s' millrace %s: exit %d, it left a file", fault, s->line,
			 code);
	if (open_files() != files)
		fail_msg("MILL_FAULT='%s' millrace %s: exit %d, it left a file open", fault,
			 s->line, code);
	return code;
}

static unsigned next(const struct plague *p, unsigned n)
{
	unsigned every = p->every < most_every ? p->every : most_every;
	unsigned per_cent = p->per_cent > least_per_cent ? p->per_cent : least_per_cent;

	return getenv("LONG") || n < every ? n + 1 : n + 1 + n * per_cent / 100;
}

void sweep(const struct subject *s, const struct plague *p)
{
	unsigned n, hits = 0, failures = 0;

	for (n = 1; n < N_MOST; n = next(p, n)) {
		failures += sweep_once(s, p, n) != 0;
		if (!fault_struck())
			break;
		hits++;
	}
	if (n >= N_MOST)
		fail_msg("%s of millrace %s: no end", p->fault, s->line);
	if (p->code[0] && !failures)
		fail_msg("%s of millrace %s: it never failed", p->fault, s->line);
#ifdef __SANITIZE_ADDRESS__
	if (__lsan_do_recoverable_leak_check())
		fail_msg("%s of millrace %s: memory leaked", p->fault, s->line);
#endif
	if (getenv("VERBOSE"))
		print_message("%6u runs, %6u failed: %s of millrace %s\n", hits + 1, failures,
			      p->fault, s->line);
}
