/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millrace: analyse a graph that does not fit your GPU, or not even your RAM, on one machine.
 *
 * This is the whole public interface, in the order in which a program uses it. docs/api.md is
 * a tour of it by task. In short:
 *
 *	mill_store *store;
 *	mill_run *run;
 *	mill_store_open(&store, "web.mill");
 *	mill_run_new(&run, store, &(struct mill_options){ .memory = 256 << 20 });
 *	mill_bfs(run, &(struct mill_bfs){ .source = "max-degree" });
 *	mill_run_write(run, "depths.tsv");
 *	mill_run_free(run);
 *	mill_store_close(store);
 *
 * Rules that hold for every call:
 *
 * - Errors: a call that can fail returns a mill_err. After a failure mill_error() returns one
 *   sentence for the user, kept per thread. The library never prints and never exits.
 * - Ownership: an object that a call returns through `out` belongs to the caller, and another
 *   call releases it (close, free, release). Arguments are only read during the call, but a run
 *   keeps its watcher. The free and close calls accept NULL.
 * - Defaults: an options struct that is all zero means the defaults, so
 *   (struct mill_options){ .memory = x } sets one field and keeps the others.
 * - Threads: runs in different threads do not disturb each other, and may share one store. One
 *   run belongs to one thread at a time. A run starts its own worker threads.
 * - Text is UTF-8 or plain bytes with a final NUL. Sizes are bytes. Times are seconds.
 *
 * Words: a *store* is a graph on disk, in pages (docs/format.md). An *original id* is the number
 * (or the name) that a vertex has in the input; a *vertex number* is its place in the store. A
 * *stored edge* is an entry of the out-lists: an undirected edge is stored twice, once for each
 * end, and a self-loop once. A *step* (superstep) is one pass over the pages that have work. A
 * graph is *resident* if all of it stays in memory, and *streamed* if steps read the pages that
 * they need from disk.
 */
#ifndef MILLRACE_H
#define MILLRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MILL_API __attribute__((visibility("default")))
#else
#define MILL_API
#endif

#define MILL_VERSION "0.1.0"

/* ---- Errors ---- */

/* The values are also the exit codes of the command line. */
typedef enum mill_err {
	MILL_OK = 0,
	MILL_EBUG = 1,		/* a bug in Millrace */
	MILL_EUSAGE = 2,	/* unknown option or source id, target exists, weights needed */
	MILL_EINPUT = 3,	/* bad input (says file:line), not a store, newer format */
	MILL_ECORRUPT = 4,	/* corrupt store */
	MILL_EIO = 5,		/* I/O error, file missing or unreadable */
	MILL_ENOSPACE = 6,	/* no space left on a disk */
	MILL_ENOMEM = 7,	/* memory or budget too small (says how much is needed) */
	MILL_EDEVICE = 8,	/* device failed or missing */
	MILL_ELIMIT = 9,	/* a stated limit exceeded */
	MILL_ELOCKED = 10,	/* store locked by another process */
	MILL_ECHECK = 11,	/* the check found the result wrong */
	MILL_EMISMATCH = 12,	/* checkpoint does not match the store or the options */
	MILL_ECANCELLED = 130	/* the watcher asked to stop */
} mill_err;

/* Returns the sentence of the calling thread's last failure, without a final newline. */
MILL_API const char *mill_error(void);

/* Returns the version of the library, which may be newer than the header's MILL_VERSION. */
MILL_API const char *mill_version(void);
/* Returns the names of the features in this build, separated by spaces: "cpu opencl gzip". */
MILL_API const char *mill_features(void);

/* ---- Progress and cancellation ---- */

struct mill_progress {
	const char *what;	/* the phase: "read", "sort", "bfs step 3", ... */
	const char *unit;	/* the unit of done and total: "bytes", "edges", "pages" */
	uint64_t done, total;	/* of this phase; total is 0 while it is unknown */
};

/*
 * A function that long calls call about ten times a second, in the thread that called the
 * library. If it returns a value other than 0, the long call ends with MILL_ECANCELLED. The
 * run can be used again after that.
 */
struct mill_watcher {
	int (*watch)(void *arg, const struct mill_progress *progress);
	void *arg;
};

/* ---- Sizes ---- */

/* Means "no bytes at all" in options where 0 means the default. */
#define MILL_SIZE_NONE UINT64_MAX

/*
 * Parses a size: "64K", "1.5G" (powers of 1024) or "25%", which is a share of csr_bytes. With
 * csr_bytes 0 a share is an error.
 */
MILL_API mill_err mill_size_parse(uint64_t *out, const char *text, uint64_t csr_bytes);

/* ---- Stores ---- */

typedef struct mill_store mill_store;

enum mill_weight {
	MILL_WEIGHT_NONE,
	MILL_WEIGHT_U32,
	MILL_WEIGHT_I32,
	MILL_WEIGHT_F32,
	MILL_WEIGHT_F64
};

/* What the neighbour lists of a store hold. */
enum mill_addressing {
	MILL_ADDRESSING_DENSE,	/* vertex numbers */
	/*
	 * Page addresses: page x slots + slot. They are GTS's record ids and Graphie's second
	 * renaming. Only with MILL_CODEC_RAW.
	 */
	MILL_ADDRESSING_PAGED
};

