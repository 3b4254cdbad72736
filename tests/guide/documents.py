#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""documents.py MILLRACE SOURCE [DOCUMENT...]: runs what the documents show.

Runs the fenced blocks of README.md and docs/*.md in SOURCE (or of the documents given), in order, each document in
a scratch folder of its own, with `millrace` on the PATH. The word behind the fence says what a block is:

  console     lines `$ command`, each followed by the output that it must print (stdout and stderr). The command may
              go on in lines that begin with `> ` after a backslash. It must exit with 0, or with N if it ends in
              `# exit N`. Numbers with a unit of time, size or rate match any number; runs of blanks match each
              other; a line `...` matches any number of lines.
  sh          is run by bash and must exit with 0.
  c           is compiled (-fsyntax-only) if it includes <millrace.h>.
  text and others of PASSIVE, or none: is not run.

Commands that need OpenCL are left out where there is no device. Before all that the runner tests itself.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PASSIVE = {"", "text", "json", "make", "cmake", "python", "opencl"}
SECONDS_MOST = 300
NEEDS_OPENCL = re.compile(r"\bopencl\b|\bmillrace lab\b")

NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?"
VARIES = [
    (re.compile(rf"{NUMBER} ?(?:[kMGT]|thousand|million|billion)? ?\w*/s\b"), "<rate>"),
    (re.compile(rf"{NUMBER} ?(?:ns|us|ms|s|min|h)\b"), "<time>"),
    (re.compile(rf"{NUMBER} ?(?:bytes|B|[KMGTPE]i?B)\b"), "<size>"),
    (re.compile(r"\s+"), " "),
]


class Failure(Exception):
    pass


def blocks(text):
    """Yields (line, language, lines) of each fenced block; line is that of the opening fence."""
    language = None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"^```(.*)$", line)
        if language is None and fence:
            start, language, content = number, fence[1].strip(), []
        elif language is not None and line.rstrip() == "```":
            yield start, language, content
            language = None
        elif language is not None:
            content.append(line)
    if language is not None:
        raise Failure(f"line {start}: the block has no end")


def commands(line, content):
    """Yields (line, command, expected lines) of a console block that begins at the line."""
    command, expected, goes_on = None, [], False
    for number, text in enumerate(content, line + 1):
        if goes_on:
            command += "\n" + re.sub(r"^> ?", "", text)
        elif text.startswith("$ "):
            if command is not None:
                yield start, command, expected
            start, command, expected = number, text[2:], []
        elif command is None:
            raise Failure(f"line {number}: output without a command")
        else:
            expected.append(text)
            continue
        goes_on = text.endswith("\\")
    if command is None:
        raise Failure(f"line {line}: no command in the block")
    yield start, command, expected


def normalised(lines):
    """Returns the lines without what varies, and without empty lines at the end."""
    result = []
    for line in lines:
        for pattern, name in VARIES:
            line = pattern.sub(name, line)
        result.append(line.rstrip())
    while result and not result[-1]:
        result.pop()
    return result


def matches(expected, got):
    """Compares lines; `...` in expected stands for any number of lines."""
    if not expected:
        return not got
    if expected[0] == "...":
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and expected[0] == got[0] and matches(expected[1:], got[1:])


