# SPDX-License-Identifier: Apache-2.0
"""The numbers in tables and histograms: in what order, in which unit, of which CPU and interval."""

import datetime
import os
import re
import time

from harness import (Skip, Target, Tool, compare_counts, counted, expect, json_lines, newest, run,
                     test, tool_path)

from gotrace import Tracer, trace

ROW = re.compile(r"^(\S+) +(\d+)$", re.M)
LATENCY = re.compile(r"^avg = (\d+)(?:\.\d(?= usecs)|\.\d{3}(?= msecs))? (\w+), total: (\d+) \w+, count: (\d+)\n"
                     r"p50 = (\d+), p90 = (\d+), p99 = (\d+), max = (\d+) \w+$", re.M)


def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("one CPU only")
    return cpus[:2]


def on_cpu(cpu):
    """What starts a target that stays on one CPU"""
    return lambda path: ["taskset", "-c", str(cpu), path]


@test()
def count_cpu():
    """-c counts what runs on that CPU, and nothing else."""
    here, elsewhere = two_cpus()
    with Target("recurse", newest(), argv=on_cpu(here)) as target:
        with Tool("gofunccount", "-j", "-c", here, "-p", target.target_pid, ":main.*") as all_of_it, \
                Tool("gofunccount", "-j", "-c", elsewhere, "-p", target.target_pid, ":main.*") as none:
            all_of_it.tracing()
            none.tracing()
            target.go()
            compare_counts(target.truth(), all_of_it.records())
            expect(not counted(none.records()), f"calls on CPU {elsewhere}: {none.out.text()}")


@test()
def trace_cpu():
    """-C, $cpu and JSON name the CPU."""
    cpu = two_cpus()[1]
    with Target("traced", newest(), argv=on_cpu(cpu)) as target:
        text, _ = trace(target, "-C", ':main.add "%d", $cpu', f':main.add ($cpu == {cpu}) "same"')
    expect([line.split()[0] for line in text.splitlines()] == ["CPU", str(cpu), str(cpu)], text)
    expect([line.split()[-1] for line in text.splitlines()[1:]] == [str(cpu), "same"], text)
    with Target("traced", newest(), argv=on_cpu(cpu)) as target:
        text, _ = trace(target, "-j", ":main.add")
    expect([event["cpu"] for event in json_lines(text)] == [cpu], text)


@test(tool=["gofunccount", "gofunclatency", "gotrace"])
def times_are_utc(tool):
    """Times in JSON, wherever the machine is"""
    env = dict(os.environ, TZ="Asia/Kolkata")
    before = datetime.datetime.now(datetime.timezone.utc)
    with Target("traced", newest()) as target:
        options = [] if tool == "gotrace" else ["-T"]
        with Tool(tool, "-j", *options, "-p", target.target_pid, ":main.add", env=env) as tracer:
            tracer.tracing()
            target.go()
            records = tracer.records()
    after = datetime.datetime.now(datetime.timezone.utc)
    times = [datetime.datetime.fromisoformat(r["time"][:26].rstrip("Z") + "+00:00") for r in records]
    expect(times and all(r["time"].endswith("Z") for r in records), f"{records}")
    expect(all(before <= at <= after for at in times), f"{times}, not from {before} to {after}")


@test()
def trace_times():
    """-T is the clock on the wall, -t the time since the start: not since another moment"""
    env = dict(os.environ, TZ="Asia/Kolkata")  # 5:30 from UTC, whatever the season
    begun = time.time()
    with Target("traced", newest()) as target:
        with Tracer("-T", "-t", "-p", target.target_pid, ":main.add", env=env) as tracer:
            tracer.wait_line("TIME ")
            since = time.time()
            target.go()
            clock, seconds = tracer.rest().splitlines()[1].split()[:2]
    took = time.time()
    there = datetime.timezone(datetime.timedelta(hours=5, minutes=30))
    clocks = [datetime.datetime.fromtimestamp(at, there).strftime("%H:%M:%S")
              for at in range(int(begun), int(took) + 1)]
    expect(clock in clocks, f"{clock}, not {clocks}")
    expect(0 <= float(seconds) <= took - begun, f"{seconds} s after the start, {took - since} after it traced")


@test()
def count_order():
    """Rows ascend by count, those of one count by name; functions that were not called have none."""
    with Target("recurse", newest()) as target:
        with Tool("gofunccount", "-p", target.target_pid, ":main.*") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            expect(tracer.wait() == 0, tracer.said())
    text = tracer.out.text()
    rows = [(int(count), name) for name, count in ROW.findall(text[text.index("FUNC "):])]
    rows = [row for row in rows if row[1] != "FUNC"]
    expect(rows == sorted(rows) and len(rows) > 3, f"not in order: {rows}")
    expect(rows[0][0] > 0 and "main.begin" not in text, f"of functions not called: {rows}")
    for track in truth:
        expect((track["calls"], track["func"]) in rows, f"{track['func']} in {rows}")


@test()
def count_half_seconds():
    """-i takes parts of a second: two in between, and what is left at the end."""
    with Target("steady", newest(), args=["threads=1"]) as target:
        result = run([tool_path("gofunccount"), "-i", "0.5", "-d", "1.3", f"{target.path}:main.digest"])
        tables = len(re.findall("^FUNC ", result.stdout, re.M))
        expect(tables == 3, f"{tables} tables: {result.stdout}")


UNITS = {"nsecs": ([], 1), "usecs": (["-u"], 1000), "msecs": (["-m"], 1_000_000)}


@test(name=UNITS)
def latency_units(name):
    """Total, average and percentiles of calls that sleep for 10, 20 and 30 ms, as text"""
    options, ns = UNITS[name]
    with Target("traced", newest()) as target:
        with Tool("gofunclatency", *options, "-p", target.target_pid, ":main.slowly") as tracer:
            tracer.tracing()
            target.go()
            took = sorted(next(t["ns"] for t in target.truth() if t["func"] == "main.slowly"))
            expect(tracer.wait() == 0, tracer.said())
    said = LATENCY.search(tracer.out.text())
    expect(said and said[2] == name, f"no {name}: {tracer.said()}")
    avg, total, count, *rest = (int(said[i]) for i in (1, 3, 4, 5, 6, 7, 8))
    expect(count == len(took) == 3, f"{count} calls of {took}")
    expect(60_000_000 // ns <= total <= sum(took) / ns, f"total {total} {name} of {took} ns")
    expect(avg in (total // 3, total // 3 + 1), f"average {avg} of {total}")
    for what, got, least, most in zip(("p50", "p90", "p99", "max"), rest, (20, 30, 30, 30),
                                      (took[1] * 17 / 16, *[took[2]] * 3)):
        expect(least * 1_000_000 // ns <= got <= most / ns, f"{what} {got} {name} of {took} ns")
