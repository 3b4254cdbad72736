/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the program and what each of them gets. The program knows no algorithm by name:
 * each algorithm of the library is a command, and its options, help and completion come from the
 * rows that mill_algorithms() and mill_policies() return.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/json.h"
#include "cli/options.h"
#include "cli/progress.h"

struct call;

struct command {
	const char *name;
	mill_err (*run)(struct call *call);
	int min_operands, max_operands;	/* max_operands -1: any number */
	const char *usage;	/* "STORE [options]" */
	const char *summary;	/* one line, without a full stop */
	const char *text;	/* help: more lines; may be NULL */
	const char *example;	/* help: command lines; may be NULL */
	const struct mill_algorithm *algorithm;	/* the algorithm that it runs; NULL: none */
	bool of_algorithm;	/* the first operand names an algorithm (plan, lab) */
	bool predicts;		/* plan: the algorithm does not run */
	bool compares;		/* lab: the algorithm runs on devices, under several policies */
};

/* One call of a command. */
struct call {
	struct command command;
	struct options options;
	struct progress progress;
	struct json report;	/* main() opens it and adds "error"; the command adds all else */
	double began;		/* when the program started, in seconds of now() */
	mill_err refused;	/* not 0: the arguments are wrong; only write the report */
};

/*
 * Fills in command i of all commands: those of the table and one for each algorithm. Returns false
 * if there are not that many.
 */
bool command_at(struct command *out, size_t i);
/* Fills in the command of this name. Returns false if there is none. */
bool command_find(struct command *out, const char *name);
/* Return MILL_EUSAGE with a message that suggests the nearest name. */
mill_err command_unknown(const char *name);
mill_err algorithm_unknown(const char *name);

/*
 * The commands. Each adds all of its keys to the report, also when it fails: null for the values
 * that it does not know.
 */
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

/*
 * Prints the help of one command, for `help COMMAND` and `COMMAND --help`. algorithm: plan and lab
 * also show the options of this one; may be NULL.
 */
void help_command(const struct command *command, const struct mill_algorithm *algorithm);
/* Calls take() with the name of each topic of `list`. */
void each_topic(void (*take)(void *arg, const char *name), void *arg);

#endif
