/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The constants of a machine and the shape of a graph, for the cost model (model/model.h).
 * `millrace plan` measures the constants with the real operators on some pages
 * (algo/measure.c), and the shape by the beginning of a search (model/shape.c). They are
 * kept in $XDG_CACHE_HOME/millrace/machine.json, or below ~/.cache. Runs only look them up,
 * or take the defaults. A cache that cannot be read or written is never an error.
 */
#ifndef MODEL_MACHINE_H
#define MODEL_MACHINE_H

#include "device/device.h"
#include "store/store.h"

/*
 * The constants, in the order of the file. X(name, default, largest value that is
 * accepted). Defaults are those of two cores of a server of 2022 with a fast SSD. All are
 * positive, except `overlap` and `beside`, which may be 0.
 *
 * Times per edge and vertex are of one thread. On a device that is not the host, decode,
 * gather, push, scan and vertex are the times of the whole device (t_kernel).
 */
#define MACHINE_FIELDS(X) \
	X(read, 1.2e9, 1e13)		/* bytes per second, through the stream, with checksums */ \
	X(overlap, 0.3, 1)		/* visible fraction of the shorter of read and compute */ \
	X(decode, 1.5e-9, 1)		/* seconds per edge of a packed page */ \
	X(load, 3e-9, 1)		/* seconds per edge that becomes resident */ \
	X(gather, 3e-9, 1)		/* seconds per edge of op_reduce */ \
	X(push, 5e-9, 1)		/* seconds per edge of op_advance */ \
	X(scan, 3e-9, 1)		/* seconds per edge of op_scan */ \
	X(vertex, 1e-9, 1)		/* seconds per vertex of op_compute */ \
	X(miss, 2e-8, 1)		/* seconds of a cache miss without prefetch */ \
	X(step, 3e-5, 10)		/* seconds of a superstep that does nothing */ \
	X(chunk_rate, 8e9, 1e13)	/* bytes per second to the device, in one piece (c1) */ \
	X(page_rate, 4e9, 1e13)		/* bytes per second page by page, beside kernels (c2) */ \
	X(beside, 0.7, 1)		/* visible fraction of the shorter of that and kernels */ \
	X(join, 8e-9, 1)		/* seconds per edge that adds to a sum on a device */ \
	X(call, 1e-5, 10)		/* seconds of an empty launch in a row of launches ... */ \
	X(enqueue, 4e-6, 10)		/* ... and those that the host spends on it (t_call) */ \
	X(merge, 2e-10, 1)		/* seconds per byte of merged state (t_sync) */

/* The shape of a graph. */
#define SHAPE_FIELDS(X) \
	X(levels, 8, 4294967296.0)	/* levels of a breadth-first search */ \
	X(local, 0, 1)			/* 1: as on a map, neighbours are near, levels are many */ \
	X(skew, 0.5, 2)			/* mean of |degree / mean degree - 1| */ \
	X(typical, 16, 4294967296.0)	/* typical degree: between mean and median */

#define MACHINE_FIELD(name, value, most) f64 name;
struct machine {
	MACHINE_FIELDS(MACHINE_FIELD)
	SHAPE_FIELDS(MACHINE_FIELD)
	bool measured;		/* the constants are of this machine, disk, threads and device */
	bool shape_known;	/* the shape is of this graph */
};

/* The machine and the store to which constants belong. */
struct machine_key {
	char machine[192];	/* cpu, cores, file system, threads, device */
	const char *uuid;	/* of the store */
};

void machine_key_init(struct machine_key *key, const struct store *st, const char *device,
		      unsigned threads);
/* Fills in the constants that are known, and the defaults of the others. */
void machine_find(struct machine *out, const struct machine_key *key, const struct store *st);
/* Returns whether all constants are positive and plausible. Measured constants may be wrong. */
bool machine_is_sane(const struct machine *m);
void machine_keep(const struct machine *m, const struct machine_key *key);

#endif
