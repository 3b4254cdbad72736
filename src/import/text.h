/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge lists as text: a line is FROM TO [more columns], separated by
 * spaces, tabs or a comma. Lines that begin with # or % are comments; the first other line
 * of a file with commas may be a header: if its fields are no numbers, or, where ids are names, if its weight
 * is no number or it says "source,target" or the like. A name that begins with a quote ends with one.
 */
#ifndef IMPORT_TEXT_H
#define IMPORT_TEXT_H

#include "base/random.h"
#include "import/builder.h"
#include "import/ids.h"
#include "import/input.h"

#define TEXT_LINE_MAX (1 * MIB)	/* bytes, without the end of the line */

/* Which ids may occur: of those whose hashes fall into a set, these. */
struct known_ids {
	struct ids ids;		/* scattered */
	u64 set, n_sets;	/* this set, of so many */
	const char *from;	/* the file that has them */
};

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
	u64 base;			/* ids below it are refused */
	const struct known_ids *known;	/* NULL: any id may occur */
	bool only_check;		/* whether ids are known: nothing is added or counted */
	struct namer *names;		/* NULL, or where edges between names go: then they do not go to the builder */
	bool header;			/* names: the first line of some file was taken as one */
	/* what has been read */
	bool fraction;			/* a weight is not written as an integer that i64 holds */
	i64 min_weight, max_weight;	/* of the others */
	u64 n_edges;
	struct checksum_stream *sum;	/* over all edges as read */
};

mill_err text_init(struct text *t);
void text_release(struct text *t);
/*
 * Adds the edges of an input to b, with weights as F64. Bad lines are MILL_EINPUT
 * "FILE:LINE: ...".
 */
mill_err text_read(struct text *t, struct builder *b, struct input *in);
/* The type that holds all weights read: the one asked for, else the narrowest. */
enum mill_weight text_weight(const struct text *t);
/* Of all edges, in their order. Once. */
u64 text_fingerprint(struct text *t);

#endif
