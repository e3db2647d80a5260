# SPDX-License-Identifier: Apache-2.0
"""The kernel's verifier walks through our programs in a moment, and far from its limit."""

import glob
import os

from harness import Skip, Target, Tool, expect, newest, test

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
