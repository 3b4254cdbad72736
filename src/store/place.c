/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a store in PATH.new and publishes it by a rename. */
#include "store/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/manifest.h"
#include "store/stripe.h"

#define MARK_NAME "making"	/* the mark in PATH.new: holds the name of the store */
#define MANIFEST_TEMP "manifest.tmp"
#define CLAIM_TRIES 20		/* 10 ms apart: place_sweep of a reader holds the lock briefly */

struct place {
	struct budget *budget;
	char *path;		/* the target */
	char *parent;
	char *temp;		/* PATH.new */
	const char *base;	/* the last component of path */
	struct file dir;	/* temp, open and locked */
	struct stripes stripes;
	mode_t mode;		/* of complete files */
	bool force, committed;
};

mill_err place_path(char **out, struct budget *budget, const char *path)
{
	size_t n = path ? strlen(path) : 0;

	while (n > 1 && path[n - 1] == '/')
		n--;
	if (!n || (n == 1 && path[0] == '/'))
		return fail(MILL_EUSAGE, "\"%s\" cannot be the path of a store", path ? path : "");
	return memory_printf(out, budget, "%.*s", (int)n, path);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static mill_err parent_of(char **out, struct budget *budget, const char *path)
{
	size_t n = (size_t)(base_of(path) - path);

	if (!n)
		return memory_string(out, budget, ".");
	return memory_printf(out, budget, "%.*s", (int)n, path);
}

/* ---- Contents of directories ---- */

static bool has_file(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
}

/*
 * Sets *out to whether the file `name` begins with this text (whole: holds this text and nothing
 * else). *out is false if the file is missing.
 */
static mill_err file_says(bool *out, int dir, const char *name, const char *text, bool whole)
{
	u64 size, want = strlen(text);
	struct file f;
	char got[512];
	mill_err err;

	*out = false;
	if (!has_file(dir, name) || want > sizeof(got))
		return MILL_OK;
	TRY(file_open(&f, dir, name, FILE_READ, NULL));
	err = file_size(&f, &size);
	if (!err && size >= want && (!whole || size == want)) {
		err = file_read_at(&f, got, want, 0);
		*out = !err && !memcmp(got, text, want);
	}
	file_close(&f);
	return err;
}

/* Returns true if a file of this name can be in a store or in the folder of a stripe. */
static bool is_store_name(const char *name)
{
	static const char *const known[] = {
		MANIFEST_NAME, MANIFEST_TEMP, SUMS_NAME, MARK_NAME, STRIPE_MARK,
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (!strcmp(name, known[i]))
			return true;
	for (enum store_file f = 0; f < STORE_FILES; f++)
		if (!strcmp(name, store_file_name(f)))
			return true;
	return is_stripe_name(name);
}

static mill_err find_stranger(char *out, size_t size, int dir, const char *within);

/*
 * Copies the name to `out` if it is not one of a store's files. A stripe can be a directory, in a
 * copy that followed the links: then the files in it are checked.
 */
static mill_err check_entry(char *out, size_t size, int dir, const char *name)
{
	struct stat st;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return MILL_OK;
	if (is_stripe_name(name) && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISDIR(st.st_mode))
		return find_stranger(out, size, dir, name);
	if (!is_store_name(name))
		snprintf(out, size, "%s", name);
	return MILL_OK;
}

/* Finds a file in the directory `within` that is no file of a store; "" if there is none. */
static mill_err find_stranger(char *out, size_t size, int dir, const char *within)
{
	struct dirent *entry;
	mill_err err = MILL_OK;
	DIR *list;
	int fd;

	*out = '\0';
	fd = openat(dir, within, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	list = fd < 0 ? NULL : fdopendir(fd);
	if (!list) {
		err = fail_errno("cannot read a directory");
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (errno = 0, !err && !*out && (entry = readdir(list)))
		err = check_entry(out, size, fd, entry->d_name);
	if (!err && !*out && errno)
		err = fail_errno("cannot read a directory");
	closedir(list);
	return err;
}

/*
 * Sets *out to whether a PATH.new that no process has locked is a leftover, which can be removed.
 * If it is a user's own store with such a name, it must stay.
 */
static mill_err is_leftover(bool *out, int dir, const char *base)
{
	char stranger[NAME_MAX + 1];

	TRY(file_says(out, dir, MARK_NAME, base, true));
	if (*out || has_file(dir, MANIFEST_NAME))
		return MILL_OK;
	TRY(find_stranger(stranger, sizeof(stranger), dir, "."));
	*out = !stranger[0];
	return MILL_OK;
}

/* ---- Locks ---- */

static bool same_inode(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !lstat(path, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/*
 * Opens and locks a directory. If it does not exist, or was removed before we had the lock, the
 * result is MILL_OK and *out is FILE_CLOSED. Fails with MILL_ELOCKED if another process has the
 * lock, with MILL_EUSAGE if the path is not a directory.
 */
static mill_err lock_dir(struct file *out, const char *path)
{
	struct file dir;
	struct stat st;
	mill_err err;

	*out = FILE_CLOSED;
	if (lstat(path, &st))
		return MILL_OK;
	if (!S_ISDIR(st.st_mode))
		return fail(MILL_EUSAGE, "%s is in the way: it is not a directory", path);
	err = file_open(&dir, AT_FDCWD, path, FILE_READ, NULL);
	if (err)
		return path_exists(path) ? err : MILL_OK;
	if (flock(dir.fd, LOCK_EX | LOCK_NB)) {
		err = errno == EWOULDBLOCK
			      ? fail(MILL_ELOCKED, "%s is locked by another process", path)
			      : fail_errno("cannot lock %s", path);
		file_close(&dir);
		return err;
	}
	if (!same_inode(dir.fd, path))
		file_close(&dir);
	*out = dir;
	return MILL_OK;
}

/*
 * Removes the manifest first: if we are killed half-way, the rest is a leftover that the next
 * command sweeps. Removes the folders of stripes before the links to them.
 */
static mill_err remove_store(int dir, const char *path)
{
	path_drop(dir, MANIFEST_NAME, false);
	stripes_remove(dir, path);
	return dir_remove(path);
}

void place_sweep(const char *path)
{
	char *target = NULL, *temp = NULL;
	struct file dir = FILE_CLOSED;
	bool leftover = false;

	if (!place_path(&target, NULL, path) && !memory_printf(&temp, NULL, "%s.new", target) &&
	    !lock_dir(&dir, temp) && dir.fd >= 0 &&
	    !is_leftover(&leftover, dir.fd, base_of(target)) && leftover)
		(void)remove_store(dir.fd, temp);
	file_close(&dir);
	memory_free(temp);
	memory_free(target);
}

/* ---- Opening ---- */

/* Fails unless the target is a store and holds no other files. */
static mill_err check_replaceable(const struct place *p)
{
	struct file dir;
	struct stat st;
	char stranger[NAME_MAX + 1] = "";
	mill_err err;
	bool store;

	if (lstat(p->path, &st) || !S_ISDIR(st.st_mode))
		return fail(MILL_EUSAGE, "%s is not a store: only a store can be replaced",
			    p->path);
	TRY(file_open(&dir, AT_FDCWD, p->path, FILE_READ, NULL));
	err = file_says(&store, dir.fd, MANIFEST_NAME, "millrace-store ", false);
	if (!err && !store)
		err = fail(MILL_EUSAGE, "%s is not a store: only a store can be replaced", p->path);
	if (!err)
		err = find_stranger(stranger, sizeof(stranger), dir.fd, ".");
	if (!err && stranger[0])
		err = fail(MILL_EUSAGE,
			   "%s holds \"%s\", which is not part of a store: move it away first",
			   p->path, stranger);
	file_close(&dir);
	return err;
}

static mill_err check_target(const struct place *p)
{
	if (!path_exists(p->path))
		return MILL_OK;
	if (!p->force)
		return fail(MILL_EUSAGE, "%s exists already: replace it with --force, or choose "
					 "another name", p->path);
	return check_replaceable(p);
}

/*
 * Writes the mark, which says that a PATH.new was made by millrace. It is durable before a
 * manifest can be beside it.
 */
static mill_err write_mark(const struct place *p, int dir)
{
	struct file f;
	mill_err err;
	bool there;

	TRY(file_says(&there, dir, MARK_NAME, p->base, true));
	if (there)
		return MILL_OK;
	if (has_file(dir, MARK_NAME))
		path_drop(dir, MARK_NAME, false);
	TRY(file_open(&f, dir, MARK_NAME, FILE_CREATE, NULL));
	err = file_write_at(&f, p->base, strlen(p->base), 0);
	if (!err)
		err = file_sync(&f);
	file_close(&f);
	return err;
}

/* Tries once to make and lock PATH.new. If p->dir is closed after MILL_OK, try again. */
static mill_err claim(struct place *p)
{
	bool leftover = false;
	mill_err made, err;

	made = dir_make(p->temp);
	if (made && !path_exists(p->temp))
		return made;
	err = lock_dir(&p->dir, p->temp);
	if (err && !made && err != MILL_ELOCKED)
		(void)rmdir(p->temp);	/* we made it, and it is empty */
	if (err || p->dir.fd < 0 || !made)
		return err;
	err = is_leftover(&leftover, p->dir.fd, p->base);
	if (!err && !leftover)
		err = fail(MILL_EUSAGE, "%s is in the way, and not left over by an import of %s: "
					"rename it, or choose another name", p->temp, p->path);
	if (!err)
		err = remove_store(p->dir.fd, p->temp);	/* a killed process left it */
	file_close(&p->dir);
	return err;
}

static mill_err claim_patiently(struct place *p)
{
	const struct timespec moment = { .tv_nsec = 10 * 1000 * 1000 };
	mill_err err = MILL_OK;

	for (int i = 0; i < CLAIM_TRIES; i++) {
		err = claim(p);
		if (err ? err != MILL_ELOCKED : p->dir.fd >= 0)
			return err;
		if (err)
			nanosleep(&moment, NULL);
	}
	return fail(MILL_ELOCKED, "%s is being made by another process: %s is locked", p->path,
		    p->temp);
}

static mill_err prepare(struct place *p, const char *path)
{
	struct stat st;

	TRY(place_path(&p->path, p->budget, path));
	TRY(parent_of(&p->parent, p->budget, p->path));
	TRY(memory_printf(&p->temp, p->budget, "%s.new", p->path));
	p->base = base_of(p->path);
	TRY(check_target(p));
	TRY(claim_patiently(p));
	if (fstat(p->dir.fd, &st))
		return fail_errno("cannot look at %s", p->temp);
	p->mode = st.st_mode & 0666;	/* the directory's mode follows the user's umask */
	return write_mark(p, p->dir.fd);
}

mill_err place_open(struct place **out, const char *path, bool force, struct budget *budget)
{
	struct place *p;
	mill_err err;

	TRY(memory_new(&p, budget, 1, sizeof(*p), "the place of a store"));
	p->budget = budget;
	p->force = force;
	p->dir = FILE_CLOSED;
	err = prepare(p, path);
	if (err) {
		place_close(p);
		return err;
	}
	*out = p;
	return MILL_OK;
}

/* ---- Stripes ---- */

mill_err place_stripe(struct place *p, const char *list)
{
	return stripes_choose(&p->stripes, list, p->budget);
}

u32 place_stripes(const struct place *p) { return p->stripes.n; }

mill_err place_make_stripes(struct place *p, const u8 *uuid)
{
	return stripes_make(&p->stripes, p->dir.fd, p->temp, p->path, uuid, p->mode);
}

mill_err place_create_in(struct place *p, u32 stripe, struct file *out, const char *name)
{
	return stripe_create(&p->stripes, stripe, out, name);
}

/* ---- Files ---- */

const char *place_dir(const struct place *p) { return p->temp; }

mill_err place_create(struct place *p, struct file *out, const char *name)
{
	char *shown;
	mill_err err;

	TRY(memory_printf(&shown, p->budget, "%s/%s", p->temp, name));
	err = file_open(out, p->dir.fd, name, FILE_CREATE, shown);
	memory_free(shown);
	return err;
}

mill_err place_finish(struct place *p, struct file *f)
{
	if (fchmod(f->fd, p->mode))
		return fail_errno("cannot set the mode of %s", f->name);
	return file_sync(f);
}

/* ---- Committing ---- */

static mill_err write_manifest(struct place *p, const char *text, size_t size)
{
	char *from = NULL, *to = NULL;
	struct file f = FILE_CLOSED;
	mill_err err;

	err = place_create(p, &f, MANIFEST_TEMP);
	if (!err)
		err = file_write_at(&f, text, size, 0);
	if (!err)
		err = place_finish(p, &f);
	file_close(&f);
	if (!err)
		err = memory_printf(&from, p->budget, "%s/%s", p->temp, MANIFEST_TEMP);
	if (!err)
		err = memory_printf(&to, p->budget, "%s/%s", p->temp, MANIFEST_NAME);
	if (!err)
		err = dir_rename(from, to, false);
	memory_free(from);
	memory_free(to);
	return err;
}

/* Undoes the rename after a failure. Keeps the message of that failure. */
static mill_err take_back(const struct place *p, mill_err err, bool exchange)
{
	struct error why;

	error_save(&why, err);
	if (exchange)
		(void)dir_rename(p->temp, p->path, true);
	else
		(void)dir_rename(p->path, p->temp, false);
	return error_restore(&why);
}

static mill_err publish_new(const struct place *p)
{
	mill_err err;

	TRY(dir_rename(p->temp, p->path, false));
	err = dir_sync(p->parent);
	return err ? take_back(p, err, false) : MILL_OK;
}

/*
 * Replaces an old store. old: its directory, locked, so that no other process removes it as a
 * leftover before we do.
 */
static mill_err publish_over(const struct place *p, int old)
{
	mill_err err;

	TRY(check_replaceable(p));
	err = write_mark(p, old);
	if (!err)
		err = dir_sync(p->path);
	if (!err)
		err = dir_rename(p->temp, p->path, true);
	if (!err) {
		err = dir_sync(p->parent);
		if (err)
			err = take_back(p, err, true);
	}
	if (err)
		path_drop(old, MARK_NAME, false);
	else if (same_inode(old, p->temp))
		(void)remove_store(old, p->temp);	/* if it fails, the next command sweeps */
	return err;
}

mill_err place_commit(struct place *p, const char *manifest, size_t size)
{
	struct file old;
	mill_err err;

	TRY(stripes_sync(&p->stripes));
	TRY(dir_sync(p->temp));
	TRY(write_manifest(p, manifest, size));
	TRY(dir_sync(p->temp));
	TRY(check_target(p));
	TRY(lock_dir(&old, p->path));
	err = old.fd < 0 ? publish_new(p) : publish_over(p, old.fd);
	file_close(&old);
	if (err)
		return err;
	p->committed = true;
	path_drop(p->dir.fd, MARK_NAME, false);
	return MILL_OK;
}

void place_close(struct place *p)
{
	struct error why;

	if (!p)
		return;
	/* Compares inodes: if take_back could not undo an exchange, PATH.new is the old store. */
	if (!p->committed && p->dir.fd >= 0 && same_inode(p->dir.fd, p->temp)) {
		error_save(&why, MILL_OK);
		(void)remove_store(p->dir.fd, p->temp);
		error_restore(&why);
	}
	file_close(&p->dir);
	stripes_release(&p->stripes);
	memory_free(p->temp);
	memory_free(p->parent);
	memory_free(p->path);
	memory_free(p);
}
