/* SPDX-License-Identifier: Apache-2.0 */
/* Open files, directories, and output files that appear whole or not at all. */
#define _GNU_SOURCE 1	/* O_DIRECT, fallocate, renameat2 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/memory.h"

#define SECTOR 4096u			/* alignment of direct I/O */
#define MAX_TRANSFER ((size_t)1 << 30)	/* Linux moves at most 2 GiB - 4 KiB at once */

/*
 * Asks the fault layer before a system call. Returns 0, or -1 with errno. Repeats after an
 * injected EINTR or EAGAIN, at most 100 times: an endless series is an error, not a hang.
 */
static int admit(enum fault_op op, size_t *size)
{
	for (int i = 0; i < 100; i++) {
		int err = fault_io(op, size);

		if (!err)
			return 0;
		if (err != EINTR && err != EAGAIN) {
			errno = err;
			return -1;
		}
	}
	errno = EIO;
	return -1;
}

static const char *label(const struct file *f)
{
	return f->name ? f->name : "an unnamed file";
}

/* ---- Open files ---- */

static int open_at(int dir, const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = admit(FAULT_OPEN, NULL) ? -1 : openat(dir, path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

/*
 * Opens a file with O_DIRECT if possible, else without; *direct says which. Refuses all but plain
 * files and raw disks, because pages are nowhere else. Uses O_NONBLOCK, because a damaged store
 * may hold a FIFO in place of a file, and a blocking open of a FIFO would hang.
 */
static int open_direct(int dir, const char *path, bool *direct)
{
	struct stat st;
	int fd;

	*direct = true;
	fd = -1;
	if (!admit(FAULT_DIRECT, NULL))
		fd = open_at(dir, path, O_RDONLY | O_NONBLOCK | O_DIRECT, 0);
	if (fd < 0 && errno == EINVAL) {
		*direct = false;
		fd = open_at(dir, path, O_RDONLY | O_NONBLOCK, 0);
	}
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || S_ISREG(st.st_mode) || S_ISBLK(st.st_mode))
		return fd;
	close(fd);
	errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	return -1;
}

mill_err file_open(struct file *out, int dir, const char *path, enum file_mode mode,
		   const char *shown)
{
	struct file f = FILE_CLOSED;
	mill_err err;

	if (!shown)
		shown = path;
	TRY(memory_string(&f.name, NULL, shown));
	switch (mode) {
	case FILE_READ:
		f.fd = open_at(dir, path, O_RDONLY, 0);
		break;
	case FILE_READ_DIRECT:
		f.fd = open_direct(dir, path, &f.direct);
		break;
	case FILE_CREATE:
		f.fd = open_at(dir, path, O_RDWR | O_CREAT | O_EXCL, 0600);
		break;
	}
	if (f.fd < 0) {
		err = fail_errno("cannot %s %s", mode == FILE_CREATE ? "create" : "open", shown);
		memory_free(f.name);
		return err;
	}
	*out = f;
	return MILL_OK;
}

/* For file systems without O_TMPFILE: makes a file and removes its name at once. */
static int open_unnamed(const char *dir)
{
	static unsigned next;
	char *path;
	int fd = -1, why;

	for (int i = 0; i < 100 && fd < 0; i++) {
		unsigned number = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);

		if (memory_printf(&path, NULL, "%s/.millrace-%ld-%u", dir, (long)getpid(),
				  number)) {
			errno = ENOMEM;
			return -1;
		}
		fd = open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (fd >= 0 && (admit(FAULT_UNLINK, NULL) || unlink(path))) {
			why = errno;
			close(fd);
			(void)unlink(path);
			memory_free(path);
			errno = why;
			return -1;
		}
		why = errno;
		memory_free(path);
		errno = why;
		if (fd < 0 && why != EEXIST)
			return -1;
	}
	return fd;
}

