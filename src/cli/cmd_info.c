/* SPDX-License-Identifier: Apache-2.0 */
/* The command info: the facts of a store. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

static void print_text(const struct call *call, const struct mill_info *info)
{
	/* A directed graph with in-pages has every edge in two lists. */
	uint64_t arcs = info->stored_edges * (info->directed && info->has_in_pages ? 2 : 1);
	char size[SHOWN_SIZE], csr[SHOWN_SIZE], page[SHOWN_SIZE];

	say(call, "%s: %s graph, %" PRIu64 " vertices, %" PRIu64 " edges\n", info->path,
	    info->directed ? "a directed" : "an undirected", info->vertices, info->edges);
	if (info->named)
		say(call, "  names         %s to %s\n", info->min_name ? info->min_name : "none",
		    info->max_name ? info->max_name : "none");
	else
		say(call, "  ids           %" PRIu64 " to %" PRIu64 "\n", info->min_id,
		    info->max_id);
	say(call, "  weights       %s\n", weight_word(info->weight));
	say(call,
	    "  stored edges  %" PRIu64 ", of which %" PRIu64 " self-loops and %" PRIu64
	    " parallel\n",
	    info->stored_edges, info->self_loops, info->parallel_edges);
	say(call,
	    "  degrees       at most %" PRIu64 "; %" PRIu64 " vertices have out-edges, %" PRIu64
	    " are isolated\n",
	    info->max_degree, info->sources, info->vertices - info->connected);
	say(call, "  in-edges      %s\n",
	    !info->directed	 ? "the same as out-edges"
	    : info->has_in_pages ? "stored"
				 : "not stored");
	say(call, "  size          %s on disk, %s as a CSR in memory (100%%)\n",
	    show_size(size, info->bytes), show_size(csr, info->csr_bytes));
	say(call, "  pages         %" PRIu64 " of %s, %s", info->pages,
	    show_size(page, info->page_size), info->codec);
	if (arcs)
		say(call, ", %.2f bytes an edge", (double)info->page_bytes / (double)arcs);
	say(call, "\n");
	say(call, "  addressing    %s", addressing_word(info->addressing));
	if (info->addressing == MILL_ADDRESSING_PAGED) {
		say(call, ", %" PRIu32 " slots a page", info->out_slots);
		if (info->in_slots)
			say(call, " (in-pages %" PRIu32 ")", info->in_slots);
		say(call, "; %" PRIu64 " small and %" PRIu64 " large pages (GTS's formula: %.1f)",
		    info->small_pages, info->large_pages, info->record_pages);
	}
	say(call, "\n");
	for (size_t k = 0; info->stripe[k]; k++)
		say(call, "  %-13s %s\n", k ? "" : "stripes", info->stripe[k]);
	say(call, "  made by       %s\n", info->origin);
	say(call, "  format        %" PRIu32 ", store %s\n", info->format, info->uuid);
}

mill_err cmd_info(struct call *call)
{
	const char *path = call->options.operand[0];
	struct mill_info info;
	mill_store *store;
	mill_err err;

	err = mill_store_open(&store, path);
	if (err) {
		report_store(&call->report, path, NULL);
		return err;
	}
	mill_store_info(store, &info);
	report_store(&call->report, path, &info);
	print_text(call, &info);
	mill_store_close(store);
	return MILL_OK;
}