/* The facts of a store. Pointers in it live as long as the store is open. */
struct mill_info {
	const char *path;	/* as it was opened */
	const char *uuid;
	uint64_t vertices;
	uint64_t sources;	/* vertices with out-edges: they are numbered first */
	/* Vertices from this number on have no edge. They take no memory in a run. */
	uint64_t connected;
	uint64_t edges;		/* as the user counts: an undirected edge once */
	uint64_t stored_edges;	/* entries of the out-lists */
	uint64_t self_loops;	/* among the stored edges */
	uint64_t parallel_edges;	/* stored edges that repeat the edge before them */
	uint64_t bytes;		/* of all files */
	uint64_t csr_bytes;	/* the size that "100%" means for this graph */
	uint64_t pages;		/* out-pages and in-pages */
	uint64_t min_id, max_id;	/* original ids; 0 if there is no vertex */
	uint64_t max_degree;	/* the largest out-degree */
	uint32_t page_size;
	uint32_t format;	/* version of the store format */
	bool directed;
	bool named;		/* ids are ranks of names: see mill_store_name */
	const char *min_name, *max_name;	/* first and last name; NULL without names */
	/* In-edges can be read. Always true for undirected stores: their out-pages serve both. */
	bool has_in_pages;
	enum mill_weight weight;
	const char *codec;	/* "packed" or "raw" */
	enum mill_addressing addressing;
	/* The rest up to largest_page is 0 unless the store is paged. */
	uint32_t out_slots, in_slots;	/* addresses per page; in_slots 0: no in-pages of its own */
	uint64_t small_pages, large_pages;	/* with whole lists; with a piece of one list */
	/*
	 * About the number of pages that GTS's own layout would take, and the bytes of a page of
	 * that layout that uses all slot numbers.
	 */
	double record_pages, largest_page;
	uint64_t page_bytes;	/* bytes of all pages */
	const char *origin;	/* what made it: "generate kron --scale 20 ...", "import" */
	/* Folders that hold the pages, ends with NULL. Empty if the pages are in the store. */
	const char *const *stripe;
};

/* Opens a store for reading. The caller closes it after all of its runs are freed. */
MILL_API mill_err mill_store_open(mill_store **out, const char *path);
MILL_API void mill_store_close(mill_store *store);
MILL_API void mill_store_info(const mill_store *store, struct mill_info *out);
/*
 * Writes the name of the vertex with this original id, and a final NUL, to `to`, which has room
 * for MILL_NAME_MAX + 1 bytes. In a store without names it writes the id in decimal. Names have no
 * control characters. The order of names by bytes is the order of their ids. Every call that takes
 * an original id as text takes a name in a store with names.
 */
#define MILL_NAME_MAX 4095
MILL_API mill_err mill_store_name(const mill_store *store, uint64_t id, char *to);
/* Checks every checksum and every invariant of the format. */
MILL_API mill_err mill_store_verify(mill_store *store, const struct mill_watcher *watcher);
/*
 * Writes the store as a graph file, with original ids (an edge list has the names, if there are
 * names). format: "edgelist" (one edge per line, with its weight if there is one), "mtx", "sg" or
 * "wsg"; NULL: by the suffix of path, or "edgelist" if the suffix says nothing. The path "-" is
 * stdout.
 */
MILL_API mill_err mill_store_export(mill_store *store, const char *path, const char *format,
				    const struct mill_watcher *watcher);

/* ---- Making stores ---- */

/* What import does with edges that the input lists several times. */
enum mill_dedup {
	/* Keeps them as parallel edges. Undirected: (u, v) and (v, u) of the input are one edge. */
	MILL_DEDUP_NONE,
	MILL_DEDUP_FIRST,	/* keeps one, with the weight that was read first */
	MILL_DEDUP_MIN,		/* keeps one, with the smallest weight */
	MILL_DEDUP_MAX,		/* keeps one, with the largest weight */
	MILL_DEDUP_SUM,		/* keeps one, with the sum of the weights */
	MILL_DEDUP_ERROR	/* fails */
};

enum mill_loops { MILL_LOOPS_KEEP, MILL_LOOPS_DROP, MILL_LOOPS_ERROR };

/* How pages hold neighbour lists. */
enum mill_codec {
	MILL_CODEC_PACKED,	/* differences of neighbours, in as few bits as they need */
	MILL_CODEC_RAW		/* 32 bits per neighbour */
};

/* The order in which vertices are numbered. */
enum mill_order {
	MILL_ORDER_NONE,	/* by original id */
	MILL_ORDER_DEGREE,	/* by degree, the largest first */
	MILL_ORDER_AUTO		/* the one of these two that packs a sample of the lists better */
};

enum mill_weights {
	MILL_WEIGHTS_DEFAULT,	/* edge lists: none; other formats: what their header says */
	MILL_WEIGHTS_NONE,
	MILL_WEIGHTS_AUTO	/* the weights of the input, if any; edge lists: the third column */
};

/* The options that import and generate share. */
struct mill_target {
	const char *path;	/* the store to make */
	bool force;		/* replace a store at that path */
	bool out_only;		/* directed graphs: no in-pages */
	uint32_t page_size;	/* 64 KiB to 64 MiB, a power of two; 0: 1 MiB */
	enum mill_codec codec;
	enum mill_addressing addressing;
	/*
	 * Paged: bytes of the page id and of the slot number (GTS's p and q), together 4. 0, 0: a
	 * page has as many slots as the fullest page has rows.
	 */
	uint32_t page_id_bytes, slot_bytes;
	enum mill_order order;
	uint64_t memory;	/* budget, at least 64 MiB; 0: 80 % of the available memory */
	const char *tmp;	/* directory of temporary files; NULL: beside the store */
	/* "DIR,DIR,...": page j is in directory j mod N. NULL: all pages are in the store. */
	const char *stripes;
	uint32_t threads;	/* 0: one for each processor */
	struct mill_watcher watcher;
};

struct mill_import {
	struct mill_target target;
	const char *const *input;	/* paths; "-" is stdin */
	size_t n_inputs;
	const char *format;		/* a name of mill_formats(); NULL: by content and suffix */
	bool directed, undirected;	/* neither: what the input says, or else directed */
	enum mill_dedup dedup;
	enum mill_loops loops;
	enum mill_weights weights;
	/* Edge lists: the column of the weights, counted from 1, or its name in the header line. */
	uint32_t weight_column;		/* 0: use weight_name */
	const char *weight_name;	/* NULL: use `weights` */
	enum mill_weight weight_type;	/* NONE: chosen by the values */
	bool base_given;		/* `base` counts */
	uint32_t base;			/* the smallest id of formats that leave it open: 0 or 1 */
	uint32_t id_bits;		/* raw edges: 32 or 64 */
	/* Edge lists: ids are names. A name is text without separators, or quoted text. */
	bool names;
};

