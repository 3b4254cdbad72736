/* SPDX-License-Identifier: Apache-2.0 */
/* The common work of import and generate: the options of the target, the text and the report. */
#ifndef CLI_BUILD_H
#define CLI_BUILD_H

#include "cli/command.h"

/*
 * Fills the target from the options. Also converts sizes and fills in defaults in the options, for
 * the report.
 */
mill_err build_target(struct call *call, struct mill_target *out);
/*
 * Prints the text and fills in the report. built: NULL after a failure. from_input: also say what
 * was read (import).
 */
mill_err build_report(struct call *call, const struct mill_built *built, bool from_input);

#endif
