# SPDX-License-Identifier: Apache-2.0
"""What a tool says before it traces, where that takes long or will cost much."""

import os
import pty
import re
import shutil
import signal
import tempfile
import threading
import time

from harness import Target, Tool, expect, newest, run, test, tool_path, toolchain
from processes import PATIENCE, Process

TOOLS = ["gofunccount", "gofunclatency", "gotrace"]
WARNING = (r"^{0}: about to probe (\d+) functions: each of their calls will take {1} longer, .*\n"
           r"hint: .*-d 1")


class Screen:
    """A terminal; text() is what was written to it."""

    def __init__(self):
        self.ours, self.theirs = pty.openpty()
        self.pieces = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while piece := os.read(self.ours, 65536):
                self.pieces.append(piece.decode())
        except OSError:
            pass  # the last writer has closed it

    def text(self):
        return "".join(self.pieces)

    def lines(self):
        """What can be read on it"""
        shown, line, at = [], [], 0
        for character in self.text():
            if character == "\r":
                at = 0
            elif character == "\n":
                shown.append("".join(line))
                line, at = [], 0
            else:
                line[at:at + 1] = character
                at += 1
        return [line.rstrip() for line in [*shown, "".join(line)] if line.strip()]


def stopped_for_a_while(process, seconds):
    """A slow machine: the tool has begun, and is not done, for so long."""
    end = time.monotonic() + PATIENCE
    while len(os.listdir(f"/proc/{process.child.pid}/task")) < 2:
        expect(time.monotonic() < end, "it has no second thread")
    process.signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.signal(signal.SIGCONT)


@test(tool=TOOLS)
def progress_on_a_terminal(tool):
    screen = Screen()
    with Target("steady", newest(), args=["threads=1"]) as target:
        name = os.ttyname(screen.theirs)
        with Process(["sh", "-c", f'exec "$@" 2>{name}', "sh", tool_path(tool), "-d", "2", "-p",
                      str(target.target_pid), "main.digest"]) as tracer:
            stopped_for_a_while(tracer, 1.3)
            tracer.wait_line("PID " if tool == "gotrace" else "Tracing ")
            time.sleep(1.2)
            shown = screen.lines()
            expect(tracer.wait() == 0, tracer.said())
    expect(not [line for line in shown if " s)" in line], f"while it traces: {shown}")
    expect(re.search(rf"\r{tool}: [^\r]+ \(\d+ s\)", screen.text()), repr(screen.text()))
    expect(not [line for line in screen.lines() if " s)" in line], f"{screen.lines()}")


@test(tool=TOOLS)
def no_progress_elsewhere(tool):
    with Target("steady", newest(), args=["threads=1"]) as target, \
            Tool(tool, "-d", "0.3", "-p", target.target_pid, "main.digest") as tracer:
        stopped_for_a_while(tracer, 1.3)
        expect(tracer.wait() == 0, tracer.said())
        expect(" s)" not in tracer.err.text() and "\r" not in tracer.said(), tracer.said())


def traced(tool, done):
    """How many functions it traces, as it says itself; gotrace under a header"""
    return int(re.search(r"^Tracing (\d+) functions", done.stderr + done.stdout, re.M)[1])


@test(tool=TOOLS)
def many_functions_cost(tool):
    """More than 10,000 functions: how many there are, and what a call will cost"""
    compiler = f"{toolchain(newest())}/pkg/tool/linux_amd64/compile"
    pattern = '*' if tool != "gotrace" else '* "%d", $goid'
    command = [tool_path(tool), *(["--header", "ID"] if tool == "gotrace" else [])]
    takes = "some 10 microseconds" if tool == "gofunclatency" else "1 to 4 microseconds"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "compile")
        shutil.copy(compiler, path)
        done = run([*command, pattern, "--", path, "-V"], timeout=300)
        expect(done.returncode == 0, done.stderr[-500:])
        found = re.search(WARNING.format(tool, takes), done.stderr, re.M)
        count = traced(tool, done)
        expect(found and int(found[1]) == count > 10000, f"{count} functions: {done.stderr[:500]}")
        # many match, and few of them are traced
        if tool == "gotrace":
            done = run([*command, 'r:* ($err != nil) "%v", $err', "--", path, "-V"], timeout=300)
            expect(done.returncode == 0 and traced(tool, done) < 10000 and "about to probe" not in done.stderr,
                   done.stderr[:500])
        done = run([*command, pattern.replace("*", "cmd/compile/internal/s*", 1), "--", path,
                    "-V"], timeout=300)
        expect(done.returncode == 0 and "about to probe" not in done.stderr, done.stderr[:500])


@test()
def variable_without_dollar():
    """Of one function, and of many, none of which has a parameter of this name"""
    with Target("calls", newest()) as target:
        one = run([tool_path("gotrace"), f"r:{target.path}:main.main (latency > 5ms)"])
        expect("hint: write $latency\n" in one.stderr, one.stderr)
        many = run([tool_path("gotrace"), f"r:{target.path}:main.* (latency > 5ms)"])
        expect(re.search(r'^hint: 28 of them, such as main\S+: no parameter or result is called "latency": write \$latency$', many.stderr, re.M),
               many.stderr)
