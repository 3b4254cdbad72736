/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a run as Chrome trace events: spans on tracks. A track belongs to a thread, to
 * a device's queue, or to the disk.
 *
 * A trace belongs to a run, but it is not passed around: each thread works for at most one trace
 * at a time. A call on a run chooses the caller's trace, and a pool hands the caller's trace on
 * to its workers. Spans begin where pages and supersteps are processed, so algorithms contain no
 * tracing code.
 *
 * Without a trace a span costs one branch. Events wait in a small buffer of the thread and go
 * from there to the file in batches. The file appears whole at the end. Events beyond
 * TRACE_EVENTS are only counted.
 */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "base/clock.h"
#include "base/memory.h"

#define TRACE_EVENTS 2000000u	/* about 200 MB, which is about as much as viewers can load */

struct trace;

extern _Thread_local struct trace *trace_current;

mill_err trace_open(struct trace **out, const char *path, struct budget *budget);
/*
 * Writes the remaining events and makes the file visible. Frees t, also on failure; NULL is
 * fine.
 */
mill_err trace_close(struct trace *t);

/* From now on, spans of this thread belong to t (NULL: to no trace). */
void trace_use(struct trace *t);
/* A worker calls this before it ends, so that another thread can take over its track. */
void trace_leave(void);
/* Names the thread's track, unless it has a name. The name is a literal. */
void trace_name(const char *name);

/*
 * Numbers of tracks. TRACE_THREAD: the thread's own. TRACE_DEVICE: the device as the host sees
 * it. TRACE_DISK + i: the i-th read that can be under way. TRACE_QUEUE + 2q: transfers of queue
 * q of the first device, TRACE_QUEUE + 2q + 1: its kernels. Tracks of the next device follow
 * 2 * TRACE_QUEUES later.
 */
enum {
	TRACE_THREAD,
	TRACE_DEVICE,
	TRACE_DISK,
	TRACE_QUEUE = 64,
	TRACE_QUEUES = 257,
	TRACE_DEVICES = 16,
	TRACE_TRACKS = TRACE_QUEUE + 2 * TRACE_QUEUES * TRACE_DEVICES
};
/*
 * Records a span from `began` until now. name and key (may be NULL) are literals or come from
 * trace_word.
 */
void trace_span(u32 track, f64 began, const char *name, const char *key, u64 value);
/* Records a span that ended in the past. */
void trace_past(u32 track, f64 began, f64 ended, const char *name, const char *key, u64 value);
/*
 * Returns a copy of the text that lives as long as the thread's trace. Returns the literal "?" if
 * there is no trace or no memory.
 */
const char *trace_word(const char *text);

/* Begins a span: returns the time, or 0 if this thread has no trace. */
static inline f64 trace_begin(void)
{
	return __builtin_expect(trace_current != NULL, 0) ? clock_now() : 0;
}

/* Ends the span that began at `began`. key and value describe the span ("page", 7). */
static inline void trace_end(f64 began, const char *name, const char *key, u64 value)
{
	if (__builtin_expect(began > 0, 0))
		trace_span(TRACE_THREAD, began, name, key, value);
}

#endif
