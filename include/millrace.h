/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millrace: analyse a graph that does not fit your GPU, or not even your RAM, on one machine.
 *
 * The whole public interface, in the order in which a program uses it:
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
 * Every call that can fail returns a mill_err; mill_error() is then the sentence for the user,
 * kept per thread. The library never prints, never exits and has no global state: two runs in
 * two threads do not disturb each other. One run belongs to one thread at a time; a store may
 * be shared. An option struct that is all zero means the defaults.
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

/* ---- Errors: the values are the exit codes of the command line. ---- */

typedef enum mill_err {
	MILL_OK = 0,
	MILL_EBUG = 1,		/* a bug of ours */
	MILL_EUSAGE = 2,	/* unknown option or source id, target exists, weights needed */
	MILL_EINPUT = 3,	/* bad input (file:line), not a store, newer format */
	MILL_ECORRUPT = 4,	/* corrupt store */
	MILL_EIO = 5,		/* I/O error, file missing or unreadable */
	MILL_ENOSPACE = 6,	/* no space left */
	MILL_ENOMEM = 7,	/* memory or budget too small: says how much is needed */
	MILL_EDEVICE = 8,	/* device failed or missing */
	MILL_ELIMIT = 9,	/* a stated limit exceeded */
	MILL_ELOCKED = 10,	/* store locked by another process */
	MILL_ECHECK = 11,	/* the certificate found the result wrong */
	MILL_EMISMATCH = 12,	/* checkpoint does not match the store or the options */
	MILL_ECANCELLED = 130	/* the watcher asked to stop */
} mill_err;

/* The calling thread's last failure: one sentence, without a final newline. */
MILL_API const char *mill_error(void);

MILL_API const char *mill_version(void);
/* Space-separated names of what this build has, e.g. "cpu opencl gzip". */
MILL_API const char *mill_features(void);

/* ---- Progress and cancellation ---- */

struct mill_progress {
	const char *what;	/* "read", "sort", "bfs step 3", ... */
	const char *unit;	/* of done and total: "bytes", "edges", "pages" */
	uint64_t done, total;	/* total is 0 while unknown */
};

/*
 * Called now and then (about ten times a second) by the thread that called the library.
 * A return value other than 0 cancels: the call ends with MILL_ECANCELLED.
 */
struct mill_watcher {
	int (*watch)(void *arg, const struct mill_progress *progress);
	void *arg;
};

/* ---- Sizes ---- */

/* No bytes at all, in options where 0 is the default. */
#define MILL_SIZE_NONE UINT64_MAX

/* "64K", "1.5G" (powers of 1024) or "25%" of csr_bytes (pass 0 where a share makes no sense). */
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

/* What the lists of a store hold. */
enum mill_addressing {
	MILL_ADDRESSING_DENSE,	/* vertex numbers */
	MILL_ADDRESSING_PAGED	/* page addresses, page x slots + slot: GTS's record ids, Graphie's second renaming. With MILL_CODEC_RAW */
};

struct mill_info {
	const char *path;	/* as opened; lives as long as the store */
	const char *uuid;
	uint64_t vertices;
	uint64_t sources;	/* vertices with out-edges: numbered first */
	uint64_t connected;	/* vertices that may have edges: isolated ones are numbered last, and take no memory in a run */
	uint64_t edges;		/* as meant: undirected ones once */
	uint64_t stored_edges;
	uint64_t self_loops;	/* stored ones */
	uint64_t parallel_edges;	/* stored ones that have a twin before them */
	uint64_t bytes;		/* of all files */
	uint64_t csr_bytes;	/* what "100%" of this graph is */
	uint64_t pages;		/* out- and in-pages */
	uint64_t min_id, max_id;	/* of the original ids; 0 when there is no vertex */
	uint64_t max_degree;	/* out */
	uint32_t page_size;
	uint32_t format;
	bool directed;
	bool named;		/* ids are the ranks of names: mill_store_name */
	const char *min_name, *max_name;	/* the first and the last; NULL where there are none */
	bool has_in_pages;	/* or is undirected, where out-pages serve */
	enum mill_weight weight;
	const char *codec;	/* "packed" or "raw" */
	enum mill_addressing addressing;
	uint32_t out_slots, in_slots;	/* paged: ids that each page has; in_slots 0: no in-pages of its own */
	uint64_t small_pages, large_pages;	/* paged: with whole lists, and with a part of one list alone */
	double record_pages, largest_page;	/* paged: about how many GTS's own layout would take; bytes of one whose slots are all used */
	uint64_t page_bytes;	/* of all pages */
	const char *origin;	/* what made it: "generate kron --scale 20 ...", "import" */
	const char *const *stripe;	/* folders over which the pages are spread, NULL-terminated; none: in the store */
};

