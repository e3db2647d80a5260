# SPDX-License-Identifier: Apache-2.0
"""Results of tests: each runs in a process of its own, which ends with all that it has started. One
process writes the result lines, each whole: `ok NAME`, `not ok NAME: reason`, `skip NAME: reason`."""

import fnmatch
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.parse

from processes import Failure, adopt_orphans, default_signals, die_with_parent, end_descendants

TEST_SECONDS = 900  # that one test may take
LINE_MAX = 4000     # characters of a result
SAID_MAX = 20000    # bytes kept of what a test itself prints
COVERED = os.environ.get("GOTOOLS_COVERED", "")


class Skip(Exception):
    """The test needs what this machine lacks, and no package could provide."""


def outcome(name, function):
    """The result lines of one test; its function may return several lines of its own."""
    try:
        return function() or [f"ok {name}"]
    except Skip as why:
        return [f"skip {name}: {why}"]
    except (Failure, subprocess.TimeoutExpired) as why:
        return [f"not ok {name}: {why}"]
    except Exception as why:  # pylint: disable=broad-except
        where = " ".join(traceback.format_exc().split()[-30:])
        return [f"not ok {name}: {type(why).__name__}: {where}"]


def one_line(text):
    return " ".join(text.split())[:LINE_MAX].encode("utf-8", "backslashreplace") + b"\n"


def matches(test, pattern):
    """Is this a test's name, the beginning of it, or a glob that it fits? With a `$` behind it: the whole name?"""
    if pattern.endswith("$"):
        return test == pattern[:-1]
    return test.startswith(pattern) or fnmatch.fnmatch(test, pattern)


def unknown(patterns, groups, names):
    """Result lines for those of the patterns, of these groups, that no name matches: a test that was asked for
    and is not there has not passed."""
    asked = [p for p in patterns if p.split("/")[0] in groups]
    return [f"not ok {p}: no test is called so" for p in asked if not any(matches(name, p) for name in names)]


def too_long(*_):
    raise Failure(f"takes more than {TEST_SECONDS} s")


def asked_to_end(*_):
    sys.exit(1)


class Runner:
    """Runs tests, some at a time, and prints their lines."""

    def __init__(self, jobs, times=False):
        self.jobs, self.times = jobs, times
        self.running = {}  # pid: (name, its result lines, what it prints, when it began)
        self.passed = True
        default_signals()
        adopt_orphans()
        signal.signal(signal.SIGTERM, asked_to_end)

    def run(self, tests):
        """tests: (name, function). False: one has failed."""
        try:
            for name, function in tests:
                if len(self.running) >= self.jobs:
                    self.finish_one()
                self.start(name, function)
            while self.running:
                self.finish_one()
        finally:
            end_descendants()  # of a run that is interrupted
        return self.passed

    def start(self, name, function):
        result, said = (tempfile.TemporaryFile() for _ in range(2))
        sys.stdout.flush()
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            if COVERED:  # what programs built with --coverage execute is kept for each test apart
                os.environ["GCOV_PREFIX"] = os.path.join(COVERED, urllib.parse.quote(name, ""))
            work(parent, result, said, functools.partial(outcome, name, function))
        self.running[pid] = (name, result, said, time.monotonic())

    def finish_one(self):
        while True:
            pid, status, used = os.wait3(0)
            if pid in self.running:  # else an orphan of a test that died
                break
        name, result, said, begun = self.running.pop(pid)
        lines = contents(result)
        if status or not lines:
            how = os.waitstatus_to_exitcode(status)
            lines.append(f"not ok {name}: the process of the test ended with {how}, without a result")
            end_descendants(keep=self.running)
        if self.times:
            computed = used.ru_utime + used.ru_stime  # its children that it has waited for included
            lines[-1] += f"  # {time.monotonic() - begun:.1f} s, {computed:.1f} s of a processor"
        self.passed = self.passed and not any(line.startswith("not ok") for line in lines)
        write_lines([f"# {printed}" for printed in contents(said, SAID_MAX)] + lines)


def work(parent, result, said, function):
    """A test's process; never returns."""
    try:
        die_with_parent(parent)
        adopt_orphans()
        signal.signal(signal.SIGALRM, too_long)
        signal.alarm(TEST_SECONDS)
        for fd in 1, 2:
            os.dup2(said.fileno(), fd)
        lines = function()
        signal.alarm(0)
        result.write(b"".join(map(one_line, lines)))
        result.flush()
    finally:
        sys.stdout.flush()
        end_descendants()
        os._exit(0)  # pylint: disable=protected-access


def contents(file, most=-1):
    """Lines of a file; closes it."""
    with file:
        file.seek(0)
        return file.read(most).decode("utf-8", "replace").splitlines()


def write_lines(lines):
    """Writes them at once, so that no other process's lines come between."""
    data = "".join(line + "\n" for line in lines).encode("utf-8", "backslashreplace")
    sys.stdout.flush()
    while data:
        data = data[os.write(1, data):]
