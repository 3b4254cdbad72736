/* SPDX-License-Identifier: Apache-2.0 */
/* The command list: algorithms, devices, policies, formats and generators of this program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

static void report_names(struct json *j, const char *key, const char *const *name)
{
	json_array(j, key);
	for (; name && *name; name++)
		json_string(j, NULL, *name);
	json_array_end(j);
}

static void report_options(struct json *j, const struct mill_algorithm *a)
{
	char usual[OPTION_DEFAULT];
	struct command c;
	struct option row;
	size_t i;

	json_array(j, "options");
	for (i = 0; command_find(&c, a->name) && option_at(&row, &c, a, i) && row.algorithm; i++) {
		json_object(j, NULL);
		json_string(j, "name", row.name);
		json_string(j, "argument", row.argument);
		json_string(j, "help", row.help);
		json_string(j, "default", *option_default(usual, &row) ? usual : NULL);
		report_names(j, "words", row.word);
		json_object_end(j);
	}
	json_array_end(j);
}

static mill_err list_algorithms(struct call *call, const char *key)
{
	const struct mill_algorithm *a;

	json_array(&call->report, key);
	for (a = mill_algorithms(); a->name; a++) {
		say(call, "  %-12s %s%s\n", a->name, a->summary,
		    a->needs_weights ? " (needs weights)" : "");
		json_object(&call->report, NULL);
		json_string(&call->report, "name", a->name);
		json_string(&call->report, "summary", a->summary);
		json_bool(&call->report, "needs_weights", a->needs_weights);
		report_options(&call->report, a);
		report_names(&call->report, "columns", a->column);
		report_names(&call->report, "facts", a->fact);
		json_object_end(&call->report);
	}
	json_array_end(&call->report);
	return MILL_OK;
}

static mill_err list_devices(struct call *call, const char *key)
{
	size_t n = mill_devices(NULL, 0), found, i;
	struct mill_device *device;
	char size[SHOWN_SIZE];

	device = calloc(n ? n : 1, sizeof(*device));
	if (!device)
		return refuse(MILL_ENOMEM, "no memory to list the devices");
	found = mill_devices(device, n);
	if (found < n)
		n = found;
	json_array(&call->report, key);
	for (i = 0; i < n; i++) {
		say(call, "  %-12s %s, %u units, ", device[i].name, device[i].model,
		    device[i].units);
		if (device[i].parts)
			say(call, "divisible into up to %u, ", device[i].parts);
		say(call, "%s", show_size(size, device[i].memory));
		say(call, device[i].driver[0] ? ", %s\n" : "%s\n", device[i].driver);
		json_object(&call->report, NULL);
		json_string(&call->report, "name", device[i].name);
		json_string(&call->report, "model", device[i].model);
		json_string(&call->report, "driver", device[i].driver[0] ? device[i].driver : NULL);
		json_u64(&call->report, "units", device[i].units);
		json_u64(&call->report, "parts", device[i].parts);
		json_u64(&call->report, "memory", device[i].memory);
		json_object_end(&call->report);
	}
	json_array_end(&call->report);
	free(device);
	return MILL_OK;
}

static mill_err list_names(struct call *call, const char *key, const char *const *name)
{
	json_array(&call->report, key);
	for (; *name; name++) {
		say(call, "  %s\n", *name);
		json_string(&call->report, NULL, *name);
	}
	json_array_end(&call->report);
	return MILL_OK;
}

static mill_err list_policies(struct call *call, const char *key)
{
	const struct mill_policy *p;

	json_array(&call->report, key);
	for (p = mill_policies(); p->name; p++) {
		say(call, "  %-12s %s\n", p->name, p->summary);
		json_string(&call->report, NULL, p->name);
	}
	json_array_end(&call->report);
	return MILL_OK;
}

static mill_err list_formats(struct call *call, const char *key)
{
	return list_names(call, key, mill_formats());
}

static mill_err list_generators(struct call *call, const char *key)
{
	return list_names(call, key, mill_generators());
}

static const struct {
	const char *name;
	mill_err (*show)(struct call *call, const char *key);
} topics[] = {
	{ "algorithms", list_algorithms }, { "devices", list_devices },
	{ "policies", list_policies },	   { "formats", list_formats },
	{ "generators", list_generators },
};

void each_topic(void (*take)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		take(arg, topics[i].name);
}

mill_err cmd_list(struct call *call)
{
	const char *wanted = call->options.n_operands ? call->options.operand[0] : NULL;
	size_t i;
	bool found = false;
	mill_err err;

	for (i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		if (wanted && strcmp(wanted, topics[i].name))
			continue;
		found = true;
		say(call, "%s:\n", topics[i].name);
		err = topics[i].show(call, topics[i].name);
		if (err)
			return err;
	}
	if (!found)
		return refuse(MILL_EUSAGE, "list: unknown topic '%s'; see `millrace help list`",
			      wanted);
	return MILL_OK;
}
