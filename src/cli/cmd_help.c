/* SPDX-License-Identifier: Apache-2.0 */
/* The command help: the list of commands, or the options and examples of one command. */
#include <stdio.h>

#include "cli/command.h"

/* Prints a title and a list of names. */
static void print_names(const char *title, const char *first, const char *const *name)
{
	printf("  %-26s %s", title, first);
	for (; name && *name; name++)
		printf(" %s", *name);
	printf("\n");
}

void help_command(const struct command *c, const struct mill_algorithm *algorithm)
{
	struct option row;
	size_t i;

	printf("usage: millrace %s %s\n\n%s.\n", c->name, c->usage, c->summary);
	if (c->text)
		printf("\n%s", c->text);
	printf("\noptions:\n");
	for (i = 0; option_at(&row, c, algorithm, i); i++)
		option_help(&row);
	if (c->of_algorithm && !algorithm)
		printf("  and the options of ALGO    "
		       "see `millrace help ALGO` or `millrace %s ALGO --help`\n", c->name);
	if (c->algorithm) {
		printf("\nresult:\n");
		print_names("columns (-o)", "id", c->algorithm->column);
		print_names("facts (--json)", "hash", c->algorithm->fact);
	}
	if (c->example)
		printf("\nexamples:\n%s", c->example);
}

mill_err cmd_help(struct call *call)
{
	struct command c;
	char usage[80];
	size_t i;

	if (call->options.n_operands) {
		if (!command_find(&c, call->options.operand[0]))
			return command_unknown(call->options.operand[0]);
		help_command(&c, c.algorithm);
		return MILL_OK;
	}
	printf("Millrace analyses graphs that do not fit into memory, on one machine.\n\n"
	       "usage: millrace COMMAND ...\n\n");
	for (i = 0; command_at(&c, i); i++) {
		snprintf(usage, sizeof(usage), "%s %s", c.name, c.usage);
		printf("  %-44s %s\n", usage, c.summary);
	}
	printf("\n`millrace help COMMAND` shows options and examples of a command;\n"
	       "`millrace --version` shows the version and the features of this build.\n"
	       "Sizes take K, M, G (powers of 1024). --json prints a report for programs.\n"
	       "\nexit codes:\n"
	       "  0 done                 4 corrupt store          8 device failed or missing\n"
	       "  1 bug in Millrace      5 I/O error              9 limit exceeded\n"
	       "  2 usage                6 no space left         10 store locked\n"
	       "  3 bad input            7 memory too small      11 --check: wrong result\n"
	       "  130, 143 interrupted\n"
	       "\nexamples:\n"
	       "  millrace generate kron --scale 20 -o kron20.mill\n"
	       "  millrace bfs kron20.mill --source max-degree --memory 100M --check\n");
	return MILL_OK;
}
