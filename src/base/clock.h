/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, and the ticker that reports progress to the caller's watcher. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/error.h"
#include "base/types.h"

/* Returns the seconds of a monotonic clock. */
f64 clock_now(void);
/* Returns the CPU seconds used by all threads of this process. Other processes do not count. */
f64 clock_cpu(void);

/*
 * Calls the watcher at most about ten times a second. Only the thread that called the library
 * may tick. When the watcher asks to stop, this tick and all later ones fail with
 * MILL_ECANCELLED.
 */
struct ticker {
	struct mill_watcher watcher;
	struct mill_progress progress;
	f64 last;	/* time of the last call of the watcher */
	bool cancelled;	/* atomic: worker threads read it */
};

void ticker_init(struct ticker *t, const struct mill_watcher *watcher);
/* Begins a phase called `what` that has `total` units of work. */
void ticker_begin(struct ticker *t, const char *what, const char *unit, u64 total);
/* done: units of this phase that are complete. */
mill_err ticker_tick(struct ticker *t, u64 done);
bool ticker_cancelled(const struct ticker *t);

#endif
