# SPDX-License-Identifier: Apache-2.0
"""gofunclatency --states --threads, on a program whose threads know by their own clocks how long they were on a CPU."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from harness import (PROBE_NS, Target, Tool, expect, fixture, newest, private_copy, run, test,
                     tool_path, two_versions)

ROUNDS = 20
# Where the kernel keeps switches of some task to itself, a thread seems to run from when that began to: some
# of its slices, of 4 ms at most
HIDDEN_NS = 12_000_000
# no goroutine changes threads but where it says so
ARGV = {"argv": lambda path: ["env", "GODEBUG=asyncpreemptoff=1", path]}
ONE_CPU = {"argv": lambda path: ["taskset", "-c", str(min(os.sched_getaffinity(0))), *ARGV["argv"](path)]}


class Busy:
    """A program that wants all of the CPU of ONE_CPU"""

    def __enter__(self):
        self.child = subprocess.Popen(ONE_CPU["argv"](sys.executable) + ["-c", "while True: pass"])
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()


NAMES = ["spins", "naps", "calls", "sleeps", "inner", "outer", "hops"]


def begun(target, *args, **kwargs):
    return Tool("gofunclatency", "--states", "--threads", "-jF", *args, "-p", target.target_pid, **kwargs).tracing()


def by_function(tool):
    """{function: its record}, whose parts are its total to the nanosecond"""
    records = [record for record in tool.stop() if record.get("type") == "latency"]
    said = [line for line in tool.err.text().splitlines() if line.startswith("gofunclatency:")
            and not re.search(r": \d+ hits a second of .* of a processor", line)]
    expect(not said, f"{said}")
    for record in records:
        parts = record["states"]
        expect(sum(part["total"] for part in parts.values()) == record["total"], f"{record}")
        expect("unknown" not in parts and all(part["calls"] <= record["count"] for part in parts.values()), f"{record}")
    return {record["func"]: record for record in records}


def told(target):
    return {line["cpu_of"]: line for line in target.truth()}


def total(record, state):
    return record["states"][state]["total"] if state in record["states"] else 0


def close(known, record):
    """The calls' threads were on a CPU for as long as they say, but for what the probes and the clock itself take.
    Some of it was in system calls that Go knows of, and as it waited."""
    name, running = record["func"], total(record, "running")
    slack = PROBE_NS * known["calls"] + known["cpu"] / 50 + HIDDEN_NS
    expect(record["count"] == known["calls"], f"{name}: {record['count']} calls, {known}")
    least = 0 if name in ("main.calls", "main.sleeps") else known["cpu"] - slack
    expect(least <= running <= known["cpu"] + slack, f"{name}: running {running} ns, {known}: {record['states']}")


def check(found, truth, hold):
    """What each function of the fixture does"""
    for name in "main.spins", "main.naps", "main.calls", "main.sleeps", "main.outer", "main.hops":
        close(truth[name], found[name])
    naps, calls, sleeps = (found["main." + name] for name in ("naps", "calls", "sleeps"))
    least = 0.98 * hold * ROUNDS - HIDDEN_NS
    expect(total(naps, "off-CPU") >= least and total(naps, "syscall") == 0, f"{naps}")
    expect(total(calls, "syscall") >= least, f"{calls}")
    expect(total(sleeps, "sleep") >= least, f"{sleeps}")
    inner, outer = found["main.inner"], found["main.outer"]
    expect(total(outer, "off-CPU") >= total(inner, "off-CPU") >= least, f"{inner}, {outer}")
    expect(total(outer, "running") >= total(inner, "running") + least, f"{inner}, {outer}")


def watched(target):
    """What --threads says of each function, and what the threads' own clocks do"""
    with begun(target, *("main." + name for name in NAMES)) as tool:
        target.go()
        target.wait_line("done")
        found = by_function(tool)
    target.go()
    return found, told(target)


@test(version=two_versions, flavour=["plain", "strip"])
def threads_waits(version, flavour):
    """On a CPU or not while Go takes the goroutine to run; system calls and waits are not divided."""
    with Target("threads", version, flavour, **ARGV) as target:
        found, truth = watched(target)
        check(found, truth, 5_000_000)


@test(version=["1.15", "1.19", "1.27"])
def threads_beside(version):
    """Beside a process that wants the same CPU: what that gets of it is not running."""
    with Busy(), Target("threads", version, args=["hold=10000"], **ONE_CPU) as target:
        found, truth = watched(target)
        check(found, truth, 10_000_000)
        known, spins = truth["main.spins"], found["main.spins"]
        expect(total(spins, "off-CPU") >= known["wall"] / 5, f"{known}, {spins}")
        lost = known["wall"] - known["cpu"]
        most = lost + PROBE_NS * ROUNDS
        expect(0.9 * lost - HIDDEN_NS <= total(spins, "off-CPU") <= most, f"{lost} ns lost: {known}, {spins}")


