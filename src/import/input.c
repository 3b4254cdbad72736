/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads plain files directly, and packed files through an unpacker: a table of functions for
 * gzip, zstd and bzip2. The memory of unpackers counts against the budget.
 */
#define ZSTD_STATIC_LINKING_ONLY 1 /* for ZSTD_customMem */
#include "import/input.h"

#include <bzlib.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/file.h"

#define PACKED_BUFFER (256 * KIB)
#define MAGIC_SIZE 4u
#define GZIP_WINDOW (16 + MAX_WBITS) /* zlib: expect a gzip header */
#define STEP_MAX (1 * GIB)	     /* most bytes in one step: unpackers count with 32 bits */

/* The result of one step of an unpacker. */
enum step { STEP_MORE, STEP_MEMBER_END, STEP_DAMAGED, STEP_NO_MEMORY };

/* An unpacker. */
struct packing {
	const char *name;
	bool (*is)(const u8 *magic);		/* do packed data begin with these bytes? */
	bool (*begin)(struct input *in);	/* false: no memory */
	bool (*restart)(struct input *in);	/* prepares for the next member */
	enum step (*step)(struct input *in, u8 *to, u64 size, u64 *got);
	void (*end)(struct input *in);
};

struct input {
	struct file file;
	bool is_stdin;	/* standard input, which stays open */
	bool looked;	/* `packing` is known */
	const struct packing *packing; /* NULL: plain */
	bool ready;	/* packing->end must be called */
	bool end;	/* the end of the file has been reached */
	bool in_member;
	u64 size, done;
	struct budget *budget;
	u8 *buffer;	/* PACKED_BUFFER bytes of the file */
	u64 at, fill;	/* bytes [at, fill) of the buffer have not been used */
	char *head;	/* the bytes of input_peek */
	u64 head_at, head_fill;
	const char *reason; /* why the data is damaged; or NULL */
	z_stream z;
	bz_stream bz;
	ZSTD_DStream *zstd;
};

/* ---- The unpackers ---- */

static void *unpack_new(struct input *in, u64 n, u64 size)
{
	void *p;

	return memory_new(&p, in->budget, n, size, "unpacking") ? NULL : p;
}

static void *z_new(void *arg, unsigned n, unsigned size)
{
	return unpack_new(arg, n, size);
}

static void z_delete(void *arg, void *p)
{
	(void)arg;
	memory_free(p);
}

static bool gzip_is(const u8 *m)
{
	return m[0] == 0x1f && m[1] == 0x8b;
}

static bool gzip_begin(struct input *in)
{
	in->z.zalloc = z_new;
	in->z.zfree = z_delete;
	in->z.opaque = in;
	return inflateInit2(&in->z, GZIP_WINDOW) == Z_OK;
}

static bool gzip_restart(struct input *in)
{
	return inflateReset(&in->z) == Z_OK;
}

static enum step gzip_step(struct input *in, u8 *to, u64 size, u64 *got)
{
	int z;

	in->z.next_in = in->buffer + in->at;
	in->z.avail_in = (unsigned)(in->fill - in->at);
	in->z.next_out = to;
	in->z.avail_out = (unsigned)size;
	z = inflate(&in->z, Z_NO_FLUSH);
	in->at = in->fill - in->z.avail_in;
	*got = (u64)(in->z.next_out - to);
	in->reason = in->z.msg;
	if (z == Z_MEM_ERROR)
		return STEP_NO_MEMORY;
	if (z == Z_STREAM_END)
		return STEP_MEMBER_END;
	return z == Z_OK || z == Z_BUF_ERROR ? STEP_MORE : STEP_DAMAGED;
}

static void gzip_end(struct input *in)
{
	inflateEnd(&in->z);
}

static void *bz_new(void *arg, int n, int size)
{
	return unpack_new(arg, (u64)n, (u64)size);
}

static bool bzip2_is(const u8 *m)
{
	return m[0] == 'B' && m[1] == 'Z' && m[2] == 'h' && m[3] >= '1' && m[3] <= '9';
}

static bool bzip2_begin(struct input *in)
{
	in->bz = (bz_stream){ .bzalloc = bz_new, .bzfree = z_delete, .opaque = in };
	return BZ2_bzDecompressInit(&in->bz, 0, 0) == BZ_OK;
}

static bool bzip2_restart(struct input *in)
{
	BZ2_bzDecompressEnd(&in->bz);
	in->ready = false;
	return bzip2_begin(in) && (in->ready = true);
}

static enum step bzip2_step(struct input *in, u8 *to, u64 size, u64 *got)
{
	int z;

