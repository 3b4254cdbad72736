/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input file or stdin, unpacked if it begins as gzip does. */
#ifndef IMPORT_INPUT_H
#define IMPORT_INPUT_H

#include "base/memory.h"

struct input;

/* "-" is stdin. */
mill_err input_open(struct input **out, const char *path, struct budget *budget);
void input_close(struct input *in);
/* At most `size` bytes; *got = 0 at the end. Damaged or truncated gzip is MILL_EINPUT. */
mill_err input_read(struct input *in, void *to, u64 size, u64 *got);
/* For messages. */
const char *input_name(const struct input *in);
/* Bytes of the file, 0 if unknown (a pipe); and those of them that have been read. */
u64 input_size(const struct input *in);
u64 input_done(const struct input *in);

#endif