mill_err file_temp(struct file *out, const char *dir)
{
	struct file f = FILE_CLOSED;
	mill_err err;

	TRY(memory_printf(&f.name, NULL, "a temporary file in %s", dir));
	f.fd = open_at(AT_FDCWD, dir, O_TMPFILE | O_RDWR | O_EXCL, 0600);
	if (f.fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		f.fd = open_unnamed(dir);
	if (f.fd < 0) {
		err = fail_errno("cannot make %s", f.name);
		memory_free(f.name);
		return err;
	}
	*out = f;
	return MILL_OK;
}

mill_err file_room(const char *path, u64 *out)
{
	struct statvfs st;
	u64 bytes;

	if (statvfs(path, &st))
		return fail_errno("cannot find out the free space in %s", path);
	if (__builtin_mul_overflow((u64)st.f_bavail, (u64)st.f_frsize, &bytes))
		bytes = UINT64_MAX;
	*out = bytes;
	return MILL_OK;
}

void file_close(struct file *f)
{
	/* Errors of close are ignored: data that matters was synced before. */
	if (f->fd >= 0)
		close(f->fd);
	memory_free(f->name);
	*f = FILE_CLOSED;
}

mill_err file_size(const struct file *f, u64 *out)
{
	struct stat st;

	if (fstat(f->fd, &st))
		return fail_errno("cannot look at %s", label(f));
	*out = (u64)st.st_size;
	return MILL_OK;
}

enum way { READ_AT, READ_NEXT, WRITE_AT, WRITE_NEXT };

static ssize_t transfer(int fd, enum way way, void *data, size_t size, u64 offset)
{
	switch (way) {
	case READ_AT:
		return pread(fd, data, size, (off_t)offset);
	case READ_NEXT:
		return read(fd, data, size);
	case WRITE_AT:
		return pwrite(fd, data, size, (off_t)offset);
	default:
		return write(fd, data, size);
	}
}

/*
 * A write to a closed pipe, or beyond the file size limit, not only fails: the thread also gets
 * a signal that kills the process by default. This function blocks the signal during the call and
 * removes it afterwards. If the caller had blocked the signal, it is left pending for the caller.
 */
static ssize_t transfer_unsignalled(int fd, enum way way, void *data, size_t size, u64 offset)
{
	sigset_t ours, old, raised;
	ssize_t got;
	int err, sig;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, &old);
	got = transfer(fd, way, data, size, offset);
	err = errno;
	sig = got >= 0 ? 0 : err == EPIPE ? SIGPIPE : err == EFBIG ? SIGXFSZ : 0;
	if (sig && !sigismember(&old, sig)) {
		sigemptyset(&raised);
		sigaddset(&raised, sig);
		while (sigtimedwait(&raised, NULL, &(struct timespec){ 0 }) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = err;
	return got;
}

/*
 * Clears O_DIRECT: a file system may accept it at open and refuse it at the first read. Buffered
 * reads work everywhere. Returns true if O_DIRECT was set and is cleared now.
 */
static bool drop_direct(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_DIRECT) && !fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}

/* Transfers 1 to size bytes. Returns their number, 0 at the end of the file, or -1 with errno. */
static ssize_t step(const struct file *f, enum way way, void *data, u64 size, u64 offset)
{
	bool writes = way == WRITE_AT || way == WRITE_NEXT;
	size_t ask = (size_t)min_u64(size, MAX_TRANSFER);

	if (admit(writes ? FAULT_WRITE : FAULT_READ, &ask))
		return -1;
	if (f->direct)	/* direct I/O needs whole sectors, even if a fault asks for less */
		ask = (size_t)min_u64(round_up(ask, SECTOR), size);
	for (;;) {
		ssize_t got = writes ? transfer_unsignalled(f->fd, way, data, ask, offset)
				     : transfer(f->fd, way, data, ask, offset);

		if (got >= 0)
			return got;
		if (errno == EAGAIN) {
			/* The pipe is non-blocking: wait as if it were blocking. */
			struct pollfd p = { .fd = f->fd, .events = writes ? POLLOUT : POLLIN };

			poll(&p, 1, -1);
		} else if (errno != EINTR &&
			   !(errno == EINVAL && f->direct && drop_direct(f->fd))) {
			return -1;
		}
	}
}

bool file_admit_read(const struct file *f, u64 size, u64 *ask)
{
	size_t some = (size_t)min_u64(size, MAX_TRANSFER);

	if (admit(FAULT_READ, &some))
		return false;
	*ask = f->direct ? min_u64(round_up(some, SECTOR), size) : some;
	return true;
}

i64 file_readv(const struct file *f, const struct iovec *iov, u32 n, u64 offset)
{
	ssize_t got = preadv(f->fd, iov, (int)n, (off_t)offset);

	return got < 0 ? -errno : got;
}

mill_err file_took(const struct file *f, u64 size, u64 offset, i64 got, u64 *done)
{
	u64 next;

	if (got == -EINTR || got == -EAGAIN || (got == -EINVAL && f->direct && drop_direct(f->fd)))
		return MILL_OK;
	if (got < 0) {
		errno = (int)-got;
		return fail_errno("cannot read %s at byte %llu", label(f),
				  (unsigned long long)(offset + *done));
	}
	next = *done + (u64)got;
	/* Direct I/O goes on at the start of a sector. If that is no progress, the file ends. */
	if (f->direct && next < size && next % SECTOR)
		next -= next % SECTOR;
	if (next == *done)
		return fail(MILL_ECORRUPT, "%s ends at byte %llu, byte %llu is expected", label(f),
			    (unsigned long long)(offset + *done + (u64)got),
			    (unsigned long long)(offset + size - 1));
	*done = next;
	return MILL_OK;
}

mill_err file_read_at(const struct file *f, void *to, u64 size, u64 offset)
{
	u64 done = 0, end;

	if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX)
		return fail(MILL_ECORRUPT, "%s: byte %llu is beyond the end of any file", label(f),
			    (unsigned long long)offset);
	while (done < size) {
		ssize_t got = step(f, READ_AT, (char *)to + done, size - done, offset + done);

		TRY(file_took(f, size, offset, got < 0 ? -errno : got, &done));
	}
	return MILL_OK;
}

