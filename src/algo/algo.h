/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An algorithm is a row: its name, its options, the columns and facts of its result, and
 * its functions. Its file ends with the row, `algorithm_NAME`, and algorithms.h lists it.
 * No other file knows it: the command line, help and reports are made from rows. `plan` and
 * a run call the same function `declare` (engine/declaration.h).
 */
#ifndef ALGO_ALGO_H
#define ALGO_ALGO_H

#include "engine/reach.h"
#include "engine/result.h"
#include "engine/sources.h"
#include "model/model.h"
#include "op/op.h"

struct algorithm {
	struct mill_algorithm public;	/* for users and programs: name, help, options, result */
	/*
	 * Bytes of its own struct `self`, which is zero at first: program arguments, loop
	 * counters.
	 */
	size_t size;
	/*
	 * Declares what a run with these options has (engine/declaration.h). Options that
	 * are all zero are the defaults. Fails if the algorithm cannot run with this store
	 * or these options.
	 */
	mill_err (*declare)(struct declaration *d, const void *options, void *self);
	/* Runs the loop. After run_end, which stops the clock, it adds facts for the report. */
	mill_err (*run)(struct mill_run *r, void *self);
	/*
	 * Certifies the result, by code that shares nothing with the algorithm. Fails with
	 * MILL_ECHECK and names the vertex or edge that is wrong. self is r->self.
	 */
	mill_err (*check)(struct mill_run *r);
	/* Returns true if the last bits of the result may differ between devices. NULL: never. */
	bool (*rounds)(const void *options);
	const struct cost *cost;	/* its row of the cost model; NULL: that of a search */
	/*
	 * The algorithm that runs instead on an undirected graph, without options and under
	 * the same name; NULL: there is none.
	 */
	const struct algorithm *undirected;
};

/* A list of words for a row, with NULL at the end. */
#define NAMES(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The row of --source. offset: of the field that declare_source takes. */
#define OPTION_SOURCE(offset)                                                     \
	{                                                                         \
		"source", MILL_OPTION_TEXT, offset, "ID",                         \
		.help = "an original id or name, `random` or `max-degree`",       \
		.word = NAMES("random", "max-degree"), .usual_text = "random",    \
		.only_run = true                                                  \
	}

/* Returns the algorithm of this name, or NULL. */
const struct algorithm *algorithm_find(const char *name);
/*
 * Returns true if the last bits of the algorithm's result may differ between devices.
 * options: NULL for the defaults.
 */
bool algorithm_rounds(const char *name, const void *options);

/* Fails with MILL_ECHECK. The message has the vertex's id and `what`, which says what is wrong. */
mill_err check_wrong(const struct mill_run *r, u64 v, const char *what);
/* Adds x to *to atomically, for certificates in which several workers add to one number. */
void check_add(f64 *to, f64 x);

#endif
