/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injected faults. All memory allocation, I/O and OpenCL calls pass through here, so that a
 * test can let the n-th one fail, for every n.
 *
 *	MILL_FAULT=alloc:n=K[,sticky]
 *		the K-th allocation fails
 *	MILL_FAULT=io:op=OP,n=K,err=ERR[,sticky]
 *		the K-th OP fails with ERR
 *	MILL_FAULT=io:op=OP,n=K,short=B[,sticky]
 *		the K-th OP transfers at most B bytes
 *	MILL_FAULT=hold:n=K
 *		import keeps at most K edges in memory at a time; runs stream every graph, even
 *		one that fits the budget
 *	MILL_FAULT=cl:op=OP,n=K[,err=-CODE][,sticky]
 *		the K-th OpenCL call of kind OP fails with CODE
 *
 * K counts from 1. "sticky": all later calls fail too. Several faults are separated by ';'.
 *
 * OP of io: open read write sync rename mkdir unlink truncate ring direct, or any.
 * ERR: EIO ENOSPC EFBIG EINTR EAGAIN ENOMEM EACCES EPERM EINVAL.
 * OP of cl: open (finds and opens a device, makes queues) build alloc write read fill launch
 * wait (a command on the device ends with an error, or the wait for it fails) finish, or any.
 * CODE: a number of CL/cl.h; by default one that is likely for the call.
 *
 * The environment is read once per process. Without MILL_FAULT the cost is one predictable
 * branch. Tests that run many cases in one process call fault_arm instead.
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
	FAULT_RING,		/* setting up io_uring; if it fails, pread is used instead */
	FAULT_DIRECT		/* opening with O_DIRECT; after EINVAL reads are buffered */
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

/* Returns true if this allocation must fail. */
bool fault_alloc(void);

/*
 * Returns 0, or the errno with which this operation must fail. Lowers *size (size may be NULL)
 * if the fault asks for a short transfer.
 */
int fault_io(enum fault_op op, size_t *size);

/* Returns 0, or the negative code with which this OpenCL call must fail. */
int fault_cl(enum fault_cl_op op);

/*
 * Returns 0, or the number of edges that import may keep in memory. A larger graph then takes
 * the path of graphs that do not fit memory.
 */
u64 fault_hold(void);
/* Sets that number; for tests. It overrides the environment. */
void fault_set_hold(u64 n);

/*
 * Replaces all faults by those of the text (NULL: none) and counts from the start again. The
 * environment is ignored from then on. No other thread may reach a fault during the call.
 */
void fault_arm(const char *text);
/* Returns true if the last fault in the text has struck since it was armed. */
bool fault_struck(void);

/*
 * Returns the text of a MILL_FAULT that cannot be parsed, else NULL. In the first case every
 * memory_new fails, so that the mistake is noticed.
 */
const char *fault_bad(void);

#endif
