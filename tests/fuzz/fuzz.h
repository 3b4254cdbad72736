/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One input through one reader, as far as the builder: nothing is sorted or written, but names are. Formats of
 * several files (bvgraph, ldbc) get them as parts of the input, separated by the byte 0x1e, the
 * properties first.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "import/format.h"
#include "import/namer.h"

#define FUZZ_SEPARATOR 0x1e
#define FUZZ_MEMORY (64 * MIB)

static inline void fuzz_write(const char *folder, const char *name, const void *data, size_t size)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f))
		abort();
}

/* The parts of the input as files; the name of the one that is imported. */
static inline const char *fuzz_files(const char *folder, const char *format, const uint8_t *data,
				     size_t size)
{
	static const char *const bvgraph[] = { "g.properties", "g.graph", NULL };
	static const char *const ldbc[] = { "g.properties", "g.v", "g.e", NULL };
	const char *const *part = !strcmp(format, "bvgraph") ? bvgraph : ldbc;

	if (strcmp(format, "bvgraph") && strcmp(format, "ldbc")) {
		fuzz_write(folder, "g.in", data, size);
		return "g.in";
	}
	for (; *part; part++) {
		const uint8_t *end = part[1] && size ? memchr(data, FUZZ_SEPARATOR, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;

		fuzz_write(folder, *part, data, n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	return "g.properties";
}

/* arg: how many names there are. */
static inline mill_err fuzz_take(void *arg, const struct raw_edge *edge, u64 n)
{
	for (u64 i = 0; i < n; i++)
		if (edge[i].from >= *(u64 *)arg || edge[i].to >= *(u64 *)arg)
			abort();
	return MILL_OK;
}

/* What the reader says; it must not be a bug of ours. folder: an empty one to work in. */
static inline mill_err fuzz_reader(const char *folder, const char *format, const uint8_t *data,
				   size_t size)
{
	char path[256], store[256];
	const char *const input[] = { path };
	struct mill_built built = { .note = "" };
	struct mill_import how = {
		.target = { .path = store, .memory = FUZZ_MEMORY, .threads = 1 },
		.input = input,
		.n_inputs = 1,
		.format = strcmp(format, "names") ? format : "edgelist",
		.names = !strcmp(format, "names"),
		.weights = MILL_WEIGHTS_AUTO,
		.id_bits = 32,
		.weight_type = !strcmp(format, "raw") ? MILL_WEIGHT_F32 : MILL_WEIGHT_NONE,
	};
	struct builder_options o = { .target = &how.target };
	struct intake k = { .how = &how, .out = &built, .text = { .weight_type = how.weight_type } };
	mill_err err;
	u64 n = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, fuzz_files(folder, format, data, size));
	snprintf(store, sizeof(store), "%s/store", folder);
	if (builder_new(&k.b, &o) || text_init(&k.text))
		abort();
	fault_set_hold(how.names ? 3 : 0);	/* several batches, so that they are merged */
	if (how.names && namer_new(&k.text.names, builder_budget(k.b), builder_pool(k.b), builder_ticker(k.b), folder))
		abort();
	err = format_read(&k, path);
	if (how.names && !err && (namer_settle(k.text.names, &n) || namer_edges(k.text.names, fuzz_take, &n)))
		abort();
	namer_free(k.text.names);
	text_release(&k.text);
	builder_abandon(k.b);
	/* The properties of ldbc may name a file that is not there. */
	if (err == MILL_EBUG || (err == MILL_EIO && strcmp(format, "ldbc")) || err == MILL_ECORRUPT ||
	    (err && !*mill_error()) || (!err && !k.settled)) {
		fprintf(stderr, "%s: %d, %s\n", format, (int)err, mill_error());
		abort();
	}
	return err;
}

#endif
