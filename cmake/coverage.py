#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints which part of the lines of src/ tests have run.

    coverage.py BUILD               in total and by folder, for a build with --coverage (preset coverage)
    coverage.py BUILD --files       by file too
    coverage.py BUILD --lost OTHER  lines that were run in build OTHER, of the same sources, and not in BUILD

A line counts as run if any program that it is compiled into has run it.
"""
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def read_object(note):
    """Returns {source: {line: count}} of one object, from gcov."""
    data = note.with_suffix(".gcda")
    gcov = ["gcov", "--json-format", "--stdout", str(data if data.exists() else note)]
    text = subprocess.run(gcov, capture_output=True, text=True, check=True, cwd=note.parent).stdout
    found = collections.defaultdict(dict)
    for report in text.splitlines():
        if not report.startswith("{"):
            continue
        report = json.loads(report)
        for source in report["files"]:
            path = os.path.normpath(os.path.join(report["current_working_directory"], source["file"]))
            lines = found[path]
            for line in source["lines"]:
                number = line["line_number"]
                lines[number] = max(lines.get(number, 0), line["count"])
    return found


def read_build(build):
    """Returns {source below src/: {line: count}} of all objects of a build, merged."""
    build = pathlib.Path(build).resolve()
    src = str(build.parent.parent / "src") + os.sep
    merged = collections.defaultdict(dict)
    notes = [n for n in build.rglob("*.gcno") if "guide" not in n.parts]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(read_object, notes):
            for path, lines in found.items():
                if not path.startswith(src):
                    continue
                to = merged[path[len(src):]]
                for number, count in lines.items():
                    to[number] = max(to.get(number, 0), count)
    return merged


def print_rows(coverage, key):
    lines, run = collections.Counter(), collections.Counter()
    for path, counts in coverage.items():
        lines[key(path)] += len(counts)
        run[key(path)] += sum(count > 0 for count in counts.values())
    for name in sorted(lines):
        print(f"{name:32} {run[name]:6} of {lines[name]:6} lines  {100 * run[name] / lines[name]:6.2f} %")


def print_lost(coverage, before):
    for path in sorted(before):
        now = coverage.get(path, {})
        for number, count in sorted(before[path].items()):
            if count and not now.get(number):
                print(f"src/{path}:{number}")


def main(arguments):
    if not arguments:
        sys.exit(__doc__)
    coverage = read_build(arguments[0])
    if not coverage:
        sys.exit(f"{arguments[0]} has no coverage data: is it a build of the preset coverage?")
    if arguments[1:2] == ["--lost"]:
        print_lost(coverage, read_build(arguments[2]))
        return
    if arguments[1:2] == ["--files"]:
        print_rows(coverage, lambda path: path)
    print_rows(coverage, lambda path: path.split("/")[0])
    print_rows(coverage, lambda path: "total")


main(sys.argv[1:])
