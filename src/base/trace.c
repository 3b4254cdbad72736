/* SPDX-License-Identifier: Apache-2.0 */
/* The trace: a buffer of events for each thread, written to one file. */
#include "base/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/bitmap.h"
#include "base/file.h"

#define TRACK_EVENTS 256u	/* events that wait in a thread's buffer */
#define FIRST_TRACK 1000000u	/* added in the file to the numbers of tracks of no thread */

struct event {
	const char *name, *key;
	f64 began, ended;
	u64 value;
	u32 track;	/* TRACE_THREAD and so on */
};

/* The track of one thread, and the thread's events (for any track) that are not written yet. */
struct track {
	struct track *next;
	const char *name;
	pthread_t thread;
	bool taken;		/* in use by a thread that has not ended */
	u32 number, n_events;
	struct event event[TRACK_EVENTS];
};

struct word {
	struct word *next;
	char text[];
};

struct trace {
	u64 id;
	struct budget *budget;
	struct outfile *file;
	struct track *track;	/* list of the threads' tracks */
	u32 n_tracks;
	f64 began;
	pthread_mutex_t lock;	/* guards the fields below, the list of tracks and the file */
	u64 written, dropped;	/* events */
	struct word *word;	/* list of the texts of trace_word */
	u64 used[TRACE_TRACKS / 64 + 1];	/* bitmap of the tracks that have events */
	struct error error;	/* first failure of a write */
};

_Thread_local struct trace *trace_current;
/*
 * The thread's track in the trace with id my_id. The trace's address would not identify the trace:
 * another thread may have closed it, and a new trace may have the same address. Ids are never
 * reused.
 */
static _Thread_local struct track *my_track;
static _Thread_local u64 my_id;
static u64 last_id;	/* atomic */

mill_err trace_open(struct trace **out, const char *path, struct budget *budget)
{
	struct trace *t;
	mill_err err;

	TRY(memory_new(&t, budget, 1, sizeof(*t), "the trace"));
	t->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	t->budget = budget;
	t->began = clock_now();
	pthread_mutex_init(&t->lock, NULL);
	err = outfile_open(&t->file, path);
	if (!err)
		err = outfile_printf(t->file,
				     "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
				     "{\"ph\": \"M\", \"name\": \"process_name\", "
				     "\"pid\": 1, \"tid\": 0, "
				     "\"args\": {\"name\": \"millrace\"}}");
	if (err) {
		outfile_abandon(t->file);
		pthread_mutex_destroy(&t->lock);
		memory_free(t);
		return err;
	}
	*out = t;
	return MILL_OK;
}

void trace_use(struct trace *t) { trace_current = t; }

/* ---- Writing, under the lock ---- */

static mill_err write_event(struct trace *t, u32 thread_track, const struct event *e)
{
	/* Microseconds with three digits, since the clock has nanoseconds. */
	TRY(outfile_printf(t->file,
			   ",\n{\"ph\": \"X\", \"name\": \"%s\", \"pid\": 1, \"tid\": %u, "
			   "\"ts\": %.3f, \"dur\": %.3f",
			   e->name,
			   e->track == TRACE_THREAD ? thread_track : FIRST_TRACK + e->track,
			   (e->began - t->began) * 1e6, (e->ended - e->began) * 1e6));
	if (e->key)
		TRY(outfile_printf(t->file, ", \"args\": {\"%s\": %llu}", e->key,
				   (unsigned long long)e->value));
	return outfile_printf(t->file, "}");
}

/*
 * Writes the events of a thread's buffer. A failure is kept for trace_close and does not replace
 * the calling thread's last error.
 */
static void write_track(struct trace *t, struct track *l)
{
	mill_err err = t->error.code;
	struct error kept;

	error_save(&kept, MILL_OK);
	for (u32 i = 0; i < l->n_events; i++) {
		if (err || t->written >= TRACE_EVENTS) {
			t->dropped++;
			continue;
		}
		bitmap_put(t->used, l->event[i].track);
		err = write_event(t, l->number, &l->event[i]);
		t->written++;
		if (err)
			error_save(&t->error, err);
	}
	l->n_events = 0;
	error_restore(&kept);
}

static mill_err write_track_name(struct trace *t, u32 number, const char *name)
{
	return outfile_printf(t->file,
			      ",\n{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, "
			      "\"tid\": %u, \"args\": {\"name\": \"%s\"}}", number, name);
}

/* Names a queue's track. The first device has no number, since it is mostly the only one. */
static void name_queue(char *name, size_t size, u32 track)
{
	u32 device = track / (2 * TRACE_QUEUES), queue = track / 2 % TRACE_QUEUES;
	const char *what = track % 2 ? "kernels" : "transfers";

	if (device)
		snprintf(name, size, "device %u queue %u %s", device, queue, what);
	else
		snprintf(name, size, "queue %u %s", queue, what);
}

