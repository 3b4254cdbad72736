/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers of all formats share. A reader parses the header of its input, settles what the
 * graph is with it, and adds edges; nothing is allocated by what a header claims.
 */
#ifndef IMPORT_READER_H
#define IMPORT_READER_H

#include "import/builder.h"
#include "import/scan.h"
#include "import/text.h"

#define READER_BATCH 4096u	/* edges */

/* All inputs of one import: they are one graph, so the first decides for the others. */
struct intake {
	const struct mill_import *how;
	struct builder *b;
	struct text text;	/* what edge lists count, and the readers with them */
	bool settled;
	bool undirected, weighted;
	bool symmetric;		/* an input is undirected, even if it gives its edges once */
	struct mill_built *out;	/* format and note are the readers' */
};

enum header_kind { HEADER_UNSAID, HEADER_DIRECTED, HEADER_UNDIRECTED };

/* One input. */
struct reader {
	struct intake *k;
	const char *path;
	struct input *in;	/* nothing but peeked at; closed by the caller */
	struct scan scan;	/* after reader_scan; released by the caller */
	bool mirror;		/* edges come once each but are stored as two arcs */
	bool refuse_loops;
	struct raw_edge *edge;
	u64 n;
};

/* Makes r->scan one of r->in. */
mill_err reader_scan(struct reader *r, bool binary);

/*
 * What the header says, before the first edge. has_weights: the input holds some; whether they
 * are read is r->k->weighted then. MILL_EINPUT if the inputs before it said otherwise. once: an
 * undirected edge is given once, not from both ends.
 */
mill_err reader_settle(struct reader *r, enum header_kind kind, bool has_weights, bool once);

/* This format counts its vertices from `base`: MILL_EUSAGE if --base says otherwise. */
mill_err reader_base(const struct reader *r, u32 base);

mill_err reader_flush(struct reader *r);
/* Remembers the range of weights, and refuses those that --weight-type cannot hold. */
mill_err reader_weight(struct reader *r, f64 value, bool whole, i64 integer);
mill_err reader_refuse_loop(struct reader *r);

/* weight: any if the graph has none; else reader_weight has seen it. */
static inline mill_err reader_edge(struct reader *r, u64 from, u64 to, f64 weight)
{
	struct raw_edge *e = &r->edge[r->n];
	u64 bits = 0;

	if (__builtin_expect(r->refuse_loops && from == to, 0))
		return reader_refuse_loop(r);
	if (r->k->weighted)
		__builtin_memcpy(&bits, &weight, sizeof(bits));
	*e = (struct raw_edge){ from, to, bits };
	r->n++;
	if (r->mirror && from != to)
		r->edge[r->n++] = (struct raw_edge){ to, from, bits };
	return __builtin_expect(r->n >= READER_BATCH - 1, 0) ? reader_flush(r) : MILL_OK;
}

/*
 * Ids first .. first + n - 1 exist, with edges or not. After the edges: `entries` of them have been read,
 * and a header that claims very many more vertices is MILL_ELIMIT.
 */
mill_err reader_vertices(struct reader *r, u64 first, u64 n, u64 entries);

/* What the user should know about how the input was understood. */
void reader_note(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Do lists that give every edge from both ends agree? Sums of hashes in so many buckets of
 * vertices: exact (but for one in 2^64) as to whether, and near as to where.
 */
struct mirror_check {
	u64 *sum;	/* MIRROR_BUCKETS */
	u64 n;		/* vertices: they are below it */
	unsigned shift;	/* a vertex's bucket is it shifted */
};
#define MIRROR_BUCKETS ((u64)1 << 16)

mill_err mirror_begin(struct mirror_check *m, u64 n, struct budget *budget);
void mirror_release(struct mirror_check *m);
/* The list of u (from 0) has v; weight: bits. */
void mirror_add(struct mirror_check *m, u64 u, u64 v, u64 weight);
/* False: a vertex of [*first, *last] and a neighbour do not list each other alike. */
bool mirror_agrees(const struct mirror_check *m, u64 *first, u64 *last);

#endif