MILL_API mill_err mill_store_open(mill_store **out, const char *path);
MILL_API void mill_store_close(mill_store *store);
MILL_API void mill_store_info(const mill_store *store, struct mill_info *out);
/*
 * The name of a vertex whose original id this is, with a final NUL; to: MILL_NAME_MAX + 1 bytes. In a store
 * without names it is the id in decimal. Names have no control characters and are ordered by their
 * bytes as ids by their values. Where a call takes an original id as text, it takes a name.
 */
#define MILL_NAME_MAX 4095
MILL_API mill_err mill_store_name(const mill_store *store, uint64_t id, char *to);
/* Every checksum and every invariant of the format. */
MILL_API mill_err mill_store_verify(mill_store *store, const struct mill_watcher *watcher);
/*
 * A graph file of the store, by original id (edge lists: by name, if there are names). format: "edgelist" (one edge per line, with weights
 * if there are any), "mtx", "sg" or "wsg"; NULL: by the suffix of path, else an edge list. path
 * "-" is stdout.
 */
MILL_API mill_err mill_store_export(mill_store *store, const char *path, const char *format,
				    const struct mill_watcher *watcher);

/* ---- Making stores ---- */

enum mill_dedup {
	MILL_DEDUP_NONE,	/* parallel edges stay */
	MILL_DEDUP_FIRST,	/* the weight that was read first */
	MILL_DEDUP_MIN,
	MILL_DEDUP_MAX,
	MILL_DEDUP_SUM,
	MILL_DEDUP_ERROR
};

enum mill_loops { MILL_LOOPS_KEEP, MILL_LOOPS_DROP, MILL_LOOPS_ERROR };

/* How pages hold neighbour lists. */
enum mill_codec {
	MILL_CODEC_PACKED,	/* gaps in as few bits as they need */
	MILL_CODEC_RAW		/* 32-bit vertex numbers */
};

/* The order in which vertices are stored. */
enum mill_order {
	MILL_ORDER_NONE,	/* by id */
	MILL_ORDER_DEGREE,	/* by falling degree */
	MILL_ORDER_AUTO		/* the one in which a sample of the lists packs better */
};

enum mill_weights {
	MILL_WEIGHTS_DEFAULT,	/* none of edge lists, elsewhere what the header says */
	MILL_WEIGHTS_NONE,
	MILL_WEIGHTS_AUTO	/* those there are: of edge lists a third column */
};

/* What import and generate share. */
struct mill_target {
	const char *path;	/* the store to make */
	bool force;		/* replace a store that is there */
	bool out_only;		/* no in-pages */
	uint32_t page_size;	/* 64 KiB .. 64 MiB, a power of two; 0: 1 MiB */
	enum mill_codec codec;
	enum mill_addressing addressing;
	uint32_t page_id_bytes, slot_bytes;	/* paged: GTS's p and q, together 4; 0, 0: as many slots as the fullest page has rows */
	enum mill_order order;
	uint64_t memory;	/* budget, from 64 MiB; 0: 80 % of what is available */
	const char *tmp;	/* directory of temporary files; NULL: beside the store */
	const char *stripes;	/* "DIR,DIR,...": the pages lie there in turn; NULL: in the store */
	uint32_t threads;	/* 0: all */
	struct mill_watcher watcher;
};

struct mill_import {
	struct mill_target target;
	const char *const *input;	/* "-" is stdin */
	size_t n_inputs;
	const char *format;		/* a name of mill_formats(); NULL: by content and suffix */
	bool directed, undirected;	/* neither: what the input says, else directed */
	enum mill_dedup dedup;
	enum mill_loops loops;
	enum mill_weights weights;
	uint32_t weight_column;		/* edge lists: counted from 1; 0: by name ... */
	const char *weight_name;	/* ... in the header line, or as weights says */
	enum mill_weight weight_type;	/* NONE: decided by the values */
	bool base_given;
	uint32_t base;			/* 0 or 1: ids of formats that leave it open begin there */
	uint32_t id_bits;		/* 32 or 64: of raw edges */
	bool names;			/* edge lists: ids are names, any text without separators, or quoted */
};

struct mill_generate {
	struct mill_target target;
	const char *kind;	/* "kron", "grid", ...: a name of mill_generators() */
	uint32_t scale;		/* 2^scale vertices ... */
	uint64_t vertices;	/* ... or so many */
	double degree;		/* edges per vertex; 0: 16 */
	enum mill_weight weight;	/* NONE, U32 (1..255) or F32 (in (0, 1]) */
	bool directed;
	bool multigraph;	/* random ones: keep loops and parallel edges */
	double a, b, c;		/* kron, rmat: 0: .57 .19 .19 */
	uint64_t seed;
};

