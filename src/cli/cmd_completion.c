/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command completion: prints a script for a shell, and answers the script's question, what the
 * last word of a line can become. The answers come from the rows of commands and options.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/message.h"

/* For bash, and for zsh, which can emulate the completion functions of bash. */
#define BASH                                                                            \
	"_millrace() {\n"                                                               \
	"\tlocal IFS=$'\\n'\n"                                                          \
	"\tCOMPREPLY=($(\"${COMP_WORDS[0]}\" completion words -- "                      \
	"\"${COMP_WORDS[@]:1:$COMP_CWORD}\" 2>/dev/null))\n"                            \
	"\t[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *: ]] || compopt -o nospace " \
	"2>/dev/null || true\n"                                                         \
	"}\n"                                                                           \
	"complete -o bashdefault -o default -F _millrace millrace\n"

static const struct {
	const char *shell, *script;
} scripts[] = {
	{ "bash", BASH },
	{ "zsh", "autoload -U +X compinit bashcompinit\ncompinit\nbashcompinit\n" BASH },
	{ "fish",
	  "complete -c millrace -a '(set -l words (commandline -opc) (commandline -ct); "
	  "$words[1] completion words -- $words[2..-1] 2>/dev/null)'\n" },
};

/* ---- Words ---- */

/* The word to complete. */
struct partial_word {
	const char *begin;	/* what the user typed so far */
	const char *option;	/* not NULL: the word on the line is "--option=" and then `begin` */
};

static void offer(void *arg, const char *word)
{
	const struct partial_word *w = arg;

	if (strncmp(word, w->begin, strlen(w->begin)))
		return;
	if (w->option)
		printf("--%s=", w->option);
	printf("%s\n", word);
}

static void offer_list(struct partial_word *w, const char *const *word)
{
	for (; word && *word; word++)
		offer(w, *word);
}

static void offer_policies(struct partial_word *w)
{
	const struct mill_policy *p;

	for (p = mill_policies(); p->name; p++)
		offer(w, p->name);
}

static void offer_variants(struct partial_word *w)
{
	const struct mill_variant *v;

	for (v = mill_lab_policies(); v->name; v++)
		offer(w, v->name);
}

static void offer_formats(struct partial_word *w) { offer_list(w, mill_formats()); }

/* Options that take a word of one of the library's lists. */
static const struct {
	const char *option;
	void (*offer)(struct partial_word *w);
} library_words[] = {
	{ "policy", offer_policies },
	{ "policies", offer_variants },
	{ "format", offer_formats },
};

/* If no word is offered, the shell offers files. */
static void offer_values(struct partial_word *w, const struct option *row)
{
	size_t i;

	offer_list(w, row->word);
	for (i = 0; !row->word && i < sizeof(library_words) / sizeof(library_words[0]); i++)
		if (!strcmp(library_words[i].option, row->name))
			library_words[i].offer(w);
}

static void offer_options(struct partial_word *w, const struct command *c,
			  const struct mill_algorithm *a)
{
	char word[64];
	struct option row;
	size_t i;

	for (i = 0; option_at(&row, c, a, i); i++) {
		snprintf(word, sizeof(word), "--%s", row.name);
		offer(w, word);
	}
}

static void offer_commands(struct partial_word *w)
{
	struct command c;
	size_t i;

	for (i = 0; command_at(&c, i); i++)
		offer(w, c.name);
}

/* Offers the words for operand number n. */
static void offer_operand(struct partial_word *w, const struct command *c, size_t n)
{
	const struct mill_algorithm *a;
	size_t i;

	if (n)
		return;
	for (a = mill_algorithms(); c->of_algorithm && a->name; a++)
		offer(w, a->name);
	if (c->run == cmd_help)
		offer_commands(w);
	else if (c->run == cmd_list)
		each_topic(offer, w);
	else if (c->run == cmd_generate)
		offer_list(w, mill_generators());
	for (i = 0; c->run == cmd_completion && i < sizeof(scripts) / sizeof(scripts[0]); i++)
		offer(w, scripts[i].shell);
}

static bool find(struct option *out, const struct command *c, const struct mill_algorithm *a,
		 const char *name, size_t length)
{
	size_t i;

	for (i = 0; option_at(out, c, a, i); i++)
		if (!strncmp(out->name, name, length) && !out->name[length])
			return true;
	return false;
}

/* What the words before the last one say about it. */
struct line_ctx {
	const struct mill_algorithm *algorithm;
	size_t n_operands;
	bool value;		/* the last word is the value of option `row` */
	struct option row;
};

/* Reads the n words before the last one. bash splits "--lcc=directed" into three words. */
static void read_words(struct line_ctx *x, const struct command *c, const char *const *word, int n)
{
	struct option row;
	int i;

	*x = (struct line_ctx){ .algorithm = c->algorithm };
	for (i = 0; i < n; i++) {
		const char *name = !strcmp(word[i], "-o") ? "output" :
				   !strncmp(word[i], "--", 2) ? word[i] + 2 : NULL;

		x->value = false;
		if (!name && word[i][0] != '-') {
			if (!x->n_operands++ && c->of_algorithm)
				x->algorithm = mill_algorithm(word[i]);
			continue;
		}
		if (!name || strchr(name, '=') || !find(&row, c, x->algorithm, name, strlen(name)))
			continue;
		if (i + 1 < n && !strcmp(word[i + 1], "="))
			i++;
		else if (!option_needs_value(&row))
			continue;
		x->row = row;
		x->value = ++i == n;
	}
}

/* Offers completions of the last of n words. The first word is the command. */
static void complete(const char *const *word, int n)
{
	struct partial_word w = { .begin = word[n - 1] };
	const char *equals = strchr(w.begin, '=');
	struct command c;
	struct line_ctx x;
	struct option row;

	if (n == 1) {
		offer_commands(&w);
		return;
	}
	if (!command_find(&c, word[0]))
		return;
	read_words(&x, &c, word + 1, !strcmp(w.begin, "=") ? n - 1 : n - 2);
	if (!strcmp(w.begin, "="))
		w.begin = "";
	if (x.value) {
		offer_values(&w, &x.row);
	} else if (equals && !strncmp(w.begin, "--", 2)) {
		if (find(&row, &c, x.algorithm, w.begin + 2, (size_t)(equals - w.begin) - 2)) {
			w = (struct partial_word){ equals + 1, row.name };
			offer_values(&w, &row);
		}
	} else if (w.begin[0] == '-') {
		offer_options(&w, &c, x.algorithm);
	} else {
		offer_operand(&w, &c, x.n_operands);
	}
}

mill_err cmd_completion(struct call *call)
{
	const char *const *operand = call->options.operand;
	int n = call->options.n_operands;
	size_t i;

	if (!strcmp(operand[0], "words") && n > 1) {
		complete(operand + 1, n - 1);
		return MILL_OK;
	}
	for (i = 0; n == 1 && i < sizeof(scripts) / sizeof(scripts[0]); i++)
		if (!strcmp(operand[0], scripts[i].shell)) {
			fputs(scripts[i].script, stdout);
			return MILL_OK;
		}
	return refuse(MILL_EUSAGE, "completion: the shell must be bash, zsh or fish");
}
