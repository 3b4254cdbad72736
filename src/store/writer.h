/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a store, whole or not at all: into PATH.new, which is renamed to PATH when everything is
 * durable. PATH.new is locked, so a second process that makes the same store is refused, and what
 * a killed process left is removed.
 *
 * Stores are deterministic: the uuid comes from the input and the options, so the same input gives
 * the same bytes.
 */
#ifndef STORE_WRITER_H
#define STORE_WRITER_H

#include "store/store.h"

struct store_writer;

/* Facts for the manifest that the caller knows. The writer itself counts bytes, sums and so on. */
struct store_facts {
	u64 vertices, sources, edges;
	/* Directed stores: vertices from this number on have no edge. 0: not known, or no edges. */
	u64 n_linked;
	bool directed;
	bool in_pages;		/* a directed store that has in-edges */
	bool names;		/* ids are ranks of names; the caller appends the names too */
	enum mill_weight weight;
	u32 page_size;
	enum page_codec codec;
	u64 fingerprint;	/* of the input and the options that shape the graph */
	const char *origin;
	bool whole_lists;	/* raw pages: a list that fits a page is not cut */
	/*
	 * Lists hold page addresses: raw pages and whole lists. A list that does not fit a page
	 * shares its pages with no other list.
	 */
	bool paged;
	/*
	 * Bytes of an address's page id and slot; together the bytes of a vid. 0 and 0: a page has
	 * as many slots as the fullest page has rows.
	 */
	u32 page_id_bytes, slot_bytes;
};

mill_err writer_open(struct store_writer **out, const char *path, bool force,
		     struct budget *budget);
/* Puts the pages into these directories, "DIR,DIR,...". Call at most once, before writer_begin. */
mill_err writer_stripe(struct store_writer *w, const char *list);
/* Fails with MILL_EUSAGE if the facts ask for pages that no store can have. */
mill_err writer_allows(const struct store_facts *facts);
/* Call before the first list. */
mill_err writer_begin(struct store_writer *w, const struct store_facts *facts);
/*
 * Adds the next vertex's list. Vertices come in order from 0, one call each, also for empty lists:
 * all out-lists, then all in-lists. neighbour is ascending; weight has the store's type, or is
 * NULL.
 */
mill_err writer_list(struct store_writer *w, bool in, const vid *neighbour, const void *weight,
		     u64 degree);
/*
 * Adds the next piece of a list. All pieces but the last of a list have a multiple of LIST_BLOCK
 * edges, not 0. The bytes written do not depend on how lists are cut into pieces.
 */
mill_err writer_piece(struct store_writer *w, bool in, const vid *neighbour, const void *weight,
		      u64 n, bool last);
/* Returns the directory in which the store is made, for the caller's temporary files. */
const char *writer_dir(const struct store_writer *w);
/* Appends to STORE_IDS, STORE_ORDER, STORE_RANK or the names. The writer itself makes degrees. */
mill_err writer_append(struct store_writer *w, enum store_file f, const void *data, u64 size);
/* Makes the store durable and visible. Frees w, also on failure; then nothing is left behind. */
mill_err writer_commit(struct store_writer *w);
void writer_abandon(struct store_writer *w);

/*
 * Begins a temporary store, which never becomes visible: its files, in the directory `dir`, have
 * no names and vanish when they are closed. It has in-lists only (facts: sources 0, directed,
 * in_pages), which any vertex may have, and neither ids nor an order.
 */
mill_err writer_open_temporary(struct store_writer **out, const char *dir, struct budget *budget);
/* Finishes a temporary store and opens it for reading. Frees w, also on failure. */
mill_err writer_keep(struct store_writer *w, struct store **out);
/*
 * Returns the most bytes of memory that a temporary store takes, not counting the buffers that
 * the writer needs to make it.
 */
u64 temporary_bytes(u64 vertices, u64 edges, u32 page_size, enum mill_weight weight);

#endif
