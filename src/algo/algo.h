/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An algorithm is a row: what it is called, its options, what its result has, and four functions. Its file defines the row as `algorithm_NAME`, algorithms.h lists it, and
 * nothing else knows it.
 */
#ifndef ALGO_ALGO_H
#define ALGO_ALGO_H

#include "engine/reach.h"
#include "engine/result.h"
#include "engine/sources.h"
#include "model/model.h"
#include "op/op.h"

struct algorithm {
	struct mill_algorithm public;	/* name, help, options, result: what users and programs see */
	size_t size;			/* of its own struct, `self`: the arguments of its programs and what its loop counts; zeroes at first */
	/* Declares what a run with these options has (engine/declaration.h); all-zero options are the defaults. Error: it cannot run at all. */
	mill_err (*declare)(struct declaration *d, const void *options, void *self);
	/* Runs the loop over what was declared; between run_end and the return come facts. */
	mill_err (*run)(struct mill_run *r, void *self);
	/* Certifies the result, by code that it shares with nothing: MILL_ECHECK names the vertex or edge that is wrong. self is r->self. */
	mill_err (*check)(struct mill_run *r);
	/* May the last bits of a result differ between devices with these options? NULL: never. */
	bool (*rounds)(const void *options);
	const struct cost *cost;	/* NULL: that of a search */
	const struct algorithm *undirected;	/* not NULL: on an undirected graph this one runs in its place, without options, under the same name */
};

/* A list of words for a row, ended. */
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The row of --source: the field is for declare_source. */
#define OPTION_SOURCE(offset)                                                                                          \
	{                                                                                                              \
		"source", MILL_OPTION_TEXT, offset, "ID", .help = "an original id or name, `random` or `max-degree`",  \
		.word = NAMES("random", "max-degree"), .usual_text = "random", .only_run = true                        \
	}

/* NULL if there is none of this name. */
const struct algorithm *algorithm_find(const char *name);
/* May the last bits of its result differ between devices? options NULL: the defaults. */
bool algorithm_rounds(const char *name, const void *options);

/* Returns MILL_ECHECK with the vertex by its id and what is wrong there. */
mill_err check_wrong(const struct mill_run *r, u64 v, const char *what);

#endif
