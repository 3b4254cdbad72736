/* SPDX-License-Identifier: Apache-2.0 */
#include "import/input.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"

#define PACKED_BUFFER (256 * KIB)
#define GZIP_WINDOW (16 + MAX_WBITS) /* zlib: expect a gzip header */

enum form { FORM_UNKNOWN, FORM_PLAIN, FORM_GZIP };

struct input {
	struct file file;
	bool standard; /* stdin: not ours to close */
	enum form form;
	bool end; /* of the file */
	u64 size, done;
	struct budget *budget;
	u8 *buffer;   /* PACKED_BUFFER bytes of the file */
	u64 at, fill; /* [at, fill) is not used yet */
	z_stream z;
	bool z_ready;
	bool in_member; /* within a gzip member */
};

static void *z_new(void *arg, unsigned n, unsigned size)
{
	struct input *in = arg;
	void *p;

	return memory_new(&p, in->budget, n, size, "unpacking") ? NULL : p;
}

static void z_delete(void *arg, void *p)
{
	(void)arg;
	memory_free(p);
}

mill_err input_open(struct input **out, const char *path, struct budget *budget)
{
	struct input *in;
	mill_err err;

	TRY(memory_new(&in, budget, 1, sizeof(*in), "an input"));
	in->budget = budget;
	in->file = FILE_CLOSED;
	in->standard = !strcmp(path, "-");
	if (in->standard) {
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
	if (in->z_ready)
		inflateEnd(&in->z);
	if (in->standard)
		memory_free(in->file.name);
	else
		file_close(&in->file);
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

/* Moves what is left to the front of the buffer and reads more behind it. */
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

static mill_err look_at_form(struct input *in)
{
	while (!in->end && in->fill < 2)
		TRY(refill(in));
	if (in->fill < 2 || in->buffer[0] != 0x1f || in->buffer[1] != 0x8b) {
		in->form = FORM_PLAIN;
		return MILL_OK;
	}
	in->form = FORM_GZIP;
	in->z.zalloc = z_new;
	in->z.zfree = z_delete;
	in->z.opaque = in;
	if (inflateInit2(&in->z, GZIP_WINDOW) != Z_OK)
		return fail(MILL_ENOMEM, "no memory to unpack %s", in->file.name);
	in->z_ready = true;
	in->in_member = true;
	return MILL_OK;
}

static mill_err read_plain(struct input *in, void *to, u64 size, u64 *got)
{
	if (in->at < in->fill) { /* what the form was told by */
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

/* Between members: another one, zeros that fill up a tape's block, or the end. */
static mill_err next_member(struct input *in, bool *more)
{
	for (;;) {
		while (in->at < in->fill && !in->buffer[in->at])
			in->at++;
		if (in->at < in->fill)
			break;
		if (in->end) {
			*more = false;
			return MILL_OK;
		}
		TRY(refill(in));
	}
	if (in->buffer[in->at] != 0x1f)
		return fail(MILL_EINPUT, "%s: something else follows the gzip data",
			    in->file.name);
	inflateReset(&in->z);
	in->in_member = true;
	*more = true;
	return MILL_OK;
}

static mill_err read_gzip(struct input *in, void *to, u64 size, u64 *got)
{
	bool more;

	*got = 0;
	while (!*got) {
		int z;

		if (!in->in_member) {
			TRY(next_member(in, &more));
			if (!more)
				return MILL_OK;
		}
		if (in->at == in->fill && !in->end)
			TRY(refill(in));
		if (in->at == in->fill)
			return fail(MILL_EINPUT, "%s: the gzip data is truncated",
				    in->file.name);
		in->z.next_in = in->buffer + in->at;
		in->z.avail_in = (unsigned)(in->fill - in->at);
		in->z.next_out = to;
		in->z.avail_out = (unsigned)min_u64(size, 1 * GIB);
		z = inflate(&in->z, Z_NO_FLUSH);
		in->at = in->fill - in->z.avail_in;
		*got = (u64)(in->z.next_out - (u8 *)to);
		if (z == Z_MEM_ERROR)
			return fail(MILL_ENOMEM, "no memory to unpack %s", in->file.name);
		if (z == Z_STREAM_END)
			in->in_member = false;
		else if (z != Z_OK && z != Z_BUF_ERROR)
			return fail(MILL_EINPUT, "%s: the gzip data is damaged (%s)",
				    in->file.name,
				    in->z.msg ? in->z.msg : "no reason known");
	}
	return MILL_OK;
}

mill_err input_read(struct input *in, void *to, u64 size, u64 *got)
{
	if (in->form == FORM_UNKNOWN)
		TRY(look_at_form(in));
	return in->form == FORM_GZIP ? read_gzip(in, to, size, got)
				     : read_plain(in, to, size, got);
}
