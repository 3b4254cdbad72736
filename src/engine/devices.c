/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, closes and counts the devices of a run; devices.h has the contract. */
#include "engine/devices.h"

#include <string.h>

/* ---- Names ---- */

const struct policy *devices_policy(const struct mill_options *o, const struct device_names *names)
{
	const struct policy *asked = policy_find(o->policy);

	return names->n > 1 && asked == policy_find(NULL) ? policy_several() : asked;
}

mill_err devices_name(struct device_names *out, const struct mill_options *o)
{
	const struct policy *asked = policy_find(o->policy), *chosen;

	if (asked != policy_find(NULL))		/* several devices may replace the default policy */
		TRY(policy_check(asked, o));
	TRY(device_names_expand(out->name, &out->n, o->device ? o->device : "cpu"));
	chosen = devices_policy(o, out);
	if (out->n > 1 && !chosen->public.several)
		return fail(MILL_EUSAGE, "several devices are for --policy %s: name one, or "
			    "leave --policy %s out", policy_several()->public.name, o->policy);
	TRY(policy_check(chosen, o));
	if (o->n_device_memories > out->n)
		return fail(MILL_EUSAGE,
			    "--device-memory has %u sizes, but --device names %u devices: "
			    "leave some sizes out",
			    o->n_device_memories, out->n);
	return MILL_OK;
}

/* ---- Open and close ---- */

_Static_assert(MILL_DEVICES_MOST <= TRACE_DEVICES, "every device has its tracks");

/* Returns the budget of device i: the size given for it, or the last size given. */
static u64 budget_of(const struct mill_options *o, u32 i)
{
	if (!o->device_memories || !o->n_device_memories)
		return o->device_memory;
	return o->device_memories[min_u64(i, o->n_device_memories - 1)];
}

mill_err devices_open(struct mill_run *r, const struct mill_options *o,
		      const struct device_names *names)
{
	r->device = r->host;
	if (!strcmp(names->name[0], "cpu"))
		return MILL_OK;
	/* A device records the times of its commands if a trace is open when it is opened. */
	trace_use(r->trace);
	TRY(memory_new(&r->use, &r->budget, names->n, sizeof(*r->use), "the devices"));
	for (u32 i = 0; i < names->n; i++) {
		struct device_how how = {
			.memory = budget_of(o, i),
			.queues = o->queues,
			.group = o->group_size,
			.count_lanes = o->count_lanes,
			.place = i,
		};

		TRY(device_open(&r->opened[i], names->name[i], &r->budget, &how));
		r->n_opened++;
	}
	r->device = r->opened[0];
	return MILL_OK;
}

void devices_close(struct mill_run *r)
{
	while (r->n_opened)
		device_close(r->opened[--r->n_opened]);
	memory_free(r->use);
	r->use = NULL;
	r->device = r->host;
}

/* ---- Use in a run ---- */

mill_err devices_suit(const struct mill_run *r, const struct need *need)
{
	if (r->n_opened > 1 && !need->own)
		return fail(MILL_EUSAGE, "%s runs on one device: name one", need->algorithm);
	return need->own ? policy_suits(r->policy, &r->options, need->algorithm) : MILL_OK;
}

void devices_begin(struct mill_run *r)
{
	for (u32 i = 0; i < r->n_opened; i++) {
		memset(r->opened[i]->to_device, 0, sizeof(r->opened[i]->to_device));
		memset(r->opened[i]->from_device, 0, sizeof(r->opened[i]->from_device));
	}
}

u64 devices_budget(const struct mill_run *r)
{
	u64 least = r->n_opened ? r->opened[0]->memory->limit : 0;

	for (u32 i = 1; i < r->n_opened; i++)
		least = min_u64(least, r->opened[i]->memory->limit);
	return least;
}

static u64 sum(const u64 *bytes)
{
	u64 all = 0;

	for (u32 k = 0; k < TRAFFIC_KINDS; k++)
		all += bytes[k];
	return all;
}

void devices_report(const struct mill_run *r, struct mill_report *out)
{
	u64 kind[TRAFFIC_KINDS] = { 0 };

	for (u32 i = 0; i < r->n_opened; i++) {
		const struct device *d = r->opened[i];

		r->use[i] = (struct mill_device_use){
			.name = d->name,
			.budget = d->memory->limit,
			.peak = d->memory->peak,
			.to_device = sum(d->to_device),
			.from_device = sum(d->from_device),
		};
		out->to_device += r->use[i].to_device;
		out->from_device += r->use[i].from_device;
		out->device_peak = max_u64(out->device_peak, d->memory->peak);
		out->device_driver += d->driver;
		for (u32 k = 0; k < TRAFFIC_KINDS; k++)
			kind[k] += d->to_device[k] + d->from_device[k];
	}
	out->topology = kind[TRAFFIC_TOPOLOGY];
	out->read_only = kind[TRAFFIC_READ_ONLY];
	out->writable = kind[TRAFFIC_WRITABLE];
	out->flags = kind[TRAFFIC_FLAGS];
	out->device_budget = devices_budget(r);
	out->devices = r->use;
	out->n_devices = r->n_opened;
}