/* How an input was understood. */
struct mill_built {
	uint64_t vertices, edges, stored_edges;
	uint64_t edges_read, self_loops, duplicates;	/* as read */
	uint64_t merged;	/* undirected: both-direction listings made one */
	uint64_t min_id, max_id;
	bool symmetric;		/* every arc that was read has its reverse */
	bool undirected;	/* as stored */
	bool named;		/* ids are names; min_id and max_id are the ranks of the first and last */
	bool by_degree;		/* the vertices are in the order of their degrees */
	const char *format;	/* of the (last) input: a name of mill_formats(); NULL: generated */
	char note[120];		/* what else there is to say about it, or "" */
	enum mill_weight weight;
	double seconds;
};

MILL_API mill_err mill_import(struct mill_built *out, const struct mill_import *how);
MILL_API mill_err mill_generate(struct mill_built *out, const struct mill_generate *how);
/* NULL-terminated names of generators, and of what import reads. */
MILL_API const char *const *mill_generators(void);
MILL_API const char *const *mill_formats(void);

/* ---- Runs: one execution, which owns all of its memory ---- */

typedef struct mill_run mill_run;

/* How an advance on a device gives the edges of its frontier to work-items (Gunrock, section 5.1). */
enum mill_mapping {
	MILL_MAPPING_AUTO,	/* by Gunrock's rule: INPUT or OUTPUT from a mean degree of 5 on, else GROUP */
	MILL_MAPPING_THREAD,	/* a work-item takes a vertex */
	MILL_MAPPING_GROUP,	/* a work-item, a team or the whole work-group takes a vertex, by its degree */
	MILL_MAPPING_INPUT,	/* a work-group takes so many vertices and shares their edges */
	MILL_MAPPING_OUTPUT,	/* a work-group takes so many edges */
	/* Of the policy "gts" alone, whose vertex-centric one is THREAD: */
	MILL_MAPPING_WARP,	/* a virtual warp takes a vertex and its lanes the edges */
	MILL_MAPPING_HYBRID	/* WARP or THREAD for each page, by its density */
};

/* What an advance on a device does with vertices that it comes to several times. */
enum mill_filter {
	MILL_FILTER_FUSED,	/* the advance itself takes each once, by a bit that it sets */
	MILL_FILTER_EXACT,	/* it leaves all in a queue, which a filter compacts by prefix sums */
	MILL_FILTER_INEXACT	/* the filter first culls what bitmask and hash tables of the work-group have seen */
};

/* In which form a partition of the policy "graphie" crosses to a device. */
enum mill_wire {
	MILL_WIRE_AUTO,		/* EDGES */
	MILL_WIRE_EDGES,	/* its edges: arrays of sources, destinations and weights, 8 bytes an edge and the weight */
	MILL_WIRE_CSR,		/* rows and neighbours: 4 bytes an edge, 4 a source, and the weights */
	MILL_WIRE_PACKED	/* its pages as they are on disk, unpacked by the device */
};

/* What several devices of the policy "gts" share out (GTS, section 4). */
enum mill_strategy {
	MILL_STRATEGY_AUTO,
	MILL_STRATEGY_P,	/* performance: all vertex state on each, of the pages a part */
	MILL_STRATEGY_S		/* scalability: of the state a part on each, all pages */
};

/* In which order the policy "gts" takes the pages of a pass. */
enum mill_scan {
	MILL_SCAN_CACHED,	/* those that the device has first */
	MILL_SCAN_PAGES		/* by their numbers */
};

/* Settings of the policy "graphie", on a device. */
struct mill_graphie {
	enum mill_wire wire;
	uint64_t partition_size;	/* bytes on the wire; 0: by its rule, from the sizes of graph and device */
	bool no_staging;	/* sources' values are not copied to local memory first */
};

/* Settings of the policy "gts", on devices. */
struct mill_gts {
	enum mill_strategy strategy;
	uint32_t chunks;	/* the vertex state in so many chunks; 0: as few as fit */
	uint64_t device_cache;	/* bytes of pages that stay on a device; 0: what fits, MILL_SIZE_NONE: none */
	uint64_t main_buffer;	/* bytes of pages that stay in main memory (MMBuf); 0: what the budget leaves */
	uint32_t warp;		/* work-items of a virtual warp: 4, 8, 16 or 32; 0: 32 */
	enum mill_scan scan;
};

#define MILL_DEVICES_MOST 16	/* of a run */

/* Push or pull. */
enum mill_direction {
	MILL_DIRECTION_AUTO,	/* by the edges of the frontier and those not seen yet (Beamer) */
	MILL_DIRECTION_ESTIMATE,	/* by estimates from the number of vertices (Gunrock, equations 3 to 6) */
	MILL_DIRECTION_PUSH,
	MILL_DIRECTION_PULL	/* where the algorithm can */
};