mill_err file_read_next(const struct file *f, void *to, u64 size, u64 *got)
{
	ssize_t n = size ? step(f, READ_NEXT, to, size, 0) : 0;

	if (n < 0)
		return fail_errno("cannot read %s", label(f));
	*got = (u64)n;
	return MILL_OK;
}

static mill_err write_all(const struct file *f, enum way way, const void *from, u64 size,
			  u64 offset)
{
	for (u64 done = 0; done < size;) {
		ssize_t n = step(f, way, (char *)(uintptr_t)from + done, size - done,
				 offset + done);

		if (!n)
			errno = EIO;	/* neither an error nor progress */
		if (n <= 0)
			return fail_errno("cannot write %s", label(f));
		done += (u64)n;
	}
	return MILL_OK;
}

mill_err file_write_at(const struct file *f, const void *from, u64 size, u64 offset)
{
	u64 end;

	if (__builtin_add_overflow(offset, size, &end) || end > INT64_MAX) {
		errno = EFBIG;
		return fail_errno("cannot write %s", label(f));
	}
	return write_all(f, WRITE_AT, from, size, offset);
}

mill_err file_write_next(const struct file *f, const void *from, u64 size)
{
	return write_all(f, WRITE_NEXT, from, size, 0);
}

/* Repeats only after EINTR: after any other failure of a sync the data may be lost already. */
static int sync_fd(int fd, int (*sync)(int))
{
	int r;

	do
		r = admit(FAULT_SYNC, NULL) ? -1 : sync(fd);
	while (r < 0 && errno == EINTR);
	return r;
}

mill_err file_sync(const struct file *f)
{
	if (sync_fd(f->fd, fdatasync))
		return fail_errno("cannot sync %s", label(f));
	return MILL_OK;
}

void file_forget(const struct file *f)
{
	posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void file_forget_read(const struct file *f, u64 offset, u64 size)
{
	int flags = fcntl(f->fd, F_GETFL);

	if (flags >= 0 && !(flags & O_DIRECT))
		posix_fadvise(f->fd, (off_t)offset, (off_t)size, POSIX_FADV_DONTNEED);
}

void file_discard(const struct file *f, u64 offset, u64 size)
{
	/* If it fails, the disk space stays in use and nothing else happens. */
	if (size && fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			      (off_t)size))
		errno = 0;
}

