/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* memfd_create, nftw */
#include "fault/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/fault.h"
#include "unit/unit.h"

#define MAX_WORDS 64
#define SECONDS_MOST 120

struct printed printed;

static char scratch[512];
static char current[1024];	     /* the command that runs now, for messages */
static int real[2] = { -1, -1 };     /* the test's own stdout and stderr ... */
static int captured[2] = { -1, -1 }; /* ... and what stands in for them while a command runs */

/* ---- Crashes ---- */

static void write_text(const char *text)
{
	if (write(real[1], text, strlen(text)) < 0)
		_exit(1);
}

static void describe(void)
{
	char text[2048];
	ssize_t n = pread(captured[1], text, sizeof(text) - 1, 0);

	write_text("\nin: ");
	write_text(current);
	write_text("\n");
	text[n > 0 ? n : 0] = '\0';
	write_text(text);
}

static void on_crash(int number)
{
	write_text(number == SIGALRM ? "no end" : number == SIGABRT ? "aborted" : "crashed");
	describe();
	_exit(1);
}

/* Sanitizers have handlers of their own, with stacks; they write to the stderr of the test. */
static void watch_crashes(void)
{
	static const int number[] = { SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
	struct sigaction action = { .sa_handler = on_crash };
	size_t n = ARRAY_LEN(number);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	__sanitizer_set_report_fd((void *)(intptr_t)real[1]);
	__sanitizer_set_death_callback(describe);
	n = 1;
#endif
	for (size_t i = 0; i < n; i++)
		sigaction(number[i], &action, NULL);
}

/* ---- Commands ---- */

int commands_begin(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(scratch, sizeof(scratch), "%s/mill-fault-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(scratch) || chdir(scratch))
		return -1;
	for (int i = 0; i < 2; i++) {
		real[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, 10);
		captured[i] = memfd_create("captured", MFD_CLOEXEC);
		if (real[i] < 0 || captured[i] < 0)
			return -1;
	}
	mallopt(M_TRIM_THRESHOLD, 256 << 20); /* pages that come and go cost more than the runs */
	setenv("XDG_CACHE_HOME", scratch, 1); /* where `plan` keeps its measurements */
	unsetenv("TMPDIR");
	return 0;
}

int commands_end(void **state)
{
	(void)state;
	if (chdir("/"))
		return -1;
	tree_remove(scratch);
	return 0;
}

/* Lets the command write to the files; stdout was closed by the last one. */
static void capture_begin(void)
{
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		if (ftruncate(captured[i], 0) || lseek(captured[i], 0, SEEK_SET))
			fail_msg("cannot empty the files for output: %s", strerror(errno));
		dup2(captured[i], STDOUT_FILENO + i);
	}
}

static void capture_end(void)
{
	char *text[2] = { printed.out, printed.err };
	size_t size[2] = { sizeof(printed.out), sizeof(printed.err) };

	fflush(stdout);
	clearerr(stdout);
	for (int i = 0; i < 2; i++) {
		ssize_t n = pread(captured[i], text[i], size[i] - 1, 0);

		text[i][n > 0 ? n : 0] = '\0';
		dup2(real[i], STDOUT_FILENO + i);
	}
}

int command_run(const char *faults, const char *line)
{
	char words[1024], *argv[MAX_WORDS + 1], *rest = NULL;
	int argc = 0, code;

	snprintf(words, sizeof(words), "millrace %s", line);
	for (char *w = strtok_r(words, " ", &rest); w && argc < MAX_WORDS;
	     w = strtok_r(NULL, " ", &rest))
		argv[argc++] = w;
	argv[argc] = NULL;
	snprintf(current, sizeof(current), "MILL_FAULT='%s' millrace %s", faults ? faults : "",
		 line);
	fault_arm(faults);
	if (fault_bad())
		fail_msg("%s: not a fault", faults);
	capture_begin();
	watch_crashes();
	alarm(SECONDS_MOST);
	code = millrace_main(argc, argv);
	alarm(0);
	capture_end();
	return code;
}

void command_must(const char *line)
{
	int code = command_run(NULL, line);

	if (code)
		fail_msg("millrace %s: exit %d: %s", line, code, printed.err);
}

void command_refuses(int code, const char *line, const char *error)
{
	int got = command_run(NULL, line);

	if (got != code || !printed_one_error() || !strstr(printed.err, error))
		fail_msg("millrace %s: exit %d instead of %d with '%s': %s", line, got, code, error,
			 printed.err);
}

bool printed_one_error(void)
{
	const char *end = strchr(printed.err, '\n');

	return end && !end[1] && !strncmp(printed.err, "millrace: ", 10);
}

/* ---- Files ---- */

void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		fail_msg("cannot write %s: %s", path, strerror(errno));
}

