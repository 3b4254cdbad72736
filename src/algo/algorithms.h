/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithms, in the order in which users see them. One more is a line more. */
ALGORITHM(bfs)
ALGORITHM(sssp)
ALGORITHM(pagerank)
ALGORITHM(cc)
ALGORITHM(bc)
ALGORITHM(kcore)
ALGORITHM(degrees)
ALGORITHM(scc)
ALGORITHM(triangles)
ALGORITHM(cdlp)
