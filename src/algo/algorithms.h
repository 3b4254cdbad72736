/* SPDX-License-Identifier: Apache-2.0 */
/* The algorithms, in the order in which users see them. A new algorithm adds one line. */
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
