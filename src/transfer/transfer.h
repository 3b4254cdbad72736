/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second boundary, RAM to devices. A policy cuts the graph into units and plans, for each pass, which of them cross, to which
 * device, in which form and into which slot. The plan is data: an array of moves, complete before anything moves. One driver
 * (driver.c) executes it, for every policy and every operator but op_intersect, which sends lists of its own; it alone knows queues, tickets, stages and frames.
 *
 * Where the device has room for all lists, unpacked side by side (`whole`), kernels are launched once for all units; else once for each.
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
#include "transfer/launch.h"
#include "transfer/need.h"

/* ---- Plans ---- */

/* A direction, cut into pages, or into runs or pieces of pages. */
struct units {
	const struct pages *pages;	/* NULL: it is not read */
	const struct page_entry *entry;	/* of each: rows, edges, skip */
	const u32 *page, *page_end;	/* the pages that hold it; NULL: unit i is page i */
	u32 n;
};

enum move_flags {
	MOVE_SEND = 1,		/* it crosses */
	MOVE_WORK = 2,		/* its rows are processed */
	MOVE_IDLE = 4,		/* ... though none has work: the kernel is told */
	MOVE_BREAK = 8,		/* a window begins here */
};

#define ON_HOST 0u		/* move.where: the host's threads; n: station n - 1 */

struct move {
	u32 unit, slot;
	u16 where;
	u8 wire;		/* enum wire */
	u8 flags;
};

struct plan {
	struct move *move;
	u32 n, most;
};

/* What a pass has to do. */
struct activity {
	bool in;
	bool subset;		/* one of several passes over the graph: --no-skip does not count */
	const u32 *n;		/* by unit: rows with work; NULL: all */
};

struct device_pass {
	struct activity activity;
	/* The operator's kernels, for one segment; it must not wait. */
	mill_err (*launch)(void *arg, const struct device_segment *seg);
	void *arg;
	/* Or, for policies with kernels of their own, what these take: */
	const struct own_forms *forms;
	const void *args;
	const struct vec *given;	/* by vertex: what sources give. NULL: what they have in the vector that edges write */
	bool sums;			/* what edges write begins at 0 on the devices */
	u32 *next;			/* gets the flags that the policy's `spread` reads; NULL: nothing asks for them */
	struct mill_step *step;		/* set by transfer_pass */
};

/* ---- Policies ---- */

enum home { HOME_DEVICE, HOME_HOST };	/* of state, where the policy owns the run */

/* Bytes of the smallest budget of a device besides state that lives there, and of the host. For predictions: chunks of state, slots, work areas. */
struct room {
	u64 device, host;
	u32 chunks;
	bool divided;
	const char *why;	/* that is so */
	u64 slots, areas;
};

/* How the memory of a station is used. */
struct fit {
	bool whole;			/* all lists side by side; units only pass through the slots */
	u64 slots, most, slot_bytes;	/* buffers; units that stay; bytes of a slot */
	u64 areas, rows, edges, lists, given;	/* work areas, each for segments of so many rows and edges; bytes unpacked and given there */
	u64 lately;			/* slots assigned last that are not reassigned */
	bool own_queues;		/* a unit crosses in its area's queue, not in one for transfers alone */
};

struct policy {
	struct mill_policy public;	/* name, summary, options */
	residency_key *device, *before, *cpu;	/* what goes first: of slots; of frames before a device that it owns; of other frames */
	enum home home;
	bool in_place;			/* no steps: kernels see what others have just written */
	bool host;			/* plans moves for the host's threads */
	bool only_own;			/* refuses runs that it does not own; otherwise they go over pages, and the report says so */
	/* Values of the general options that runs of its own have, a bit each; 0: all. And those of the first that no other policy has. */
	u32 mappings, filters, directions, own_mappings;
	/* Plans the passes of runs that it owns or, if it owns none, those of all runs, by pages. NULL: plan_pages. */
	mill_err (*plan)(struct plan *out, const struct activity *a, struct transfer *t);
	/* The rest is of runs that the policy owns. The form that it takes of a program, or NULL. takes NULL: it owns no run. */
	const struct program *(*takes)(const struct own_forms *forms);
	void (*room)(struct room *out, const struct transfer *t, const struct need *n);
	mill_err (*layout)(struct transfer *t, u64 left);	/* units, wire, chunks; left: bytes of the first device */
	void (*unlayout)(struct transfer *t);
	mill_err (*fit)(struct fit *out, const struct transfer *t, u32 station, u64 left);
	mill_err (*tables)(struct transfer *t, struct station *s);	/* what its kernels need on a device */
	mill_err (*launch)(struct transfer *t, const struct device_pass *p, const struct device_segment *seg);
	/* Activates the units of vertex *first, or all; returns how many are active. */
	u64 (*begin)(const struct transfer *t, u32 *active, const vid *first);
	/* Activates the units that a pass flagged, with all others of their lists; returns how many are active. */
	u64 (*spread)(const struct transfer *t, const u32 *flag, u32 *active);
	void (*report)(const struct transfer *t, struct mill_report *out);
};

