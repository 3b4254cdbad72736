/* SPDX-License-Identifier: Apache-2.0 */
/* Files, directories and output files of base: sizes, errors, signals, and what stays on disk. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "helpers.h"

/* Every test works in a scratch directory of its own. */
static char home[PATH_MAX];

static int enter(void **state)
{
	return !getcwd(home, sizeof(home)) || scratch_make(state) || chdir(scratch);
}

static int leave(void **state)
{
	(void)state;
	return chdir(home) || dir_remove(scratch);
}

static unsigned n_entries(void)
{
	DIR *dir = opendir(".");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void put(const char *path, const char *text)
{
	struct file f;

	unlink(path);
	OK(file_open(&f, AT_FDCWD, path, FILE_CREATE, NULL));
	OK(file_write_at(&f, text, strlen(text), 0));
	file_close(&f);
}

static void expect(const char *path, const char *text)
{
	char got[256] = "";
	struct file f;
	u64 size;

	OK(file_open(&f, AT_FDCWD, path, FILE_READ, NULL));
	OK(file_size(&f, &size));
	assert_int_equal(size, strlen(text));
	OK(file_read_at(&f, got, size, 0));
	assert_string_equal(got, text);
	file_close(&f);
}

static void test_open(void **state)
{
	struct file f = FILE_CLOSED;
	struct stat st;

	(void)state;
	assert_int_equal(file_open(&f, AT_FDCWD, "gone", FILE_READ, NULL), MILL_EIO);
	assert_string_equal(mill_error(), "cannot open gone: No such file or directory");
	assert_int_equal(file_open(&f, AT_FDCWD, "gone", FILE_READ_DIRECT, "s/gone"), MILL_EIO);
	assert_string_equal(mill_error(), "cannot open s/gone: No such file or directory");
	assert_int_equal(f.fd, -1);

	OK(file_open(&f, AT_FDCWD, "new", FILE_CREATE, NULL));
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	file_close(&f);
	file_close(&f);
	assert_int_equal(file_open(&f, AT_FDCWD, "new", FILE_CREATE, NULL), MILL_EIO);
	assert_string_equal(mill_error(), "cannot create new: File exists");

	/* A FIFO or a directory in place of a page file is an error, not a hang. */
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(file_open(&f, AT_FDCWD, "fifo", FILE_READ_DIRECT, NULL), MILL_EIO);
	assert_int_equal(file_open(&f, AT_FDCWD, ".", FILE_READ_DIRECT, NULL), MILL_EIO);
}

static void test_read_at(void **state)
{
	char got[16] = "";
	struct file f;

	(void)state;
	put("f", "0123456789");
	OK(file_open(&f, AT_FDCWD, "f", FILE_READ, NULL));
	OK(file_read_at(&f, got, 4, 3));
	assert_memory_equal(got, "3456", 4);
	OK(file_read_at(&f, got, 0, 99));
	assert_int_equal(file_read_at(&f, got, 4, 8), MILL_ECORRUPT);
	assert_string_equal(mill_error(), "f ends at byte 10, byte 11 is expected");
	assert_int_equal(file_read_at(&f, got, 4, UINT64_MAX - 1), MILL_ECORRUPT);
	assert_int_equal(file_read_at(&f, got, 4, INT64_MAX), MILL_ECORRUPT);
	file_forget(&f);
	file_close(&f);
}

static void test_direct(void **state)
{
	u64 size = 3 * MIB;
	u8 *data, *back;
	struct file f;

	(void)state;
	OK(memory_new(&data, NULL, size, 1, "data"));
	OK(memory_new(&back, NULL, size + 4096, 1, "data"));
	for (u64 i = 0; i < size; i++)
		data[i] = (u8)(i * 7 + i / 4096);
	OK(file_open(&f, AT_FDCWD, "f", FILE_CREATE, NULL));
	OK(file_reserve(&f, size));
	OK(file_write_at(&f, data, size - 100, 0));
	OK(file_write_at(&f, data + size - 100, 100, size - 100));
	OK(file_sync(&f));
	OK(file_read_at(&f, back, 10, 5000));
	assert_memory_equal(back, data + 5000, 10);
	file_close(&f);

	OK(file_open(&f, AT_FDCWD, "f", FILE_READ_DIRECT, NULL));
	OK(file_read_at(&f, back, size - 8192, 8192));
	assert_memory_equal(back, data + 8192, size - 8192);
	assert_int_equal(file_read_at(&f, back, 8192, size - 4096), MILL_ECORRUPT);
	file_close(&f);

	/* A file cut in the middle of a sector. */
	assert_int_equal(truncate("f", 5000), 0);
	OK(file_open(&f, AT_FDCWD, "f", FILE_READ_DIRECT, NULL));
	assert_int_equal(file_read_at(&f, back, 8192, 0), MILL_ECORRUPT);
	assert_string_equal(mill_error(), "f ends at byte 5000, byte 8191 is expected");
	file_close(&f);
	memory_free(data);
	memory_free(back);
}

/* A discarded range frees its blocks; the rest of the file and its size stay. */
static void test_discard(void **state)
{
	static u8 data[4 * 65536], back[65536];
	struct file f;
	u64 size;

	(void)state;
	memset(data, 7, sizeof(data));
	OK(file_temp(&f, "."));
	OK(file_write_at(&f, data, sizeof(data), 0));
	file_discard(&f, 65536, 2 * 65536);
	file_discard(&f, 0, 0);
	OK(file_size(&f, &size));
	assert_int_equal(size, sizeof(data));
	for (u64 at = 0; at < sizeof(data); at += 3 * 65536) {
		OK(file_read_at(&f, back, 65536, at));
		assert_memory_equal(back, data, 65536);
	}
	file_close(&f);
}

static void test_pipe(void **state)
{
	static char big[300000], back[300000];
	struct file from = FILE_CLOSED, to = FILE_CLOSED;
	u64 fill = 0, got = 1;
	int fd[2], status;
	pid_t child;

	(void)state;
	memset(big, 'x', sizeof(big));
	big[123456] = 'y';
	assert_int_equal(pipe(fd), 0);
	/* A shell may leave a pipe non-blocking: reads and writes must wait all the same. */
	assert_int_equal(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	from.fd = fd[0];
	to.fd = fd[1];
	child = fork();
	if (!child) {
		close(fd[0]);
		_exit((int)file_write_next(&to, big, sizeof(big)));
	}
	file_close(&to);
	while (got && fill < sizeof(back)) {
		OK(file_read_next(&from, back + fill, sizeof(back) - fill, &got));
		fill += got;
	}
	assert_int_equal(fill, sizeof(back));
	assert_memory_equal(back, big, sizeof(big));
	OK(file_read_next(&from, back, 1, &got));
	assert_int_equal(got, 0);
	file_close(&from);
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
}

/* A closed pipe and a file size limit are errors: SIGPIPE and SIGXFSZ do not end the process. */
static void test_signals(void **state)
{
	struct rlimit old, small = { .rlim_cur = 1000 };
	struct file f = FILE_CLOSED;
	char data[2000] = "";
	int fd[2];

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	f.fd = fd[1];
	assert_int_equal(file_write_next(&f, "x", 1), MILL_EIO);
	assert_non_null(strstr(mill_error(), "Broken pipe"));
	file_close(&f);

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small.rlim_max = old.rlim_max;
	OK(file_open(&f, AT_FDCWD, "f", FILE_CREATE, NULL));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write_at(&f, data, sizeof(data), 0), MILL_ENOSPACE);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	file_close(&f);
}

static void test_dirs(void **state)
{
	(void)state;
	OK(dir_remove("gone"));
	OK(dir_make("a"));
	assert_int_equal(dir_make("a"), MILL_EIO);
	assert_int_equal(dir_make("gone/b"), MILL_EIO);
	put("a/1", "of a");
	OK(dir_sync("a"));
	assert_int_equal(dir_sync("gone"), MILL_EIO);

	OK(dir_rename("a", "b", false));
	assert_false(path_exists("a"));
	expect("b/1", "of a");
	OK(dir_make("a"));
	put("a/1", "new");
	assert_int_equal(dir_rename("a", "b", false), MILL_EUSAGE);
	OK(dir_rename("a", "b", true));
	expect("b/1", "new");
	expect("a/1", "of a");
	OK(dir_rename("a", "c", true));	/* nothing to swap with */
	assert_false(path_exists("a"));
	assert_int_equal(dir_rename("gone", "d", false), MILL_EIO);

	/* dir_remove follows no link: a link inside is removed, its target stays. */
	assert_int_equal(symlink("b", "link"), 0);
	assert_int_equal(dir_remove("link"), MILL_EIO);
	assert_int_equal(symlink("../b/1", "c/link"), 0);
	OK(dir_remove("c"));
	expect("b/1", "new");
	OK(dir_make("b/deeper"));
	assert_int_equal(dir_remove("b"), MILL_EIO);
	OK(dir_remove("b/deeper"));
	for (int i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "b/file%d", i);
		put(name, "x");
	}
	OK(dir_remove("b"));
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(n_entries(), 0);
}

