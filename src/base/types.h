/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short names for integer types, and the two widths that limit a graph.
 *
 * A vid is the number of a vertex, an eid the number of an edge. The test build narrows both
 * (MILL_VID_BITS 8, MILL_EID_BITS 16), so that tests can reach every limit: the result must be
 * MILL_ELIMIT, never a wrapped number.
 */
#ifndef BASE_TYPES_H
#define BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t i32;
typedef int64_t i64;
typedef float f32;
typedef double f64;

#ifndef MILL_VID_BITS
#define MILL_VID_BITS 32
#endif
#ifndef MILL_EID_BITS
#define MILL_EID_BITS 64
#endif

#if MILL_VID_BITS == 32
typedef u32 vid;
#elif MILL_VID_BITS == 16
typedef u16 vid;
#elif MILL_VID_BITS == 8
typedef u8 vid;
#else
#error "MILL_VID_BITS is 8, 16 or 32"
#endif

#if MILL_EID_BITS == 64
typedef u64 eid;
#elif MILL_EID_BITS == 16
typedef u16 eid;
#else
#error "MILL_EID_BITS is 16 or 64"
#endif

/* Not a vertex. All vertex numbers are less, so the number of vertices is at most NO_VERTEX. */
#define NO_VERTEX ((vid)~(vid)0)
#define MAX_VERTICES ((u64)NO_VERTEX)
#define MAX_EDGES ((u64)(eid)~(eid)0)

#define KIB ((u64)1 << 10)
#define MIB ((u64)1 << 20)
#define GIB ((u64)1 << 30)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }
static inline u64 max_u64(u64 a, u64 b) { return a > b ? a : b; }
static inline u64 div_up(u64 a, u64 b) { return a / b + (a % b != 0); }
/* to: a power of two. */
static inline u64 round_up(u64 a, u64 to) { return (a + to - 1) & ~(to - 1); }

#endif
