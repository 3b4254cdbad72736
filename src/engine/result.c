/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a run: adds columns and facts, hashes them, and gives them out as values
 * and files, always by ascending original id.
 *
 * Isolated vertices have no state. They are numbered last, vectors by vertex have
 * store->n_linked elements, and the output gives isolated vertices the value that they must
 * have. A column of ids holds ranks among the linked vertices. Formulas count all vertices:
 * store->vertices.
 */
#include "engine/result.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/number.h"
#include "store/names.h"

#define ROWS 8192	/* number of vertices handled at a time */

/* Returns true if the name is in a list that ends with NULL. */
static inline bool is_among(const char *const *name, const char *wanted)
{
	while (name && *name && strcmp(*name, wanted))
		name++;
	return name && *name;
}

void run_column(struct mill_run *r, const char *name, enum mill_type type, struct vec *v, u64 none,
		u64 isolated)
{
	assert(r->result.n_columns < RUN_COLUMNS && (!r->row || is_among(r->row->column, name)));
	r->result.column[r->result.n_columns++] = (struct result_column){
		.column = { .name = name, .type = type, .none = none },
		.vec = v,
		.isolated = isolated,
	};
}

static void add_fact(struct mill_run *r, struct mill_fact fact)
{
	assert(r->result.n_facts < RUN_FACTS && (!r->row || is_among(r->row->fact, fact.name)));
	r->result.fact[r->result.n_facts++] = fact;
}

void run_fact(struct mill_run *r, const char *name, u64 value)
{
	add_fact(r, (struct mill_fact){ .name = name, .type = MILL_TYPE_U64, .u64 = value });
}

void run_fact_real(struct mill_run *r, const char *name, f64 value)
{
	add_fact(r, (struct mill_fact){ .name = name, .type = MILL_TYPE_F64, .f64 = value });
}

mill_err run_fact_id(struct mill_run *r, const char *name, vid v)
{
	u64 id;

	TRY(store_id(r->store, v, &id));
	add_fact(r, (struct mill_fact){ .name = name, .type = MILL_TYPE_ID, .u64 = id });
	return MILL_OK;
}

/* ---- Values ---- */

/*
 * Returns element v of a column as 8 bytes: integers widened ("none" too), floats as a
 * double's bits.
 */
