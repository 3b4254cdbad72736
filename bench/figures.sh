#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# figures.sh MILLRACE KEEP [PEERS]: makes the plot and the measured rows of README.md again:
# docs/figures/budget.svg by budget.sh, and the rows "bfs with parents", "PageRank, load + 5
# iterations" and "components" of kron SCALE (22) in seconds, from peers.sh and, for GridGraph,
# from stream.sh. The column of a peer that is not below PEERS is not changed; the last line
# names such peers. The machine should be idle; takes about ten minutes.
set -eu
here=$(dirname "$(realpath "$0")")
millrace=$(realpath "$1")
mkdir -p "$2"
keep=$(realpath "$2")
peers=${3:+$(realpath "$3")}
scale=${SCALE:-22} rounds=${ROUNDS:-3}

SCALE=$scale ROUNDS=$rounds \
	"$here/budget.sh" "$millrace" "$here/../docs/figures/budget.svg" "$peers" "$keep" |
	tee "$keep/budget.md"
GRAPHS=kron$scale ALGORITHMS="bfs pagerank-load cc" IGRAPH_MOST=4G ROUNDS=$rounds \
	"$here/peers.sh" "$millrace" "$peers" "$keep" |
	tee "$keep/peers.md"
PARTS=grid LARGE=$scale "$here/stream.sh" "$millrace" "$peers" "$keep" | tee "$keep/grid.txt"

python3 - "$here/../README.md" "$keep/peers.md" "$keep/grid.txt" <<'PY'
import re
import sys

readme, peers, grid = sys.argv[1:4]
ROWS = {
    "bfs": "bfs with parents",
    "pagerank-load": "PageRank, load + 5 iterations",
    "cc": "components",
}
time = {}
for line in open(peers):
    cell = [c.strip() for c in line.split("|")]
    if len(cell) > 6 and cell[1] in ROWS:
        found = dict(re.findall(r"([A-Za-z-]+) ([0-9.]+)", cell[6]))
        found["Millrace"] = cell[3]
        if "GAPBS-spmv" in found:
            found["GAPBS"] = min(found["GAPBS"], found.pop("GAPBS-spmv"), key=float)
        time[ROWS[cell[1]]] = {name: float(ms) / 1e3 for name, ms in found.items()}
# GridGraph streams with 1 GB. stream.sh prints its seconds, for pagerank of one iteration.
GRID = (
    ("bfs", "bfs with parents", 1),
    ("components", "components", 1),
    ("pagerank", "PageRank, load + 5 iterations", 5),
)
for line in open(grid):
    for word, row, times in GRID:
        if line.startswith(word):
            seconds = float(re.split(r"  +", line.strip())[2])
            time.setdefault(row, {})["GridGraph"] = times * seconds
lines = open(readme).read().split("\n")
columns, missed = None, set()
for i, line in enumerate(lines):
    cell = [c.strip() for c in line.split("|")]
    if "GridGraph" in cell:
        columns = cell
    if len(cell) > 2 and cell[1].removesuffix(", s") in time and columns:
        row = time[cell[1].removesuffix(", s")]
        for k, name in enumerate(columns):
            if name in row:
                cell[k] = f"{row[name]:.2g}"
            elif name in ("GAPBS", "igraph", "GridGraph"):
                missed.add(name)
        lines[i] = "| " + " | ".join(cell[1:-1]) + " |"
open(readme, "w").write("\n".join(lines))
print("README.md and docs/figures/budget.svg are new.")
if missed:
    print("Not measured, not changed:", ", ".join(sorted(missed)))
PY
