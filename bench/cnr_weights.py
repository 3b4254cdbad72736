#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gives every edge of an edge list (u v per line, on stdin) a weight that depends on the edge
alone: 1 + splitmix64(u << 32 | v) mod 64. Used by bench/largegraph.sh."""
import sys

MASK = (1 << 64) - 1


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


for line in sys.stdin:
    if line.startswith("#"):
        continue
    u, v = map(int, line.split()[:2])
    print(u, v, 1 + splitmix64(u << 32 | v) % 64)
