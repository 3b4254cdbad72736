/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: which there are, and what each is given. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"

struct call;

struct command {
	const char *name;
	mill_err (*run)(struct call *call);
	int min_operands, max_operands;	/* max -1: any number */
	const char *usage;	/* "STORE [options]" */
	const char *summary;
	const char *text;	/* help: a few lines more */
	const char *example;	/* help: lines */
	const struct mill_algorithm *algorithm;	/* that it runs; NULL: it is a command of its own */
	bool of_algorithm;	/* its first operand is one ... */
	bool predicts;		/* ... which does not run */
	bool compares;		/* ... which runs on devices, under several policies */
};

/* One call of a command. */
struct call {
	struct command command;
	struct options options;
	struct progress progress;
	struct json report;	/* main opens it and adds "error", the command all else */
	double began;
	mill_err refused;	/* not 0: the arguments are wrong and only the report is wanted */
};

/* Fills in command i of all: those of the table, and one for each algorithm. False: there are not so many. */
bool command_at(struct command *out, size_t i);
/* False if there is none of this name. */
bool command_find(struct command *out, const char *name);
/* Refuses an unknown command or algorithm, with the nearest name. */
mill_err command_unknown(const char *name);
mill_err algorithm_unknown(const char *name);

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
mill_err cmd_completion(struct call *call);
mill_err cmd_help(struct call *call);

/* Prints the help of one command, for `help COMMAND` and `COMMAND --help`; algorithm: whose options plan and lab show too, or NULL. */
void help_command(const struct command *command, const struct mill_algorithm *algorithm);
/* Calls for each topic of `list`. */
void each_topic(void (*take)(void *arg, const char *name), void *arg);

#endif
