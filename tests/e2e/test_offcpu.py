# SPDX-License-Identifier: Apache-2.0
"""gooffcputime, on a program that knows where it waits, for what, how often and how long at least."""

import contextlib
import json
import os
import re
import signal
import time

from harness import (PROBE_NS, Target, Tool, each_release, expect, fixture, newest, outliers, run,
                     some_versions, test, tool_path, two_versions, versions)

from test_locks import delayed
from test_states import told, words

# what leaves its thread until something makes it ready, and how often a call does
BLOCKS = {"main.locks": 1, "main.readLocks": 1, "main.writeLocks": 1, "main.receives": 1, "main.sends": 1,
          "main.selects": 1, "main.waits": 1, "main.waitsCond": 1, "main.reads": 1, "main.sleeps": 1,
          "main.recursesOnce": 3, "main.recovers": 4}
NEVER = ["main.spins", "main.yields", "main.readsBlocking", "main.stops"]
BLOCK = re.compile(r"((?:    \S+ \S+:\d+\n)+)    - {16}(\S+) \((\d+)\): (.+)\n        (\d+) in (\d+) waits?, at most (\d+)\n\n")


def names(record):
    return [frame["func"] for frame in record["stack"]]


def traced(target, *args, **kwargs):
    """Records of a whole run of the fixture, and what it knows"""
    with Tool("gooffcputime", "-j", *(args or ["-p", target.target_pid]), **kwargs).tracing() as tool:
        target.go()
        target.wait_line("done")
        records = tool.stop()
        expect("gooffcputime:" not in tool.err.text(), tool.err.text())
    target.go()
    return records, told(target)