struct mill_generate {
	struct mill_target target;
	const char *kind;	/* a name of mill_generators(): "kron", "grid", ... */
	uint32_t scale;		/* the graph has 2^scale vertices; 0: use `vertices` */
	uint64_t vertices;
	double degree;		/* edges per vertex; 0: 16 */
	enum mill_weight weight;	/* NONE, U32 (1 to 255) or F32 (above 0, at most 1) */
	bool directed;
	bool multigraph;	/* random kinds: keep self-loops and parallel edges */
	double a, b, c;		/* kron, rmat: probabilities of three quarters; 0: .57 .19 .19 */
	uint64_t seed;
};

/* What was read and what was made of it. */
struct mill_built {
	uint64_t vertices, edges, stored_edges;	/* of the store */
	uint64_t edges_read, self_loops, duplicates;	/* of the input */
	uint64_t merged;	/* undirected: edges that the input lists in both directions */
	uint64_t min_id, max_id;
	bool symmetric;		/* the input has the reverse of every edge */
	bool undirected;	/* of the store */
	bool named;		/* ids are names; min_id and max_id are the first and last rank */
	bool by_degree;		/* vertices are numbered by degree */
	const char *format;	/* of the last input: a name of mill_formats(); NULL: generated */
	char note[120];		/* one more remark about the input, or "" */
	enum mill_weight weight;
	double seconds;
};

/* Both make a whole store or none. */
MILL_API mill_err mill_import(struct mill_built *out, const struct mill_import *how);
MILL_API mill_err mill_generate(struct mill_built *out, const struct mill_generate *how);
/* Return the names of the generators, and of the formats that import reads; both end with NULL. */
MILL_API const char *const *mill_generators(void);
MILL_API const char *const *mill_formats(void);

/* ---- Runs ---- */

/*
 * A run executes algorithms on one store, with one set of options. It owns all memory of the
 * execution: threads, the graph if it is resident, vertex state, result and report.
 */
typedef struct mill_run mill_run;

/* How a device assigns the edges of a frontier to work-items (Gunrock, section 5.1). */
enum mill_mapping {
	/* Gunrock's rule: INPUT or OUTPUT if the mean degree is 5 or more, else GROUP. */
	MILL_MAPPING_AUTO,
	MILL_MAPPING_THREAD,	/* one work-item takes one vertex */
	MILL_MAPPING_GROUP,	/* a work-item, team or work-group takes a vertex, by its degree */
	MILL_MAPPING_INPUT,	/* a work-group takes a number of vertices and shares the edges */
	MILL_MAPPING_OUTPUT,	/* a work-group takes a fixed number of edges */
	/* Only for the policy "gts". Its vertex-centric mapping is THREAD. */
	MILL_MAPPING_WARP,	/* a virtual warp takes a vertex; its work-items take the edges */
	MILL_MAPPING_HYBRID	/* WARP or THREAD for each page, by its density */
};

/* How an advance on a device removes vertices that it reaches several times. */
enum mill_filter {
	MILL_FILTER_FUSED,	/* the advance sets a bit per vertex, so it takes each once */
	MILL_FILTER_EXACT,	/* the advance fills a queue; a filter compacts it by prefix sums */
	/* As EXACT, but a bitmask and hash tables of the work-group remove most repeats first. */
	MILL_FILTER_INEXACT
};

/* The form in which the policy "graphie" sends a partition to a device. */
enum mill_wire {
	MILL_WIRE_AUTO,		/* EDGES */
	MILL_WIRE_EDGES,	/* arrays of sources, targets, weights: 8 bytes per edge + weight */
	MILL_WIRE_CSR,		/* rows and neighbours: 4 bytes per edge + weight, 4 per source */
	MILL_WIRE_PACKED	/* the pages as they are on disk; the device unpacks them */
};

/* How the policy "gts" divides the work between several devices (GTS, section 4). */
enum mill_strategy {
	MILL_STRATEGY_AUTO,
	MILL_STRATEGY_P,	/* performance: each device has all state and gets some pages */
	MILL_STRATEGY_S		/* scalability: each device has some state and gets all pages */
};

/* The order in which the policy "gts" takes the pages of a pass. */
enum mill_scan {
	MILL_SCAN_CACHED,	/* pages that are on the device first */
	MILL_SCAN_PAGES		/* by page number */
};

/* Settings of the policy "graphie", on a device. */
struct mill_graphie {
	enum mill_wire wire;
	/* Bytes of a partition on the wire. 0: by Graphie's rule, from graph, device and queues. */
	uint64_t partition_size;
	bool no_staging;	/* do not copy the values of sources to local memory first */
};

/* Settings of the policy "gts", on devices. */
struct mill_gts {
	enum mill_strategy strategy;
	uint32_t chunks;	/* number of chunks of the vertex state; 0: as few as fit */
	/* Bytes of pages that stay on a device. 0: all that fits; MILL_SIZE_NONE: none. */
	uint64_t device_cache;
	/* Bytes of pages that stay in main memory (GTS's MMBuf). 0: what the budget leaves. */
	uint64_t main_buffer;
	uint32_t warp;		/* work-items of a virtual warp: 4, 8, 16 or 32; 0: 32 */
	enum mill_scan scan;
};

/* The paths into which the policy "largegraph" divides the graph (LargeGraph, section 3.1). */
enum mill_paths {
	MILL_PATHS_STRICT,	/* a path goes on through vertices of in- and out-degree 1 */
	MILL_PATHS_PAPER	/* ... of in-degree 1 and any out-degree, by the first out-edge */
};

/* Where the policy "largegraph" computes. */
enum mill_only {
	MILL_ONLY_BOTH,
	MILL_ONLY_CPU,
	MILL_ONLY_DEVICE
};

/* Other systems, run by the policy "largegraph" for a comparison. */
enum mill_baseline {
	MILL_BASELINE_NONE,	/* LargeGraph itself */
	MILL_BASELINE_SUBWAY,	/* active rows cross in each step; nothing stays; device only */
	MILL_BASELINE_SUBWAY_ASYNC	/* the same; what crossed is repeated until it is quiet */
};

