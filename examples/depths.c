/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the number of vertices at each distance from the vertex of the highest degree. The search
 * uses at most 256 MiB, whatever the size of the graph.
 *
 *	cc depths.c -o depths $(pkg-config --cflags --libs millrace) && ./depths web.mill
 */
#include <millrace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the number of vertices at each depth. Returns -1 if there is no memory. */
static int print_depths(const uint32_t *depth, uint64_t n)
{
	uint64_t *count, unreached = 0, i;
	uint32_t deepest = 0, d;

	for (i = 0; i < n; i++)
		if (depth[i] != UINT32_MAX && depth[i] > deepest)
			deepest = depth[i];
	count = calloc((size_t)deepest + 1, sizeof(*count));
	if (!count)
		return -1;
	for (i = 0; i < n; i++) {
		if (depth[i] == UINT32_MAX)
			unreached++;
		else
			count[depth[i]]++;
	}
	for (d = 0; d <= deepest; d++)
		printf("depth %" PRIu32 ": %" PRIu64 "\n", d, count[d]);
	printf("unreached: %" PRIu64 "\n", unreached);
	free(count);
	return 0;
}

int main(int argc, char **argv)
{
	struct mill_options options = { .memory = (uint64_t)256 << 20 };
	struct mill_bfs bfs = { .source = "max-degree" };
	struct mill_info info;
	mill_store *store = NULL;
	mill_run *run = NULL;
	uint32_t *depth = NULL;
	mill_err err;

	if (argc != 2) {
		fprintf(stderr, "usage: depths STORE\n");
		return MILL_EUSAGE;
	}
	err = mill_store_open(&store, argv[1]);
	if (err)
		goto fail;
	mill_store_info(store, &info);
	err = mill_run_new(&run, store, &options);
	if (err)
		goto fail;
	err = mill_bfs(run, &bfs);
	if (err)
		goto fail;

	depth = calloc(info.vertices ? info.vertices : 1, sizeof(*depth));
	if (!depth) {
		err = MILL_ENOMEM;
		fprintf(stderr, "depths: no memory\n");
		goto done;
	}
	err = mill_run_values(run, "depth", false, depth, NULL);
	if (err)
		goto fail;
	if (print_depths(depth, info.vertices)) {
		err = MILL_ENOMEM;
		fprintf(stderr, "depths: no memory\n");
	}
	goto done;
fail:
	fprintf(stderr, "depths: %s\n", mill_error());
done:
	free(depth);
	mill_run_free(run);
	mill_store_close(store);
	return (int)err;
}
