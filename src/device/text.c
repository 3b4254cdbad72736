/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the embedded texts by path. CMake lists them in texts.h; text.S embeds them. */
#include <string.h>

#include "device/device.h"

#define TEXT(name, path) extern const char name[];
#include "device/texts.h"
#undef TEXT

#define TEXT(name, path) { path, name },
static const struct {
	const char *path, *text;
} texts[] = {
#include "device/texts.h"
};

const char *text_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!strcmp(texts[i].path, path))
			return texts[i].text;
	return NULL;
}
