/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files, directories and output files. All I/O of the library passes through here, so that the
 * fault layer (base/fault.h) can make each call fail. A call is repeated after EINTR and EAGAIN
 * and continued after a short transfer. Error messages name the file.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/uio.h>

#include "base/error.h"
#include "base/types.h"

struct file {
	int fd;		/* -1: closed */
	char *name;	/* for messages; owned */
	bool direct;	/* O_DIRECT: offsets, sizes and buffers are multiples of 4096 */
};

#define FILE_CLOSED ((struct file){ .fd = -1 })

enum file_mode {
	FILE_READ,
	FILE_READ_DIRECT,	/* without the page cache if the file system can do that */
	FILE_CREATE,		/* new (O_EXCL), mode 0600, for reading and writing */
};

/* dir: a directory's fd or AT_FDCWD. shown: the path for messages (NULL: path). */
mill_err file_open(struct file *out, int dir, const char *path, enum file_mode mode,
		   const char *shown);
/*
 * Makes a temporary file in a directory, for reading and writing. It has no name, so nothing
 * is left behind however the process ends. Messages call it "a temporary file in DIR".
 */
mill_err file_temp(struct file *out, const char *dir);
/* Returns in *out the bytes that are free in the file system of a path. */
mill_err file_room(const char *path, u64 *out);
/* A file that is closed already (FILE_CLOSED) is fine. */
void file_close(struct file *f);

mill_err file_size(const struct file *f, u64 *out);
/*
 * Reads exactly size bytes. Fails with MILL_ECORRUPT ("... ends at byte N") if the file ends
 * before that.
 */
mill_err file_read_at(const struct file *f, void *to, u64 size, u64 offset);
/*
 * For callers that make the system call themselves, like the io_uring reader.
 *
 * file_admit_read: call it before each read of at most size bytes. Returns in *ask the number
 * of bytes to ask for (whole sectors if the file needs that), or false with errno if the fault
 * layer wants the read to fail.
 *
 * file_took: call it after each read of a part of [offset, offset + size). *done: the number of
 * bytes of this range that have been read. got: the number of new bytes, or a negative errno.
 * Advances *done; leaves it unchanged if the read must be repeated.
 */
bool file_admit_read(const struct file *f, u64 size, u64 *ask);
mill_err file_took(const struct file *f, u64 size, u64 offset, i64 got, u64 *done);
/* Calls preadv; returns the number of bytes, or a negative errno. */
i64 file_readv(const struct file *f, const struct iovec *iov, u32 n, u64 offset);
/* Reads the next bytes of a pipe or file, at most size; *got is 0 at the end. */
mill_err file_read_next(const struct file *f, void *to, u64 size, u64 *got);
mill_err file_write_at(const struct file *f, const void *from, u64 size, u64 offset);
/* Writes all bytes to a stream (stdout), in order. */
mill_err file_write_next(const struct file *f, const void *from, u64 size);
mill_err file_sync(const struct file *f);	/* fdatasync */
/* Drops the file's data from the page cache, which would be memory outside of the budget. */
void file_forget(const struct file *f);
/* Drops the data of one read from the page cache; does nothing for a file with O_DIRECT. */
void file_forget_read(const struct file *f, u64 offset, u64 size);
/*
 * Frees the disk space of bytes that will not be read again, if the file system can do that.
 * Such bytes may read as zeros afterwards.
 */
void file_discard(const struct file *f, u64 offset, u64 size);
/*
 * Reserves disk space, so that a full disk is noticed now and not later. Does nothing if the
 * file system cannot reserve.
 */
mill_err file_reserve(const struct file *f, u64 size);

/* ---- Directories ---- */

mill_err dir_make(const char *path);
mill_err dir_sync(const char *path);
/* Removes a directory and the plain files in it (one level). A missing directory is fine. */
mill_err dir_remove(const char *path);
/*
 * Renames `from` to `to`. If `to` exists: fails with MILL_EUSAGE, or with `exchange` swaps the
 * two.
 */
mill_err dir_rename(const char *from, const char *to, bool exchange);
bool path_exists(const char *path);
/* Makes a symbolic link called `name` in the directory `dir`. text: where it leads. */
mill_err link_make(const char *text, int dir, const char *name);
/* Tries to remove a file, a link or an empty directory; path is relative to dir. */
void path_drop(int dir, const char *path, bool directory);

/*
 * An output file that appears whole or not at all: it is written as PATH.partial-PID beside
 * its target; outfile_commit syncs and renames it. Output is buffered. The path "-" is stdout.
 * Stdout, pipes and devices get the bytes directly, without a partial file.
 */
struct outfile;
mill_err outfile_open(struct outfile **out, const char *path);
mill_err outfile_write(struct outfile *o, const void *from, u64 size);
mill_err outfile_printf(struct outfile *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
mill_err outfile_commit(struct outfile *o);	/* frees o, also on failure */
void outfile_abandon(struct outfile *o);	/* removes the partial file; NULL is fine */

#endif