/* Does not change the file's size: that stays the number of bytes written. */
mill_err file_reserve(const struct file *f, u64 size)
{
	int r;

	if (!size)
		return MILL_OK;
	if (size > INT64_MAX) {
		errno = EFBIG;
		return fail_errno("cannot reserve room for %s", label(f));
	}
	do
		r = admit(FAULT_TRUNCATE, NULL)
			    ? -1 : fallocate(f->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL)
		return fail_errno("cannot reserve room for %s", label(f));
	return MILL_OK;
}

/* ---- Directories ---- */

static int unlink_at(int dir, const char *path, int flags)
{
	int r;

	do
		r = admit(FAULT_UNLINK, NULL) ? -1 : unlinkat(dir, path, flags);
	while (r < 0 && errno == EINTR);
	return r;
}

static int rename_to(const char *from, const char *to, unsigned flags)
{
	int r;

	do
		r = admit(FAULT_RENAME, NULL)
			    ? -1 : renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
	while (r < 0 && errno == EINTR);
	return r;
}

mill_err dir_make(const char *path)
{
	int r;

	do
		r = admit(FAULT_MKDIR, NULL) ? -1 : mkdir(path, 0777);
	while (r < 0 && errno == EINTR);
	if (r)
		return fail_errno("cannot make directory %s", path);
	return MILL_OK;
}

mill_err link_make(const char *text, int dir, const char *name)
{
	int r;

	do
		r = admit(FAULT_MKDIR, NULL) ? -1 : symlinkat(text, dir, name);
	while (r < 0 && errno == EINTR);
	if (r)
		return fail_errno("cannot make the link %s to %s", name, text);
	return MILL_OK;
}

void path_drop(int dir, const char *path, bool directory)
{
	for (int i = 0; i < 3; i++)
		if (!unlink_at(dir, path, directory ? AT_REMOVEDIR : 0) || errno == ENOENT)
			return;
}

mill_err dir_sync(const char *path)
{
	mill_err err = MILL_OK;
	int fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0)
		return fail_errno("cannot open directory %s", path);
	/* EINVAL: this file system cannot sync directories. */
	if (sync_fd(fd, fsync) && errno != EINVAL)
		err = fail_errno("cannot sync directory %s", path);
	close(fd);
	return err;
}

/* Removes the files that one pass over the directory finds; *n_removed is their number. */
static int remove_entries(DIR *dir, u64 *n_removed)
{
	struct dirent *entry;

	*n_removed = 0;
	rewinddir(dir);
	while (errno = 0, (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlink_at(dirfd(dir), entry->d_name, 0) && errno != ENOENT)
			return -1;
		++*n_removed;
	}
	return errno ? -1 : 0;
}

mill_err dir_remove(const char *path)
{
	mill_err err = MILL_OK;
	u64 n_removed;
	DIR *dir;
	int fd;

	fd = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	if (fd < 0)
		return errno == ENOENT ? MILL_OK : fail_errno("cannot open directory %s", path);
	dir = fdopendir(fd);
	if (!dir) {
		err = fail_errno("cannot read directory %s", path);
		close(fd);
		return err;
	}
	do {	/* repeats, since a removal may make readdir skip an entry */
		if (remove_entries(dir, &n_removed)) {
			err = fail_errno("cannot empty directory %s", path);
			break;
		}
	} while (n_removed);
	closedir(dir);
	if (!err && unlink_at(AT_FDCWD, path, AT_REMOVEDIR) && errno != ENOENT)
		err = fail_errno("cannot remove directory %s", path);
	return err;
}

/*
 * Swaps two paths on file systems that have no RENAME_EXCHANGE, by three renames. After the
 * second one the new directory is in place.
 */
