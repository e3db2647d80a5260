# SPDX-License-Identifier: Apache-2.0
"""What a printed call costs the program that is traced, beside bpftrace's printf of the same values and
an empty BPF program; how many calls a second are printed and none lost.

Copies of the target take turns, as in percall.py. What tracers print goes to a file: a reader of ours
would be one more program that wants a CPU."""

import glob
import os
import re
import sys
import time
from statistics import median

import world as w
from process import Failed, Process, run
from stats import Row

VERSION = "1.27"
CALLS, ROUNDS = 4000, 15
TRACED_NS = 150
FALSE_PREDICATE = 1.3  # of an empty program, at the most
AT_RETURN = 1.15       # of reading at entry
BY_TABLES = 1.25       # of reading by compiled code
FORMATS = {"two": 'main.two "%d %d", a, b', "text": 'main.text "%s", s'}
PRINTF = {"two": 'printf("%d %d\\n", reg("ax"), reg("bx"));',
          "text": 'printf("%s\\n", str(reg("ax"), reg("bx") + 1));'}
TITLES = {"two": "event with two ints", "text": "event with 32 bytes of text"}
RATES = (5000, 10000, 20000, 40000, 60000, 80000, 100000, 150000, 200000, 300000)
SECONDS, BEAT = 2, 0.01


