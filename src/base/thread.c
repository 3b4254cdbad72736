/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of worker threads. */
#define _GNU_SOURCE 1	/* sched_getaffinity */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/trace.h"

#define MAX_WORKERS 1024u
#define STACK_SIZE (1 * MIB)
#define SPIN_SECONDS 10e-6	/* before a thread sleeps; only if every worker has a core */

struct worker {
	struct pool *pool;
	pthread_t thread;	/* unused in worker 0 */
	unsigned number;
	u64 chunk;		/* pool_for: the chunk that failed */
	struct error error;
};

/*
 * The caller publishes a job by increasing `generation` (release); workers see that (acquire) and
 * do their share. The last worker to finish lowers `running` to 0 (release), and the caller goes
 * on when it sees that (acquire). The lock and the conditions serve only threads that sleep.
 */
struct pool {
	unsigned n;
	bool spins;
	bool quit;
	mill_err (*work)(void *arg, unsigned worker);
	void *arg;
	struct trace *trace;	/* the caller's: the workers' spans go there */
	pthread_mutex_t lock;
	pthread_cond_t start, done;
	_Alignas(64) u64 generation;	/* atomic */
	_Alignas(64) unsigned running;	/* atomic: workers other than the caller that still work */
	_Alignas(64) struct worker worker[];
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* Waits a short time for a new generation. Returns false if the thread should sleep now. */
static bool spin_generation(const struct pool *p, u64 seen)
{
	f64 end = p->spins ? clock_now() + SPIN_SECONDS : 0;

	do {
		for (int i = 0; i < 16; i++) {
			if (__atomic_load_n(&p->generation, __ATOMIC_ACQUIRE) != seen)
				return true;
			relax();
		}
	} while (p->spins && clock_now() < end);
	return false;
}

static bool spin_running(const struct pool *p)
{
	f64 end = p->spins ? clock_now() + SPIN_SECONDS : 0;

	do {
		for (int i = 0; i < 16; i++) {
			if (!__atomic_load_n(&p->running, __ATOMIC_ACQUIRE))
				return true;
			relax();
		}
	} while (p->spins && clock_now() < end);
	return false;
}

static void do_share(struct pool *p, struct worker *w)
{
	f64 began;
	mill_err err;

	if (w->number)
		trace_use(p->trace);
	began = trace_begin();
	err = p->work(p->arg, w->number);
	trace_end(began, "share", NULL, 0);
	if (err)
		error_save(&w->error, err);
	else
		w->error.code = MILL_OK;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;
	u64 seen = 0;

	for (;;) {
		if (!spin_generation(p, seen)) {
			pthread_mutex_lock(&p->lock);
			while (__atomic_load_n(&p->generation, __ATOMIC_ACQUIRE) == seen)
				pthread_cond_wait(&p->start, &p->lock);
			pthread_mutex_unlock(&p->lock);
		}
		seen++;
		if (p->quit) {
			trace_use(p->trace);
			trace_leave();
			return NULL;
		}
		do_share(p, w);
		if (!__atomic_sub_fetch(&p->running, 1, __ATOMIC_ACQ_REL)) {
			pthread_mutex_lock(&p->lock);
			pthread_cond_signal(&p->done);
			pthread_mutex_unlock(&p->lock);
		}
	}
}

static unsigned usable_cpus(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 0)
		return (unsigned)CPU_COUNT(&set);
	/* sched_getaffinity fails if there are more CPUs than a cpu_set_t holds. */
	return online > 0 ? (unsigned)online : 1;
}