struct mill_options {
	uint64_t memory;	/* host budget; 0: 80 % of what is available */
	uint64_t device_memory;	/* budget of each device; 0: 90 % of what it has */
	const uint64_t *device_memories;	/* not NULL: budgets of the devices in their order, the last also of the rest; only read by mill_run_new */
	uint32_t n_device_memories;
	/*
	 * "cpu" (NULL too), or names of devices separated by commas: "opencl" (the first), "opencl:N", "opencl:all", "opencl:N/K" (N divided into
	 * K equal ones, all of them) and "opencl:N/K:I" (the I-th of these, from 0). The same one may be named several times. At
	 * most MILL_DEVICES_MOST; more than one is the policy "gts".
	 */
	const char *device;
	/*
	 * Which page goes when another comes: "auto" (NULL too) or a name of mill_policies(). "graphie" is more: on a device bfs, sssp and cc
	 * (by labels) go by partitions as that system does, which then are what the ledger counts as pages; elsewhere the oldest page goes.
	 * "gts" too: on devices bfs, sssp, cc (by labels), pagerank and bc stream pages past the state as that system does; elsewhere the
	 * page goes that was not used for longest.
	 */
	const char *policy;
	const char *io;		/* "uring" (NULL too; where the system refuses it, it is pread) or "pread" */
	uint32_t threads;	/* 0: all */
	uint64_t seed;		/* for random sources */
	/* Push becomes pull when the frontier's edges exceed 1/do_a of those not yet seen, and push again below 1/do_b of the vertices. */
	double do_a, do_b;	/* 0: 15 and 18; with ESTIMATE they are Gunrock's factors, 0: 0.001 and 0.2 */
	enum mill_direction direction;
	/* On a device: */
	uint32_t queues;	/* transfers and kernels of so many pages are under way at once; 0: 32 */
	uint32_t group_size;	/* work-items of a work-group; 0: chosen for the device */
	enum mill_mapping mapping;
	enum mill_filter filter;
	bool no_skip;		/* all pages cross in every step, also those without work */
	bool no_reuse;		/* pages cross in every step, also those that are there already */
	/* Settings of policies: what is not 0 here is refused under another one. */
	struct mill_graphie graphie;
	struct mill_gts gts;
	bool count_lanes;	/* count SIMD slots and atomics, which takes time */
	bool fallback;		/* a device that cannot be opened is no error: the run is on the cpu; see also mill_run_fall_back */
	/*
	 * Where the algorithm allows it (MILL_ASYNC: bfs, sssp, cc by labels, pagerank) pages are not worked on in steps: what a page activates of
	 * itself goes on at once, scores are used as soon as they are new. Fewer passes. Results of bfs, sssp and cc have the same bits as with
	 * steps; those of pagerank are within its tolerance, and their bits may differ from run to run. Only on the cpu.
	 */
	bool async;
	bool parents;		/* bfs and sssp also settle the parents */
	bool check;		/* mill_run_check will follow: keep room for it */
	const char *trace;	/* a file for the timeline, as Chrome trace events; NULL: none */
	struct mill_watcher watcher;
};

MILL_API mill_err mill_run_new(mill_run **out, mill_store *store, const struct mill_options *options);
MILL_API void mill_run_free(mill_run *run);
/*
 * After a call on the run returned MILL_EDEVICE: gives the device and the result up, and the run is one on the cpu, with the same options.
 * What failed can then be called again, from the algorithm on. MILL_EUSAGE if it is on the cpu.
 */
MILL_API mill_err mill_run_fall_back(mill_run *run);
/*
 * Writes the timeline of everything that was done so far, failures included, and ends it. mill_run_free does too, but cannot
 * say what goes wrong. The file appears whole or not at all.
 */
MILL_API mill_err mill_run_end_trace(mill_run *run);

/* ---- Algorithms. Each call replaces the run's previous result; the graph stays loaded. ---- */

struct mill_bfs {
	const char *source;	/* an original id, "random" (NULL too) or "max-degree" */
};

struct mill_sssp {
	const char *source;
	double delta;		/* width of a near/far step; 0: chosen from the weights */
	bool unit_weights;	/* every edge counts 1 */
	uint32_t buckets;	/* for what waits, near and far among them: 2 (0 too) to 64 */
};

enum mill_precision { MILL_F32, MILL_F64, MILL_EXACT };

struct mill_pagerank {
	double damping;		/* 0: 0.85 */
	double tolerance;	/* of the L1 change; 0: 1e-6, negative: exactly so many iterations */
	uint32_t iterations;	/* at most; 0: 100 */
	enum mill_precision precision;	/* EXACT: 64-bit fixed point, the same bits everywhere */
	const char *personalize;	/* "ID" or "@FILE" of ids; NULL: uniform */
};

enum mill_cc_method {
	MILL_CC_AUTO,		/* LABELS on a device whose policy has kernels for them, elsewhere AFFOREST */
	MILL_CC_AFFOREST,	/* samples of the edges first, then only what is outside the largest component */
	MILL_CC_HOOKING,	/* an edge frontier, hooking and pointer jumping (Soman, Gunrock) */
	MILL_CC_LABELS		/* the smallest label spreads */
};

