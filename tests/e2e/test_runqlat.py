# SPDX-License-Identifier: Apache-2.0
"""gorunqlat, on goroutines that take turns on one P and time their own waits."""

import os
import re
import tempfile

from harness import (OPTIONS, Target, Tool, compare_durations, each_release, expect, fixture, json_lines,
                     newest, private_copy, run, test, tool_path, tracks, versions)

SPINNERS = 4
HISTOGRAM = r" +{unit} +: count +distribution\n( +\d+ -> \d+ +: \d+ +\|[* ]{{40}}\|\n)+\navg = {avg} {unit}, total: " \
            r"\d+ {unit}, count: \d+\np50 = \d+, p90 = \d+, p99 = \d+, max = \d+ {unit}\n"


def told(target):
    """What the fixture counted: {name: its track}"""
    return {track["func"]: track for track in target.truth()}


def begun(target, *args, **kwargs):
    """gorunqlat -j, tracing, of the target"""
    return Tool("gorunqlat", "-j", *(args or ["-p", target.target_pid]), **kwargs).tracing()


def runqlat(records):
    expect(len(records) == 1 and records[0]["type"] == "runqlat", f"{records}")
    record = records[0]
    expect(list(record) == ["type", "unit", "count", "total", "min", "max", "p50", "p90", "p99", "buckets", "lost",
                            "process_ended", "waiting"], f"{list(record)}")
    expect(sum(bucket[2] for bucket in record["buckets"]) == record["count"] and record["lost"] == 0, f"{record}")
    return record


def compare(count, true, stalls):
    """Exactly as many; but where the machine let the program stand, the runtime may have taken the P from a
    goroutine in the moment before it gave it up, which it cannot know of: once for each such time."""
    expect(true <= count <= true + stalls, f"{count} waits, in truth {true}, with {stalls} stalls")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def runqlat_waits(version, flavour):
    """Each wait once, and as long as it took."""
    with Target("runq", version, flavour) as target:
        with begun(target) as tool:
            target.go()
            target.wait_line("done")
            record = runqlat(tool.stop())
            expect(tool.err.text().count("\n") == 1, tool.said())
        target.go()
        truth = told(target)
        waits = truth["waits"]
        compare(record["count"], waits["calls"], truth["stalls"]["calls"])
        expect(record["waiting"] == record["process_ended"] == 0, f"{record}")
        if record["count"] == waits["calls"]:
            compare_durations("waits", waits["ns"], record)
        expect(record["total"] > 0.5 * sum(waits["ns"]), f"{record['total']} of {sum(waits['ns'])} ns")


@test(flavour=["pie", "cgo", "nl"])
def runqlat_flavours(flavour):
    runqlat_waits(newest(), flavour)


@test(version=["1.15", "1.27"])
def runqlat_still_waiting(version):
    """What waits when tracing ends is in no histogram, and is told."""
    with Target("runq", version, args=["hold"]) as target:
        with begun(target) as tool:
            target.go()
            target.wait_line("held")
            record = runqlat(tool.stop())
        target.go()
        target.wait_line("done")
        target.go()
        truth = told(target)
        compare(record["count"], truth["early"]["calls"], truth["stalls"]["calls"])
        expect(record["waiting"] == SPINNERS - 1, f"{record}")


@test(version=["1.15", "1.27"])
def runqlat_waited_before(version):
    """A wait that began before tracing is not made up."""
    with Target("runq", version, args=["hold"]) as target:
        target.go()
        target.wait_line("held")
        with begun(target) as tool:
            target.go()
            target.wait_line("done")
            record = runqlat(tool.stop())
        target.go()
        truth = told(target)
        true = truth["waits"]["calls"] - truth["early"]["calls"] - truth["across"]["calls"]
        expect(truth["across"]["calls"] == SPINNERS - 1, f"{truth['across']}")
        expect(record["max"] <= max(truth["waits"]["ns"]), f"{record['max']} of {max(truth['waits']['ns'])} ns")
        compare(record["count"], true, truth["stalls"]["calls"])


