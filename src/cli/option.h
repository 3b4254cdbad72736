/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One option of a command: what it is called, what it may hold and what help says of it. It is a row of the table of general ones
 * (option_table.c), of a policy (mill_policies()) or of an algorithm (mill_algorithms()).
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <millrace.h>

#include "cli/json.h"

struct command;

enum option_kind {
	FLAG,		/* bool */
	TEXT,		/* const char * */
	LIST,		/* struct list_option: given again it goes on, behind a comma */
	U32,
	U64,
	REAL,		/* double; its word is 0 */
	CHOICE,		/* int: which of the words */
	SWITCH,		/* int: see MILL_OPTION_SWITCH */
	SIZE,		/* struct size_option */
	SIZES,		/* struct sizes_option */
	BYTES,		/* uint64_t: a size of a policy or algorithm */
	REPORT,		/* struct report_option: --json[=FILE] */
	POLICIES	/* no option: here follow those of policies */
};

/* A size waits as text until it is known what 100 % is. */
struct size_option {
	const char *text;	/* NULL: not given */
	uint64_t bytes;
};

/* One for each device, the last for the rest. */
struct sizes_option {
	const char *text;	/* "4M,25%"; NULL: not given */
	uint64_t bytes[MILL_DEVICES_MOST];
	uint32_t n;
};

struct list_option {
	const char *text;	/* items separated by commas */
	char room[1024];	/* for several */
};

struct report_option {
	bool wanted;
	const char *file;	/* NULL: on stdout, instead of text */
};

struct option {
	const char *name;
	enum option_kind kind;
	const char *who;		/* general ones: the commands that take it, ALGO for those of algorithms */
	size_t at;			/* offset in struct options, or in the options of the algorithm */
	const char *argument;		/* as help shows it */
	const char *help;
	const char *const *word;	/* CHOICE, SWITCH; also what a TEXT or LIST may be; what stands for 0 in a REAL. NULL-terminated */
	double low, high;		/* of numbers; high 0: any */
	bool open;			/* REAL: the bounds themselves are out */
	bool device;			/* the cpu would ignore it */
	bool talk;			/* concerns only the talking: not in reports */
	unsigned traits;		/* not 0: only for algorithms that have one of these */
	const struct mill_policy *policy;	/* not NULL: it is one of this policy's ... */
	const struct mill_algorithm *algorithm;	/* ... or this algorithm's ... */
	const struct mill_option *setting;	/* ... and this row of it */
	void *field;			/* of a command that is under way */
	const char *given;		/* the value as it was given, "" of flags; NULL: it was not */
};

/* Fills in option i of a command, of plan and lab with this algorithm (NULL: none is known yet). False: there are not so many. */
bool option_at(struct option *out, const struct command *c, const struct mill_algorithm *a, size_t i);

/* Must a value follow it? */
static inline bool option_needs_value(const struct option *o)
{
	return o->kind != FLAG && o->kind != REPORT && o->kind != SWITCH;
}

/* Parses a value into the field; NULL: none was given. */
mill_err option_take(struct option *o, const char *value);
/* Adds the value, or what its default comes to, to a report; a number that has neither is null. */
void option_report(const struct option *o, struct json *j);
/* Prints a line of help. */
void option_help(const struct option *o);
/* Writes the default as text ("" if there is none to tell) and returns `to`. */
#define OPTION_DEFAULT 64
const char *option_default(char *to, const struct option *o);

#endif
