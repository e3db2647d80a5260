# SPDX-License-Identifier: Apache-2.0
"""Programs under measurement: started, waited for, interrupted, and their use of memory."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 120  # seconds that anything may take before it counts as hung


class Failed(Exception):
    """What could not be measured, and why."""


class Process:
    """A program with its stdout read line by line; stderr goes to a file."""

    started = []

    def __init__(self, argv, env=None):
        self.argv = argv
        self.log = tempfile.TemporaryFile()
        self.pending = b""
        self.text = ""
        self.status = None
        self.start = time.monotonic()
        self.child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.log,
                                      env={**os.environ, "GOTOOLS_CACHE": "no", **(env or {})})
        Process.started.append(self)

    @classmethod
    def end_all(cls):
        """Leaves nothing running that a figure which failed has started."""
        for process in cls.started:
            if process.child.returncode is None:
                process.child.kill()
                process.child.wait()
        cls.started.clear()

    def errors(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace").strip()

    def fail(self, what):
        self.child.kill()
        raise Failed(f"{' '.join(self.argv)[:200]}: {what}\n{self.text}{self.errors()}")

    def _read(self):
        if not select.select([self.child.stdout], [], [], PATIENCE)[0]:
            self.fail(f"silent for {PATIENCE} s")
        return os.read(self.child.stdout.fileno(), 65536)

    def line(self):
        """The next line of stdout."""
        while b"\n" not in self.pending:
            more = self._read()
            if not more:
                self.fail("ended early")
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        self.text += line.decode(errors="replace") + "\n"
        return line.decode(errors="replace")

    def wait_for(self, word):
        """Seconds from the start until a line holds `word`."""
        while word not in self.line():
            pass
        return time.monotonic() - self.start

    def alive(self):
        how = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.child.pid, how) is None

    def tell(self, text):
        self.child.stdin.write(text.encode())
        self.child.stdin.flush()

    def finish(self, sig=None):
        """Interrupts it with `sig` or ends its input; reads all that is left, returns seconds."""
        start = time.monotonic()
        if sig:
            self.child.send_signal(sig)
        else:
            self.child.stdin.close()
        while more := self._read():
            self.pending += more
        _, self.status, self.usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(self.status)
        self.text += self.pending.decode(errors="replace")
        return time.monotonic() - start

    def interrupt(self):
        seconds = self.finish(signal.SIGINT)
        if self.child.returncode not in (0, -signal.SIGINT):
            raise Failed(f"{self.argv[0]}: exit status {self.child.returncode}\n{self.errors()}")
        return seconds

    def peak_mb(self):
        """Peak resident memory, once it has ended."""
        return self.usage.ru_maxrss / 1024


@contextlib.contextmanager
def undisturbed():
    """What is started in here runs before all else on the machine, so that the clock tells what it
    took and not what else was going on."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("tests/bench: no real-time priority here: times vary", file=sys.stderr)
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def run(argv, **kwargs):
    """Output of a program that must succeed."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=PATIENCE, check=False, **kwargs)
    if done.returncode:
        raise Failed(f"{' '.join(argv)[:200]}: exit status {done.returncode}\n"
                     f"{done.stdout[-500:]}{done.stderr[-2000:]}")
    return done.stdout
