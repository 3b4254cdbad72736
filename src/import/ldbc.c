/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads graphs of LDBC Graphalytics. NAME.properties says whether the graph is directed, which
 * files hold its vertices (an id per line) and its edges (two ids and their properties), and how
 * many of each there are. The user may name any of these files.
 */
#include <string.h>
#include <strings.h>

#include "base/fault.h"
#include "base/file.h"
#include "import/format.h"
#include "import/properties.h"

static const char *const suffixes[] = { ".properties", ".v", ".e", NULL };

struct ldbc {
	struct properties p; /* empty if there is no such file */
	bool directed;
	u32 weight_column; /* 0: none */
	char *vertices, *edges;
};

/* Makes the path of the file of that name in the input's folder. */
static mill_err beside(struct reader *r, char **out, const char *name)
{
	const char *slash = strrchr(r->path, '/');
	int n = slash ? (int)(slash - r->path) + 1 : 0;

	if (strchr(name, '/'))
		return fail(MILL_EINPUT, "%s: \"%.80s\" is not the name of a file in its folder",
			    r->path, name);
	return memory_printf(out, builder_budget(r->k->b), "%.*s%s", n, r->path, name);
}

static mill_err find_file(struct reader *r, const struct ldbc *g, char **out,
			  const char *key, const char *suffix)
{
	const char *name = g->p.text ? properties_get(&g->p, key) : NULL;
	size_t stem = path_stem(r->path, suffixes);

	if (name)
		return beside(r, out, name);
	return memory_printf(out, builder_budget(r->k->b), "%.*s%s", (int)stem, r->path,
			     suffix);
}

static mill_err read_direction(struct ldbc *g)
{
	const char *value = properties_get(&g->p, ".directed");

	if (!value)
		return fail(MILL_EINPUT, "%s does not say whether the graph is directed",
			    g->p.name);
	if (strcasecmp(value, "true") && strcasecmp(value, "false"))
		return fail(MILL_EINPUT, "%s: directed is \"%.40s\", not true or false",
			    g->p.name, value);
	g->directed = !strcasecmp(value, "true");
	return MILL_OK;
}

/*
 * Finds the column of the weight. Edge properties are the columns from the third on; the weight
 * is the one that the user names, else the first.
 */
static mill_err find_weight(struct reader *r, struct ldbc *g)
{
	const struct mill_import *how = r->k->how;
	const char *names = properties_get(&g->p, ".edge-properties.names");
	const char *wanted = how->weight_name;
	u32 column = 3;

	if (how->weight_column || !names)
		names = "";
	for (; *names; column++) {
		size_t n = strcspn(names, ", \t");

		if (wanted ? strlen(wanted) == n && !strncmp(wanted, names, n) : column == 3)
			g->weight_column = column;
		names += n;
		names += strspn(names, ", \t");
	}
	if (wanted && !g->weight_column)
		return fail(MILL_EUSAGE, "%s: no property of its edges is called \"%s\"",
			    g->p.name, wanted);
	if (how->weight_column)
		g->weight_column = how->weight_column;
	return MILL_OK;
}

static mill_err find_all(struct reader *r, struct ldbc *g)
{
	struct budget *budget = builder_budget(r->k->b);
	size_t stem = path_stem(r->path, suffixes);
	char *path;
	mill_err err = MILL_OK;

	g->directed = true;
	if (!stem)
		return fail(MILL_EUSAGE,
			    "%s: the files of an LDBC graph end with .properties, .v and .e",
			    r->path);
	TRY(memory_printf(&path, budget, "%.*s.properties", (int)stem, r->path));
	if (path_exists(path))
		err = properties_read(&g->p, path, budget);
	else if (r->k->how->weight_name)
		err = fail(MILL_EUSAGE, "%s is missing, and weights have no names without it",
			   path);
	else
		g->weight_column = r->k->how->weights == MILL_WEIGHTS_AUTO
					   ? 3
					   : r->k->how->weight_column;
	memory_free(path);
	if (!err && g->p.text)
		err = read_direction(g);
	if (!err && g->p.text)
		err = find_weight(r, g);
	if (!err)
		err = find_file(r, g, &g->vertices, ".vertex-file", ".v");
	if (!err)
		err = find_file(r, g, &g->edges, ".edge-file", ".e");
	return err;
}

static mill_err check_count(const struct ldbc *g, const char *key, u64 n, const char *path)
{
	u64 claimed;

	if (!g->p.text)
		return MILL_OK;
	TRY(properties_u64(&g->p, key, n, UINT64_MAX, &claimed));
	if (claimed == n)
		return MILL_OK;
	return fail(MILL_EINPUT, "%s:%llu: the file has this many lines, but %s says %llu", path,
		    (unsigned long long)n, g->p.name, (unsigned long long)claimed);
}

static mill_err read_vertices(struct reader *r, u64 *n)
{
	struct scan *s = &r->scan;
	u64 id[1024], k = 0;

	TRY(reader_scan(r, false));
	for (*n = 0; scan_next_line(s, '#') != SCAN_END; ++*n) {
		TRY(scan_u64(s, &id[k++], "a vertex id"));
		TRY(scan_skip_line(s)); /* properties of the vertex */
		if (k < ARRAY_LEN(id))
			continue;
		TRY(builder_add_vertices(r->k->b, id, k));
		TRY(ticker_tick(builder_ticker(r->k->b), input_done(r->in)));
		k = 0;
	}
	TRY(s->err);
	return builder_add_vertices(r->k->b, id, k);
}

