/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One option of a command: its name, its type, its values and its help. An option is a row: of the
 * table of general options (option_table.c), of a policy (mill_policies()) or of an algorithm
 * (mill_algorithms()). Parsing, help, completion and reports use only these rows.
 *
 * 0 is the default of every field. If the user can give 0, another value stands for it
 * (MILL_SIZE_NONE, or -1 for a real number). If two options set the same field, only one of them
 * can be given.
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <millrace.h>

#include "cli/json.h"

struct command;

enum option_kind {
	FLAG,		/* bool */
	TEXT,		/* const char * */
	LIST,		/* struct list_option: can be given several times */
	U32,
	U64,
	REAL,		/* double; its word, such as "auto", means 0 */
	CHOICE,		/* int: the index of the word */
	SWITCH,		/* int: see MILL_OPTION_SWITCH */
	SIZE,		/* struct size_option */
	SIZES,		/* struct sizes_option */
	BYTES,		/* uint64_t: a size of a policy or algorithm */
	REPORT,		/* struct report_option: --json[=FILE] */
	POLICIES	/* no option: marks where the options of policies come in the table */
};

/* A size stays text until the store is open: only then it is known what 100 % is. */
struct size_option {
	const char *text;	/* NULL: not given */
	uint64_t bytes;
};

/* One size for each device. The last one also counts for all later devices. */
struct sizes_option {
	const char *text;	/* "4M,25%"; NULL: not given */
	uint64_t bytes[MILL_DEVICES_MOST];
	uint32_t n;
};

struct list_option {
	const char *text;	/* items separated by commas */
	char room[1024];	/* the joined items */
};

struct report_option {
	bool wanted;
	const char *file;	/* NULL: to stdout, instead of the text */
};

struct option {
	const char *name;
	enum option_kind kind;
	/* General options: the commands that take it, with ALGO for all commands of algorithms. */
	const char *commands;
	/* Offset of the field in struct options, or in the options struct of the algorithm. */
	size_t at;
	const char *argument;		/* the value as help shows it */
	const char *help;
	/*
	 * The words of a CHOICE or SWITCH; words with a meaning of their own in a TEXT or LIST; the
	 * word that means 0 in a REAL. Ends with NULL.
	 */
	const char *const *word;
	double low, high;		/* bounds of a number; high 0: no upper bound */
	bool open;			/* REAL: the bounds themselves are not allowed */
	bool device;			/* only devices use it: an error with --device cpu */
	bool not_reported;		/* changes only the output, so reports leave it out */
	unsigned traits;		/* not 0: only for algorithms with one of these traits */
	const struct mill_policy *policy;	/* the policy that has this option, or NULL */
	const struct mill_algorithm *algorithm;	/* the algorithm that has this option, or NULL */
	const struct mill_option *setting;	/* the row of that policy or algorithm */
	void *field;			/* where the value goes, once a call is parsed */
	const char *given;		/* the value as given, "" for a flag; NULL: not given */
};

/*
 * Fills in option i of a command. a: the algorithm of plan and lab, NULL if it is not known yet.
 * Returns false if there are not that many options.
 */
bool option_at(struct option *out, const struct command *c, const struct mill_algorithm *a,
	       size_t i);

/* Returns true if a value must follow the option. */
static inline bool option_needs_value(const struct option *o)
{
	return o->kind != FLAG && o->kind != REPORT && o->kind != SWITCH;
}

/* Parses a value into the field. value NULL: the option has none. */
mill_err option_take(struct option *o, const char *value);
/* Adds the value or its default to a report; null for a number without a fixed default. */
void option_report(const struct option *o, struct json *j);
/* Prints one line of help. */
void option_help(const struct option *o);
/* Writes the default as text to `to` ("" if help has nothing to add) and returns `to`. */
#define OPTION_DEFAULT 64
const char *option_default(char *to, const struct option *o);

#endif
