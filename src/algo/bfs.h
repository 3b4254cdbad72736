/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first search for use in other algorithms. */
#ifndef ALGO_BFS_H
#define ALGO_BFS_H

#include "op/op.h"

#include "algo/bfs.op.h"

/* The program of one step, with struct bfs_args. Depths are UNREACHED at first. */
extern const struct advance_program *const bfs_levels;

#endif