/* Settings of the policy "largegraph", on a device. */
struct mill_largegraph {
	enum mill_paths paths;
	const char *chain;	/* steps of the closure of active paths: "0" (NULL), "N", "full" */
	const char *alpha;	/* share of the edges that is hot: "5%" (NULL), "0.05" */
	uint64_t chunk_size;	/* bytes of a chunk on the device; 0: half of the local memory */
	uint32_t sweeps;	/* the most repeats of a hot chunk; 0: 64 */
	bool no_keep;		/* no chunk stays on the device (LargeGraph-w) */
	enum mill_only only;
	enum mill_baseline baseline;
};

#define MILL_DEVICES_MOST 16	/* the largest number of devices of a run */

/* Push (along out-edges of active vertices) or pull (along in-edges of the others). */
enum mill_direction {
	MILL_DIRECTION_AUTO,	/* counts edges of the frontier and unvisited edges (Beamer) */
	MILL_DIRECTION_ESTIMATE,	/* estimates from vertices (Gunrock, equations 3 to 6) */
	MILL_DIRECTION_PUSH,
	MILL_DIRECTION_PULL	/* if the algorithm can */
};

struct mill_options {
	uint64_t memory;	/* host budget; 0: 80 % of the available memory */
	uint64_t device_memory;	/* budget of each device; 0: 90 % of its memory */
	/*
	 * Not NULL: the budgets of the devices, in order. The last one also counts for all later
	 * devices. Read by mill_run_new only.
	 */
	const uint64_t *device_memories;
	uint32_t n_device_memories;
	/*
	 * Where to compute. NULL or "cpu": native threads. Or names of devices, with commas:
	 *
	 *	"opencl"	the first OpenCL device
	 *	"opencl:N"	device N, as mill_devices() lists it
	 *	"opencl:all"	all of them
	 *	"opencl:N/K"	device N divided into K equal devices, all K of them
	 *	"opencl:N/K:I"	the I-th of these K, counted from 0
	 *
	 * A name may come several times. At most MILL_DEVICES_MOST devices. Several devices need
	 * the policy "gts", which is then the default.
	 */
	const char *device;
	/*
	 * The policy: a name of mill_policies(), NULL: "auto". A policy says which page to evict
	 * when another one comes. Three policies do more, on devices:
	 *
	 *	"graphie"	bfs, sssp and cc (by labels) send partitions, as Graphie does. The
	 *			report then counts partitions as pages. Otherwise: as "fifo".
	 *	"gts"		bfs, sssp, cc (by labels), pagerank and bc stream pages past the
	 *			vertex state, as GTS does. Otherwise: as "lru".
	 *	"largegraph"	the host's threads and a device process paths of bfs, sssp and cc
	 *			(by labels) at the same time, as LargeGraph does. Refuses
	 *			everything else.
	 */
	const char *policy;
	const char *io;		/* NULL, "uring" (pread if the system refuses it) or "pread" */
	uint32_t threads;	/* 0: one for each processor */
	uint64_t seed;		/* for random sources */
	/*
	 * Direction AUTO: push becomes pull when the edges of the frontier exceed 1/do_a of the
	 * unvisited edges; pull becomes push when the frontier has less than 1/do_b of the
	 * vertices. 0: 15 and 18. Direction ESTIMATE: Gunrock's factors. 0: 0.001 and 0.2.
	 */
	double do_a, do_b;
	enum mill_direction direction;
	/* Only on a device: */
	uint32_t queues;	/* pages with transfers or kernels in flight; 0: 32 */
	uint32_t group_size;	/* work-items of a work-group; 0: chosen for the device */
	enum mill_mapping mapping;
	enum mill_filter filter;
	bool no_skip;		/* each step sends all pages, also pages without work */
	bool no_reuse;		/* each step sends its pages again, also pages that are there */
	/* Settings of policies. A setting of another policy than the run's is MILL_EUSAGE. */
	struct mill_graphie graphie;
	struct mill_gts gts;
	struct mill_largegraph largegraph;
	bool count_lanes;	/* count SIMD slots and atomics; slower */
	/* If a device cannot be opened, the run is on the cpu. See also mill_run_fall_back. */
	bool fallback;
	/*
	 * Asynchronous: for algorithms with MILL_ASYNC (bfs, sssp, cc by labels, pagerank), on the
	 * cpu only. A page that activates vertices of its own is processed again at once, and new
	 * scores are used at once, so there are fewer passes. Results of bfs, sssp and cc are
	 * bit-identical to those with steps. Those of pagerank are within its tolerance, and their
	 * bits may differ from run to run.
	 */
	bool async;
	bool parents;		/* bfs, sssp: also find the parents (the column "parent") */
	bool check;		/* mill_run_check will be called: reserve memory for it */
	const char *trace;	/* file for the timeline, as Chrome trace events; NULL: none */
	struct mill_watcher watcher;
};

/* Makes a run of a store. options NULL: the defaults. The store must stay open until the end. */
MILL_API mill_err mill_run_new(mill_run **out, mill_store *store,
			       const struct mill_options *options);
MILL_API void mill_run_free(mill_run *run);
/*
 * Moves a run to the cpu after one of its calls returned MILL_EDEVICE: drops the device and the
 * result, keeps the options. The caller then calls the algorithm again. MILL_EUSAGE if the run is
 * on the cpu already.
 */
MILL_API mill_err mill_run_fall_back(mill_run *run);
/*
 * Writes the timeline of all calls so far, also of failed ones, and ends it. mill_run_free does
 * that too, but cannot report an error. The file appears whole or not at all.
 */
MILL_API mill_err mill_run_end_trace(mill_run *run);

/* ---- Algorithms ---- */

/*
 * Each algorithm has a struct of options and a call. The call replaces the previous result of the
 * run. The graph stays loaded if the next algorithm needs it in the same form.
 */

struct mill_bfs {
	const char *source;	/* an original id, "random" (the default) or "max-degree" */
};

