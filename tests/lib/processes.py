# SPDX-License-Identifier: Apache-2.0
"""Processes that tests start: with default signals, with a limit on what they print; they and all
that they have started end with the test."""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
import time

PATIENCE = 200  # seconds; other tracers may hold kernel locks for long
OUTPUT_MAX = 128 << 20  # bytes kept of one stream; a process that prints more fails its test
LINE_COST = 64          # bytes that a kept line takes beside its text
CHUNK = 1 << 16
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class Failure(Exception):
    """A test saw something else than it should."""


def default_signals():
    """Children get default signals whatever this process was started with: a script's `command &`
    has SIGINT ignored, one of nohup(1) SIGHUP. A handler that does nothing still ignores the
    signal here, but is not inherited over execve."""
    for number in signal.valid_signals():
        # Python ignores these itself, and resets them in children
        if number in (signal.SIGPIPE, signal.SIGXFSZ):
            continue
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def prctl(option, value):
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def adopt_orphans():
    """Orphans of our descendants become our children."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent):
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)


def parents():
    """{pid: (parent, is a zombie)} of all processes"""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:
            continue
        found[int(pid)] = (int(parent), state == b"Z")
    return found


def descendants(keep=()):
    """{pid: is a child of ours}, without those of `keep` and without zombies of others"""
    every, us, found = parents(), os.getpid(), {}
    children = {}
    for pid, (parent, _) in every.items():
        children.setdefault(parent, []).append(pid)
    todo = [us]
    while todo:
        parent = todo.pop()
        for pid in children.get(parent, []):
            if pid in keep:
                continue
            todo.append(pid)
            if parent == us or not every[pid][1]:
                found[pid] = parent == us
    return found


def end_descendants(keep=()):
    """Kills and reaps all that was started, orphans included. Names what does not end."""
    for _ in range(250):
        left = descendants(keep)
        if not left:
            return
        for pid, is_child in left.items():
            try:
                os.kill(pid, signal.SIGKILL)
                if is_child:
                    os.waitpid(pid, os.WNOHANG)
            except (ProcessLookupError, ChildProcessError):
                pass
        time.sleep(0.02)
    print(f"processes that do not end: {sorted(left)}", flush=True)


class Lines:
    """Reads a pipe in a thread, so that the process at its other end never waits for us."""

    def __init__(self, pipe, arrived, too_much):
        self.lines, self.arrived, self.too_much = [], arrived, too_much
        self.size, self.pipe = 0, pipe
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        begun = bytearray()
        while chunk := self.pipe.read1(CHUNK):
            self.size += len(chunk) + LINE_COST * chunk.count(b"\n")
            if self.size > OUTPUT_MAX:
                self.too_much()
                continue
            whole, end, rest = chunk.rpartition(b"\n")
            if end:
                self.add([line + b"\n" for line in (begun + whole).split(b"\n")])
                begun.clear()
            begun += rest
        self.add([begun] if begun else [])

    def add(self, lines):
        with self.arrived:
            self.lines += [line.decode("utf-8", "replace") for line in lines]
            self.arrived.notify_all()

    def text(self):
        return "".join(self.lines)


def start(argv, **kwargs):
    """Popen, repeated while a file just copied is busy: a child that another thread has just forked
    may have it open for writing until its execve."""
    for _ in range(100):
        try:
            return subprocess.Popen(argv, **kwargs)
        except OSError as why:
            if why.errno != errno.ETXTBSY:
                raise
            time.sleep(0.05)
    raise Failure(f"{argv[0]} is always busy")


class Process:
    """A child whose output is read as it comes."""

    def __init__(self, argv, **kwargs):
        self.argv, self.printed_too_much = argv, False
        kwargs.setdefault("stdin", subprocess.PIPE)
        self.child = start(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
        self.arrived = threading.Condition()
        self.out = Lines(self.child.stdout, self.arrived, self.too_much)
        self.err = Lines(self.child.stderr, self.arrived, self.too_much)

    @property
    def pid(self):
        return self.child.pid

    def too_much(self):
        self.printed_too_much = True
        self.child.kill()

    def check_output(self):
        if self.printed_too_much:
            raise Failure(f"{self.argv[0]} prints more than can be kept: {self.said()}")

    def finish_reading(self, timeout=5.0):
        """Is all output read? Not while a process that the child has left behind has it open."""
        end = time.monotonic() + timeout
        for lines in self.out, self.err:
            lines.thread.join(max(0, end - time.monotonic()))
        return not self.out.thread.is_alive() and not self.err.thread.is_alive()

    def wait_line(self, start, timeout=PATIENCE):  # pylint: disable=redefined-outer-name
        """The first line on stdout or stderr that begins with `start`."""
        end = time.monotonic() + timeout
        line, gone, seen = None, False, [0, 0]
        while not line and not gone and time.monotonic() < end:
            gone = self.child.poll() is not None
            if gone:
                self.finish_reading()
            with self.arrived:
                lines = self.out.lines[seen[0]:] + self.err.lines[seen[1]:]
                seen = [len(self.out.lines), len(self.err.lines)]
                line = next((found for found in lines if found.startswith(start)), None)
                if not line and not gone:
                    self.arrived.wait(0.1)
        if not line:
            self.check_output()
            what = "ended" if self.child.poll() is not None else "is silent"
            raise Failure(f"{self.argv[0]} {what} without '{start}': {self.said()}")
        return line

    def say(self, line=""):
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def signal(self, number):
        if self.child.poll() is None:
            self.child.send_signal(number)

    def wait(self, timeout=PATIENCE):
        """Exit status, with all output read."""
        try:
            status = self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{' '.join(self.argv)[:300]} does not end: {self.said()}") from None
        self.finish_reading()
        self.check_output()
        return status

    def said(self):
        return (self.out.text()[-300:] + " | " + self.err.text()[-500:]).strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        # processes left behind may hold the output open: closing the pipe would wait for its reader
        read = self.finish_reading(1)
        for pipe in (self.child.stdin, *([self.child.stdout, self.child.stderr] if read else [])):
            try:
                if pipe:
                    pipe.close()
            except OSError:
                pass


def feed(pipe, text):
    try:
        pipe.write(text.encode())
        pipe.close()
    except OSError:
        pass  # it has read enough


def run(argv, timeout=PATIENCE, input=None, **kwargs):  # pylint: disable=redefined-builtin
    """Runs a command to its end: CompletedProcess with text in stdout and stderr."""
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    if input is not None:
        kwargs["stdin"] = subprocess.PIPE
    end = time.monotonic() + timeout
    with Process(argv, **kwargs) as process:
        if input is not None:
            feed(process.child.stdin, input)
        status = process.child.wait(timeout)
        if not process.finish_reading(end - time.monotonic()):
            raise subprocess.TimeoutExpired(argv, timeout)
        process.check_output()
        return subprocess.CompletedProcess(argv, status, process.out.text(), process.err.text())
