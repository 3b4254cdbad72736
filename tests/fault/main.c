/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's main function under another name, so that tests can call it. */
#include "fault/command.h"

#define main millrace_main
#include "cli/main.c"
