/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the value of one option, and shows it in reports and in help. */
#include "cli/option.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

/* ---- Parse ---- */

static bool parse_u64(uint64_t *out, const char *text)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

/* Parses decimal only: strtod alone also takes hexadecimal, infinity and leading blanks. */
static bool parse_real(double *out, const char *text)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

/* Fails if the number is not in the list of allowed numbers. */
static mill_err check_only(const struct option *o, uint64_t number, const char *value)
{
	const uint32_t *only = o->setting->only;
	char words[128];
	size_t length = 0, i;

	for (i = 0; only[i]; i++) {
		if (only[i] == number)
			return MILL_OK;
		if (length < sizeof(words))
			length += (size_t)snprintf(words + length, sizeof(words) - length,
						   "%s%" PRIu32, !i ? "" :
						   only[i + 1] ? ", " : " or ", only[i]);
	}
	return refuse(MILL_EUSAGE, "--%s %s: takes %s", o->name, value, words);
}

static mill_err take_number(const struct option *o, const char *value)
{
	uint64_t high = o->high > 0 ? (uint64_t)o->high : UINT64_MAX;
	uint64_t number;

	if (o->kind == U32 && high > UINT32_MAX)
		high = UINT32_MAX;
	if (!parse_u64(&number, value))
		return refuse(MILL_EUSAGE, "--%s %s: not a whole number below 2^64", o->name,
			      value);
	if (number < (uint64_t)o->low || number > high)
		return refuse(MILL_EUSAGE, "--%s %s: must be from %.0f to %.0f", o->name, value,
			      o->low, (double)high);
	if (o->setting && o->setting->only) {
		mill_err err = check_only(o, number, value);

		if (err)
			return err;
	}
	if (o->kind == U32)
		*(uint32_t *)o->field = (uint32_t)number;
	else
		*(uint64_t *)o->field = number;
	return MILL_OK;
}

static mill_err take_real(const struct option *o, const char *value)
{
	double number, *field = o->field;
	bool above, below;
	char most[32] = "";

	if (o->word && !strcmp(value, o->word[0])) {
		*field = 0;
		return MILL_OK;
	}
	if (!parse_real(&number, value))
		return refuse(MILL_EUSAGE, "--%s %s: not a number", o->name, value);
	above = o->open ? number > o->low : number >= o->low;
	below = o->high > 0 ? o->open ? number < o->high : number <= o->high : true;
	if (o->high > 0)
		snprintf(most, sizeof(most), " and %s %g", o->open ? "below" : "at most", o->high);
	if (!above || !below)
		return refuse(MILL_EUSAGE, "--%s %s: must be %s %g%s", o->name, value,
			      o->open ? "above" : "at least", o->low, most);
	*field = o->setting && o->setting->zero && number == 0 ? -1 : number;
	return MILL_OK;
}

static mill_err take_choice(const struct option *o, int first, const char *value)
{
	char words[128];
	size_t length = 0;
	int i;

	for (i = 0; o->word[i]; i++) {
		if (!strcmp(value, o->word[i])) {
			*(int *)o->field = first + i;
			return MILL_OK;
		}
	}
	for (i = 0; o->word[i] && length < sizeof(words); i++)
		length += (size_t)snprintf(words + length, sizeof(words) - length, "%s%s",
					   i ? ", " : "", o->word[i]);
	return refuse(MILL_EUSAGE, "--%s %s: takes %s", o->name, value, words);
}

static mill_err take_list(struct list_option *list, const char *name, const char *value, bool again)
{
	size_t length = again ? strlen(list->room) : 0;

	if (!*value)
		return refuse(MILL_EUSAGE, "--%s: the value is empty", name);
	if (length + strlen(value) + 2 > sizeof(list->room))
		return refuse(MILL_EUSAGE, "--%s: the list is too long", name);
	snprintf(list->room + length, sizeof(list->room) - length, "%s%s", again ? "," : "", value);
	list->text = list->room;
	return MILL_OK;
}

static mill_err take_report(struct report_option *report, const char *value)
{
	report->wanted = true;
	report->file = value;
	if (value && !*value)
		return refuse(MILL_EUSAGE, "--json=: the name of the file is missing");
	return MILL_OK;
}

static mill_err take(struct option *o, const char *value)
{
	switch (o->kind) {
	case FLAG:
		*(bool *)o->field = true;
		return MILL_OK;
	case REPORT:
		return take_report(o->field, value);
	case TEXT:
		if (!*value)
			return refuse(MILL_EUSAGE, "--%s: the value is empty", o->name);
		*(const char **)o->field = value;
		return MILL_OK;
	case LIST:
		return take_list(o->field, o->name, value, o->given);
	case SIZE:
		((struct size_option *)o->field)->text = value;
		return MILL_OK;
	case SIZES:
		((struct sizes_option *)o->field)->text = value;
		return MILL_OK;
	case BYTES:
	case POLICIES:
		return MILL_OK;
	case U32:
	case U64:
		return take_number(o, value);
	case REAL:
		return take_real(o, value);
	case CHOICE:
		return take_choice(o, 0, value);
	case SWITCH:
		if (value)
			return take_choice(o, o->setting->first, value);
		*(int *)o->field = o->setting->first;
		return MILL_OK;
	}
	return MILL_EBUG;
}

mill_err option_take(struct option *o, const char *value)
{
	mill_err err;

	if (o->given && o->kind != LIST)
		return refuse(MILL_EUSAGE, "--%s is given twice", o->name);
	err = take(o, value);
	if (!err)
		o->given = value ? value : "";
	return err;
}

/* ---- Report ---- */

