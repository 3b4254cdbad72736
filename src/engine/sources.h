/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the vertices that users name: by original id, in a file of ids, at random, or all
 * of them.
 */
#ifndef ENGINE_SOURCES_H
#define ENGINE_SOURCES_H

#include "engine/run.h"

/*
 * Finds one source. text: an original id, "random" (or NULL: a vertex with out-edges,
 * chosen by the run's seed) or "max-degree".
 */
mill_err run_source(struct mill_run *r, const char *text, vid *out);

/*
 * Finds several sources and lists them in r->search.source until the next call. text:
 * "ID,ID,...", "@FILE" of ids, "random:K" (different vertices with out-edges), "all", or
 * what run_source takes; NULL is "random:1". Named ids are listed in the order given,
 * others in ascending order of the id. Vertices without an edge are not listed but counted
 * (r->search.n_isolated; the last of them is r->search.isolated_source). Fails with
 * MILL_EUSAGE if an id is named twice.
 */
mill_err run_sources(struct mill_run *r, const char *text);
/* Sets *out to an upper bound of the number of sources. */
mill_err sources_count(const struct mill_run *r, const char *text, u64 *out);
/* Returns the host bytes that run_sources and the list of n sources take. */
u64 sources_bytes(const struct store *st, u64 n);
/* Returns true if the text asks for all vertices. */
bool sources_are_all(const char *text);

/*
 * Calls take for each vertex that "ID" or "@FILE" names. A file has one id a line; # begins
 * a comment line. option: the option that names them, for errors.
 */
mill_err each_vertex(struct mill_run *r, const char *text, const char *option,
		     mill_err (*take)(void *arg, vid v), void *arg);

#endif