@test()
def runqlat_process_ends():
    """Goroutines that wait when their process ends are told as its; others are traced on."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "runq", newest())
        with Target("runq", newest(), path=path, args=["exit"]) as first, Target("runq", newest(), path=path) as other, \
                begun(None, path) as tool:
            first.go()
            expect(first.wait() == 0, first.said())
            other.go()
            other.wait_line("done")
            record = runqlat(tool.stop())
            other.go()
            truth = told(other)
            expect(record["process_ended"] == SPINNERS - 1 and record["waiting"] == 0, f"{record}")
            expect(record["count"] > truth["waits"]["calls"], f"{record}, of the other {truth['waits']['calls']}")


@test()
def runqlat_processes():
    """All processes of a BINARY together; with -p that one alone."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "runq", newest())
        with Target("runq", newest(), path=path) as first, Target("runq", newest(), path=path) as other, \
                begun(None, path) as both, begun(first) as one:
            for target in first, other:
                target.go()
                target.wait_line("done")
            alone, together = runqlat(one.stop()), runqlat(both.stop())
            calls, stalls = [], []
            for target in first, other:
                target.go()
                truth = told(target)
                calls.append(truth["waits"]["calls"])
                stalls.append(truth["stalls"]["calls"])
            compare(alone["count"], calls[0], stalls[0])
            compare(together["count"], sum(calls), sum(stalls))


@test(version=["1.15", "1.27"])
def runqlat_command(version):
    """COMMAND is traced from its first goroutine on: all that the program knows of, and what its start takes."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "runq", version)
        with Tool("gorunqlat", "-j", "--", path, "now") as tool:
            record = runqlat([r for r in tool.records() if "type" in r])
            true = next(track["calls"] for track in tracks(tool.out.text()) if track["func"] == "waits")
            expect(true < record["count"] < 2 * true, f"{record['count']} waits, of which {true} are known")


@test(unit=["usecs", "msecs"])
def runqlat_text(unit):
    """Text in bcc's layout, its first and last line, and a summary for each interval"""
    with Target("runq", newest(), args=["turns=200"]) as target:
        with Tool("gorunqlat", "-T", "-i", "0.2", *({"msecs": ["-m"], "usecs": ["-u"]}.get(unit, [])), "-p", target.target_pid) as tool:
            tool.tracing()
            target.go()
            target.wait_line("done")
            tool.stop()
            text = tool.out.text()
            avg = r"\d+\.\d{3}" if unit == "msecs" else r"\d+\.\d"
            pattern = HISTOGRAM.format(unit=unit, avg=avg)
            expect(re.match(r"Tracing run queue latency of goroutines\.\.\. Hit Ctrl-C to end\.\n\n\d\d:\d\d:\d\d\n", text) and
                   text.endswith("\nDetaching...\n"), text)
            expect(re.search(pattern, text), text)
            expect(len(re.findall(r"^\d\d:\d\d:\d\d$", text, re.M)) >= 2, text)
            counts = sum(int(n) for n in re.findall(r"count: (\d+)$", text, re.M))
        target.go()
        truth = told(target)
        compare(counts, truth["waits"]["calls"], truth["stalls"]["calls"])


@test()
def runqlat_intervals():
    """-j -i -T: the parts add up to the whole."""
    with Target("runq", newest(), args=["turns=200"]) as target:
        with begun(target, "-T", "-i", "0.1", "-p", target.target_pid) as tool:
            target.go()
            target.wait_line("done")
            records = tool.stop()
        target.go()
        truth = told(target)
        expect(len(records) >= 2 and all(list(r)[:2] == ["type", "time"] for r in records), f"{records}")
        compare(sum(r["count"] for r in records), truth["waits"]["calls"], truth["stalls"]["calls"])


@test()
def runqlat_full_map():
    """Waits for which there is no room are told."""
    with Target("runq", newest()) as target:
        with begun(target, env={**os.environ, "GOTOOLS_ROOM": "1"}) as tool:
            target.go()
            target.wait_line("done")
            record = runqlat(tool.stop())
            lost = re.search(r"^gorunqlat: (\d+) waits not tracked: the map of goroutines is full \(1 at a time\)$",
                             tool.err.text(), re.M)
            expect(lost, tool.said())
        target.go()
        truth = told(target)
        compare(record["count"] + int(lost[1]), truth["waits"]["calls"], truth["stalls"]["calls"])


def refused(pattern, *args):
    result = run([tool_path("gorunqlat"), *args])
    expect(result.returncode in (1, 2) and not result.stdout and re.match("gorunqlat: " + pattern, result.stderr),
           f"{result}")
    return result


@test()
def runqlat_refusals():
    """Where the changes of status could not all be seen: in words"""
    path = fixture("hello", "gccgo")
    refused(rf'"{path}" is built by gccgo: runtime\.casgstatus is known in the runtime of Go\'s gc compiler only\n', path)
    refused("\"/bin/ls\": not a Go program", "/bin/ls")
    refused('"4711": no such program in PATH, .*\nhint: for the process with this PID: -p 4711\n', "4711")
    expect(refused("no BINARY, -p PID or -- COMMAND given\nusage: gorunqlat ").returncode == 2, "no usage")
