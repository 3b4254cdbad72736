/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of formats, and the choice of one: by --format, then by the first bytes, then by the
 * suffix; else the input is an edge list.
 */
#include "import/format.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"

#define SUFFIXES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static bool is_mtx(const char *head, u64 size)
{
	static const char banner[] = "%%MatrixMarket";

	return size >= sizeof(banner) - 1 && !strncasecmp(head, banner, sizeof(banner) - 1);
}

/* DIMACS begins with comments (lines that begin with c), then "p ". */
static bool is_dimacs(const char *head, u64 size)
{
	const char *end = head + size, *line = head;

	while (line < end && (*line == 'c' || *line == '\n' || *line == '\r')) {
		if (*line == 'c' && line + 1 < end && !strchr(" \t\r\n", line[1]))
			return false;
		line = memchr(line, '\n', (size_t)(end - line));
		if (!line)
			return false;
		line++;
	}
	return end - line >= 2 && line[0] == 'p' && (line[1] == ' ' || line[1] == '\t');
}

/* The first format is the default: an input that shows no other format is an edge list. */
static const struct format formats[] = {
	{ "edgelist", "an edge list", SUFFIXES(".el", ".wel", ".txt", ".tsv", ".csv"), NULL,
	  edges_read },
	{ "mtx", "Matrix Market", SUFFIXES(".mtx"), is_mtx, mtx_read },
	{ "dimacs", "DIMACS", SUFFIXES(".gr"), is_dimacs, dimacs_read },
	{ "metis", "METIS", SUFFIXES(".graph", ".metis"), NULL, metis_read },
	{ "sg", "GAPBS .sg", SUFFIXES(".sg"), NULL, sg_read },
	{ "wsg", "GAPBS .wsg", SUFFIXES(".wsg"), NULL, wsg_read },
	{ "ldbc", "LDBC Graphalytics", SUFFIXES(".properties", ".v", ".e"), NULL,
	  ldbc_read },
	{ "bvgraph", "BVGraph", SUFFIXES(".graph", ".properties"), NULL, bvgraph_read },
	{ "ascii", "WebGraph's ASCII", SUFFIXES(".graph-txt"), NULL, ascii_read },
	{ "raw", "raw edges", SUFFIXES(".raw", ".bin"), NULL, raw_read },
};

const char *const *format_names(void)
{
	static const char *const name[] = { "edgelist", "mtx",	   "dimacs", "metis", "sg",
					    "wsg",	"ldbc",	   "bvgraph", "ascii", "raw",
					    NULL };

	_Static_assert(ARRAY_LEN(name) == ARRAY_LEN(formats) + 1, "a name for each");
	return name;
}

mill_err format_find(const struct format **out, const char *name)
{
	char all[256];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (!strcmp(name, formats[i].name)) {
			*out = &formats[i];
			return MILL_OK;
		}
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "",
				      formats[i].name);
	}
	return fail(MILL_EUSAGE, "there is no format \"%s\": there are %s", name, all);
}

/* ---- Suffixes ---- */

static size_t without(const char *path, size_t n, const char *suffix)
{
	size_t k = strlen(suffix);

	return n > k && !memcmp(path + n - k, suffix, k) ? n - k : 0;
}

static size_t without_packing(const char *path)
{
	static const char *const packing[] = { ".gz", ".zst", ".bz2", NULL };
	size_t n = strlen(path);

	for (size_t i = 0; packing[i]; i++)
		if (without(path, n, packing[i]))
			return without(path, n, packing[i]);
	return n;
}

size_t path_stem(const char *path, const char *const *suffix)
{
	size_t n = without_packing(path);

	for (; *suffix; suffix++)
		if (without(path, n, *suffix))
			return without(path, n, *suffix);
	return 0;
}

static const struct format *by_name(const char *name)
{
	const struct format *f = NULL;

	return format_find(&f, name) ? NULL : f;
}

/*
 * An .e file alone may be any edge list. It belongs to LDBC if its .v or .properties file is in
 * the same folder.
 */
static mill_err is_ldbc(bool *found, const char *path)
{
	static const char *const beside[] = { ".properties", ".v" };
	size_t stem = path_stem(path, SUFFIXES(".properties", ".v", ".e"));
	char *name;

	*found = false;
	for (size_t i = 0; stem && i < ARRAY_LEN(beside) && !*found; i++) {
		TRY(memory_printf(&name, NULL, "%.*s%s", (int)stem, path, beside[i]));
		*found = path_exists(name);
		memory_free(name);
	}
	return MILL_OK;
}

static mill_err choose(const struct format **out, struct reader *r)
{
	const char *head, *path = r->path;
	u64 size;
	size_t stem;
	bool is = false;

	if (r->k->how->format)
		return format_find(out, r->k->how->format);
	TRY(input_peek(r->in, &head, &size));
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (formats[i].sniff && formats[i].sniff(head, size)) {
			*out = &formats[i];
			return MILL_OK;
		}
	stem = path_stem(path, SUFFIXES(".graph", ".properties"));
	if (stem)
		TRY(bvgraph_is(&is, path, stem));
	if (is) {
		*out = by_name("bvgraph");
		return MILL_OK;
	}
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (path_stem(path, formats[i].suffix)) {
			*out = &formats[i];
			if (formats[i].read != ldbc_read)
				return MILL_OK;
			TRY(is_ldbc(&is, path));
			if (is)
				return MILL_OK;
		}
	*out = &formats[0];
	return MILL_OK;
}

/*
 * Returns whether the graph of this file has been read: all files of an LDBC graph or a BVGraph
 * may be given, and the first one reads the graph.
 */
static bool is_repeated(const struct intake *k, const struct format *f, const char *path)
{
	size_t stem = path_stem(path, f->suffix);

	if (f->read != ldbc_read && f->read != bvgraph_read)
		return false;
	for (size_t i = 0; i < k->how->n_inputs && k->how->input[i] != path; i++)
		if (stem && path_stem(k->how->input[i], f->suffix) == stem &&
		    !memcmp(k->how->input[i], path, stem))
			return true;
	return false;
}

mill_err format_read(struct intake *k, const char *path)
{
	struct reader r = { .k = k, .path = path };
	const struct format *f = NULL;
	mill_err err;

	TRY(input_open(&r.in, path, builder_budget(k->b)));
	err = choose(&f, &r);
	if (!err && !is_repeated(k, f, path)) {
		k->out->format = f->name;
		if (f->read != edges_read && f->read != ldbc_read &&
		    (k->how->weight_column || k->how->weight_name))
			err = fail(MILL_EUSAGE,
				   "%s is %s: only edge lists have columns of weights",
				   input_name(r.in), f->shown);
		if (!err && k->how->names && f->read != edges_read)
			err = fail(MILL_EUSAGE, "%s is %s: only edge lists have names",
				   input_name(r.in), f->shown);
		if (!err)
			err = f->read(&r);
	}
	scan_release(&r.scan);
	memory_free(r.edge);
	input_close(r.in);
	return err;
}
