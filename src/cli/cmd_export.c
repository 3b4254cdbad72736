/* SPDX-License-Identifier: Apache-2.0 */
/* The command export: writes a store as a graph file. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

mill_err cmd_export(struct call *call)
{
	const char *path = call->options.operand[0], *to = call->options.output;
	struct mill_watcher watcher = progress_watcher(&call->progress);
	struct mill_info info;
	mill_store *store = NULL;
	char time[SHOWN_SIZE];
	double seconds;
	mill_err err;

	if (to)
		err = output_possible("-o", to);
	else
		err = refuse(MILL_EUSAGE,
			     "export: no output is given: use -o FILE (- is stdout)");
	if (!err)
		err = mill_store_open(&store, path);
	if (!err) {
		mill_store_info(store, &info);
		err = mill_store_export(store, to, call->options.format, &watcher);
	}
	seconds = now() - call->began;
	progress_end(&call->progress);
	report_store(&call->report, path, store ? &info : NULL);
	options_report(&call->options, &call->report);
	json_f64(&call->report, "seconds", seconds);
	if (!err)
		say(call, "%s: %" PRIu64 " edges to %s in %s\n", path, info.edges, to,
		    show_seconds(time, seconds));
	mill_store_close(store);
	return err;
}