class Runner:
    def __init__(self, millrace, source, folder):
        self.source, self.folder = source, folder
        self.n_commands = self.n_left_out = 0
        tools = Path(folder, ".bin")
        tools.mkdir()
        (tools / "millrace").symlink_to(millrace)
        self.environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}",
                                XDG_CACHE_HOME=f"{folder}/.cache", TERM="dumb")
        found = subprocess.run([millrace, "list", "devices"], capture_output=True, text=True, check=False)
        self.has_opencl = "opencl:0" in found.stdout

    def shell(self, line, command):
        """Runs a command and returns (exit code, output lines); None if it needs a device that is missing."""
        if NEEDS_OPENCL.search(command) and not self.has_opencl:
            self.n_left_out += 1
            return None
        self.n_commands += 1
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS_MOST, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"line {line}: no end: {command}") from None
        return done.returncode, done.stdout.splitlines()

    def run_console(self, line, content):
        for at, command, expected in commands(line, content):
            stated = re.search(r"# exit (\d+)$", command)
            code = int(stated[1]) if stated else 0
            answer = self.shell(at, command)
            if not answer:
                continue
            if answer[0] != code:
                raise Failure(f"line {at}: exit {answer[0]} instead of {code}: {command}\n" + "\n".join(answer[1]))
            want, got = normalised(expected), normalised(answer[1])
            if not matches(want, got):
                raise Failure(f"line {at}: {command}\nprints\n" + "\n".join(answer[1]) +
                              "\ninstead of\n" + "\n".join(expected))

    def run_sh(self, line, content):
        answer = self.shell(line, "set -e\n" + "\n".join(content))
        if answer and answer[0]:
            raise Failure(f"line {line}: exit {answer[0]}:\n" + "\n".join(answer[1]))

    def compile_c(self, line, content):
        if "#include <millrace.h>" not in content:
            return
        done = subprocess.run(["cc", "-std=gnu11", "-Wall", "-fsyntax-only", f"-I{self.source}/include", "-xc", "-"],
                              input="\n".join(content) + "\n", capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"line {line}: it does not compile:\n{done.stderr}")
        self.n_commands += 1

    def run(self, text):
        handlers = {"console": self.run_console, "sh": self.run_sh, "c": self.compile_c}
        for line, language, content in blocks(text):
            if language in handlers:
                handlers[language](line, content)
            elif language not in PASSIVE:
                raise Failure(f"line {line}: a block of '{language}': none of "
                              f"{', '.join(sorted(handlers.keys() | PASSIVE))}")


def run_text(millrace, source, text):
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(millrace, source, folder)
        runner.run(text)
        return runner


def self_test(millrace, source):
    """Fails unless good documents pass and faulty ones are found."""
    good = [
        "```console\n$ echo took 5 ms, 12.5 million edges/s, 3 MiB\ntook 1.25 s, 8 million edges/s, 900 KiB\n```",
        "```console\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n\n$ echo x > f\n$ cat f\nx\n```\n\n```sh\ngrep x f\n```",
        "```console\n$ echo one \\\n>   two\none two\n$ false # exit 1\n$ millrace --version\n...\n```",
        "```\n$ not run\n```\n```text\nneither\n```\n```c\nint not compiled\n```",
        "```c\n#include <millrace.h>\nmill_err err;\n```",
    ]
    bad = {
        "another output": "```console\n$ echo 5 edges\n6 edges\n```",
        "output is missing": "```console\n$ echo a; echo b\na\n```",
        "too much output": "```console\n$ true\na\n```",
        "lines behind ...": "```console\n$ echo a\n...\nb\n```",
        "a failing command": "```console\n$ false\n```",
        "success where failure is stated": "```console\n$ true # exit 7\n```",
        "a failing script": "```sh\nfalse\ntrue\n```",
        "an unknown language": "```consloe\n$ true\n```",
        "a block without an end": "```sh\ntrue\n",
        "output without a command": "```console\na\n```",
        "C that does not compile": "```c\n#include <millrace.h>\nmill_error err;\n```",
    }
    for text in good:
        run_text(millrace, source, text)
    for name, text in bad.items():
        try:
            run_text(millrace, source, text)
        except Failure:
            continue
        raise Failure(f"self-test: {name} is not found")


def main(millrace, source, *documents):
    millrace, source = Path(millrace).resolve(), Path(source).resolve()
    documents = [Path(d) for d in documents] or [source / "README.md", *sorted((source / "docs").glob("*.md"))]
    failures = 0
    try:
        self_test(millrace, source)
    except Failure as e:
        print(e)
        return 1
    for document in documents:
        try:
            runner = run_text(millrace, source, document.read_text())
            left_out = f", {runner.n_left_out} left out: no OpenCL" if runner.n_left_out else ""
            print(f"{document.name}: {runner.n_commands} commands{left_out}", flush=True)
        except Failure as e:
            print(f"{document.name}: {e}", flush=True)
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
