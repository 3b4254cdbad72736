/* SPDX-License-Identifier: Apache-2.0 */
/* The output of commands: text, common sections of the JSON report, and files. */
#define _GNU_SOURCE 1	/* sched_getaffinity */
#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"

void say(const struct call *call, const char *format, ...)
{
	const struct options *o = &call->options;
	va_list args;

	if (o->quiet || (o->json.wanted && !o->json.file) ||
	    (o->output && !strcmp(o->output, "-")))
		return;
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
}

/* Adds "addressing" and its details, which are null for dense stores. */
static void report_addressing(struct json *j, const struct mill_info *info)
{
	const struct {
		const char *key;
		uint64_t value;
	} of_paged[] = {
		{ "out_slots", info->out_slots }, { "in_slots", info->in_slots },
		{ "small_pages", info->small_pages }, { "large_pages", info->large_pages },
	};

	json_string(j, "addressing", addressing_word(info->addressing));
	for (size_t i = 0; i < sizeof(of_paged) / sizeof(of_paged[0]); i++)
		if (info->addressing == MILL_ADDRESSING_PAGED)
			json_u64(j, of_paged[i].key, of_paged[i].value);
		else
			json_null(j, of_paged[i].key);
	if (info->addressing == MILL_ADDRESSING_PAGED) {
		json_f64(j, "record_pages", info->record_pages);
		json_f64(j, "largest_page", info->largest_page);
	} else {
		json_null(j, "record_pages");
		json_null(j, "largest_page");
	}
}

void report_store(struct json *j, const char *path, const struct mill_info *info)
{
	static const char *const unknown[] = { "vertices", "edges",    "stored_edges",
					       "directed", "weighted", "bytes",
					       "pages" };
	size_t i;

	json_object(j, "store");
	json_string(j, "path", path);
	if (!info) {
		for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
			json_null(j, unknown[i]);
		json_object_end(j);
		return;
	}
	json_u64(j, "vertices", info->vertices);
	json_u64(j, "edges", info->edges);
	json_u64(j, "stored_edges", info->stored_edges);
	json_bool(j, "directed", info->directed);
	json_bool(j, "weighted", info->weight != MILL_WEIGHT_NONE);
	json_u64(j, "bytes", info->bytes);
	json_u64(j, "pages", info->pages);
	json_u64(j, "page_size", info->page_size);
	json_u64(j, "csr_bytes", info->csr_bytes);
	json_string(j, "weights", weight_word(info->weight));
	json_u64(j, "self_loops", info->self_loops);
	json_u64(j, "parallel_edges", info->parallel_edges);
	json_u64(j, "sources", info->sources);
	json_u64(j, "connected", info->connected);
	json_u64(j, "max_degree", info->max_degree);
	json_bool(j, "names", info->named);
	if (info->named) {
		json_string(j, "min_id", info->min_name);
		json_string(j, "max_id", info->max_name);
	} else {
		json_u64(j, "min_id", info->min_id);
		json_u64(j, "max_id", info->max_id);
	}
	json_bool(j, "in_edges", info->has_in_pages);
	json_string(j, "codec", info->codec);
	report_addressing(j, info);
	json_u64(j, "page_bytes", info->page_bytes);
	json_array(j, "stripes");
	for (i = 0; info->stripe[i]; i++)
		json_string(j, NULL, info->stripe[i]);
	json_array_end(j);
	json_u64(j, "format", info->format);
	json_string(j, "uuid", info->uuid);
	json_string(j, "origin", info->origin);
	json_object_end(j);
}

void report_predicted(struct json *j, const struct mill_prediction *p)
{
	static const struct mill_prediction none;
	const struct mill_prediction *of = p ? p : &none;
	const struct {
		const char *key;
		double value;
	} seconds[] = {
		{ "seconds", of->seconds },	      { "seconds_low", of->seconds_low },
		{ "seconds_high", of->seconds_high }, { "read_seconds", of->read_seconds },
		{ "compute_seconds", of->compute_seconds }, { "step_seconds", of->step_seconds },
		{ "device_seconds", of->device_seconds }, { "load_seconds", of->load_seconds },
	};
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "iterations", of->iterations },
		{ "iterations_low", of->iterations_low },
		{ "iterations_high", of->iterations_high },
		{ "pages_read", of->pages_read },
		{ "disk_read", of->disk_read },
		{ "load_read", of->load_read },
		{ "to_device", of->to_device },
		{ "memory", of->memory },
	};
	size_t i;

	json_object(j, "predicted");
	for (i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		if (p)
			json_f64(j, seconds[i].key, seconds[i].value);
		else
			json_null(j, seconds[i].key);
	}
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (p)
			json_u64(j, counts[i].key, counts[i].value);
		else
			json_null(j, counts[i].key);
	}
	json_string(j, "constants", !p ? NULL : p->measured ? "measured" : "defaults");
	json_object_end(j);
}

