/* SPDX-License-Identifier: Apache-2.0 */
/* Vertices that users name: by original id, in files of ids, at random, all of them. */
#ifndef ENGINE_SOURCES_H
#define ENGINE_SOURCES_H

#include "engine/run.h"

/* An original id, "random" (NULL too: one with out-edges, by the run's seed) or "max-degree". */
mill_err run_source(struct mill_run *r, const char *text, vid *out);

/*
 * "ID,ID,...", "@FILE" of ids, "random:K" (with out-edges, without repeats), "all", or what run_source takes; NULL is
 * "random:1". They become r->search.source, those by id in the order given, the others in ascending order of their ids, and stay until
 * the next call. Those that have no edge are not in it, but counted (r->search.n_isolated; the last: r->search.isolated_source). An id that is named twice
 * is refused.
 */
mill_err run_sources(struct mill_run *r, const char *text);
/* How many there will be at most, and the host bytes that the call and the list take. */
mill_err sources_count(const struct mill_run *r, const char *text, u64 *out);
u64 sources_bytes(const struct store *st, u64 n);
bool sources_are_all(const char *text);

/* Calls for each vertex of "ID" or "@FILE" (a line each; # begins a comment line). option: what asks for them. */
mill_err each_vertex(struct mill_run *r, const char *text, const char *option,
		     mill_err (*take)(void *arg, vid v), void *arg);

#endif
