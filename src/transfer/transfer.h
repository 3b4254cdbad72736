/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second boundary, RAM to devices. A policy is a table of functions (struct policy),
 * and a plan is data: the policy cuts the graph into units (pages, partitions) and, for
 * each pass, lists the moves: which unit crosses, to which device, in which form, into
 * which slot. The array of moves is complete before anything moves, so a plan can be tested
 * without a device.
 *
 * One driver (driver.c) executes the plans of all policies for all operators. The exception
 * is op_intersect, which sends lists of its own. Only the driver knows queues, tickets,
 * stages and frames.
 *
 * A policy owns a run if the program has the form that the policy's kernels need (`takes`).
 * All other runs go over pages, and the policy only says which pages are evicted first.
 * Reports show whether the policy owned the run (`policy_owns`). transfer_turn changes from
 * the policy's units to pages or back: a search over partitions finds parents over pages.
 *
 * If the device has room for all lists, unpacked side by side (`whole`), kernels are
 * launched once for all units, else once per unit.
 */
#ifndef TRANSFER_TRANSFER_H
#define TRANSFER_TRANSFER_H

#include <millrace.h>

#include "base/clock.h"
#include "base/thread.h"
#include "store/page.h"
#include "store/store.h"
#include "stream/residency.h"
#include "stream/stream.h"
#include "transfer/gather.h"
#include "transfer/launch.h"
#include "transfer/need.h"
#include "transfer/twin.h"

/* ---- Plans ---- */

/* The units of a direction: pages, runs of pages, or pieces of pages. */
struct units {
	const struct pages *pages;	/* NULL: the run does not read this direction */
	const struct page_entry *entry;	/* of each unit: rows, edges, skip */
	const u32 *page, *page_end;	/* the pages of each unit; NULL: unit i is page i */
	u32 n;
};

enum move_flags {
	MOVE_SEND = 1,		/* the unit crosses */
	MOVE_WORK = 2,		/* its rows are processed */
	MOVE_IDLE = 4,		/* with MOVE_WORK: no row has work, and the kernel is told so */
	MOVE_BREAK = 8,		/* a window begins with this move */
};

#define ON_HOST 0u		/* move.where: the host's threads; other values n: station n - 1 */

struct move {
	u32 unit, slot;		/* NO_UNIT: a gathered chunk that is in the slot */
	u16 where;
	u8 wire;		/* enum wire */
	u8 flags;
};

struct plan {
	struct move *move;
	u32 n, most;		/* moves; the most that there is room for */
};

/* The work of a pass. */
struct activity {
	bool in;
	bool subset;		/* one of several passes over the graph: --no-skip has no effect */
	const u32 *n;		/* by unit: rows with work; NULL: all rows have work */
};

struct device_pass {
	struct activity activity;
	/* Launches the operator's kernels for one segment. It must not wait. */
	mill_err (*launch)(void *arg, const struct device_segment *seg);
	void *arg;
	/* Instead, for policies with kernels of their own, the arguments of these kernels: */
	const struct own_forms *forms;
	const void *args;
	/*
	 * The values that sources give, by vertex. NULL: sources give their values in the
	 * vector that edges write.
	 */
	const struct vec *given;
	bool sums;			/* the vector that edges write begins at 0 on the devices */
	/* Gets the flags for the policy's `spread`; NULL: not wanted. */
	u32 *next;
	struct mill_step *step;		/* set by transfer_pass */
};

/* ---- Policies ---- */

/* Where the state is, if the policy owns the run. TWIN: on the host and on a device. */
enum home { HOME_DEVICE, HOME_HOST, HOME_TWIN };

/* The least room that a run needs, and a prediction of the room that it will get. */
struct room {
	/* Bytes of the smallest device budget, without state that lives there. */
	u64 device;
	u64 host;		/* bytes */
	u32 chunks;		/* chunks of the state */
	bool divided;		/* devices share each chunk of the state */
	const char *why;	/* the reason for chunks and divided */
	u64 slots, areas;	/* slots and work areas of a device */
};

