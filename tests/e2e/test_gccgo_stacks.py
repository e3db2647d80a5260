# SPDX-License-Identifier: Apache-2.0
"""gotrace -U in gccgo's programs, against what the program's own runtime says of its callers: every
frame by its address, and by its name but where the program has lost it."""

import json
import re
from itertools import zip_longest

from harness import Target, expect, fixture, run, test, tool_path

from gotrace import Tracer, rows, trace_fixture

FRAME = re.compile(r"^0x(?P<addr>[0-9a-f]{16}) (?P<func>\S+)(?: \+0x[0-9a-f]+)?$")


def physical(said):
    """Return addresses and functions. What is inlined stands at the address of what it is in, which
    comes after it; a function that calls itself returns to one address again and again."""
    frames = [tuple(frame.split(" ", 1)) for frame in said]
    return [(int(addr, 16), name.replace("..", ".")) for (addr, name), after
            in zip(frames, frames[1:] + [("", "")])
            if addr != after[0] or name == after[1]]


def truth(text, what):
    """Of each call who called it, innermost first, down to where its goroutine began. What has no
    name is __morestack, between two segments of the stack."""
    stacks = [physical(line.split("\t")[1:]) for line in text.splitlines()
              if line.startswith(what + "\t")]
    return [[f for f in stack if f[1] not in ("runtime.kickoff", "")] for stack in stacks]


def taken(lines):
    """The frames below a line, and whether there is more"""
    frames = [FRAME.match(line) for line in lines if line != "..."]
    expect(all(frames), f"{lines}")
    # gccgo's own names do not tell pointers' methods apart
    return ([(int(f["addr"], 16), re.sub(r"\(\*(\w+)\)", r"\1", f["func"])) for f in frames],
            lines[-1:] == ["..."])


def compare(got, true, named=lambda name: True):
    """What was seen of a call, whose first frame is at the probe, and its callers in truth. Where a
    signal's handler was called there is no way back to what was interrupted."""
    frames, cut = got
    if frames[-1][1] == "runtime.sigtrampgo":
        expect(cut and frames[-2][1] == "runtime.sigpanic", f"{frames}")
        true, frames = true[:len(frames) - 1], frames[:-1]
    else:
        expect(cut == (len(frames) < len(true)), f"cut: {cut}, {len(frames)} of {len(true)}")
    want = [(addr, name if named(name) else "[unknown]") for addr, name in true[1:len(frames)]]
    expect(frames[0][1] == true[0][1], f"{frames[0]}, not {true[0]}")
    wrong = [(n, *pair) for n, pair in enumerate(zip_longest(frames[1:], want), 1) if pair[0] != pair[1]]
    expect(not wrong, f"{frames[0][1]}: frame, as seen, in truth: {wrong[:3]} of {len(frames)}")


def measure(flavour, *args):
    probes = [":main.probed", "r::main.probed", ":main.mapped"]
    text, said = trace_fixture("unwound", "gccgo", "-U", "-a", *args, *probes, flavour=flavour)
    seen = rows(text, stacks=True)
    for what in ("probed", "mapped"):
        true = [stack for stack in truth(said, what) for _ in range(2 if what == "probed" else 1)]
        got = [taken(lines) for row, lines in seen if row.func == "main." + what]
        expect(len(got) == len(true), f"{len(got)} calls of {what}, not {len(true)}")
        for one, stack in zip(got, true):
            compare(one, stack)
    return [taken(lines) for row, lines in seen if row.func == "main.probed"]


@test(flavour=["plain", "static", "nl"])
def gccgo_stacks(flavour):
    """Through program and library, closures, stubs, panics, reflection, and segments of stack"""
    got = measure(flavour)
    whole = [frames for frames, cut in got if not cut]
    expect(max(map(len, whole)) > 60, "deep stacks are cut")
    signals = [frames for frames, _ in got if frames[-1][1] == "runtime.sigtrampgo"]
    long = [frames for frames, cut in got if cut and frames not in signals]
    expect(len(signals) == 2, f"{len(signals)} stacks end at a signal")
    expect(len(long) == 4, f"{len(long)} stacks are cut, not the two of large frames")
    expect(sorted(map(len, long))[:2] == [2, 2], f"{[len(frames) for frames in long]} frames")
    expect(min(sorted(map(len, long))[2:]) > 100, f"{[len(frames) for frames in long]} frames")


