# SPDX-License-Identifier: Apache-2.0
"""gotrace @FILE:LINE: each pass of a line once, or the line is refused."""

import collections
import os
import re
import tempfile

from harness import TESTS, Target, Tool, expect, fixture, run, test, tool_path, toolchain

SOURCE = os.path.join(TESTS, "fixtures", "lines.go")

# whatever the compiler does: at least these have a place
CERTAIN = {"call", "inLoop", "afterLoop", "bail", "case0", "closure", "send", "field", "put",
           "go", "deferInLoop"}


def marked():
    """{name: line number} of the lines that the program counts"""
    with open(SOURCE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    found = ((n, re.search(r"// @(\w+)$", text)) for n, text in enumerate(lines, 1))
    return {mark[1]: n for n, mark in found if mark}


def may_trace(version, flavour, line):
    ended = run([tool_path("gofuncs"), f"{fixture('lines', version, flavour)}:@lines.go:{line}"])
    return ended.returncode == 0


@test(version=["1.15", "1.19", "1.23", "1.27"], flavour=["plain", "strip"])
def trace_lines(version, flavour):
    lines = marked()
    accepted = {n: line for n, line in lines.items() if may_trace(version, flavour, line)}
    expect(CERTAIN <= accepted.keys(), f"refused: {sorted(CERTAIN - accepted.keys())}")
    with Target("lines", version, flavour) as target:
        with Tool("gotrace", "-j", "-p", target.target_pid,
                  *(f"@lines.go:{line}" for line in accepted.values())) as tracer:
            tracer.tracing()
            target.go()
            truth = {track["func"]: track["calls"] for track in target.truth()}
            events = tracer.records()
    got = collections.Counter(event["line"] for event in events)
    wrong = {name: (got[line], truth.get(name, 0)) for name, line in accepted.items()
             if got[line] != truth.get(name, 0)}
    expect(not wrong, f"(seen, true): {wrong}")
    expect(all(e["type"] == "line" and e["file"].endswith("/lines.go") for e in events),
           f"an event is no line's: {events[:1]}")


@test()
def trace_lines_refused():
    """A loop's own line has several meanings; lines near by that have a place are named."""
    line = marked()["for"]
    binary = fixture("lines", "1.23")
    ended = run([tool_path("gotrace"), f"{binary}:@lines.go:{line}"])
    expect(ended.returncode == 1, f"ended with {ended.returncode}")
    expect(f'line {line} of "lines.go" in main.loops cannot be counted: ' in ended.stderr,
           ended.stderr)
    expect(re.search(r"hint: lines? near by that can be probed: \d+", ended.stderr), ended.stderr)
    ended = run([tool_path("gotrace"), f"{binary}@lines.go:1"])
    expect(ended.returncode == 1 and "there is no code at line 1 of" in ended.stderr, ended.stderr)
    ended = run([tool_path("gotrace"), f"{binary}:@nowhere.go:1"])
    expect('no code is of a file "nowhere.go"' in ended.stderr, ended.stderr)
    ended = run([tool_path("gotrace"), f"r:{binary}:@lines.go:{line}"])
    expect("a line has no return" in ended.stderr, ended.stderr)


@test()
def trace_lines_too_many():
    """A line with more inlined copies than are looked at is refused: the rest would be uncounted."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        with open(f"{folder}/many.go", "w", encoding="utf-8") as file:
            file.write("package main\n\nvar n int\n\nfunc hit() {\n\tn++\n}\n\n")
            for i in range(0, 5000, 50): # small functions compile faster
                file.write(f"//go:noinline\nfunc f{i}() {{\n" + "\thit()\n" * 50 + "}\n\n")
            file.write("func main() {\n" + "".join(f"\tf{i}()\n" for i in range(0, 5000, 50)) + "}\n")
        goroot = toolchain("1.23")
        env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GO111MODULE="off", GOFLAGS="", CGO_ENABLED="0",
                   GOCACHE=os.path.join(os.path.dirname(goroot), "gocache"))
        built = run([f"{goroot}/bin/go", "build", "-o", f"{folder}/many", f"{folder}/many.go"], timeout=400, env=env)
        expect(built.returncode == 0, built.stderr)
        ended = run([tool_path("gotrace"), f"{folder}/many:@many.go:6"])
        expect(ended.returncode == 1 and 'line 6 of "many.go" cannot be counted: it has too many places' in ended.stderr,
               ended.stderr)
