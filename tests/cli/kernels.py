# SPDX-License-Identifier: Apache-2.0
"""The record of kernel programs that passed their checks: tests/cli/kernels.txt.

  python3 -m kernels unknown RECORD FOLDER TOOL         prints the programs in FOLDER (NAME.cl, as MILL_KERNEL_DUMP
                                                        leaves them) that are not recorded for the tool
  python3 -m kernels rows RECORD PROGRAM... <ROWS       prints the rows (from stdin) that check the programs: by the
                                                        record three rows for each, and those it does not have; all
                                                        rows if it has none for a program
  python3 -m kernels record RECORD FOLDER TOOL [USES]   replaces what the record says of the tool; USES has for each
                                                        row a line with the row, a tab and the programs that it used

Lines of the record: `program NAME HASH TOOL...` and `row PROGRAM... : COMMAND`. A hash is that of the text without
comments, blank space and the numbers that depend on the device (GROUP, CHUNKED, LANES).
"""
import hashlib
import re
import sys
from pathlib import Path

COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
ROWS_EACH = 3
OF_DEVICE = re.compile(r"^#define (?:GROUP|CHUNKED|LANES) .*$", re.M)


def text_hash(path):
    text = OF_DEVICE.sub("", path.read_text())
    text = COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else " ", text)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:24]


def hashes(folder):
    return {path.stem: text_hash(path) for path in sorted(Path(folder).glob("*.cl"))}


def read(record):
    """Returns {(name, hash): tools} and {row: programs}; empty without a record."""
    programs, rows = {}, {}
    for line in Path(record).read_text().splitlines() if Path(record).exists() else []:
        word = line.split()
        if word and word[0] == "program":
            programs[word[1], word[2]] = set(word[3:])
        elif word and word[0] == "row":
            used, row = line[4:].split(" : ", 1)
            rows[row] = set(used.split())
    return programs, rows


def unknown(record, folder, tool):
    programs, _ = read(record)
    for name, value in hashes(folder).items():
        if tool not in programs.get((name, value), set()):
            print(name)


def select_rows(record, *wanted):
    _, recorded = read(record)
    all_rows = [line.rstrip("\n") for line in sys.stdin]
    uses = {row: recorded.get(row, set()) & set(wanted) for row in all_rows}
    chosen = {row for row in all_rows if row not in recorded}
    for program in wanted:
        rows = [row for row in all_rows if program in uses[row]]
        if not rows:
            chosen.update(all_rows)
        already = len(chosen.intersection(rows))
        # The first, the middle and the last: rows beside each other are alike.
        for i in (0, len(rows) - 1, len(rows) // 2)[:max(ROWS_EACH - already, 0)]:
            chosen.update(rows[i:i + 1])
    for row in all_rows:
        if row in chosen:
            print(row)


def write(record, folder, tool, uses=None):
    programs, rows = read(record)
    if uses:
        rows = {row: set(used.split()) for row, used in
                (line.rstrip("\n").split("\t") for line in open(uses))}
    lines = ["# Kernel programs that passed their checks (kernels.py). `make check-kernels` writes it."]
    for name, value in hashes(folder).items():
        tools = programs.get((name, value), set()) | {tool}
        lines.append(f"program {name} {value} {' '.join(sorted(tools))}")
    lines += [f"row {' '.join(sorted(used))} : {row}" for row, used in rows.items()]
    Path(record).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    {"unknown": unknown, "rows": select_rows, "record": write}[sys.argv[1]](*sys.argv[2:])
