/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a store, all or nothing: into PATH.new (locked, so that a second process that makes the same
 * store is refused, and what a killed one left is swept), renamed to PATH when everything is durable.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "store/store.h"

struct store_writer;

/* What the manifest says; counts that pages reveal (bytes, sums) are the writer's. */
struct store_facts {
	u64 vertices, sources, edges;
	u64 n_linked;		/* directed: no vertex from this number on has an edge; 0: not known, unless there are no edges */
	bool directed;
	bool in_pages;		/* a directed store that has them */
	bool names;		/* ids are ranks of names, which are appended too */
	enum mill_weight weight;
	u32 page_size;
	enum page_codec codec;
	u64 fingerprint;	/* of the input and the options that shape the graph: the uuid comes from it */
	const char *origin;
	bool whole_lists;	/* raw pages: a list that fits a page is not cut */
	bool paged;		/* lists hold page addresses: raw pages, whole lists, and one that does not fit a page has its pages alone */
	u32 page_id_bytes, slot_bytes;	/* ... of an address, together those of a vid; 0, 0: as many slots as the fullest page has rows */
};

mill_err writer_open(struct store_writer **out, const char *path, bool force, struct budget *budget);
/* Its pages will lie in these directories, "DIR,DIR,...": at most once, before writer_begin. */
mill_err writer_stripe(struct store_writer *w, const char *list);
/* Can there be a store whose pages are like this? MILL_EUSAGE if not. writer_begin asks again. */
mill_err writer_allows(const struct store_facts *facts);
/* Before the first list. */
mill_err writer_begin(struct store_writer *w, const struct store_facts *facts);
/*
 * The next vertex's list (vertices come in order, one call each, from 0; empty lists too). neighbour is
 * ascending; weight: of the store's type, or NULL. All out-lists, then all in-lists.
 */
mill_err writer_list(struct store_writer *w, bool in, const vid *neighbour, const void *weight, u64 degree);
/*
 * The same list by list in pieces: all but the last of a list hold a multiple of LIST_BLOCK edges, more
 * than none. The bytes written do not depend on how a list is cut.
 */
mill_err writer_piece(struct store_writer *w, bool in, const vid *neighbour, const void *weight, u64 n,
		      bool last);
/* Where it is made: for temporary files. */
const char *writer_dir(const struct store_writer *w);
/* Appends to a vector file: STORE_IDS, STORE_ORDER, STORE_RANK, or the names (degrees are the writer's own). */
mill_err writer_append(struct store_writer *w, enum store_file f, const void *data, u64 size);
/* Makes it durable and visible; frees w also when it fails (and then nothing is left behind). */
mill_err writer_commit(struct store_writer *w);
void writer_abandon(struct store_writer *w);

/*
 * A store that never becomes visible: its files, made in the directory `dir`, have no names and vanish with it. It has
 * in-lists only (facts: sources 0, directed, in_pages), which any vertex may have, and neither ids nor an order.
 */
mill_err writer_open_temporary(struct store_writer **out, const char *dir, struct budget *budget);
/* What was written, to be read; frees w also when it fails. */
mill_err writer_keep(struct store_writer *w, struct store **out);
/* Bytes of memory that a temporary store of so many edges takes at most, once made. */
u64 temporary_bytes(u64 vertices, u64 edges, u32 page_size, enum mill_weight weight);

#endif
