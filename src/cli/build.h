/* SPDX-License-Identifier: Apache-2.0 */
/* What import and generate share: the target's options and the account of what was built. */
#ifndef CLI_BUILD_H
#define CLI_BUILD_H

#include "cli/command.h"

/* Fills the target from the options; sizes are resolved, defaults filled in for the report. */
mill_err build_target(struct call *call, struct mill_target *out);
/* Text and report. built is NULL after a failure; what was read is told if `from_input`. */
mill_err build_account(struct call *call, const struct mill_built *built, bool from_input);

#endif