/* How the memory of a station is used. */
struct fit {
	bool whole;		/* all lists lie side by side; units only pass through the slots */
	u64 slots;		/* number of slots */
	u64 most;		/* number of units that stay */
	u64 slot_bytes;		/* bytes of a slot */
	u64 areas;		/* number of work areas */
	u64 rows, edges;	/* of the largest segment that a work area is for */
	u64 lists, given;	/* bytes of a work area for unpacked lists, and for given values */
	u64 lately;		/* the last `lately` slots assigned are not reassigned */
	bool own_queues;	/* a unit crosses in its area's queue, not in the transfer queue */
};

struct policy {
	struct mill_policy public;	/* name, summary, options */
	/*
	 * Which unit is evicted first. device: from the slots of a device. before: from
	 * frames, if the policy owns the run. cpu: from frames in all other runs.
	 */
	residency_key *device, *before, *cpu;
	enum home home;
	/* Kernels see values that other kernels of the same pass have just written. */
	bool in_place;
	bool host;			/* plans moves for the host's threads */
	/*
	 * The policy refuses runs that it does not own. False: such runs go over pages, and
	 * the report says so.
	 */
	bool only_own;
	/*
	 * Bit sets of the values of general options that the policy's own runs allow; 0:
	 * all values. own_mappings: mappings that no other policy has.
	 */
	u32 mappings, filters, directions, own_mappings;
	/*
	 * Plans a pass of a run that the policy owns. If it owns no runs: plans a pass of
	 * any run, by pages. NULL: plan_pages.
	 */
	mill_err (*plan)(struct plan *out, const struct activity *a, struct transfer *t);
	/*
	 * The functions from here on are for runs that the policy owns. takes: returns the
	 * form of the program that the policy's kernels need, or NULL if the program does
	 * not have it. takes is NULL: the policy owns no run.
	 */
	const struct program *(*takes)(const struct own_forms *forms);
	void (*room)(struct room *out, const struct transfer *t, const struct need *n);
	/* Makes units, wire and chunks. left: bytes that the first device has left. */
	mill_err (*layout)(struct transfer *t, u64 left);
	void (*unlayout)(struct transfer *t);
	mill_err (*fit)(struct fit *out, const struct transfer *t, u32 station, u64 left);
	mill_err (*tables)(struct transfer *t, struct station *s);	/* for its kernels */
	mill_err (*open)(struct transfer *t);	/* what its wire needs beside slots; may be NULL */
	mill_err (*launch)(struct transfer *t, const struct device_pass *p,
			   const struct device_segment *seg);
	/*
	 * Activates the units of vertex *first, or all if first is NULL. Returns how many
	 * are active.
	 */
	u64 (*begin)(const struct transfer *t, u32 *active, const vid *first);
	/*
	 * Activates the units that a pass flagged and all other units of their lists.
	 * Returns how many are active.
	 */
	u64 (*spread)(const struct transfer *t, const u32 *flag, u32 *active);
	void (*report)(const struct transfer *t, struct mill_report *out);
};

/* ---- Stations ---- */

/* A station is a device with its slots, work areas and tables. */

struct slot {
	struct buffer buffer;
	struct buffer number;	/* edge numbers of the unit, if the direction has a table of them */
	struct page_wire *wire;	/* of each page of the unit in the slot */
	struct ticket used;	/* the last kernels that read the slot */
};

/* The buffers that the kernels of one queue need in addition to their segment. */
struct work_area {
	struct buffer lists;		/* an unpacked page */
	u64 holds;			/* that page + 1, with bit 32 set for in-pages; 0: none */
	struct buffer list, offset;	/* active rows, and the edges before each; see pages.cl */
	/* Prefix sums; words 0 and 1: number of rows and of edges. */
	struct buffer tile;
	/* The queue that an advance leaves for a filter; only with --filter exact or inexact. */
	struct buffer queue, kept, kept_tile;
	/* need.edge_scratch bytes for each of transfer->scratch_edges, and 64 more. */
	struct buffer scratch;
	struct buffer given;		/* the values that the sources of a unit give */
	struct ticket sent;		/* the last transfer of given values */
};