static int swap_slowly(const char *from, const char *to)
{
	char aside[PATH_MAX];
	int err;

	if (snprintf(aside, sizeof(aside), "%s.swap-%ld", to, (long)getpid()) >=
	    (int)sizeof(aside)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (rename_to(to, aside, 0))
		return -1;
	if (rename_to(from, to, 0)) {
		err = errno;
		rename_to(aside, to, 0);
		errno = err;
		return -1;
	}
	return rename_to(aside, from, 0);
}

mill_err dir_rename(const char *from, const char *to, bool exchange)
{
	bool there = path_exists(to);
	int r;

	if (there && !exchange)
		return fail(MILL_EUSAGE, "%s exists already", to);
	r = rename_to(from, to, there ? RENAME_EXCHANGE : RENAME_NOREPLACE);
	if (r && (errno == EINVAL || errno == ENOSYS))
		r = there ? swap_slowly(from, to) : rename_to(from, to, 0);
	if (r && errno == EEXIST)
		return fail(MILL_EUSAGE, "%s exists already", to);
	if (r)
		return fail_errno("cannot rename %s to %s", from, to);
	return MILL_OK;
}

bool path_exists(const char *path)
{
	struct stat st;

	return !fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
}

/* ---- Files that appear whole or not at all ---- */

#define OUT_BUFFER (256 * KIB)

struct outfile {
	struct file file;
	bool stream;		/* stdout, a pipe or a device: nothing to rename */
	bool borrowed;		/* stdout: must not be closed */
	char *path, *temp;
	char *buffer;
	u64 fill;
};

/* Returns "dir" for "dir/name", "." for "name", "/" for "/name". `to` has PATH_MAX bytes. */
static const char *parent_of(char *to, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) : 0;

	if (!slash)
		return ".";
	if (!len)
		return "/";
	if (len >= PATH_MAX)
		return path;	/* too long for any system call */
	memcpy(to, path, len);
	to[len] = '\0';
	return to;
}

/*
 * Removes the partial files of this path that killed processes left. A process that still writes
 * its file holds a lock on it. Errors are ignored: they do not concern the new file.
 */
static void sweep(const char *path)
{
	const char *base = strrchr(path, '/');
	char parent[PATH_MAX], prefix[NAME_MAX + 16];
	struct dirent *entry;
	DIR *dir;
	int fd;

	base = base ? base + 1 : path;
	if (snprintf(prefix, sizeof(prefix), "%s.partial-", base) >= (int)sizeof(prefix))
		return;
	dir = opendir(parent_of(parent, path));
	while (dir && (entry = readdir(dir))) {
		const char *pid = entry->d_name + strlen(prefix);

		if (strncmp(entry->d_name, prefix, strlen(prefix)) || !*pid ||
		    pid[strspn(pid, "0123456789")])
			continue;
		fd = openat(dirfd(dir), entry->d_name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dirfd(dir), entry->d_name, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

static mill_err open_temp(struct outfile *o)
{
	struct stat st;
	mill_err err;

	sweep(o->path);
	TRY(memory_printf(&o->temp, NULL, "%s.partial-%ld", o->path, (long)getpid()));
	TRY(memory_string(&o->file.name, NULL, o->path));
	for (int i = 0; i < 3; i++) {
		o->file.fd = open_at(AT_FDCWD, o->temp, O_RDWR | O_CREAT | O_EXCL, 0600);
		if (o->file.fd < 0 && errno == EEXIST && !unlink_at(AT_FDCWD, o->temp, 0))
			continue;	/* left by a killed process that had our process id */
		if (o->file.fd < 0) {
			err = fail_errno("cannot create %s", o->path);
			memory_free(o->temp);	/* so that outfile_abandon does not remove it */
			o->temp = NULL;
			return err;
		}
		/*
		 * The lock may fail: not every file system has locks. Between open and lock the
		 * sweep of another process may have removed the file: then it has no link.
		 */
		flock(o->file.fd, LOCK_EX | LOCK_NB);
		if (!fstat(o->file.fd, &st) && st.st_nlink)
			return MILL_OK;
		close(o->file.fd);
		o->file.fd = -1;
	}
	return fail(MILL_EIO, "cannot create %s: another process keeps removing %s", o->path,
		    o->temp);
}

static mill_err open_stream(struct outfile *o, const char *path)
{
	TRY(memory_string(&o->file.name, NULL, path));
	o->stream = true;
	o->file.fd = open_at(AT_FDCWD, path, O_WRONLY, 0);
	if (o->file.fd < 0)
		return fail_errno("cannot open %s", path);
	return MILL_OK;
}

/* Follows a link: its target is replaced. Pipes and devices are opened and written directly. */
static mill_err open_target(struct outfile *o, const char *path)
{
	char resolved[PATH_MAX];
	struct stat st;

	if (!strcmp(path, "-")) {
		o->stream = o->borrowed = true;
		o->file.fd = STDOUT_FILENO;
		return memory_string(&o->file.name, NULL, "the standard output");
	}
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode)) {
			errno = EISDIR;
			return fail_errno("cannot write %s", path);
		}
		if (!S_ISREG(st.st_mode))
			return open_stream(o, path);
	}
	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		if (!realpath(path, resolved))
			return fail_errno("cannot follow %s", path);
		path = resolved;
	}
	TRY(memory_string(&o->path, NULL, path));
	return open_temp(o);
}

