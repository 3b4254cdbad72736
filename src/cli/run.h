/* SPDX-License-Identifier: Apache-2.0 */
/* What runs, plans and labs share: the table of algorithms, and the way to a run. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/command.h"

/* The options of an algorithm as the library takes them. */
union how {
	struct mill_bfs bfs;
	struct mill_sssp sssp;
	struct mill_pagerank pagerank;
	struct mill_cc cc;
	struct mill_bc bc;
	struct mill_triangles triangles;
	struct mill_cdlp cdlp;
};

/* How options become an algorithm's struct. */
struct algorithm {
	const char *name;
	unsigned who;
	bool parents;		/* has parents to settle when the result is wanted whole */
	mill_err (*fill)(union how *how, const struct options *o);
};

/* NULL if there is none. */
const struct algorithm *work_find(const char *name);

struct work {
	const struct algorithm *algorithm;
	union how how;
	mill_store *store;
	struct mill_info info;	/* once store is not NULL */
	struct mill_options options;
	mill_run *run;
};

/*
 * Opens the store and resolves the sizes and options that need it (filling in what they came to, for
 * the report); work_open also makes the run. What was opened is left to work_close() also after a failure.
 */
mill_err work_prepare(struct work *w, struct call *call, const char *algorithm, const char *path);
mill_err work_open(struct work *w, struct call *call, const char *algorithm, const char *path);
/* Does it go along frontiers on a device, in steps that --mapping and --filter change? cc does by labels alone. */
bool work_has_frontiers(const struct work *w, const struct options *o);
/* Refuses --mapping or --mappings: only frontiers have them, and a policy with its own, which that option chooses. */
mill_err refuse_mapping(const struct work *w, const char *option, const char *policy_option);
/* May the names be of more than one device? "opencl:0/2:1" is of one. */
bool several_devices(const char *device);
/* What options came to when the run was made, for the report. */
void work_understood(const struct mill_report *r, struct options *o);
void work_close(struct work *w);

#endif
