# SPDX-License-Identifier: Apache-2.0
"""The tools for memory and collections: a profile of the heap beside the program's own endpoint; gostat over many
processes beside top; what a collection and an allocation cost a program that gogc and goallocs trace."""

import contextlib
import glob
import os
import subprocess
import time
import urllib.request

import world as w
from process import PATIENCE, Failed, Process, undisturbed
from stats import Row

VERSION = "1.27"
STACKS = 4096  # of the target's profile
ROUNDS, OBJECTS, COLLECTIONS = 9, 5000, 100
MANY, SECONDS = 100, 10  # processes, for so long
LIMIT_PERCENT = 2


def built(world, role):
    return world.target(VERSION, role, "memory.go")


class Target:
    def __init__(self, program, *args):
        self.program = program
        self.process = Process([self.program, *args])
        self.pid = str(self.process.child.pid)
        while not self.process.text.startswith("ready"):
            self.process.line()
        self.address = self.process.text.split()[1]

    def ask(self, what, n=0):
        self.process.tell(f"{what} {n}\n")
        return float(self.process.line())

    @contextlib.contextmanager
    def traced(self, argv):
        """By one of the tools, which have said so; tracers say more than one line"""
        tool = Process([*argv, "-p", self.pid])
        tool.wait_for("Tracing")
        yield
        tool.interrupt()


# --- goheap ---

def looked_at(target, argv, result):
    """Seconds that it took, and the target's own processor time meanwhile"""
    before = target.ask("felt")
    with undisturbed():
        start = time.monotonic()
        done = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        seconds = time.monotonic() - start
    if done.returncode or not os.path.getsize(result):
        raise Failed(f"{argv[0]}: exit status {done.returncode}: {done.stderr[-300:]}")
    return seconds, (target.ask("felt") - before) / 1e6


def heap(world):
    target, ours, theirs = Target(built(world, "heap"), "stacks"), world.path("ours.pb.gz"), world.path("theirs.pb.gz")
    commands = (([world.tool("goheap"), "--pprof", ours, target.pid], ours),
                (["curl", "-sfo", theirs, f"http://{target.address}/debug/pprof/heap"], theirs))
    rounds = [[looked_at(target, *command) for command in commands] for _ in range(ROUNDS)]
    rounds = rounds[1:]  # the first reads files that the next ones find in memory
    what = f"goheap --pprof of {STACKS:,} stacks"
    yield Row(what, "curl of its endpoint", [r[0][0] for r in rounds], [r[1][0] for r in rounds], "s")
    yield Row("  the program's processor time", "curl of its endpoint", [r[0][1] for r in rounds],
              [r[1][1] for r in rounds], "ms")
    target.process.finish()


# --- gostat ---

def family(pid):
    """It and its children, who read for it"""
    all_of_it = [str(pid)]
    for one in all_of_it:
        for path in glob.glob(f"/proc/{one}/task/*/children"):
            with open(path, encoding="ascii") as file:
                all_of_it += file.read().split()
    return all_of_it


def used_ns(pid):
    used = 0
    for one in family(pid):
        for path in glob.glob(f"/proc/{one}/task/*/schedstat"):
            with open(path, encoding="ascii") as file:
                used += int(file.read().split()[0])
    return used


def percent(argv):
    """Of a processor, once it has begun; nobody waits for what it prints"""
    tool = Process(["sh", "-c", 'exec "$@" >/dev/null', "sh", *argv])
    time.sleep(3)
    before, start = used_ns(tool.child.pid), time.monotonic()
    time.sleep(SECONDS)
    share = 100 * (used_ns(tool.child.pid) - before) / 1e9 / (time.monotonic() - start)
    if not share or not tool.alive():
        tool.fail("does nothing")
    tool.child.kill()
    tool.child.wait()
    return share