/* Weak components: each is named after the smallest original id in it. */
struct mill_cc {
	enum mill_cc_method method;
};

/*
 * Betweenness by shortest paths from the sources (Brandes), unweighted; parallel edges are different paths. With all sources of an
 * undirected graph each pair counts once; chosen sources add up what each of them gives.
 */
struct mill_bc {
	const char *sources;	/* "ID,ID,...", "@FILE", "random:K", "all", or one as bfs takes it; NULL: "random:1" */
	bool normalized;	/* divided by the number of pairs of others, and scaled from the sources to all vertices */
};

enum mill_lcc {
	MILL_LCC_NONE,
	MILL_LCC_UNDIRECTED,	/* of the undirected simple graph */
	MILL_LCC_DIRECTED	/* LDBC's: arcs among the neighbours */
};

/* Triangles through each vertex of the undirected simple graph. */
struct mill_triangles {
	enum mill_lcc lcc;	/* a column "lcc" too */
};

/* Communities by synchronous label propagation, as LDBC Graphalytics defines it: ties to the smallest label. */
struct mill_cdlp {
	uint32_t iterations;	/* at most; 0: 10 */
};

MILL_API mill_err mill_bfs(mill_run *run, const struct mill_bfs *how);
MILL_API mill_err mill_sssp(mill_run *run, const struct mill_sssp *how);
MILL_API mill_err mill_pagerank(mill_run *run, const struct mill_pagerank *how);
MILL_API mill_err mill_cc(mill_run *run, const struct mill_cc *how);
MILL_API mill_err mill_triangles(mill_run *run, const struct mill_triangles *how);
MILL_API mill_err mill_cdlp(mill_run *run, const struct mill_cdlp *how);
/* Core numbers of the undirected simple graph. */
MILL_API mill_err mill_bc(mill_run *run, const struct mill_bc *how);
MILL_API mill_err mill_kcore(mill_run *run);
/* Out-degrees (undirected: degrees), in-degrees where the store has in-edges, and their distribution. */
MILL_API mill_err mill_degrees(mill_run *run);
/* Strong components, named as weak ones; of an undirected graph they are the same. */
MILL_API mill_err mill_scc(mill_run *run);

/* Any of them by its name; how: its option struct, or NULL for the defaults. */
MILL_API mill_err mill_run_algorithm(mill_run *run, const char *algorithm, const void *how);

/* Certifies the last result by its properties, in one or two passes over the edges. */
MILL_API mill_err mill_run_check(mill_run *run);

/* ---- Options as rows: what the fields of some settings are called, hold and mean. Algorithms and policies have them ---- */

enum mill_option_kind {
	MILL_OPTION_FLAG,	/* bool */
	MILL_OPTION_U32,	/* uint32_t */
	MILL_OPTION_U64,	/* uint64_t */
	MILL_OPTION_SIZE,	/* uint64_t: bytes */
	MILL_OPTION_REAL,	/* double */
	MILL_OPTION_TEXT,	/* const char * */
	MILL_OPTION_CHOICE,	/* an enum, as int: which of the words */
	MILL_OPTION_SWITCH	/* an enum, as int: --name is `first`, --name=WORD is first + which of the words */
};

/* One option. Of the field that it sets 0 is the default. Of two that set the same field only one can be given. */
struct mill_option {
	const char *name;	/* "partition-size": --partition-size, and partition_size in reports */
	enum mill_option_kind kind;
	size_t at;		/* offset of the field in the settings */
	const char *argument;	/* as help shows it; NULL of a flag */
	const char *help;	/* without the default, if `usual` or `usual_text` says it */
	const char *const *word;	/* of a choice or switch; what a text may also be; what stands for 0 in a real ("auto"). Ends with NULL */
	double low, high;	/* of a number: from .. to; high 0: any */
	bool open;		/* of a real: the bounds themselves are out */
	const uint32_t *only;	/* of a whole number: these alone; ends with 0. NULL: all from low to high */
	double usual;		/* what the default comes to, a number or which of the words; 0: itself, or it depends */
	const char *usual_text;	/* the same of a text */
	int first;		/* of a switch */
	bool zero;		/* 0 can be given: a size then is MILL_SIZE_NONE, a real -1; else a size of 0 stands for the smallest */
	bool several;		/* says what several devices share out: in a lab a matter of its rows */
	bool only_run;		/* changes nothing of what a run needs: plans do not take it */
};

/* ---- What algorithms there are ---- */

