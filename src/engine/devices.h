/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a run: resolves their names, opens and closes them, and adds up their
 * traffic for the report.
 *
 * Several devices are several device objects, each with its own context, programs, queues
 * and budget. They share nothing: bytes go from one to another through the host. Division I
 * of K of a device (the name `opencl:N/K:I`) is a sub-device of its own, made by dividing
 * the device and releasing the other divisions at once. Divisions with different I have
 * different compute units (measured on PoCL: two run in the time of one).
 */
#ifndef ENGINE_DEVICES_H
#define ENGINE_DEVICES_H

#include "engine/run.h"

/* The names of the run's devices, one for each device; "cpu" if there is none. */
struct device_names {
	char name[MILL_DEVICES_MOST][DEVICE_NAME];
	u32 n;
};

/*
 * Lists the devices that o->device names. Fails with MILL_EUSAGE if the names are wrong or other
 * options do not go with them, and with MILL_EDEVICE if there is no such device.
 */
mill_err devices_name(struct device_names *out, const struct mill_options *o);
/*
 * Returns the run's policy. With several devices and no policy asked for, this is the policy that
 * supports several devices.
 */
const struct policy *devices_policy(const struct mill_options *o, const struct device_names *names);

/*
 * Opens all devices into r->opened. r->device becomes the first one, or the host. If opening one
 * fails, devices_close closes those that were opened before it.
 */
mill_err devices_open(struct mill_run *r, const struct mill_options *o,
		      const struct device_names *names);
void devices_close(struct mill_run *r);

/*
 * Fails with MILL_EUSAGE if several devices are open and the policy does not own the run, or if
 * the policy owns the run and does not support the value of a general option.
 */
mill_err devices_suit(const struct mill_run *r, const struct need *need);
/* Sets the devices' counters of bytes to zero. */
void devices_begin(struct mill_run *r);
/* Returns the smallest budget of all devices, in bytes; 0 on the cpu. */
u64 devices_budget(const struct mill_run *r);
/* Fills in the fields of the report that are about devices. */
void devices_report(const struct mill_run *r, struct mill_report *out);

#endif