	in->bz.next_in = (char *)in->buffer + in->at;
	in->bz.avail_in = (unsigned)(in->fill - in->at);
	in->bz.next_out = (char *)to;
	in->bz.avail_out = (unsigned)size;
	z = BZ2_bzDecompress(&in->bz);
	in->at = in->fill - in->bz.avail_in;
	*got = (u64)((u8 *)in->bz.next_out - to);
	if (z == BZ_MEM_ERROR)
		return STEP_NO_MEMORY;
	if (z == BZ_STREAM_END)
		return STEP_MEMBER_END;
	return z == BZ_OK ? STEP_MORE : STEP_DAMAGED;
}

static void bzip2_end(struct input *in)
{
	BZ2_bzDecompressEnd(&in->bz);
}

static void *zstd_new(void *arg, size_t size)
{
	return unpack_new(arg, size, 1);
}

/* A frame, or a skippable frame (parallel compressors write one first). */
static bool zstd_is(const u8 *m)
{
	return (m[0] == 0x28 && m[1] == 0xb5 && m[2] == 0x2f && m[3] == 0xfd) ||
	       ((m[0] & 0xf0) == 0x50 && m[1] == 0x2a && m[2] == 0x4d && m[3] == 0x18);
}

static bool zstd_begin(struct input *in)
{
	in->zstd = ZSTD_createDStream_advanced((ZSTD_customMem){
		.customAlloc = zstd_new, .customFree = z_delete, .opaque = in });
	/* The largest window of the format: the budget limits the memory. */
	return in->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(
				   in->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOWLOG_MAX));
}

static bool zstd_restart(struct input *in)
{
	return !ZSTD_isError(ZSTD_DCtx_reset(in->zstd, ZSTD_reset_session_only));
}

static enum step zstd_step(struct input *in, u8 *to, u64 size, u64 *got)
{
	ZSTD_inBuffer from = { .src = in->buffer, .size = in->fill, .pos = in->at };
	ZSTD_outBuffer out = { .dst = to, .size = size };
	size_t z = ZSTD_decompressStream(in->zstd, &out, &from);

	in->at = from.pos;
	*got = out.pos;
	if (!ZSTD_isError(z))
		return z ? STEP_MORE : STEP_MEMBER_END;
	in->reason = ZSTD_getErrorName(z);
	return ZSTD_getErrorCode(z) == ZSTD_error_memory_allocation ? STEP_NO_MEMORY
								    : STEP_DAMAGED;
}

static void zstd_end(struct input *in)
{
	ZSTD_freeDStream(in->zstd);
	in->zstd = NULL;
}

static const struct packing packings[] = {
	{ "gzip", gzip_is, gzip_begin, gzip_restart, gzip_step, gzip_end },
	{ "zstd", zstd_is, zstd_begin, zstd_restart, zstd_step, zstd_end },
	{ "bzip2", bzip2_is, bzip2_begin, bzip2_restart, bzip2_step, bzip2_end },
};

/* ---- The file ---- */

mill_err input_open(struct input **out, const char *path, struct budget *budget)
{
	struct input *in;
	mill_err err;

	TRY(memory_new(&in, budget, 1, sizeof(*in), "an input"));
	in->budget = budget;
	in->file = FILE_CLOSED;
	in->is_stdin = !strcmp(path, "-");
	if (in->is_stdin) {
		in->file.fd = STDIN_FILENO;
		err = memory_string(&in->file.name, NULL, "standard input");
	} else {
		err = file_open(&in->file, AT_FDCWD, path, FILE_READ, NULL);
	}
	if (!err)
		err = file_size(&in->file, &in->size);
	if (!err)
		err = memory_new(&in->buffer, budget, PACKED_BUFFER, 1, "an input");
	if (err) {
		input_close(in);
		return err;
	}
	*out = in;
	return MILL_OK;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->ready)
		in->packing->end(in);
	if (in->is_stdin)
		memory_free(in->file.name);
	else
		file_close(&in->file);
	memory_free(in->head);
	memory_free(in->buffer);
	memory_free(in);
}

const char *input_name(const struct input *in)
{
	return in->file.name;
}

u64 input_size(const struct input *in)
{
	return in->size;
}

u64 input_done(const struct input *in)
{
	return in->done;
}

/* Moves unused bytes to the front of the buffer and reads more after them. */
static mill_err refill(struct input *in)
{
	u64 got;

	memmove(in->buffer, in->buffer + in->at, in->fill - in->at);
	in->fill -= in->at;
	in->at = 0;
	TRY(file_read_next(&in->file, in->buffer + in->fill, PACKED_BUFFER - in->fill,
			   &got));
	in->end = !got;
	in->fill += got;
	in->done += got;
	return MILL_OK;
}

static mill_err no_memory(const struct input *in)
{
	return fail(MILL_ENOMEM, "no memory to unpack %s: give a larger --memory",
		    in->file.name);
}

