/* SPDX-License-Identifier: Apache-2.0 */
/* The cache file of a machine's constants and of graphs' shapes. */
#include "model/machine.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/number.h"

#define CACHE_BYTES (64 * KIB)	/* a longer file was not written by us */
#define CACHE_GRAPHS 48		/* the file keeps the latest graphs */
#define LINE_BYTES 1024

/* Replaces characters that JSON would have to escape: a driver's name may contain any. */
static void plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
			*text = ' ';
}

void machine_key_init(struct machine_key *key, const struct store *st, const char *device,
		      unsigned threads)
{
	struct mill_device cpu = { .model = "" };
	struct stat disk = { 0 };

	cpu_list(&cpu, 1);
	fstat(st->n_stripes ? st->stripe[0][0].fd : st->file[STORE_OUT_PAGES].fd, &disk);
	snprintf(key->machine, sizeof(key->machine),
		 "%.100s, %u cores, disk %u:%u, %u threads, %.32s", cpu.model, cpu.units,
		 major(disk.st_dev), minor(disk.st_dev), threads, device);
	plain(key->machine);
	key->uuid = st->uuid;
}

/* ---- The cache file: one line for each graph, the latest first ---- */

/*
 * Returns the paths of the cache folder and file, PATH_MAX bytes each. False: there is no
 * folder.
 */
static bool cache_path(char *folder, char *file)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (cache && *cache == '/')	/* the XDG specification says to ignore a relative path */
		n = snprintf(folder, PATH_MAX, "%s/millrace", cache);
	else if (home && *home == '/')
		n = snprintf(folder, PATH_MAX, "%s/.cache/millrace", home);
	else
		return false;
	if (n < 0 || n >= PATH_MAX)
		return false;
	n = snprintf(file, PATH_MAX, "%s/machine.json", folder);
	return n > 0 && n < PATH_MAX;
}

/* Returns the whole file with a final NUL; the caller frees it. NULL: it cannot be read. */
static char *read_cache(const char *path)
{
	struct file f = FILE_CLOSED;
	char *text = NULL;
	u64 size;

	if (file_open(&f, AT_FDCWD, path, FILE_READ, NULL))
		return NULL;
	if (!file_size(&f, &size) && size < CACHE_BYTES &&
	    !memory_new(&text, NULL, size + 1, 1, "the machine's constants") &&
	    file_read_at(&f, text, size, 0)) {
		memory_free(text);
		text = NULL;
	}
	file_close(&f);
	return text;
}

static size_t put_prefix(char *to, const struct machine_key *key)
{
	return (size_t)snprintf(to, LINE_BYTES, "{\"machine\": \"%s\", \"store\": \"",
				key->machine);
}

/*
 * Finds the number after "name": on this line. Returns false if there is none, or not a
 * plausible one.
 */
static bool take(const char *line, const char *name, f64 most, f64 *out)
{
	const char *end = strchr(line, '\n'), *at, *stop;
	char wanted[32];
	f64 value;

	snprintf(wanted, sizeof(wanted), "\"%s\": ", name);
	at = strstr(line, wanted);
	if (!at || !end || at > end)
		return false;
	at += strlen(wanted);
	stop = at + strspn(at, "0123456789.e+-");
	if (!number_f64(&value, at, stop) || !(value >= 0 && value <= most))
		return false;
	*out = value;
	return true;
}

bool machine_is_sane(const struct machine *m)
{
	bool sane = true;

#define SANE(name, value, most) \
	sane = sane && m->name >= 0 && m->name <= most && \
	       (m->name > 0 || &m->name == &m->overlap || &m->name == &m->beside);
	MACHINE_FIELDS(SANE)
#undef SANE
	return sane;
}

static bool take_machine(const char *line, struct machine *m)
{
	struct machine read = *m;
	bool all = true;

#define TAKE(name, value, most) all = all && take(line, #name, most, &read.name);
	MACHINE_FIELDS(TAKE)
#undef TAKE
	if (!all || !machine_is_sane(&read))
		return false;
	*m = read;
	m->measured = true;
	return true;
}

static bool take_shape(const char *line, struct machine *m)
{
	struct machine read = *m;
	bool all = true;

#define TAKE(name, value, most) all = all && take(line, #name, most, &read.name);
	SHAPE_FIELDS(TAKE)
#undef TAKE
	if (!all || read.levels < 1 || read.typical < 1)
		return false;
	*m = read;
	m->shape_known = true;
	return true;
}