/* ---- Stations: devices and what is there ---- */

struct slot {
	struct buffer buffer;
	struct buffer number;	/* the numbers of its edges, where a direction has a table of them */
	struct page_wire *wire;	/* of each page of the unit that it holds */
	struct ticket used;	/* the last kernels that look at it */
};

/* What the kernels of one queue need besides their segment. */
struct work_area {
	struct buffer lists;		/* a page unpacked ... */
	u64 holds;			/* ... of in-pages with bit 32 set, + 1; 0: none */
	struct buffer list, offset;	/* the active rows, and the edges before each; see pages.cl */
	struct buffer tile;		/* the sums that led there: its first two words are how many rows and edges */
	struct buffer queue, kept, kept_tile;	/* what an advance leaves for a filter; only where one is asked for */
	struct buffer scratch;		/* need.edge_scratch bytes for each of transfer->scratch_edges, and a few more */
	struct buffer given;		/* what the sources of a unit give */
	struct ticket sent;		/* the last of those */
};

/* One direction on a device. */
struct side {
	struct buffer range;		/* first vertex and rows of each page */
	struct buffer first;		/* of a paged store: that of its addresses */
	struct buffer lists, weights, number;	/* whole */
};

/* The vertices of which a station has what edges write. */
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
	u32 n_queues, transfer_queue;	/* of units; of their transfers, 0: the unit's own */
	struct side side[2];
	struct buffer table[3];		/* the policy's */
	struct buffer counts, fault;	/* LANE_WORDS u64, then u32 for each flag; the number of a page that cannot be unpacked, + 1 */
	struct vec writable;		/* home HOST: what edges write, of its share */
	struct share share;
	bool moved;			/* units, in the pass under way */
};

/* Where edges of units are made on the host, and stay until they have crossed. */
#define STAGE_SENDS 96u
struct stage {
	u32 *source, *neighbour;	/* sources: edges only */
	u8 *weight;
	u32 *row;			/* csr only */
	struct ticket sent[STAGE_SENDS];
	u32 n_sent;
};

/* Where the edge numbers of a page are read from disk, and stay until they have crossed. */
#define NUMBER_STAGES 4u
struct number_stage {
	u32 *number;
	struct ticket sent;
};

/* Ids that edges have on the wire: the policy's, by its layout. */
struct wire_ids {
	bool stored;		/* those of the store's lists */
	void (*list)(const struct transfer *t, u32 *to, const struct segment *seg, u32 begin, u32 end);
	/* What is added to a source's number. */
	u32 (*source)(const struct transfer *t, u32 page, const struct segment *seg, u32 row);
};

#define COUNTS_N 8
#define LANE_WORDS (COUNT_COPIES * COUNT_STRIDE)
/* Many chunks: the topology would hardly ever end to pass. */
#define CHUNKS_MOST 1024u

struct transfer {
	/* Borrowed from the run. Policies decide by these and the units; nothing is open yet when they are asked for room. */
	const struct policy *policy;
	const struct mill_options *options;
	const struct store *store, *graph;	/* graph: whose pages cross, the store or a view of it */
	struct device *device[MILL_DEVICES_MOST];
	u32 n_devices;
	struct need need;
	struct budget *budget;
	struct pool *pool;
	struct ticker *ticker;
	struct stream *stream;		/* set when the run has it */
	mill_err (*lend_stream)(void *run, struct stream **out);	/* one to read with before that; the transfer closes it */
	void *run;
	const struct edge_numbers *numbering;	/* the run's; complete before the first pass */
	u32 sample;			/* for measuring: not 0, and of so many runs of SAMPLE_RUN pages only one takes part in passes */

	/* Made by transfer_open. */
	bool own;			/* units and kernels are the policy's */
	bool whole, weights, numbers;	/* numbers: ids of a paged store become numbers where they arrive */
	enum wire wire;
	struct units units[2];		/* out, in; of an undirected store, and of a view, there is one */
	void *layout;			/* the policy's own */
	u32 n_flags;			/* that kernels set; at least one a unit */
	u32 n_stations;
	struct station *station;
	struct plan plan;
	u32 *list, *move_of;		/* by page: those that the stream is asked for; the first move of its unit */
	u64 counts_size, scratch_edges;
	void *counted;			/* a station's counts */
	struct stage stage[2];
	u64 stage_edges, stage_rows;	/* for which each has room */
	struct wire_ids ids;		/* of what is made there */
	u32 next_stage;
	struct number_stage number_stage[NUMBER_STAGES];
	u32 next_number;
	bool failed;			/* the last pass */

