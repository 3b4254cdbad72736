/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a run as Chrome trace events: spans, each on the track of the thread that it happened on, of a
 * device's queue, or of the disk.
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

/*
 * Tracks: the thread's own, the device's as the host sees it, from TRACE_DISK on one for each read that can be under way, and from
 * TRACE_QUEUE on two for each queue of a device: 2q transfers of queue q, 2q + 1 its kernels; those of the next device follow.
 */
enum {
	TRACE_THREAD, TRACE_DEVICE, TRACE_DISK, TRACE_QUEUE = 64, TRACE_QUEUES = 257, TRACE_DEVICES = 16,
	TRACE_TRACKS = TRACE_QUEUE + 2 * TRACE_QUEUES * TRACE_DEVICES
};
/* The slow part of trace_end. name and key (may be NULL) are literals, or of trace_word. */
void trace_span(u32 track, f64 began, const char *name, const char *key, u64 value);
/* What ended before now. */
void trace_past(u32 track, f64 began, f64 ended, const char *name, const char *key, u64 value);
/* A copy of the text that lives as long as the trace of this thread; without memory, or without a trace, a literal instead. */
const char *trace_word(const char *text);

/* The beginning of a span; 0: nobody traces. */
static inline f64 trace_begin(void) { return __builtin_expect(trace_current != NULL, 0) ? clock_now() : 0; }

/* The span from `began` until now, with a number that says what it was about. */
static inline void trace_end(f64 began, const char *name, const char *key, u64 value)
{
	if (__builtin_expect(began > 0, 0))
		trace_span(TRACE_THREAD, began, name, key, value);
}

#endif