/* What an algorithm does, and so which fields of mill_options hold for it. */
enum mill_trait {
	MILL_PARENTS = 1 << 0,		/* has parents: parents */
	MILL_FRONTIERS = 1 << 1,	/* goes along frontiers in steps: mapping, filter */
	MILL_PULLS = 1 << 2,		/* in steps that may go along in-edges: direction, do_a, do_b */
	MILL_SUMS = 1 << 3,		/* reduces whole lists: mapping, under a policy that has its own */
	MILL_ASYNC = 1 << 4,		/* can leave out the steps: async */
	MILL_SIMPLE = 1 << 5		/* takes the graph as an undirected simple one */
};

struct mill_algorithm {
	const char *name;	/* "bfs" */
	const char *summary;	/* a line, without a full stop */
	const char *help;	/* some lines more, each with its end */
	const char *examples;	/* command lines, likewise */
	const struct mill_option *option;	/* of its own option struct; ends with an entry whose name is NULL. NULL: it has none */
	size_t options_size;	/* of that struct */
	const char *const *column;	/* of its result, all that it may have, in their order; ends with NULL */
	const char *const *fact;	/* keys of its result in reports, likewise; NULL: none */
	unsigned traits;	/* of enum mill_trait */
	const char *steps_option, *steps_word;	/* "method", "labels": it has frontiers and can leave out steps only with this choice; NULL: always */
	bool needs_weights;
};
/* Ends with an entry whose name is NULL. */
MILL_API const struct mill_algorithm *mill_algorithms(void);
/* NULL if there is none of this name. */
MILL_API const struct mill_algorithm *mill_algorithm(const char *name);

/* ---- Policies: which page goes when another comes, and more; what options each has ---- */

struct mill_variant;

struct mill_policy {
	const char *name;	/* "gts" */
	const char *summary;
	const struct mill_option *option;	/* ends with an entry whose name is NULL; NULL: it has none */
	size_t settings;	/* offset of its settings in struct mill_options */
	const struct mill_variant *mappings;	/* its own ones, for labs; NULL: those of mill_lab_mappings() */
	bool several;		/* takes several devices; where no policy is named they choose it */
	/* On devices it has units and kernels of its own for some algorithms; other runs are as under this policy. NULL: it has none. */
	const char *otherwise;
};
/* The default first. Ends with an entry whose name is NULL. */
MILL_API const struct mill_policy *mill_policies(void);
/* NULL if there is none of this name; the default of NULL. */
MILL_API const struct mill_policy *mill_policy(const char *name);

struct mill_device {
	char name[64];		/* what --device takes: "cpu", "opencl:0" */
	char model[128];
	char driver[224];	/* and its version; "" on the cpu */
	uint64_t memory;
	uint32_t units;		/* compute units */
	uint32_t parts;		/* "opencl:N/K" divides it into so many at most: K divides the units; 0: it cannot be divided */
};
/* Fills at most n entries and says how many there are; a missing OpenCL is no error. */
MILL_API size_t mill_devices(struct mill_device *out, size_t n);

/* ---- Results ---- */

enum mill_type { MILL_TYPE_U32, MILL_TYPE_U64, MILL_TYPE_F32, MILL_TYPE_F64, MILL_TYPE_ID };

/*
 * A column of the result. IDs are original ids of vertices. "None" (an unreached depth or
 * parent) is the type's maximum, an unreachable distance the maximum or infinity.
 */
struct mill_column {
	const char *name;	/* "depth", "parent", "distance", "score" */
	enum mill_type type;
	uint64_t none;		/* integers: the value that means "none" */
};

MILL_API size_t mill_run_columns(const mill_run *run, struct mill_column *out, size_t n);
/*
 * All values of a column, one per vertex, as elements of its type (ids: uint64_t): in ascending
 * order of the original ids, or by internal vertex number. ids may be NULL.
 */
MILL_API mill_err mill_run_values(mill_run *run, const char *column, bool by_internal, void *values,
				  uint64_t *ids);
/* .tsv, .csv or .npy by the suffix; "-" is stdout (as .tsv). Appears whole or not at all. */
MILL_API mill_err mill_run_write(mill_run *run, const char *path);

/* ---- The ledger ---- */

/*
 * The terms of GTS's cost models (Kim et al., SIGMOD 2016, equations 1 and 2), in seconds that add up: what is hidden behind another is not
 * in any. How they are meant where the paper prints nothing is in src/model/gts_model.h.
 */
struct mill_cost {
	double attributes;	/* vertex state to the device and back: 2 WA / c1 */
	double stream;		/* pages, and what is only read beside them: (RA + SP + LP) / (c2 N) */
	double calls;		/* launching kernels: t_call */
	double kernel;		/* what of them the streaming does not hide: t_kernel */
	double sync;		/* merging the state of several devices: t_sync */
	double disk;		/* what of reading neither hides */
	double total;
};

/*
 * What a run was or is expected to cost, by the cost models of GTS (src/model/model.h) and constants of this machine: those that
 * mill_run_measure found, or built-in ones. As in the report, what is read while loading counts apart.
 */
