/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the arguments of a call into its options, and converts sizes to bytes. */
#include "cli/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"

/* ---- Rows ---- */

/* Returns true if `name`, up to a "=", is the name of the row. */
static bool is_named(const struct option *row, const char *name)
{
	size_t length = strcspn(name, "=");

	return !strncmp(row->name, name, length) && !row->name[length];
}

static struct option *find(const struct options *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->n_rows; i++)
		if (is_named(&o->row[i], name))
			return &o->row[i];
	return NULL;
}

/* Finds an option that the command takes with at least one algorithm. */
static bool find_any(struct option *out, const struct command *c, const char *name)
{
	const struct mill_algorithm *a;
	size_t i;

	for (a = mill_algorithms(); a->name; a++)
		for (i = 0; option_at(out, c, a, i); i++)
			if (is_named(out, name))
				return true;
	return false;
}

static mill_err make_rows(struct options *o, const struct command *c)
{
	struct option row;
	size_t i, n = 0;

	while (option_at(&row, c, o->algorithm, n))
		n++;
	o->row = calloc(n, sizeof(*o->row));
	o->how = calloc(1, o->algorithm && o->algorithm->options_size ?
			o->algorithm->options_size : 1);
	if (!o->row || !o->how)
		return refuse(MILL_ENOMEM, "no memory for the options");
	for (i = 0; i < n; i++) {
		option_at(&o->row[i], c, o->algorithm, i);
		o->row[i].field = (o->row[i].algorithm ? (char *)o->how : (char *)o) + o->row[i].at;
	}
	o->n_rows = n;
	return MILL_OK;
}

/* ---- Parse ---- */

static void defaults(struct options *o, const struct command *c)
{
	*o = (struct options){
		.seed = 1,
		.device.text = c->compares ? "opencl" : "cpu",
		.device_memory.text = c->compares ? "25%" : NULL,
		.policy = "auto",
		.repeat = 1,
	};
}

/*
 * Returns the name of an option in an argument: "x=1" for "--x=1", "output" for "-o", "help" for
 * "-h". Returns NULL if there is none.
 */
static const char *name_in(const char *argument)
{
	if (!strcmp(argument, "-h"))
		return "help";
	if (argument[1] == 'o')
		return "output";
	return argument[1] == '-' ? argument + 2 : NULL;
}

/* Returns the value in the same argument ("--x=1", "-oFILE"), or NULL. */
static const char *value_in(const char *argument)
{
	const char *value = strchr(argument, '=');

	if (argument[1] == 'o')
		return argument[2] ? argument + 2 : NULL;
	return value ? value + 1 : NULL;
}

/*
 * Returns the first operand, or NULL. It names the algorithm of plan and lab, on which the options
 * depend. To skip values of options before it, this uses the options of all algorithms: options of
 * the same name take a value either in all algorithms or in none.
 */
static const char *first_operand(const struct command *c, int argc, char **argv)
{
	struct option row;
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			return i + 1 < argc ? argv[i + 1] : NULL;
		if (argv[i][0] != '-' || !argv[i][1])
			return argv[i];
		if (name_in(argv[i]) && !value_in(argv[i]) &&
		    find_any(&row, c, name_in(argv[i])) && option_needs_value(&row))
			i++;
	}
	return NULL;
}

static mill_err unknown(const struct options *o, const struct command *c, const char *operand,
			const char *argument)
{
	char word[64];
	struct nearest near = { .word = word };
	struct option row;
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(argument, "="), argument);
	if (c->of_algorithm && operand && !o->algorithm)
		return algorithm_unknown(operand);
	if (word[0] == '-' && word[1] == '-') {
		near.word = word + 2;
		if (o->algorithm && c->of_algorithm && find_any(&row, c, near.word))
			return refuse(MILL_EUSAGE, "--%s means nothing for %s", row.name,
				      o->algorithm->name);
		for (i = 0; i < o->n_rows; i++)
			nearest_try(&near, o->row[i].name);
	}
	if (near.best && nearest_found(&near))
		return refuse(MILL_EUSAGE, "%s: unknown option %s; did you mean --%s?", c->name,
			      word, nearest_found(&near));
	return refuse(MILL_EUSAGE, "%s: unknown option %s; see `millrace help %s`", c->name, word,
		      c->name);
}

/* Parses one option and its value. *n: the number of arguments used, 1 or 2. */
static mill_err parse_one(struct option *row, int argc, char **argv, int *n)
{
	const char *value = value_in(argv[0]);
	bool bare = row->kind == FLAG || (row->kind == SWITCH && !row->word);

	*n = 1;
	if (bare && value)
		return refuse(MILL_EUSAGE, "--%s takes no value", row->name);
	if (option_needs_value(row) && !value) {
		/* In "--source --check" the value is missing. */
		if (argc < 2 || !strncmp(argv[1], "--", 2))
			return refuse(MILL_EUSAGE, "--%s needs a value: --%s %s", row->name,
				      row->name, row->argument);
		value = argv[1];
		*n = 2;
	}
	return option_take(row, value);
}

/* Fails if two options were given that set the same field. */
static mill_err check_fields(const struct options *o)
{
	size_t i, k;

	for (i = 0; i < o->n_rows; i++)
		for (k = 0; o->row[i].given && k < i; k++)
			if (o->row[k].given && o->row[k].field == o->row[i].field)
				return refuse(MILL_EUSAGE, "--%s and --%s: give one of them",
					      o->row[i].name, o->row[k].name);
	return MILL_OK;
}

