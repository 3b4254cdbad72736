/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twin state (HOME_TWIN): host and device each have a master of the same vectors and compute
 * on it at the same time. At the end of a round they exchange the vertices that changed.
 *
 *	value	what edges write. Masters are merged by minimum, or changes are added.
 *	sent	the value that a vertex had when it last gave it along all its out-edges. A
 *		vertex is active while its value differs from that.
 *	changed	a bitmap of the vertices with a value or `sent` that changed
 *
 * An exchange compacts (id, value, sent) of the changed vertices on the device, reads them in
 * pieces of `most` entries, merges them into the host's master, and writes the host's values
 * of all vertices that changed on either side. If more than half of all vertices changed, the
 * arrays cross whole. Afterwards both masters are equal.
 *
 * If values only fall, `sent` falls too, and the smaller one is newer; the device never reads
 * its own. If changes are added, the host also has `base`, the value that both masters had at
 * the beginning of the round, and `ran`, the vertices that gave on the host: their `sent` is
 * the host's.
 */
#ifndef TRANSFER_TWIN_H
#define TRANSFER_TWIN_H

#include "transfer/program.h"

struct transfer;
struct device_pass;

/* Words of a tile of a bitmap: the changed vertices of a tile are counted together. */
#define TWIN_TILE 256u

struct twin {
	/* The pass that runs, or ran last. */
	const struct path_program *program;
	const void *args;
	u64 n;			/* vertices */
	bool begun;		/* both masters have the present state */

	/* On the device: */
	struct buffer value, sent, factor, changed;
	struct buffer count;	/* changed vertices of each tile, and of the piece */
	struct buffer piece[3];	/* id, value, sent of a piece of an exchange */
	u64 most;		/* entries of a piece */

	/* On the host: */
	void *own_sent;		/* if values only fall; else the program has a vector */
	void *base;
	u64 *changed_bits, *ran, *ever;
	u32 *tile;		/* counts, read back */
	u32 *id;
	void *x, *y;		/* a piece: value, sent */
	u64 exchanged;		/* bytes, both ways */
};

/* Returns device bytes and host bytes for n vertices, with pieces of `most` entries. */
u64 twin_device_bytes(u64 n, u32 size, bool adds, u64 most);
u64 twin_host_bytes(u64 n, u32 size, bool adds, u64 most);
/* Returns the entries of a piece: 1/32 of the bytes, but at least 64. */
u64 twin_piece(u64 bytes, u32 size);
mill_err twin_open(struct transfer *t, u64 n, u32 size, bool adds, u64 most);
void twin_close(struct transfer *t);
/* Forgets the device's master: the next pass sends the host's. */
void twin_restart(struct transfer *t);
/* Takes the program of a pass and, if need be, gives the device the host's state. */
mill_err twin_begin(struct transfer *t, const struct device_pass *p);
/* Makes both masters equal. Nothing is under way on the device. */
mill_err twin_exchange(struct transfer *t);
/* Return the host's arrays. */
void *twin_value(const struct twin *w);
void *twin_sent(const struct twin *w);

#endif
