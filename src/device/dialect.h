/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C in which programs (`*.op.h`) are written. The host compiler, the OpenCL compiler
 * and nvcc all accept it, so a backend for CUDA needs no other kernels. This file gives
 * type names and one spelling for address spaces, inlining, atomics and bits.
 *
 * Memory that several workers touch is reached only through dev_load, dev_store, dev_cas,
 * dev_min and the like, so that TSan and oclgrind see true accesses. The dev_ functions
 * that change a place take `shared` first. false says that this worker alone owns the place
 * now (a pull owns its row); then the operation is not atomic. `shared` is a constant after
 * inlining, so one function serves both cases. raw_* are always atomic and return the value
 * that the place held before (raw_or_u32 and raw_and_u32: only in kernels; raw_add_f64
 * returns nothing). local_* are the same for local memory.
 *
 * A state also has `ordered`, a constant too: true where values are made step by step and
 * the first value of a vertex is final, false where values may fall again.
 *
 * In kernels GLOBAL and LOCAL are the address spaces of pointers. SHARED declares a
 * variable of the work-group. BARRIER() waits for the work-items of the group;
 * BARRIER_GLOBAL() also makes their writes to global memory visible. GROUP, CHUNKED and
 * LANES are numbers that the host defines: group, chunked and count_lanes in device.h;
 * op/page.cl says how they shape kernels.
 */
#ifndef DEVICE_DIALECT_H
#define DEVICE_DIALECT_H

#define OF_(a, b) a##_##b
#define OF(a, b) OF_(a, b)	/* OF(bfs, edge) is bfs_edge, with macros in a and b expanded */

/*
 * The state of a program: its fields, by value (measured: 3 to 4 times faster than by
 * pointer).
 */
#define STATE_ARRAY(type, name) GLOBAL type *name;
#define STATE_SCALAR(type, name) type name;

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef uchar u8;
typedef uint u32;
typedef ulong u64;
typedef int i32;
typedef long i64;
typedef float f32;
typedef double f64;
typedef u32 vid;

#define GLOBAL __global
#define LOCAL __local
#define SHARED __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define BARRIER_GLOBAL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define DEVICE static inline
#define STATE(program, fields) \
	struct program { fields(STATE_ARRAY, STATE_SCALAR) bool shared, ordered; }
#define NO_VERTEX 0xffffffffu

/* For a race checker the intended races become atomics; then it must report no race. */
#ifdef RACE_CHECK
#define dev_load_u32(p) atomic_add((volatile GLOBAL u32 *)(p), 0u)
#define dev_load_u64(p) atom_add((volatile GLOBAL u64 *)(p), 0ul)
#define dev_load_f32(p) as_float(dev_load_u32(p))
#define dev_load_f64(p) as_double(dev_load_u64(p))
#define dev_store_u32(p, x) ((void)atomic_xchg((volatile GLOBAL u32 *)(p), x))
#define dev_store_u64(p, x) ((void)atom_xchg((volatile GLOBAL u64 *)(p), x))
#define dev_store_f32(p, x) dev_store_u32(p, as_uint((f32)(x)))
#define dev_store_f64(p, x) dev_store_u64(p, as_ulong((f64)(x)))
#else
#define dev_load_u32(p) (*(const volatile GLOBAL u32 *)(p))
#define dev_load_u64(p) (*(const volatile GLOBAL u64 *)(p))
#define dev_load_f32(p) (*(const volatile GLOBAL f32 *)(p))
#define dev_load_f64(p) (*(const volatile GLOBAL f64 *)(p))
#define dev_store_u32(p, x) ((void)(*(volatile GLOBAL u32 *)(p) = (x)))
#define dev_store_u64(p, x) ((void)(*(volatile GLOBAL u64 *)(p) = (x)))
#define dev_store_f32(p, x) ((void)(*(volatile GLOBAL f32 *)(p) = (x)))
#define dev_store_f64(p, x) ((void)(*(volatile GLOBAL f64 *)(p) = (x)))
#endif