@test()
def threads_not_told():
    """Without --threads: that the process has waited for a CPU, and for how much of the time"""
    with Busy(), Target("threads", newest(), args=["hold=10000"], **ONE_CPU) as target:
        with Tool("gofunclatency", "--states", "main.spins", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            tool.signal(signal.SIGINT)
            tool.wait()
            said = re.search(r"^gofunclatency: the process's threads waited for a CPU for (\d+) % of the time that they "
                             r'wanted one\nhint: "running" includes that; --threads', tool.err.text(), re.M)
        target.go()
        spins = told(target)["main.spins"]
        lost = 100 * (spins["wall"] - spins["cpu"]) / spins["wall"]
        expect(said and 0.5 * lost <= int(said[1]) <= 100, f"{spins}, {lost} %: {tool.err.text()}")


@test()
def threads_stopped():
    """A process that is stopped runs as far as Go knows, but not on a CPU."""
    with Target("threads", newest(), args=["rounds=2", "hold=300000"], **ARGV) as target:
        with begun(target, "main.spins") as tool:
            target.go()
            time.sleep(0.15)
            os.kill(target.target_pid, signal.SIGSTOP)
            time.sleep(0.4)
            os.kill(target.target_pid, signal.SIGCONT)
            target.wait_line("done")
            spins = by_function(tool)["main.spins"]
        target.go()
        close(told(target)["main.spins"], spins)
        expect(total(spins, "off-CPU") >= 380_000_000 - HIDDEN_NS, f"{spins}")


@test(all_processes=[False, True])
def threads_named(all_processes):
    """The table; of a COMMAND, or of all processes of a BINARY, with another one beside them."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "threads", newest())
        with Target("threads", newest(), path=path, **ARGV) as target:
            where = [path + ":main.naps"] if all_processes else ["main.naps", "-p", target.target_pid]
            with Tool("gofunclatency", "--threads", "-v", "--states", *where).tracing() as tool:
                target.go()
                target.wait_line("done")
                tool.signal(signal.SIGINT)
                tool.wait()
                text = tool.out.text()[-1500:] + tool.err.text()[-500:]
            target.go()
            target.truth()
        table = re.search(r"^     STATE .*\n     off-CPU +(\d+) +(\d+) ", text, re.M)
        expect(table and int(table[1]) == ROUNDS and int(table[2]) >= ROUNDS * 5_000_000 - HIDDEN_NS, text)
        said = re.search(r"^gofunclatency: (\d+) switches of threads \(\d+ a second\), of the whole machine$", text, re.M)
        expect(said and int(said[1]) >= 2 * ROUNDS, text)


def refused(status, message, *args, **kwargs):
    result = run([tool_path("gofunclatency"), *args], **kwargs)
    expect(result.returncode == status and not result.stdout and result.stderr.startswith(message), f"{result}")


@test()
def threads_refusals():
    """Without --states, and where the kernel does not tell: in words"""
    path = fixture("threads", newest())
    refused(2, "gofunclatency: --threads is a part of --states: give both\n", "--threads", path + ":main.spins")
    refused(1, "gofunclatency: --threads: this kernel does not report switches of threads\n", "--states", "--threads",
            path + ":main.spins", env={**os.environ, "GOTOOLS_THREADS": "no"})


@test()
def threads_no_room():
    """Threads for which there is no room: told, and the sums are right."""
    with Target("threads", newest(), **ARGV) as target:
        with Tool("gofunclatency", "--states", "--threads", "-j", "main.hops", "-p", target.target_pid,
                  env={**os.environ, "GOTOOLS_ROOM": "1"}).tracing() as tool:
            target.go()
            target.wait_line("done")
            [record] = [record for record in tool.stop() if record.get("type") == "latency"]
            said = tool.err.text()
        target.go()
        target.truth()
        expect("a thread could not be followed, for lack of room" in said, said)
        expect(record["count"] >= ROUNDS, f"{record}")


@test()
def threads_room_again():
    """Threads that end give their room back."""
    with Target("threads", newest(), args=["rounds=200", "hold=100", "dying"], **ARGV) as target:
        with begun(target, "main.dies", env={**os.environ, "GOTOOLS_ROOM": "64"}) as tool:
            target.go()
            target.wait_line("done")
            [record] = [record for record in tool.stop() if record.get("type") == "latency"]
            said = tool.err.text()
        target.go()
        target.truth()
        expect(record["count"] == 200 and total(record, "off-CPU") >= 0.98 * 200 * 100_000 - HIDDEN_NS, f"{record}")
        expect("could not be followed" not in said, said)
