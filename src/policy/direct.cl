/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before device/dialect.h in kernels of path.cl that work on the master. */
#define STAGED 0
#ifdef __CUDACC__
#define FAR
#else
#define FAR global
#endif