#define raw_cas_u32(p, old, next) atomic_cmpxchg((volatile GLOBAL u32 *)(p), old, next)
#define raw_add_u32(p, x) atomic_add((volatile GLOBAL u32 *)(p), x)
#define raw_add_u64(p, x) atom_add((volatile GLOBAL u64 *)(p), x)
#define raw_min_u32(p, x) atomic_min((volatile GLOBAL u32 *)(p), x)
#define raw_min_u64(p, x) atom_min((volatile GLOBAL u64 *)(p), x)
#define raw_or_u32(p, x) atomic_or((volatile GLOBAL u32 *)(p), x)
#define raw_and_u32(p, x) atomic_and((volatile GLOBAL u32 *)(p), x)
#define local_add_u32(p, x) atomic_add((volatile LOCAL u32 *)(p), x)
#define local_or_u32(p, x) atomic_or((volatile LOCAL u32 *)(p), x)

DEVICE void raw_add_f64(GLOBAL f64 *p, f64 x)
{
	u64 old = dev_load_u64(p), held;

	while ((held = atom_cmpxchg((volatile GLOBAL u64 *)p, old, as_ulong(as_double(old) + x))) !=
	       old)
		old = held;
}

DEVICE u64 bits_f64(f64 x) { return as_ulong(x); }
DEVICE f64 f64_of_bits(u64 x) { return as_double(x); }
DEVICE u64 mul_high_u64(u64 a, u64 b) { return mul_hi(a, b); }
DEVICE f64 dev_abs(f64 x) { return fabs(x); }

/*
 * On a CPU this is the processor's prefetch. OpenCL's own prefetch function does nothing
 * there.
 */
#if CHUNKED && !defined(RACE_CHECK) && defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#define dev_prefetch(p) __builtin_prefetch((const void *)(u64)(p))
#endif
#endif
#ifndef dev_prefetch
#define dev_prefetch(p) ((void)(p))
#endif

#elif defined(__CUDACC__)

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long u64;
typedef int i32;
typedef long i64;
typedef float f32;
typedef double f64;
typedef u32 vid;

#define GLOBAL
#define LOCAL
#define SHARED __shared__
#define BARRIER() __syncthreads()
#define BARRIER_GLOBAL() __syncthreads()
#define inline __device__ __inline__	/* the helpers of kernels */
#define DEVICE static inline
#define __kernel extern "C" __global__
#define STATE(program, fields) \
	struct program { fields(STATE_ARRAY, STATE_SCALAR) bool shared, ordered; }
#define NO_VERTEX 0xffffffffu

/* OpenCL's own names, as far as kernels use them. */
#define get_local_id(d) ((u64)threadIdx.x)
#define get_local_size(d) ((u64)blockDim.x)
#define get_group_id(d) ((u64)blockIdx.x)
#define get_num_groups(d) ((u64)gridDim.x)
#define get_global_id(d) ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define get_global_size(d) ((u64)gridDim.x * blockDim.x)
#define clz(x) ((u32)__clz((int)(x)))
#define popcount(x) ((u32)__popc(x))
#define atomic_add(p, x) atomicAdd((u32 *)(p), (u32)(x))
#define atomic_inc(p) atomicAdd((u32 *)(p), 1u)
#define atomic_sub(p, x) atomicSub((u32 *)(p), (u32)(x))
#define atomic_min(p, x) atomicMin((u32 *)(p), (u32)(x))
#define atomic_max(p, x) atomicMax((u32 *)(p), (u32)(x))
#define atomic_or(p, x) atomicOr((u32 *)(p), (u32)(x))
#define atomic_and(p, x) atomicAnd((u32 *)(p), (u32)(x))
#define atomic_xchg(p, x) atomicExch((u32 *)(p), (u32)(x))
#define atomic_cmpxchg(p, old, next) atomicCAS((u32 *)(p), (u32)(old), (u32)(next))
#define atom_add(p, x) ((u64)atomicAdd((unsigned long long *)(p), (unsigned long long)(x)))
#define atom_min(p, x) ((u64)atomicMin((unsigned long long *)(p), (unsigned long long)(x)))
#define atom_or(p, x) ((u64)atomicOr((unsigned long long *)(p), (unsigned long long)(x)))
#define atom_max(p, x) ((u64)atomicMax((unsigned long long *)(p), (unsigned long long)(x)))
#define atom_xchg(p, x) ((u64)atomicExch((unsigned long long *)(p), (unsigned long long)(x)))
#define atom_cmpxchg(p, old, next) \
	((u64)atomicCAS((unsigned long long *)(p), (unsigned long long)(old), \
			(unsigned long long)(next)))