static void test_outfile(void **state)
{
	static char big[1000000];
	struct outfile *o;
	struct stat st;
	struct file f;
	mode_t old = umask(027);

	(void)state;
	put("out", "before");
	OK(outfile_open(&o, "out"));
	OK(outfile_write(o, "abc", 3));
	OK(outfile_printf(o, " %d %s", 7, "x"));
	expect("out", "before");	/* not replaced before the commit */
	assert_int_equal(n_entries(), 2);
	OK(outfile_commit(o));
	expect("out", "abc 7 x");
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	umask(old);

	OK(outfile_open(&o, "out"));
	OK(outfile_write(o, "never", 5));
	outfile_abandon(o);
	outfile_abandon(NULL);
	expect("out", "abc 7 x");
	assert_int_equal(n_entries(), 1);

	/* More than the buffer holds, in short and long pieces. */
	memset(big, 'z', sizeof(big) - 1);
	OK(outfile_open(&o, "big"));
	for (int i = 0; i < 70000; i++)
		OK(outfile_printf(o, "%06d\n", i));
	OK(outfile_printf(o, "%s", big));
	OK(outfile_write(o, big, sizeof(big) - 1));
	OK(outfile_commit(o));
	OK(file_open(&f, AT_FDCWD, "big", FILE_READ, NULL));
	assert_int_equal(fstat(f.fd, &st), 0);
	assert_int_equal(st.st_size, 70000 * 7 + 2 * 999999);
	OK(file_read_at(&f, big, 490001, 0));
	assert_memory_equal(big + 69999 * 7, "069999\nz", 8);
	file_close(&f);
}