/* One direction on a device. */
struct side {
	struct buffer range;		/* first vertex and number of rows of each page */
	struct buffer first;		/* of a paged store: `first` of its addresses */
	struct buffer lists, weights, number;	/* if all lists are there (`whole`) */
};

/* The vertices that a station has in the array that edges write. */
struct share {
	u64 begin, end;
};

struct station {
	struct device *device;
	u32 n_slots;			/* whole: buffers that pages pass through */
	struct slot *slot;
	struct page_wire *wire;
	struct residency *residency;
	u32 n_areas;
	struct work_area *area;
	u32 n_queues;			/* queues for the kernels of units */
	/* Queue for transfers; 0: each crosses in its unit's queue. */
	u32 transfer_queue;
	struct side side[2];
	struct buffer table[3];		/* the policy's */
	struct buffer counts;		/* COUNTER_WORDS u64, then one u32 per flag */
	struct buffer fault;		/* number + 1 of a page that cannot be unpacked; 0: none */
	struct vec writable;		/* home HOST: the station's share of what edges write */
	struct share share;
	bool moved;			/* a unit was sent in this pass */
	u64 sent_bytes;			/* of gathered chunks, in this pass */
};

/* A host buffer in which the edges of units are made. They stay until they have crossed. */
#define STAGE_SENDS 96u
struct stage {
	u32 *source, *neighbour;	/* source: WIRE_EDGES only */
	u8 *weight;
	u32 *row;			/* WIRE_CSR only */
	struct ticket sent[STAGE_SENDS];
	u32 n_sent;
};

/* The edge numbers of a page are read from disk to here and stay until they have crossed. */
#define NUMBER_STAGES 4u
struct number_stage {
	u32 *number;
	struct ticket sent;
};

/* The ids that edges have on the wire. The policy sets them in its layout. */
struct wire_ids {
	bool stored;		/* the ids in the store's lists */
	void (*list)(const struct transfer *t, u32 *to, const struct segment *seg, u32 begin,
		     u32 end);
	/* Returns the number to add to a source's vertex number to get its id. */
	u32 (*source)(const struct transfer *t, u32 page, const struct segment *seg, u32 row);
};

#define COUNTS_N 8
#define COUNTER_WORDS (COUNT_COPIES * COUNT_STRIDE)
/*
 * The most chunks of state. With more, a pass over the topology would take too long to be
 * useful.
 */
#define CHUNKS_MOST 1024u

struct transfer {
	/*
	 * Borrowed from the run. Policies decide by these and by the units. When a policy
	 * is asked for room, nothing is open yet.
	 */
	const struct policy *policy;
	const struct mill_options *options;
	const struct store *store;
	/* The store of the pages that cross: `store` or a view of it. */
	const struct store *graph;
	struct device *device[MILL_DEVICES_MOST];
	u32 n_devices;
	struct need need;
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	struct stream *stream;		/* NULL until the run has opened it */
	/* Opens a stream to read with before the run has its own. The transfer closes it. */
	mill_err (*lend_stream)(void *run, struct stream **out);
	void *run;
	const struct edge_numbers *numbering;	/* the run's; complete before the first pass */
	/*
	 * For measuring. Not 0: one of every `sample` runs of SAMPLE_RUN pages takes part
	 * in passes.
	 */
	u32 sample;