#define dev_load_u32(p) (*(const volatile u32 *)(p))
#define dev_load_u64(p) (*(const volatile u64 *)(p))
#define dev_load_f32(p) (*(const volatile f32 *)(p))
#define dev_load_f64(p) (*(const volatile f64 *)(p))
#define dev_store_u32(p, x) ((void)(*(volatile u32 *)(p) = (x)))
#define dev_store_u64(p, x) ((void)(*(volatile u64 *)(p) = (x)))
#define dev_store_f32(p, x) ((void)(*(volatile f32 *)(p) = (x)))
#define dev_store_f64(p, x) ((void)(*(volatile f64 *)(p) = (x)))

#define raw_cas_u32(p, old, next) atomic_cmpxchg(p, old, next)
#define raw_add_u32(p, x) atomic_add(p, x)
#define raw_add_u64(p, x) atom_add(p, x)
#define raw_min_u32(p, x) atomic_min(p, x)
#define raw_min_u64(p, x) atom_min(p, x)
#define raw_or_u32(p, x) atomic_or(p, x)
#define raw_and_u32(p, x) atomic_and(p, x)
#define local_add_u32(p, x) atomic_add(p, x)
#define local_or_u32(p, x) atomic_or(p, x)
#define raw_add_f64(p, x) ((void)atomicAdd((double *)(p), (double)(x)))

DEVICE u64 bits_f64(f64 x) { return (u64)__double_as_longlong(x); }
DEVICE f64 f64_of_bits(u64 x) { return __longlong_as_double((long long)x); }
DEVICE u64 mul_high_u64(u64 a, u64 b) { return (u64)__umul64hi(a, b); }
DEVICE f64 dev_abs(f64 x) { return fabs(x); }
#define dev_prefetch(p) ((void)(p))

#else

#include "base/types.h"

#define GLOBAL
#define LOCAL
/*
 * The host also has the arguments from which a state is made: vectors, on the host or a
 * device.
 */
#define STATE(program, fields) \
	struct OF(program, args) { fields(ARGS_ARRAY, ARGS_SCALAR) }; \
	struct program { fields(STATE_ARRAY, STATE_SCALAR) bool shared, ordered; }
#define ARGS_ARRAY(type, name) struct vec *name;
#define ARGS_SCALAR(type, name) type name;
#define DEVICE static inline __attribute__((always_inline, unused))

#define dev_load_u32(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define dev_load_u64(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define dev_store_u32(p, x) __atomic_store_n(p, x, __ATOMIC_RELAXED)
#define dev_store_u64(p, x) __atomic_store_n(p, x, __ATOMIC_RELAXED)

DEVICE f32 dev_load_f32(const f32 *p)
{
	f32 x;

	__atomic_load(p, &x, __ATOMIC_RELAXED);
	return x;
}

DEVICE f64 dev_load_f64(const f64 *p)
{
	f64 x;

	__atomic_load(p, &x, __ATOMIC_RELAXED);
	return x;
}

DEVICE void dev_store_f32(f32 *p, f32 x) { __atomic_store(p, &x, __ATOMIC_RELAXED); }
DEVICE void dev_store_f64(f64 *p, f64 x) { __atomic_store(p, &x, __ATOMIC_RELAXED); }

DEVICE u32 raw_cas_u32(u32 *p, u32 old, u32 next)
{
	__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return old;
}

DEVICE u32 raw_min_u32(u32 *p, u32 x)
{
	u32 old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (x < old && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_RELAXED,
						       __ATOMIC_RELAXED))
		;
	return old;
}

DEVICE u64 raw_min_u64(u64 *p, u64 x)
{
	u64 old = __atomic_load_n(p, __ATOMIC_RELAXED);

	while (x < old && !__atomic_compare_exchange_n(p, &old, x, true, __ATOMIC_RELAXED,
						       __ATOMIC_RELAXED))
		;
	return old;
}

DEVICE void raw_add_f64(f64 *p, f64 x)
{
	f64 old = dev_load_f64(p), next;

	do
		next = old + x;
	while (!__atomic_compare_exchange(p, &old, &next, true, __ATOMIC_RELAXED,
					  __ATOMIC_RELAXED));
}

#define raw_add_u32(p, x) __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
#define raw_add_u64(p, x) __atomic_fetch_add(p, x, __ATOMIC_RELAXED)
#define raw_or_u32(p, x) ((void)__atomic_fetch_or(p, x, __ATOMIC_RELAXED))
#define raw_and_u32(p, x) ((void)__atomic_fetch_and(p, x, __ATOMIC_RELAXED))

