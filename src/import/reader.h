/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that the readers of all formats share. A reader parses the header of its input, gives
 * the facts of the header to reader_settle, and adds edges. No allocation has a size that only a
 * header claims.
 */
#ifndef IMPORT_READER_H
#define IMPORT_READER_H

#include "import/builder.h"
#include "import/scan.h"
#include "import/text.h"

#define READER_BATCH 4096u	/* edges */

/* All inputs of one import. They are one graph, so the first input decides for the others. */
struct intake {
	const struct mill_import *how;
	struct builder *b;
	struct text text;	/* counts and the range of weights: all readers update them */
	bool settled;		/* the first input has decided: */
	bool undirected, weighted;
	bool symmetric;		/* some input is undirected, even if it lists each edge once */
	struct mill_built *out;	/* the readers set only its `format` and `note` */
};

/* The kind of graph, by the header of an input. UNSAID: the header does not tell. */
enum header_kind { HEADER_UNSAID, HEADER_DIRECTED, HEADER_UNDIRECTED };

/* One input. */
struct reader {
	struct intake *k;
	const char *path;
	struct input *in;	/* at its beginning; the caller closes it */
	struct scan scan;	/* set by reader_scan; the caller releases it */
	bool mirror;		/* each edge comes once but is stored as two arcs */
	bool refuse_loops;
	struct raw_edge *edge;
	u64 n;
};

/* Prepares r->scan for r->in, and r->edge. */
mill_err reader_scan(struct reader *r, bool binary);

/*
 * Decides, before the first edge, whether the graph is undirected and weighted, by the header and
 * the options. has_weights: the input holds weights; r->k->weighted then says if they are read.
 * once: an undirected edge is listed once, not from both ends. Fails with MILL_EINPUT if the
 * inputs before this one have decided otherwise.
 */
mill_err reader_settle(struct reader *r, enum header_kind kind, bool has_weights, bool once);

/* Fails with MILL_EUSAGE if --base is not `base`, the first vertex number of this format. */
mill_err reader_base(const struct reader *r, u32 base);

/* Gives the edges of the batch to the builder. */
mill_err reader_flush(struct reader *r);
/*
 * Records the weight in the range of weights. Fails with MILL_EINPUT if --weight-type cannot
 * hold it. whole: the weight is an integer, and `integer` is its value.
 */
mill_err reader_weight(struct reader *r, f64 value, bool whole, i64 integer);
/* Fails with MILL_EINPUT: the edge is a self-loop. */
mill_err reader_refuse_loop(struct reader *r);

/*
 * Adds an edge. If the graph has weights, the caller has passed `weight` to reader_weight; else
 * `weight` is ignored.
 */
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
 * Adds the ids first .. first + n - 1, with edges or not, after all edges have been added. Fails
 * with MILL_ELIMIT if the header claims very many more vertices than the input has entries (edges
 * or lists).
 */
mill_err reader_vertices(struct reader *r, u64 first, u64 n, u64 entries);

/* Sets the note that tells the user how the input was understood. */
void reader_note(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Checks that the lists of both ends of every edge have the edge, with the same weight. It adds up
 * hashes of the edges in MIRROR_BUCKETS buckets of consecutive vertices. The answer is wrong once
 * in 2^64 cases. If the lists disagree, the bucket tells roughly where.
 */
struct mirror_check {
	u64 *sum;	/* by bucket */
	u64 n;		/* number of vertices */
	unsigned shift;	/* the bucket of vertex v is v >> shift */
};
#define MIRROR_BUCKETS ((u64)1 << 16)

mill_err mirror_begin(struct mirror_check *m, u64 n, struct budget *budget);
void mirror_release(struct mirror_check *m);
/* Adds v, an entry of the list of u. Both count from 0; weight: bits. */
void mirror_add(struct mirror_check *m, u64 u, u64 v, u64 weight);
/*
 * Returns whether the lists agree. If not, some vertex in [*first, *last] has an edge that its
 * other end lists differently or not at all.
 */
bool mirror_agrees(const struct mirror_check *m, u64 *first, u64 *last);

#endif