static u64 wide(const struct result_column *c, const void *data, u64 v)
{
	f64 real = 0;
	u64 bits;

	switch (c->column.type) {
	case MILL_TYPE_U32:
	case MILL_TYPE_ID:
		return ((const u32 *)data)[v];
	case MILL_TYPE_U64:
		if (c->vec->size == sizeof(u64))
			return ((const u64 *)data)[v];
		bits = ((const u32 *)data)[v];	/* distances that fit 32 bits */
		return bits == UINT32_MAX ? UINT64_MAX : bits;
	case MILL_TYPE_F32:
		real = ((const f32 *)data)[v];
		break;
	case MILL_TYPE_F64:
		real = c->scale != 0 ? (f64)((const u64 *)data)[v] * c->scale
				     : ((const f64 *)data)[v];
		break;
	}
	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

static bool is_chosen(const struct mill_run *r, u64 v)
{
	u64 low = 0, high = r->result.n_chosen;

	while (low < high) {
		u64 middle = low + (high - low) / 2;

		if (r->result.chosen[middle] == v)
			return true;
		if (r->result.chosen[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Returns the value of vertex v. rank: its rank among all vertices. data: the column's elements. */
static u64 value_of(const struct mill_run *r, const struct result_column *c, const void *data,
		    u64 v, u64 rank)
{
	u64 bits;

	if (v < r->store->n_linked) {
		bits = wide(c, data, v);
		return c->column.type == MILL_TYPE_ID && r->result.rank_of &&
				       bits < r->store->n_linked
			       ? r->result.rank_of[bits]
			       : bits;
	}
	bits = is_chosen(r, v) ? c->chosen : c->isolated;
	return bits == OWN_RANK ? rank : bits;
}

/* Walks the vertices in ascending order of their ids, a buffer of them at a time. */
struct walk {
	struct mill_run *run;
	u64 at, n;		/* the next rank; the number of vertices */
	vid *order;		/* the next ROWS vertices */
	u64 *id;		/* their ids; NULL: not wanted */
};

static void walk_release(struct walk *w)
{
	memory_free(w->id);
	memory_free(w->order);
}

static mill_err walk_init(struct walk *w, struct mill_run *r, bool ids)
{
	mill_err err;

	*w = (struct walk){ .run = r, .n = r->store->vertices };
	err = memory_new(&w->order, &r->budget, ROWS, sizeof(vid), "an output buffer");
	if (ids && !err)
		err = memory_new(&w->id, &r->budget, ROWS, sizeof(u64), "an output buffer");
	if (err)
		walk_release(w);
	return err;
}

/* Reads the next *some vertices; 0 at the end. */
static mill_err walk_next(struct walk *w, u64 *some)
{
	*some = min_u64(ROWS, w->n - w->at);
	if (!*some)
		return MILL_OK;
	TRY(store_read(w->run->store, STORE_ORDER, w->order, *some * sizeof(vid),
		       w->at * sizeof(vid)));
	for (u64 i = 0; i < *some; i++)
		if (w->order[i] >= w->n)
			return fail(MILL_ECORRUPT, "%s/order: entry %llu is no vertex",
				    w->run->store->path, (unsigned long long)(w->at + i));
	if (w->id)
		TRY(store_read(w->run->store, STORE_IDS, w->id, *some * sizeof(u64),
			       w->at * sizeof(u64)));
	w->at += *some;
	return MILL_OK;
}

static mill_err hash_column(struct mill_run *r, const void *data, u64 *buffer,
			    struct checksum_stream *sum)
{
	struct walk w;
	u64 some;
	mill_err err;

	TRY(walk_init(&w, r, false));
	while (!(err = walk_next(&w, &some)) && some) {
		for (u64 i = 0; i < some; i++)
			buffer[i] = value_of(r, &r->result.column[0], data, w.order[i],
					     w.at - some + i);
		checksum_add(sum, buffer, some * sizeof(u64));
	}
	walk_release(&w);
	return err;
}

mill_err result_hash(struct mill_run *r)
{
	struct checksum_stream *sum = checksum_begin();
	void *data = NULL;
	u64 *buffer = NULL;
	mill_err err;

	if (!sum)
		return fail(MILL_ENOMEM, "no memory for a checksum");
	err = memory_new(&buffer, &r->budget, ROWS, sizeof(u64), "an output buffer");
	if (!err)
		err = vec_map(r, r->result.column[0].vec, &data);
	if (!err)
		err = hash_column(r, data, buffer, sum);
	if (data)
		vec_unmap(r->result.column[0].vec, data);
	memory_free(buffer);
	r->result.hash = checksum_end(sum);
	return err;
}

/* Returns the vector of this name, or NULL if it is not made yet. */
static struct vec *vec_named(const struct mill_run *r, const char *name)
{
	for (u32 i = 0; i < r->n_vecs; i++)
		if (!strcmp(r->vec[i]->name, name))
			return r->vec[i];
	return NULL;
}

mill_err result_ids(struct mill_run *r, const u64 **out)
{
	struct vec *ids = vec_named(r, "original ids");

	*out = NULL;
	if (store_ids_dense(r->store))
		return MILL_OK;
	if (!ids) {
		TRY(run_vec_host(r, &ids, "original ids", r->store->vertices, sizeof(u64)));
		TRY(store_read(r->store, STORE_IDS, ids->buffer.host, ids->buffer.size, 0));
	}
	*out = ids->buffer.host;
	return MILL_OK;
}

u64 result_ids_bytes(const struct store *st)
{
	return store_ids_dense(st) ? 0 : st->vertices * sizeof(u64);
}

u64 result_ranks_bytes(const struct store *st)
{
	return st->n_linked == st->vertices ? 0 : st->n_linked * sizeof(vid);
}

/* Reads the ranks as the store has them: all vertices have edges. */
static mill_err read_all_ranks(const struct store *st, vid *to)
{
	TRY(store_read(st, STORE_RANK, to, st->vertices * sizeof(vid), 0));
	for (u64 v = 0; v < st->vertices; v++)
		if (to[v] >= st->vertices)
			return fail(MILL_ECORRUPT, "%s/rank: entry %llu is no rank", st->path,
				    (unsigned long long)v);
	return MILL_OK;
}

/* Numbers the vertices that have edges in the order of the ids. */
static mill_err count_ranks(struct mill_run *r, vid *to, vid *rank_of)
{
	const struct store *st = r->store;
	u64 some, n = 0;
	struct walk w;
	mill_err err;

	TRY(walk_init(&w, r, false));
	while (!(err = walk_next(&w, &some)) && some)
		for (u64 i = 0; i < some; i++) {
			if (w.order[i] >= st->n_linked || n == st->n_linked)
				continue;
			rank_of[n] = (vid)(w.at - some + i);
			to[w.order[i]] = (vid)n++;
		}
	walk_release(&w);
	if (!err && n != st->n_linked)
		err = fail(MILL_ECORRUPT, "%s/order: vertices with edges are missing", st->path);
	return err;
}

mill_err result_read_ranks(struct mill_run *r, vid *to)
{
	struct vec *rank_of = vec_named(r, "ranks among all");

	if (r->store->n_linked == r->store->vertices)
		return read_all_ranks(r->store, to);
	if (!rank_of)
		TRY(run_vec_host(r, &rank_of, "ranks among all", r->store->n_linked, sizeof(vid)));
	TRY(count_ranks(r, to, rank_of->buffer.host));
	r->result.rank_of = rank_of->buffer.host;
	return MILL_OK;
}

mill_err result_ranks(struct mill_run *r, struct vec **out)
{
	struct vec *v = vec_named(r, "ranks");
	vid *rank;
	mill_err err;

	*out = v;
	if (v)
		return MILL_OK;
	TRY(run_vec(r, &v, "ranks", r->store->n_linked, sizeof(vid), NULL));
	err = vec_map(r, v, &rank);
	if (!err) {
		err = result_read_ranks(r, rank);
		if (!err && !r->device->native)
			err = device_write(&v->buffer, 0, rank, v->buffer.size);
		vec_unmap(v, rank);
	}
	if (err)
		run_vec_free(r, v);
	else
		*out = v;
	return err;
}

/* Finds the largest values. Ids ascend, so of equal values the smaller id stays. */
static mill_err find_top(struct mill_run *r, const struct result_column *c, const void *data)
{
	struct walk w;
	u64 some;
	mill_err err;

	r->result.n_top = 0;
	TRY(walk_init(&w, r, true));
	while (!(err = walk_next(&w, &some)) && some)
		for (u64 i = 0; i < some; i++) {
			u64 bits = value_of(r, c, data, w.order[i], w.at - some + i);
			u32 at = r->result.n_top;
			f64 value;

			memcpy(&value, &bits, sizeof(value));
			while (at && value > r->result.top[at - 1].value)
				at--;
			if (at == RUN_TOP)
				continue;
			if (r->result.n_top < RUN_TOP)
				r->result.n_top++;
			memmove(&r->result.top[at + 1], &r->result.top[at],
				(r->result.n_top - 1 - at) * sizeof(*r->result.top));
			r->result.top[at] = (struct mill_top){ w.id[i], value };
		}
	walk_release(&w);
	return err;
}

mill_err result_top(struct mill_run *r)
{
	const struct result_column *c = &r->result.column[0];
	mill_err err;
	void *data;

	assert(!r->row || is_among(r->row->fact, "top"));
	TRY(vec_map(r, c->vec, &data));
	err = find_top(r, c, data);
	vec_unmap(c->vec, data);
	return err;
}

/* ---- Public calls ---- */

MILL_API size_t mill_run_columns(const mill_run *r, struct mill_column *out, size_t n)
{
	u32 have = r->result.check ? r->result.n_columns : 0;

	for (u32 i = 0; i < have && i < n; i++)
		out[i] = r->result.column[i].column;
	return have;
}

/* Returns the id of a rank. ids: from result_ids. */
static u64 named_id(const struct store *st, const u64 *ids, u64 rank)
{
	return ids ? ids[rank] : st->min_id + rank;
}

static void put_value(const struct result_column *c, const struct store *st, const u64 *ids,
		      u64 bits, void *to, u64 i)
{
	f64 real;

	switch (c->column.type) {
	case MILL_TYPE_U32:
		((u32 *)to)[i] = (u32)bits;
		break;
	case MILL_TYPE_U64:
		((u64 *)to)[i] = bits;
		break;
	case MILL_TYPE_ID:
		((u64 *)to)[i] = bits == UINT32_MAX ? UINT64_MAX : named_id(st, ids, bits);
		break;
	case MILL_TYPE_F32:
		memcpy(&real, &bits, sizeof(real));
		((f32 *)to)[i] = (f32)real;
		break;
	case MILL_TYPE_F64:
		memcpy(&((f64 *)to)[i], &bits, sizeof(bits));
		break;
	}
}

MILL_API mill_err mill_run_values(mill_run *r, const char *column, bool by_internal, void *values,
				  uint64_t *id_out)
{
	const struct result_column *c = NULL;
	const u64 *ids = NULL;
	struct walk w;
	void *data;
	u64 some;
	mill_err err;

	for (u32 i = 0; r->result.check && i < r->result.n_columns; i++)
		if (!strcmp(r->result.column[i].column.name, column))
			c = &r->result.column[i];
	if (!c)
		return fail(MILL_EUSAGE, "the result has no column '%s'", column);
	if (c->column.type == MILL_TYPE_ID)
		TRY(result_ids(r, &ids));
	TRY(vec_map(r, c->vec, &data));
	err = walk_init(&w, r, id_out != NULL);
	while (!err && !(err = walk_next(&w, &some)) && some)
		for (u64 i = 0; i < some; i++) {
			u64 at = by_internal ? w.order[i] : w.at - some + i;

			put_value(c, r->store, ids,
				  value_of(r, c, data, w.order[i], w.at - some + i), values, at);
			if (id_out)
				id_out[at] = w.id[i];
		}
	walk_release(&w);
	vec_unmap(c->vec, data);
	return err;
}

/* ---- Files ---- */

enum form { FORM_TSV, FORM_CSV, FORM_NPY };

struct write_ctx {
	struct mill_run *run;
	enum form form;
	struct outfile *file;
	struct walk walk;
	void *data[RUN_COLUMNS];
	const u64 *ids;
	struct names *names;	/* NULL: ids are numbers */
	char *buffer;
};

/* The bytes of the longest row: an id and a number for each column, with separators; or names. */
#define ROW_TEXT ((RUN_COLUMNS + 1) * (NUMBER_TEXT + 1))
#define NAMED_ROW_TEXT ((RUN_COLUMNS + 1) * (NAME_FIELD_MAX + 1))

static const char *npy_type(enum mill_type t)
{
	switch (t) {
	case MILL_TYPE_U32:
		return "<u4";
	case MILL_TYPE_F32:
		return "<f4";
	case MILL_TYPE_F64:
		return "<f8";
	default:
		return "<u8";
	}
}

static mill_err write_npy_header(struct write_ctx *w)
{
	char text[1024], head[10] = "\x93NUMPY\x01";
	size_t n = 0, total;

	n += (size_t)snprintf(text, sizeof(text), "{'descr': [('id', '<u8')");
	for (u32 i = 0; i < w->run->result.n_columns; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, ", ('%s', '%s')",
				      w->run->result.column[i].column.name,
				      npy_type(w->run->result.column[i].column.type));
	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "], 'fortran_order': False, 'shape': (%llu,), }",
			      (unsigned long long)w->run->store->vertices);
	total = (size_t)round_up(sizeof(head) + n + 1, 64);
	memset(text + n, ' ', total - sizeof(head) - n);
	text[total - sizeof(head) - 1] = '\n';
	head[8] = (char)((total - sizeof(head)) & 0xff);
	head[9] = (char)((total - sizeof(head)) >> 8);
	TRY(outfile_write(w->file, head, sizeof(head)));
	return outfile_write(w->file, text, total - sizeof(head));
}

/* Returns true for a search, which may leave vertices without a value. */
static bool is_search(const struct mill_run *r)
{
	const char *name = r->result.column[0].column.name;

	return !strcmp(name, "depth") || !strcmp(name, "distance");
}

static mill_err write_header(struct write_ctx *w)
{
	char separator = w->form == FORM_CSV ? ',' : '\t';

	if (w->form == FORM_NPY)
		return write_npy_header(w);
	if (w->form == FORM_TSV)
		TRY(outfile_printf(w->file, "# millrace %s of %s, by original id%s\n# ",
				   w->run->algorithm, w->run->store->uuid,
				   is_search(w->run) ? "; unreached: -1, distance inf" : ""));
	TRY(outfile_printf(w->file, "id"));
	for (u32 i = 0; i < w->run->result.n_columns; i++)
		TRY(outfile_printf(w->file, "%c%s", separator,
				   w->run->result.column[i].column.name));
	return outfile_printf(w->file, "\n");
}

/* Writes the original id of a rank, or its name. A .csv has quotes where they are needed. */
static mill_err put_id(const struct write_ctx *w, u64 rank, u64 id, char **to)
{
	const char *text;
	u32 n;

	if (!w->names) {
		*to += number_put_u64(*to, id);
		return MILL_OK;
	}
	if (rank >= w->run->store->vertices)
		return fail(MILL_EBUG, "a column of ids holds %llu", (unsigned long long)rank);
	TRY(names_get(w->names, rank, &text, &n));
	if (w->form == FORM_CSV) {
		*to += name_put(*to, text, n, ",");
	} else {
		memcpy(*to, text, n);
		*to += n;
	}
	return MILL_OK;
}

static size_t put_text(const struct result_column *c, u64 bits, char *to)
{
	f64 real;

	switch (c->column.type) {
	case MILL_TYPE_U32:
		if (bits == c->column.none)
			break;
		return number_put_u64(to, bits);
	case MILL_TYPE_U64:
		if (bits != c->column.none)
			return number_put_u64(to, bits);
		memcpy(to, "inf", 3);
		return 3;
	case MILL_TYPE_ID:	/* this is "none": put_id writes the others */
		break;
	case MILL_TYPE_F32:
		memcpy(&real, &bits, sizeof(real));
		return number_put_f32(to, (f32)real);
	case MILL_TYPE_F64:
		memcpy(&real, &bits, sizeof(real));
		return number_put_f64(to, real);
	}
	memcpy(to, "-1", 2);
	return 2;
}

static mill_err put_row(const struct write_ctx *w, u64 i, u64 rank, char **to)
{
	const struct mill_run *r = w->run;
	char *p = *to, separator = w->form == FORM_CSV ? ',' : '\t';

	if (w->form == FORM_NPY) {
		memcpy(p, &w->walk.id[i], sizeof(u64));
		p += sizeof(u64);
	} else {
		TRY(put_id(w, rank, w->walk.id[i], &p));
	}
	for (u32 j = 0; j < r->result.n_columns; j++) {
		const struct result_column *c = &r->result.column[j];
		u64 bits = value_of(r, c, w->data[j], w->walk.order[i], rank), packed[1];

		if (w->form == FORM_NPY) {
			size_t size = npy_type(c->column.type)[2] == '4' ? 4 : 8;

			put_value(c, r->store, w->ids, bits, packed, 0);
			memcpy(p, packed, size);
			p += size;
		} else {
			*p++ = separator;
			if (c->column.type == MILL_TYPE_ID && bits != UINT32_MAX)
				TRY(put_id(w, bits, named_id(r->store, w->ids, bits), &p));
			else
				p += put_text(c, bits, p);
		}
	}
	if (w->form != FORM_NPY)
		*p++ = '\n';
	*to = p;
	return MILL_OK;
}

static mill_err write_rows(struct write_ctx *w)
{
	u64 some;

	TRY(write_header(w));
	for (;;) {
		char *p = w->buffer;

		TRY(walk_next(&w->walk, &some));
		if (!some)
			return MILL_OK;
		for (u64 i = 0; i < some; i++) {
			TRY(put_row(w, i, w->walk.at - some + i, &p));
			if (p - w->buffer > (i64)(64 * KIB)) {
				TRY(outfile_write(w->file, w->buffer, (u64)(p - w->buffer)));
				p = w->buffer;
			}
		}
		TRY(outfile_write(w->file, w->buffer, (u64)(p - w->buffer)));
		TRY(ticker_tick(&w->run->ticker, w->walk.at));
	}
}

static mill_err choose_form(enum form *out, const char *path)
{
	const char *dot = strrchr(path, '.');

	if (!strcmp(path, "-") || (dot && !strcmp(dot, ".tsv")))
		*out = FORM_TSV;
	else if (dot && !strcmp(dot, ".csv"))
		*out = FORM_CSV;
	else if (dot && !strcmp(dot, ".npy"))
		*out = FORM_NPY;
	else
		return fail(MILL_EUSAGE, "%s: results are written as .tsv, .csv or .npy", path);
	return MILL_OK;
}

static mill_err write_result(struct write_ctx *w, const char *path)
{
	struct mill_run *r = w->run;
	mill_err err;

	for (u32 i = 0; i < r->result.n_columns; i++) {
		TRY(vec_map(r, r->result.column[i].vec, &w->data[i]));
		if (r->result.column[i].column.type == MILL_TYPE_ID)
			TRY(result_ids(r, &w->ids));
	}
	if (r->store->named && w->form != FORM_NPY)
		TRY(names_open(&w->names, r->store, &r->budget, budget_left(&r->budget) / 2));
	TRY(memory_new(&w->buffer, &r->budget,
		       64 * KIB + 2 * (w->names ? NAMED_ROW_TEXT : ROW_TEXT), 1,
		       "an output buffer"));
	TRY(outfile_open(&w->file, path));
	ticker_begin(&r->ticker, "write", "vertices", r->store->vertices);
	err = write_rows(w);
	if (err)
		outfile_abandon(w->file);
	else
		err = outfile_commit(w->file);
	return err;
}

MILL_API mill_err mill_run_write(mill_run *r, const char *path)
{
	struct write_ctx w = { .run = r };
	f64 began = clock_now(), traced;
	mill_err err;

	if (!r->result.check)
		return fail(MILL_EUSAGE, "there is no result to write");
	TRY(choose_form(&w.form, path));
	ticker_init(&r->ticker, &r->options.watcher);
	trace_use(r->trace);
	traced = trace_begin();
	TRY(walk_init(&w.walk, r, true));
	err = write_result(&w, path);
	trace_end(traced, "output", NULL, 0);
	for (u32 i = 0; i < r->result.n_columns; i++)
		if (w.data[i])
			vec_unmap(r->result.column[i].vec, w.data[i]);
	memory_free(w.buffer);
	names_close(w.names);
	walk_release(&w.walk);
	r->ledger.output += clock_now() - began;
	return err;
}