DEVICE u64 bits_f64(f64 x)
{
	union { f64 f; u64 u; } cast = { .f = x };
	return cast.u;
}

DEVICE f64 f64_of_bits(u64 x)
{
	union { u64 u; f64 f; } cast = { .u = x };
	return cast.f;
}

DEVICE u64 mul_high_u64(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }
DEVICE f64 dev_abs(f64 x) { return __builtin_fabs(x); }
#define dev_prefetch(p) __builtin_prefetch(p)

#endif

/* ---- Numbers that the host and the kernels share ---- */

/*
 * The counters of kernels, u64. There are COUNT_COPIES copies of them, a cache line
 * (COUNT_STRIDE u64) each, so that work-groups seldom wait for each other. In a reduction
 * the program itself counts in the first COUNT_MOST.
 */
#define COUNT_COPIES 64
#define COUNT_STRIDE 8
#define COUNT_MOST 3u
/* Index of the first u32 after the counters: from there on, one u32 for each page. */
#define PAGE_COUNTS (COUNT_COPIES * COUNT_STRIDE * 2)
#define COUNT_EDGES 0
#define COUNT_UPDATES 1
#define COUNT_EMITTED 2
#define COUNT_REST 3		/* ~ of the smallest key that stays in the bucket `far` */
#define COUNT_SLOTS 4		/* SIMD slots issued for edges */
#define COUNT_ATOMICS 5
#define COUNT_FILLED 6		/* bit b: a vertex went to bucket b */

/* Work of one work-item: rows of a segment, list entries of a frontier, words of a bitmap. */
#define ITEM_ROWS 32u
#define ITEM_ENTRIES 8u
#define ITEM_WORDS 8u
/* Rows of a tile: the rows of a bitmap from which one work-item selects. */
#define TILE_ROWS 256u
/* Edges that a work-group takes at a time for each of its work-items (mapping `output`). */
#define ITEM_EDGES 256u

/*
 * op_mode. MODE_FEW: the values of lists up to this length are compared with each other.
 * MODE_LONG_LEAST: the least value of MODE_LONG; longer lists are taken by work-groups.
 * MODE_SCRATCH: bytes of scratch for each edge of a segment.
 */
#define MODE_FEW 8u
#define MODE_LONG_LEAST 256u
#define MODE_SCRATCH 17u

/* Edges of a partition that a work-item of a CPU takes at a time; elsewhere it takes one. */
#define TILE_EDGES 32u

/* Flags of a page that has work: in its first row, in other rows. */
#define PAGE_HEAD 1u
#define PAGE_OTHERS 2u

/* Flags of a segment: the list of its first (last) row lies partly in other segments. */
#define PARTIAL_HEAD 1u
#define PARTIAL_TAIL 2u

/* The value of edge_key if it activates nothing. It is larger than any key. */
#define NO_KEY (~(u64)0)

DEVICE u32 dev_larger(u32 a, u32 b) { return a > b ? a : b; }

/*
 * Returns the bucket of a key among buckets [low, last] (engine/piles.h): the first that
 * ends above it, or the last one. Mostly that is `low`, which is tested first.
 */
