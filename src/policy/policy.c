/* SPDX-License-Identifier: Apache-2.0 */
/* The table of policies: look-up by name, and checks of the options of policies. */
#include "policy/policy.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/option.h"

/* The first policy is the default. */
static const struct policy *const policies[] = {
	&policy_auto, &policy_fifo, &policy_lru, &policy_frequency, &policy_pinned, /* pages.c */
	&policy_graphie, &policy_gts, &policy_largegraph,
};

/* ---- Look-up ---- */

const struct policy *policy_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (!name || !strcmp(policies[i]->public.name, name))
			return policies[i];
	return NULL;
}

const struct policy *policy_several(void)
{
	size_t i = 0;

	while (!policies[i]->public.several)
		i++;
	return policies[i];
}

/* The public rows of all policies, as one array for mill_policies. Written once. */
static struct mill_policy public_row[ARRAY_LEN(policies) + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void copy_rows(void)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		public_row[i] = policies[i]->public;
}

MILL_API const struct mill_policy *mill_policies(void)
{
	pthread_once(&once, copy_rows);
	return public_row;
}

MILL_API const struct mill_policy *mill_policy(const char *name)
{
	const struct policy *p = policy_find(name);
	size_t i = 0;

	if (!p)
		return NULL;
	while (policies[i] != p)
		i++;
	return &mill_policies()[i];
}

/* ---- Fields ---- */

static const void *field_of(const struct mill_options *o, const struct policy *p,
			    const struct mill_option *option)
{
	return (const char *)o + p->public.settings + option->at;
}

/* Returns the options of a policy. The list may be empty. */
static const struct mill_option *options_of(const struct policy *p)
{
	static const struct mill_option none = { 0 };

	return p->public.option ? p->public.option : &none;
}

/* ---- General options ---- */

/* The general options of which a policy may allow only some values. */
enum { MAPPING, FILTER, DIRECTION, GENERAL };

#define CHOICE(name, ...) \
	{ #name, MILL_OPTION_CHOICE, offsetof(struct mill_options, name), \
	  .word = (const char *const[]){ __VA_ARGS__, NULL } }

static const struct mill_option general[GENERAL] = {
	[MAPPING] = CHOICE(mapping, "auto", "thread", "group", "input", "output", "warp", "hybrid"),
	[FILTER] = CHOICE(filter, "fused", "exact", "inexact"),
	[DIRECTION] = CHOICE(direction, "auto", "estimate", "push", "pull"),
};

static int general_value(const struct mill_options *o, size_t i)
{
	return *(const int *)((const char *)o + general[i].at);
}

static bool is_in(u32 values, int value)
{
	return value >= 0 && value < 32 && values >> value & 1;
}

static u32 allowed(const struct policy *p, size_t i)
{
	const u32 values[GENERAL] = {
		[MAPPING] = p->mappings, [FILTER] = p->filters, [DIRECTION] = p->directions
	};

	return values[i] ? values[i] : ~0u;
}

mill_err policy_suits(const struct policy *p, const struct mill_options *o, const char *algorithm)
{
	for (size_t i = 0; i < GENERAL; i++) {
		int value = general_value(o, i);

		if (!is_in(allowed(p, i), value))
			return fail(MILL_EUSAGE,
				    "--policy %s has no --%s %s for %s: leave it out, or choose "
				    "another policy",
				    p->public.name, general[i].name, general[i].word[value],
				    algorithm);
	}
	return MILL_OK;
}

/* ---- Checks ---- */

static mill_err refuse_settings(const struct policy *p, const struct mill_options *o)
{
	for (const struct mill_option *option = options_of(p); option->name; option++)
		if (option_is_set(option, field_of(o, p, option)))
			return fail(MILL_EUSAGE,
				    "--%s is for --policy %s: leave it out, or choose that policy",
				    option->name, p->public.name);
	if (is_in(p->own_mappings, (int)o->mapping))
		return fail(MILL_EUSAGE,
			    "--mapping %s is for --policy %s: leave it out, or choose that policy",
			    general[MAPPING].word[o->mapping], p->public.name);
	return MILL_OK;
}

static mill_err check_general(const struct mill_options *o)
{
	for (size_t i = 0; i < GENERAL; i++)
		TRY(option_check(&general[i], (const char *)o + general[i].at));
	return MILL_OK;
}

mill_err policy_check(const struct policy *chosen, const struct mill_options *o)
{
	TRY(check_general(o));
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (policies[i] != chosen)
			TRY(refuse_settings(policies[i], o));
	return options_check(options_of(chosen), (const char *)o + chosen->public.settings);
}

/* ---- Changes ---- */

static void reset_settings(const struct policy *p, struct mill_options *o)
{
	for (const struct mill_option *option = options_of(p); option->name; option++)
		memset((char *)o + p->public.settings + option->at, 0, option_bytes(option));
	if (is_in(p->own_mappings, (int)o->mapping))
		o->mapping = MILL_MAPPING_AUTO;
}

void policy_leave_others(const struct policy *chosen, struct mill_options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (policies[i] != chosen)
			reset_settings(policies[i], o);
	for (size_t i = 0; i < GENERAL; i++)
		if (!is_in(allowed(chosen, i), general_value(o, i)))
			memset((char *)o + general[i].at, 0, sizeof(int));
}

/* mill_options and mill_variant have the policies' settings at the same relative offsets. */
#define FROM(type, policy) (offsetof(struct type, policy) - offsetof(struct type, graphie))
_Static_assert(FROM(mill_options, gts) == FROM(mill_variant, gts) &&
		       FROM(mill_options, largegraph) == FROM(mill_variant, largegraph),
	       "settings of variants are those of options");

void policy_merge(struct mill_options *o, const struct mill_variant *v)
{
	const char *from = (const char *)v + offsetof(struct mill_variant, graphie);
	char *to = (char *)o + offsetof(struct mill_options, graphie);

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		const struct policy *p = policies[i];

		for (const struct mill_option *option = options_of(p); option->name; option++) {
			size_t at = p->public.settings - offsetof(struct mill_options, graphie) +
				    option->at;

			if (option_is_set(option, from + at))
				memcpy(to + at, from + at, option_bytes(option));
		}
	}
}

void policy_settle(struct mill_options *o)
{
	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		const struct policy *p = policies[i];

		for (const struct mill_option *option = options_of(p); option->name; option++)
			if (option->usual > 0 && !option_is_set(option, field_of(o, p, option)))
				*(u32 *)((char *)o + p->public.settings + option->at) =
					(u32)option->usual;
	}
}