struct mill_sssp {
	const char *source;	/* as for bfs */
	double delta;		/* width of a near/far step; 0: chosen from the weights */
	bool unit_weights;	/* every edge has the weight 1 */
	uint32_t buckets;	/* number of buckets, near and far included: 2 to 64; 0: 2 */
};

enum mill_precision { MILL_F32, MILL_F64, MILL_EXACT };

struct mill_pagerank {
	double damping;		/* 0: 0.85 */
	/* Stop when the L1 change is below this. 0: 1e-6; negative: do all iterations. */
	double tolerance;
	uint32_t iterations;	/* the largest number; 0: 100 */
	/* EXACT: 64-bit fixed point, bit-identical on all devices. */
	enum mill_precision precision;
	const char *personalize;	/* "ID" or "@FILE" with ids; NULL: uniform */
};

enum mill_cc_method {
	MILL_CC_AUTO,		/* LABELS if the policy has kernels for it, else AFFOREST */
	MILL_CC_AFFOREST,	/* samples edges, then looks only outside the largest component */
	MILL_CC_HOOKING,	/* edge frontier, hooking and pointer jumping (Soman, Gunrock) */
	MILL_CC_LABELS		/* the smallest label spreads along edges */
};

/* Weak components. The name of a component is the smallest original id in it. */
struct mill_cc {
	enum mill_cc_method method;
};

/*
 * Betweenness by shortest paths from the sources (Brandes), without weights. Parallel edges are
 * different paths. With all sources of an undirected graph each pair counts once. With chosen
 * sources the contributions of the sources are added.
 */
struct mill_bc {
	/* "ID,ID,...", "@FILE", "random:K", "all", or a source as for bfs. NULL: "random:1". */
	const char *sources;
	/* Divide by the number of pairs of other vertices, and scale from the sources to all. */
	bool normalized;
};

/* Local clustering coefficient: a second column of triangles. */
enum mill_lcc {
	MILL_LCC_NONE,
	MILL_LCC_UNDIRECTED,	/* of the undirected simple graph */
	MILL_LCC_DIRECTED	/* as LDBC defines it: directed edges between neighbours */
};

/* Triangles through each vertex of the undirected simple graph. */
struct mill_triangles {
	enum mill_lcc lcc;	/* not NONE: the result has a column "lcc" */
};

/*
 * Communities by synchronous label propagation, as LDBC Graphalytics defines it. In a tie the
 * smallest label wins.
 */
struct mill_cdlp {
	uint32_t iterations;	/* the largest number; 0: 10 */
};

MILL_API mill_err mill_bfs(mill_run *run, const struct mill_bfs *how);
MILL_API mill_err mill_sssp(mill_run *run, const struct mill_sssp *how);
MILL_API mill_err mill_pagerank(mill_run *run, const struct mill_pagerank *how);
MILL_API mill_err mill_cc(mill_run *run, const struct mill_cc *how);
MILL_API mill_err mill_triangles(mill_run *run, const struct mill_triangles *how);
MILL_API mill_err mill_cdlp(mill_run *run, const struct mill_cdlp *how);
MILL_API mill_err mill_bc(mill_run *run, const struct mill_bc *how);
/* Core numbers of the undirected simple graph. */
MILL_API mill_err mill_kcore(mill_run *run);
/*
 * Out-degrees (undirected: degrees), in-degrees if a directed store has in-edges, and the
 * distribution of the out-degrees.
 */
MILL_API mill_err mill_degrees(mill_run *run);
/* Strong components, named as weak ones. In an undirected graph both are the same. */
MILL_API mill_err mill_scc(mill_run *run);

/* Runs the algorithm of this name. how: its options struct, or NULL for the defaults. */
MILL_API mill_err mill_run_algorithm(mill_run *run, const char *algorithm, const void *how);

/*
 * Checks the last result by its properties, in one or two passes over the edges. Shares no code
 * with the algorithm. MILL_ECHECK if the result is wrong.
 */
MILL_API mill_err mill_run_check(mill_run *run);

/* ---- Options as rows ---- */

/*
 * Algorithms and policies describe their own options in rows: name, type, place in the struct,
 * help, default. The command line parses, explains, completes and reports options by these rows,
 * and the library checks the structs of C programs by them.
 */

enum mill_option_kind {
	MILL_OPTION_FLAG,	/* bool */
	MILL_OPTION_U32,	/* uint32_t */
	MILL_OPTION_U64,	/* uint64_t */
	MILL_OPTION_SIZE,	/* uint64_t: bytes */
	MILL_OPTION_REAL,	/* double */
	MILL_OPTION_TEXT,	/* const char * */
	MILL_OPTION_CHOICE,	/* an enum as int: the index of the word */
	MILL_OPTION_SWITCH	/* an enum as int: `first` for --name, first + index for a word */
};

/*
 * One option. The value 0 of its field means the default. If two options set the same field, only
 * one of them can be given.
 */
struct mill_option {
	const char *name;	/* "partition-size": --partition-size; partition_size in reports */
	enum mill_option_kind kind;
	size_t at;		/* offset of the field in the options struct */
	const char *argument;	/* the value as help shows it; NULL for a flag */
	const char *help;	/* does not repeat a default that usual or usual_text has */
	/*
	 * Choice, switch: the words. Text: words that have a meaning of their own. Real: one word
	 * that means 0, such as "auto". Ends with NULL.
	 */
	const char *const *word;
	double low, high;	/* bounds of a number; high 0: no upper bound */
	bool open;		/* real: the bounds themselves are not allowed */
	/* Whole number: the values that are allowed; ends with 0. NULL: all from low to high. */
	const uint32_t *only;
	/* The default: a number, or the index of a word. 0: it is 0, or depends on the run. */
	double usual;
	const char *usual_text;	/* the default of a text */
	int first;		/* switch: the value of --name without a word */
	/*
	 * The user can give 0. A size field then holds MILL_SIZE_NONE, and a real field -1. Without
	 * `zero`, a size of 0 becomes the smallest size.
	 */
	bool zero;
	bool several;		/* divides work between devices; a lab sets it per row instead */
	bool only_run;		/* does not change what a run needs, so plan does not take it */
};

