/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "cli/build.h"
#include "cli/message.h"

/* none, auto (an edge list's third column) or a column's number from 3 up: two are ids. */
static mill_err weight_column(const struct options *o, uint32_t *out)
{
	unsigned long column;
	char *end;

	*out = 0;
	if (!strcmp(o->weights, "none")) {
		if (option_given(o, "weight-type"))
			return refuse(MILL_EUSAGE,
				      "--weight-type needs --weights auto or a column");
		return MILL_OK;
	}
	if (!strcmp(o->weights, "auto")) {
		*out = 3;
		return MILL_OK;
	}
	column = strtoul(o->weights, &end, 10);
	if (*end || o->weights[0] < '0' || o->weights[0] > '9' || column < 3 ||
	    column > 1000)
		return refuse(MILL_EUSAGE,
			      "--weights %s: takes none, auto or a column from 3 to 1000",
			      o->weights);
	*out = (uint32_t)column;
	return MILL_OK;
}

static mill_err import(struct call *call, struct mill_built *built)
{
	struct options *o = &call->options;
	struct mill_import how = {
		.input = o->operand,
		.n_inputs = (size_t)o->n_operands,
		.undirected = o->undirected,
		.dedup = (enum mill_dedup)o->dedup,
		.loops = (enum mill_loops)o->loops,
		.weight_type = (enum mill_weight)o->weight_type,
	};
	mill_err err;

	if (o->directed && o->undirected)
		return refuse(MILL_EUSAGE,
			      "--directed and --undirected exclude each other");
	o->directed = !o->undirected;
	err = weight_column(o, &how.weight_column);
	if (!err)
		err = build_target(call, &how.target);
	if (!err)
		err = mill_import(built, &how);
	return err;
}

mill_err cmd_import(struct call *call)
{
	struct mill_built built;
	mill_err err, late;

	err = import(call, &built);
	late = build_account(call, err ? NULL : &built, true);
	return err ? err : late;
}
