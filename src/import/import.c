/* SPDX-License-Identifier: Apache-2.0 */
/* The public calls that make stores. */
#include "import/builder.h"
#include "import/generate.h"
#include "import/text.h"

#include <string.h>

static mill_err check_import(const struct mill_import *how)
{
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
	if (how->weight_type && !how->weight_column)
		return fail(MILL_EUSAGE, "a weight type without a column of weights");
	if (how->weight_type > MILL_WEIGHT_F64 || how->dedup > MILL_DEDUP_ERROR ||
	    how->loops > MILL_LOOPS_ERROR)
		return fail(MILL_EUSAGE, "an option of import is none of its values");
	return MILL_OK;
}

static mill_err read_inputs(struct builder *b, const struct mill_import *how)
{
	struct text t = {
		.weight_column = how->weight_column,
		.weight_type = how->weight_type,
		.refuse_loops = how->loops == MILL_LOOPS_ERROR,
	};
	mill_err err;

	TRY(text_init(&t));
	for (size_t i = 0; i < how->n_inputs; i++) {
		err = text_read(&t, b, how->input[i]);
		if (err) {
			text_release(&t);
			return err;
		}
	}
	builder_set_weight(b, text_weight(&t));
	builder_set_fingerprint(b, text_fingerprint(&t));
	return MILL_OK;
}

/* What shaped the graph, without names of files: the same input gives the same bytes. */
static mill_err describe(char **out, const struct mill_import *how)
{
	static const char *const dedup[] = { "",
					     " --dedup first",
					     " --dedup min",
					     " --dedup max",
					     " --dedup sum",
					     " --dedup error" };
	static const char *const loops[] = { "", " --loops drop", " --loops error" };

	return memory_printf(out, NULL, "import%s%s%s",
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
		.weight = how->weight_column ? MILL_WEIGHT_F64 : MILL_WEIGHT_NONE,
	};
	struct builder *b = NULL;
	char *origin;
	mill_err err;

	TRY(check_import(how));
	TRY(describe(&origin, how));
	o.origin = origin;
	err = builder_new(&b, &o);
	if (!err)
		err = read_inputs(b, how);
	if (!err) {
		err = builder_finish(b, out);
		b = NULL;
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
	static const char *const name[] = { "edgelist", "edgelist.gz", NULL };

	return name;
}
