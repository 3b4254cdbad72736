/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the vertices that users name; sources.h has the contract. */
#include "engine/sources.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "store/names.h"

#define DEGREES 8192	/* number of degrees or vertices read at a time */

/* Finds the vertex of the largest out-degree; of several, the one with the smallest id. */
static mill_err largest_degree(struct mill_run *r, vid *out)
{
	u64 n = r->store->sources;
	u32 best = 0, *degree;
	vid best_rank = 0, *rank = NULL;
	mill_err err;

	TRY(memory_new(&degree, &r->budget, DEGREES, sizeof(*degree), "degrees"));
	err = memory_new(&rank, &r->budget, DEGREES, sizeof(*rank), "ranks");
	for (u64 at = 0; !err && at < n; at += DEGREES) {
		u64 some = min_u64(DEGREES, n - at);

		err = store_read(r->store, STORE_OUT_DEGREES, degree, some * sizeof(u32),
				 at * sizeof(u32));
		if (!err)
			err = store_read(r->store, STORE_RANK, rank, some * sizeof(vid),
					 at * sizeof(vid));
		for (u64 i = 0; !err && i < some; i++)
			if (degree[i] > best || (degree[i] == best && rank[i] < best_rank)) {
				best = degree[i];
				best_rank = rank[i];
				*out = (vid)(at + i);
			}
	}
	memory_free(rank);
	memory_free(degree);
	return err;
}

/* Finds the i-th vertex with out-edges by ascending id, for any order of the vertices. */
static mill_err source_by_id(struct mill_run *r, u64 i, vid *out)
{
	u64 n = r->store->vertices;
	bool found = false;
	vid *order;
	mill_err err = MILL_OK;

	TRY(memory_new(&order, &r->budget, DEGREES, sizeof(*order), "vertices"));
	for (u64 at = 0; !err && !found && at < n; at += DEGREES) {
		u64 some = min_u64(DEGREES, n - at);

		err = store_read(r->store, STORE_ORDER, order, some * sizeof(vid),
				 at * sizeof(vid));
		for (u64 k = 0; !err && !found && k < some; k++)
			if (order[k] < r->store->sources && !i--) {
				*out = order[k];
				found = true;
			}
	}
	memory_free(order);
	if (!err && !found)
		err = fail(MILL_ECORRUPT, "%s/order: sources are missing", r->store->path);
	return err;
}

mill_err run_source(struct mill_run *r, const char *text, vid *out)
{
	bool chosen = !text || !strcmp(text, "random"), is_id;

	if (chosen || !strcmp(text, "max-degree")) {
		if (!r->store->sources)
			return fail(MILL_EUSAGE, "%s has no edges: name the source by its id",
				    r->store->path);
		if (!chosen)
			return largest_degree(r, out);
		return source_by_id(r, random_below(r->options.seed, 0, r->store->sources), out);
	}
	TRY(names_vertex(r->store, text, strlen(text), out, &is_id));
	if (!is_id)
		return fail(MILL_EUSAGE, "source '%s' is neither an id nor random nor max-degree",
			    text);
	if (*out == NO_VERTEX)
		return fail(MILL_EUSAGE, "source %s is not a vertex of %s", text, r->store->path);
	return MILL_OK;
}

/* ---- Ids and files of ids ---- */

#define FILE_MOST (64 * MIB)

struct name_ctx {
	struct mill_run *run;
	const char *where;	/* the option, or the file */
	u64 line;		/* 0: the option */
	mill_err (*take)(void *arg, vid v);
	void *arg;
};

static mill_err take_id(struct name_ctx *n, const char *text, const char *end)
{
	int length = (int)min_u64((u64)(end - text), 80);	/* as shown in errors */
	char where[32] = "";
	bool is_id;
	vid v;

	if (n->line)
		snprintf(where, sizeof(where), ":%llu", (unsigned long long)n->line);
	TRY(names_vertex(n->run->store, text, (size_t)(end - text), &v, &is_id));
	if (!is_id)
		return fail(n->line ? MILL_EINPUT : MILL_EUSAGE, "%s%s: '%.*s' is not an id",
			    n->where, where, length, text);
	if (v == NO_VERTEX)
		return fail(MILL_EUSAGE, "%s%s: %.*s is not a vertex of %s", n->where, where,
			    length, text, n->run->store->path);
	return n->take(n->arg, v);
}

