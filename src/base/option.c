/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the values of options against the rows that describe the options. */
#include "base/option.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/types.h"

size_t option_bytes(const struct mill_option *option)
{
	static const size_t size[] = {
		[MILL_OPTION_FLAG] = sizeof(bool),	[MILL_OPTION_U32] = sizeof(uint32_t),
		[MILL_OPTION_U64] = sizeof(uint64_t),	[MILL_OPTION_SIZE] = sizeof(uint64_t),
		[MILL_OPTION_REAL] = sizeof(double),	[MILL_OPTION_TEXT] = sizeof(const char *),
		[MILL_OPTION_CHOICE] = sizeof(int),	[MILL_OPTION_SWITCH] = sizeof(int),
	};

	return size[option->kind];
}

bool option_is_set(const struct mill_option *option, const void *field)
{
	static const char zero[sizeof(uint64_t)];

	return memcmp(field, zero, option_bytes(option));
}

static mill_err check_number(const struct mill_option *option, u64 value)
{
	u64 most = option->kind == MILL_OPTION_U32 ? UINT32_MAX : UINT64_MAX;
	char only[64];
	size_t length = 0;

	if (!option->only) {
		if ((f64)value < option->low || (option->high > 0 && (f64)value > option->high))
			return fail(MILL_EUSAGE, "--%s %llu: must be from %.0f to %.0f",
				    option->name, (unsigned long long)value, option->low,
				    option->high > 0 ? option->high : (f64)most);
		return MILL_OK;
	}
	for (const u32 *n = option->only; *n; n++) {
		if (*n == value)
			return MILL_OK;
		if (length < sizeof(only))
			length += (size_t)snprintf(only + length, sizeof(only) - length, "%s%u",
						   length ? n[1] ? ", " : " or " : "", *n);
	}
	return fail(MILL_EUSAGE, "--%s %llu: takes %s", option->name, (unsigned long long)value,
		    only);
}

static mill_err check_real(const struct mill_option *option, f64 value)
{
	bool above = option->open ? value > option->low : value >= option->low;
	bool below = option->high > 0 ? option->open ? value < option->high
						     : value <= option->high
				      : true;
	char most[32] = "";

	if ((above && below) || (option->zero && value < 0))
		return MILL_OK;
	if (option->high > 0)
		snprintf(most, sizeof(most), " and %s %g", option->open ? "below" : "at most",
			 option->high);
	return fail(MILL_EUSAGE, "--%s %g: must be %s %g%s", option->name, value,
		    option->open ? "above" : "at least", option->low, most);
}

/* Returns true if the option allows this value of an enum. */
static bool takes(const struct mill_option *option, int value)
{
	int first = option->kind == MILL_OPTION_SWITCH ? option->first : 0, n = 0;

	while (option->word && option->word[n])
		n++;
	return value >= first && value < first + (n ? n : 1);
}

mill_err option_check(const struct mill_option *option, const void *field)
{
	int value;

	if (!option_is_set(option, field))
		return MILL_OK;
	switch (option->kind) {
	case MILL_OPTION_U32:
		return check_number(option, *(const u32 *)field);
	case MILL_OPTION_U64:
		return check_number(option, *(const u64 *)field);
	case MILL_OPTION_REAL:
		return check_real(option, *(const f64 *)field);
	case MILL_OPTION_CHOICE:
	case MILL_OPTION_SWITCH:
		value = *(const int *)field;
		return takes(option, value) ? MILL_OK :
					      fail(MILL_EUSAGE, "--%s: there is no choice %d",
						   option->name, value);
	default:
		return MILL_OK;
	}
}

/* If several options set the same field, one that allows its value is enough. */
mill_err options_check(const struct mill_option *row, const void *settings)
{
	for (const struct mill_option *option = row; option && option->name; option++) {
		mill_err err = option_check(option, (const char *)settings + option->at);

		for (const struct mill_option *other = row; err && other->name; other++)
			if (other != option && other->at == option->at &&
			    !option_check(other, (const char *)settings + other->at))
				err = MILL_OK;
		TRY(err);
	}
	return MILL_OK;
}