/* ---- The list of algorithms ---- */

/* Properties of an algorithm. Each makes some fields of struct mill_options valid for it. */
enum mill_trait {
	MILL_PARENTS = 1 << 0,		/* has parents: `parents` */
	MILL_FRONTIERS = 1 << 1,	/* has frontiers and steps: `mapping`, `filter` */
	MILL_PULLS = 1 << 2,		/* steps may pull: `direction`, `do_a`, `do_b` */
	MILL_SUMS = 1 << 3,		/* sums whole lists: `mapping`, if the policy has its own */
	MILL_ASYNC = 1 << 4,		/* can run without steps: `async` */
	MILL_SIMPLE = 1 << 5		/* sees the graph as an undirected simple graph */
};

struct mill_algorithm {
	const char *name;	/* "bfs" */
	const char *summary;	/* one line, without a full stop */
	const char *help;	/* more lines, each with its newline */
	const char *examples;	/* command lines, each with its newline */
	/* Rows of its own options; the name of the last row is NULL. NULL: it has no options. */
	const struct mill_option *option;
	size_t options_size;	/* bytes of its options struct */
	const char *const *column;	/* all columns that its result may have; ends with NULL */
	const char *const *fact;	/* keys of its result in reports; ends with NULL; or NULL */
	unsigned traits;	/* bits of enum mill_trait */
	/*
	 * "method", "labels": the algorithm has frontiers and MILL_ASYNC only with this value of
	 * this option. NULL: always.
	 */
	const char *steps_option, *steps_word;
	bool needs_weights;
};
/* Returns all algorithms. The name of the last entry is NULL. */
MILL_API const struct mill_algorithm *mill_algorithms(void);
/* Returns the algorithm of this name, or NULL. */
MILL_API const struct mill_algorithm *mill_algorithm(const char *name);

/* ---- The list of policies ---- */

struct mill_variant;

struct mill_policy {
	const char *name;	/* "gts" */
	const char *summary;
	const struct mill_option *option;	/* the name of the last row is NULL; NULL: none */
	size_t settings;	/* offset of its settings in struct mill_options */
	/* Its own mappings, for labs. NULL: it uses those of mill_lab_mappings(). */
	const struct mill_variant *mappings;
	bool several;		/* supports several devices; it is the default for them */
	/*
	 * Not NULL: the policy has its own units and kernels for some algorithms on devices. All
	 * other runs behave as under the policy of this name.
	 */
	const char *otherwise;
};
/* Returns all policies, the default first. The name of the last entry is NULL. */
MILL_API const struct mill_policy *mill_policies(void);
/* Returns the policy of this name (NULL: the default), or NULL. */
MILL_API const struct mill_policy *mill_policy(const char *name);

/* ---- The list of devices ---- */

struct mill_device {
	char name[64];		/* the name for mill_options.device: "cpu", "opencl:0" */
	char model[128];
	char driver[224];	/* driver and version; "" for the cpu */
	uint64_t memory;
	uint32_t units;		/* compute units */
	/* The largest K of "opencl:N/K". K must divide the units. 0: it cannot be divided. */
	uint32_t parts;
};
/*
 * Fills at most n entries and returns the number of devices, which may be more. Without OpenCL
 * there is only the cpu; that is no error.
 */
MILL_API size_t mill_devices(struct mill_device *out, size_t n);

/* ---- Results ---- */

/* ID: an original id of a vertex, as uint64_t. */
enum mill_type { MILL_TYPE_U32, MILL_TYPE_U64, MILL_TYPE_F32, MILL_TYPE_F64, MILL_TYPE_ID };

/*
 * A column of the result: one value per vertex. "None" (the depth or parent of an unreached
 * vertex) is the largest value of the type. An unreachable distance is the largest value or
 * infinity.
 */
struct mill_column {
	const char *name;	/* "depth", "parent", "distance", "score" */
	enum mill_type type;
	uint64_t none;		/* integers: the value that means "none" */
};

/*
 * Fills at most n entries and returns the number of columns of the last result; 0 if there is
 * none.
 */
MILL_API size_t mill_run_columns(const mill_run *run, struct mill_column *out, size_t n);
/*
 * Copies a column to `values`, one element of the column's type per vertex (ids: uint64_t). The
 * order is by ascending original id or, with by_internal, by vertex number. ids: gets the original
 * id of each element; may be NULL.
 */
MILL_API mill_err mill_run_values(mill_run *run, const char *column, bool by_internal, void *values,
				  uint64_t *ids);
/*
 * Writes all columns by ascending original id, as .tsv, .csv or .npy by the suffix. The path "-"
 * is stdout (as .tsv). The file appears whole or not at all.
 */
MILL_API mill_err mill_run_write(mill_run *run, const char *path);

/* ---- The report ---- */

/*
 * The terms of GTS's cost models (Kim et al., SIGMOD 2016, equations 1 and 2), in seconds. They
 * add up: time that is hidden behind another term is in no term. src/model/gts_model.h says what
 * was added where the paper prints nothing.
 */
struct mill_cost {
	double attributes;	/* vertex state to the device and back: 2 WA / c1 */
	double stream;		/* pages and read-only attributes: (RA + SP + LP) / (c2 N) */
	double calls;		/* launching kernels: t_call */
	double kernel;		/* kernel time that streaming does not hide: t_kernel */
	double sync;		/* merging the state of several devices: t_sync */
	double disk;		/* reading time that the other terms do not hide */
	double total;
};

/*
 * The predicted cost of a run, by cost models (src/model/model.h) and constants of this machine:
 * those that mill_run_measure found, or built-in ones. Loading is counted apart.
 */
