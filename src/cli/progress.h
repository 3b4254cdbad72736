/* SPDX-License-Identifier: Apache-2.0 */
/* The bar on stderr, and the two signals that ask a run to stop: both live in the watcher. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <millrace.h>

struct progress {
	bool shown;		/* a bar is wanted at all */
	bool terminal;		/* redraw one line; else a line a second */
	bool colour;
	bool drawn;		/* something stands on the terminal's line */
	char what[64];		/* the phase whose rate is measured */
	double began;		/* of that phase */
	double last;		/* when a line was written */
};

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

void progress_init(struct progress *p, enum progress_when when, bool quiet);
/* For the library; p lives as long as the call. */
struct mill_watcher progress_watcher(struct progress *p);
/* Clears the bar, so that what follows has the line for itself. */
void progress_end(struct progress *p);

/* SIGINT and SIGTERM ask to stop, the second one kills. SIGPIPE becomes an error of write. */
void signals_init(void);
/* The signal that came, or 0. */
int signals_caught(void);

#endif
