# SPDX-License-Identifier: Apache-2.0
"""-- COMMAND where it is not COMMAND's own program that is asked for: what it starts is traced, and
nobody else's process."""

import json
import os
import re
import tempfile

from harness import Skip, Target, Tool, counted, expect, newest, private_copy, run, test, tracks

WORK = "main.workCall"
WAYS = ["multi", "perf", "stub"]
TOOLS = ["gofunccount", "gofunclatency", "gotrace"]
NOW = "once now calls="


def calls(records):
    return counted(records).get(WORK, 0) + sum(
        r["count"] if r.get("type") == "latency" else r.get("type") == "call" for r in records)


def made(text):
    """Calls by what the programs say themselves, `child` lines among them"""
    found = tracks(text.replace("child {", "{"))
    return sum(t["calls"] for t in found if t["func"] == WORK)


def follow(tool, command, env=None, pattern=WORK):
    """Runs the tool with the command, "X" in which is the program: (calls seen, calls made, stderr)"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        words = [word.replace("X ", path + " ") if " " in word else word.replace("X", path)
                 for word in command]
        with Tool(tool, "-j", f"{path}:{pattern}", "--", *words,
                  env=dict(os.environ, **env or {})) as tracer:
            seen = calls(tracer.records())
            return seen, made(tracer.out.text()), tracer.err.text()


def expect_all(result, number):
    seen, truth, said = result
    expect(seen == truth == number, f"saw {seen} of {truth} calls, {number} expected: {said}")


SHAPES = {
    "twice": (["sh", "-c", f"X {NOW}100; X {NOW}50"], 150),
    "together": (["sh", "-c", f"X {NOW}100 & X {NOW}50 & (X {NOW}7; X {NOW}8) & wait"], 165),
    "in_place": (["env", "A=1", "X", *f"{NOW}30".split()], 30),
    "executed": (["sh", "-c", f"exec X {NOW}30"], 30),
    "deep": (["sh", "-c", f"sh -c 'env A=1 sh -c \"X {NOW}10; :\"; :'; X {NOW}20"], 30),
    "child": (["sh", "-c", "X child now calls=20; :"], 80),
}


@test(tool=TOOLS, shape=list(SHAPES))
def descendants(tool, shape):
    command, number = SHAPES[shape]
    expect_all(follow(tool, command), number)


@test(way=WAYS)
def descendants_however_attached(way):
    expect_all(follow("gofunccount", SHAPES["together"][0], {"GOTOOLS_ATTACH": way}), 165)


@test()
def descendants_many():
    """A shell that starts one process after another, and others between them"""
    script = f"i=0; while [ $i -lt 20 ]; do X {NOW}$i; /bin/true; i=$((i+1)); done"
    expect_all(follow("gofunccount", ["sh", "-c", script]), sum(range(20)))


@test()
def descendants_in_namespace():
    """Their process IDs are those of a namespace of their own."""
    if run(["unshare", "-pf", "true"]).returncode:
        raise Skip("no PID namespace of its own")
    expect_all(follow("gofunccount", ["unshare", "-pf", "sh", "-c", f"X {NOW}10; X {NOW}20"]), 30)


@test(tool=TOOLS)
def strangers_beside_descendants(tool):
    """Processes of the same file that COMMAND did not start, before and after it, are not counted."""
    with Target("process", newest(), args=["calls=1000"]) as before:
        script = f"{before.path} {NOW}10; read line; {before.path} {NOW}20"
        with Tool(tool, "-j", f"{before.path}:{WORK}", "--", "sh", "-c", script) as tracer:
            tracer.wait_line('{"func":"main.workCall"')
            with Target("process", newest(), args=["calls=1000"], path=before.path) as after:
                for stranger in before, after:
                    stranger.go()
                    expect(made(json.dumps(stranger.truth()[0])) == 1000, stranger.said())
            tracer.say()
            seen = calls(tracer.records())
            expect(seen == 30, f"saw {seen} of 30 calls: {tracer.said()}")


@test(tool=["gofunccount", "gotrace"])
def asked_for_itself(tool):
    """COMMAND is what was asked for: what it starts is not traced, and no word is lost about it."""
    for pattern in (WORK, "*.workCall"):
        seen, truth, said = follow(tool, ["X", "child", "now", "calls=20"], pattern=pattern)
        expect((seen, truth) == (20, 80), f"saw {seen} of {truth} calls")
        expect("COMMAND" not in said, said)


@test()
def descendants_left_running():
    """COMMAND's end is the end; of what it leaves behind one is told."""
    seen, _, said = follow("gofunccount", ["sh", "-c", f"sleep 60 & sleep 61 & X {NOW}20"])
    expect(seen == 20, f"saw {seen} of 20 calls")
    expect("gofunccount: 2 processes still run that COMMAND started: "
           "traced up to COMMAND's end only\n" in said, said)
    _, _, said = follow("gofunccount", ["sh", "-c", f"sleep 0 & wait; X {NOW}20; true"])
    expect("still run" not in said, said)


@test()
def descendants_on_a_kernel_that_tells_nothing():
    seen, truth, said = follow("gofunccount", SHAPES["twice"][0], {"GOTOOLS_DESCENDANTS": "no"})
    expect((seen, truth) == (0, 150), f"saw {seen} of {truth} calls")
    expect("gofunccount: processes that COMMAND starts are not traced: this kernel " in said, said)
    expect_all(follow("gofunccount", SHAPES["in_place"][0], {"GOTOOLS_DESCENDANTS": "no"}), 30)


@test(tool=TOOLS)
def binary_left_out_for_a_shell(tool):
    with Tool(tool, WORK, "--", "sh", "-c", "true") as tracer:
        expect(tracer.wait() == 1, tracer.said())
        expect(re.search(r'"/\S+": not a Go program\n'
                         r"hint: .*BINARY:PATTERN", tracer.err.text()), tracer.said())


@test()
def descendants_by_recipe():
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        with Tool("gofuncslower", "-u", "0", "-j", f"{path}:{WORK}", "--", "sh", "-c",
                  f"{path} {NOW}10; {path} {NOW}20") as tracer:
            seen = calls(tracer.records())
            expect(seen == 30, f"saw {seen} of 30 calls: {tracer.said()}")
