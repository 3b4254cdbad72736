/* SPDX-License-Identifier: Apache-2.0 */
/* The command generate: makes a store with a synthetic graph. */
#include <string.h>

#include "cli/build.h"
#include "cli/message.h"

static mill_err check_kind(const char *kind)
{
	struct nearest near = { .word = kind };
	const char *const *name;

	for (name = mill_generators(); *name; name++) {
		if (!strcmp(*name, kind))
			return MILL_OK;
		nearest_try(&near, *name);
	}
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE,
			      "generate: unknown kind '%s'; did you mean '%s'?", kind,
			      nearest_found(&near));
	return refuse(MILL_EUSAGE,
		      "generate: unknown kind '%s'; see `millrace list generators`", kind);
}

/*
 * Fills in defaults. Fails if an option was given that this kind of graph does not use: it must not
 * be ignored silently.
 */
static mill_err settle_shape(struct options *o, const char *kind)
{
	static const char *const of_kron[] = { "a", "b", "c", "multigraph" };
	static const char *const of_degree[] = { "uniform", "smallworld", "powerlaw" };
	bool kron = !strcmp(kind, "kron") || !strcmp(kind, "rmat"), random = kron;
	size_t i;

	for (i = 0; i < sizeof(of_degree) / sizeof(of_degree[0]); i++)
		random |= !strcmp(kind, of_degree[i]);
	for (i = 0; i < sizeof(of_kron) / sizeof(of_kron[0]); i++)
		if (!kron && option_given(o, of_kron[i]))
			return refuse(MILL_EUSAGE, "--%s means nothing for %s", of_kron[i],
				      kind);
	if (!random && option_given(o, "degree"))
		return refuse(MILL_EUSAGE, "--degree means nothing for %s", kind);
	if (option_given(o, "scale") == option_given(o, "vertices"))
		return refuse(
			MILL_EUSAGE,
			"generate: give one of --scale N and --vertices N");
	if (random && !option_given(o, "degree"))
		o->degree = 16;
	if (kron) {
		o->a = option_given(o, "a") ? o->a : 0.57;
		o->b = option_given(o, "b") ? o->b : 0.19;
		o->c = option_given(o, "c") ? o->c : 0.19;
	}
	return MILL_OK;
}

static mill_err generate(struct call *call, struct mill_built *built)
{
	static const enum mill_weight weight[] = { MILL_WEIGHT_NONE, MILL_WEIGHT_U32,
						   MILL_WEIGHT_F32 };
	struct options *o = &call->options;
	const char *kind = o->operand[0];
	struct mill_generate how = { .kind = kind };
	mill_err err;

	err = check_kind(kind);
	if (!err)
		err = settle_shape(o, kind);
	if (!err)
		err = build_target(call, &how.target);
	if (err)
		return err;
	how.scale = o->scale;
	how.vertices = o->vertices;
	if (option_given(o, "scale") && !o->scale)
		how.vertices = 1;	/* 2^0: for the library scale 0 means "use vertices" */
	how.degree = o->degree;
	how.weight = weight[o->weight_type];
	how.directed = o->directed;
	how.multigraph = o->multigraph;
	how.a = o->a;
	how.b = o->b;
	how.c = o->c;
	how.seed = o->seed;
	return mill_generate(built, &how);
}

mill_err cmd_generate(struct call *call)
{
	struct mill_built built;
	mill_err err, late;

	err = generate(call, &built);
	json_string(&call->report, "kind", call->options.operand[0]);
	late = build_report(call, err ? NULL : &built, false);
	return err ? err : late;
}