mill_err options_parse(struct options *o, const struct command *c, int argc, char **argv)
{
	const char *operand = c->of_algorithm ? first_operand(c, argc, argv) : NULL;
	mill_err err;
	int i, n;

	defaults(o, c);
	o->algorithm = operand ? mill_algorithm(operand) : c->algorithm;
	o->operand = (const char **)argv;
	err = make_rows(o, c);
	for (i = 0; !err && i < argc; i += n) {
		const char *name = argv[i][0] == '-' ? name_in(argv[i]) : NULL;
		struct option *row = name ? find(o, name) : NULL;

		n = 1;
		if (!strcmp(argv[i], "--")) {
			for (i++; i < argc; i++)
				argv[o->n_operands++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1])
			argv[o->n_operands++] = argv[i];
		else
			err = row ? parse_one(row, argc - i, argv + i, &n) :
			      unknown(o, c, operand, argv[i]);
	}
	return err ? err : check_fields(o);
}

void options_release(struct options *o)
{
	free(o->row);
	free(o->how);
	o->row = NULL;
	o->how = NULL;
	o->n_rows = 0;
}

void options_scan_json(struct options *o, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], "--json")) {
			o->json.wanted = true;
		} else if (!strncmp(argv[i], "--json=", 7) && argv[i][7]) {
			o->json.wanted = true;
			o->json.file = argv[i] + 7;
		}
	}
}

bool option_given(const struct options *o, const char *name)
{
	const struct option *row = find(o, name);

	return row && row->given;
}

mill_err options_check_native(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->n_rows; i++)
		if (o->row[i].given && o->row[i].device)
			return refuse(MILL_EUSAGE,
				      "--%s is only for devices: use it with --device opencl",
				      o->row[i].name);
	return MILL_OK;
}

bool options_have_steps(const struct options *o)
{
	const char *option = o->algorithm->steps_option;
	const struct option *row = option ? find(o, option) : NULL;

	return !row || !strcmp(row->word[*(const int *)row->field], o->algorithm->steps_word);
}

/* ---- Sizes and settings ---- */

mill_err option_size_or_0(struct size_option *size, const char *name, uint64_t csr_bytes)
{
	mill_err err;

	if (!size->text)
		return MILL_OK;
	err = mill_size_parse(&size->bytes, size->text, csr_bytes);
	return err ? refuse(err, "--%s %s: %s", name, size->text, mill_error()) : MILL_OK;
}

mill_err option_size(struct size_option *size, const char *name, uint64_t csr_bytes)
{
	mill_err err = option_size_or_0(size, name, csr_bytes);

	if (!err && size->text && !size->bytes)
		size->bytes = 1;
	return err;
}

mill_err option_sizes(struct sizes_option *sizes, const char *name, uint64_t csr_bytes)
{
	const char *at = sizes->text;
	uint32_t n;

	for (n = 0; at; n++) {
		size_t length = strcspn(at, ",");
		char text[64];
		mill_err err;

		if (n == MILL_DEVICES_MOST)
			return refuse(MILL_EUSAGE, "--%s %s: more than %d sizes", name,
				      sizes->text, MILL_DEVICES_MOST);
		snprintf(text, sizeof(text), "%.*s", (int)length, at);
		err = mill_size_parse(&sizes->bytes[n], text, csr_bytes);
		if (err)
			return refuse(err, "--%s %s: %s", name, sizes->text, mill_error());
		if (!sizes->bytes[n])
			sizes->bytes[n] = 1;
		at = at[length] ? at + length + 1 : NULL;
	}
	sizes->n = n;
	return MILL_OK;
}

mill_err options_settle_sizes(struct options *o, uint64_t csr_bytes)
{
	size_t i;

	for (i = 0; i < o->n_rows; i++) {
		const struct option *row = &o->row[i];
		struct size_option size = { .text = row->given };
		mill_err err;

		if (row->kind != BYTES || !size.text)
			continue;
		err = option_size_or_0(&size, row->name, csr_bytes);
		if (err)
			return err;
		if (!size.bytes)
			size.bytes = row->setting->zero ? MILL_SIZE_NONE : 1;
		*(uint64_t *)row->field = size.bytes;
	}
	return MILL_OK;
}

/* Only numbers and choices have fixed defaults; both have 32 bits. */
void options_settle(struct options *o, const struct mill_policy *policy)
{
	const struct mill_option *setting;

	for (setting = policy->option; setting && setting->name; setting++) {
		uint32_t *field =
			(uint32_t *)((char *)&o->settings + policy->settings + setting->at);

		if (setting->usual > 0 && !*field)
			*field = (uint32_t)setting->usual;
	}
}

const struct mill_option *policy_option(const struct mill_policy *policy, const char *name)
{
	const struct mill_option *setting;

	for (setting = policy->option; setting && setting->name; setting++)
		if (!strcmp(setting->name, name))
			return setting;
	return NULL;
}

void options_report(const struct options *o, struct json *j)
{
	size_t i;

	json_object(j, "options");
	for (i = 0; i < o->n_rows; i++)
		if (!o->row[i].not_reported)
			option_report(&o->row[i], j);
	json_object_end(j);
}
