/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a store of edges that come in any order. Readers and generators add edges;
 * builder_finish sorts them and writes the store. Any number of edges fits the budget: those
 * that memory cannot hold are sorted on disk (external.h).
 *
 * Stores are deterministic. The store's UUID comes from the input and the options
 * (`fingerprint`), and neither the number of threads nor the budget changes a byte: the same
 * input, or the same seed, gives the same store.
 */
#ifndef IMPORT_BUILDER_H
#define IMPORT_BUILDER_H

#include "base/clock.h"
#include "base/memory.h"
#include "base/thread.h"

/*
 * An edge between original ids. The weight is the bits of the builder's weight type: u32, i32
 * and f32 in the low half, or f64.
 */
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
	u64 fingerprint;	/* a hash of the input */
	const char *origin;
};

/* A reader may use 1/16 of the budget's limit, and some MiB more, for its buffers. */
#define BUILDER_READER_SHARE 16

struct builder;

mill_err builder_new(struct builder **out, const struct builder_options *o);
mill_err builder_add(struct builder *b, const struct raw_edge *edge, size_t n);
/*
 * For readers of edges without weights that have 32-bit ids: lets the reader write pairs of
 * ids directly into the builder's memory. builder_reserve_pairs returns where to write and how
 * many pairs have room there. builder_commit_pairs adds the next n of them; all their ids are
 * in [low, high]. It may be called several times for one reservation, but no other edges
 * may be added before the last of these calls.
 */
mill_err builder_reserve_pairs(struct builder *b, u32 **pair, u64 *room);
mill_err builder_commit_pairs(struct builder *b, u64 n, u64 low, u64 high);
/* Adds vertices that may have no edge. */
mill_err builder_add_vertices(struct builder *b, const u64 *id, size_t n);
/*
 * Replaces two options of builder_new, for readers that learn them from a header. Must be called
 * before the first edge.
 */
void builder_set_kind(struct builder *b, bool undirected, enum mill_weight weight);
/*
 * Sets the type that the weights of the store will have, for readers that must see all values
 * before they know it. The weights were added as F64; the type holds each of them exactly
 * (F32: rounded). Must be called before builder_finish.
 */
void builder_set_weight(struct builder *b, enum mill_weight weight);
/* Sets the hash of the input, for readers that know it only at the end. Before builder_finish. */
void builder_set_fingerprint(struct builder *b, u64 fingerprint);
/*
 * Says that the ids are the ranks 0 .. n - 1 of names, which go into the store too. Keeps
 * `names`. Must be called before the first edge.
 */
struct namer;
void builder_set_names(struct builder *b, struct namer *names, u64 n);
/* Returns the directory for temporary files. */
const char *builder_temp_dir(const struct builder *b);
/*
 * Announces n_edges edges. Fails at once with MILL_ENOSPACE, and says how many bytes are
 * needed, if they do not fit in memory and the disk has no room to sort them.
 */
mill_err builder_expect(struct builder *b, u64 n_edges);
/*
 * Does the same for readers that know only the size of their input: `done` of its `total` bytes
 * (0: unknown) have been read, and all inputs together gave so_far edges. Fails with
 * MILL_ENOSPACE if the rest, in proportion, would not fit. Calls are cheap: the check is repeated
 * only after `done` has doubled.
 */
mill_err builder_project(struct builder *b, u64 so_far, u64 done, u64 total);
struct budget *builder_budget(struct builder *b);
struct ticker *builder_ticker(struct builder *b);
struct pool *builder_pool(struct builder *b);
/* Sorts, writes the store and frees b. Frees b also when it fails. */
mill_err builder_finish(struct builder *b, struct mill_built *out);
/* Frees b without a store. NULL is fine. */
void builder_abandon(struct builder *b);

#endif