static void put_cost(struct json *j, const char *key, const struct mill_cost *c)
{
	if (!c) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_f64(j, "attributes", c->attributes);
	json_f64(j, "stream", c->stream);
	json_f64(j, "calls", c->calls);
	json_f64(j, "kernel", c->kernel);
	json_f64(j, "sync", c->sync);
	json_f64(j, "disk", c->disk);
	json_f64(j, "total", c->total);
	json_object_end(j);
}

void report_cost(struct json *j, const struct mill_prediction *p, const struct mill_cost *actual)
{
	if (!p || !p->equation) {
		json_null(j, "cost");
		return;
	}
	json_object(j, "cost");
	json_u64(j, "equation", p->equation);
	put_cost(j, "predicted", &p->cost);
	put_cost(j, "actual", actual);
	json_object_end(j);
}

static void print_terms(const struct call *call, const char *name, const struct mill_cost *c)
{
	const double term[] = { c->attributes, c->stream, c->calls, c->kernel,
				c->sync,       c->disk,	  c->total };
	char shown[SHOWN_SIZE];
	size_t i;

	say(call, "  %s", name);
	for (i = 0; i < sizeof(term) / sizeof(term[0]); i++)
		say(call, " %10s", show_seconds(shown, term[i]));
	say(call, "\n");
}

void print_cost(const struct call *call, const struct mill_prediction *p,
		const struct mill_cost *actual)
{
	if (!p->equation)
		return;
	say(call, "  equation %u  %10s %10s %10s %10s %10s %10s %10s\n", p->equation,
	    "attributes", "stream", "calls", "kernel", "sync", "disk", "total");
	print_terms(call, "predicted  ", &p->cost);
	if (actual)
		print_terms(call, "actual     ", actual);
}

void seconds_or_null(struct json *j, const char *key, bool known, double seconds)
{
	if (known)
		json_f64(j, key, seconds);
	else
		json_null(j, key);
}

void count_or_null(struct json *j, const char *key, bool known, uint64_t count)
{
	if (known)
		json_u64(j, key, count);
	else
		json_null(j, key);
}

const char *policy_otherwise(const char *policy, bool owns)
{
	const struct mill_policy *p = mill_policy(policy);

	return p && !owns ? p->otherwise : NULL;
}

void report_owns(struct json *j, bool known, const char *policy, bool owns)
{
	const struct mill_policy *p = known ? mill_policy(policy) : NULL;

	if (p && p->otherwise)
		json_bool(j, "policy_owns", owns);
	else
		json_null(j, "policy_owns");
}

const char *strategy_word(enum mill_strategy strategy)
{
	return strategy == MILL_STRATEGY_S ? "s" : "p";
}

const char *wire_word(enum mill_wire wire)
{
	static const char *const word[] = { "auto", "edges", "csr", "packed" };

	return word[wire];
}

void report_partitions(struct json *j, const struct mill_partitions *p)
{
	if (!p->count) {
		json_null(j, "partitions");
		return;
	}
	json_object(j, "partitions");
	json_u64(j, "count", p->count);
	json_u64(j, "bytes", p->bytes);
	json_u64(j, "buffers", p->buffers);
	json_string(j, "addressing", addressing_word(p->addressing));
	json_u64(j, "range", p->range);
	json_u64(j, "ids", p->ids);
	json_string(j, "wire", wire_word(p->wire));
	json_bool(j, "staging", p->staged);
	json_bool(j, "local_flags", p->local_flags);
	json_object(j, "seconds");
	json_f64(j, "cut", p->cut_seconds);
	json_f64(j, "round1", p->round1_seconds);
	json_f64(j, "round2", p->round2_seconds);
	json_f64(j, "edges", p->edges_seconds);
	json_object_end(j);
	json_object_end(j);
}

void report_streaming(struct json *j, const struct mill_streaming *s)
{
	if (!s->devices) {
		json_null(j, "gts");
		return;
	}
	json_object(j, "gts");
	json_u64(j, "devices", s->devices);
	json_string(j, "strategy", strategy_word(s->strategy));
	json_string(j, "why", s->why);
	json_u64(j, "chunks", s->chunks);
	json_u64(j, "writable", s->writable);
	json_u64(j, "small_pages", s->small_pages);
	json_u64(j, "large_pages", s->large_pages);
	json_u64(j, "cached_pages", s->cached_pages);
	json_u64(j, "frames", s->frames);
	json_object_end(j);
}

void report_chunks(struct json *j, const struct mill_chunks *c)
{
	if (!c->paths) {
		json_null(j, "largegraph");
		return;
	}
	json_object(j, "largegraph");
	json_u64(j, "paths", c->paths);
	json_u64(j, "links", c->links);
	json_u64(j, "single", c->single);
	json_f64(j, "mean_length", c->mean_length);
	json_u64(j, "path_bytes", c->path_bytes);
	json_u64(j, "csr_bytes", c->csr_bytes);
	json_f64(j, "paths_seconds", c->paths_seconds);
	json_u64(j, "auxiliary", c->auxiliary);
	json_u64(j, "chunk_bytes", c->chunk_bytes);
	json_u64(j, "slots", c->slots);
	json_u64(j, "hot_chunks", c->hot_chunks);
	json_u64(j, "host_edges", c->host_edges);
	json_u64(j, "device_edges", c->device_edges);
	json_u64(j, "tracking_edges", c->tracking_edges);
	json_f64(j, "tracking_seconds", c->tracking_seconds);
	json_u64(j, "chunks_sent", c->chunks_sent);
	json_u64(j, "chunks_reused", c->chunks_reused);
	json_u64(j, "chunks_evicted", c->chunks_evicted);
	json_u64(j, "chunks_passed", c->chunks_passed);
	json_u64(j, "exchanged", c->exchanged);
	json_u64(j, "reached", c->reached);
	json_f64(j, "stale", c->stale);
	json_object_end(j);
}

