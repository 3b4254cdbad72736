/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads edge lists as text. A line is FROM TO [more columns], separated by spaces, tabs or a
 * comma. Lines that begin with # or % are comments. The first other line of a file with commas
 * may be a header. It is one if its first two fields are not numbers; where ids are names, it is
 * one if its weight is not a number or if, without weights, it is "source,target" or similar. A
 * name that begins with a quote ends with one.
 */
#ifndef IMPORT_TEXT_H
#define IMPORT_TEXT_H

#include "base/random.h"
#include "import/builder.h"
#include "import/ids.h"
#include "import/input.h"

#define TEXT_LINE_MAX (1 * MIB)	/* bytes, without the end of the line */

/*
 * The ids that may occur. All ids are divided into n_sets sets by hash, and this struct knows
 * one set: an id that belongs to it must be in `ids`.
 */
struct known_ids {
	struct ids ids;		/* scattered */
	u64 set, n_sets;	/* the number of the set, and of sets */
	const char *from;	/* the file that lists the ids */
};

/* Returns whether the id belongs to the set. */
static inline bool known_covers(const struct known_ids *k, u64 id)
{
	return k->n_sets == 1 || random_at(1, id) % k->n_sets == k->set;
}

/* Several files that are read as one graph. */
struct text {
	/* set by the caller */
	u32 weight_column;		/* counted from 1; 0: no weights */
	enum mill_weight weight_type;	/* NONE: decided by the values */
	bool refuse_loops;
	u64 base;			/* lower ids are errors */
	const struct known_ids *known;	/* NULL: any id may occur */
	bool only_check;		/* only check that ids are known; add and count nothing */
	struct namer *names;		/* not NULL: ids are names, and edges go there */
	bool header;			/* names: the first line of some file was a header */
	/* what has been read */
	bool fraction;			/* some weight is not written as an integer in i64 */
	i64 min_weight, max_weight;	/* of the other weights */
	u64 n_edges;
	struct checksum_stream *sum;	/* over all edges as read */
};

mill_err text_init(struct text *t);
void text_release(struct text *t);
/*
 * Adds the edges of an input to b, with weights as F64. Fails with MILL_EINPUT and
 * "FILE:LINE: ..." if a line is bad.
 */
mill_err text_read(struct text *t, struct builder *b, struct input *in);
/* Returns the type of the weights: the one asked for, else the narrowest that holds all of them. */
enum mill_weight text_weight(const struct text *t);
/* Returns a hash of all edges in their order. Can be called only once. */
u64 text_fingerprint(struct text *t);

#endif
