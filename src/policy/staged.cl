/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands before device/dialect.h in kernels of path.cl that work on copies in local memory:
 * what the dialect calls global is local there. FAR is always global.
 */
#define STAGED 1
#ifdef __CUDACC__
#define FAR
#else
#define __global __local
#define FAR global
#endif