struct mill_prediction {
	double seconds;		/* of the algorithm: max(read, compute), what is not hidden of the other, steps, device */
	double seconds_low, seconds_high;
	double read_seconds, compute_seconds, step_seconds, device_seconds;
	double load_seconds;
	struct mill_cost cost;	/* of device_seconds, by term ... */
	uint32_t equation;	/* ... and by which of the two: 1, passes over everything, 2, levels; 0: it is not on a device */
	uint64_t iterations, iterations_low, iterations_high;
	uint64_t pages_read, disk_read, load_read;
	uint64_t to_device;
	uint64_t memory;	/* host bytes that are used at most */
	bool measured;		/* the constants are this machine's */
};

struct mill_step {
	uint64_t step, frontier, edges, updates;
	const char *direction;	/* "push", "pull", "scan" */
	uint64_t pages_active, pages_read, pages_to_device, pages_reused;
	uint64_t disk_read, disk_written, to_device;
	uint64_t lanes, atomics;	/* on a device, if options.count_lanes: SIMD slots issued for edges, atomic operations */
	double seconds;
	/* Seconds of all workers: without a page to work on, verifying and decoding pages, and the rest. */
	double wait, decode, compute;
};

/* Partitions of the policy graphie. */
struct mill_partitions {
	uint64_t count;		/* 0: the run had none */
	uint64_t bytes;		/* of the largest on the wire */
	uint64_t buffers;	/* of that size on the device */
	enum mill_addressing addressing;	/* paged: the ids of the store are used as they are, and ranges are of pages */
	uint64_t range;		/* ids of each: the sources of the one that has most */
	uint64_t ids;		/* in all: sources, virtual ones, and vertices without out-edges */
	enum mill_wire wire;
	bool staged;		/* sources' values in local memory */
	bool local_flags;	/* flags in local memory: false where that is too small for them */
	/*
	 * When a run begins, partitions are cut: pages that hold several are looked into. Of renaming round 1 is the order of every store, made
	 * by import; round 2 is made then, or by import too (paged). Edges are made when they cross.
	 */
	double cut_seconds, round1_seconds, round2_seconds, edges_seconds;
};

/* How a run of the policy gts was laid out. */
struct mill_streaming {
	uint32_t devices;	/* 0: it was none */
	enum mill_strategy strategy;	/* P also with one device */
	const char *why;	/* that strategy; a literal */
	uint32_t chunks;	/* of what edges write: W */
	uint64_t writable;	/* bytes of that on a device at a time, at most: WA */
	uint64_t small_pages, large_pages;	/* of the directions that it reads */
	uint64_t cached_pages;	/* that can stay on a device, on the one that has fewest */
	uint64_t frames;	/* pages of the main-memory buffer */
};

/* What a run took of one of its devices. */
struct mill_device_use {
	const char *name;	/* a single one: "opencl:0", "opencl:0/2:1" */
	uint64_t budget, peak;
	uint64_t to_device, from_device;
};

struct mill_report {
	const char *algorithm;
	uint64_t hash;		/* of the first result column, by original id */
	uint64_t iterations, edges_traversed, updates;
	uint64_t disk_read, disk_written, to_device, from_device;
	/* What moved to and from the device, by kind: pages, attributes that are only read, vertex state, flags and counts. */
	uint64_t topology, read_only, writable, flags;
	uint64_t lanes, atomics;
	const char *device;	/* where it ran: not the one asked for after a fallback */
	const char *device_failed;	/* then why; else NULL */
	const struct mill_device_use *devices;	/* each of them; what else is said of devices here is of all together */
	size_t n_devices;	/* 0 on the cpu */
	const char *policy;	/* which it came to */
	uint64_t pages_active, pages_read, pages_to_device, pages_reused;
	uint64_t memory_budget, memory_peak;	/* what the run counted */
	uint64_t device_budget, device_peak;	/* of several: the smallest, and the largest */
	uint64_t device_driver;
	const char *io;		/* "uring" or "pread": which it came to */
	double wait, decode, compute;	/* of all steps */
	struct mill_partitions partitions;
	bool policy_owns;	/* with units and kernels of the policy; else over pages, of which it only says which go first */
	struct mill_streaming streaming;
	uint64_t n_steps;	/* at most 1,000: the rest is summed in the last */
	double load_seconds, parents_seconds, output_seconds;
	const double *run_seconds;	/* one per call of the algorithm on this run */
	size_t n_runs;
	bool resident;		/* the topology stayed in memory */
	/* What the algorithm has to say; which ones it has is mill_fact.name. */
	const struct mill_fact *fact;
	size_t n_facts;
	const struct mill_top *top;	/* pagerank: the highest scores */
	size_t n_top;
	const struct mill_bin *distribution;	/* degrees: how many vertices have which, ascending */
	size_t n_distribution;
	struct mill_prediction predicted;	/* before it began */
	struct mill_cost cost;	/* on a device: where the time of the last run went, as predicted.cost has it; its total is not all of run_seconds */
};

