# SPDX-License-Identifier: Apache-2.0
"""What becomes of the probes when the file changes, and of the counters when tracing has ended."""

import contextlib
import ctypes
import fcntl
import glob
import os
import re
import signal
import subprocess
import tempfile
import time

from harness import Target, expect, newest, private_copy, run, test, tool_path
from processes import PATIENCE

SYS_BPF, MAP_LOOKUP, MAP_FD_BY_ID, PERCPU_ARRAY = 321, 1, 14, 6  # of linux/bpf.h; amd64
LIBC = ctypes.CDLL(None, use_errno=True)


class Stalled:
    """A tool whose output nobody reads once it traces: it stops where it prints next."""

    def __init__(self, *argv):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        self.reader = os.fdopen(reader, "rb", buffering=0)
        self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        self.printed = b""
        while b"end.\n" not in self.printed:
            byte = self.reader.read(1)
            expect(byte, f"{argv} ended: {self.printed}")
            self.printed += byte
        # an opening of its own: what is not to wait here is to wait there
        filler = os.open(f"/proc/self/fd/{self.reader.fileno()}", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while os.write(filler, b"x"):
                pass
        os.close(filler)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def rest(self):
        """Lets it print: status, stdout, stderr"""
        out = self.reader.read(1 << 20)
        while more := self.reader.read(1 << 20):
            out += more
        err = self.child.stderr.read()
        return self.child.wait(60), out.decode().lstrip("x"), err.decode()


def overwrite(path, with_what):
    with open(with_what, "rb") as source, open(path, "r+b") as file:
        file.write(source.read())
        file.truncate()


@test(tool=["gofunccount", "gofunclatency"], version=lambda: ["1.15", newest()])
def written_in_place(tool, version):
    """A file that is written to is let go of at once, before anything else is done: the new program
    would run into breakpoints in the middle of its instructions."""
    other = "1.19" if version != "1.19" else newest()
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", version)
        new = private_copy(tempfile.mkdtemp(dir=folder), "process", other)
        with Stalled(tool_path(tool), f"{path}:*") as tracer:
            overwrite(path, new)
            time.sleep(1.5)
            expect(tracer.child.poll() is None, "it does not print")
            done = run([path, "once", "now", "calls=50"], timeout=30)
            expect(done.returncode == 0 and '"calls"' in done.stdout, f"the new program: {done}"[:1000])
            status, _, err = tracer.rest()
            said = f'{tool}: "{path}" was written to while it was traced: detached'
            expect(status == 1 and said in err.splitlines(), f"{status}: {err}")


@test()
def written_trace():
    """... by gotrace, which prints as it goes"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        new = private_copy(tempfile.mkdtemp(dir=folder), "process", "1.19")
        with subprocess.Popen([tool_path("gotrace"), f"{path}:main.*"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as tracer:
            expect("PID" in tracer.stdout.readline(), "does not trace")
            overwrite(path, new)
            _, err = tracer.communicate(timeout=60)
            expect(tracer.returncode == 1 and f'"{path}" was written to while it was traced: detached' in err, err)
        done = run([path, "once", "now", "calls=50"])
        expect(done.returncode == 0, f"{done}"[:1000])


def map_ids(pid):
    """BPF maps of counters that a process has open"""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            info = dict(line.split(None, 1) for line in file if line.startswith(("map_", "value_", "max_")))
            if int(info.get("map_type:", 0)) == PERCPU_ARRAY and int(info["value_size:"]) == 8:
                yield int(info["map_id:"]), int(info["max_entries:"])


def bpf(command, *words):
    attr = (ctypes.c_uint64 * 16)(*words)
    got = LIBC.syscall(SYS_BPF, command, attr, ctypes.sizeof(attr))
    expect(got >= 0, f"bpf({command}): {os.strerror(ctypes.get_errno())}")
    return got


def counters(pid):
    """All that the kernel side has counted"""
    with open("/sys/devices/system/cpu/possible", encoding="ascii") as file:
        cpus = int(file.read().strip().rpartition("-")[2]) + 1
    counts = []
    for number, entries in map_ids(pid):
        fd = bpf(MAP_FD_BY_ID, number)
        for row in range(entries):
            key, values = ctypes.c_uint32(row), (ctypes.c_uint64 * cpus)()
            bpf(MAP_LOOKUP, fd, ctypes.addressof(key), ctypes.addressof(values))
            counts.append(sum(values))
        os.close(fd)
    return counts


def after(condition, complaint):
    """What a condition is true of in the end; a loaded machine takes its time."""
    end = time.monotonic() + PATIENCE
    while not (seen := condition()):
        expect(time.monotonic() < end, complaint)
        time.sleep(0.1)
    return seen


@test()
def counters_stand_still():
    """When tracing has ended nothing counts any more, though the probes are there until all is printed."""
    with Target("steady", newest()) as target:
        with Stalled(tool_path("gofunccount"), f"{target.path}:main.*") as tracer:
            def read():
                return counters(tracer.child.pid)

            def still():
                seen = read()
                time.sleep(1)
                return seen if read() == seen else None

            before = after(lambda: any(seen := read()) and seen, "nothing is counted")
            after(lambda: sum(read()) > sum(before), f"no more is counted: {before}")
            tracer.child.send_signal(signal.SIGINT)
            then = after(still, "counts on")
            status, out, err = tracer.rest()
            printed = sum(map(int, re.findall(r"^main\.\S+ +(\d+)$", out, re.M)))
            expect(status == 0 and printed == sum(then), f"{printed} printed, {sum(then)} counted: {err}")
