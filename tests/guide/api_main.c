/* SPDX-License-Identifier: Apache-2.0 */
/* Calls each function that docs/api.md shows; cmake/check-install.sh links it with the blocks of that page. */
#include <millrace.h>
#include <stdio.h>

mill_err show_store(mill_store *store);
mill_err rank_pages(mill_store *store, const char *file);
mill_err verify_loudly(mill_store *store);
mill_err search_on_device(mill_store *store, const char *source);
mill_err make_stores(const char *edges);
void show_result(const mill_run *run);

int main(void)
{
	mill_store *store;
	mill_run *run;

	if (make_stores("edges.el") || mill_store_open(&store, "web.mill") || show_store(store) ||
	    rank_pages(store, "ranks.tsv") || verify_loudly(store) ||
	    search_on_device(store, "max-degree") || mill_run_new(&run, store, NULL) ||
	    mill_bfs(run, NULL)) {
		printf("failed: %s\n", mill_error());
		return 1;
	}
	show_result(run);
	mill_run_free(run);
	mill_store_close(store);
	return 0;
}
