/* SPDX-License-Identifier: Apache-2.0 */
/* Time, and the watcher that is told of progress. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/error.h"
#include "base/types.h"

/* Seconds of a monotonic clock. */
f64 clock_now(void);
/* Seconds that all threads of the process have computed: who else is on the machine does not count. */
f64 clock_cpu(void);

/*
 * Tells the watcher, at most about ten times a second. Only the thread that called the library may
 * tick. MILL_ECANCELLED when the watcher says stop, and for ever after.
 */
struct ticker {
	struct mill_watcher watcher;
	struct mill_progress progress;
	f64 last;
	bool cancelled;	/* atomic: workers look at it */
};

void ticker_init(struct ticker *t, const struct mill_watcher *watcher);
void ticker_begin(struct ticker *t, const char *what, const char *unit, u64 total);
/* done: so far in this phase. */
mill_err ticker_tick(struct ticker *t, u64 done);
bool ticker_cancelled(const struct ticker *t);

#endif
