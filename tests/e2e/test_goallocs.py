# SPDX-License-Identifier: Apache-2.0
"""goallocs: allocations by type and stack, against what the program allocates and what runtime.MemStats counts."""

import collections
import os
import re

import pprof
from harness import (Target, Tool, expect, json_lines, newest, run, test, tool_path, two_versions, versions)

WORD = 8
NODE, LARGE, HUGE = 2 * WORD, 101 * WORD, 5000 * WORD
ALL = ["--max-cost", "100"]  # what is counted must not end before the program does


def truth(rounds=2000):
    """{type: (objects, bytes)} as fixtures/allocated.go does it"""
    tens = rounds // 10
    many = sum(2 + i % 5 for i in range(rounds))
    raw = sum(100 + i % 3 * 20000 for i in range(rounds))
    return {"main.node": (rounds, rounds * NODE), "main.tiny": (rounds, rounds), "[]main.node": (rounds, many * NODE),
            "[]uint8": (rounds, raw), "main.large": (2 * tens, 2 * tens * LARGE), "main.huge": (tens, tens * HUGE)}


def trace(version, flavour, *options, args=()):
    with Target("allocated", version, flavour, args=args) as target, \
            Tool("goallocs", *ALL, *options, "-p", target.target_pid) as tool:
        tool.wait_line("Tracing allocations")
        target.go()
        expect(target.wait() == 0, target.said())
        expect(tool.wait() == 0, tool.said())
        return json_lines(target.out.text())[-1], tool.out.text(), tool.err.text()


def by_type(records, within="main.allocates"):
    sums = collections.defaultdict(lambda: (0, 0))
    for r in records:
        if not within or within in [f["func"] for f in r["stack"]]:
            objects, size = sums[r["go_type"]]
            sums[r["go_type"]] = objects + r["objects"], size + r["bytes"]
    return dict(sums)


def check(version, flavour):
    told, out, _ = trace(version, flavour, "-j")
    records = json_lines(out)
    got = by_type(records)
    expect(got == truth(), f"{got}, in truth {truth()}")
    objects = sum(n for n, _ in got.values())
    expect(objects == told["mallocs"], f"{objects} objects, by runtime.MemStats {told['mallocs']}")
    expect(list(records[0]) == ["type", "pid", "go_type", "objects", "bytes", "stack"], f"{records[0]}")
    for r in records:
        names = [f["func"] for f in r["stack"]]
        if r["go_type"] == "main.node":
            expect(names[:3] == ["main.makesNode", "main.allocates", "main.main"], f"{names}")


@test(version=versions)
def allocs_counted(version):
    check(version, "strip")


@test(version=two_versions, flavour=["plain", "pie", "cgo"])
def allocs_built(version, flavour):
    check(version, flavour)


@test()
def allocs_by_type():
    _, out, _ = trace(newest(), "strip", "-C")
    lines = out.splitlines()
    expect(lines[2].split() == ["OBJECTS", "BYTES", "TYPE"], f"{lines[:4]}")
    got = {name: (int(n), int(size)) for n, size, name in re.findall(r"^ +(\d+) +(\d+) (\S.*)$", out, re.M)}
    for name, sums in truth().items():
        # the runtime and package main's initialisation make bytes as well
        expect(got[name] == sums or name == "[]uint8" and got[name] >= sums, f"{name}: {got[name]}, in truth {sums}")
    sizes = [int(size) for size in re.findall(r"^ +\d+ +(\d+) ", out, re.M)]
    expect(sizes == sorted(sizes), "not the largest last")


@test(version=two_versions)
def allocs_sampled(version):
    """What samples stand for, within what chance allows: six standard deviations"""
    every, rounds = 2000, 20000
    _, out, err = trace(version, "strip", "-j", "--every", str(every), args=[f"rounds={rounds}"])
    expect(f"a sample every {every} bytes" in err, err)
    got = by_type(json_lines(out))
    for name, (objects, size) in truth(rounds).items():
        each = size / objects
        samples = size / every if each < every else objects
        allowed = 6 / samples ** 0.5 + 0.001 if each < 10 * every else 0.001
        for i, true in enumerate((objects, size)):
            if name != "[]uint8" or i == 1:  # of small and of large ones
                expect(abs(got[name][i] - true) <= allowed * true, f"{name}: {got[name]}, in truth {objects, size}")


