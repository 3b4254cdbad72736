/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run.h"

#include <string.h>

#include "cli/message.h"
#include "cli/report.h"

static mill_err fill_bfs(union how *how, const struct options *o)
{
	how->bfs = (struct mill_bfs){ .source = o->source };
	return MILL_OK;
}

static mill_err fill_sssp(union how *how, const struct options *o)
{
	how->sssp = (struct mill_sssp){
		.source = o->source,
		.delta = o->delta,
		.unit_weights = o->unit_weights,
		.buckets = o->buckets,
	};
	return MILL_OK;
}

static mill_err fill_pagerank(union how *how, const struct options *o)
{
	if (o->exact && option_given(o, "precision"))
		return refuse(MILL_EUSAGE,
			      "--exact is a precision of its own: leave --precision out");
	how->pagerank = (struct mill_pagerank){
		.damping = o->damping,
		.tolerance = o->tolerance > 0 ? o->tolerance : -1,
		.iterations = o->iterations,
		.precision = o->exact			     ? MILL_EXACT
			     : o->precision == PRECISION_F64 ? MILL_F64
							     : MILL_F32,
		.personalize = o->personalize,
	};
	return MILL_OK;
}

static mill_err fill_cc(union how *how, const struct options *o)
{
	if (o->async && o->method != MILL_CC_LABELS)
		return refuse(MILL_EUSAGE, "--async needs steps to leave out: use --method labels with it");
	how->cc = (struct mill_cc){ .method = (enum mill_cc_method)o->method };
	return MILL_OK;
}

static mill_err fill_bc(union how *how, const struct options *o)
{
	if (o->sources && option_given(o, "source"))
		return refuse(MILL_EUSAGE, "--sources and --source: give one of them");
	how->bc = (struct mill_bc){
		.sources = o->sources ? o->sources : o->source,
		.normalized = o->normalized,
	};
	return MILL_OK;
}

/* Of algorithms without options of their own. */
static mill_err fill_nothing(union how *how, const struct options *o)
{
	(void)how;
	(void)o;
	return MILL_OK;
}

static mill_err fill_triangles(union how *how, const struct options *o)
{
	how->triangles = (struct mill_triangles){ .lcc = (enum mill_lcc)o->lcc };
	return MILL_OK;
}

static mill_err fill_cdlp(union how *how, const struct options *o)
{
	how->cdlp = (struct mill_cdlp){ .iterations = o->iterations };
	return MILL_OK;
}

static const struct algorithm algorithms[] = {
	{ "bfs", FOR_BFS, true, fill_bfs },
	{ "sssp", FOR_SSSP, true, fill_sssp },
	{ "pagerank", FOR_PAGERANK, false, fill_pagerank },
	{ "cc", FOR_CC, false, fill_cc },
	{ "kcore", FOR_KCORE, false, fill_nothing },
	{ "degrees", FOR_DEGREES, false, fill_nothing },
	{ "bc", FOR_BC, false, fill_bc },
	{ "scc", FOR_SCC, false, fill_nothing },
	{ "triangles", FOR_TRIANGLES, false, fill_triangles },
	{ "cdlp", FOR_CDLP, false, fill_cdlp },
};

const struct algorithm *work_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(algorithms) / sizeof(algorithms[0]); i++)
		if (!strcmp(algorithms[i].name, name))
			return &algorithms[i];
	return NULL;
}

static mill_err check_policy(const char *policy)
{
	struct nearest near = { .word = policy };
	const struct mill_policy *p;

	if (mill_policy(policy))
		return MILL_OK;
	for (p = mill_policies(); p->name; p++)
		nearest_try(&near, p->name);
	if (nearest_found(&near))
		return refuse(MILL_EUSAGE, "--policy %s: unknown; did you mean %s?", policy,
			      nearest_found(&near));
	return refuse(MILL_EUSAGE, "--policy %s: unknown; see `millrace list policies`",
		      policy);
}

/* Said before the work: the library would say it after. */
static mill_err check_output(const char *path)
{
	const char *suffix = strrchr(path, '.');

	if (strcmp(path, "-") &&
	    !(suffix && (!strcmp(suffix, ".tsv") || !strcmp(suffix, ".csv") ||
			 !strcmp(suffix, ".npy"))))
		return refuse(MILL_EUSAGE, "-o %s: the name must end in .tsv, .csv or .npy",
			      path);
	return output_possible("-o", path);
}

static mill_err check_trace(const struct options *o)
{
	if (!strcmp(o->trace, "-"))
		return refuse(MILL_EUSAGE, "--trace - : stdout has the report; give the name of a file");
	if ((o->output && !strcmp(o->trace, o->output)) || (o->json_file && !strcmp(o->trace, o->json_file)))
		return refuse(MILL_EUSAGE, "--trace %s: another output has this name", o->trace);
	return output_possible("--trace", o->trace);
}

bool several_devices(const char *device)
{
	const char *part = strchr(device, '/');

	return strchr(device, ',') || strstr(device, "all") || (part && !strchr(part, ':'));
}

/* Returns the policy asked for, or that which several devices choose. The library alone knows how many they are. */
static const struct mill_policy *likely_policy(const struct options *o)
{
	const struct mill_policy *asked = mill_policy(o->policy), *p;

	if (asked != mill_policy(NULL) || !several_devices(o->device))
		return asked;
	for (p = mill_policies(); p->name && !p->several; p++)
		;
	return p->name ? p : asked;
}