/* Fails with the byte of the packed file. what: "truncated", for example. */
static mill_err fail_packed(const struct input *in, const char *what)
{
	return fail(MILL_EINPUT, "%s: byte %llu: the %s data is %s%s%s%s", in->file.name,
		    (unsigned long long)(in->done - (in->fill - in->at)),
		    in->packing->name, what, in->reason ? " (" : "",
		    in->reason ? in->reason : "", in->reason ? ")" : "");
}

/* Finds out how the input is packed. */
static mill_err look(struct input *in)
{
	while (!in->end && in->fill < MAGIC_SIZE)
		TRY(refill(in));
	in->looked = true;
	/* A file shorter than MAGIC_SIZE is plain, unless it begins with gzip's two bytes. */
	for (size_t i = 0; i < ARRAY_LEN(packings); i++)
		if (in->fill >= (i ? MAGIC_SIZE : 2) && packings[i].is(in->buffer))
			in->packing = &packings[i];
	if (!in->packing)
		return MILL_OK;
	in->ready = in->packing->begin(in);
	if (!in->ready) {
		in->packing->end(in);
		return no_memory(in);
	}
	in->in_member = true;
	return MILL_OK;
}

static mill_err read_plain(struct input *in, void *to, u64 size, u64 *got)
{
	if (in->at < in->fill) { /* the bytes that `look` has read */
		*got = min_u64(size, in->fill - in->at);
		memcpy(to, in->buffer + in->at, *got);
		in->at += *got;
		return MILL_OK;
	}
	*got = 0;
	if (in->end)
		return MILL_OK;
	TRY(file_read_next(&in->file, to, size, got));
	in->end = !*got;
	in->done += *got;
	return MILL_OK;
}

/*
 * Finds the next member. *more is false at the end. Skips zeros between members, which fill up
 * the blocks of tapes.
 */
static mill_err next_member(struct input *in, bool *more)
{
	u8 magic[MAGIC_SIZE] = { 0 };

	for (;;) {
		while (in->at < in->fill && !in->buffer[in->at])
			in->at++;
		if (in->fill - in->at >= MAGIC_SIZE || (in->end && in->at < in->fill))
			break;
		if (in->end) {
			*more = false;
			return MILL_OK;
		}
		TRY(refill(in));
	}
	memcpy(magic, in->buffer + in->at, min_u64(MAGIC_SIZE, in->fill - in->at));
	in->reason = NULL;
	if (!in->packing->is(magic))
		return fail_packed(in, "followed by something else");
	if (!in->packing->restart(in))
		return no_memory(in);
	in->in_member = true;
	*more = true;
	return MILL_OK;
}

static mill_err read_packed(struct input *in, void *to, u64 size, u64 *got)
{
	bool more;

	*got = 0;
	while (!*got) {
		u64 before;

		if (!in->in_member) {
			TRY(next_member(in, &more));
			if (!more)
				return MILL_OK;
		}
		if (in->at == in->fill && !in->end)
			TRY(refill(in));
		before = in->fill - in->at;
		switch (in->packing->step(in, to, min_u64(size, STEP_MAX), got)) {
		case STEP_NO_MEMORY:
			return no_memory(in);
		case STEP_DAMAGED:
			return fail_packed(in, "damaged");
		case STEP_MEMBER_END:
			in->in_member = false;
			break;
		case STEP_MORE:
			/* Without input an unpacker still returns what it has kept back. */
			in->reason = NULL;
			if (!before && !*got)
				return fail_packed(in, "truncated");
			break;
		}
	}
	return MILL_OK;
}

static mill_err read_more(struct input *in, void *to, u64 size, u64 *got)
{
	if (!in->looked)
		TRY(look(in));
	return in->packing ? read_packed(in, to, size, got) : read_plain(in, to, size, got);
}

mill_err input_peek(struct input *in, const char **head, u64 *size)
{
	u64 got = 1;

	if (!in->head)
		TRY(memory_new(&in->head, in->budget, INPUT_HEAD, 1, "an input"));
	while (got && in->head_fill < INPUT_HEAD) {
		TRY(read_more(in, in->head + in->head_fill, INPUT_HEAD - in->head_fill,
			      &got));
		in->head_fill += got;
	}
	*head = in->head;
	*size = in->head_fill;
	return MILL_OK;
}

mill_err input_read(struct input *in, void *to, u64 size, u64 *got)
{
	if (in->head_at < in->head_fill) {
		*got = min_u64(size, in->head_fill - in->head_at);
		memcpy(to, in->head + in->head_at, *got);
		in->head_at += *got;
		return MILL_OK;
	}
	if (in->head) {
		memory_free(in->head);
		in->head = NULL;
	}
	return read_more(in, to, size, got);
}