static void test_outfile_places(void **state)
{
	struct outfile *o;
	char name[64];
	int fd;

	(void)state;
	assert_int_equal(outfile_open(&o, "no/such/dir"), MILL_EIO);
	assert_non_null(strstr(mill_error(), "no/such/dir"));
	assert_int_equal(outfile_open(&o, "."), MILL_EIO);

	/* Files of killed processes are removed; a file that a process has locked stays. */
	snprintf(name, sizeof(name), "out.partial-%ld", (long)getpid());
	put(name, "stale");
	put("out.partial-999999999", "stale");
	put("out.partial-12345", "live");
	put("out.partial-x", "not ours");
	fd = open("out.partial-12345", O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	OK(outfile_open(&o, "out"));
	assert_false(path_exists("out.partial-999999999"));
	assert_true(path_exists("out.partial-12345"));
	close(fd);
	assert_true(path_exists("out.partial-x"));
	OK(outfile_write(o, "new", 3));
	OK(outfile_commit(o));
	expect("out", "new");

	/* A device is written, not replaced. A link stays, and its target is replaced. */
	OK(outfile_open(&o, "/dev/null"));
	OK(outfile_write(o, "gone", 4));
	OK(outfile_commit(o));
	assert_int_equal(symlink("out", "link"), 0);
	OK(outfile_open(&o, "link"));
	OK(outfile_write(o, "linked", 6));
	OK(outfile_commit(o));
	expect("out", "linked");
	assert_int_equal(readlink("link", name, sizeof(name)), 3);
}

static void test_outfile_full(void **state)
{
	struct outfile *o;

	(void)state;
	if (access("/dev/full", W_OK))
		skip();
	OK(outfile_open(&o, "/dev/full"));
	OK(outfile_write(o, "x", 1));
	assert_int_equal(outfile_commit(o), MILL_ENOSPACE);
}

static void test_stdout(void **state)
{
	int fd[2], keep = dup(STDOUT_FILENO);
	struct outfile *o;
	char got[8] = "";

	(void)state;
	assert_int_equal(pipe(fd), 0);
	fflush(stdout);
	dup2(fd[1], STDOUT_FILENO);
	close(fd[1]);
	OK(outfile_open(&o, "-"));
	OK(outfile_write(o, "hello", 5));
	OK(outfile_commit(o));
	assert_int_equal(fcntl(STDOUT_FILENO, F_GETFD), 0);	/* still open */
	assert_int_equal(read(fd[0], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	close(fd[0]);
	OK(outfile_open(&o, "-"));
	OK(outfile_write(o, "hello", 5));
	assert_int_equal(outfile_commit(o), MILL_EIO);
	dup2(keep, STDOUT_FILENO);
	close(keep);
	assert_non_null(strstr(mill_error(), "standard output: Broken pipe"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

static const struct CMUnitTest tests[] = {
	TEST(test_open),	TEST(test_read_at),	    TEST(test_direct),
	TEST(test_pipe),	TEST(test_signals),	    TEST(test_dirs),
	TEST(test_outfile),	TEST(test_outfile_places),  TEST(test_outfile_full),
	TEST(test_stdout),	TEST(test_discard),
};

SUITE(file, tests);