static mill_err write_end(struct trace *t)
{
	char name[64];

	for (const struct track *l = t->track; l; l = l->next) {
		snprintf(name, sizeof(name), "%s %u", l->name ? l->name : "worker", l->number);
		TRY(write_track_name(t, l->number, name));
	}
	for (u32 i = TRACE_DEVICE; i < TRACE_TRACKS; i++) {
		if (!bitmap_get(t->used, i))
			continue;
		if (i == TRACE_DEVICE)
			snprintf(name, sizeof(name), "device");
		else if (i < TRACE_QUEUE)
			snprintf(name, sizeof(name), "disk %u", i - TRACE_DEVICE);
		else
			name_queue(name, sizeof(name), i - TRACE_QUEUE);
		TRY(write_track_name(t, FIRST_TRACK + i, name));
	}
	return outfile_printf(t->file,
			      "\n], \"otherData\": {\"events\": %llu, \"dropped\": %llu}}\n",
			      (unsigned long long)t->written, (unsigned long long)t->dropped);
}

mill_err trace_close(struct trace *t)
{
	mill_err err;

	if (!t)
		return MILL_OK;
	if (trace_current == t)
		trace_use(NULL);
	for (struct track *l = t->track; l; l = l->next)
		write_track(t, l);
	err = t->error.code ? error_restore(&t->error) : write_end(t);
	if (err)
		outfile_abandon(t->file);
	else
		err = outfile_commit(t->file);
	while (t->track) {
		struct track *next = t->track->next;

		memory_free(t->track);
		t->track = next;
	}
	while (t->word) {
		struct word *next = t->word->next;

		memory_free(t->word);
		t->word = next;
	}
	pthread_mutex_destroy(&t->lock);
	memory_free(t);
	return err;
}

/* ---- Tracks ---- */

/*
 * Returns the track that the thread had before, or one that another thread left, or a new one.
 * NULL if there is no memory.
 */
static struct track *find_track(struct trace *t)
{
	pthread_t self = pthread_self();
	struct track *l, *left = NULL;

	pthread_mutex_lock(&t->lock);
	for (l = t->track; l && !(l->taken && pthread_equal(l->thread, self)); l = l->next)
		if (!l->taken)
			left = l;
	if (!l)
		l = left;
	if (!l && !memory_new(&l, t->budget, 1, sizeof(*l), "the trace")) {
		l->number = ++t->n_tracks;
		l->next = t->track;
		t->track = l;
	}
	if (l) {
		l->thread = self;
		l->taken = true;
	}
	pthread_mutex_unlock(&t->lock);
	return l;
}

static struct track *track_of_thread(void)
{
	struct error kept;

	if (my_track && my_id == trace_current->id)
		return my_track;
	error_save(&kept, MILL_OK);
	my_track = find_track(trace_current);
	my_id = trace_current->id;
	error_restore(&kept);
	return my_track;
}

void trace_leave(void)
{
	struct trace *t = trace_current;

	if (!t || !my_track || my_id != t->id)
		return;
	pthread_mutex_lock(&t->lock);
	my_track->taken = false;
	pthread_mutex_unlock(&t->lock);
	my_track = NULL;
}

void trace_name(const char *name)
{
	struct track *l = trace_current ? track_of_thread() : NULL;

	if (l && !l->name)
		l->name = name;
}

const char *trace_word(const char *text)
{
	struct trace *t = trace_current;
	size_t size = strlen(text) + 1;
	struct word *w = NULL;
	struct error kept;

	if (!t)
		return "?";
	pthread_mutex_lock(&t->lock);
	for (w = t->word; w && strcmp(w->text, text); w = w->next)
		;
	error_save(&kept, MILL_OK);
	if (!w && !memory_new(&w, t->budget, 1, sizeof(*w) + size, "the trace")) {
		memcpy(w->text, text, size);
		w->next = t->word;
		t->word = w;
	}
	error_restore(&kept);
	pthread_mutex_unlock(&t->lock);
	return w ? w->text : "?";
}

void trace_past(u32 track, f64 began, f64 ended, const char *name, const char *key, u64 value)
{
	struct trace *t = trace_current;
	struct track *l = t ? track_of_thread() : NULL;

	if (!t)
		return;
	if (!l) {
		pthread_mutex_lock(&t->lock);
		t->dropped++;
		pthread_mutex_unlock(&t->lock);
		return;
	}
	l->event[l->n_events++] = (struct event){ name, key, began, ended, value, track };
	if (l->n_events < TRACK_EVENTS)
		return;
	pthread_mutex_lock(&t->lock);
	write_track(t, l);
	pthread_mutex_unlock(&t->lock);
}

void trace_span(u32 track, f64 began, const char *name, const char *key, u64 value)
{
	trace_past(track, began, clock_now(), name, key, value);
}
