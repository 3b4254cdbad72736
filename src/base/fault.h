/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults on purpose, under all allocation, I/O and OpenCL, so that every n can be swept.
 *
 *	MILL_FAULT=alloc:n=K[,sticky]                         the K-th allocation fails (and all after it)
 *	MILL_FAULT=io:op=OP,n=K,err=ENOSPC|short=B[,sticky]   the K-th OP fails, or transfers B bytes
 *	MILL_FAULT=hold:n=K                                   import holds at most K edges in memory at a time, and
 *	                                                      runs stream whatever would fit
 *	MILL_FAULT=cl:op=OP,n=K[,err=-CODE][,sticky]          the K-th OpenCL call of this kind fails with the code
 *
 * OP: open read write sync rename mkdir unlink truncate ring direct, or any. err: EIO ENOSPC EFBIG EINTR
 * EAGAIN ENOMEM EACCES EPERM EINVAL. OP of cl: open (finding and opening a device, making queues) build alloc write read fill
 * launch wait (a command given to the device ends with an error, or waiting for it fails) finish, or any; CODE as in CL/cl.h, by default a
 * likely one. K counts from 1. Several faults are separated by ';'. The environment
 * is read once per process; without it the cost is one predictable branch. Tests that run many
 * cases in one process call fault_arm instead.
 */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include "base/types.h"

enum fault_op {
	FAULT_OPEN,
	FAULT_READ,
	FAULT_WRITE,
	FAULT_SYNC,
	FAULT_RENAME,
	FAULT_MKDIR,
	FAULT_UNLINK,
	FAULT_TRUNCATE,
	FAULT_RING,		/* setting up io_uring: what is refused is done with pread */
	FAULT_DIRECT		/* opening past the cache: refused with EINVAL it is read through it */
};

enum fault_cl_op {
	FAULT_CL_OPEN,
	FAULT_CL_BUILD,
	FAULT_CL_ALLOC,
	FAULT_CL_WRITE,
	FAULT_CL_READ,
	FAULT_CL_FILL,
	FAULT_CL_LAUNCH,
	FAULT_CL_WAIT,
	FAULT_CL_FINISH
};

/* True if this allocation must fail. */
bool fault_alloc(void);

/*
 * 0, or the errno with which this operation must fail. *size (may be NULL) is lowered when the
 * fault asks for a short transfer.
 */
int fault_io(enum fault_op op, size_t *size);

/* 0, or the negative code with which this OpenCL call must fail. */
int fault_cl(enum fault_cl_op op);

/* 0, or how many edges import may hold: what is larger takes the way of graphs that do not fit. */
u64 fault_hold(void);
/* The same for tests, whatever the environment says. */
void fault_set_hold(u64 n);

/*
 * Replaces all faults by those of the text (NULL: none) and counts from the start again. The
 * environment no longer matters then. Not while another thread may meet a fault.
 */
void fault_arm(const char *text);
/* True if the last fault in the text has struck since it was armed. */
bool fault_struck(void);

/* A MILL_FAULT that cannot be understood: its text, else NULL. Then no memory is given out. */
const char *fault_bad(void);

#endif
