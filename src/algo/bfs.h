/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search as a part of other algorithms. */
#ifndef ALGO_BFS_H
#define ALGO_BFS_H

#include "op/op.h"

#include "algo/bfs.op.h"

/* The program, with struct bfs_args: level by level, depths that are UNREACHED at first. */
extern const struct advance_program *const bfs_levels;

#endif