struct mill_prediction {
	/*
	 * Of the algorithm. On the cpu: max(read, compute) + the share of the smaller one that is
	 * not hidden + step. On a device: device + step.
	 */
	double seconds;
	double seconds_low, seconds_high;
	double read_seconds, compute_seconds, step_seconds, device_seconds;
	double load_seconds;
	struct mill_cost cost;	/* device_seconds by term */
	/* The equation of `cost`: 1 (passes over all pages), 2 (levels), 0 (not on a device). */
	uint32_t equation;
	uint64_t iterations, iterations_low, iterations_high;
	uint64_t pages_read, disk_read, load_read;	/* pages; bytes; bytes while loading */
	uint64_t to_device;	/* bytes */
	uint64_t memory;	/* the largest number of host bytes in use */
	bool measured;		/* the constants were measured on this machine */
};

/* One superstep. */
struct mill_step {
	/* Its number, from 1; active vertices; edges processed; changes of vertex state. */
	uint64_t step, frontier, edges, updates;
	/*
	 * "push" or "pull" along a frontier; "scan" of all edges; "filter", "expand", "ends" or
	 * "compute" of an edge frontier; "rest": the sum of step 1,000 and all later ones.
	 */
	const char *direction;
	uint64_t pages_active, pages_read, pages_to_device, pages_reused;
	uint64_t disk_read, disk_written, to_device;	/* bytes */
	/* On a device with options.count_lanes: SIMD slots issued for edges; atomic operations. */
	uint64_t lanes, atomics;
	double seconds;
	/*
	 * Seconds summed over all workers: waiting for a page; verifying and decoding pages; the
	 * rest.
	 */
	double wait, decode, compute;
};

/* The partitions of a run of the policy "graphie". */
struct mill_partitions {
	uint64_t count;		/* 0: the run had no partitions */
	uint64_t bytes;		/* of the largest one on the wire */
	uint64_t buffers;	/* buffers of that size on the device */
	/* PAGED: the ids of the store are used as they are, and ranges are those of pages. */
	enum mill_addressing addressing;
	uint64_t range;		/* ids per partition: the largest number of sources in one */
	uint64_t ids;		/* all ids: sources, unused ids, vertices without out-edges */
	enum mill_wire wire;
	bool staged;		/* values of sources are copied to local memory first */
	bool local_flags;	/* flags are in local memory; false: they do not fit there */
	/*
	 * Seconds to cut partitions when the run starts (pages that hold several are decoded), to
	 * rename ids, and to make the edges that are sent. Renaming round 1 is the vertex order of
	 * the store, which import makes, so it takes no time here. Round 2 happens when the run
	 * starts, or in import too (paged stores).
	 */
	double cut_seconds, round1_seconds, round2_seconds, edges_seconds;
};

/* The layout of a run of the policy "gts". */
struct mill_streaming {
	uint32_t devices;	/* 0: the run was not of this kind */
	enum mill_strategy strategy;	/* P if there is one device */
	const char *why;	/* the reason for that strategy; a literal */
	uint32_t chunks;	/* of the state that edges write: W */
	uint64_t writable;	/* the largest number of bytes of it on a device at a time: WA */
	uint64_t small_pages, large_pages;	/* of the directions that the run reads */
	uint64_t cached_pages;	/* pages that can stay on a device; the smallest of all devices */
	uint64_t frames;	/* pages in the main-memory buffer */
};

/* The paths and chunks of a run of the policy "largegraph". All counts are of the whole run. */
struct mill_chunks {
	uint64_t paths;		/* 0: the run was not of this kind */
	uint64_t links;		/* vertices through which a path goes on */
	uint64_t single;	/* paths of one edge */
	double mean_length;	/* edges per path */
	/* E_idx, E_val and 4 bytes per path, for all paths; and the CSR. Bytes. */
	uint64_t path_bytes, csr_bytes;
	double paths_seconds;	/* to find the paths */
	uint64_t auxiliary;	/* host bytes of links, heads, activity and chunk tables */
	uint64_t chunk_bytes;	/* of a slot */
	uint64_t slots;		/* for chunks that stay: N_c */
	uint64_t hot_chunks;	/* alpha |E| / edges of a chunk: N_h */
	uint64_t host_edges, device_edges;	/* that each side processed */
	uint64_t tracking_edges;	/* that the host visited for frequencies and closures */
	double tracking_seconds;
	uint64_t chunks_sent, chunks_reused, chunks_evicted, chunks_passed;
	/* Bytes of vertex state that crossed at the ends of rounds, both ways. */
	uint64_t exchanged;
	uint64_t reached;	/* vertices with a value that changed at least once */
	double stale;		/* 1 - reached / updates (figure 4) */
};

/* What a run used of one device. */
struct mill_device_use {
	const char *name;	/* "opencl:0", "opencl:0/2:1" */
	uint64_t budget, peak;
	uint64_t to_device, from_device;	/* bytes moved */
};

/* Everything that a run knows of its last algorithm. */
struct mill_report {
	const char *algorithm;
	uint64_t hash;		/* of the first result column, by original id */
	uint64_t iterations, edges_traversed, updates;
	uint64_t disk_read, disk_written, to_device, from_device;
	/*
	 * Bytes to and from devices, by kind: pages; attributes that are only read; vertex state;
	 * flags and counts.
	 */
	uint64_t topology, read_only, writable, flags;
	uint64_t lanes, atomics;
	const char *device;	/* the device that ran; "cpu" after a fallback */
	const char *device_failed;	/* after a fallback: why the device failed; else NULL */
	/* Each device. All other fields about devices are of all devices together. */
	const struct mill_device_use *devices;
	size_t n_devices;	/* 0 on the cpu */
	const char *policy;	/* the policy in use */
	uint64_t pages_active, pages_read, pages_to_device, pages_reused;
	uint64_t memory_budget, memory_peak;	/* host bytes: limit; most that was allocated */
	uint64_t device_budget, device_peak;	/* several devices: smallest budget, largest peak */
	uint64_t device_driver;	/* host bytes that the driver took */
	const char *io;		/* the way in use: "uring" or "pread" */
	double wait, decode, compute;	/* sums of the steps */
	struct mill_partitions partitions;
	/*
	 * The run used units and kernels of the policy. False: it went over pages, and the policy
	 * only said which page to evict.
	 */
	bool policy_owns;
	struct mill_streaming streaming;
	struct mill_chunks chunks;
	uint64_t n_steps;	/* at most 1,000: the last one is the sum of all later steps */
	double load_seconds, parents_seconds, output_seconds;
	const double *run_seconds;	/* one for each call of this algorithm on this run */
	size_t n_runs;
	bool resident;		/* the graph stayed in memory */
	/* Numbers of the result. mill_algorithm.fact lists their names. */
	const struct mill_fact *fact;
	size_t n_facts;
	const struct mill_top *top;	/* the vertices with the highest scores */
	size_t n_top;
	const struct mill_bin *distribution;	/* degrees: vertices by degree, ascending */
	size_t n_distribution;
	struct mill_prediction predicted;	/* made before the algorithm started */
	/*
	 * On a device: where the time of the last call went, in the terms of predicted.cost. Its
	 * total is less than run_seconds.
	 */
	struct mill_cost cost;
};