	/* Made by transfer_open. */
	bool own;			/* units and kernels are the policy's */
	bool whole, weights;
	/* Ids of a paged store become dense numbers on the device. */
	bool renumber;
	enum wire wire;
	struct units units[2];		/* out, in; an undirected store and a view have one */
	void *layout;			/* the policy's own */
	u32 n_flags;			/* flags that kernels set; at least one per unit */
	u32 n_stations;
	struct station *station;
	struct plan plan;
	u32 *list;			/* pages that the stream is asked for */
	u32 *move_of;			/* by page: the first move of its unit */
	u64 counts_size, scratch_edges;
	void *counts;			/* a station's counts, read back */
	struct stage stage[2];
	u64 stage_edges, stage_rows;	/* edges and rows that a stage has room for */
	struct wire_ids ids;		/* of the edges in the stages */
	u32 next_stage;
	struct number_stage number_stage[NUMBER_STAGES];
	u32 next_number;
	bool failed;			/* the last pass failed */

	/* Rows that are gathered, and state on both sides: gather.c, twin.c. */
	struct gather gather;
	struct twin twin;

	/* State that is on the host: state.c. */
	u32 chunks;
	bool divided;			/* each device gets a share of a chunk; false: all of it */
	const char *why;		/* the reason for chunks and divided */
	void *merge_copy;		/* a device's copy of a chunk, read back to be merged */
	/* The vector with values on the device newer than the host's. */
	struct vec *held;

	/* Seconds. */
	struct transfer_time {
		f64 cutting, renaming;	/* finding where units begin; making their ids */
		f64 staging, merging;	/* making edges for the wire; merging copies of state */
	} time;
};

/* ---- Open and close ---- */

/* Computes the least memory that a run with this need takes. */
void transfer_room(struct room *out, const struct transfer *t, const struct need *n);
/*
 * Opens stations that use what the devices' budgets leave beside `state` bytes. The caller
 * has set the borrowed fields of t.
 */
mill_err transfer_open(struct transfer *t, bool own, u64 state);
void transfer_close(struct transfer *t);	/* a zeroed struct is fine */
/* Changes between the policy's units and pages. Whatever was on the device is forgotten. */
mill_err transfer_turn(struct transfer *t, bool own, u64 state);
/* Returns how many pages can stay; UINT32_MAX: all. */
u32 transfer_stays(const struct transfer *t);
/* Builds the kernels on all devices. */
mill_err transfer_prepare(struct transfer *t, const struct kernel_source *source);
/*
 * Returns the host bytes of the stages if an edge takes `edge` bytes. p NULL: the pages of
 * a view that is not made yet.
 */
u64 stage_bytes(const struct transfer *t, enum wire w, u64 edge, const struct pages *p, u64 *rows,
		u64 *edges);
void largest_page(const struct pages *p, const struct store *st, u64 *rows, u64 *edges);
mill_err stage_open(struct transfer *t);
void stage_close(struct transfer *t);

#define SAMPLE_RUN 8u
/* Returns whether the page takes part in passes. All pages do unless a sample is measured. */
static inline bool transfer_takes(const struct transfer *t, u32 page)
{
	return !t->sample || page / SAMPLE_RUN % t->sample == 0;
}

/* ---- Passes ---- */

/*
 * Executes the policy's plan and adds its cost to step. Afterwards queue 0 of each device
 * continues.
 */
mill_err transfer_pass(struct transfer *t, const struct device_pass *p, struct mill_step *step);

/* plan.c: functions that policies share. */
void plan_add(struct plan *p, struct move m);
/* Returns whether the unit has work. */
bool plan_active(const struct transfer *t, const struct activity *a, u32 unit);
/* Returns whether the unit takes part in the pass: it is active, or --no-skip is set. */
bool plan_takes(const struct transfer *t, const struct activity *a, u32 unit);
struct plan_how {
	bool by_stream;		/* missing units in the stream's order; false: in unit order */
	bool idle;		/* with --no-skip the kernels of units without work run too */
};
/*
 * Plans the resident units first, in unit order, then the missing units, each into the slot
 * that the table of residency assigns.
 */
