# SPDX-License-Identifier: Apache-2.0
"""gorunqlat --slower, on goroutines that keep the only P one after the other and time themselves."""

import json
import os
import re

from harness import PROBE_NS, Target, Tool, expect, newest, run, some_versions, test, tool_path

LINE = re.compile(r"^\d\d:\d\d:\d\d runslow +(\d+) +(\d+) +(\d+) (\S+): (.*)$", re.M)


def traced(version, flavour, *options):
    """What the fixture has told of its rounds, and the tool's Process after its end"""
    with Target("runslow", version, flavour) as target:
        with Tool("gorunqlat", "--slower", "4ms", *options, "-p", target.target_pid) as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            rounds = [json.loads(line) for line in target.out.text().splitlines() if '"hogs"' in line]
            return rounds, target.target_pid, tool.out.text(), tool.err.text()


SEEN_NS = 200_000  # a hog that has not seen itself run for longer may have been preempted


def check_round(rnd, record, first):
    """Main waited as long as its clock says; each hog that ran meanwhile is there, with all the time that it has
    seen itself. Of the P's turns before the first that was seen nothing is known."""
    expect(record["ns"] <= rnd["ns"] + 1000, f"{record} of {rnd}")
    ran = {r["goid"]: r["ns"] for r in record["ran"]}
    expect(sum(ran.values()) + record["cut_ns"] <= record["ns"] and (first or record["cut_ns"] == 0), f"{record}")
    for goid, ns, gap in zip(rnd["hogs"], rnd["ran"], rnd["gaps"]):
        if gap < SEEN_NS:
            expect(ran.get(goid, 0) >= ns - 1000, f"goid {goid}: {ran} of {rnd}")
        expect(ran.get(goid, 0) <= max(ns, 0) + 300 * PROBE_NS, f"goid {goid}: {ran} of {rnd}")


@test(version=some_versions, flavour=["plain", "strip"])
def runqslower_waits(version, flavour):
    rounds, pid, out, err = traced(version, flavour, "-j")
    records = [json.loads(line) for line in out.splitlines()]
    expect("lost" not in err and "not tracked" not in err, err)
    expect(all(list(r) == ["type", "goid", "func", "ns", "ran", "cut_ns", "pid", "tid", "cpu", "comm"]
               and r["type"] == "runqslower" and r["pid"] == pid and r["ns"] >= 4_000_000 for r in records), f"{records}")
    expect(all(list(part) == ["goid", "func", "ns"] for r in records for part in r["ran"]), f"{records}")
    for rnd in rounds:
        if max(rnd["ran"]) < 0 or rnd["ns"] < 4_200_000:
            continue  # main did not wait for them
        mine = [r for r in records if r["goid"] == rnd["goid"] and set(rnd["hogs"]) & {p["goid"] for p in r["ran"]}]
        expect(len(mine) >= 1, f"no wait of {rnd} in {records}")
        check_round(rnd, max(mine, key=lambda r: r["ns"]), rnd is rounds[0])
        expect(mine[0]["func"] == "runtime.main", f"{mine}")
        hog = "main.hog" if version in ("1.15", "1.16") else "main.turn."
        expect(all(p["func"].startswith(hog) for p in mine[0]["ran"] if p["goid"] in rnd["hogs"]), f"{mine[0]}")


@test()
def runqslower_text():
    """A line for each, with who ran, most time first; what is short is not there."""
    rounds, pid, out, _ = traced(newest(), "pie")
    lines = LINE.findall(out)
    expect(out.startswith("Tracing run queue latency of goroutines higher than 4000 us... Hit Ctrl-C to end.\nTIME     COMM"), out)
    expect(len(lines) >= 1 and rounds and all(int(line[0]) == pid and int(line[2]) >= 4000 for line in lines), out)
    for line in lines:
        parts = [int(n) for n in re.findall(r"\[\d+\] (\d+)", line[4])]
        expect(parts and parts == sorted(parts, reverse=True) and sum(parts) <= int(line[2]), f"{line}")


@test()
def runqslower_none():
    """Waits that are not longer are not printed."""
    with Target("runslow", newest()) as target:
        with Tool("gorunqlat", "-j", "--slower", "1m", "-p", target.target_pid) as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0 and tool.wait() == 0, tool.said())
            expect(tool.out.text() == "", tool.said())


@test()
def runqslower_usage():
    for options, why in (["--slower", "soon"], '"soon" is not a time'), (["--slower", "0"], "is not a time"), \
            (["--slower", "1ms", "-i", "1"], "--slower and -i exclude"), \
            (["-m", "--slower", "1ms"], "--slower and -m exclude"), (["-u", "-m"], "-u and -m exclude each other"):
        result = run([tool_path("gorunqlat"), *options, "-p", "1"])
        expect(result.returncode == 2 and why in result.stderr, f"{result}")
    result = run([tool_path("gorunqlat"), "-m", "-m", "-p", str(os.getpid())])
    expect(result.returncode == 1, f"the same twice is refused: {result}")
