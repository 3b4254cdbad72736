/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a store of edges that come in any order. Readers and generators add, finish sorts
 * and writes. Any number of edges fits the budget: those that memory cannot hold are sorted on disk.
 */
#ifndef IMPORT_BUILDER_H
#define IMPORT_BUILDER_H

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

/* Original ids; the weight as bits of the builder's weight type (u32, i32, f32 in the low half; f64). */
struct raw_edge {
	u64 from, to, weight;
};

struct builder_options {
	const struct mill_target *target;
	bool undirected;
	enum mill_dedup dedup;
	enum mill_loops loops;
	enum mill_weight weight;
	u64 dense;		/* not 0: the ids are 0 .. dense - 1 and all of them exist */
	u64 fingerprint;
	const char *origin;
};

/* A reader may take the budget's limit divided by this, and some MiB, for its buffers. */
#define BUILDER_READER_SHARE 16

struct builder;

mill_err builder_new(struct builder **out, const struct builder_options *o);
mill_err builder_add(struct builder *b, const struct raw_edge *edge, size_t n);
/*
 * For readers of edges without weights whose ids have 32 bits: where to put pairs of ids, and how many; then how many
 * of them are there, from the beginning, with no other edges between, and the lowest and highest id. May be said
 * several times.
 */
mill_err builder_reserve_pairs(struct builder *b, u32 **pair, u64 *room);
mill_err builder_commit_pairs(struct builder *b, u64 n, u64 low, u64 high);
/* Vertices that may have no edge. */
mill_err builder_add_vertices(struct builder *b, const u64 *id, size_t n);
/* For readers that know it from a header: what builder_new was told otherwise. Before the first edge. */
void builder_set_kind(struct builder *b, bool undirected, enum mill_weight weight);
/*
 * For readers that look at all values before they know the type: the weights added as F64
 * become this type, which holds each of them exactly (or rounded, for F32). Before finish.
 */
void builder_set_weight(struct builder *b, enum mill_weight weight);
/* For readers that know it only at the end of the input. Before finish. */
void builder_set_fingerprint(struct builder *b, u64 fingerprint);
/*
 * The ids are the ranks 0 .. n - 1 of all names, which are written too. Keeps `names`. Before the first edge;
 * builder_temp_dir is where the namer's temporary files belong.
 */
struct namer;
void builder_set_names(struct builder *b, struct namer *names, u64 n);
const char *builder_temp_dir(const struct builder *b);
/* So many edges are coming: MILL_ENOSPACE now, with what is needed, if they cannot be sorted on disk. */
mill_err builder_expect(struct builder *b, u64 n_edges);
/*
 * For readers that know their input's size only: `done` of `total` bytes (0: unknown) of it have been read, and
 * so_far edges of all inputs. MILL_ENOSPACE, as above, if the rest looks like it; asked again now and then.
 */
mill_err builder_project(struct builder *b, u64 so_far, u64 done, u64 total);
struct budget *builder_budget(struct builder *b);
struct ticker *builder_ticker(struct builder *b);
struct pool *builder_pool(struct builder *b);
/* Frees b also when it fails. */
mill_err builder_finish(struct builder *b, struct mill_built *out);
void builder_abandon(struct builder *b);

#endif
