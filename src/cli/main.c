/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program millrace: finds the command, parses its options, runs it, and ends in one place with
 * the report, at most one line of error, and the exit code.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

/*
 * Opens /dev/null for stdin, stdout and stderr if they are closed. Otherwise the next file that is
 * opened would get their number, and text could be written into a store. /dev/null is opened for
 * reading only, so that writing to a closed stdout is still an error.
 */
static void reserve_streams(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

static mill_err check_call(const struct call *call)
{
	const struct command *c = &call->command;
	const struct options *o = &call->options;

	if (o->n_operands < c->min_operands)
		return refuse(MILL_EUSAGE, "%s: too few arguments; usage: millrace %s %s",
			      c->name, c->name, c->usage);
	if (c->max_operands >= 0 && o->n_operands > c->max_operands)
		return refuse(MILL_EUSAGE,
			      "%s: '%s' is one argument too many; usage: millrace %s %s",
			      c->name, o->operand[c->max_operands], c->name, c->usage);
	if (o->json.wanted && !o->json.file && o->output && !strcmp(o->output, "-"))
		return refuse(MILL_EUSAGE,
			      "-o - and --json both want stdout: use --json=FILE");
	if (o->json.file)
		return output_possible("--json", o->json.file);
	return MILL_OK;
}

static mill_err dispatch(struct call *call, int argc, char **argv)
{
	const struct command *c = &call->command;

	call->refused = options_parse(&call->options, c, argc, argv);
	if (!call->refused && call->options.help) {
		call->options.json.wanted = false;
		help_command(c, call->options.algorithm);
		return MILL_OK;
	}
	if (call->refused)
		options_scan_json(&call->options, argc, argv);
	else
		call->refused = check_call(call);
	/* The report of a run has all of its keys, also if the arguments are wrong. */
	if (call->refused && !(call->options.json.wanted && c->algorithm))
		return call->refused;
	progress_init(&call->progress, (enum progress_when)call->options.progress,
		      call->options.quiet);
	return c->run(call);
}

/* Ends the program: prints the error line, delivers the report, returns the exit code. */
static int finish(struct call *call, mill_err err)
{
	mill_err late = MILL_OK;
	int code = (int)err;

	progress_end(&call->progress);
	if (err == MILL_ECANCELLED) {
		int number = signals_caught();

		refuse(err, "%s: stopped by %s", call->command.name,
		       number == SIGTERM ? "SIGTERM" : "SIGINT");
		code = 128 + (number ? number : SIGINT);
	}
	if (err)
		fprintf(stderr, "millrace: %s\n", message());
	if (call->options.json.wanted)
		late = report_deliver(call, code);
	if (!late)
		late = stdout_finish();
	if (late && !err) {
		fprintf(stderr, "millrace: %s\n", message());
		code = (int)late;
	}
	json_release(&call->report);
	options_release(&call->options);
	return code;
}

int main(int argc, char **argv)
{
	struct call call = { .report = JSON_EMPTY };
	mill_err err;

	call.began = now();
	message_clear();	/* tests call main again and again */
	reserve_streams();
	signals_init();
	if (argc > 1 && (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))) {
		printf("millrace %s (%s)\n", mill_version(), mill_features());
		return finish(&call, MILL_OK);
	}
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		argv[1] = "help";
	if (argc > 1 && command_find(&call.command, argv[1])) {
		json_object(&call.report, NULL);
		json_string(&call.report, "millrace", mill_version());
		json_string(&call.report, "command", call.command.name);
		err = dispatch(&call, argc - 2, argv + 2);
	} else if (argc > 1) {
		err = command_unknown(argv[1]);
	} else {
		err = refuse(MILL_EUSAGE, "no command is given; see `millrace help`");
	}
	return finish(&call, err);
}