mill_err plan_resident_first(struct plan *out, const struct activity *a, struct transfer *t,
			     const struct plan_how *how);
mill_err plan_pages(struct plan *out, const struct activity *a, struct transfer *t);
/* Sorts pages into the order in which the stream will deliver them: those in frames first. */
void plan_by_stream(struct transfer *t, bool in, u32 *page, u32 n);
/*
 * Begins a window on all stations. A plan in another order than plan_by_stream's needs
 * windows: inside a window the stream delivers pages in its own order, so no slot may get
 * two of them. Call it after residency_begin and before the first unit is placed.
 */
void plan_window(struct transfer *t);
/*
 * Sets the slot of a unit's move. Adds MOVE_SEND if the unit is not resident, and
 * MOVE_BREAK if its slot needs a new window.
 */
void plan_place(struct move *m, bool in, struct transfer *t);

/* ---- Functions for the driver and policies: wire.c, station.c, state.c, stage.c ---- */

extern const struct kernel_source transfer_kernels;	/* transfer/pages.cl */

struct page_shape {		/* the maximum over all pages, of each measure */
	u64 wire, rows, edges, lists;
};
/* view: an upper bound for the pages of a view that is not made yet. */
struct page_shape page_shape(const struct store *st, bool view);
/* Returns the pages of the larger direction. A view can have more pages than the store. */
u64 pages_most(const struct store *st, bool view);

void pages_room(struct room *out, const struct transfer *t, const struct need *n);
void units_of_pages(struct transfer *t);	/* makes pages the units */
mill_err station_buffer(struct station *s, struct buffer *b, u64 size, const char *what,
			enum traffic kind);
mill_err station_table(struct station *s, struct buffer *b, const u32 *from, u64 n);
mill_err station_addresses(const struct transfer *t, struct station *s, int in);

static inline bool side_of(const struct transfer *t, bool in) { return in && t->units[1].pages; }
/*
 * Returns whether programs take edge numbers that a direction has in a table. Uses only the
 * need, so it can be called before there is a table.
 */
static inline bool need_table(const struct need *n, bool directed, bool in)
{
	return n->numbers & 1 << NUMBERS_BOTH && (n->view || !directed ? !in : in && n->in);
}
static inline bool has_table(const struct transfer *t, bool in)
{
	return !t->own && need_table(&t->need, t->store->directed, in);
}
static inline u32 unit_page(const struct units *u, u32 unit)
{
	return u->page ? u->page[unit] : unit;
}
static inline u32 unit_page_end(const struct units *u, u32 unit)
{
	return u->page ? u->page_end[unit] : unit + 1;
}

/* Where the rows of a page go: to an area of their own, or among the rows of all pages. */
struct place {
	const struct buffer *lists;
	u32 row_at, neighbour_at, edge_base, shared, queue;
};
/*
 * Unpacks the packed page that lies at byte page_at of a buffer. If the page cannot be
 * unpacked, fault gets its number + 1.
 */
mill_err wire_unpack(const struct buffer *fault, const struct pages *p, u32 page,
		     const struct buffer *from, u64 page_at, const struct page_wire *wire,
		     const struct place *to);
/* Copies the rows of a raw page to their place among the rows of all pages. */
mill_err wire_place(struct station *s, const struct pages *p, u32 page, const struct slot *from,
		    const struct place *to);
/*
 * Replaces the addresses in a raw page of a paged store by dense numbers. neighbour_at: the
 * word of the buffer where the page's neighbours begin.
 */
mill_err wire_number(struct transfer *t, struct station *s, bool in, u32 page,
		     const struct buffer *at, u32 neighbour_at, u32 queue);
/*
 * Returns page k of a unit as it lies in its slot. The queue is 0, and fields about the
 * work (n_active, station, area) are not set.
 */
struct device_segment wire_segment(const struct transfer *t, const struct slot *s,
				   const struct units *u, u32 unit, u32 k);
