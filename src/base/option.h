/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options are rows (struct mill_option): name, kind, offset of the field that the option sets,
 * help, default. Algorithms and policies have tables of such rows. The command line parses,
 * explains, completes and reports options by these rows; the functions here check the fields that
 * a C program filled in. Each algorithm's traits (enum mill_trait) say which general options it
 * uses.
 *
 * 0 is the default of every field, so a zeroed struct means all defaults. Where the user may
 * give 0, another value stands for it: MILL_SIZE_NONE for a size, -1 for a real number such as a
 * tolerance. If two options set the same field, only one of them can be given.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <millrace.h>

/* Returns the size of the field that the option sets. */
size_t option_bytes(const struct mill_option *option);
/* Returns true if the field does not hold the default. */
bool option_is_set(const struct mill_option *option, const void *field);
/* Fails with MILL_EUSAGE if the field holds a value that the option does not allow. */
mill_err option_check(const struct mill_option *option, const void *field);
/* Checks all fields of a struct of settings. row NULL: there are no options. */
mill_err options_check(const struct mill_option *row, const void *settings);

#endif
