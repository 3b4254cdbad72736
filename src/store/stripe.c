/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, opens and removes the folders of stripes. */
#include "store/stripe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/manifest.h"

#define MARK_MAX 256u
#define NAME_TRIES 1000u	/* most stores of the same name and content in one directory */

void stripe_name(char to[STRIPE_NAME], u32 k) { snprintf(to, STRIPE_NAME, "stripe.%u", k % 1000); }

bool is_stripe_name(const char *name)
{
	for (u32 k = 0; k < STRIPES_MAX; k++) {
		char known[STRIPE_NAME];

		stripe_name(known, k);
		if (!strcmp(name, known))
			return true;
	}
	return false;
}

u64 stripe_share(u64 n, u32 k, u32 of) { return n / of + (k < n % of); }

/* Writes the first lines of a mark, which readers compare. put_owner writes the last line. */
static size_t put_mark(char to[MARK_MAX], u32 k, u32 of, const u8 *uuid)
{
	char shown[37];

	uuid_show(shown, uuid);
	return (size_t)snprintf(to, MARK_MAX, "millrace-stripe 1\nuuid %s\nstripe %u of %u\n",
				shown, k, of);
}

/*
 * Writes the inode of the store's directory, for code that removes the folder. A renamed store
 * keeps its inode, a copy has another.
 */
static size_t put_owner(char to[MARK_MAX], int store)
{
	struct stat st = { .st_ino = 0 };

	(void)fstat(store, &st);
	return (size_t)snprintf(to, MARK_MAX, "owner %" PRIu64 "\n", (u64)st.st_ino);
}

static mill_err read_mark(int folder, char to[MARK_MAX], u64 *size)
{
	struct file f;
	mill_err err;

	TRY(file_open(&f, folder, STRIPE_MARK, FILE_READ, NULL));
	err = file_size(&f, size);
	*size = min_u64(*size, MARK_MAX);
	if (!err)
		err = file_read_at(&f, to, *size, 0);
	file_close(&f);
	return err;
}

/* ---- Choosing ---- */

static mill_err choose(struct stripes *s, struct stat *at, const char *dir, size_t length,
		       struct budget *budget)
{
	struct stat st;

	if (!length)
		return fail(MILL_EUSAGE, "a directory in the list of stripes has no name");
	if (s->n == STRIPES_MAX)
		return fail(MILL_EUSAGE, "more than %u stripes", STRIPES_MAX);
	TRY(memory_printf(&s->dir[s->n], budget, "%.*s", (int)length, dir));
	dir = s->dir[s->n++];
	if (stat(dir, &st))
		return fail_errno("cannot put a stripe into %s", dir);
	if (!S_ISDIR(st.st_mode))
		return fail(MILL_EUSAGE, "cannot put a stripe into %s: not a directory", dir);
	for (u32 k = 0; k + 1 < s->n; k++)
		if (at[k].st_dev == st.st_dev && at[k].st_ino == st.st_ino)
			return fail(MILL_EUSAGE,
				    "%s and %s are the same directory: give each stripe its own",
				    s->dir[k], dir);
	at[s->n - 1] = st;
	return MILL_OK;
}

mill_err stripes_choose(struct stripes *s, const char *list, struct budget *budget)
{
	struct stat at[STRIPES_MAX];

	for (;;) {
		size_t length = strcspn(list, ",");

		TRY(choose(s, at, list, length, budget));
		if (!list[length])
			return MILL_OK;
		list += length + 1;
	}
}

void stripes_release(struct stripes *s)
{
	for (u32 k = 0; k < STRIPES_MAX; k++) {
		memory_free(s->dir[k]);
		memory_free(s->folder[k]);
	}
	*s = (struct stripes){ .n = 0 };
}

/* ---- Making ---- */

/* Finds a free path DIR/NAME-UUID, from the store's name and the first digits of its uuid. */
static mill_err find_folder(char **out, const char *dir, const char *path, const u8 *uuid)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char shown[37];

	uuid_show(shown, uuid);
	shown[8] = '\0';
	for (u32 i = 1; i <= NAME_TRIES; i++) {
		char more[12] = "";

		if (i > 1)
			snprintf(more, sizeof(more), "-%u", i);
		TRY(memory_printf(out, NULL, "%s/%.200s-%s%s", dir, base, shown, more));
		if (!path_exists(*out))
			return MILL_OK;
		memory_free(*out);
		*out = NULL;
	}
	return fail(MILL_EUSAGE,
		    "%s holds too many stripes of stores called %s: remove what is not used", dir,
		    base);
}

