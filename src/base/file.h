/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files. All I/O of the library goes through here, above the fault layer: EINTR and EAGAIN are
 * continued, short transfers resumed, errors name the file.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <sys/uio.h>

#include "base/error.h"
#include "base/types.h"

struct file {
	int fd;		/* -1: closed */
	char *name;	/* for messages; owned */
	bool direct;	/* O_DIRECT: offsets, sizes and buffers in multiples of 4096 */
};

#define FILE_CLOSED ((struct file){ .fd = -1 })

enum file_mode {
	FILE_READ,
	FILE_READ_DIRECT,	/* without the page cache where the file system can, else buffered */
	FILE_CREATE,		/* new, 0600, fails if it exists (O_EXCL); written and read */
};

/* dir: a directory fd or AT_FDCWD. `shown` is the path for messages (NULL: path). */
mill_err file_open(struct file *out, int dir, const char *path, enum file_mode mode, const char *shown);
/*
 * A temporary file in a directory (shown in messages as in it), written and read, which has no name:
 * whatever ends the process, nothing of it stays.
 */
mill_err file_temp(struct file *out, const char *dir);
/* Bytes that can still be written to the file system of a path. */
mill_err file_room(const char *path, u64 *out);
/* Closing twice or a FILE_CLOSED is fine. */
void file_close(struct file *f);

mill_err file_size(const struct file *f, u64 *out);
/* Exactly size bytes; the end of the file before that is MILL_ECORRUPT ("... ends at byte N"). */
mill_err file_read_at(const struct file *f, void *to, u64 size, u64 offset);
/*
 * For whoever asks the system himself, as io_uring does. Before each read of at most size bytes: how many of them to ask
 * for (whole sectors where that is needed); false: errno says with what it must fail. After it: `got` is what came of
 * the bytes from *done on of [offset, offset + size), or a negative errno; *done grows, or stays where it must be tried again.
 */
bool file_admit_read(const struct file *f, u64 size, u64 *part);
i64 file_readv(const struct file *f, const struct iovec *part, u32 n, u64 offset);	/* preadv, or a negative errno */
mill_err file_took(const struct file *f, u64 size, u64 offset, i64 got, u64 *done);
/* The next bytes of a pipe or file, at most size; *got = 0 at the end. */
mill_err file_read_next(const struct file *f, void *to, u64 size, u64 *got);
mill_err file_write_at(const struct file *f, const void *from, u64 size, u64 offset);
/* For streams (stdout): all bytes, in order. */
mill_err file_write_next(const struct file *f, const void *from, u64 size);
mill_err file_sync(const struct file *f);	/* fdatasync */
/* Drops the file's pages from the page cache, so that a budget means what it says. */
void file_forget(const struct file *f);
/* The same of what was just read, unless it was read past the cache. */
void file_forget_read(const struct file *f, u64 offset, u64 size);
/* Gives back the room of bytes that nobody will read, as far as the file system can: they may be zero then. */
void file_discard(const struct file *f, u64 offset, u64 size);
/* Reserves room: ENOSPC now rather than later; a file system that cannot is fine. */
mill_err file_reserve(const struct file *f, u64 size);

/* Directories. */
mill_err dir_make(const char *path);
mill_err dir_sync(const char *path);
/* Removes a directory and the plain files in it (one level); missing is fine. */
mill_err dir_remove(const char *path);
/* from becomes to; fails with MILL_EUSAGE if `to` exists, unless exchange: then the two swap. */
mill_err dir_rename(const char *from, const char *to, bool exchange);
bool path_exists(const char *path);

/*
 * A file that appears whole or not at all: written as PATH.partial-PID beside its target, synced and
 * renamed by outfile_commit. "-" is stdout, where bytes go out as they come. Buffered.
 */
struct outfile;
mill_err outfile_open(struct outfile **out, const char *path);
mill_err outfile_write(struct outfile *o, const void *from, u64 size);
mill_err outfile_printf(struct outfile *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
mill_err outfile_commit(struct outfile *o);	/* frees o also when it fails */
void outfile_abandon(struct outfile *o);	/* removes what was written; NULL is fine */

#endif
