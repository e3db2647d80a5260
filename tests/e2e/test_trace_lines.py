# SPDX-License-Identifier: Apache-2.0
"""gotrace @FILE:LINE: each pass of a line once, or the line is refused."""

import collections
import os
import re

from harness import TESTS, Target, Tool, expect, fixture, run, test, tool_path

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