static mill_err take_lines(struct name_ctx *n, const char *text, u64 size)
{
	const char *stop = text + size;

	for (n->line = 1; text < stop; n->line++) {
		const char *newline = memchr(text, '\n', (size_t)(stop - text));
		const char *next = newline ? newline + 1 : stop, *end = newline ? newline : stop;

		while (text < end && (*text == ' ' || *text == '\t'))
			text++;
		while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
			end--;
		if (text < end && *text != '#')
			TRY(take_id(n, text, end));
		text = next;
	}
	return MILL_OK;
}

static mill_err take_file(struct name_ctx *n)
{
	struct file f = FILE_CLOSED;
	char *text = NULL;
	mill_err err;
	u64 size;

	TRY(file_open(&f, -100 /* AT_FDCWD */, n->where, FILE_READ, NULL));
	err = file_size(&f, &size);
	if (!err && size > FILE_MOST)
		err = fail(MILL_ELIMIT, "%s is larger than 64 MiB of ids", n->where);
	if (!err)
		err = memory_new(&text, &n->run->budget, size + 1, 1, n->where);
	if (!err)
		err = file_read_at(&f, text, size, 0);
	if (!err)
		err = take_lines(n, text, size);
	memory_free(text);
	file_close(&f);
	return err;
}

mill_err each_vertex(struct mill_run *r, const char *text, const char *option,
		     mill_err (*take)(void *arg, vid v), void *arg)
{
	struct name_ctx n = {
		.run = r, .where = text[0] == '@' ? text + 1 : option, .take = take, .arg = arg
	};

	return text[0] == '@' ? take_file(&n) : take_id(&n, text, text + strlen(text));
}

/* ---- Lists of sources ---- */

#define RANDOM "random:"

bool sources_are_all(const char *text) { return text && !strcmp(text, "all"); }

static bool is_random(const char *text) { return !strncmp(text, RANDOM, strlen(RANDOM)); }

mill_err sources_count(const struct mill_run *r, const char *text, u64 *out)
{
	struct file f = FILE_CLOSED;
	mill_err err;
	u64 size;

	*out = 1;
	if (!text)
		return MILL_OK;
	if (sources_are_all(text)) {
		*out = r->store->vertices;
	} else if (is_random(text)) {
		text += strlen(RANDOM);
		if (!number_u64(out, text, text + strlen(text)) || !*out)
			return fail(MILL_EUSAGE, "--sources random:%s: K must be a number above 0",
				    text);
		if (*out > r->store->sources)
			return fail(MILL_EUSAGE,
				    "--sources random:%s: only %llu vertices of %s have out-edges",
				    text, (unsigned long long)r->store->sources, r->store->path);
	} else if (text[0] == '@') {
		TRY(file_open(&f, -100 /* AT_FDCWD */, text + 1, FILE_READ, NULL));
		err = file_size(&f, &size);
		file_close(&f);
		if (err)
			return err;
		/* A line has at least a digit and a newline. */
		*out = min_u64(size / 2 + 1, r->store->vertices);
	} else {
		for (; *text; text++)
			*out += *text == ',';
	}
	return MILL_OK;
}

/* While a list is made, the list of the last call still exists; a bitmap marks the new sources. */
u64 sources_bytes(const struct store *st, u64 n)
{
	return 2 * min_u64(n, st->n_linked) * sizeof(vid) +
	       bitmap_words(st->vertices) * sizeof(u64) + 2 * DEGREES * sizeof(u32);
}

struct list_ctx {
	struct mill_run *run;
	vid *list;
	u64 n, room;
	u64 isolated;		/* number of sources without an edge */
	vid last_isolated;	/* the last of them */
	/*
	 * Bits of the sources: by vertex, or for random ones by number among vertices with
	 * out-edges.
	 */
	u64 *marked;
};

static void list_source(struct list_ctx *l, vid v)
{
	if (v < l->run->store->n_linked) {
		l->list[l->n++] = v;
	} else {
		l->isolated++;
		l->last_isolated = v;
	}
}

