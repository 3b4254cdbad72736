/* SPDX-License-Identifier: Apache-2.0 */
/*
 * igraph GRAPH.sg|GRAPH.wsg TRIALS ALGORITHM...: prints the seconds of igraph's bfs, sssp, cc and
 * kcore, with one thread: a line for each trial ("kcore 1.23"). Searches start at the vertex of the
 * largest degree.
 */
#include <igraph.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "igraph: %s\n", what);
	exit(1);
}

struct input {
	igraph_t graph;
	igraph_vector_t weight;
	bool weighted;
	igraph_integer_t source;
};

/*
 * Reads a graph in GAPBS's format: a byte "directed", edges and vertices as i64, then offsets, then
 * neighbours (with weights: pairs of neighbour and weight).
 */
static void read_graph(struct input *in, const char *path)
{
	FILE *f = fopen(path, "rb");
	igraph_vector_int_t edge;
	int64_t head[2], *row;
	int32_t *list;
	size_t each;
	char directed;

	in->weighted = strstr(path, ".wsg");
	each = in->weighted ? 2 : 1;
	must(f && fread(&directed, 1, 1, f) == 1 && fread(head, 8, 2, f) == 2 && !directed,
	     "cannot read the graph, or it is directed");
	row = malloc((size_t)(head[1] + 1) * 8);
	list = malloc((size_t)head[0] * 2 * each * 4);
	must(row && list, "no memory");
	must(fread(row, 8, (size_t)(head[1] + 1), f) == (size_t)(head[1] + 1), "short file");
	must(fread(list, 4 * each, (size_t)row[head[1]], f) == (size_t)row[head[1]], "short file");
	fclose(f);
	igraph_vector_int_init(&edge, 0);
	igraph_vector_init(&in->weight, 0);
	igraph_vector_int_reserve(&edge, row[head[1]]);
	for (int64_t u = 0; u < head[1]; u++) {
		if (row[u + 1] - row[u] > row[in->source + 1] - row[in->source])
			in->source = u;
		for (int64_t i = row[u]; i < row[u + 1]; i++) {
			int32_t v = list[(size_t)i * each];

			if (v < u)
				continue;
			igraph_vector_int_push_back(&edge, u);
			igraph_vector_int_push_back(&edge, v);
			if (in->weighted)
				igraph_vector_push_back(&in->weight, list[(size_t)i * each + 1]);
		}
	}
	must(!igraph_create(&in->graph, &edge, head[1], IGRAPH_UNDIRECTED),
	     "cannot make the graph");
	igraph_vector_int_destroy(&edge);
	free(row);
	free(list);
}

static void bfs(struct input *in)
{
	igraph_vector_int_t order, layer, parent;

	igraph_vector_int_init(&order, 0);
	igraph_vector_int_init(&layer, 0);
	igraph_vector_int_init(&parent, 0);
	must(!igraph_bfs_simple(&in->graph, in->source, IGRAPH_ALL, &order, &layer, &parent),
	     "bfs");
	igraph_vector_int_destroy(&order);
	igraph_vector_int_destroy(&layer);
	igraph_vector_int_destroy(&parent);
}

static void sssp(struct input *in)
{
	igraph_matrix_t distance;

	must(in->weighted, "sssp needs a .wsg file");
	igraph_matrix_init(&distance, 0, 0);
	must(!igraph_distances_dijkstra(&in->graph, &distance, igraph_vss_1(in->source),
					igraph_vss_all(), &in->weight, IGRAPH_ALL),
	     "sssp");
	igraph_matrix_destroy(&distance);
}

static void cc(struct input *in)
{
	igraph_vector_int_t member;

	igraph_vector_int_init(&member, 0);
	must(!igraph_connected_components(&in->graph, &member, NULL, NULL, IGRAPH_WEAK), "cc");
	igraph_vector_int_destroy(&member);
}

static void kcore(struct input *in)
{
	igraph_vector_int_t core;

	igraph_vector_int_init(&core, 0);
	must(!igraph_coreness(&in->graph, &core, IGRAPH_ALL), "kcore");
	igraph_vector_int_destroy(&core);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct input *in);
	} table[] = { { "bfs", bfs }, { "sssp", sssp }, { "cc", cc }, { "kcore", kcore } };
	struct input in = { .source = 0 };

	must(argc > 3, "usage: igraph GRAPH.sg TRIALS ALGORITHM...");
	read_graph(&in, argv[1]);
	for (int i = 3; i < argc; i++)
		for (size_t k = 0; k < sizeof(table) / sizeof(table[0]); k++) {
			if (strcmp(argv[i], table[k].name))
				continue;
			for (int trial = 0; trial < atoi(argv[2]); trial++) {
				double began = now();

				table[k].run(&in);
				printf("%s %.6f\n", argv[i], now() - began);
			}
		}
	igraph_vector_destroy(&in.weight);
	igraph_destroy(&in.graph);
	return 0;
}
