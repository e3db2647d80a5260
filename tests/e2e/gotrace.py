# SPDX-License-Identifier: Apache-2.0
"""gotrace as the tests run it: started, waited for, its lines taken apart."""

import collections
import re
import time

from harness import PATIENCE, Failure, Target, Tool, expect

HEADER = "PID     TID     GOID    COMM            FUNC             -"
ROW = re.compile(r"^(?P<pid>\d+) +(?P<tid>\d+) +(?P<goid>\d+) +(?P<comm>.{1,15}?) +"
                 r"(?P<func>\S+)(?: +(?P<text>.*))?$")
Row = collections.namedtuple("Row", "pid tid goid comm func text")


class Tracer(Tool):
    """gotrace, running"""

    def __init__(self, *args, **kwargs):
        super().__init__("gotrace", *args, **kwargs)

    def attached(self):
        """Until it says that it traces: by its header, or by a line of its own"""
        end = time.monotonic() + PATIENCE
        while not re.search(r"^(TIME +)?(CPU +)?(ROOT +)?(PID |Tracing )", self.out.text() + self.err.text(), re.M):
            if self.child.poll() is not None or time.monotonic() > end:
                raise Failure(f"{self.argv} does not trace: {self.said()}")
            with self.arrived:
                self.arrived.wait(0.1)
        return self

    def rest(self, status=0):
        """What it printed, after it has ended by itself"""
        got = self.wait()
        expect(got == status, f"{self.argv} ended with {got}: {self.said()}")
        return self.out.text()


def rows(text, stacks=False):
    """The lines of default output; with `stacks`, (row, lines below it)"""
    out = []
    for line in text.splitlines():
        if found := ROW.match(line):
            row = Row(int(found["pid"]), int(found["tid"]), int(found["goid"]), found["comm"],
                      found["func"], found["text"] or "")
            out.append((row, []) if stacks else row)
        elif stacks and out and line.strip():
            out[-1][1].append(line.strip())
    return out


def trace(target, *args):
    """Traces a target until it has ended by itself: gotrace's stdout and stderr"""
    with Tracer("-p", target.target_pid, *args) as tracer:
        tracer.attached()
        target.go()
        text = tracer.rest()
        status = target.wait()
        expect(status == 0, f"the target ended with {status}: {target.said()}")
        return text, tracer.err.text()


def trace_fixture(name, version, *args, flavour="plain", words=()):
    """As above, of a fixture of its own: stdout, and what the target printed"""
    with Target(name, version, flavour, args=words) as target:
        text, _ = trace(target, *args)
        return text, target.out.text()


def texts(text, func=None):
    return [row.text for row in rows(text) if func in (None, row.func)]