/* Returns the key in reports: "page_size" for "page-size". */
static const char *report_key(const char *name)
{
	static char key[64];
	char *c;

	snprintf(key, sizeof(key), "%s", name);
	for (c = key; *c; c++)
		if (*c == '-')
			*c = '_';
	return key;
}

/* Adds a number, or an array for several devices; null if there is none. */
static void report_sizes(const struct sizes_option *sizes, const char *key, struct json *j)
{
	uint32_t i;

	if (!sizes->n) {
		json_null(j, key);
		return;
	}
	if (sizes->n == 1) {
		json_u64(j, key, sizes->bytes[0]);
		return;
	}
	json_array(j, key);
	for (i = 0; i < sizes->n; i++)
		json_u64(j, NULL, sizes->bytes[i]);
	json_array_end(j);
}

/*
 * Adds the default of an algorithm's option that was not given. Its field may hold the value of
 * another option.
 */
static void report_usual(const struct option *o, const char *key, struct json *j)
{
	const struct mill_option *row = o->setting;

	if (o->kind == FLAG || (o->kind == SWITCH && !o->word))
		json_bool(j, key, false);
	else if (o->kind == CHOICE)
		json_string(j, key, o->word[(int)row->usual]);
	else if (o->kind == REAL && o->word)
		json_string(j, key, o->word[0]);
	else if (o->kind == TEXT)
		json_string(j, key, row->usual_text);
	else if (!(row->usual > 0))
		json_null(j, key);
	else if (o->kind == REAL)
		json_f64(j, key, row->usual);
	else
		json_u64(j, key, (uint64_t)row->usual);
}

static void report_real(const struct option *o, const char *key, struct json *j)
{
	double value = *(const double *)o->field;

	if (value == 0 && o->word)
		json_string(j, key, o->word[0]);
	else if (value == 0 && !o->given)
		json_null(j, key);
	else
		json_f64(j, key, value < 0 && o->setting && o->setting->zero ? 0 : value);
}

static void report_switch(const struct option *o, const char *key, struct json *j)
{
	int value = *(const int *)o->field;

	if (o->word)
		json_string(j, key, o->word[value - o->setting->first]);
	else
		json_bool(j, key, true);
}

static uint64_t number_of(const struct option *o)
{
	switch (o->kind) {
	case U32:
		return *(const uint32_t *)o->field;
	case SIZE:
		return ((const struct size_option *)o->field)->bytes;
	case BYTES:
		return *(const uint64_t *)o->field == MILL_SIZE_NONE ? 0 :
		       *(const uint64_t *)o->field;
	default:
		return *(const uint64_t *)o->field;
	}
}

void option_report(const struct option *o, struct json *j)
{
	const char *key = report_key(o->name);

	if (o->algorithm && !o->given) {
		report_usual(o, key, j);
		return;
	}
	switch (o->kind) {
	case FLAG:
		json_bool(j, key, *(const bool *)o->field);
		return;
	case TEXT:
		json_string(j, key, *(const char *const *)o->field);
		return;
	case LIST:
		json_string(j, key, ((const struct list_option *)o->field)->text);
		return;
	case SIZES:
		report_sizes(o->field, key, j);
		return;
	case CHOICE:
		json_string(j, key, o->word[*(const int *)o->field]);
		return;
	case SWITCH:
		report_switch(o, key, j);
		return;
	case REAL:
		report_real(o, key, j);
		return;
	case REPORT:
	case POLICIES:
		return;
	default:
		if (number_of(o) || o->given)
			json_u64(j, key, number_of(o));
		else
			json_null(j, key);
	}
}

/* ---- Help ---- */

const char *option_default(char *to, const struct option *o)
{
	const struct mill_option *row = o->setting;
	char *zero;

	to[0] = '\0';
	if (row && row->usual_text)
		snprintf(to, OPTION_DEFAULT, "%s", row->usual_text);
	else if (row && row->usual > 0 && o->kind == CHOICE)
		snprintf(to, OPTION_DEFAULT, "%s", o->word[(int)row->usual]);
	else if (row && row->usual > 0)
		snprintf(to, OPTION_DEFAULT, "%g", row->usual);
	zero = strstr(to, "e-0");
	if (zero)	/* 1e-06 becomes 1e-6 */
		memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
	return to;
}

#define HELP_LEFT 29	/* columns before an option's help */
#define HELP_WIDTH 100

/* Prints text from column HELP_LEFT on, in lines of at most HELP_WIDTH columns. */
static void print_wrapped(const char *text)
{
	size_t at = HELP_LEFT;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > HELP_LEFT && at + 1 + n > HELP_WIDTH) {
			printf("\n%*s", HELP_LEFT, "");
			at = HELP_LEFT;
		}
		at += (size_t)printf("%s%.*s", at > HELP_LEFT ? " " : "", (int)n, text);
		text += n + strspn(text + n, " ");
	}
	putchar('\n');
}

void option_help(const struct option *o)
{
	char left[64], usual[OPTION_DEFAULT], text[512];

	snprintf(left, sizeof(left), "--%s%s%s", o->name,
		 o->argument && o->argument[0] != '[' ? " " : "", o->argument ? o->argument : "");
	option_default(usual, o);
	snprintf(text, sizeof(text), "%s%s%s%s%s%s", o->policy ? o->policy->name : "",
		 o->policy ? ": " : "", o->help, *usual ? " (default " : "", usual,
		 *usual ? ")" : "");
	if (strlen(left) + 3 > HELP_LEFT)
		printf("  %s\n%*s", left, HELP_LEFT, "");
	else
		printf("  %-*s ", HELP_LEFT - 3, left);
	print_wrapped(text);
}
