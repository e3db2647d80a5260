# SPDX-License-Identifier: Apache-2.0
"""gogc, on a program that says what the runtime itself has noted of its collections and pauses."""

import bisect
import json
import random
import re
import signal
import subprocess
import tempfile
import time

import exectrace
from harness import PATIENCE, PROBE_NS, Target, Tool, expect, json_lines, newest, run, test, tool_path, two_versions, versions

from test_gostacks_lies import make_liar

KEYS = ["type", "pid", "cycle", "trigger", "stw", "mark_ns", "assist_ns", "heap_before", "heap_after", "heap_goal"]
FORCED_RIGHT = 21  # before, a call of runtime.GC has the collection called forced that it still waits for
PAGE = 8192
TERMINATIONS = ["GC sweep termination", "GC mark termination"]
# "gc 3 @0.012s 2%: 0.1+0.2+0.3 ms clock, 0.1+0.2/0.3/0.4+0.5 ms cpu, 4->4->2 MB, 5 MB goal, ..., 2 P (forced)"
TRACED = re.compile(r"^gc (\d+) @[\d.]+s \d+%: ([\d.]+)\+([\d.]+)\+([\d.]+) ms clock, [\d.]+\+([\d.]+)/.* ms cpu, "
                    r"(\d+)->(\d+)->(\d+) MB, (\d+) MB goal, .*P( \(forced\))?$", re.M)