/* A named number of a result: "source", "reached", "max_depth", "sum", "delta", ... */
struct mill_fact {
	const char *name;
	enum mill_type type;	/* U64 or ID: in u64; F64: in f64 */
	uint64_t u64;
	double f64;
};

struct mill_top {
	uint64_t id;
	double value;
};

/* `count` vertices have this value. */
struct mill_bin {
	uint64_t value, count;
};

/* Fills in the report. Its pointers live until the next algorithm call on this run. */
MILL_API void mill_run_report(const mill_run *run, struct mill_report *out);
/* Fills in step i of the report's n_steps, counted from 0. */
MILL_API void mill_run_step(const mill_run *run, uint64_t i, struct mill_step *out);

/* ---- Plan ---- */

/* What an algorithm needs, before it runs. All bytes. */
struct mill_plan {
	uint64_t state;		/* vertex state, and all else that does not depend on the edges */
	uint64_t needed;	/* the smallest host budget: state + 64 MiB or more */
	uint64_t resident;	/* host bytes if the graph is resident */
	uint64_t device_needed;	/* the smallest device budget; most policies: state + 2 pages */
	uint64_t pass_bytes;	/* what one whole pass of a streamed run reads from disk */
	uint64_t saved;		/* state, frontiers and loop variables: the size of a checkpoint */
	bool fits;		/* with the budget of this run the graph is resident */
	bool policy_owns;	/* as in mill_report */
	/*
	 * As in mill_streaming, for runs that the policy "gts" owns. If the run has to make an
	 * undirected copy of the graph first, these are the worst case. why is NULL for all other
	 * runs, and if a budget is too small.
	 */
	enum mill_strategy strategy;
	const char *why;
	uint32_t chunks;
	struct mill_prediction predicted;
};

/* Fills in the plan of an algorithm on this run. how: the algorithm's options struct, or NULL. */
MILL_API mill_err mill_run_plan(mill_run *run, const char *algorithm, const void *how,
				struct mill_plan *out);
/*
 * Measures the constants for predictions with this run's store, threads and device, in about a
 * second: how fast it reads and decodes pages, processes edges and reaches the device, and how far
 * a search goes. Keeps them in $XDG_CACHE_HOME/millrace or ~/.cache/millrace, and uses the values
 * there unless `again` is true. Fails only if it is cancelled: what cannot be measured keeps its
 * default.
 */
MILL_API mill_err mill_run_measure(mill_run *run, bool again);

/* ---- Lab: the same run under several policies and budgets, for a comparison ---- */

/*
 * What one row of the lab changes in the options. A field that is 0 changes nothing. A row ignores
 * settings that its policy does not have: settings of other policies, and under "gts" also
 * filters, directions and the mappings of other policies.
 */
struct mill_variant {
	const char *name;
	const char *policy;
	enum mill_mapping mapping;
	uint32_t queues;
	/* The same order as in mill_options. */
	struct mill_graphie graphie;
	/* With a strategy the row runs on all devices, which share the work. Else on the first. */
	struct mill_gts gts;
	struct mill_largegraph largegraph;
	bool no_skip, no_reuse, count_lanes;
};

/*
 * Return the variants that the lab offers: policies (which pages are sent to the device and which
 * stay there) and mappings of edges to work-items (mill_policy.mappings has those of a policy).
 * The name of the last entry is NULL.
 */
MILL_API const struct mill_variant *mill_lab_policies(void);
MILL_API const struct mill_variant *mill_lab_mappings(void);

struct mill_lab {
	const char *algorithm;
	const void *how;		/* its options struct, or NULL */
	struct mill_options options;	/* of every run; `check`: each result is checked */
	const struct mill_variant *variant;
	size_t n_variants;
	/* Budgets of each device. NULL: one budget, that of the options. */
	const uint64_t *budget;
	size_t n_budgets;
	uint32_t repeat;		/* timed runs of every row; 0: 1 */
};

struct mill_lab_row {
	const char *name;	/* of the variant; NULL: the lab ended before this row */
	uint64_t budget;	/* of the first device */
	mill_err error;
	char message[512];	/* the sentence of the error, or "" */
	uint64_t needed;	/* MILL_ENOMEM: the smallest budget that is enough; 0: unknown */
	uint64_t edges;		/* edges read in all steps */
	/*
	 * Of the first of the repeated runs, which finds no page on the device. Its pointers are
	 * NULL, but for run_seconds, which has the times of all of them.
	 */
	struct mill_report report;
	struct mill_step *step;	/* report.n_steps of them */
};

/*
 * Runs every variant with every budget and fills n_budgets x n_variants rows: all variants of the
 * first budget, then those of the next. The caller passes the rows to mill_lab_release, also after
 * a failure. A row with a budget that is too small, or with a wrong result, says so and the lab
 * continues. Returns MILL_ENOMEM if all rows have a budget that is too small; MILL_ECHECK if a
 * check failed or if results differ that must be bit-identical (all but pagerank without
 * MILL_EXACT, and bc). Any other failure ends the lab.
 */
MILL_API mill_err mill_lab(struct mill_lab_row *row, mill_store *store, const struct mill_lab *lab);
MILL_API void mill_lab_release(struct mill_lab_row *row, size_t n);

#ifdef __cplusplus
}
#endif
#endif
