# SPDX-License-Identifier: Apache-2.0
"""A program whose list of goroutines stands where memory never comes: in a mapped file of a file system that
does not answer. gostacks and goleaks give it up, show the others, and end at the first Ctrl-C."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

from harness import PATIENCE, TESTS, Target, Tool, expect, newest, test

sys.path.insert(0, TESTS + "/e2e")

# pylint: disable=wrong-import-position
from hostilefuse import NeverFile

GAVE_UP = r"^{}: process {}: gave up: the kernel has been waiting for its memory, or a file, for (\d+\.\d) s$"
WHOLE = 5.0  # seconds that it waits


def put_list(target):
    """runtime.allgs stands where the memory is that never comes; the program stands still."""
    symbols = subprocess.run(["nm", target.path], capture_output=True, text=True, check=True).stdout
    addr = int(re.search(r"^(\w+) . runtime\.allgs$", symbols, re.M)[1], 16)
    place = int(re.search(r"^memory (\d+)$", target.out.text(), re.M)[1])
    os.kill(target.target_pid, signal.SIGSTOP)
    mem = os.open(f"/proc/{target.target_pid}/mem", os.O_RDWR)
    try:
        os.pwrite(mem, b"".join(n.to_bytes(8, "little") for n in (place, 100, 100)), addr)
    finally:
        os.close(mem)


@contextlib.contextmanager
def hanging():
    file = NeverFile()
    try:
        with Target("hangs", newest(), args=[f"file={file.path}"]) as target:
            put_list(target)
            try:
                yield target
            finally:
                file.close()  # who waits is let go
                target.child.kill()
    finally:
        file.close()


def waited(tool, pid):
    found = re.findall(GAVE_UP.format(os.path.basename(tool.argv[0]), pid), tool.err.text(), re.M)
    expect(len(found) == 1, f"{tool.said()}")
    return float(found[0])


@test()
def gostacks_hangs():
    """Those that come after it are shown."""
    with hanging() as target, Target("parked", newest(), "strip", args=["unsettled"]) as other, \
            Tool("gostacks", target.target_pid, other.target_pid) as tool:
        expect(tool.wait() == 1, f"{tool.said()}")
        expect(waited(tool, target.target_pid) == WHOLE, f"{tool.said()}")
        expect(re.search(rf"^{other.target_pid} \S+ \(go.*goroutines", tool.out.text(), re.M), f"{tool.said()}")
        expect(f"{target.target_pid} " not in tool.out.text(), f"{tool.said()}")


def is_waiting(tool):
    """Does a process of the tool's wait in the kernel, as it does not for its work?"""
    children = subprocess.run(["ps", "--ppid", str(tool.child.pid), "-o", "wchan="], capture_output=True, text=True,
                              check=False).stdout.split()
    return any(re.match("request_wait|fuse|folio_wait|.*lock_killable", where) for where in children)


@test(name=["gostacks", "goleaks"])
def reader_interrupted(name):
    """The first Ctrl-C, not the second"""
    with hanging() as target, Tool(name, "-i", "1", target.target_pid) as tool:
        end = time.monotonic() + PATIENCE
        while not is_waiting(tool):
            expect(time.monotonic() < end and tool.child.poll() is None, f"{tool.said()}")
            time.sleep(0.01)
        tool.signal(signal.SIGINT)
        expect(tool.wait() in (0, 1), f"{tool.said()}")
        expect(waited(tool, target.target_pid) < WHOLE, f"{tool.said()}")


def readers(tool, target):
    """The tool's process that has the target's memory open"""
    children = subprocess.run(["ps", "--ppid", str(tool.child.pid), "-o", "pid="], capture_output=True, text=True,
                              check=False).stdout.split()
    found = []
    for child in children:
        links = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")]
        if f"/proc/{target.target_pid}/mem" in links:
            found.append(int(child))
    return found


@test()
def gostacks_reader_ends():
    """Whoever reads one process may come to any end: the other is looked at all the same."""
    with Target("parked", newest(), "strip", args=["unsettled"]) as one, \
            Target("parked", newest(), "strip", args=["unsettled"]) as other, \
            Tool("gostacks", "-i", "100ms", one.target_pid, other.target_pid) as tool:
        tool.wait_line(f"{other.target_pid} ")
        found = readers(tool, one)
        expect(len(found) == 1, f"{found}")
        os.kill(found[0], signal.SIGKILL)
        end, before = time.monotonic() + PATIENCE, None
        while before is None or tool.out.text().count(f"\n{other.target_pid} ") < before + 3:
            if before is None and tool.err.text():
                before = tool.out.text().count(f"\n{other.target_pid} ")
            expect(time.monotonic() < end and tool.child.poll() is None, f"{tool.said()}")
            time.sleep(0.02)
        tool.signal(signal.SIGINT)
        expect(tool.wait() == 1, f"{tool.said()}")
        expect(tool.err.text() == f"gostacks: process {one.target_pid}: what reads it was ended: Killed\n",
               f"{tool.err.text()}")
