/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts that devices compile, embedded in the binary. CMake lists them in texts.h: all
 * .cl and .op.h files. Paths are relative to src/ (-Isrc).
 */
#define TEXT(name, path)         \
	.global name;            \
	.hidden name;            \
	name: .incbin path; .byte 0

	.section .rodata
#include "device/texts.h"
	.section .note.GNU-stack, "", %progbits