def compare(records, known, times, version):
    name, state = known["state_of"], words(known["state"], version)
    mine = [r for r in records if name in names(r)]
    if name == "main.waitsCond":  # its lock may be held when it has been woken
        mine = [r for r in mine if "sync.(*Mutex).Lock" not in names(r)]
    expect({r["state"] for r in mine} == {state}, f"{name}: {mine}")
    waits, total = sum(r["waits"] for r in mine), sum(r["total_ns"] for r in mine)
    expect(waits == times * known["calls"], f"{name}: {waits} waits, {known}")
    least = (1 - outliers()) * (known["least"] - PROBE_NS * waits)
    expect(least <= total <= known["most"], f"{name}: {total} ns, {known}")
    expect(all(r["max_ns"] <= r["total_ns"] <= r["waits"] * r["max_ns"] for r in mine), f"{mine}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def offcpu_waits(version, flavour):
    """Each wait once, by its stack and Go's own word for it, and for as long as it took"""
    with Target("states", version, flavour) as target:
        records, truth = traced(target)
        for name, times in BLOCKS.items():
            compare(records, truth[name], times, version)
        for name in NEVER:
            expect(not any(name in names(r) for r in records), f"{name} is blocked: {records}")
        stack = next(names(r) for r in records if "main.locks" in names(r))
        tail = [name for name in stack[stack.index("main.locks"):] if name != "main.region"]
        expect(tail == ["main.locks", "main.try", "main.tryAll", "main.main"], f"{stack}")


@test(flavour=["pie", "cgo", "cgopie", "nl"])
def offcpu_flavours(flavour):
    offcpu_waits(newest(), flavour)


@test(version=some_versions)
def offcpu_many(version):
    """Goroutines side by side, on all processors"""
    with Target("states", version, args=["many", "rounds=50"]) as target:
        records, _ = traced(target)
        waits = sum(r["waits"] for r in records if "main.inner" in names(r) and r["state"] == "sleep")
        expect(waits == 100 * 50 * 2, f"{waits} waits")


@test(version=two_versions)
def offcpu_same(version):
    """One row of what looks the same, though the runtime waits for it in two places of its own"""
    with Target("wakeups", version, args=["pongs", "rounds=5000"]) as target:
        with Tool("gooffcputime", "-j", "-p", target.target_pid).tracing() as tool:
            target.go()
            target.wait_line("done")
            records = tool.stop()
        target.go()
    mine = [r for r in records if r["state"] == "IO wait" and "main.pongs" in names(r)]
    expect(len(mine) == 1 and mine[0]["waits"] <= 8 * 5000, f"{mine}")


def whole(*args):
    with Target("states", newest()) as target:
        done = run([tool_path("gooffcputime"), *args, target.path, "--", target.path, "now"])
    expect(done.returncode == 0 and "gooffcputime:" not in done.stderr, done.stderr)
    return done


@test()
def offcpu_text():
    """Of a command: blocks, the largest last"""
    done = whole()
    first = "Tracing blocked time (us) of goroutines by stack... Hit Ctrl-C to end.\n"
    at = done.stdout.index(first)
    text = done.stdout[at + len(first):]
    found = BLOCK.findall(text)
    expect(BLOCK.sub("", text).replace("done\n", "").count("\n") < 40, BLOCK.sub("", text))
    sums = [int(block[4]) for block in found]
    expect(len(found) > 10 and sums == sorted(sums), f"{sums}")
    locks = [block for block in found if re.search(r"^    main\.locks states\.go:\d+$", block[0], re.M)]
    expect(len(locks) == 1 and locks[0][3] == "sync.Mutex.Lock" and locks[0][5] == "20", f"{locks}")


@test()
def offcpu_folded():
    done = whole("-f", "--state", "chan *")
    lines = re.findall(r"^()main\.main;main\.tryAll;main\.try;(.+;)?main\.receives;\[chan receive\] (\d+)$", done.stdout, re.M)
    expect(len(lines) == 1 and int(lines[0][2]) >= 20 * 5000 * (1 - outliers()), done.stdout)
    states = re.findall(r";\[(.+)\] \d+$", done.stdout, re.M)
    expect(set(states) == {"chan receive", "chan send"} and "Detaching" not in done.stdout, done.stdout)


@test()
def offcpu_limits():
    """-m and -M: each wait is on one side"""
    with Target("states", newest()) as target:
        with Tool("gooffcputime", "-j", "-m", "1000", "-p", target.target_pid).tracing() as long, \
                Tool("gooffcputime", "-j", "-M", "999", "-p", target.target_pid).tracing() as short:
            target.go()
            target.wait_line("done")
            long, short = long.stop(), short.stop()
        target.go()
        truth = told(target)
    expect(all(r["max_ns"] < 1_000_000 for r in short) and short, f"{short}")
    expect(all(r["total_ns"] >= 1_000_000 * r["waits"] for r in long), f"{long}")
    waits = sum(r["waits"] for r in long if "main.sleeps" in names(r))
    expect(waits == truth["main.sleeps"]["calls"], f"{waits}")


@test()
def offcpu_full():
    """What maps have no room for is said."""
    with Target("states", newest(), args=["many", "rounds=5"]) as target:
        with Tool("gooffcputime", "-j", "-p", target.target_pid, env=dict(os.environ, GOTOOLS_ROOM="1")).tracing() as tool:
            target.go()
            target.wait_line("done")
            records = tool.stop()
            lost = re.findall(r"^gooffcputime: (\d+) waits were lost: more ", tool.err.text(), re.M)
        target.go()
        told(target)
    seen = sum(r["waits"] for r in records if "main.inner" in names(r))
    expect(seen + sum(map(int, lost)) >= 100 * 5 * 2 and len(records) <= 1, f"{seen} seen: {tool.said()}")


@test()
def offcpu_refused():
    """One program at a time; none of gccgo; and only numbers are times"""
    with Target("states", newest()) as one, Target("hello", newest()) as two:
        for args, why in (([one.path, two.path], "one program at a time"),
                          (["-m", "1ms", one.path], "microseconds"),
                          (["--state", "chan", one.path], 'its goroutines have no state "chan"'),
                          ([fixture("calls", "gccgo")], "is built by gccgo")):
            done = run([tool_path("gooffcputime"), "-d", "1", *args])
            expect(done.returncode != 0 and why in done.stderr, f"{done}")
    done = run([tool_path("gooffcputime"), "-d", "1", "--state", "sync.Mutex.*", fixture("states", "1.19")])
    expect(done.returncode == 1 and 'hint: before Go 1.20 locks are waited for in state "semacquire"' in done.stderr, f"{done}")


def unended(target):
    """Has the fixture begin; returns what it knows of who waits for good, when that was, and what may be missing of it, in
    ns: for how long the kernel kept its threads waiting."""
    target.go()
    end = int(target.wait_line("done").split()[1])
    known = [json.loads(line) for line in target.out.text().splitlines() if line.startswith("{")]
    return known, end, delayed(target.target_pid)


def check_open(records, truth, key, most):
    """How many goroutines wait for good, in `key`, and for how long they have: no shorter than the fixture has seen itself,
    nor more than `most` ns longer"""
    known, _, late = truth
    for func in known:
        [row] = [r for r in records if func["func"] in names(r)]
        open_ = {"waiting": 0, "process_ended": 0, key: func["count"]}
        expect([row["waits"], row["total_ns"]] == [0, 0] and all(row[k] == n for k, n in open_.items()), f"{row}, {func}")
        least = func["waited"] - PROBE_NS * func["count"] - late
        expect(least <= row["open_ns"] <= func["waited"] + func["count"] * most, f"{row}, {func}: {late}, {most}")


@test(version=two_versions)
def offcpu_open(version):
    """Waits that have not ended are in no sum, and told apart."""
    with Target("unended", version) as target:
        with Tool("gooffcputime", "-j", "-p", target.target_pid).tracing() as tool:
            truth = unended(target)
            tool.signal(signal.SIGINT)
            records = tool.records()
            most = time.monotonic_ns() - truth[1]
        states = {name: r["state"] for r in records for name in names(r)}
    check_open(records, truth, "waiting", most)
    expect([states[func["func"]] for func in truth[0]] == [words(func["state"], version) for func in truth[0]], f"{states}")
    count = sum(r["waiting"] for r in records)
    expect(count >= 10 and f"\nnot in the sums: {count} still waiting\n" in tool.err.text(), f"{count}: {tool.said()}")


@test()
def offcpu_ended():
    """Those of processes that have ended go on until then, whenever the tool sees that."""
    with Target("unended", newest()) as target:
        with Tool("gooffcputime", "-j", target.path).tracing() as tool:
            truth = unended(target)
            target.go()
            target.wait()
            most = time.monotonic_ns() - truth[1]
            time.sleep(1)
            records = tool.stop()
    check_open(records, truth, "process_ended", most)
    count = sum(r["process_ended"] for r in records)
    expect(count >= 10 and f"\nnot in the sums: {count} in processes that ended\n" in tool.err.text(), f"{count}: {tool.said()}")


@test()
def offcpu_open_text():
    """... of those that are asked for"""
    with Target("unended", newest()) as target, Target("unended", "", path=target.path) as other:
        kinds = [["--state", "chan receive", target.path], ["--state", "sleep", "-f", "-p", target.target_pid],
                 ["-m", "600000000", target.path], ["-M", "1", target.path]]
        with contextlib.ExitStack() as stack:
            tools = [stack.enter_context(Tool("gooffcputime", *args).tracing()) for args in kinds]
            for one in target, other:
                unended(one)
            other.go()
            other.wait()
            for tool in tools:
                tool.signal(signal.SIGINT)
                expect(tool.wait() == 0, tool.said())
            text, folded, long, short = tools
    expect("\n\nnot in the sums: 5 in processes that ended, 5 still waiting\n\nDetaching" in text.out.text(), text.said())
    expect("main.receives" not in text.out.text(), text.said())
    expect("not in the sums: 2 still waiting\n" in folded.err.text() and "not in" not in folded.out.text(), folded.said())
    expect("not in" not in long.said() + short.said(), long.said() + short.said())
