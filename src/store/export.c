/* SPDX-License-Identifier: Apache-2.0 */
/* The sorted edge list: ranked.h gives the lists in the order of the ids. */
#include "store/export.h"

#include "base/number.h"
#include "store/ranked.h"

struct exporter {
	const struct store *st;
	struct outfile *out;
	u64 *id;		/* by rank; NULL: dense */
};

static size_t put_weight(char *to, enum mill_weight type, const void *weight, u64 k)
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

static mill_err put_edge(struct exporter *x, u64 from, u64 to, const void *weight, u64 k)
{
	char line[3 * NUMBER_TEXT + 3];
	size_t n;

	n = number_put_u64(line, from);
	line[n++] = ' ';
	n += number_put_u64(line + n, to);
	if (x->st->weight != MILL_WEIGHT_NONE) {
		line[n++] = ' ';
		n += put_weight(line + n, x->st->weight, weight, k);
	}
	line[n++] = '\n';
	return outfile_write(x->out, line, n);
}

static mill_err put_list(void *arg, const struct ranked_list *l)
{
	struct exporter *x = arg;
	u64 from = ranked_id(x->st, x->id, l->rank);

	for (u64 k = 0; k < l->degree; k++)
		if (x->st->directed || l->rank <= l->neighbour[k])
			TRY(put_edge(x, from, ranked_id(x->st, x->id, l->neighbour[k]), l->weight, k));
	return MILL_OK;
}

mill_err store_export(const struct store *st, const char *path, struct budget *budget,
		      struct ticker *ticker)
{
	struct exporter x = { .st = st };
	mill_err err;

	ticker_begin(ticker, "export", "pages", st->out.n_pages);
	err = ranked_ids(st, budget, &x.id);
	if (!err)
		err = outfile_open(&x.out, path);
	if (!err)
		err = ranked_lists(st, budget, ticker, put_list, &x);
	if (err)
		outfile_abandon(x.out);
	else
		err = outfile_commit(x.out);
	memory_free(x.id);
	return err;
}