	/* State that is on the host: state.c. */
	u32 chunks;
	bool divided;			/* a share of each chunk to each device, else all of it to all */
	const char *why;		/* that is so */
	void *merging;			/* a chunk of another copy */
	struct vec *held;		/* the vector of which the device has what is newer than here */

	struct transfer_time {
		f64 cutting, renaming;	/* of finding where units begin, of their ids */
		f64 staging, merging;	/* of making edges for the wire, of merging copies of state */
	} time;
};

/* ---- Open, close ---- */

/* What a run with this need takes at least. */
void transfer_room(struct room *out, const struct transfer *t, const struct need *n);
/* Makes use of what the devices' budgets leave beside `state` bytes. t has what is borrowed. */
mill_err transfer_open(struct transfer *t, bool own, u64 state);
void transfer_close(struct transfer *t);	/* a zeroed struct is fine */
/* Changes between the policy's units and pages; what was on the device is forgotten. */
mill_err transfer_turn(struct transfer *t, bool own, u64 state);
/* How many pages can stay; UINT32_MAX: all. */
u32 transfer_stays(const struct transfer *t);
mill_err transfer_prepare(struct transfer *t, const struct kernel_source *source);	/* on all devices */
/* Host bytes of stages for edges of so many bytes; p NULL: the pages of a view that is not made yet. */
u64 stage_bytes(const struct transfer *t, enum wire w, u64 edge, const struct pages *p, u64 *rows, u64 *edges);
void largest_page(const struct pages *p, const struct store *st, u64 *rows, u64 *edges);
mill_err stage_open(struct transfer *t);
void stage_close(struct transfer *t);

#define SAMPLE_RUN 8u
/* Does the page take part in passes? All do but where a sample is measured. */
static inline bool transfer_takes(const struct transfer *t, u32 page)
{
	return !t->sample || page / SAMPLE_RUN % t->sample == 0;
}

/* ---- Passes ---- */

/* Executes the policy's plan; adds to step what it cost. Afterwards queue 0 of each device goes on. */
mill_err transfer_pass(struct transfer *t, const struct device_pass *p, struct mill_step *step);

/* plan.c: what policies share. */
void plan_add(struct plan *p, struct move m);
bool plan_active(const struct transfer *t, const struct activity *a, u32 unit);	/* has it work? */
bool plan_takes(const struct transfer *t, const struct activity *a, u32 unit);	/* does it take part: active, or --no-skip? */
/* Units that are there first, in unit order, then the missing ones, over the slots that the table gives away. */
struct plan_how {
	bool by_stream;		/* the missing ones in the order in which the stream will deliver them, else in unit order */
	bool idle;		/* with --no-skip the kernels of units without work run too */
};
mill_err plan_resident_first(struct plan *out, const struct activity *a, struct transfer *t, const struct plan_how *how);
mill_err plan_pages(struct plan *out, const struct activity *a, struct transfer *t);
/* Sorts pages as the stream will deliver them: those in frames first. */
void plan_by_stream(struct transfer *t, bool in, u32 *page, u32 n);
/*
 * Pages in any other order need windows: inside of one the stream delivers as it likes, so no slot may get two of them. Begins a window on
 * all stations; after residency_begin, before the first unit is placed.
 */
void plan_window(struct transfer *t);
/* Gives the move of a unit its slot, with SEND if the unit is not there yet, and BREAK if that takes a new window. */
void plan_place(struct move *m, bool in, struct transfer *t);

/* ---- Inside: wire.c, station.c, state.c, stage.c; for the driver and policies ---- */

extern const struct kernel_source transfer_kernels;	/* transfer/pages.cl */

struct page_shape {		/* the largest page of each kind */
	u64 wire, rows, edges, lists;
};
struct page_shape page_shape(const struct store *st, bool view);	/* view: of one that is not made yet, at most */
u64 pages_most(const struct store *st, bool view);	/* of the direction that has more; a view can have more than the store */

void pages_room(struct room *out, const struct transfer *t, const struct need *n);
void units_of_pages(struct transfer *t);	/* makes pages the units */
mill_err station_buffer(struct station *s, struct buffer *b, u64 size, const char *what, enum traffic kind);
mill_err station_table(struct station *s, struct buffer *b, const u32 *from, u64 n);
mill_err station_addresses(const struct transfer *t, struct station *s, int in);

static inline bool side_of(const struct transfer *t, bool in) { return in && t->units[1].pages; }
/* Do programs take numbers that a direction has in a table? It is told by the need, before there is one. */
static inline bool need_table(const struct need *n, bool directed, bool in)
{
	return n->numbers & 1 << NUMBERS_BOTH && (n->view || !directed ? !in : in && n->in);
}
static inline bool has_table(const struct transfer *t, bool in) { return !t->own && need_table(&t->need, t->store->directed, in); }
static inline u32 unit_page(const struct units *u, u32 unit) { return u->page ? u->page[unit] : unit; }
static inline u32 unit_page_end(const struct units *u, u32 unit) { return u->page ? u->page_end[unit] : unit + 1; }