/* Fails with MILL_ECORRUPT if a page could not be unpacked, or has an impossible address. */
mill_err wire_check(struct buffer *fault, const struct pages *p);

/*
 * The edges of units that a stage holds at a time: edges [begin, end), which lie in pages
 * [page, page_end).
 */
struct stage_part {
	u64 begin, end;
	u32 page, page_end;
};
/*
 * Finds how many of the moves [begin, end), all of which have MOVE_SEND, a stage holds
 * together. Returns the end of those moves; *out is what the stage then holds. For a unit
 * larger than a stage, *out is its first pages.
 */
u32 stage_window(const struct transfer *t, u32 begin, u32 end, struct stage_part *out);
/* Moves on to the next pages of a large unit. Returns false if there are none. */
bool stage_next(const struct transfer *t, u32 unit, struct stage_part *part);
/* Makes the edges of the part from the listed pages, on all threads. */
mill_err stage_load(struct transfer *t, const struct stage_part *part, const u32 *list, u32 n,
		    struct mill_step *step);
/* Sends the edges of a unit that are in the stage. */
mill_err stage_send(struct transfer *t, const struct stage_part *part, u32 unit, struct buffer *to,
		    u32 queue, struct mill_step *step);
mill_err stage_drain(struct transfer *t);
struct device_segment stage_segment(const struct transfer *t, const struct slot *s, u32 unit);

mill_err state_open(struct transfer *t, struct station *s);
void state_close(struct transfer *t);
/* Returns the bytes of the largest share that the station ever has. */
u64 state_bytes(const struct transfer *t, u32 station);
/* Prepares a pass; sets p->given if the devices do not have the values of all sources. */
mill_err state_begin(struct transfer *t, struct device_pass *p);
mill_err state_put(struct transfer *t, const struct device_pass *p, u32 chunk);
mill_err state_given(const struct device_pass *p, const struct page_entry *e, struct work_area *a,
		     u32 queue);
mill_err state_get(struct transfer *t, const struct device_pass *p);
void state_forget(struct transfer *t);
mill_err merge_copies(struct pool *pool, void *to, const void *from, u64 n, enum merge_kind how);

/* ---- Counts of kernels: count.c ---- */

/*
 * transfer_count_begin sets the counts to 0; transfer_count_end reads them, with one wait
 * per device. Between the two, a census counts for each page how many of its rows are in a
 * bitmap. flag (may be NULL) gets these counts, or the flags that kernels set.
 */
mill_err transfer_count_begin(struct transfer *t);
mill_err transfer_count_end(struct transfer *t, u64 counts[COUNTS_N], u32 *flag);
const struct buffer *transfer_counts(const struct transfer *t);
mill_err transfer_census(struct transfer *t, bool in, const struct vec *bits);
/*
 * Counts the active edges of each page. begin: u64, the number of each page's first edge,
 * then the number of edges.
 */
mill_err transfer_census_edges(struct transfer *t, bool in, const struct vec *bits,
			       const struct vec *begin);
/*
 * Asks the program's kernel `wanted` which pages have rows that it wants; page_n[i] is not
 * 0 for those pages.
 */
mill_err transfer_wanted(struct transfer *t, const struct program *p, const void *args, bool in,
			 u32 *page_n);
/* Writes the active rows of a segment to the list of its work area. */
mill_err transfer_select(const struct device_segment *seg, const struct vec *bits);
/*
 * Computes prefix sums over n tiles, which are pairs of words. The pair before the first
 * tile gets the sums of all tiles.
 */
mill_err transfer_scan(struct device *d, const struct buffer *tile, u32 n_tiles, u32 queue);
/*
 * Sets in `next` the bits of the far ends of the segment's active edges and counts them as
 * emitted. bits: by edge number.
 */
mill_err transfer_ends(const struct device_segment *seg, const struct vec *bits,
		       const struct vec *next);

#endif
