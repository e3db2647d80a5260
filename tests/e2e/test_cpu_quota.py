# SPDX-License-Identifier: Apache-2.0
"""A process whose cgroup has a quota of CPUs, or is frozen: tools say so, as nothing else would tell."""

import contextlib
import os
import re
import time

from cgroups import cgroup, fill
from harness import Target, Tool, expect, json_lines, newest, run, test, tool_path

PERIOD_US, PART = 100_000, 0.2


def argv(group):
    return {"argv": lambda path: ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", path]}


@contextlib.contextmanager
def held_back(**how):
    """A program that wants more than it may have"""
    quota = int(PART * PERIOD_US)
    with cgroup("cpu", {"cpu.max": f"{quota} {PERIOD_US}"},
                {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota}) as group, \
            Target("threads", newest(), **argv(group), **how) as target:
        yield target, group


def periods(group):
    with open(f"{group}/cpu.stat", encoding="utf-8") as file:
        stat = dict(line.split() for line in file)
    return int(stat["nr_periods"]), int(stat["nr_throttled"])


@test()
def quota_seen():
    """gostat, in numbers and once in words"""
    with held_back(args=["hold=1000000", "rounds=1"]) as (target, group):
        target.go()
        before = periods(group)
        done = run([tool_path("gostat"), "-j", "-i", "0.3", "-d", "1", str(target.target_pid)])
        after = periods(group)
        looks = json_lines(done.stdout)
        shown = run([tool_path("gostat"), "-i", "0.3", "-d", "1", str(target.target_pid)])
    expect(done.returncode == 0 and not done.stderr and len(looks) >= 2, f"{done}")
    expect(all(look["cpu_quota_millicores"] == 1000 * PART for look in looks), looks[0])
    seen = [(look["cpu_quota_periods"], look["cpu_quota_throttled"]) for look in looks]
    expect(before <= seen[0] and seen == sorted(seen) and seen[-1] <= after, f"{before}, {seen}, {after}")
    expect(seen[-1][1] - seen[0][1] >= 2, f"it was not held back: {seen}")
    said = re.findall(r"^gostat: process (\d+) was throttled in (\d+) of (\d+) periods: its cgroup may use 0\.2 CPUs, "
                      r"GOMAXPROCS is \d+$", shown.stderr, re.M)
    expect(len(said) == 1 == shown.stderr.count("\n") and int(said[0][0]) == target.target_pid and
           1 <= int(said[0][1]) <= int(said[0][2]) <= 6, shown.stderr)


@test()
def quota_of_states():
    """gofunclatency --states, which calls those that are held back running"""
    with held_back(args=["hold=100000", "rounds=1"]) as (target, _), \
            Tool("gofunclatency", "--states", "main.spins", "-p", target.target_pid).tracing() as tool:
        target.go()
        target.wait_line("done")
        tool.stop()
        said = tool.err.text()
    expect(re.search(r"wanted one: its cgroup may use 0\.2 CPUs, used up in \d+ of \d+ periods of 100 ms\nhint: ",
                     said), said)


@test(tool=["gofunccount", "goprofile", "gostacks", "gostat"])
def frozen(tool):
    """As "docker pause" does it"""
    two, one = {"cgroup.freeze": 0}, {"freezer.state": "THAWED"}
    with cgroup("freezer", two, one) as group, Target("threads", newest(), **argv(group)) as target:
        is_two = os.path.exists(f"{group}/cgroup.freeze")
        fill(group, {"cgroup.freeze": 1} if is_two else {"freezer.state": "FROZEN"})
        try:
            time.sleep(0.1)
            duration = [] if tool == "gostacks" else ["-d", "0.2"]
            done = run([tool_path(tool), *duration, "-p", str(target.target_pid),
                        *(["main.*"] if tool == "gofunccount" else [])])
        finally:
            fill(group, two if is_two else one)
        expect(f"{tool}: process {target.target_pid} is frozen, as in a paused container, and does nothing\nhint: "
               in done.stderr, done)
