/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress bar on stderr, and the signals that stop a run. The library's watcher does both: it
 * draws the bar, and cancels the call after a signal.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <millrace.h>

struct progress {
	bool shown;		/* there is a bar */
	bool terminal;		/* redraw one line; false: print one line per second */
	bool colour;
	bool drawn;		/* the bar is on the terminal's line now */
	char what[64];		/* the current phase */
	double began;		/* when that phase began */
	double last;		/* when the bar was last drawn */
};

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

void progress_init(struct progress *p, enum progress_when when, bool quiet);
/* Returns the watcher for the library. p must live as long as the library's call. */
struct mill_watcher progress_watcher(struct progress *p);
/* Clears the bar, so that the next text starts on an empty line. */
void progress_end(struct progress *p);

/*
 * Installs the handlers. The first SIGINT or SIGTERM asks the run to stop, the second one kills
 * the process. SIGPIPE is ignored, so that a closed pipe is an error of write().
 */
void signals_init(void);
/* Returns the number of the signal that came, or 0. */
int signals_caught(void);

#endif
