# SPDX-License-Identifier: Apache-2.0
"""The kernel's verifier walks through our programs in a moment, and far from its limit."""

import glob
import io
import os
import struct
import tempfile
import zlib

from harness import Skip, Target, Tool, expect, newest, run, test, tool_path

LIMIT = 1_000_000  # instructions that it walks through: BPF_COMPLEXITY_LIMIT_INSNS
MOST = 250_000
MOST_CALLS = 90_000    # where calls are followed to their ends by code
MOST_TABLES = 800_000  # a loop over so many steps
MOST_FEW = 250_000     # over as many as the functions need
TOOLS = {"gofunclatency": ["main.*"], "gofuncslower": ["1", "main.*"], "gostackcount": ["main.*"], "gotree": ["main.*"],
         "gotree_follow": ["main.*", "--follow"], "goprofile": [], "goallocs": [], "golocks": [], "gogc": [],
         "gooffcputime": [], "gorunqlat": [], "gowakeups": []}


def walked(pid):
    """Of the BPF programs of a process: how many instructions the verifier went through"""
    found = []
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with open(path, encoding="ascii") as file:
            found += [int(line.split()[1]) for line in file if line.startswith("verified_insns:")]
    return found


@test(tool=TOOLS)
def verifier_has_room(tool):
    """Other kernels walk further, other programs have other offsets: they must not be refused there."""
    with Target("calls", newest(), "strip") as target:
        with Tool(tool.split("_")[0], "-p", target.target_pid, *TOOLS[tool]) as tracer:
            tracer.wait_line("Sampling " if tool == "goprofile" else "Tracing ")
            counts = walked(tracer.child.pid)
            tracer.stop()
    if not counts:
        raise Skip("the kernel does not say (before 5.16)")
    expect(max(counts) < MOST, f"{tool}: {counts} of {LIMIT} instructions")


@test(tool=["gofunclatency", "gotrace"])
def verifier_follows_once(tool):
    """What one way through a loop leaves behind is not one more way through the next: a start takes as long as the
    verifier walks."""
    probe = {"gofunclatency": "main.*", "gotrace": 'r:main.* "%d", $latency'}[tool]
    with Target("calls", newest(), "strip") as target:
        with Tool(tool, "-p", target.target_pid, probe) as tracer:
            tracer.wait_line("PID " if tool == "gotrace" else "Tracing ")
            counts = walked(tracer.child.pid)
            tracer.stop()
    if not counts:
        raise Skip("the kernel does not say (before 5.16)")
    expect(0 < max(counts) < MOST_CALLS, f"{tool}: {counts} of {LIMIT} instructions")


@test(probe=["p:", "r:"], most=[MOST_FEW, MOST_TABLES])
def verifier_tables(probe, most):
    """The same where gotrace reads by tables: those of a usual program, and the longest that there can be; if they are
    refused, it compiles code."""
    env = dict(os.environ, GOTOOLS_TABLES="most" if most == MOST_TABLES else "yes")
    with Target("calls", newest(), "strip") as target:
        with Tool("gotrace", "-p", target.target_pid, probe + ":main.*", env=env) as tracer:
            tracer.wait_line("PID ")
            counts = walked(tracer.child.pid)
            tracer.stop()
            said = tracer.err.text()
    if not counts:
        raise Skip("the kernel does not say (before 5.16)")
    expect("instead of tables" not in said, said)
    expect(max(counts) < most, f"{probe}: {counts} of {LIMIT} instructions")


def functions_of(kept):
    """{name: [(code, offset)]} of a program that is kept: see common/kernel/progcache.c and bytecode.c"""
    with open(kept, "rb") as file:
        _, _, key, libraries, code, _ = struct.unpack("<8sQIIII", file.read(32))
        bytecode = io.BytesIO(zlib.decompress(file.read())[key + libraries:][:code])

    def number():
        return struct.unpack("<I", bytecode.read(4))[0]

    for _ in range(number()):  # maps
        bytecode.read(number() + 5 * 4)
    return {bytecode.read(number()).decode(): list(struct.iter_unpack("<BxhI", bytecode.read(8 * number())))
            for _ in range(number())}


def leads_to(insns, at):
    """[(instruction, by a jump?)] behind the one at `at`"""
    code, offset, _ = insns[at]
    if code & 7 not in (5, 6) or code & 0xf0 == 0x80:  # no jump, or a call
        return [(at + 1, False)]
    if code & 0xf0 == 0x90:
        return []
    there = [(at + 1 + offset, True)]
    return there if code & 0xf0 == 0 else [(at + 1, True), *there]


def fallen_into(insns):
    """Beginnings of loops whose end leads there by no jump"""
    state, path = {0: "on the way"}, [(0, iter(leads_to(insns, 0)))]
    while path:
        at, ways = path[-1]
        for to, jumps in ways:
            if state.get(to) == "on the way" and not jumps:
                yield to
            if to not in state:
                state[to] = "on the way"
                path.append((to, iter(leads_to(insns, to))))
                break
        else:
            state[at] = "done"
            path.pop()


LOOPS = {"gotrace": ["r:main.failing"], "gofunclatency": ["--states", ":main.*"], "gotree": [":main.main", "main.*"]}


@test(tool=list(LOOPS))
def loops_end_by_a_jump(tool):
    """Kernels before 6.2 insist on it, where the one that runs here does not."""
    words = LOOPS[tool]
    with tempfile.TemporaryDirectory() as place, Target("traced", newest()) as target:
        done = run([tool_path(tool), "-d", "0.1", "-p", str(target.target_pid), *words],
                   env=dict(os.environ, GOTOOLS_CACHE=place + "/programs"))
        expect(done.returncode == 0, done.stderr)
        found = {name: insns for kept in glob.glob(place + "/programs/*.bpf") for name, insns in functions_of(kept).items()}
    expect(any(len(insns) > 500 for insns in found.values()), f"{found.keys()}")
    fallen = {name: list(fallen_into(insns)) for name, insns in found.items()}
    expect(not any(fallen.values()), f"{fallen}")