/* Makes the relative path from the directory `from` to `to`; both are absolute, without links. */
static mill_err relative(char **out, const char *from, const char *to)
{
	size_t same = 0, i;
	char up[3 * PATH_MAX / 2 + 1];
	size_t n = 0;

	for (i = 0; from[i] && from[i] == to[i]; i++)
		if (from[i] == '/')
			same = i;
	if ((!from[i] && to[i] == '/') || (!to[i] && from[i] == '/'))
		same = i;
	for (const char *at = from + same; *at && n + 4 < sizeof(up); at++)
		if (*at == '/') {
			memcpy(up + n, "../", 3);
			n += 3;
		}
	up[n] = '\0';
	to += same;
	return memory_printf(out, NULL, "%s%s", up, *to == '/' ? to + 1 : to);
}

/*
 * Makes the text of a link in the store at `path`: absolute if the user gave an absolute path, else
 * relative to the store.
 */
static mill_err link_text(char **out, const char *dir, const char *folder, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = strrchr(folder, '/') + 1;
	char there[PATH_MAX], here[PATH_MAX];
	char *parent = NULL, *store = NULL, *way = NULL;
	mill_err err;

	if (dir[0] == '/')
		return memory_string(out, NULL, folder);
	err = memory_printf(&parent, NULL, "%.*s", slash ? (int)(slash + 1 - path) : 1,
			    slash ? path : ".");
	if (!err && (!realpath(dir, there) || !realpath(parent, here)))
		err = fail_errno("cannot find %s from %s", dir, parent);
	if (!err)
		err = memory_printf(&store, NULL, "%s/%s", strcmp(here, "/") ? here : "",
				    slash ? slash + 1 : path);
	if (!err)
		err = relative(&way, store, there);
	if (!err)
		err = memory_printf(out, NULL, "%s%s%s", way,
				    *way && way[strlen(way) - 1] != '/' ? "/" : "", name);
	memory_free(way);
	memory_free(store);
	memory_free(parent);
	return err;
}

static mill_err make_link(const struct stripes *s, u32 k, int store, const char *path)
{
	char name[STRIPE_NAME];
	char *text;
	mill_err err;

	stripe_name(name, k);
	TRY(link_text(&text, s->dir[k], s->folder[k], path));
	err = link_make(text, store, name);
	memory_free(text);
	return err;
}

static mill_err make_folder(const struct stripes *s, u32 k, int store, const u8 *uuid, u32 mode)
{
	struct file dir, f = FILE_CLOSED;
	char mark[2 * MARK_MAX];
	size_t size;
	mill_err err;

	TRY(dir_make(s->folder[k]));
	TRY(file_open(&dir, AT_FDCWD, s->folder[k], FILE_READ, NULL));
	size = put_mark(mark, k, s->n, uuid);
	size += put_owner(mark + size, store);
	err = file_open(&f, dir.fd, STRIPE_MARK, FILE_CREATE, NULL);
	if (!err)
		err = file_write_at(&f, mark, size, 0);
	if (!err && fchmod(f.fd, (mode_t)mode))
		err = fail_errno("cannot set the mode of %s/%s", s->folder[k], STRIPE_MARK);
	if (!err)
		err = file_sync(&f);
	file_close(&f);
	file_close(&dir);
	return err;
}

mill_err stripes_make(struct stripes *s, int store, const char *made_in, const char *path,
		      const u8 *uuid, u32 mode)
{
	for (u32 k = 0; k < s->n; k++)
		TRY(find_folder(&s->folder[k], s->dir[k], path, uuid));
	for (u32 k = 0; k < s->n; k++)
		TRY(make_link(s, k, store, path));
	TRY(dir_sync(made_in));
	for (u32 k = 0; k < s->n; k++)
		TRY(make_folder(s, k, store, uuid, mode));
	return MILL_OK;
}

mill_err stripe_create(const struct stripes *s, u32 k, struct file *out, const char *name)
{
	char *path;
	mill_err err;

	TRY(memory_printf(&path, NULL, "%s/%s", s->folder[k], name));
	err = file_open(out, AT_FDCWD, path, FILE_CREATE, NULL);
	memory_free(path);
	return err;
}

mill_err stripes_sync(const struct stripes *s)
{
	for (u32 k = 0; k < s->n; k++) {
		TRY(dir_sync(s->folder[k]));
		TRY(dir_sync(s->dir[k]));
	}
	return MILL_OK;
}

/* ---- Reading ---- */

/* Makes the path of a stripe's folder for messages. If `name` is no link, it is the folder. */
static mill_err show_folder(char **out, int store, const char *path, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(store, name, text, sizeof(text) - 1);

	if (n < 0)
		return memory_printf(out, NULL, "%s/%s", path, name);
	text[n] = '\0';
	if (text[0] == '/')
		return memory_string(out, NULL, text);
	return memory_printf(out, NULL, "%s/%s", path, text);
}