@test()
def gccgo_stacks_stripped():
    """What is stripped has the name that its library calls, main.main; the library has its own."""
    text, said = trace_fixture("unwound", "gccgo", "-U", "-a", "go:strings.Map", flavour="strip")
    line = next(line for line in said.splitlines() if line.startswith("mapped\t"))
    true = [int(frame.split()[0], 16) for frame in line.split("\t")[3:]]
    lines = next(lines for row, lines in rows(text, stacks=True) if row.func == "strings.Map")
    frames, cut = taken(lines)
    expect([addr for addr, _ in frames[1:]] == true and not cut, f"{frames}, {line}")
    expect([name for _, name in frames] == ["strings.Map", "main.main", "runtime.main"], f"{frames}")
    text, said = trace_fixture("unwound", "gccgo", "-U", "-a", "go:sync.(*Once).doSlow",
                               flavour="strip")
    seen = [taken(lines) for _, lines in rows(text, stacks=True)]
    called = [[int(frame.split()[0], 16) for frame in line.split("\t")[1:]]
              for line in said.splitlines() if "sync.Once.doSlow" in line]
    got = [([addr for addr, _ in frames[1:]], cut) for frames, cut in seen]
    expect((called[0][-3:], False) in got, f"{called} not in {got}")


@test()
def gccgo_stacks_json():
    text, said = trace_fixture("unwound", "gccgo", "-U", "-j", ":main.mapped")
    records = [json.loads(line) for line in text.splitlines()]
    stack = records[0]["stack"]
    true = truth(said, "mapped")[0]
    expect([(f["addr"], f["func"]) for f in stack[1:]] == true[1:], f"{stack} and not {true}")
    expect("stack_cut" not in records[0] and "created_by" not in records[0], f"{records[0]}")


@test()
def gccgo_stacks_command():
    """A command's, and without a process: what program calls the library is not known then."""
    path = fixture("unwound", "gccgo", "plain")
    got = run([tool_path("gotrace"), "-U", "go:strings.Map", "--", path], input="go\n")
    names = [line.split()[0] for line in got.stdout.splitlines() if line.startswith("  ")]
    expect(names == ["strings.Map", "main.main", "runtime.main"], f"{got.stdout}")
    with Target("unwound", "gccgo") as target, \
            Tracer("-U", "go:strings.Map", target.path + ":main.mapped") as tracer:
        tracer.attached()
        target.go()
        expect(target.wait() == 0, target.said())
        tracer.stop()
    seen = {row.func: lines for row, lines in rows(tracer.out.text(), stacks=True)
            if row.pid == target.target_pid}
    expect([line.split(" +")[0] for line in seen["main.mapped"]] ==
           ["main.mapped", "strings.Map", "main.main", "runtime.main"], f"{seen}")
    lines = seen["strings.Map"]
    expect(lines[0].startswith("strings.Map +") and lines[-1] == "...", f"{lines}")
    expect(len(lines) == 3 and lines[1].endswith(" [unknown]"), f"{lines}")


@test()
def gccgo_stacks_not_under():
    """Calls that the library has made for a function of it, and for one of the program, are left out"""
    text, said = trace_fixture("unwound", "gccgo", "--not-under", "sort.Slice", "--not-under",
                               "main.throws", "-j", ":main.probed")
    true = [stack for stack in truth(said, "probed")
            if not {"sort.Slice", "main.throws"} & {name for _, name in stack}]
    got = [json.loads(line) for line in text.splitlines()]
    signals = 1  # what it has interrupted is not known
    expect(len(true) > 8 and len(got) == len(true) + signals, f"{len(got)}, in truth {len(true)}")
    expect(not any("stack" in record for record in got), f"{got[0]}")
