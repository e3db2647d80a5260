# SPDX-License-Identifier: Apache-2.0
"""gofunclatency --summary --net: what probes took is taken off, about. The truth is what the same calls take untraced,
by the target's own clock, just before and after."""

import os
import pathlib
import re
import signal
from statistics import median

from harness import Target, Tool, expect, newest, run, test, tool_path

ROUNDS = 5
# What is taken off must be so much of what probes add. The price of a hit goes up and down with the machine: 0.81 to 1.08
# of single rounds were measured.
LEAST, MOST = 0.85, 1.18
OWN_LEAST = 0.65  # 0.69 to 0.82 of single rounds were measured
DEEP = 40 + 1
NESTED = ["main.outer", "main.middle", "main.inner"]


class Calls:
    """Of the fixture `nested`: of a target that runs on"""

    def __init__(self, target, number, env=None):
        self.target, self.number, self.line, self.env = target, number, 0, env
        for task in pathlib.Path(f"/proc/{target.target_pid}/task").iterdir():  # others' work is not to be measured
            os.sched_setscheduler(int(task.name), os.SCHED_FIFO, os.sched_param(1))

    def took(self):
        """ns of a call, by the target's clock"""
        self.line += 1
        self.target.say(str(self.number))
        return float(self.target.wait_line(f"took {self.line} ").split()[2])

    def traced(self, *args):
        with Tool("gofunclatency", "-j", "--summary", "--net", "--max-cost", "100000", "-p", self.target.target_pid,
                  *args, env=self.env) as tool:
            tool.tracing()
            self.took()
            tool.signal(signal.SIGINT)
            return {r["func"]: r for r in tool.records() if r["type"] == "latency"}


def parts(calls, func, share, names):
    """Of what probes add to the calls of `func`, each of which is `share` of one of the fixture's on average: how much
    is taken off, by round"""
    for _ in range(ROUNDS):
        before = calls.took()
        row = calls.traced(*names)[func]
        alone = share * (before + calls.took()) / 2
        expect(row["net_total"] == max(row["total"] - row["probes_total"], 0), f"{row}")
        yield row["probes_total"] / (row["total"] - alone * row["count"])


def expect_parts(found, what, least=LEAST):
    found = list(found)
    print(f"{what}: {' '.join(f'{part:.2f}' for part in found)} of what probes add is taken off", flush=True)
    expect(least < median(found) < MOST, f"{what}: {found} of what probes add is taken off")


@test(version=["1.15", newest()], alone=True)
def net_nested(version):
    """A function that calls others that are traced, 25 times"""
    with Target("nested", version) as target:
        expect_parts(parts(Calls(target, 1000), "main.outer", 1, NESTED), "nested calls")


@test(alone=True, seldom=lambda **_: True)
def net_follow():
    """The same calls, where only those below main.outer count"""
    with Target("nested", newest()) as target:
        expect_parts(parts(Calls(target, 1000), "main.outer", 1, ["--follow", "main.outer", *NESTED]), "--follow")


@test(alone=True, seldom=lambda **_: True)
def net_gccgo():
    with Target("nested", "gccgo") as target:
        expect_parts(parts(Calls(target, 1000), "main.outer", 1, NESTED), "gccgo")


@test(how=["perf", "stub"], alone=True, seldom=lambda **_: True)
def net_attached(how):
    """As on older kernels: each probe by itself, and there with a program of its own as well"""
    with Target("nested", newest()) as target:
        env = dict(os.environ, GOTOOLS_ATTACH=how)
        expect_parts(parts(Calls(target, 1000, env), "main.outer", 1, NESTED), how)


@test(alone=True)
def net_deep():
    """... that calls itself, deeper than a goroutine's entry has room for; a call's share is what is below it."""
    share = sum(range(1, DEEP + 1)) / DEEP / DEEP
    with Target("nested", newest()) as target:
        expect_parts(parts(Calls(target, -50), "main.deep", share, ["main.deep"]), "recursion")


@test(alone=True)
def net_own():
    """... that calls none: a part of its own probes is in its time, and no more than that is taken off. Of so short a
    function less is: what traps make slower in it has no price."""
    with Target("nested", newest()) as target:
        expect_parts(parts(Calls(target, 2000), "main.spin", 1 / 26, ["main.spin"]), "no calls", OWN_LEAST)


@test(alone=True)
def net_text():
    with Target("nested", newest()) as target:
        with Tool("gofunclatency", "--summary", "--net", "-p", target.target_pid, *NESTED) as tool:
            tool.tracing()
            Calls(target, 100).took()
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0, tool.said())
    text = tool.out.text()
    expect(re.search(r"^ +CALLS +TOTAL +NET +AVG +NETAVG +P50 +P99 +MAX FUNC$", text, re.M), text)
    expect("\nNET, NETAVG: about what is left of TOTAL and AVG without the work of probes\n" in text, text)
    rows = {r[-1]: [int(n) for n in r[:-1]] for r in (line.split() for line in text.splitlines())
            if r and r[-1] in NESTED}
    expect([rows[name][0] for name in NESTED] == [100, 500, 2000], text)
    for calls, total, net, avg, netavg, *_ in rows.values():
        expect(net < total and avg == total // calls and netavg == net // calls, text)
    result = run([tool_path("gofunclatency"), "--net", "true:main.main"])
    expect("--net is a part of --summary: give both" in result.stderr and result.returncode == 2, f"{result}")
