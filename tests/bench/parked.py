# SPDX-License-Identifier: Apache-2.0
"""What it takes to see all goroutines of a program that has very many, and for how long the program
stands still meanwhile, by its own clock: beside delve, gdb with Go's script, and the program's own
dump, which ends it. Those who are not installed are left out."""

import contextlib
import os
import re
import signal
import subprocess
import time

import world as w
from process import PATIENCE, Failed, Process, undisturbed
from stats import Row

VERSION = "1.19"  # Debian 12's delve and gdb know no newer one
GOROUTINES, ROUNDS = 100000, 3
FRAMES = 5  # that delve shows, about as many as there are
LIMIT_S = 1


class Parked:
    """A program that stays, and tells how long it stood still."""

    def __init__(self, world, role):
        self.process = Process([world.target(VERSION, role, "parked.go"), str(GOROUTINES)])
        self.process.wait_for("ready")
        self.pid = str(self.process.child.pid)

    def stood_still(self):
        self.process.tell("\n")
        return int(self.process.line()) / 1e6

    def looked_at(self, argv, says=""):
        """Seconds that it took, and milliseconds that the program stood still at the most."""
        self.stood_still()
        with undisturbed():
            start = time.monotonic()
            done = subprocess.run(argv, input=says, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=PATIENCE * 10, check=False)
            seconds = time.monotonic() - start
        if done.returncode or shown(done.stdout) < GOROUTINES:
            raise Failed(f"{argv[0]}: exit status {done.returncode}: {done.stdout[-300:]}")
        return seconds, self.stood_still()


def shown(text):
    """How many goroutines there are in what was printed: one a line at least, or counted"""
    counts = re.findall(r"^ *(\d+)  [a-z]", text, re.M) + re.findall(r"\] (\d+)$", text, re.M)
    return max(text.count("\n"), sum(map(int, counts)))


def ways(world, goroot, pid):
    """Of others: their name, arguments and input"""
    if w.have("dlv"):
        yield "delve", ["dlv", "attach", pid, "--allow-non-terminal-interactive=true"], \
            f"goroutines -t {FRAMES}\nexit\nn\n"
    script = os.path.join(goroot, "src", "runtime", "runtime-gdb.py")
    if w.have("gdb"):
        yield "gdb, without stacks", ["gdb", "-p", pid, "-batch", "-ex", f"source {script}", "-ex",
                                      "info goroutines"], ""


def dumped(world):
    """Seconds from SIGQUIT until the program has printed all and is gone"""
    target = Parked(world, "dumped")
    with contextlib.suppress(PermissionError):  # as in undisturbed()
        for thread in os.listdir(f"/proc/{target.pid}/task"):
            os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(1))
    with open(f"/proc/{target.pid}/fd/2", "rb") as log:
        seconds = target.process.finish(signal.SIGQUIT)
        shown = sum(line.startswith(b"goroutine ") for line in log)
    if shown < GOROUTINES:
        raise Failed(f"the program's own dump has {shown} goroutines")
    return seconds


def parked(world):
    target = Parked(world, "looked-at")
    ours = [world.tool("gostacks"), target.pid]
    for name, argv, says in ways(world, world.goroot(VERSION), target.pid):
        rounds = [(target.looked_at(ours), target.looked_at(argv, says)) for _ in range(ROUNDS)]
        what = f"stacks of {GOROUTINES:,} goroutines"
        yield Row(what, name, [r[0][0] for r in rounds], [r[1][0] for r in rounds], "s", 1, LIMIT_S)
        yield Row("  stood still meanwhile", name, [r[0][1] for r in rounds], [r[1][1] for r in rounds], "ms", 1)
    for option, limit in {"-f": LIMIT_S, "-a": LIMIT_S, "-j": None}.items():
        argv = [world.tool("gostacks"), option, target.pid]
        rounds = [(target.looked_at(argv), dumped(world)) for _ in range(ROUNDS)]
        yield Row(f"gostacks {option}", "SIGQUIT", [r[0][0] for r in rounds], [r[1] for r in rounds], "s", None, limit)
