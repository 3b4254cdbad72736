/* SPDX-License-Identifier: Apache-2.0 */
/* From the options of a call to an open store and a run: checks, sizes, defaults. */
#include "cli/run.h"

#include <stdio.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report.h"

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

/* Checks the name before the run: the library would fail only after it. */
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
		return refuse(MILL_EUSAGE,
			      "--trace -: stdout is for the report: give the name of a file");
	if ((o->output && !strcmp(o->trace, o->output)) ||
	    (o->json.file && !strcmp(o->trace, o->json.file)))
		return refuse(MILL_EUSAGE, "--trace %s: another output has this name", o->trace);
	return output_possible("--trace", o->trace);
}

bool several_devices(const char *device)
{
	const char *division = strchr(device, '/');

	return strchr(device, ',') || strstr(device, "all") || (division && !strchr(division, ':'));
}

/*
 * Returns the policy that the run will probably have: the given one, or the default of several
 * devices. Only the library knows the number of devices.
 */
static const struct mill_policy *likely_policy(const struct options *o)
{
	const struct mill_policy *asked = mill_policy(o->policy), *p;

	if (asked != mill_policy(NULL) || !several_devices(o->device.text))
		return asked;
	for (p = mill_policies(); p->name && !p->several; p++)
		;
	return p->name ? p : asked;
}

bool work_has_frontiers(const struct options *o)
{
	return o->algorithm->traits & MILL_FRONTIERS && options_have_steps(o);
}

mill_err refuse_mapping(const struct mill_algorithm *a, const char *option,
			const char *policy_option)
{
	const struct mill_policy *p = mill_policies();
	char method[64] = "";

	while (p->name && !p->mappings)
		p++;
	if (a->steps_option)
		snprintf(method, sizeof(method), "--%s %s or ", a->steps_option, a->steps_word);
	return refuse(MILL_EUSAGE, "--%s means nothing for %s: use it with %s--%s %s", option,
		      a->name, method, policy_option, p->name);
}

/*
 * Fails if an option was given that needs steps along a frontier, or a policy with its own
 * mappings, and the run has neither. A lab checks its policies later.
 */
static mill_err check_steps(const struct options *o, const struct command *c)
{
	const struct mill_algorithm *a = o->algorithm;

	if (o->async && !options_have_steps(o))
		return refuse(MILL_EUSAGE,
			      "--async is not possible with this method: use --%s %s",
			      a->steps_option, a->steps_word);
	if (work_has_frontiers(o))
		return MILL_OK;
	if (option_given(o, "filter"))
		return refuse(MILL_EUSAGE, "--filter means nothing for %s: use it with --%s %s",
			      a->name, a->steps_option, a->steps_word);
	if (option_given(o, "mapping") && !c->compares && !likely_policy(o)->mappings)
		return refuse_mapping(a, "mapping", "policy");
	return MILL_OK;
}

/* Checks all that can be checked before the store is open. */
static mill_err check_options(const struct options *o, const struct command *c)
{
	mill_err err = check_policy(o->policy);

	if (!err && !strcmp(o->device.text, "cpu"))
		err = options_check_native(o);
	if (!err)
		err = check_steps(o, c);
	if (!err && o->output)
		err = check_output(o->output);
	if (!err && o->trace)
		err = check_trace(o);
	return err;
}

/* Fills in the library's options. All sizes must be bytes already. */
static void fill_options(struct mill_options *to, const struct options *o)
{
	*to = o->settings;
	to->memory = o->memory.bytes;
	to->device_memories = o->device_memory.n ? o->device_memory.bytes : NULL;
	to->n_device_memories = o->device_memory.n;
	to->device = o->device.text;
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
	to->parents = o->algorithm->traits & MILL_PARENTS && (o->output || o->check);
	to->check = o->check;
	to->trace = o->trace;
}

mill_err work_prepare(struct work *w, struct call *call, const char *algorithm,
		      const char *path)
{
	struct options *o = &call->options;
	mill_err err;

	memset(w, 0, sizeof(*w));
	w->algorithm = o->algorithm;
	if (!w->algorithm)
		return algorithm_unknown(algorithm);
	err = check_options(o, &call->command);
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
	fill_options(&w->options, o);
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

void work_update_options(const struct mill_report *r, struct options *o)
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