static mill_err find_stripe(int store, const char *path, const char *name, const char *shown)
{
	struct stat st;

	if (!fstatat(store, name, &st, 0))
		return S_ISDIR(st.st_mode) ? MILL_OK
					   : fail(MILL_ECORRUPT, "%s is not a directory", shown);
	if (errno != ENOENT)
		return fail_errno("cannot open %s", shown);
	if (fstatat(store, name, &st, AT_SYMLINK_NOFOLLOW))
		return fail(MILL_ECORRUPT, "%s is missing", shown);
	return fail(MILL_EIO,
		    "the stripe %s is missing: mount its disk, or let the link %s/%s lead to where "
		    "it is now", shown, path, name);
}

/* Fails unless the mark says that this is the folder of stripe k of the store. */
static mill_err check_mark(const struct file *folder, const char *path, u32 k, u32 of,
			   const u8 *uuid)
{
	char want[MARK_MAX], got[MARK_MAX];
	size_t n = put_mark(want, k, of, uuid);
	struct stat st;
	u64 size;

	if (fstatat(folder->fd, STRIPE_MARK, &st, 0) || !S_ISREG(st.st_mode))
		return fail(MILL_ECORRUPT,
			    "%s is not the folder of a stripe: it has no file \"%s\"",
			    folder->name, STRIPE_MARK);
	TRY(read_mark(folder->fd, got, &size));
	if (size < n || memcmp(got, want, n))
		return fail(MILL_ECORRUPT,
			    "%s is not stripe %u of %u of the store %s, but of another store, or "
			    "another stripe", folder->name, k, of, path);
	return MILL_OK;
}

mill_err stripe_open(struct file *out, char **shown, int store, const char *path, u32 k, u32 of,
		     const u8 *uuid)
{
	char name[STRIPE_NAME];
	mill_err err;

	stripe_name(name, k);
	TRY(show_folder(shown, store, path, name));
	err = find_stripe(store, path, name, *shown);
	if (!err)
		err = file_open(out, store, name, FILE_READ, *shown);
	if (!err)
		err = check_mark(out, path, k, of, uuid);
	if (err) {
		file_close(out);
		memory_free(*shown);
		*shown = NULL;
	}
	return err;
}

/* ---- Removing ---- */

enum owner { OURS, ANOTHER, UNFINISHED };

/*
 * Returns to which store the folder belongs. UNFINISHED: the mark is missing or incomplete,
 * because its process was killed before anything else was in the folder.
 */
static enum owner owner_of(int folder, int store)
{
	char got[MARK_MAX] = "", owner[MARK_MAX];
	int fd = openat(folder, STRIPE_MARK, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	const char *line;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? UNFINISHED : ANOTHER;
	n = pread(fd, got, sizeof(got) - 1, 0);
	close(fd);
	put_owner(owner, store);
	line = strstr(got, "owner ");
	if (n < 0 || (line && strcmp(line, owner)))
		return line && !strchr(line, '\n') ? UNFINISHED : ANOTHER;
	return line ? OURS : UNFINISHED;
}

/* Removes the folder of a link. Allocates nothing: lack of memory may be why it is removed. */
static void remove_linked(int store, const char *name)
{
	char folder[PATH_MAX];
	ssize_t n = readlinkat(store, name, folder, sizeof(folder) - 1);
	int dir = n < 0 ? -1 : openat(store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum owner owner;

	if (dir < 0)
		return;
	folder[n] = '\0';
	owner = owner_of(dir, store);
	if (owner == OURS) {
		path_drop(dir, store_file_name(STORE_OUT_PAGES), false);
		path_drop(dir, store_file_name(STORE_IN_PAGES), false);
	}
	if (owner != ANOTHER) {
		path_drop(dir, STRIPE_MARK, false);
		path_drop(store, folder, true);
	}
	close(dir);
}

void stripes_remove(int store, const char *path)
{
	for (u32 k = 0; k < STRIPES_MAX; k++) {
		char name[STRIPE_NAME];
		struct stat st;
		char *folder;

		stripe_name(name, k);
		if (fstatat(store, name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISLNK(st.st_mode)) {
			remove_linked(store, name);
		} else if (S_ISDIR(st.st_mode) &&
			   !memory_printf(&folder, NULL, "%s/%s", path, name)) {
			/* A copied store may have directories here: the copy followed the links. */
			(void)dir_remove(folder);
			memory_free(folder);
		}
	}
}
