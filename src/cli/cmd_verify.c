/* SPDX-License-Identifier: Apache-2.0 */
/* The command verify: checks every checksum and every invariant of a store. */
#include <inttypes.h>

#include "cli/command.h"
#include "cli/message.h"
#include "cli/report.h"

mill_err cmd_verify(struct call *call)
{
	const char *path = call->options.operand[0];
	struct mill_watcher watcher = progress_watcher(&call->progress);
	char size[SHOWN_SIZE], time[SHOWN_SIZE];
	struct mill_info info;
	mill_store *store;
	double seconds;
	mill_err err;

	err = mill_store_open(&store, path);
	if (err) {
		report_store(&call->report, path, NULL);
		json_bool(&call->report, "verified", false);
		json_null(&call->report, "seconds");
		return err;
	}
	mill_store_info(store, &info);
	report_store(&call->report, path, &info);
	err = mill_store_verify(store, &watcher);
	seconds = now() - call->began;
	progress_end(&call->progress);
	json_bool(&call->report, "verified", !err);
	json_f64(&call->report, "seconds", seconds);
	if (!err)
		say(call, "%s is sound: %s, %" PRIu64 " pages in %s\n", path,
		    show_size(size, info.bytes), info.pages, show_seconds(time, seconds));
	mill_store_close(store);
	return err;
}