def lost(words, tool):
    said = re.search(rf"(\d+) {words}", tool.err.text())
    return int(said.group(1)) if said else 0


@test(by=["stack", "type"])
def allocs_full(by):
    """What finds no room is counted once, as lost; what has no stack is counted, too."""
    options = [*ALL, "-j", *(["-C"] if by == "type" else [])]
    with Target("allocated", newest(), "strip") as target, \
            Tool("goallocs", *options, "-p", target.target_pid) as whole, \
            Tool("goallocs", *options, "-p", target.target_pid, env={**os.environ, "GOTOOLS_ROOM": "3"}) as small:
        for tool in whole, small:
            tool.wait_line("Tracing allocations")
        target.go()
        expect(target.wait() == 0, target.said())
        expect(whole.wait() == 0 and small.wait() == 0, small.said())
        records, all_records = json_lines(small.out.text()), json_lines(whole.out.text())
        uncounted, bare = lost("allocations were not counted: more", small), lost("allocations have no stack", small)
    counted = sum(r["objects"] for r in records)
    true = sum(r["objects"] for r in all_records)
    expect(uncounted > 0 and counted + uncounted == true, f"{counted} and {uncounted} lost are not {true}")
    if by == "stack":
        expect(bare == sum(r["objects"] for r in records if not r["stack"]), f"{bare} without a stack: {records}")


@test()
def allocs_full_sampled():
    with Target("allocated", newest(), "strip") as target, \
            Tool("goallocs", *ALL, "--every", "64", "-p", target.target_pid,
                 env={**os.environ, "GOTOOLS_ROOM": "1"}) as tool:
        tool.wait_line("Tracing allocations")
        target.go()
        expect(target.wait() == 0 and tool.wait() == 0, tool.said())
        expect(lost("samples were not counted: more", tool) > 0 and "allocations were" not in tool.err.text(), tool.said())


@test()
def allocs_text():
    _, out, _ = trace(newest(), "strip")
    expect(re.search(r"^    main\.node\n    main\.makesNode allocated\.go:\d+\n    main\.allocates \S+\n    main\.main \S+\n"
                     r"(    runtime\.main \S+\n)?        2000 objects 32000 bytes$", out, re.M), out[-3000:])
    expect("    []main.node\n" in out, out[-3000:])
    _, out, _ = trace(newest(), "strip", "-f")
    expect(re.search(r"main\.main;main\.allocates;main\.makesNode;main\.node 32000$", out, re.M), out[-2000:])


@test()
def allocs_pprof():
    with Target("allocated", newest(), "strip") as target:
        path = target.folder.name + "/out.pb.gz"
        with Tool("goallocs", *ALL, "--pprof", path, "-p", target.target_pid) as tool:
            tool.wait_line("Tracing allocations")
            target.go()
            expect(target.wait() == 0 and tool.wait() == 0, tool.said())
        prof = pprof.Profile(path)
    expect(prof.types == ["objects/count", "bytes/bytes"] and prof.shown == 1, f"{prof.types}: {prof.shown}")
    nodes = [s for s in prof.samples if s[2].get("go_type") == "main.node"]
    expect([s[0] for s in nodes] == [[2000, 32000]] and prof.frames(nodes[0])[0][0] == "main.makesNode", f"{nodes}")


@test()
def allocs_cost():
    """Without a limit it stops by itself, with what it has."""
    with Target("allocated", newest(), "strip", args=["rounds=3000000"]) as target, \
            Tool("goallocs", "-C", "-p", target.target_pid) as tool:
        tool.wait_line("Tracing allocations")
        target.go()
        expect(tool.wait() == 1, tool.said())
        expect("probes took more than 20% of a processor" in tool.err.text(), tool.said())
        expect(re.search(r"^ +\d+ +\d+ main\.node$", tool.out.text(), re.M), tool.said())


@test()
def allocs_refused():
    for args, status, words in (
            (["--every", "x", "-p", "1"], 2, '--every of "x": not a number of bytes from 1 to 16777216'),
            ([], 2, "")):
        done = run([tool_path("goallocs"), *args])
        expect(done.returncode == status and words in done.stderr, f"{args}: {done.returncode}: {done.stderr}")