/* A named scalar of a result: "source", "reached", "max_depth", "sum", "delta", ... */
struct mill_fact {
	const char *name;
	enum mill_type type;	/* U64, F64 or ID */
	uint64_t u64;
	double f64;
};

struct mill_top {
	uint64_t id;
	double value;
};

struct mill_bin {
	uint64_t value, count;
};

/* Pointers in it live until the next algorithm call on this run. */
MILL_API void mill_run_report(const mill_run *run, struct mill_report *out);
MILL_API void mill_run_step(const mill_run *run, uint64_t i, struct mill_step *out);

/* ---- Plan: what a run would need, before it is made ---- */

struct mill_plan {
	uint64_t state;		/* bytes of vertex state, and of what else does not depend on the edges */
	uint64_t needed;	/* the smallest host budget: state + 64 MiB */
	uint64_t resident;	/* host bytes with the topology resident */
	uint64_t device_needed;	/* the smallest device budget: state + 2 pages */
	uint64_t pass_bytes;	/* read from disk by one whole pass of a streamed run */
	uint64_t saved;		/* state, frontiers and scalars of the loop: what a checkpoint has to hold */
	bool fits;		/* with the run's budget the topology is resident */
	bool policy_owns;	/* as the report has it */
	/* As in mill_streaming, of runs that the policy gts owns; at worst, where a view is made first. why NULL: it is none, or a budget is too small. */
	enum mill_strategy strategy;
	const char *why;
	uint32_t chunks;
	struct mill_prediction predicted;
};

/* how: the algorithm's option struct, or NULL. */
MILL_API mill_err mill_run_plan(mill_run *run, const char *algorithm, const void *how,
				struct mill_plan *out);
/*
 * Measures what predictions need, with this run's store, threads and device, in about a second: how fast pages are read and decoded, edges
 * looked at, the device reached, and how far a search goes. Kept in $XDG_CACHE_HOME/millrace or ~/.cache/millrace; what is there
 * already is taken from there, unless `again`. Only being cancelled is a failure: what cannot be measured keeps its default.
 */
MILL_API mill_err mill_run_measure(mill_run *run, bool again);

/* ---- Lab: the same run under several policies and budgets, side by side ---- */

/*
 * What a row of the lab changes in the options; what is 0 here stays as they have it. Settings of other policies
 * than the row's are left out, and so is what its policy does not have: with gts filters, directions and mappings
 * of others.
 */
struct mill_variant {
	const char *name;
	const char *policy;
	enum mill_mapping mapping;
	uint32_t queues;
	struct mill_graphie graphie;
	struct mill_gts gts;	/* with a strategy the row runs on all devices, which share out what it says; else on the first */
	bool no_skip, no_reuse, count_lanes;
};

/*
 * What there is to compare: which pages cross to the device and which stay there, and how edges are mapped to
 * work-items (mill_policy.mappings: how a policy does that). Both end with an entry whose name is NULL.
 */
MILL_API const struct mill_variant *mill_lab_policies(void);
MILL_API const struct mill_variant *mill_lab_mappings(void);

struct mill_lab {
	const char *algorithm;
	const void *how;		/* its option struct, or NULL */
	struct mill_options options;	/* of every run; with check each is certified */
	const struct mill_variant *variant;
	size_t n_variants;
	const uint64_t *budget;		/* of each device; NULL: what the options give them, alone */
	size_t n_budgets;
	uint32_t repeat;		/* timed runs of every row; 0: 1 */
};

struct mill_lab_row {
	const char *name;	/* the variant's; NULL: this row was not come to */
	uint64_t budget;	/* of the first device */
	mill_err error;
	char message[512];	/* the sentence of the error, or "" */
	uint64_t needed;	/* MILL_ENOMEM: the smallest budget that would do; 0: unknown */
	uint64_t edges;		/* looked at in all steps */
	/* Of the first of the repeated runs, which finds nothing on the device; of what it points to only run_seconds, of all of them. */
	struct mill_report report;
	struct mill_step *step;	/* report.n_steps of them */
};

/*
 * Fills a row for every budget and, within it, every variant: so many places, all for mill_lab_release, also after a failure.
 * A row whose budget is too small or whose result is wrong says so, and the next one follows. MILL_ENOMEM: no row had
 * room; MILL_ECHECK: a certificate failed, or results differ where their bits are promised (all but PageRank's without
 * MILL_EXACT and betweenness); any other failure ends the lab.
 */
MILL_API mill_err mill_lab(struct mill_lab_row *row, mill_store *store, const struct mill_lab *lab);
MILL_API void mill_lab_release(struct mill_lab_row *row, size_t n);

#ifdef __cplusplus
}
#endif
#endif
