/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a run as Chrome trace events: spans, each on the track of the thread that it happened on, of the
 * device, or of the disk.
 *
 * A thread works for at most one trace at a time: the caller's is chosen at the beginning of a call on a run, pools
 * hand it on to their workers. Without one a span costs a branch. Events wait in a small buffer of the thread and go
 * from there to the file, which appears whole at the end; after TRACE_EVENTS they are only counted.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/clock.h"
#include "base/memory.h"

#define TRACE_EVENTS 2000000u	/* some 200 MB, about what viewers take */

struct trace;

extern _Thread_local struct trace *trace_current;

mill_err trace_open(struct trace **out, const char *path, struct budget *budget);
/* Writes what is left and makes the file visible. Frees t also when it fails; NULL is fine. */
mill_err trace_close(struct trace *t);

/* What this thread does belongs to t (NULL: to none) from now on. */
void trace_use(struct trace *t);
/* A worker that ends leaves its track to others. */
void trace_leave(void);
/* What the thread's track is called, if it has no name yet; a literal. */
void trace_name(const char *name);

/* Tracks: the thread's own, the device's, and from TRACE_DISK on one for each read that can be under way. */
enum { TRACE_THREAD, TRACE_DEVICE, TRACE_DISK, TRACE_TRACKS = 64 };
/* The slow part of trace_end. name and key (may be NULL) are literals. */
void trace_span(u32 track, f64 began, const char *name, const char *key, u64 value);

/* The beginning of a span; 0: nobody traces. */
static inline f64 trace_begin(void) { return __builtin_expect(trace_current != NULL, 0) ? clock_now() : 0; }

/* The span from `began` until now, with a number that says what it was about. */
static inline void trace_end(f64 began, const char *name, const char *key, u64 value)
{
	if (__builtin_expect(began > 0, 0))
		trace_span(TRACE_THREAD, began, name, key, value);
}

#endif
