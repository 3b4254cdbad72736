/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arcs GRAPH.sg: writes every stored edge as two 32-bit numbers to stdout, ordered by source: the
 * input of GridGraph and of `import --format raw`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SOME 65536u

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "arcs: %s\n", what);
	exit(1);
}

/* GAPBS's format: a byte "directed", edges and vertices as i64, then offsets, then neighbours. */
int main(int argc, char **argv)
{
	static uint32_t neighbour[SOME], arc[SOME][2];
	FILE *rows = argc == 2 ? fopen(argv[1], "rb") : NULL;
	FILE *lists = argc == 2 ? fopen(argv[1], "rb") : NULL;
	int64_t head[2], at, end;
	uint32_t v, n = 0;
	size_t some, i;

	must(rows && lists, "needs a .sg file");
	must(fgetc(rows) != EOF && fread(head, sizeof(head), 1, rows) == 1, "no header");
	must(fread(&at, sizeof(at), 1, rows) == 1, "no offsets");
	must(!fseek(lists, 17 + 8 * (head[1] + 1), SEEK_SET), "no lists");
	for (v = 0; v < head[1]; v++) {
		must(fread(&end, sizeof(end), 1, rows) == 1, "rows end early");
		for (; at < end; at += (int64_t)some) {
			some = end - at < (int64_t)(SOME - n) ? (size_t)(end - at) : SOME - n;
			must(fread(neighbour, 4, some, lists) == some, "lists end early");
			for (i = 0; i < some; i++) {
				arc[n][0] = v;
				arc[n++][1] = neighbour[i];
			}
			if (n == SOME) {
				must(fwrite(arc, 8, n, stdout) == n, "cannot write");
				n = 0;
			}
		}
	}
	must(fwrite(arc, 8, n, stdout) == n && !fflush(stdout), "cannot write");
	return 0;
}