def as_ms(ns):
    """Go's src/runtime/mgc.go, fmtNSAsMS"""
    if ns >= 10e6:
        return str(ns // 10**6)
    x, digits = ns // 1000, 3
    while x >= 100:
        x, digits = x // 10, digits - 1
    return f"{x / 10**digits:.{digits}f}" if x and digits else str(x)


def minor(version):
    return int(version.split(".")[1])


def of_type(records, name):
    return [r for r in records if r["type"] == name]


def traced(target, *args):
    """gogc -j, while the target works to its end; the records, and what the target tells"""
    with Tool("gogc", "-j", "-p", target.target_pid, *args).tracing() as tool:
        target.go()
        told = json.loads(target.wait_line("{"))
        records = tool.stop()
        said = tool.err.text()
    expect(said.count("\n") == 1, f"gogc says {said}")
    return records, told


def compare_line(got, line, version):
    """A collection, and what the runtime prints of it with gctrace"""
    cycle, sweep, mark, term, assist, heap0, heap1, heap2, goal, forced = line.groups()
    heap = [got[key] >> 20 for key in ("heap_before", "heap_end", "heap_after", "heap_goal")]
    expect(heap == [int(heap0), int(heap1), int(heap2), int(goal)], f"{got}: {line[0]}")
    expect([str(got["cycle"]), float(as_ms(got["mark_ns"])), float(as_ms(got["assist_ns"]))] ==
           [cycle, float(mark), float(assist)], f"{got}: {line[0]}")
    if minor(version) >= FORCED_RIGHT or not forced:
        expect(got["trigger"] == ("runtime.GC" if forced else "heap"), f"{got}: {line[0]}")
    expect([stw["reason"] for stw in got["stw"]] == TERMINATIONS, f"{got}")
    for stw, clock in zip(got["stw"], (sweep, term)):
        shown = float(as_ms(stw["ns"]))
        # since Go 1.22 the runtime leaves out how long it waited for its lock
        expect(shown == float(clock) if minor(version) < 22 else shown <= float(clock), f"{got}: {line[0]}")


def count(histogram, ns):
    """So many in each bucket"""
    counts = [0] * len(histogram["counts"])
    for one in ns:
        counts[bisect.bisect_right(histogram["bounds"], one / 1e9) - 1] += 1
    return counts


def compare_histogram(told, name, ns):
    before, after = told["before"][name], told["after"][name]
    risen = [a - b for a, b in zip(after["counts"], before["counts"])]
    expect(risen == count(after, ns), f"{name}: {risen}: {sorted(ns)}")


def compare_stops(records, told, version):
    """Those that no collection asks for, and how long all took"""
    stops = of_type(records, "stw")
    stacks = "all goroutines stack trace" if minor(version) >= 21 else "stack trace"
    wanted = ["GOMAXPROCS"] * 2 + ["read mem stats"] * 4 + [stacks, "read mem stats"]
    expect([s["reason"] for s in stops] == wanted, f"{stops}")
    funcs = ["main.resize"] * 2 + ["main.look"] * 4 + ["main.dump", "main.look"]
    expect([next(f["func"] for f in s["stack"] if f["func"].startswith("main.")) for s in stops] == funcs, f"{stops}")
    expect(all(0 <= s["stopping_ns"] <= s["ns"] for s in stops), f"{stops}")
    collecting = [stw for r in of_type(records, "gc") for stw in r["stw"]]
    expect(sum(stw["ns"] for stw in collecting) == told["pause_ns"], f"{told['pause_ns']} ns: {collecting}")
    if told["after"]:
        compare_histogram(told, "/sched/pauses/total/gc:seconds", [s["ns"] for s in collecting])
        compare_histogram(told, "/sched/pauses/total/other:seconds", [s["ns"] for s in stops])
    if told["after"] and minor(version) >= 23:
        compare_histogram(told, "/sched/pauses/stopping/gc:seconds", [s["stopping_ns"] for s in collecting])
        compare_histogram(told, "/sched/pauses/stopping/other:seconds", [s["stopping_ns"] for s in stops])


def compare_all(version, flavour):
    with Target("collects", version, flavour, argv=lambda path: ["env", "GODEBUG=gctrace=1", path]) as target:
        records, told = traced(target)
        lines = list(TRACED.finditer(target.err.text()))
    collections = of_type(records, "gc")
    expect(len(lines) == len(collections) == told["collections"] > 4, f"{told['collections']}: {len(lines)}: {records}")
    for got, line in zip(collections, lines):
        expect(list(got)[:len(KEYS)] == KEYS and got["pid"] == target.target_pid, f"{got}")
        compare_line(got, line, version)
    calls = [r for r in collections if r["trigger"] == "runtime.GC"]
    expect(len(calls) == 4 <= told["forced"], f"{calls}")
    expect(sum(any(f["func"] == "main.collect" for f in r["stack"]) for r in calls) == 3, f"{calls}")
    compare_stops(records, told, version)


@test(version=versions)
def gogc_all(version):
    compare_all(version, "strip")


@test(flavour=["pie", "cgo", "plain"])
def gogc_flavours(flavour):
    compare_all(newest(), flavour)


@test(version=two_versions)
def gogc_last(version):
    """Who stops last: the only goroutine that runs, beside the one that asks"""
    with Target("collects", version, "strip", ["spin"], argv=lambda path: ["env", "GOMAXPROCS=2", path]) as target:
        with Tool("gogc", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("spins")
            target.works(0.1)
            target.go()
            target.wait_line("{")
            records = tool.stop()
    every = [last for r in of_type(records, "gc") for last in r["stopped_last"]]
    for last in filter(None, every + [r["stopped_last"] for r in of_type(records, "stw")]):
        expect(list(last) == ["goid", "stack"] and last["goid"] > 0 and last["stack"], f"{last}")
    spun = of_type(records, "gc")[-1]
    expect(len(spun["stopped_last"]) == len(spun["stw"]) == 2, f"{spun}")
    last = spun["stopped_last"][0]
    expect(last and [f["func"] for f in last["stack"]] == ["main.spin"] and last["goid"] != spun["goid"], f"{spun}")
    idle = of_type(records, "stw")[0]["stopped_last"]  # GOMAXPROCS, when nobody else runs
    expect(not idle or idle["stack"][0]["func"].startswith("runtime."), f"{idle}")


@test(version=two_versions)
def gogc_assists(version):
    """By stack, no less than the runtime adds up"""
    with Target("collects", version, "strip") as target:
        with Tool("gogc", "-j", "--assists", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("{")
            records = tool.stop()
    assists, collections = of_type(records, "assist"), of_type(records, "gc")
    swept = of_type(records, "sweep_assist")
    expect(records[-len(assists + swept):] == assists + swept and assists, f"{records}")
    for r in assists:
        expect(list(r) == ["type", "pid", "assists", "total_ns", "max_ns", "stack"], f"{r}")
        expect(r["pid"] == target.target_pid and r["max_ns"] <= r["total_ns"] <= r["max_ns"] * r["assists"], f"{r}")
    totals = [r["total_ns"] for r in assists]
    expect(totals == sorted(totals, reverse=True), f"{totals}")
    filled = [r for r in assists if r["stack"][0]["func"] == "main.fill"]
    whole = {tuple(f["func"] for f in r["stack"][1:]) for r in filled}
    expect({("main.work.func1",), ("main.work", "main.main")} >= whole and whole, f"{whole}")
    counted = sum(r["assist_ns"] for r in collections)
    number = sum(r["assists"] for r in assists)
    # what is below 5 us on one P waits for more; a probe takes some microseconds of each
    expect(counted <= sum(totals) <= counted + number * PROBE_NS + len(collections) * 2 * 5000,
           f"{sum(totals)} ns in {number}, in truth {counted}")


@test(version=versions)
def gogc_sweeps(version):
    """By stack, each span that the runtime's own trace says was swept for credit, and how long that took"""
    with tempfile.NamedTemporaryFile(suffix=".trace") as file:
        # others' work is not to be in its times
        with Target("swept", version, "strip", [file.name], argv=lambda path: ["chrt", "-f", "1", path]) as target:
            with Tool("gogc", "-j", "--assists", "-p", target.target_pid).tracing() as tool:
                target.go()
                target.wait_line("done")
                records = tool.stop()
        traced = [r for r in exectrace.sweeps_of(file.name) if "runtime.deductSweepCredit" in r[0]]
    swept = of_type(records, "sweep_assist")
    for r in swept:
        expect(list(r) == ["type", "pid", "spans", "total_ns", "max_ns", "stack"], f"{r}")
        expect(r["pid"] == target.target_pid and r["max_ns"] <= r["total_ns"] <= r["max_ns"] * r["spans"], f"{r}")
    spans, pages = sum(r["spans"] for r in swept), [r[1] // PAGE for r in traced]
    # two or three spans of a page are swept at a time, and here and there one that has more
    least, most = len(pages), sum(p if p < 16 else 1 for p in pages)
    expect(least <= spans <= most <= spans + 60 + spans // 50 and least > 100, f"{spans} of {least} to {most}: {swept}")
    stacks = {" ".join(f["func"] for f in r["stack"]) for r in swept if r["spans"] > 100}
    expect(stacks == {"main.push main.build main.main"}, f"{stacks}")
    ns, took = sum(r["total_ns"] for r in swept), sum(r[2] for r in traced)
    # the trace's time begins within the first span, and has the probes between spans
    expect(took / 3 <= ns <= took * 1.5, f"{ns} ns, in truth {took}")


@test(version=two_versions)
def gogc_lines(version):
    """As it is printed"""
    with Target("collects", version, "strip") as target:
        with Tool("gogc", "-T", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("{")
            tool.stop()
            text = tool.out.text()
    # who was the last to stop is not always known
    lines = [line for line in text.splitlines() if "last to stop: " not in line]
    expect(lines[1].split() == "TIME PID GC WHY TOTAL STOPPED MARK ASSIST BEFORE AFTER GOAL".split(), text)
    clock, unit, size = r"\d\d:\d\d:\d\d", r" +[\d.]+[num]?s", r" +[\d.]+[KM]"
    first = next(i for i, line in enumerate(lines) if "runtime.GC" in line)
    expect(re.fullmatch(rf"{clock} +{target.target_pid} +\d+ runtime\.GC({unit}){{4}}({size}){{3}}", lines[first]), text)
    until = r", [\d.]+[num]?s until all had stopped"
    expect(re.fullmatch(rf"{unit}  GC sweep termination{until}", lines[first + 1]), text)
    expect(re.fullmatch(r" +by main\.collect collects\.go:\d+", lines[first + 2]), text)
    expect(re.fullmatch(rf"{unit}  GC mark termination{until}", lines[first + 3]), text)
    resized = [i for i, line in enumerate(lines) if "GOMAXPROCS" in line]
    expect(len(resized) == 2, text)
    for i in resized:
        expect(re.fullmatch(rf"{clock} +{target.target_pid} stop{unit}  GOMAXPROCS{until}", lines[i]), text)
        expect(re.fullmatch(r" +by main\.resize collects\.go:\d+", lines[i + 1]), text)


def symbol(path, name):
    found = re.search(rf"^([0-9a-f]+) \w {re.escape(name)}$", run(["nm", path]).stdout, re.M)
    expect(found, f"no {name}")
    return int(found[1], 16)


@test(version=two_versions)
def gogc_time(version):
    """The runtime collects when it has not for two minutes: which are a millisecond here."""
    with Target("collects", version, "plain") as target:
        with Tool("gogc", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("{")
            with open(f"/proc/{target.target_pid}/mem", "r+b", buffering=0) as mem:
                mem.seek(symbol(target.path, "runtime.forcegcperiod"))
                mem.write((10**6).to_bytes(8, "little"))
            end = time.monotonic() + PATIENCE
            while '"trigger":"time"' not in tool.out.text():
                expect(time.monotonic() < end, f"no collection for its time: {tool.said()}")
                time.sleep(0.02)
            records = tool.stop()
    timed = [r for r in of_type(records, "gc") if r["trigger"] == "time"]
    expect(all("runtime.forcegchelper" in [f["func"] for f in r["stack"]] for r in timed) and timed, f"{timed}")
    expect([r["trigger"] for r in of_type(records, "gc")].index("time") >= 5, f"{records}")


@test(version=two_versions)
def gogc_lies(version):
    """A program whose memory is all lies: it ends, and is harmless."""
    dice = random.Random(f"gc {version}")
    with Target("collects", version, "strip", ["spin"]) as target:
        pid = target.target_pid
        with Tool("gogc", "--assists", "-p", pid).tracing() as tool:
            target.go()
            target.wait_line("spins")
            make_liar(pid, dice)
            try:  # it goes on as far as it can
                target.go()
                target.child.wait(0.3)
            except (OSError, subprocess.TimeoutExpired):
                pass
            tool.signal(signal.SIGINT)
            expect(tool.wait() in (0, 1), f"{tool.said()}")
            said = tool.out.text() + tool.err.text()
        target.child.kill()
    expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said), "control characters")


@test()
def gogc_gccgo():
    """Its runtime is another"""
    with Target("calls", "gccgo", "plain") as target:
        done = run([tool_path("gogc"), "-p", str(target.target_pid), "-d", "1ms"])
        expect(done.returncode == 1 and "gccgo" in done.stderr and not done.stdout, f"{done.returncode}: {done.stderr}")