/* Blocks all signals in the workers: signals go to the threads of the program. */
static void start_workers(struct pool *p, unsigned n)
{
	pthread_attr_t attr;
	sigset_t all, old;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (p->n < n && !pthread_create(&p->worker[p->n].thread, &attr, worker_main,
					   &p->worker[p->n]))
		p->n++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

mill_err pool_new(struct pool **out, unsigned n)
{
	unsigned cpus = usable_cpus();
	struct pool *p;

	if (!n)
		n = (unsigned)min_u64(cpus, MAX_WORKERS);
	if (n > MAX_WORKERS)
		return fail(MILL_ELIMIT, "%u threads: there can be at most %u", n, MAX_WORKERS);
	TRY(memory_new(&p, NULL, 1, sizeof(*p) + n * sizeof(p->worker[0]), "the threads"));
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->start, NULL);
	pthread_cond_init(&p->done, NULL);
	for (unsigned i = 0; i < n; i++) {
		p->worker[i].pool = p;
		p->worker[i].number = i;
	}
	p->spins = n <= cpus;
	p->n = 1;	/* the caller; if no thread can be made, it works alone */
	start_workers(p, n);
	*out = p;
	return MILL_OK;
}

static void publish(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->trace = trace_current;
	__atomic_store_n(&p->running, p->n - 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&p->generation, 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&p->start);
	pthread_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	p->quit = true;
	publish(p);
	for (unsigned i = 1; i < p->n; i++)
		pthread_join(p->worker[i].thread, NULL);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->start);
	pthread_mutex_destroy(&p->lock);
	memory_free(p);
}

unsigned pool_size(const struct pool *p)
{
	return p->n;
}

/* Lets every worker run `work` once, and waits. Errors are left in the workers. */
static void dispatch(struct pool *p, mill_err (*work)(void *arg, unsigned worker), void *arg)
{
	p->work = work;
	p->arg = arg;
	if (p->n > 1)
		publish(p);
	do_share(p, &p->worker[0]);
	if (p->n == 1 || spin_running(p))
		return;
	pthread_mutex_lock(&p->lock);
	while (__atomic_load_n(&p->running, __ATOMIC_ACQUIRE))
		pthread_cond_wait(&p->done, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

mill_err pool_run(struct pool *p, mill_err (*work)(void *arg, unsigned worker), void *arg)
{
	dispatch(p, work, arg);
	for (unsigned i = 0; i < p->n; i++)
		if (p->worker[i].error.code)
			return error_restore(&p->worker[i].error);
	return MILL_OK;
}

struct loop {
	struct pool *pool;
	u64 n, grain, n_chunks;
	mill_err (*work)(void *arg, u64 begin, u64 end, unsigned worker);
	void *arg;
	_Alignas(64) u64 next;	/* atomic: the next chunk to hand out */
	bool failed;		/* atomic */
};

static mill_err do_chunk(const struct loop *l, u64 i, unsigned worker)
{
	u64 begin = i * l->grain;

	return l->work(l->arg, begin, begin + min_u64(l->grain, l->n - begin), worker);
}

/*
 * Checks for a failure before it takes a chunk, never after. So every chunk below a failed one
 * is worked on, and the lowest failing chunk is the same on any number of threads.
 */
static mill_err do_chunks(void *arg, unsigned worker)
{
	struct loop *l = arg;
	mill_err err;
	u64 i;

	while (!__atomic_load_n(&l->failed, __ATOMIC_RELAXED)) {
		i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
		if (i >= l->n_chunks)
			break;
		err = do_chunk(l, i, worker);
		if (err) {
			l->pool->worker[worker].chunk = i;
			__atomic_store_n(&l->failed, true, __ATOMIC_RELAXED);
			return err;
		}
	}
	return MILL_OK;
}

mill_err pool_for(struct pool *p, u64 n, u64 grain,
		  mill_err (*work)(void *arg, u64 begin, u64 end, unsigned worker), void *arg)
{
	struct loop l = { .pool = p, .n = n, .grain = max_u64(grain, 1), .work = work, .arg = arg };
	const struct worker *first = NULL;

	l.n_chunks = div_up(n, l.grain);
	if (p->n == 1 || l.n_chunks <= 1) {
		for (u64 i = 0; i < l.n_chunks; i++)
			TRY(do_chunk(&l, i, 0));
		return MILL_OK;
	}
	dispatch(p, do_chunks, &l);
	if (!l.failed)
		return MILL_OK;
	for (unsigned i = 0; i < p->n; i++) {
		const struct worker *w = &p->worker[i];

		if (w->error.code && (!first || w->chunk < first->chunk))
			first = w;
	}
	return error_restore(&first->error);
}
