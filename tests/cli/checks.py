# SPDX-License-Identifier: Apache-2.0
# python3 -m checks FOLDER: evaluates the checks that a transcript kept (lib.sh) and exits with the number of
# those that failed. FOLDER/checks has for each: kind, line, text, number of files, names; FOLDER/files the
# contents of these files, in order. Everything ends with a zero byte.
import json
import sys


def scores(text):
    return [line.split() for line in text.splitlines() if line[0] not in "#i"]


def check_near(text, contents):
    a, b = (scores(c) for c in contents)
    if not a or len(a) != len(b):
        return f"{len(a)} and {len(b)} rows"
    for (v, x), (w, y) in zip(a, b):
        if v != w or abs(float(x) - float(y)) > 1e-6 * abs(float(x)):
            return f"{v} has {x}, {w} has {y}"
    return None


def check_json(text, contents):
    names = dict(zip("rw", map(json.loads, contents)))
    return None if eval(text, names) else f"not so: {text}"


KINDS = {"json": check_json, "near": check_near}


def main(folder):
    words = iter(open(f"{folder}/checks").read().split("\0")[:-1])
    contents = iter(open(f"{folder}/files").read().split("\0"))
    failures = 0
    for kind in words:
        line, text, n = next(words), next(words), int(next(words))
        names = [next(words) for _ in range(n)]
        files = [next(contents) for _ in range(n)]
        try:
            why = KINDS[kind](text, files)
        except Exception as e:
            why = f"{type(e).__name__}: {e}: {text}"
        if why:
            print(f"line {line}: {' '.join(names)}: {why}")
            failures += 1
    return min(failures, 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