void report_step(struct json *j, const struct mill_step *s, bool counted)
{
	json_object(j, NULL);
	json_u64(j, "step", s->step);
	json_u64(j, "frontier", s->frontier);
	json_string(j, "direction", s->direction);
	json_u64(j, "edges", s->edges);
	json_u64(j, "updates", s->updates);
	json_u64(j, "pages_active", s->pages_active);
	json_u64(j, "pages_read", s->pages_read);
	json_u64(j, "pages_to_device", s->pages_to_device);
	json_u64(j, "pages_reused", s->pages_reused);
	json_u64(j, "disk_read", s->disk_read);
	json_u64(j, "to_device", s->to_device);
	count_or_null(j, "lanes", counted, s->lanes);
	count_or_null(j, "atomics", counted, s->atomics);
	json_f64(j, "seconds", s->seconds);
	json_f64(j, "wait", s->wait);
	json_f64(j, "decode", s->decode);
	json_f64(j, "compute", s->compute);
	json_object_end(j);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

mill_err median(double *out, const double *value, size_t n)
{
	double *sorted;

	sorted = malloc(n * sizeof(*sorted));
	if (!sorted)
		return refuse(MILL_ENOMEM, "no memory for %zu times", n);
	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	*out = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	free(sorted);
	return MILL_OK;
}

uint64_t peak_rss(void)
{
	unsigned long long kib = 0;
	char line[256];
	FILE *f;

	f = fopen("/proc/self/status", "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu kB", &kib) == 1)
			break;
	fclose(f);
	return (uint64_t)kib * 1024;
}

uint32_t processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return (uint32_t)CPU_COUNT(&set);
	return (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
}

mill_err output_possible(const char *option, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	char *folder;
	mill_err err = MILL_OK;

	if (!strcmp(path, "-"))
		return MILL_OK;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return refuse_errno("%s %s", option, path);
	}
	folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	if (!folder)
		return refuse(MILL_ENOMEM, "no memory");
	if (access(folder, W_OK | X_OK))
		err = refuse_errno("%s %s: cannot write in %s", option, path, folder);
	free(folder);
	return err;
}

static mill_err write_all(int fd, const char *text, const char *name)
{
	size_t left = strlen(text);
	ssize_t n;

	while (left) {
		n = write(fd, text, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return refuse_errno("write %s", name);
		text += n;
		left -= (size_t)n;
	}
	return MILL_OK;
}

/* Writes a temporary file beside the target, named after this process, and renames it. */
mill_err output_write(const char *path, const char *text)
{
	size_t size = strlen(path) + 32;
	mode_t mask = umask(0);
	char *partial;
	mill_err err;
	int fd;

	umask(mask);
	partial = malloc(size);
	if (!partial)
		return refuse(MILL_ENOMEM, "no memory to write %s", path);
	snprintf(partial, size, "%s.partial-%ld", path, (long)getpid());
	fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0) {
		err = refuse_errno("create %s", partial);
		free(partial);
		return err;
	}
	err = write_all(fd, text, path);
	if (!err && (fchmod(fd, 0666 & ~mask) || fsync(fd)))
		err = refuse_errno("write %s", path);
	if (close(fd) && !err)
		err = refuse_errno("close %s", path);
	if (!err && rename(partial, path))
		err = refuse_errno("rename %s to %s", partial, path);
	if (err)
		unlink(partial);
	free(partial);
	return err;
}

mill_err report_deliver(struct call *call, int code)
{
	struct json *j = &call->report;
	const char *text;

	if (code) {
		json_object(j, "error");
		json_u64(j, "code", (uint64_t)code);
		json_string(j, "message", message());
		json_object_end(j);
	} else {
		json_null(j, "error");
	}
	json_object_end(j);
	text = json_text(j);
	if (!text)
		return refuse(MILL_ENOMEM, "no memory for the report");
	if (call->options.json.file)
		return output_write(call->options.json.file, text);
	fputs(text, stdout);
	return MILL_OK;
}

mill_err stdout_finish(void)
{
	int failed = ferror(stdout);

	/* close() may be the first call that reports "no space" (NFS, quotas) */
	errno = 0;
	if (fflush(stdout) || failed)
		return refuse_errno("write to stdout");
	if (close(STDOUT_FILENO) && errno != EBADF)
		return refuse_errno("write to stdout");
	return MILL_OK;
}
