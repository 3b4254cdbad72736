/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input file or stdin, unpacked if it begins as gzip, zstd or bzip2 do. */
#ifndef IMPORT_INPUT_H
#define IMPORT_INPUT_H

#include "base/memory.h"

#define INPUT_HEAD (64 * KIB)	/* what input_peek shows at most */

struct input;

/* "-" is stdin. */
mill_err input_open(struct input **out, const char *path, struct budget *budget);
void input_close(struct input *in);
/*
 * At most `size` bytes; *got = 0 at the end. Concatenated members are read one after the
 * other; damaged or truncated ones are MILL_EINPUT.
 */
mill_err input_read(struct input *in, void *to, u64 size, u64 *got);
/*
 * The first bytes, unpacked, that input_read will give: INPUT_HEAD of them, fewer only if there
 * are no more. Before the first input_read; the bytes live until it.
 */
mill_err input_peek(struct input *in, const char **head, u64 *size);
/* For messages. */
const char *input_name(const struct input *in);
/* Bytes of the file, 0 if unknown (a pipe); and those of them that have been read. */
u64 input_size(const struct input *in);
u64 input_done(const struct input *in);

#endif
