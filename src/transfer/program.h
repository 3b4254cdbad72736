/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program says what happens at an edge or a vertex. An operator hands it down to the
 * engine in two forms, native functions and kernel text, with the table of its fields. The
 * templates in op/ make all instances; none is written by hand.
 */
#ifndef TRANSFER_PROGRAM_H
#define TRANSFER_PROGRAM_H

#include "device/device.h"
#include "device/dialect.h"
#include "store/store.h"
#include "stream/beside.h"

struct transfer;

/* A field of a program's state, as found in its argument struct. */
struct field {
	const char *name;
	u32 offset;		/* in struct PROGRAM_args */
	u32 size;		/* bytes of a scalar, or of an element */
	bool array;		/* the argument struct holds a struct vec * */
};

/* Which edge numbers a program takes; see transfer/number.h. */
enum numbers {
	NUMBERS_NONE,
	/* The program sees each edge once, from the side that owns it. */
	NUMBERS_OWNED,
	NUMBERS_BOTH		/* the program sees edges from both sides */
};

struct program {
	const char *name;	/* its kernels are called NAME_push, NAME_pull, ... */
	struct kernel_source source;
	const struct field *field;
	u32 n_fields;
	u32 args_size;		/* bytes of PROGRAM_args; 0: none of its state is streamed */
	enum numbers numbers;
};

/* A vector of the run: vertex state, frontiers, partial sums. */
struct vec {
	struct buffer buffer;	/* on the run's device, or on the host */
	u64 n;
	u32 size;		/* bytes of an element */
	const char *name;
	struct transfer *newest;	/* not NULL: its device has newer values; see vec_fetch */
	/*
	 * Not NULL: streamed state by edge; the buffer has, for each worker, room for the
	 * elements of a page.
	 */
	struct beside *beside;
};

/* Copies the newest values to the vector's own buffer. Every reader calls it first. */
mill_err vec_fetch(const struct vec *v);
/* The same for all vectors of a program's arguments. */
mill_err program_fetch(const struct program *p, const void *args);

/*
 * INIT_* initialise the state struct of native code from a program's arguments. FIELD_*
 * initialise the table of fields.
 */
#define INIT_ARRAY(type, name) .name = a->name ? a->name->buffer.host : NULL,
#define INIT_SCALAR(type, name) .name = a->name,
#define FIELD_ARRAY(type, name_) \
	{ #name_, offsetof(struct OF(PROGRAM, args), name_), sizeof(type), true },
#define FIELD_SCALAR(type, name_) \
	{ #name_, offsetof(struct OF(PROGRAM, args), name_), sizeof(type), false },
#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
#define DEFINE_(name, text) "#define " name " " text "\n"
/* The #define line that gives the device's compiler the same macro as the host's compiler. */
#define DEFINE(name) DEFINE_(#name, TEXT_OF(name))

/* ---- Programs for policies with kernels of their own ---- */

/* How copies of the array that edges write are merged into one. */
enum merge_kind { MERGE_MIN_U32, MERGE_MIN_U64, MERGE_ADD_F64, MERGE_ADD_U64 };

/*
 * The changes that native code made: the number of edges and updates and, for each page where
 * vertices changed, the flags PAGE_HEAD and PAGE_OTHERS (policy/join.cl).
 */
struct changes {
	const struct pages *pages;
	u32 *flag;		/* by page; NULL: no flags are wanted */
	u64 edges, updates;
};
/* Sets the flag of the page that stands for v's list, as policy/join.cl does. */
void changes_flag(struct changes *c, vid v);

/* A program for policy/join.cl and op/join.inc, which join edges with vertex state. */
struct join_program {
	struct program program;
	u32 writable;		/* offset, in the arguments, of the vector that edges write */
	u32 writable_size;	/* bytes of an element of that vector */
	u32 given_size;		/* bytes of a value that a source gives */
	enum merge_kind merge;
	/*
	 * Joins the rows of a segment on the host. given: values by vertex; NULL: sources
	 * give their values in the writable vector.
	 */
	void (*rows)(const void *args, const struct segment *seg, const void *given,
		     struct changes *c);
};

/*
 * The paths of a page that the host runs, and the master of the state (transfer/twin.h) on
 * which it runs them. The arrays are by vertex.
 */
struct path_pass {
	const u64 *head;	/* the heads of the paths that are run */
	const u64 *link;	/* vertices through which paths go on; NULL: none */
	void *sent;		/* values that vertices had when they last gave them on */
	u64 *changed;		/* vertices with a value or `sent` that changed */
	u64 *ran;		/* vertices that gave a value; NULL: not wanted */
	u64 *given;		/* of an additive program: vertices that give `give` instead */
	u64 edges, updates;	/* counts of the caller's thread */
};

/*
 * A program for policy/path.cl and op/path.inc, which run its edges along paths. Values only
 * fall or, if it adds, changes are added.
 */
struct path_program {
	struct program staged;	/* kernels that work on copies in local memory */
	struct program direct;	/* kernels that work on the device's master */
	u32 writable, size;	/* of the vector that edges write: offset in the arguments; bytes */
	bool adds, real;	/* additive; of f64 */
	/* Additive: offsets of the vectors `sent`, `factor` and `give`. */
	u32 sent, factor, give;
	/* Runs the paths in a segment that begin at the chosen heads. */
	void (*run)(const void *args, const struct segment *seg, struct path_pass *p);
	/* Sets the bits of the vertices in words [begin, end) that have something to give. */
	u64 (*active)(const void *args, const void *sent, u64 begin, u64 end, u64 n, u64 *bits);
	/* Additive: lets v give now: sets give[v], and sent[v] to its value. */
	void (*turn)(const void *args, vid v);
};

/*
 * The forms of one program for policies with kernels of their own. NULL: the program does
 * not have the form.
 */
struct own_forms {
	/* For policy/graphie.cl: values only fall, and edges may come in any order. */
	const struct program *in_place;
	const struct join_program *join;	/* for policy/join.cl: edges write one array */
	const struct path_program *path;	/* for policy/path.cl: edges along paths */
};

#endif