mill_err outfile_open(struct outfile **out, const char *path)
{
	struct outfile *o;
	mill_err err;

	TRY(memory_new(&o, NULL, 1, sizeof(*o), "an output file"));
	o->file = FILE_CLOSED;
	err = memory_new(&o->buffer, NULL, OUT_BUFFER, 1, "an output buffer");
	if (!err)
		err = open_target(o, path);
	if (err)
		outfile_abandon(o);
	else
		*out = o;
	return err;
}

static mill_err flush(struct outfile *o)
{
	u64 fill = o->fill;

	o->fill = 0;
	return file_write_next(&o->file, o->buffer, fill);
}

mill_err outfile_write(struct outfile *o, const void *from, u64 size)
{
	if (size > OUT_BUFFER - o->fill)
		TRY(flush(o));
	if (size >= OUT_BUFFER)
		return file_write_next(&o->file, from, size);
	if (size)
		memcpy(o->buffer + o->fill, from, size);
	o->fill += size;
	return MILL_OK;
}

mill_err outfile_printf(struct outfile *o, const char *format, ...)
{
	va_list args;
	mill_err err;
	char *text;
	u64 room;
	int len;

	for (int i = 0; i < 2; i++) {
		room = OUT_BUFFER - o->fill;
		va_start(args, format);
		len = vsnprintf(o->buffer + o->fill, room, format, args);
		va_end(args);
		if (len < 0)
			return fail(MILL_EBUG, "cannot format a text");
		if ((u64)len < room) {
			o->fill += (u64)len;
			return MILL_OK;
		}
		TRY(flush(o));
	}
	TRY(memory_new(&text, NULL, (u64)len + 1, 1, "a text"));
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	err = outfile_write(o, text, (u64)len);
	memory_free(text);
	return err;
}

/* Returns the process's umask. Does not call umask(), which would change it for a moment. */
static mode_t current_umask(void)
{
	char text[1024] = "";	/* enough: Umask is the second line */
	const char *line;
	unsigned mask = 022;
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	line = got > 0 ? strstr(text, "\nUmask:") : NULL;
	if (line)
		mask = (unsigned)strtoul(line + strlen("\nUmask:"), NULL, 8) & 0777;
	return (mode_t)mask;
}

static mill_err make_visible(struct outfile *o)
{
	char parent[PATH_MAX];

	if (fchmod(o->file.fd, 0666 & ~current_umask()))
		return fail_errno("cannot set the mode of %s", o->temp);
	if (sync_fd(o->file.fd, fsync))
		return fail_errno("cannot sync %s", o->temp);
	if (rename_to(o->temp, o->path, 0))
		return fail_errno("cannot rename %s to %s", o->temp, o->path);
	memory_free(o->temp);	/* so that outfile_abandon does not remove the target */
	o->temp = NULL;
	return dir_sync(parent_of(parent, o->path));
}

mill_err outfile_commit(struct outfile *o)
{
	mill_err err = flush(o);

	if (!err && !o->stream)
		err = make_visible(o);
	outfile_abandon(o);
	return err;
}

void outfile_abandon(struct outfile *o)
{
	if (!o)
		return;
	if (o->temp)
		unlink_at(AT_FDCWD, o->temp, 0);
	if (o->borrowed)
		o->file.fd = -1;
	file_close(&o->file);
	memory_free(o->path);
	memory_free(o->temp);
	memory_free(o->buffer);
	memory_free(o);
}