def scraped(tool, pids):
    """Of gostat --metrics: % of a processor when nobody asks, and ms of one at a scrape"""
    served = Process(["sh", "-c", 'exec "$@" 2>&1', "sh", tool, "--metrics", "127.0.0.1:0", *pids])
    while "http://" not in served.text:
        served.line()
    address = served.text.split("metrics: ")[1].split()[0]
    time.sleep(2)
    before, start = used_ns(served.child.pid), time.monotonic()
    time.sleep(SECONDS)
    idle = 100 * (used_ns(served.child.pid) - before) / 1e9 / (time.monotonic() - start)
    costs = []
    for _ in range(ROUNDS):
        before = used_ns(served.child.pid)
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            if answer.read().count(b"\ngo_goroutines{") != len(pids):
                served.fail("does not know all")
        costs.append((used_ns(served.child.pid) - before) / 1e6)
        time.sleep(2)  # what is asked for sooner is the same answer
    served.interrupt()
    return idle, costs[1:]


def watched(world):
    """One program, many processes of it"""
    program = built(world, "watched")
    targets = [Target(program) for _ in range(MANY)]
    pids = [target.pid for target in targets]
    ours, theirs = [], []
    for _ in range(3):
        ours.append(percent([world.tool("gostat"), "-j", "-i", "1", *pids]))
        theirs.append(percent(["top", "-b", "-d", "1"]))
    yield Row(f"gostat of {MANY} processes, one look a second", "top -b -d 1", ours, theirs, "%", None, LIMIT_PERCENT)
    idle, costs = scraped(world.tool("gostat"), pids)
    yield Row("gostat --metrics of them, when nobody asks", "top -b -d 1", [idle] * 3, theirs, "%")
    yield Row("a scrape of it", "a second of top", costs, [theirs[0] * 10] * len(costs), "ms")
    for target in targets:
        target.process.finish()


# --- what is traced ---

def pairs(target, argv, what, n):
    """(traced, not traced) ns of the same, by turns"""
    for number in range(ROUNDS):
        first = target.ask(what, n) if number % 2 else None
        with target.traced(argv):
            target.ask(what, n // 10)
            traced = target.ask(what, n)
        yield traced, first or target.ask(what, n)


def collected(world):
    target = Target(built(world, "collected"))
    target.ask("collections", COLLECTIONS)
    for options in [], ["--assists"]:
        argv = [world.tool("gogc"), "-j", *options]
        argv = ["sh", "-c", 'echo Tracing; exec "$@"', "sh", *argv]
        yield Row(" ".join(["a collection under gogc", *options]), "not traced",
                  *zip(*pairs(target, argv, "collections", COLLECTIONS)), "ns")
    target.process.finish()


def allocated(world):
    """What each object costs more: all are of a size that runtime.mallocgc allocates in all releases."""
    target = Target(built(world, "allocated"))
    target.ask("objects", OBJECTS)
    plain = [world.tool("goallocs"), "--max-cost", "100000"]
    ways = {"by type": [*plain, "-C"], "by type and stack": plain, "--every 524288": [*plain, "--every", "524288"]}
    costs = {name: [a - b for a, b in pairs(target, argv, "objects", OBJECTS)] for name, argv in ways.items()}
    if w.have("bpftrace"):
        other = {"by type": "count()", "by type and stack": "[ustack]"}
        for name, key in other.items():
            what = f"@{key if key[0] == '[' else ''} = count()"
            costs["bpftrace " + name] = by_bpftrace(world, what)
            yield Row(f"an object that goallocs counts {name}", f"bpftrace, {what}", costs[name], costs["bpftrace " + name], "ns")
        yield Row("an object that goallocs --every 524288 passes by", "bpftrace, @ = count()", costs["--every 524288"],
                  costs["bpftrace by type"], "ns")
    target.process.finish()


def by_bpftrace(world, what):
    """ns more of each object, in a copy of its own"""
    target = Target(built(world, "by-bpftrace"))
    script = f'BEGIN {{ printf("Tracing\\n"); }} uprobe:{target.program}:"runtime.mallocgc" {{ {what}; }}'
    costs = []
    for _ in range(ROUNDS):
        idle = target.ask("objects", OBJECTS)
        tool = Process(["bpftrace", "-e", script])
        tool.wait_for("Tracing")
        time.sleep(0.5)  # its probes come after its BEGIN
        target.ask("objects", OBJECTS // 10)
        costs.append(target.ask("objects", OBJECTS) - idle)
        tool.interrupt()
    target.process.finish()
    return costs
