/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of an input file or of standard input. Unpacks them if their first bytes are
 * those of gzip, zstd or bzip2.
 */
#ifndef IMPORT_INPUT_H
#define IMPORT_INPUT_H

#include "base/memory.h"

#define INPUT_HEAD (64 * KIB)	/* most bytes that input_peek shows */

struct input;

/* "-" is stdin. */
mill_err input_open(struct input **out, const char *path, struct budget *budget);
void input_close(struct input *in);
/*
 * Reads at most `size` bytes; *got is 0 at the end. Concatenated members of packed data are
 * read one after the other. Fails with MILL_EINPUT if packed data is damaged or truncated.
 */
mill_err input_read(struct input *in, void *to, u64 size, u64 *got);
/*
 * Shows the first bytes, unpacked, that input_read will return: INPUT_HEAD bytes, fewer only if
 * the input is shorter. Must be called before the first input_read. The bytes are valid until
 * then.
 */
mill_err input_peek(struct input *in, const char **head, u64 *size);
/* Returns the name for messages. */
const char *input_name(const struct input *in);
/* Return the size of the file in bytes, 0 if unknown (a pipe), and how many have been read. */
u64 input_size(const struct input *in);
u64 input_done(const struct input *in);

#endif
