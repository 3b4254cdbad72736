/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cost model (model/model.h) must know of a machine and of a graph's shape: measured by `millrace plan`
 * (algo/measure.c) and kept in $XDG_CACHE_HOME/millrace/machine.json, or below ~/.cache. Runs only look it up. A cache
 * that cannot be read or written is none: it is never an error.
 */
#ifndef MODEL_MACHINE_H
#define MODEL_MACHINE_H

#include "device/device.h"
#include "store/store.h"

/*
 * On a device that is not the host decode, gather, push, scan and vertex are the device's own, of all that it has at once (t_kernel).
 *
 * The constants, in the order in which they are written down, each with its default (two cores of a server of 2022 and
 * a fast SSD) and the largest value that is believed. All but those that are not hidden are positive.
 */
#define MACHINE_FIELDS(X) \
	X(read, 1.2e9, 1e13)		/* bytes a second, through the stream, checksums included */ \
	X(overlap, 0.3, 1)		/* of the shorter of reading and computing, how much is not hidden */ \
	X(decode, 1.5e-9, 1)		/* seconds a thread takes: an edge of a packed page */ \
	X(load, 3e-9, 1)		/* an edge that becomes resident */ \
	X(gather, 3e-9, 1)		/* an edge of op_reduce */ \
	X(push, 5e-9, 1)		/* of op_advance */ \
	X(scan, 3e-9, 1)		/* of op_scan */ \
	X(vertex, 1e-9, 1)		/* a vertex of op_compute */ \
	X(miss, 2e-8, 1)		/* something that is in no near cache, and not asked for ahead */ \
	X(step, 3e-5, 10)		/* seconds: what a superstep costs that does nothing */ \
	X(chunk_rate, 8e9, 1e13)	/* bytes a second to the device in one piece (GTS's c1) */ \
	X(page_rate, 4e9, 1e13)		/* page by page, while kernels run (c2) */ \
	X(beside, 0.7, 1)		/* of the shorter of that and kernels, how much is not hidden */ \
	X(join, 8e-9, 1)		/* seconds the device takes for an edge that adds to a sum of its neighbour's, as GTS's do */ \
	X(call, 1e-5, 10)		/* seconds of a launch of nothing, one after the other ... */ \
	X(enqueue, 4e-6, 10)		/* ... of which the host's own (t_call); the rest is the device's */ \
	X(merge, 2e-10, 1)		/* seconds of merging a byte of two devices' state (t_sync) */

/* What is known of a graph. */
#define SHAPE_FIELDS(X) \
	X(levels, 8, 4294967296.0)	/* of a breadth-first search */ \
	X(local, 0, 1)			/* 1: neighbours lie together, as on a map; levels are many and small */ \
	X(skew, 0.5, 2)			/* mean of |degree / mean degree - 1| */ \
	X(typical, 16, 4294967296.0)	/* degree: between mean and median */

#define MACHINE_FIELD(name, value, most) f64 name;
struct machine {
	MACHINE_FIELDS(MACHINE_FIELD)
	SHAPE_FIELDS(MACHINE_FIELD)
	bool measured;		/* on this machine, with this file system, threads and device ... */
	bool shape_known;	/* ... and of this graph */
};

/* Whose constants these are. */
struct machine_key {
	char machine[192];	/* cpu, cores, file system, threads, device */
	const char *uuid;	/* of the store */
};

void machine_key_init(struct machine_key *key, const struct store *st, const char *device, unsigned threads);
/* Fills in what is known, and the defaults otherwise. */
void machine_find(struct machine *out, const struct machine_key *key, const struct store *st);
/* Positive and believable; what a clock measures may be neither. */
bool machine_is_sane(const struct machine *m);
void machine_keep(const struct machine *m, const struct machine_key *key);

#endif
