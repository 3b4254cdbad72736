/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text formats: the sorted edge list and Matrix Market. ranked.h gives the lists in the order
 * of the ids.
 */
#include "store/export.h"

#include <string.h>

#include "base/number.h"
#include "store/names.h"
#include "store/ranked.h"

/*
 * Formats that have every id up to the largest: the largest id may be IDS_FREE + IDS_PER_EDGE
 * times the number of edges.
 */
#define IDS_FREE ((u64)1 << 20)
#define IDS_PER_EDGE 16u

size_t export_weight(char *to, enum mill_weight type, const void *weight, u64 k)
{
	size_t n = 0;
	i64 value;

	switch (type) {
	case MILL_WEIGHT_NONE:
		return 0;
	case MILL_WEIGHT_U32:
		return number_put_u64(to, ((const u32 *)weight)[k]);
	case MILL_WEIGHT_I32:
		value = ((const i32 *)weight)[k];
		if (value < 0)
			to[n++] = '-';
		return n + number_put_u64(to + n, (u64)(value < 0 ? -value : value));
	case MILL_WEIGHT_F32:
		return number_put_f32(to, ((const f32 *)weight)[k]);
	case MILL_WEIGHT_F64:
		return number_put_f64(to, ((const f64 *)weight)[k]);
	}
	return 0;
}

mill_err export_check_ids(const struct store *st, const char *format, u64 most)
{
	u64 limit;

	if (__builtin_mul_overflow(st->edges, (u64)IDS_PER_EDGE, &limit) ||
	    __builtin_add_overflow(limit, IDS_FREE, &limit))
		limit = UINT64_MAX;
	limit = min_u64(limit, most);
	if (!st->vertices || st->max_id <= limit)
		return MILL_OK;
	return fail(MILL_ELIMIT,
		    "%s: the largest id is %llu, and a file of format %s has all ids up to it, for "
		    "this graph at most %llu: export an edge list",
		    st->path, (unsigned long long)st->max_id, format, (unsigned long long)limit);
}

static mill_err put_named(struct exporter *x, u64 rank)
{
	char field[NAME_FIELD_MAX];
	const char *text;
	u32 n;

	TRY(names_get(x->names, rank, &text, &n));
	return outfile_write(x->out, field, name_put(field, text, n, " ,"));
}

/* Writes the edges of a list, with names. */
static mill_err put_named_list(struct exporter *x, const struct ranked_list *l)
{
	char weight[NUMBER_TEXT + 2];

	for (u64 k = 0; k < l->degree; k++) {
		size_t n = 0;

		if (!x->st->directed && l->rank > l->neighbour[k])
			continue;
		TRY(put_named(x, l->rank));
		TRY(outfile_write(x->out, " ", 1));
		TRY(put_named(x, l->neighbour[k]));
		if (x->st->weight != MILL_WEIGHT_NONE) {
			weight[n++] = ' ';
			n += export_weight(weight + n, x->st->weight, l->weight, k);
		}
		weight[n++] = '\n';
		TRY(outfile_write(x->out, weight, n));
	}
	return MILL_OK;
}

static mill_err put_edge(struct exporter *x, u64 from, u64 to, const void *weight, u64 k)
{
	char line[3 * NUMBER_TEXT + 3];
	size_t n;

	n = number_put_u64(line, from);
	line[n++] = ' ';
	n += number_put_u64(line + n, to);
	if (x->st->weight != MILL_WEIGHT_NONE) {
		line[n++] = ' ';
		n += export_weight(line + n, x->st->weight, weight, k);
	}
	line[n++] = '\n';
	return outfile_write(x->out, line, n);
}

static mill_err put_list(void *arg, const struct ranked_list *l)
{
	struct exporter *x = arg;
	u64 from = ranked_id(x->st, x->id, l->rank);

	if (x->names)
		return put_named_list(x, l);
	for (u64 k = 0; k < l->degree; k++)
		if (x->st->directed || l->rank <= l->neighbour[k])
			TRY(put_edge(x, from, ranked_id(x->st, x->id, l->neighbour[k]), l->weight,
				     k));
	return MILL_OK;
}

mill_err export_edges(struct exporter *x)
{
	u64 most = x->budget && x->budget->limit ? budget_left(x->budget) : memory_available();
	mill_err err;

	if (x->st->named)
		TRY(names_open(&x->names, x->st, x->budget, most / 4));
	err = ranked_lists(x->st, false, x->budget, x->ticker, put_list, x);
	names_close(x->names);
	return err;
}

/* Writes a row of the matrix. Of a symmetric one only the lower triangle: row id >= column id. */
static mill_err put_row(void *arg, const struct ranked_list *l)
{
	struct exporter *x = arg;
	u64 from = ranked_id(x->st, x->id, l->rank) + x->shift;

	for (u64 k = 0; k < l->degree; k++)
		if (x->st->directed || l->rank >= l->neighbour[k])
			TRY(put_edge(x, from, ranked_id(x->st, x->id, l->neighbour[k]) + x->shift,
				     l->weight, k));
	return MILL_OK;
}

mill_err export_mtx(struct exporter *x)
{
	static const char *const field[] = { "pattern", "integer", "integer", "real", "real" };
	const struct store *st = x->st;
	unsigned long long n;

	TRY(export_check_ids(st, "mtx", UINT64_MAX - 1));
	x->shift = st->vertices && !st->min_id;
	n = st->vertices ? st->max_id + x->shift : 0;
	TRY(outfile_printf(x->out, "%%%%MatrixMarket matrix coordinate %s %s\n", field[st->weight],
			   st->directed ? "general" : "symmetric"));
	if (x->shift)
		TRY(outfile_printf(x->out, "%% vertex 0 is row and column 1, and so on\n"));
	TRY(outfile_printf(x->out, "%llu %llu %llu\n", n, n, (unsigned long long)st->edges));
	return ranked_lists(st, false, x->budget, x->ticker, put_row, x);
}

static const struct {
	const char *name;
	mill_err (*write)(struct exporter *x);
	bool weighted;
} format_of[] = {
	{ "edgelist", export_edges, false },
	{ "mtx", export_mtx, false },
	{ "sg", export_sg, false },
	{ "wsg", export_sg, true },
};

/* Chooses the given format, else that of the path's suffix, else the first. */
static mill_err choose(size_t *out, const char *path, const char *format)
{
	const char *dot = strrchr(path, '.'), *name = format ? format : dot ? dot + 1 : "";

	for (*out = 0; *out < ARRAY_LEN(format_of); ++*out)
		if (!strcmp(name, format_of[*out].name))
			return MILL_OK;
	*out = 0;
	if (!format)
		return MILL_OK;
	return fail(MILL_EUSAGE,
		    "there is no format \"%s\" to export: there are edgelist, mtx, sg and wsg",
		    format);
}

mill_err store_export(const struct store *st, const char *path, const char *format,
		      struct budget *budget, struct ticker *ticker)
{
	struct exporter x = { .st = st, .budget = budget, .ticker = ticker };
	size_t which;
	mill_err err;

	TRY(choose(&which, path, format));
	x.weighted = format_of[which].weighted;
	ticker_begin(ticker, "export", "pages", st->out.n_pages);
	err = ranked_ids(st, budget, &x.id);
	if (!err)
		err = outfile_open(&x.out, path);
	if (!err)
		err = format_of[which].write(&x);
	if (err)
		outfile_abandon(x.out);
	else
		err = outfile_commit(x.out);
	memory_free(x.id);
	return err;
}
