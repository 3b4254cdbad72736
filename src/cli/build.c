/* SPDX-License-Identifier: Apache-2.0 */
/* The common work of import and generate: the options of the target, the text and the report. */
#include "cli/build.h"

#include <inttypes.h>
#include <string.h>

#include "cli/message.h"
#include "cli/report.h"

/* Parses "P,Q": bytes of the page id and of the slot number. The library checks their sum. */
static mill_err take_record_id(const char *text, struct mill_target *out)
{
	if (text[0] < '0' || text[0] > '9' || text[1] != ',' || text[2] < '0' || text[2] > '9' ||
	    text[3])
		return refuse(MILL_EUSAGE,
			      "--record-id %s: must be P,Q: bytes of the page id and of the slot "
			      "number, together 4",
			      text);
	out->page_id_bytes = (uint32_t)(text[0] - '0');
	out->slot_bytes = (uint32_t)(text[2] - '0');
	return MILL_OK;
}

static mill_err take_addressing(struct options *o, struct mill_target *out)
{
	bool paged = o->addressing == MILL_ADDRESSING_PAGED;

	if (paged && !option_given(o, "codec"))
		o->codec = MILL_CODEC_RAW;	/* the only codec of paged stores */
	out->codec = (enum mill_codec)o->codec;
	out->addressing = (enum mill_addressing)o->addressing;
	return o->record_id ? take_record_id(o->record_id, out) : MILL_OK;
}

mill_err build_target(struct call *call, struct mill_target *out)
{
	struct options *o = &call->options;
	mill_err err;

	if (!o->output)
		return refuse(MILL_EUSAGE, "%s: no output is given: use -o STORE",
			      call->command.name);
	err = option_size(&o->memory, "memory", 0);
	if (err)
		return err;
	err = option_size(&o->page_size, "page-size", 0);
	if (err)
		return err;
	if (!o->page_size.text)
		o->page_size.bytes = 1 << 20;
	if (o->page_size.bytes > UINT32_MAX)
		return refuse(MILL_EUSAGE, "--page-size %s: at most 64M",
			      o->page_size.text);
	*out = (struct mill_target){
		.path = o->output,
		.force = o->force,
		.out_only = o->out_only,
		.page_size = (uint32_t)o->page_size.bytes,
		.memory = o->memory.bytes,
		.tmp = o->tmp,
		.stripes = o->stripe,
		.order = (enum mill_order)o->order,
		.threads = o->threads,
		.watcher = progress_watcher(&call->progress),
	};
	if (!o->threads)
		o->threads = processors();
	return take_addressing(o, out);
}

/* Prints how the input was understood, in one line: the user must see every guess. */
static void print_input(const struct call *call, const struct mill_built *b)
{
	if (strcmp(b->format, "edgelist"))
		say(call, "%s: ", b->format);
	say(call,
	    "read %" PRIu64 " edges: %" PRIu64 " self-loops, %" PRIu64
	    " duplicates, ",
	    b->edges_read, b->self_loops, b->duplicates);
	if (b->named)
		say(call, "ids are names");
	else
		say(call, "ids %" PRIu64 " to %" PRIu64, b->min_id, b->max_id);
	say(call, ", %s, ", b->symmetric ? "symmetric" : "not symmetric");
	if (b->weight)
		say(call, "weights %s", weight_word(b->weight));
	else
		say(call, "no weights");
	if (b->merged)
		say(call, ", %" PRIu64 " listed in both directions and merged", b->merged);
	if (b->note[0])
		say(call, ", %s", b->note);
	say(call, "; taken as %s\n", b->undirected ? "undirected" : "directed");
}

static void print_text(const struct call *call, const struct mill_built *b, bool from_input)
{
	char time[SHOWN_SIZE];

	if (from_input)
		print_input(call, b);
	say(call,
	    "%s: %" PRIu64 " vertices%s, %" PRIu64 " edges (%" PRIu64 " stored) in %s\n",
	    call->options.output, b->vertices, b->by_degree ? " by degree" : "", b->edges,
	    b->stored_edges, show_seconds(time, b->seconds));
}

static void report_built(struct json *j, const struct mill_built *b, bool from_input)
{
	static const char *const key[] = { "edges_read", "self_loops", "duplicates",
					   "merged",	 "min_id",     "max_id" };
	size_t i;

	json_object(j, "input");
	if (from_input && b) {
		const uint64_t value[] = { b->edges_read, b->self_loops, b->duplicates,
					   b->merged,	  b->min_id,	 b->max_id };

		for (i = 0; i < sizeof(key) / sizeof(key[0]); i++)
			if (b->named && i >= 4)	/* ids are names, which are in "store" */
				json_null(j, key[i]);
			else
				json_u64(j, key[i], value[i]);
		json_bool(j, "symmetric", b->symmetric);
		json_string(j, "weights", weight_word(b->weight));
		json_string(j, "format", b->format);
		json_string(j, "note", b->note[0] ? b->note : NULL);
	} else {
		for (i = 0; i < sizeof(key) / sizeof(key[0]); i++)
			json_null(j, key[i]);
		json_null(j, "symmetric");
		json_null(j, "weights");
		json_null(j, "format");
		json_null(j, "note");
	}
	json_object_end(j);
	json_string(j, "order", !b ? NULL : b->by_degree ? "degree" : "none");
}

mill_err build_report(struct call *call, const struct mill_built *built, bool from_input)
{
	const char *path = call->options.output;
	struct mill_info info;
	mill_store *store = NULL;
	mill_err err = MILL_OK;

	progress_end(&call->progress);
	if (built)
		print_text(call, built, from_input);
	if (!call->options.json.wanted)
		return MILL_OK;
	if (built) {
		err = mill_store_open(&store, path);
		if (!err)
			mill_store_info(store, &info);
	}
	report_store(&call->report, path, store ? &info : NULL);
	options_report(&call->options, &call->report);
	report_built(&call->report, built, from_input);
	if (built)
		json_f64(&call->report, "seconds", built->seconds);
	else
		json_null(&call->report, "seconds");
	json_object(&call->report, "memory");
	json_u64(&call->report, "peak_rss", peak_rss());
	json_object_end(&call->report);
	mill_store_close(store);
	return err;
}