static mill_err add_source(void *arg, vid v)
{
	struct list_ctx *l = arg;
	u64 id = 0;

	if (bitmap_get(l->marked, v)) {
		TRY(store_id(l->run->store, v, &id));
		return fail(MILL_EUSAGE, "--sources: %llu is named twice", (unsigned long long)id);
	}
	bitmap_put(l->marked, v);
	list_source(l, v);
	return MILL_OK;
}

static mill_err add_ids(struct list_ctx *l, const char *text)
{
	struct name_ctx n = { .run = l->run, .where = "--sources", .take = add_source, .arg = l };

	for (;; text++) {
		const char *end = text + strcspn(text, ",");

		TRY(take_id(&n, text, end));
		if (!*end)
			return MILL_OK;
		text = end;
	}
}

/*
 * Lists vertices in ascending order of their ids: all, or those with out-edges that have a
 * marked number.
 */
static mill_err add_by_id(struct list_ctx *l, bool all)
{
	const struct store *st = l->run->store;
	u64 n = st->vertices, number = 0;
	mill_err err = MILL_OK;
	vid *order;

	TRY(memory_new(&order, &l->run->budget, DEGREES, sizeof(*order), "vertices"));
	for (u64 at = 0; !err && at < n; at += DEGREES) {
		u64 some = min_u64(DEGREES, n - at);

		err = store_read(st, STORE_ORDER, order, some * sizeof(vid), at * sizeof(vid));
		for (u64 k = 0; !err && k < some; k++) {
			bool wanted = all;

			if (order[k] >= n)
				err = fail(MILL_ECORRUPT, "%s/order: entry %llu is no vertex",
					   st->path, (unsigned long long)(at + k));
			else if (!all && order[k] < st->sources && number < st->sources)
				wanted = bitmap_get(l->marked, number++);
			if (!err && wanted && l->n + l->isolated < l->room)
				list_source(l, order[k]);
		}
	}
	memory_free(order);
	if (!err && l->n + l->isolated != l->room)
		err = fail(MILL_ECORRUPT, "%s/order: sources are missing", st->path);
	return err;
}

/* Draws random sources. The first draw is the vertex that "random" means. */
static mill_err add_random(struct list_ctx *l)
{
	u64 sources = l->run->store->sources, seed = l->run->options.seed;

	for (u64 i = 0, n = 0; n < l->room; i++) {
		u64 number = random_below(seed, i, sources);

		if (bitmap_get(l->marked, number))
			continue;
		bitmap_put(l->marked, number);
		n++;
	}
	return add_by_id(l, false);
}

static mill_err list_sources(struct list_ctx *l, const char *text)
{
	vid v = 0;

	if (sources_are_all(text))
		return add_by_id(l, true);
	if (text && is_random(text))
		return add_random(l);
	if (text && text[0] == '@') {
		TRY(each_vertex(l->run, text, "--sources", add_source, l));
		return l->n + l->isolated ? MILL_OK
					  : fail(MILL_EUSAGE, "%s names no source", text + 1);
	}
	if (text && strcmp(text, "random") && strcmp(text, "max-degree"))
		return add_ids(l, text);
	TRY(run_source(l->run, text, &v));
	list_source(l, v);
	return MILL_OK;
}

mill_err run_sources(struct mill_run *r, const char *text)
{
	struct list_ctx l = { .run = r };
	mill_err err;

	TRY(sources_count(r, text, &l.room));
	TRY(memory_new(&l.list, &r->budget, min_u64(l.room, r->store->n_linked), sizeof(vid),
		       "the sources"));
	err = memory_new(&l.marked, &r->budget, bitmap_words(r->store->vertices), sizeof(u64),
			 "the sources");
	if (!err)
		err = list_sources(&l, text);
	memory_free(l.marked);
	if (err) {
		memory_free(l.list);
		return err;
	}
	memory_free(r->search.source);
	r->search.source = l.list;
	r->search.n_sources = l.n;
	r->search.n_isolated = l.isolated;
	r->search.isolated_source = l.last_isolated;
	return MILL_OK;
}
