/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device STORE [REPEAT]: compares the native CPU with an OpenCL device. Both use the same
 * operator variants (reductions over rows, not bins), hold the graph, and run in turns. Prints
 * the median and the shortest time of each, and the ratios of both.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/run.h"

#define MOST 101

static void die(const char *what)
{
	fprintf(stderr, "device: %s: %s\n", what, mill_error());
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	f64 x = *(const f64 *)a, y = *(const f64 *)b;

	return (x > y) - (x < y);
}

static mill_err bfs(mill_run *r)
{
	return mill_bfs(r, &(struct mill_bfs){ .source = "max-degree" });
}

static mill_err pagerank(mill_run *r)
{
	return mill_pagerank(r, &(struct mill_pagerank){ .iterations = 5, .tolerance = -1 });
}

static mill_err components(mill_run *r) { return mill_cc(r, NULL); }

static f64 last_seconds(mill_run *r)
{
	struct mill_report report;

	mill_run_report(r, &report);
	return report.run_seconds[report.n_runs - 1];
}

/* Runs both in turns. The first run of each, which loads and warms up, does not count. */
static void compare(const char *name, mill_run *run[2], mill_err (*call)(mill_run *), int repeat)
{
	f64 seconds[2][MOST];

	for (int i = -1; i < repeat; i++)
		for (int k = 0; k < 2; k++) {
			if (call(run[k]))
				die(name);
			if (i >= 0)
				seconds[k][i] = last_seconds(run[k]);
		}
	for (int k = 0; k < 2; k++)
		qsort(seconds[k], (size_t)repeat, sizeof(f64), by_value);
	printf("%-12s native %8.2f ms (at least %.2f)   device %8.2f ms (at least %.2f)   "
	       "ratio %.2f (%.2f)\n",
	       name, seconds[0][repeat / 2] * 1e3, seconds[0][0] * 1e3,
	       seconds[1][repeat / 2] * 1e3, seconds[1][0] * 1e3,
	       seconds[1][repeat / 2] / seconds[0][repeat / 2], seconds[1][0] / seconds[0][0]);
}

int main(int argc, char **argv)
{
	static const char *const device[2] = { "cpu", "opencl" };
	int repeat = argc > 2 ? atoi(argv[2]) : 11;
	mill_store *store;
	mill_run *run[2];

	if (argc < 2 || repeat < 1 || repeat > MOST) {
		fprintf(stderr, "usage: device STORE [REPEAT]\n");
		return 2;
	}
	if (mill_store_open(&store, argv[1]))
		die(argv[1]);
	for (int k = 0; k < 2; k++) {
		if (mill_run_new(&run[k], store, &(struct mill_options){ .device = device[k] }))
			die("a run");
		run[k]->hook.only_bins = BINS_NEVER;
	}
	compare("bfs", run, bfs, repeat);
	compare("pagerank", run, pagerank, repeat);
	compare("cc", run, components, repeat);
	for (int k = 0; k < 2; k++)
		mill_run_free(run[k]);
	mill_store_close(store);
	return 0;
}
