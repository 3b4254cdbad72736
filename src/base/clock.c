/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and the ticker. */
#include "base/clock.h"

#include <time.h>

#define TICK_SECONDS 0.1

static f64 seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

f64 clock_now(void) { return seconds_of(CLOCK_MONOTONIC); }

f64 clock_cpu(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

void ticker_init(struct ticker *t, const struct mill_watcher *watcher)
{
	*t = (struct ticker){ .last = -TICK_SECONDS };
	if (watcher)
		t->watcher = *watcher;
}

void ticker_begin(struct ticker *t, const char *what, const char *unit, u64 total)
{
	t->progress = (struct mill_progress){ .what = what, .unit = unit, .total = total };
}

mill_err ticker_tick(struct ticker *t, u64 done)
{
	f64 now;

	t->progress.done = done;
	if (!ticker_cancelled(t) && t->watcher.watch) {
		now = clock_now();
		if (now - t->last < TICK_SECONDS)
			return MILL_OK;
		t->last = now;
		if (t->watcher.watch(t->watcher.arg, &t->progress))
			__atomic_store_n(&t->cancelled, true, __ATOMIC_RELAXED);
	}
	if (ticker_cancelled(t))
		return fail(MILL_ECANCELLED, "cancelled");
	return MILL_OK;
}

bool ticker_cancelled(const struct ticker *t)
{
	return __atomic_load_n(&t->cancelled, __ATOMIC_RELAXED);
}