/* Without a measurement, assumes the shape of most graphs: few levels, neighbours anywhere. */
static void guess_shape(struct machine *m, const struct store *st)
{
	f64 degree = (f64)st->stored_edges / (f64)max_u64(st->sources, 1);

	m->typical = degree > 1 ? degree : 1;
	m->levels = 3;
	for (f64 reach = 1; reach < (f64)st->sources && m->levels < 64;
	     reach *= m->typical > 2 ? m->typical : 2)
		m->levels++;
}

void machine_find(struct machine *out, const struct machine_key *key, const struct store *st)
{
	char folder[PATH_MAX], file[PATH_MAX], prefix[LINE_BYTES];
	size_t length = put_prefix(prefix, key);
	struct error kept;
	char *text;

#define DEFAULT(name, value, most) .name = value,
	*out = (struct machine){ MACHINE_FIELDS(DEFAULT) SHAPE_FIELDS(DEFAULT) };
#undef DEFAULT
	guess_shape(out, st);
	error_save(&kept, MILL_OK);
	text = cache_path(folder, file) ? read_cache(file) : NULL;
	error_restore(&kept);
	for (const char *line = text; line && *line && !out->shape_known;) {
		const char *end = strchr(line, '\n');

		if (end && !strncmp(line, prefix, length)) {
			bool same = !strncmp(line + length, key->uuid, strlen(key->uuid));

			/*
			 * The line of the same graph is the best; another line of the
			 * machine is better than none.
			 */
			if (same ? take_machine(line, out) :
				   !out->measured && take_machine(line, out))
				if (same)
					take_shape(line, out);
		}
		line = end ? end + 1 : NULL;
	}
	memory_free(text);
}

static mill_err put_line(struct outfile *o, const struct machine *m, const struct machine_key *key)
{
	char prefix[LINE_BYTES], number[NUMBER_TEXT];

	put_prefix(prefix, key);
	TRY(outfile_printf(o, "%s%s\"", prefix, key->uuid));
#define PUT(name, value, most) \
	TRY(outfile_printf(o, ", \"" #name "\": %.*s", (int)number_put_f64(number, m->name), \
			   number));
	MACHINE_FIELDS(PUT)
	SHAPE_FIELDS(PUT)
#undef PUT
	return outfile_printf(o, "}");
}

/* Copies the old lines that are complete and not of this graph. */
static mill_err put_others(struct outfile *o, const char *text, const struct machine_key *key)
{
	char own[2 * LINE_BYTES];
	size_t length = put_prefix(own, key);
	int n = 1;

	length += (size_t)snprintf(own + length, sizeof(own) - length, "%s\"", key->uuid);
	for (const char *line = text, *end; line && (end = strchr(line, '\n')) && n < CACHE_GRAPHS;
	     line = end + 1) {
		size_t size = (size_t)(end - line) - (end > line && end[-1] == ',');
		struct machine any = { 0 };

		if (strncmp(line, "{\"machine\": \"", 13) || !strncmp(line, own, length) ||
		    line[size - 1] != '}' || size >= LINE_BYTES || !take_machine(line, &any) ||
		    !take_shape(line, &any))
			continue;
		TRY(outfile_printf(o, ",\n%.*s", (int)size, line));
		n++;
	}
	return MILL_OK;
}

static mill_err write_cache(const char *file, const char *old, const struct machine *m,
			    const struct machine_key *key)
{
	struct outfile *o;
	mill_err err;

	TRY(outfile_open(&o, file));
	err = outfile_printf(o, "{\"graphs\": [\n");
	if (!err)
		err = put_line(o, m, key);
	if (!err)
		err = put_others(o, old, key);
	if (!err)
		err = outfile_printf(o, "\n]}\n");
	if (!err)
		return outfile_commit(o);
	outfile_abandon(o);
	return err;
}

void machine_keep(const struct machine *m, const struct machine_key *key)
{
	char folder[PATH_MAX], file[PATH_MAX];
	struct error kept;
	char *old, *slash;

	if (!cache_path(folder, file))
		return;
	error_save(&kept, MILL_OK);
	/*
	 * The last two folders of the path may be missing. If they cannot be made,
	 * write_cache fails.
	 */
	slash = strrchr(folder, '/');
	if (slash > folder) {
		*slash = '\0';
		dir_make(folder);
		*slash = '/';
	}
	dir_make(folder);
	old = read_cache(file);
	write_cache(file, old, m, key);
	memory_free(old);
	error_restore(&kept);
}
