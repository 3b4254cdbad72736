/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operator hands down to the engine: a program (what happens at an edge or a vertex) in
 * the two forms that exist of it, native functions and kernel text, and the table of its fields.
 * Instances are made by the templates in op/, never by hand.
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
	u32 size;		/* of a scalar, or of an element */
	bool array;		/* the argument struct holds a struct vec * */
};

/* Which edge numbers a program takes; see transfer/number.h. */
enum numbers {
	NUMBERS_NONE,
	NUMBERS_OWNED,		/* of edges from the side that owns them: each edge is met once */
	NUMBERS_BOTH		/* from either side */
};

struct program {
	const char *name;	/* its kernels are called NAME_push, NAME_pull, ... */
	struct kernel_source source;
	const struct field *field;
	u32 n_fields;
	u32 args_size;		/* of PROGRAM_args; 0: no state of it is streamed */
	enum numbers numbers;
};

/* A vector of the run's: vertex state, frontiers, partial sums. */
struct vec {
	struct buffer buffer;	/* on the run's device, or on the host */
	u64 n;
	u32 size;		/* of an element */
	const char *name;
	struct transfer *newest;	/* not NULL: a device of it has newer values; see vec_fetch */
	struct beside *beside;	/* not NULL: state by edge that is streamed; the buffer has room for a page's elements for each worker */
};

/* Brings the newest values to the vector's own buffer. Every reader calls it first. */
mill_err vec_fetch(const struct vec *v);
/* The same for all vectors of a program's arguments. */
mill_err program_fetch(const struct program *p, const void *args);

/* The state that native code makes of a program's arguments, and the table of its fields. */
#define INIT_ARRAY(type, name) .name = a->name ? a->name->buffer.host : NULL,
#define INIT_SCALAR(type, name) .name = a->name,
#define FIELD_ARRAY(type, name_) { #name_, offsetof(struct OF(PROGRAM, args), name_), sizeof(type), true },
#define FIELD_SCALAR(type, name_) { #name_, offsetof(struct OF(PROGRAM, args), name_), sizeof(type), false },
#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
#define DEFINE_(name, text) "#define " name " " text "\n"
/* The #define line that makes the device's compiler see what ours sees. */
#define DEFINE(name) DEFINE_(#name, TEXT_OF(name))

/* ---- Programs for policies with kernels of their own ---- */

/* How copies of what edges wrote become one. */
enum merge_kind { MERGE_MIN_U32, MERGE_MIN_U64, MERGE_ADD_F64, MERGE_ADD_U64 };

/* What native code changed: edges and updates, and by page PAGE_HEAD, PAGE_OTHERS where vertices changed (policy/join.cl). */
struct changes {
	const struct pages *pages;
	u32 *flag;		/* NULL: nothing asks for flags */
	u64 edges, updates;
};
void changes_flag(struct changes *c, vid v);

/* The join of units with attributes: op/join.inc, policy/join.cl. */
struct join_program {
	struct program program;
	u32 writable;		/* offset, in the arguments, of the vector that edges write, */
	u32 writable_size, given_size;	/* and the sizes of its elements, and of what a source gives */
	enum merge_kind merge;
	/* Joins the rows of a segment on the host. given: by vertex; NULL: what sources have in the writable vector. */
	void (*rows)(const void *args, const struct segment *seg, const void *given, struct changes *c);
};

/* The forms of one program that such policies take; NULL: it lacks the form. */
struct own_forms {
	const struct program *in_place;		/* values fall in any order: policy/graphie.cl */
	const struct join_program *join;	/* one array is written: policy/join.cl */
};

#endif
