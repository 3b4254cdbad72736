/* SPDX-License-Identifier: Apache-2.0 */
/* The command import: converts graph files to a store. */
#include <stdlib.h>
#include <string.h>

#include "cli/build.h"
#include "cli/message.h"

/* Takes none, auto, or a column: its number (from 3, after the two ids) or its name. */
static mill_err choose_weights(const struct options *o, struct mill_import *how)
{
	unsigned long column;
	char *end;

	if (!o->weights)
		return MILL_OK;
	if (!strcmp(o->weights, "none")) {
		if (option_given(o, "weight-type"))
			return refuse(MILL_EUSAGE,
				      "--weight-type needs --weights auto or --weights COLUMN");
		how->weights = MILL_WEIGHTS_NONE;
		return MILL_OK;
	}
	if (!strcmp(o->weights, "auto")) {
		how->weights = MILL_WEIGHTS_AUTO;
		return MILL_OK;
	}
	column = strtoul(o->weights, &end, 10);
	if (!o->weights[0] || (!*end && (column < 3 || column > 1000)) ||
	    o->weights[0] == '-')
		return refuse(
			MILL_EUSAGE,
			"--weights %s: must be none, auto, a column from 3 to 1000 or its name",
			o->weights);
	if (*end)
		how->weight_name = o->weights;
	else
		how->weight_column = (uint32_t)column;
	return MILL_OK;
}

static mill_err import(struct call *call, struct mill_built *built)
{
	struct options *o = &call->options;
	struct mill_import how = {
		.input = o->operand,
		.n_inputs = (size_t)o->n_operands,
		.format = o->format,
		.directed = o->directed,
		.undirected = o->undirected,
		.base_given = option_given(o, "base"),
		.base = o->base,
		.id_bits = o->id_bits,
		.names = o->names,
		.dedup = (enum mill_dedup)o->dedup,
		.loops = (enum mill_loops)o->loops,
		.weight_type = (enum mill_weight)o->weight_type,
	};
	mill_err err;

	if (o->directed && o->undirected)
		return refuse(MILL_EUSAGE,
			      "--directed and --undirected: give one of them");
	if (o->id_bits && o->id_bits != 32 && o->id_bits != 64)
		return refuse(MILL_EUSAGE, "--id-bits %u: must be 32 or 64", o->id_bits);
	err = choose_weights(o, &how);
	if (!err)
		err = build_target(call, &how.target);
	if (!err)
		err = mill_import(built, &how);
	if (!err) {	/* for the report: what import chose */
		o->undirected = built->undirected;
		o->directed = !built->undirected;
		if (!o->format)
			o->format = built->format;
		if (!o->weights)
			o->weights = built->weight ? "auto" : "none";
	}
	return err;
}

mill_err cmd_import(struct call *call)
{
	struct mill_built built;
	mill_err err, late;

	err = import(call, &built);
	late = build_report(call, err ? NULL : &built, true);
	return err ? err : late;
}
