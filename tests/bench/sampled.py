# SPDX-License-Identifier: Apache-2.0
"""What a program pays for being sampled: CPU time of the same work with and without, one right after the other;
beside perf record with stacks by frame pointers, and beside Go's own profile.

At the usual frequencies that is less than what such times vary by. So what one sample costs is measured at a high
one, at which nobody samples. The kernel's timers do not let Go's own profile have it."""

import contextlib
import os
import time

import world as w
from process import Process
from stats import Row

VERSION = "1.27"
ROUNDS, TIMES = 9, 40000
USUAL, HIGH = (49, 99, 999), 10000  # Hz


class Sampled:
    """A running target, which samplers come to and leave again."""

    def __init__(self, world):
        self.world = world
        self.target = Process([world.target(VERSION, "is-sampled", "sampled.go")])
        self.target.wait_for("ready")
        self.pid = str(self.target.child.pid)
        self.work()

    def ask(self, words):
        self.target.tell(words + "\n")
        return float(self.target.line())

    def work(self):
        return self.ask(f"work {TIMES}")

    @contextlib.contextmanager
    def by_us(self, hz):
        tool = Process([self.world.tool("goprofile"), "-F", str(hz), "-p", self.pid])
        tool.wait_for("Sampling")
        yield
        tool.interrupt()

    @contextlib.contextmanager
    def by_perf(self, hz):
        tool = Process(["perf", "record", "-e", "cpu-clock", "-F", str(hz), "-g", "-o", os.devnull, "-p", self.pid])
        time.sleep(1)  # it does not tell when it has begun
        yield
        tool.interrupt()

    @contextlib.contextmanager
    def by_pprof(self, hz):
        self.ask(f"profile {hz}")
        yield
        self.ask("profile 0")

    def pairs(self, sampler, hz):
        """(sampled, not sampled) ns of the same work"""
        for number in range(ROUNDS):
            first = self.work() if number % 2 else None
            with sampler(hz):
                sampled = self.work()
            yield sampled, first or self.work()

    def costs(self, sampler):
        """ns of a sample: they come by the processor's time, and take of it"""
        return [(1 - without / with_it) * 1e9 / HIGH for with_it, without in self.pairs(sampler, HIGH)]


def sampled(world):
    copy = Sampled(world)
    samplers = {"goprofile": copy.by_us, "Go's own profile": copy.by_pprof}
    if w.have("perf"):
        samplers["perf record -g"] = copy.by_perf
        yield Row(f"a sample, at {HIGH} Hz", "perf record -g", copy.costs(copy.by_us), copy.costs(copy.by_perf), "ns")
    for hz in USUAL:
        for name, sampler in samplers.items():
            yield Row(f"work sampled at {hz} Hz, {name}", "not sampled", *zip(*copy.pairs(sampler, hz)), "ns")
    copy.target.finish()