bool work_has_frontiers(const struct work *w, const struct options *o)
{
	if (w->algorithm->who == FOR_CC)
		return o->method == MILL_CC_LABELS;
	return w->algorithm->who & FOR_FRONTIERS;
}

mill_err refuse_mapping(const struct work *w, const char *option, const char *policy_option)
{
	const struct mill_policy *p = mill_policies();

	while (p->name && !p->mappings)
		p++;
	return refuse(MILL_EUSAGE, "--%s means nothing for %s: use it with %s--%s %s", option, w->algorithm->name,
		      w->algorithm->who == FOR_CC ? "--method labels or " : "", policy_option, p->name);
}

/* Refuses what steps along a frontier heed, or kernels of some policies. A lab knows its policies later. */
static mill_err check_frontiers(const struct work *w, const struct options *o, unsigned who)
{
	if (work_has_frontiers(w, o))
		return MILL_OK;
	if (option_given(o, "filter"))
		return refuse(MILL_EUSAGE, "--filter means nothing for %s: use it with --method labels",
			      w->algorithm->name);
	if (option_given(o, "mapping") && !(who & FOR_LAB) && !likely_policy(o)->mappings)
		return refuse_mapping(w, "mapping", "policy");
	return MILL_OK;
}

/* What can be said before the store is opened. */
static mill_err check_options(struct work *w, struct options *o, unsigned who, const char *algorithm)
{
	mill_err err;

	w->algorithm = work_find(algorithm);
	if (!w->algorithm)
		return refuse(MILL_EUSAGE,
			      "unknown algorithm '%s'; see `millrace list algorithms`",
			      algorithm);
	if (w->algorithm->who == FOR_CDLP && !option_given(o, "iterations"))
		o->iterations = 10;	/* pagerank has the same place and another default */
	err = options_restrict(o, w->algorithm->who, algorithm);
	if (!err)
		err = w->algorithm->fill(&w->how, o);
	if (!err)
		err = check_policy(o->policy);
	if (!err && !strcmp(o->device, "cpu"))
		err = options_check_native(o);
	if (!err)
		err = check_frontiers(w, o, who);
	if (!err && o->output)
		err = check_output(o->output);
	if (!err && o->trace)
		err = check_trace(o);
	return err;
}

/* Fills in the library's options, once all sizes are known. */
static void fill_options(struct mill_options *to, const struct options *o, const struct algorithm *a)
{
	*to = o->settings;
	to->memory = o->memory.bytes;
	to->device_memories = o->device_memory.n ? o->device_memory.bytes : NULL;
	to->n_device_memories = o->device_memory.n;
	to->device = o->device;
	to->policy = o->policy;
	to->io = o->io == IO_PREAD ? "pread" : "uring";
	to->threads = o->threads;
	to->seed = o->seed;
	to->async = o->async;
	to->do_a = o->do_a;
	to->do_b = o->do_b;
	to->direction = (enum mill_direction)o->direction;
	to->queues = o->queues;
	to->group_size = o->group_size;
	to->mapping = (enum mill_mapping)o->mapping;
	to->filter = (enum mill_filter)o->filter;
	to->no_skip = o->no_skip;
	to->no_reuse = o->no_reuse;
	to->count_lanes = o->lanes;
	to->fallback = o->fallback;
	to->parents = a->parents && (o->output || o->check);
	to->check = o->check;
	to->trace = o->trace;
}

mill_err work_prepare(struct work *w, struct call *call, const char *algorithm,
		      const char *path)
{
	struct options *o = &call->options;
	mill_err err;

	memset(w, 0, sizeof(*w));
	err = check_options(w, o, call->command->who, algorithm);
	if (!err)
		err = mill_store_open(&w->store, path);
	if (err)
		return err;
	mill_store_info(w->store, &w->info);
	err = option_size(&o->memory, "memory", w->info.csr_bytes);
	if (!err)
		err = option_sizes(&o->device_memory, "device-memory", w->info.csr_bytes);
	if (!err)
		err = options_settle_sizes(o, w->info.csr_bytes);
	if (err)
		return err;
	if (o->do_a <= 0)
		o->do_a = o->direction == MILL_DIRECTION_ESTIMATE ? 0.001 : 15;
	if (o->do_b <= 0)
		o->do_b = o->direction == MILL_DIRECTION_ESTIMATE ? 0.2 : 18;
	fill_options(&w->options, o, w->algorithm);
	w->options.watcher = progress_watcher(&call->progress);
	if (!o->threads)
		o->threads = processors();
	if (!o->queues)
		o->queues = 32;
	return MILL_OK;
}

mill_err work_open(struct work *w, struct call *call, const char *algorithm,
		   const char *path)
{
	mill_err err = work_prepare(w, call, algorithm, path);

	return err ? err : mill_run_new(&w->run, w->store, &w->options);
}

void work_understood(const struct mill_report *r, struct options *o)
{
	uint32_t i;

	o->memory.bytes = r->memory_budget;
	o->policy = r->policy;
	if (r->n_devices)
		o->device_memory.n = (uint32_t)r->n_devices;
	for (i = 0; i < r->n_devices; i++)
		o->device_memory.bytes[i] = r->devices[i].budget;
	if (r->n_devices)
		options_settle(o, mill_policy(r->policy));
}

void work_close(struct work *w)
{
	mill_run_free(w->run);
	mill_store_close(w->store);
}