bool file_exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

void file_text(char *out, unsigned size, const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(out, 1, size - 1, f) : 0;

	if (!f)
		fail_msg("cannot read %s: %s", path, strerror(errno));
	fclose(f);
	out[n] = '\0';
}

void file_copy(const char *to, const char *from)
{
	char buffer[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	if (!in || !out)
		fail_msg("cannot copy %s to %s: %s", from, to, strerror(errno));
	while ((n = fread(buffer, 1, sizeof(buffer), in)))
		fwrite(buffer, 1, n, out);
	fclose(in);
	if (fclose(out))
		fail_msg("cannot write %s: %s", to, strerror(errno));
}

static bool files_equal(const char *a, const char *b)
{
	char bytes[2][16384];
	FILE *f[2] = { fopen(a, "r"), fopen(b, "r") };
	bool equal = f[0] && f[1];

	while (equal) {
		size_t n = fread(bytes[0], 1, sizeof(bytes[0]), f[0]);

		equal = fread(bytes[1], 1, sizeof(bytes[1]), f[1]) == n &&
			!memcmp(bytes[0], bytes[1], n);
		if (!n)
			break;
	}
	for (int i = 0; i < 2; i++)
		if (f[i])
			fclose(f[i]);
	return equal;
}

static int is_visible(const struct dirent *e)
{
	return strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
}

static bool folders_equal(const char *a, const char *b)
{
	struct dirent **of_a = NULL, **of_b = NULL;
	int n = scandir(a, &of_a, is_visible, alphasort),
	    m = scandir(b, &of_b, is_visible, alphasort);
	bool equal = n >= 0 && n == m;

	for (int i = 0; equal && i < n; i++) {
		char path[2][1024];

		snprintf(path[0], sizeof(path[0]), "%s/%s", a, of_a[i]->d_name);
		snprintf(path[1], sizeof(path[1]), "%s/%s", b, of_a[i]->d_name);
		equal = !strcmp(of_a[i]->d_name, of_b[i]->d_name) && trees_equal(path[0], path[1]);
	}
	while (n > 0)
		free(of_a[--n]);
	while (m > 0)
		free(of_b[--m]);
	free(of_a);
	free(of_b);
	return equal;
}

bool trees_equal(const char *a, const char *b)
{
	struct stat of_a, of_b;

	if (stat(a, &of_a) || stat(b, &of_b) || (of_a.st_mode & S_IFMT) != (of_b.st_mode & S_IFMT))
		return false;
	return S_ISDIR(of_a.st_mode) ? folders_equal(a, b) : files_equal(a, b);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void tree_remove(const char *path)
{
	if (file_exists(path) && nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS))
		fail_msg("cannot remove %s: %s", path, strerror(errno));
}

unsigned tree_count(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	unsigned n = 0;

	if (!d)
		fail_msg("cannot list %s: %s", path, strerror(errno));
	while ((e = readdir(d))) {
		char below[1024];

		n += is_visible(e) != 0;
		snprintf(below, sizeof(below), "%s/%s", path, e->d_name);
		if (e->d_type == DT_DIR && is_visible(e))
			n += tree_count(below);
	}
	closedir(d);
	return n;
}
