# SPDX-License-Identifier: Apache-2.0
"""gotrace -U against what runtime.Callers says in the same place."""

import json
import platform
import re

from harness import (Failure, Target, expect, fixture, newest, run, some_versions, test,
                     tool_path)

from gotrace import rows, trace, trace_fixture

FRAME = re.compile(r"^(?P<func>\S+) \+0x[0-9a-f]+(?P<inlined> \(inlined\))?$")
DETAIL = re.compile(r"^0x[0-9a-f]{8,16} (?P<func>\S+) \+0x[0-9a-f]+( \(inlined\))? "
                    r"(?P<file>\S+):(?P<line>\d+)( \(inlined\))?$")
CREATED = re.compile(r"^created by (?P<func>\S+) in goroutine (?P<goid>\d+)|^created by (?P<old>\S+)")


def told(said):
    """What the target tells of its stacks"""
    return [json.loads(line) for line in said.splitlines() if line.startswith('{"function"')]


def frames(lines, pattern=FRAME):
    out = []
    for line in lines:
        if line.startswith("created by"):
            continue
        found = pattern.match(line)
        if not found:
            raise Failure(f"no frame: {line}")
        out.append(found)
    return out


def names(lines):
    return [found["func"] for found in frames(lines)]


def comparable(stack):
    """A panic's own frames are told in other ways than they are; nobody called a goroutine."""
    stack = [name for name in stack if name != "runtime.goexit"]
    if "runtime.gopanic" in stack:
        return [name for name in stack if name.startswith("main.")]
    return stack


def refused(version):
    """On arm64 Go's frame pointers followed no stack that moves before 1.21: stacks were wrong."""
    if platform.machine() != "aarch64" or int(version.split(".")[1]) >= 21:
        return False
    done = run([tool_path("gotrace"), "-U", f"{fixture('traced', version)}:main.leaf"])
    expect(done.returncode == 1 and "from before Go 1.21 cannot be read" in done.stderr,
           f"{done.returncode}: {done.stderr}")
    return True


def check(version, flavour, probe, below=0):
    """`below`: frames of the probed function that the truth leaves out"""
    if refused(version):
        return [], []
    text, said = trace_fixture("traced", version, "-U", probe, flavour=flavour, words=["stacks"])
    got, true = rows(text, stacks=True), told(said)
    expect(len(got) == len(true) == 4, f"{len(got)} stacks, {len(true)} in truth")
    for (_, lines), truth in zip(got, true):
        seen, want = comparable(names(lines))[below:], comparable(truth["stack"])
        expect(seen == want, f"{' < '.join(seen)}, in truth {' < '.join(want)}")
    return got, true


def built():
    return [(v, f) for v in some_versions() for f in ("plain", "nl")]


@test(built_as=built)
def trace_stack_at_entry(built_as):
    check(*built_as, ':main.innermost (depth == 0) "in"')


@test(built_as=built)
def trace_stack_at_return(built_as):
    check(*built_as, 'r:main.innermost (depth == 0) "out"')


@test(version=some_versions)
def trace_stack_stripped(version):
    """Frames, inlined ones as well, from pclntab alone"""
    check(version, "strip", ":main.tell", below=1)


@test(version=some_versions)
def trace_stack_leaf(version):
    """A function without a frame of its own: its caller is not left out."""
    if refused(version):
        return
    text, _ = trace_fixture("traced", version, "-U", ':main.leaf "in"', 'r:main.leaf "out"',
                            words=["stacks"])
    got = rows(text, stacks=True)
    expect(len(got) == 2, f"{len(got)} stacks")
    for row, lines in got:
        expect(names(lines) == ["main.leaf", "main.stacks", "main.main", "runtime.main"],
               f"{row.text}: {names(lines)}")


