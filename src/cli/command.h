/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: the table that main and help read, and what a command is given. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"

/* One call of a command. */
struct call {
	const struct command *command;
	struct options options;
	struct progress progress;
	struct json report;	/* main opens it and adds "error", the command all else */
	double began;
	mill_err refused;	/* not 0: the arguments are wrong and only the report is wanted */
};

struct command {
	const char *name;
	unsigned who;		/* its bit in the table of options */
	mill_err (*run)(struct call *call);
	int min_operands, max_operands;	/* max -1: any number */
	const char *usage;	/* "STORE [options]" */
	const char *summary;
	const char *text;	/* help: a few lines more */
	const char *example;	/* help: lines */
};

/* Ends with an entry whose name is NULL. */
extern const struct command commands[];
/* NULL if there is none. */
const struct command *command_find(const char *name);
/* Refuses an unknown command, with the nearest name. */
mill_err command_unknown(const char *name);

/* Each adds its keys to the report also when it fails: those that it knows, null for the others. */
mill_err cmd_import(struct call *call);
mill_err cmd_generate(struct call *call);
mill_err cmd_export(struct call *call);
mill_err cmd_info(struct call *call);
mill_err cmd_verify(struct call *call);
mill_err cmd_plan(struct call *call);
mill_err cmd_lab(struct call *call);
mill_err cmd_run(struct call *call);
mill_err cmd_list(struct call *call);
mill_err cmd_help(struct call *call);

/* The help of one command, for `help COMMAND` and `COMMAND --help`. */
void help_command(const struct command *command);

#endif