/* ---- Edges between known vertices ---- */

#define ID_BYTES 32u	/* most bytes per id while a set of ids is made */

struct gather_ctx {
	u64 *id;
	u64 n, room;
};

static mill_err keep_id(struct gather_ctx *g, u64 id, struct budget *budget)
{
	u64 room = 2 * g->room + 1024, *more;

	if (g->n == g->room) {
		TRY(memory_new(&more, budget, room, sizeof(*more), "the vertices"));
		if (g->n)
			memcpy(more, g->id, g->n * sizeof(*more));
		memory_free(g->id);
		g->id = more;
		g->room = room;
	}
	g->id[g->n++] = id;
	return MILL_OK;
}

/*
 * Reads the ids of the vertices that belong to the set of k. The caller must release k->ids even
 * if this fails.
 */
static mill_err gather_known(struct reader *r, struct known_ids *k)
{
	struct budget *budget = builder_budget(r->k->b);
	struct gather_ctx g = { .n = 0 };
	struct scan s = { .in = NULL };
	struct input *in;
	mill_err err;
	u64 id;

	TRY(input_open(&in, k->from, budget));
	err = scan_init(&s, in, false, budget);
	while (!err && scan_next_line(&s, '#') != SCAN_END) {
		err = scan_u64(&s, &id, "a vertex id");
		if (!err && known_covers(k, id))
			err = keep_id(&g, id, budget);
		if (!err)
			err = scan_skip_line(&s);
	}
	err = err ? err : s.err;
	scan_release(&s);
	input_close(in);
	if (err)
		memory_free(g.id);
	else
		err = ids_from_list(&k->ids, budget, builder_pool(r->k->b), g.id, g.n);
	return err;
}

/* Reads the edges, and checks that their vertices of this set exist. only_check: adds no edge. */
static mill_err read_set(struct reader *r, const struct ldbc *g, u64 set, u64 n_sets,
			 bool only_check)
{
	struct known_ids k = { .set = set, .n_sets = n_sets, .from = g->vertices };
	struct text *t = &r->k->text, check = *t;
	mill_err err;

	if (only_check) {
		check.only_check = true;
		check.weight_column = 0;
		t = &check;
	}
	input_close(r->in);
	r->in = NULL;
	TRY(input_open(&r->in, g->edges, builder_budget(r->k->b)));
	err = gather_known(r, &k);
	t->known = &k;
	if (!err)
		err = text_read(t, r->k->b, r->in);
	t->known = NULL;
	ids_release(&k.ids);
	return err;
}

/*
 * Reads the edges. Every vertex of an edge must be in the file of vertices. If there are too many
 * vertices to keep them in memory beside the edges, they are divided into sets, and the file of
 * edges is checked against each set before it is read.
 */
static mill_err read_edges(struct reader *r, const struct ldbc *g, u64 n_vertices)
{
	u64 limit = builder_budget(r->k->b)->limit, n_sets;

	if (n_vertices <= limit / 8 / ID_BYTES && !fault_hold())
		return read_set(r, g, 0, 1, false);
	n_sets = fault_hold() ? 3 : div_up(n_vertices, max_u64(1, limit / 4 / ID_BYTES));
	for (u64 i = 0; i < n_sets; i++)
		TRY(read_set(r, g, i, n_sets, true));
	input_close(r->in);
	r->in = NULL;
	TRY(input_open(&r->in, g->edges, builder_budget(r->k->b)));
	return text_read(&r->k->text, r->k->b, r->in);
}

static mill_err read_files(struct reader *r, struct ldbc *g)
{
	struct budget *budget = builder_budget(r->k->b);
	struct intake *k = r->k;
	u64 n, before = k->text.n_edges;

	TRY(find_all(r, g));
	input_close(r->in);
	r->in = NULL;
	TRY(input_open(&r->in, g->edges, budget));
	k->text.weight_column = k->how->weights == MILL_WEIGHTS_NONE ? 0 : g->weight_column;
	TRY(reader_settle(r, g->directed ? HEADER_DIRECTED : HEADER_UNDIRECTED,
			  g->weight_column != 0, true));
	if (r->mirror)
		return fail(MILL_EUSAGE,
			    "%s says that the graph is undirected: leave out --directed",
			    g->p.name);
	input_close(r->in);
	r->in = NULL;
	TRY(input_open(&r->in, g->vertices, budget));
	TRY(read_vertices(r, &n));
	TRY(check_count(g, ".meta.vertices", n, g->vertices));

	TRY(read_edges(r, g, n));
	return check_count(g, ".meta.edges", k->text.n_edges - before, g->edges);
}

mill_err ldbc_read(struct reader *r)
{
	struct ldbc g = { .directed = true };
	mill_err err = read_files(r, &g);

	properties_release(&g.p);
	memory_free(g.vertices);
	memory_free(g.edges);
	return err;
}
