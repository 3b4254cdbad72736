/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of options (struct mill_option): what the fields that they describe hold. */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <millrace.h>

size_t option_bytes(const struct mill_option *option);
/* Is the field other than its default? */
bool option_is_set(const struct mill_option *option, const void *field);
/* Error if the field holds what the option cannot be. */
mill_err option_check(const struct mill_option *option, const void *field);
/* The same for all fields of some settings; row NULL: there are none. */
mill_err options_check(const struct mill_option *row, const void *settings);

#endif
