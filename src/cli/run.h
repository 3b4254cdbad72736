/* SPDX-License-Identifier: Apache-2.0 */
/* What runs, plans and labs share: the way to a run. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include "cli/command.h"

struct work {
	const struct mill_algorithm *algorithm;
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
/* Does the algorithm go along frontiers, in steps that --mapping and --filter change, with these options? */
bool work_has_frontiers(const struct options *o);
/* Refuses --mapping or --mappings: only frontiers have them, and a policy with its own, which that option chooses. */
mill_err refuse_mapping(const struct mill_algorithm *a, const char *option, const char *policy_option);
/* May the names be of more than one device? "opencl:0/2:1" is of one. */
bool several_devices(const char *device);
/* What options came to when the run was made, for the report. */
void work_understood(const struct mill_report *r, struct options *o);
void work_close(struct work *w);

#endif