class Copy:
    """A running target and, but for the untraced one, its tracer, which prints to a file."""

    def __init__(self, world, what, role):
        self.what, self.costs, self.calls = what, [], 0
        self.program = world.target(VERSION, f"{what}-{role}", "events.go")
        self.log = self.program + ".log"
        self.target = Process([self.program])
        self.target.wait_for("ready")
        self.tracer = None

    def batch(self, calls):
        self.target.tell(f"{self.what} {calls}\n")
        self.calls += calls
        return float(self.target.line())

    def printed(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def trace(self, argv, word):
        """Until the tracer says `word` and calls have been slow for a while"""
        self.tracer = Process(["sh", "-c", 'log=$0; exec "$@" >"$log"', self.log, *argv])
        slow = 0
        for _ in range(6000):
            time.sleep(0.01)
            if os.path.exists(self.log) and word in self.printed():
                slow = slow + 1 if self.batch(100) > TRACED_NS else 0
            if slow == 10:
                return self
            if not self.tracer.alive():
                break
        self.tracer.fail("never traced a call")
        return None

    def end(self):
        if self.tracer and not self.tracer.alive():
            self.tracer.fail("ended by itself")
        if self.tracer:
            self.tracer.interrupt()
        self.target.finish()


def bpftrace(copy):
    script = f'uprobe:{copy.program}:"main.{copy.what}" {{ {PRINTF[copy.what]} }}'
    return copy.trace(["bpftrace", "-e", script], "Attaching")


def ours(world, copy, probe, when="", env=()):
    start = ["env", *env] if env else []
    return copy.trace([*start, world.tool("gotrace"), f"{when}{copy.program}:{probe}"], "PID")


def empty(world, copy, other, probe):
    """A BPF program that does nothing, where gotrace probes the other copy"""
    record = world.recorded(f"trace-{copy.what}", [world.tool("gotrace"),
                                                   f"{other.program}:{probe}"], "PID")
    return copy.trace([world.path("bare_attach"), copy.program, record.offsets, "hold"], "attached")


def interleave(copies):
    for number in range(ROUNDS):
        turn = number % len(copies)
        for copy in copies[turn:] + copies[:turn]:
            copy.costs.append(copy.batch(CALLS))


def above(copy, idle):
    floor = median(idle.costs)
    return [cost - floor for cost in copy.costs]


def check_lines(copy, pattern):
    """A figure of a tracer that did not print the calls is no figure; what it lost is said."""
    lines = len(re.findall(pattern, copy.printed(), re.M))
    if lines < copy.calls / 2:
        raise Failed(f"{copy.program}: {lines} of {copy.calls} calls were printed")
    if lines < copy.calls:
        print(f"{copy.tracer.argv[4]}: {lines} of {copy.calls} calls were printed", file=sys.stderr)


def measure_event(world, what):
    idle, traced = Copy(world, what, "untraced"), Copy(world, what, "ours")
    ours(world, traced, FORMATS[what])
    copies = [idle, traced]
    if w.have("bpftrace"):
        copies.append(bpftrace(Copy(world, what, "bpftrace")))
    interleave(copies)
    for copy in copies:
        copy.end()
    check_lines(traced, rf"main\.{what}")
    if len(copies) > 2:
        check_lines(copies[2], r"^(\d+ 13|0123456789abcdef)")
        yield Row(TITLES[what], "bpftrace", above(traced, idle), above(copies[2], idle), "ns", 1.0)


def measure_predicate(world):
    probe = 'main.two (b == 14) "%d", a'
    idle, traced, bare = (Copy(world, "two", r) for r in ("untraced2", "false", "empty"))
    ours(world, traced, probe)
    empty(world, bare, traced, probe)
    interleave([idle, traced, bare])
    for copy in idle, traced, bare:
        copy.end()
    yield Row("false predicate", "empty program", above(traced, idle), above(bare, idle), "ns",
              FALSE_PREDICATE)


def measure_tables(world, what, when):
    """All arguments, as they are printed without a format, and with r: results: steps of a table or compiled
    code read them"""
    tail = when.replace(":", "")
    idle, steps, code = (Copy(world, what, role + tail) for role in ("untraced4", "tables", "code"))
    ours(world, steps, f"main.{what}", when, env=["GOTOOLS_TABLES=yes"])
    ours(world, code, f"main.{what}", when, env=["GOTOOLS_TABLES=no"])
    interleave([idle, steps, code])
    for copy in idle, steps, code:
        copy.end()
    for copy in steps, code:
        check_lines(copy, rf"main\.{what}")
    yield Row(f"{TITLES[what]}{', at return' if when else ''}, by tables", "compiled code",
              above(steps, idle), above(code, idle), "ns", BY_TABLES)


def measure_after(world):
    """32 bytes that are read when the call returns, and those that are read when it begins"""
    idle, late, early = (Copy(world, "text", role) for role in ("untraced3", "late", "early"))
    ours(world, late, 'main.text "%s", after(s)', "r:")
    ours(world, early, 'main.text "%s", s', "r:")
    interleave([idle, late, early])
    for copy in idle, late, early:
        copy.end()
    for copy in late, early:
        check_lines(copy, r"main\.text")
    yield Row("text read at return", "the same at entry", above(late, idle), above(early, idle), "ns", AT_RETURN)


def sustained(world, what, rate):
    """Calls a second that a target made, paced, and how many of them were printed"""
    copy = ours(world, Copy(world, what, f"rate{rate}"), FORMATS[what])
    begun = time.monotonic()
    calls = copy.calls
    for beat in range(int(SECONDS / BEAT)):
        copy.batch(int(rate * BEAT))
        time.sleep(max(0, begun + (beat + 1) * BEAT - time.monotonic()))
    made = (copy.calls - calls) / (time.monotonic() - begun)
    copy.end()
    return made, copy.calls - len(re.findall(rf"main\.{what}", copy.printed()))


def rates(world):
    """The highest rate at which nothing is lost; the target itself may not get any faster."""
    for what in FORMATS:
        best, lost = 0, 0
        for rate in RATES:
            made, lost = sustained(world, what, rate)
            if lost or made < 0.9 * rate:
                best = best if lost else max(best, made)
                break
            best = made
        print(f"events with {what}: {best:,.0f} a second and none lost"
              f"{f'; at {made:,.0f} a second {lost} were' if lost else ', as fast as they are made'}")


def delve(world):
    """dlv trace --ebpf, fetched, never installed; a note where it cannot run."""
    run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", "delve"], cwd=world.dir)
    for deb in glob.glob(world.path("delve_*.deb")):
        run(["dpkg", "-x", deb, world.path("delve")])
    program = world.target("1.19", "delve", "events.go")
    tracer = Process([world.path("delve/usr/bin/dlv"), "trace", "--ebpf", "-e", program, "^main.two$"])
    try:
        tracer.wait_for("ready")
    except Failed:
        print(f"dlv trace --ebpf does not run here: {tracer.errors()[:200]}", file=sys.stderr)


def printed(world):
    yield from measure_event(world, "two")
    yield from measure_event(world, "text")
    yield from measure_predicate(world)
    try:
        delve(world)
    except Failed as why:
        print(f"dlv is not measured: {why}", file=sys.stderr)


def tables(world):
    for when in "", "r:":
        for what in "two", "text":
            yield from measure_tables(world, what, when)


def after(world):
    yield from measure_after(world)


def rate(world):
    rates(world)
    return []
