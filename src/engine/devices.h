/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a run: what their names mean with its other options, opening and closing them, and what they came to together. */
#ifndef ENGINE_DEVICES_H
#define ENGINE_DEVICES_H

#include "engine/run.h"

/* One by one; the cpu alone is one. */
struct device_names {
	char name[MILL_DEVICES_MOST][DEVICE_NAME];
	u32 n;
};

/* MILL_EUSAGE: the names, or options that do not go with them; MILL_EDEVICE: they are names, but there is no such device. */
mill_err devices_name(struct device_names *out, const struct mill_options *o);
/* Several devices choose one that takes them, unless another is asked for. */
const struct policy *devices_policy(const struct mill_options *o, const struct device_names *names);

/* Opens all into r->opened; r->device is the first, or the host. What was opened before one failed is left to devices_close. */
mill_err devices_open(struct mill_run *r, const struct mill_options *o, const struct device_names *names);
void devices_close(struct mill_run *r);

/* Refuses several devices where the algorithm uses one only, and what the policy does not have where the algorithm goes its way. */
mill_err devices_suit(const struct mill_run *r, const struct need *need);
/* Counts what moves from here on. */
void devices_begin(struct mill_run *r);
/* The smallest; 0 on the cpu. */
u64 devices_budget(const struct mill_run *r);
/* Fills in what the report has of devices. */
void devices_report(const struct mill_run *r, struct mill_report *out);

#endif
