/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives one input to one reader. The builder only collects the edges: it does not sort them or
 * write a store; names are sorted. For formats of several files (bvgraph, ldbc) the input holds the
 * files one after the other, separated by the byte 0x1e, the properties first.
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

/* Writes the files of the input. Returns the name of the one to import. */
static inline const char *fuzz_files(const char *folder, const char *format, const uint8_t *data,
				     size_t size)
{
	static const char *const bvgraph[] = { "g.properties", "g.graph", NULL };
	static const char *const ldbc[] = { "g.properties", "g.v", "g.e", NULL };
	const char *const *file = !strcmp(format, "bvgraph") ? bvgraph : ldbc;

	if (strcmp(format, "bvgraph") && strcmp(format, "ldbc")) {
		fuzz_write(folder, "g.in", data, size);
		return "g.in";
	}
	for (; *file; file++) {
		const uint8_t *end = file[1] && size ? memchr(data, FUZZ_SEPARATOR, size) : NULL;
		size_t n = end ? (size_t)(end - data) : size;

		fuzz_write(folder, *file, data, n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	return "g.properties";
}

/* Checks that the ends of edges are numbers of names. arg: the number of names. */
static inline mill_err fuzz_take(void *arg, const struct raw_edge *edge, u64 n)
{
	for (u64 i = 0; i < n; i++)
		if (edge[i].from >= *(u64 *)arg || edge[i].to >= *(u64 *)arg)
			abort();
	return MILL_OK;
}

/*
 * Returns the reader's error. Aborts if it shows a bug: MILL_EBUG, an error without a message, a
 * code that no bad input may give. folder: an empty folder for files.
 */
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
	struct intake k = { .how = &how, .out = &built,
			    .text = { .weight_type = how.weight_type } };
	mill_err err;
	u64 n = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, fuzz_files(folder, format, data, size));
	snprintf(store, sizeof(store), "%s/store", folder);
	if (builder_new(&k.b, &o) || text_init(&k.text))
		abort();
	fault_set_hold(how.names ? 3 : 0);	/* 3 names a batch: several batches are merged */
	if (how.names && namer_new(&k.text.names, builder_budget(k.b), builder_pool(k.b),
				   builder_ticker(k.b), folder))
		abort();
	err = format_read(&k, path);
	if (how.names && !err &&
	    (namer_settle(k.text.names, &n) || namer_edges(k.text.names, fuzz_take, &n)))
		abort();
	namer_free(k.text.names);
	text_release(&k.text);
	builder_abandon(k.b);
	/* The properties of ldbc may name a file that does not exist: MILL_EIO. */
	if (err == MILL_EBUG || (err == MILL_EIO && strcmp(format, "ldbc")) ||
	    err == MILL_ECORRUPT || (err && !*mill_error()) || (!err && !k.settled)) {
		fprintf(stderr, "%s: %d, %s\n", format, (int)err, mill_error());
		abort();
	}
	return err;
}

#endif