DEVICE u32 dev_bucket(GLOBAL const u64 *border, u32 low, u32 last, u64 key)
{
	if (low == last || key < border[low])
		return low;
	for (low++; low < last;) {
		u32 middle = (low + last) / 2;

		if (key < border[middle])
			last = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Writes next if the place holds old. Returns what it held. */
DEVICE u32 dev_cas_u32(bool shared, GLOBAL u32 *p, u32 old, u32 next)
{
	u32 held;

	if (shared)
		return raw_cas_u32(p, old, next);
	held = *p;
	if (held == old)
		*p = next;
	return held;
}

/*
 * Lowers the place to x. Returns true if that changed it. Reads first, because an atomic
 * minimum is costly and mostly changes nothing.
 */
DEVICE bool dev_min_u32(bool shared, GLOBAL u32 *p, u32 x)
{
	if (dev_load_u32(p) <= x)
		return false;
	if (shared)
		return raw_min_u32(p, x) > x;
	*p = x;
	return true;
}

DEVICE bool dev_min_u64(bool shared, GLOBAL u64 *p, u64 x)
{
	if (dev_load_u64(p) <= x)
		return false;
	if (shared)
		return raw_min_u64(p, x) > x;
	*p = x;
	return true;
}

DEVICE void dev_add_u32(bool shared, GLOBAL u32 *p, u32 x)
{
	if (shared)
		raw_add_u32(p, x);
	else
		*p += x;
}

DEVICE void dev_add_u64(bool shared, GLOBAL u64 *p, u64 x)
{
	if (shared)
		raw_add_u64(p, x);
	else
		*p += x;
}

/* Adds x. Additions come in any order, and the last bits of the sum depend on it. */
DEVICE void dev_add_f64(bool shared, GLOBAL f64 *p, f64 x)
{
	if (shared)
		raw_add_f64(p, x);
	else
		*p += x;
}

/* Sets the flags. Reads first, as dev_min does. */
DEVICE void dev_or_u32(bool shared, GLOBAL u32 *p, u32 flags)
{
	if ((dev_load_u32(p) & flags) == flags)
		return;
	if (shared)
		raw_or_u32(p, flags);
	else
		*p |= flags;
}

/* Subtracts 1 if the place is above `floor`. Returns what it held before. */
DEVICE u32 dev_lower_u32(bool shared, GLOBAL u32 *p, u32 floor)
{
	u32 held = dev_load_u32(p);

	if (!shared) {
		if (held > floor)
			*p = held - 1;
		return held;
	}
	while (held > floor) {
		u32 was = raw_cas_u32(p, held, held - 1);

		if (was == held)
			break;
		held = was;
	}
	return held;
}

/*
 * The minimum of non-negative floating-point values is that of their bits, which have the
 * same order. A place of this kind is declared as `key_f64`, so that host and device use
 * the same atomics.
 */
typedef u32 key_u32;
typedef u64 key_u64;
typedef u64 key_f64;
#define dev_min_f64(shared, p, x) dev_min_u64(shared, p, bits_f64(x))
#define value_of_u32(key) (key)
#define value_of_u64(key) (key)
#define value_of_f64(key) f64_of_bits(key)
#define dev_load_key_u32(p) dev_load_u32(p)
#define dev_load_key_u64(p) dev_load_u64(p)
#define dev_load_key_f64(p) dev_load_u64(p)

/* True if x is the value of a vertex that was not reached. */
#define unreached_u32(x) ((x) == 0xffffffffu)
#define unreached_u64(x) ((x) == ~(u64)0)
#define unreached_f64(x) ((x) > 0x1.fffffffffffffp1023)

/* Sums of f32 are f64: a long list of small terms must not lose its last ones. */
typedef f64 sum_f32;
typedef f64 sum_f64;
typedef u64 sum_u64;

/*
 * scale_: x times a factor of at most 1. For u64, x is a fixed-point number and the factor
 * is in units of 2^-64.
 */
#define scale_f32(x, factor) ((x) * (factor))
#define scale_f64(x, factor) ((x) * (factor))
#define scale_u64(x, factor) mul_high_u64(x, factor)
#define factor_f32(x) (x)
#define factor_f64(x) (x)
#define factor_u64(x) fixed_factor(x)
DEVICE u64 fixed_factor(f64 x) { return x >= 1 ? ~(u64)0 : (u64)(x * 0x1p64); }
/* Fixed point: 2^62 is 1, so that the sum of two numbers below 2 does not wrap. */
#define FIXED_ONE ((u64)1 << 62)
/*
 * Returns a number below 2 in fixed point. Sums in fixed point have the same bits in any order.
 */
DEVICE u64 fixed_f64(f64 x)
{
	/*
	 * Converts twice 31 bits. Each half is rounded by adding a number so large that a
	 * f64 has no bits below 1 there. Processors can do that in vectors, unlike a
	 * conversion to u64.
	 */
	f64 y = x * 0x1p31, high = y + 0x1p52, low = (y - (high - 0x1p52)) * 0x1p31 + 0x1.8p52;

	return ((bits_f64(high) & 0xffffffffffffful) << 31) + bits_f64(low) - bits_f64(0x1.8p52);
}
#define fixed_f32(x) fixed_f64((f64)(x))
#define fixed_u64(x) (x)
#define real_f32(x) ((f64)(x))
#define real_f64(x) (x)
#define real_u64(x) ((f64)(x) / (f64)FIXED_ONE)
#define of_real_f32(x) (x)
#define of_real_f64(x) (x)
#define of_real_u64(x) ((u64)((x) * (f64)FIXED_ONE))

#endif
