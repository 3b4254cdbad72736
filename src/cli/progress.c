/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the progress bar and catches the signals that stop a run. */
#include "cli/progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"

#define BAR_WIDTH 24

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	if (!caught)
		caught = number;
}

void signals_init(void)
{
	/* Reset on entry: the second signal kills the process at once. */
	struct sigaction stop = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	static const int number[] = { SIGINT, SIGTERM };
	size_t i;

	/* Also if the shell ignores SIGINT for a background job: a run must stop cleanly. */
	for (i = 0; i < sizeof(number) / sizeof(number[0]); i++)
		sigaction(number[i], &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);	/* so that a file size limit is EFBIG */
}

int signals_caught(void)
{
	return caught;
}

void progress_init(struct progress *p, enum progress_when when, bool quiet)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	memset(p, 0, sizeof(*p));
	p->terminal = isatty(STDERR_FILENO) && !(terminal && !strcmp(terminal, "dumb"));
	p->colour = p->terminal && !(no_colour && *no_colour);
	p->shown =
		when == PROGRESS_ALWAYS || (when == PROGRESS_AUTO && p->terminal && !quiet);
}

/* Writes "1.2 M" with powers of 1000, since these are counts. */
static void show_count(char *to, size_t size, double count)
{
	static const char unit[] = " kMGTPE";
	size_t i = 0;

	while (count >= 999.5 && unit[i + 1]) {
		count /= 1000;
		i++;
	}
	snprintf(to, size, "%.*f %.*s", i && count < 99.5, count, i != 0, unit + i);
}

static void draw(struct progress *p, const struct mill_progress *at, double time)
{
	double elapsed = time - p->began;
	double rate = elapsed > 0 ? (double)at->done / elapsed : 0;
	double share = at->total ? (double)at->done / (double)at->total : 0;
	const char *unit = at->unit ? at->unit : "";
	char bar[BAR_WIDTH + 1], speed[32], eta[SHOWN_SIZE + 8] = "";
	int i;

	if (share > 1)
		share = 1;
	for (i = 0; i < BAR_WIDTH; i++)
		bar[i] = i < (int)(share * BAR_WIDTH) ? '#' : '.';
	bar[BAR_WIDTH] = '\0';
	if (!strcmp(unit, "bytes")) {
		show_size(speed, (uint64_t)rate);
		unit = "";
	} else {
		show_count(speed, sizeof(speed), rate);
	}
	if (at->total && rate > 0 && at->done < at->total) {
		char left[SHOWN_SIZE];

		snprintf(eta, sizeof(eta), ", %s left",
			 show_seconds(left, (double)(at->total - at->done) / rate));
	}
	if (p->terminal)
		fputs("\r", stderr);
	fprintf(stderr, "%-16s ", p->what);
	if (at->total)
		fprintf(stderr, "%s[%s]%s %3d%% ", p->colour ? "\033[36m" : "", bar,
			p->colour ? "\033[0m" : "", (int)(share * 100));
	fprintf(stderr, "%s%s/s%s%s", speed, unit, eta, p->terminal ? "\033[K" : "\n");
	fflush(stderr);
	p->drawn = true;
	p->last = time;
}

static int watch(void *arg, const struct mill_progress *at)
{
	struct progress *p = arg;
	double time;

	if (p->shown && at->what) {
		time = now();
		if (strncmp(p->what, at->what, sizeof(p->what) - 1)) {
			snprintf(p->what, sizeof(p->what), "%s", at->what);
			p->began = time;
		}
		if (time - p->last >= (p->terminal ? 0.1 : 1.0))
			draw(p, at, time);
	}
	return caught != 0;
}

struct mill_watcher progress_watcher(struct progress *p)
{
	return (struct mill_watcher){ .watch = watch, .arg = p };
}

void progress_end(struct progress *p)
{
	if (p->drawn && p->terminal)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}
