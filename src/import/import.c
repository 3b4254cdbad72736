/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that make stores: mill_import, mill_generate, and their lists of names. */
#include "base/checksum.h"
#include "import/builder.h"
#include "import/format.h"
#include "import/generate.h"
#include "import/namer.h"

#include <stdio.h>
#include <string.h>

static mill_err check_import(const struct mill_import *how)
{
	const struct format *format;
	size_t n_standard = 0;

	if (!how->n_inputs)
		return fail(MILL_EUSAGE, "there is nothing to import");
	for (size_t i = 0; i < how->n_inputs; i++)
		n_standard += !strcmp(how->input[i], "-");
	if (n_standard > 1)
		return fail(MILL_EUSAGE, "standard input can be read only once");
	if (how->weight_column == 1 || how->weight_column == 2)
		return fail(MILL_EUSAGE,
			    "column %u is a vertex id: weights are in column 3 or after it",
			    how->weight_column);
	if (how->weights == MILL_WEIGHTS_NONE &&
	    (how->weight_column || how->weight_name || how->weight_type))
		return fail(MILL_EUSAGE,
			    "--weights none excludes a column, a name or a type of weights");
	if (how->directed && how->undirected)
		return fail(MILL_EUSAGE, "a graph is either directed or undirected");
	if (how->base > 1 || (how->id_bits && how->id_bits != 32 && how->id_bits != 64))
		return fail(MILL_EUSAGE, "the base is 0 or 1, and ids have 32 or 64 bits");
	if (how->names && (how->base_given || how->id_bits))
		return fail(MILL_EUSAGE, "--names excludes --base and --id-bits");
	if (how->format)
		TRY(format_find(&format, how->format));
	if (how->weight_type > MILL_WEIGHT_F64 || how->dedup > MILL_DEDUP_ERROR ||
	    how->loops > MILL_LOOPS_ERROR ||
	    how->weights > MILL_WEIGHTS_AUTO)
		return fail(MILL_EUSAGE, "an option of import has a value that does not exist");
	return MILL_OK;
}

static mill_err take_edges(void *arg, const struct raw_edge *edge, u64 n)
{
	struct intake *k = arg;

	checksum_add(k->text.sum, edge, n * sizeof(*edge));
	return builder_add(k->b, edge, n);
}

/* Turns names into numbers, after all lines are read, and adds the edges to the builder. */
static mill_err settle_names(struct intake *k)
{
	struct namer *names = k->text.names;
	u64 n, sum;

	TRY(namer_settle(names, &n));
	TRY(namer_fingerprint(names, &sum));
	checksum_add(k->text.sum, &sum, sizeof(sum));
	k->text.names = NULL;
	builder_set_names(k->b, names, n);
	if (k->text.header)
		snprintf(k->out->note, sizeof(k->out->note), "the first line taken as a header");
	return namer_edges(names, take_edges, k);
}

static mill_err read_inputs(struct builder *b, const struct mill_import *how,
			    struct mill_built *out)
{
	struct intake k = {
		.how = how,
		.b = b,
		.out = out,
		.text = { .weight_type = how->weight_type,
			  .refuse_loops = how->loops == MILL_LOOPS_ERROR },
	};
	mill_err err;

	TRY(text_init(&k.text));
	err = MILL_OK;
	if (how->names)
		err = namer_new(&k.text.names, builder_budget(b), builder_pool(b),
				builder_ticker(b), builder_temp_dir(b));
	for (size_t i = 0; !err && i < how->n_inputs; i++)
		err = format_read(&k, how->input[i]);
	if (!err && how->names)
		err = settle_names(&k);
	if (err) {
		namer_free(k.text.names);
		text_release(&k.text);
		return err;
	}
	out->named = how->names;
	out->undirected = k.undirected;
	out->symmetric = k.symmetric;
	builder_set_weight(b, text_weight(&k.text));
	builder_set_fingerprint(b, text_fingerprint(&k.text));
	return MILL_OK;
}

/*
 * Describes the options that change the graph. Contains no names of files: the same input gives
 * the same bytes.
 */
static mill_err describe(char **out, const struct mill_import *how)
{
	static const char *const dedup[] = { "",
					     " --dedup first",
					     " --dedup min",
					     " --dedup max",
					     " --dedup sum",
					     " --dedup error" };
	static const char *const loops[] = { "", " --loops drop", " --loops error" };

	return memory_printf(out, NULL, "import%s%s%s%s", how->names ? " --names" : "",
			     how->undirected ? " --undirected" : "", dedup[how->dedup],
			     loops[how->loops]);
}

mill_err mill_import(struct mill_built *out, const struct mill_import *how)
{
	struct builder_options o = {
		.target = &how->target,
		.undirected = how->undirected,
		.dedup = how->dedup,
		.loops = how->loops,
	};
	struct mill_built read = { .note = "" }, built;
	struct builder *b = NULL;
	char *origin;
	mill_err err;

	TRY(check_import(how));
	TRY(describe(&origin, how));
	o.origin = origin;
	err = builder_new(&b, &o);
	if (!err)
		err = read_inputs(b, how, &read);
	if (!err) {
		err = builder_finish(b, &built);
		b = NULL;
	}
	if (!err) {
		*out = built;
		out->undirected = read.undirected;
		out->named = read.named;
		out->symmetric |= read.symmetric;
		out->format = read.format;
		memcpy(out->note, read.note, sizeof(out->note));
	}
	builder_abandon(b);
	memory_free(origin);
	return err;
}

mill_err mill_generate(struct mill_built *out, const struct mill_generate *how)
{
	return generate(out, how);
}

const char *const *mill_generators(void)
{
	return generate_kinds();
}

const char *const *mill_formats(void)
{
	return format_names();
}