/* Where the rows of a page go: an area of its own, or among all others. */
struct place {
	const struct buffer *lists;
	u32 row_at, neighbour_at, edge_base, shared, queue;
};
/* Unpacks the packed page that lies at byte page_at of a buffer. fault gets its number + 1 if that cannot be done. */
mill_err wire_unpack(const struct buffer *fault, const struct pages *p, u32 page, const struct buffer *from, u64 page_at,
		     const struct page_wire *wire, const struct place *to);
/* Copies a raw page among all others. */
mill_err wire_place(struct station *s, const struct pages *p, u32 page, const struct slot *from, const struct place *to);
/* The raw page of a paged store whose neighbours lie at these words of a buffer gets dense numbers. */
mill_err wire_number(struct transfer *t, struct station *s, bool in, u32 page, const struct buffer *at, u32 neighbour_at, u32 queue);
/* Page number k of a unit as it lies in its slot, for queue 0 and without what the host knows of its work. */
struct device_segment wire_segment(const struct transfer *t, const struct slot *s, const struct units *u, u32 unit, u32 k);
/* MILL_ECORRUPT if a page could not be unpacked, or has an impossible address. */
mill_err wire_check(struct buffer *fault, const struct pages *p);

/* Edges [begin, end), which lie in pages [page, page_end), of units that go into a stage and cross from there. */
struct stage_part {
	u64 begin, end;
	u32 page, page_end;
};
/* The end of the moves from `begin` on, all of which SEND, that a stage holds together, and what it then has; of a large unit its first pages. */
u32 stage_window(const struct transfer *t, u32 begin, u32 end, struct stage_part *out);
bool stage_next(const struct transfer *t, u32 unit, struct stage_part *part);	/* the next pages of a large unit */
/* Makes the edges of the part, by all threads, from the listed pages. */
mill_err stage_load(struct transfer *t, const struct stage_part *part, const u32 *list, u32 n, struct mill_step *step);
/* Sends what the stage has of a unit. */
mill_err stage_send(struct transfer *t, const struct stage_part *part, u32 unit, struct buffer *to, u32 queue, struct mill_step *step);
mill_err stage_drain(struct transfer *t);
struct device_segment stage_segment(const struct transfer *t, const struct slot *s, u32 unit);

mill_err state_open(struct transfer *t, struct station *s);
void state_close(struct transfer *t);
u64 state_bytes(const struct transfer *t, u32 station);	/* of the largest share that it ever has */
mill_err state_begin(struct transfer *t, struct device_pass *p);	/* decides what sources give */
mill_err state_put(struct transfer *t, const struct device_pass *p, u32 chunk);
mill_err state_given(const struct device_pass *p, const struct page_entry *e, struct work_area *a, u32 queue);
mill_err state_get(struct transfer *t, const struct device_pass *p);
void state_forget(struct transfer *t);
mill_err merge_copies(struct pool *pool, void *to, const void *from, u64 n, enum merge_kind how);

/* ---- What kernels count: count.c ---- */

/*
 * Begin makes counts 0, end reads them, with one wait for each device. In between a census says for each page how
 * many of its rows are in a bitmap; flag (may be NULL) gets that, or the flags that kernels set.
 */
mill_err transfer_count_begin(struct transfer *t);
mill_err transfer_count_end(struct transfer *t, u64 counts[COUNTS_N], u32 *flag);
const struct buffer *transfer_counts(const struct transfer *t);
mill_err transfer_census(struct transfer *t, bool in, const struct vec *bits);
/* The same of edges. begin: the number of each page's first, and behind the last how many there are; u64. */
mill_err transfer_census_edges(struct transfer *t, bool in, const struct vec *bits, const struct vec *begin);
/* Asks the program's kernel `wanted` which pages have rows that it wants; page_n[i] is not 0 for those. */
mill_err transfer_wanted(struct transfer *t, const struct program *p, const void *args, bool in, u32 *page_n);
/* The active rows of a segment become the list of its area. */
mill_err transfer_select(const struct device_segment *seg, const struct vec *bits);
/* The sums before each of n tiles, in pairs, and in the place before the first the sums of all. */
mill_err transfer_scan(struct device *d, const struct buffer *tile, u32 n_tiles, u32 queue);
/* The far ends of the edges of a segment that are in the bitmap, which is by edge number, become bits of `next`, and are counted as emitted. */
mill_err transfer_ends(const struct device_segment *seg, const struct vec *bits, const struct vec *next);

#endif