@test(version=some_versions, flavour=["pie", "cgopie"])
def trace_moved(version, flavour):
    """A program that is loaded elsewhere: its stacks, functions and interfaces' types"""
    text, _ = trace_fixture("traced", version, "-U", ':main.leaf "in"', flavour=flavour,
                            words=["stacks"])
    got = rows(text, stacks=True)
    expect(got and names(got[0][1])[:3] == ["main.leaf", "main.stacks", "main.main"], f"{got}")
    text, _ = trace_fixture("traced", version, ':fmt.Fprintln "%v", a', 'r:main.(*Store).Get "%v", err',
                            flavour=flavour)
    said = [row.text for row in rows(text)]
    expect(any('"Hello, BPF!"' in t for t in said) and 'no key "none" in shop' in said, f"{said}")


@test(version=some_versions)
def trace_stack_created_by(version):
    got, true = check(version, "plain", ':main.innermost (depth == 0) "in"')
    for (_, lines), truth in zip(got, true):
        created = [CREATED.match(line) for line in lines if line.startswith("created by")]
        by = [found["func"] or found["old"] for found in created]
        true = [truth["created"]] if truth["created"] else []  # nobody created the first one
        expect(by == true, f"created by {by}, in truth {true}")
        if truth["created"] and int(version.split(".")[1]) >= 21:
            expect(created[0]["goid"] == "1", f"its parent is {created[0]['goid']}, not 1")


@test(version=["1.15", "1.27"])
def trace_stack_detail(version):
    """-a: address, file and line"""
    text, _ = trace_fixture("traced", version, "-U", "-a", ':main.innermost (depth == 0) "in"',
                            words=["stacks"])
    _, lines = rows(text, stacks=True)[0]
    found = frames(lines, DETAIL)
    expect([f["func"] for f in found][:4] == ["main.innermost", "main.inlined", "main.middle",
                                              "main.(*Walker).walk"], f"{lines}")
    expect(all(f["file"].endswith("/traced.go") for f in found[:4]), f"{lines}")
    source = open(__file__.rsplit("/", 2)[0] + "/fixtures/traced.go", encoding="utf-8").readlines()
    for frame, word in zip(found[1:4], ["innermost(0", "inlined(created)", "middle(created)"]):
        expect(word in source[int(frame["line"]) - 1], f"{frame[0]}: no {word} there")


@test()
def trace_stack_json():
    text, said = trace_fixture("traced", newest(), "-U", "-j", ':main.innermost (depth == 0) "in"',
                               words=["stacks"])
    events = [json.loads(line) for line in text.splitlines() if '"main.innermost"' in line]
    expect(len(events) == 4, f"{len(events)} events")
    stack = next(v for v in events[0].values() if isinstance(v, list) and v
                 and isinstance(v[0], dict) and "func" in v[0])
    expect([f["func"] for f in stack] == comparable(told(said)[0]["stack"]), f"{stack}")
    expect(any(f.get("inlined") for f in stack), f"no inlined frame: {stack}")


@test(version=["1.15", "1.27"])
def trace_stack_recursion(version):
    """Deep ones; what is cut is said to be."""
    if refused(version):
        return
    with Target("recurse", version, args=["depth=20", "goroutines=1"]) as target:
        text, _ = trace(target, "-U", ':main.descendOnce (n == 0) "bottom"')
        got = rows(text, stacks=True)
        expect(len(got) == 1, f"{len(got)} stacks")
        seen = names(got[0][1])
        expect(seen == ["main.descendOnce", "main.descendTimed"] * 21 + ["main.main.func1"], f"{seen}")


@test()
def trace_kernel_stack():
    """-K: kernel frames, or that there are none"""
    for options in ["-K"], []:
        with Target("traced", newest()) as target:
            text, said = trace(target, *options, ':main.add "%d", a')
        got = rows(text, stacks=True)
        expect([row.text for row, _ in got] == ["42"], text)
        without = options and not got[0][1]
        expect(("no kernel stacks" in said) == bool(without), f"{options}: {text}{said}")
