# SPDX-License-Identifier: Apache-2.0
"""gowakeups, on a program that knows which functions wake goroutines, where those were blocked, how many
and for how long; in which state is told by Go's own traceback."""

import contextlib
import os
import re

from harness import (PROBE_NS, SLOWER, Target, Tool, each_release, expect, json_lines, newest, outliers,
                     run, some_versions, test, tool_path, two_versions, versions)

from test_offcpu import unended

ROUNDS = 10
HOLD_US = 3000 * SLOWER
BLOCK = re.compile(r"((?:    \S+ \S+:\d+\n)+|    \[\w+\]\n)    - {16}(\S+) \((\d+)\): (.+)\n((?:    \S+ \S+:\d+\n)+)"
                   r"        (\d+) in (\d+) wakeups?, at most (\d+)\n\n")


def names(frames):
    return [frame["func"] for frame in frames]


def told(text):
    """What the fixture knows: {(waker, woken): [states, wakeups, ns at least, at most]}"""
    sums = {}
    for line in json_lines(text):
        known = sums.setdefault((line["waker"], line["woken"]), [set(), 0, 0, 0])
        known[0].add(line["state"])
        for n, key in enumerate(("wakeups", "least", "most"), 1):
            known[n] += line[key]
    return sums


def traced(target, *args, **kwargs):
    """Records of a whole run of the fixture, and what it knows"""
    with Tool("gowakeups", "-j", *(args or ["-p", target.target_pid]), **kwargs).tracing() as tool:
        target.go()
        target.wait_line("done")
        records = tool.stop()
        unsaid = re.sub(r"gowakeups: \d+ hits a second of .*", "", tool.err.text())
        expect("gowakeups:" not in unsaid, unsaid)
    target.go()
    return records, told(target.out.text())


def wakes(record, waker, woken):
    by = record["by"] == waker[1:-1] if waker[0] == "[" else record["by"] == "goroutine" and waker in names(record["waker"])
    return by and woken in names(record["woken"]["stack"])


def compare(records, waker, woken, known):
    states, wakeups, least, most = known
    mine = [r for r in records if wakes(r, waker, woken)]
    if woken == "main.waitsCond":  # its lock may be held when it has been woken
        mine = [r for r in mine if "sync.(*Mutex).Lock" not in names(r["woken"]["stack"])]
    expect({r["state"] for r in mine} == states, f"{waker} wakes {woken}: {mine}, {known}")
    seen, total = sum(r["wakeups"] for r in mine), sum(r["total_ns"] for r in mine)
    expect(seen == wakeups, f"{waker} wakes {woken}: {seen} wakeups, {known}")
    least = (1 - outliers()) * (least - PROBE_NS * wakeups)
    expect(least <= total <= most, f"{waker} wakes {woken}: {total} ns, {known}")
    expect(all(r["max_ns"] <= r["total_ns"] <= r["wakeups"] * r["max_ns"] for r in mine), f"{mine}")


def check_rows(records):
    """Rows differ in what they are by, and show a waker's stack if there is one."""
    rows = [str((r["pid"], r["state"], r["by"], r["waker"], r["woken"])) for r in records]
    expect(len(set(rows)) == len(rows), f"{rows}")
    for record in records:
        expect((record["by"] == "goroutine") == bool(record["waker"]) and record["woken"]["stack"], f"{record}")
        outermost = [name for name in names(record["woken"]["stack"]) if name != "runtime.goexit"][-1]
        expect(record["woken"]["func"] == outermost, f"{record}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def wakeups_all(version, flavour):
    """Each wakeup once, under the function that has made it, or what it was where none has"""
    with Target("wakeups", version, flavour, args=[f"hold={HOLD_US}"]) as target:
        records, truth = traced(target)
    minor = int(version.split(".")[1])
    expect(len(truth) == 19 + (minor >= 23) + flavour.startswith("cgo"), f"{list(truth)}")
    for (waker, woken), known in truth.items():
        compare(records, waker, woken, known)
    for record in records:
        for woken in {other for _, other in truth} & set(names(record["woken"]["stack"])):
            pairs = [(waker, other) for (waker, other), known in truth.items() if other == woken and record["state"] in known[0]]
            expect(not pairs or any(wakes(record, *pair) for pair in pairs), f"nobody there wakes {woken}: {record}")
    check_rows(records)
    stack = next(names(r["waker"]) for r in records if wakes(r, "main.unlocks", "main.locks"))
    expect(stack[0].endswith("sync.runtime_Semrelease"), f"{stack}")
    expect(stack[stack.index("main.unlocks"):] == ["main.unlocks", "main.try", "main.tryLocks", "main.tryAll", "main.main"],
           f"{stack}")


@test(flavour=["pie", "cgo", "cgopie", "nl"])
def wakeups_flavours(flavour):
    wakeups_all(newest(), flavour)


@test(version=some_versions)
def wakeups_of_the_runtime(version):
    """The runtime's own goroutines wake each other: what makes them so is on their stack."""
    with Target("wakeups", version, args=["collect"]) as target:
        records, _ = traced(target)
    check_rows(records)
    sweeps = [r for r in records if "runtime.bgsweep" in names(r["woken"]["stack"])]
    expect(1 <= sum(r["wakeups"] for r in sweeps) <= ROUNDS, f"{records}")
    workers = {r["by"] for r in records if r["state"] == "GC worker (idle)"}
    if version == "1.15":  # a worker that was late to wait, and whose P was given another meanwhile, ends instead
        workers.discard("itself")
    expect(workers == {"scheduler"}, f"{workers}: {records}")
    expect(all({"runtime.gcMarkTermination", "runtime.gcBgMarkWorker"} <= set(names(r["waker"])) for r in sweeps), f"{sweeps}")


@test(version=two_versions)
def wakeups_in_vain(version):
    """What a goroutine is about to wait for is sometimes there before it has left its thread."""
    with Target("wakeups", version, args=["pongs", "rounds=5000"]) as target:
        records, _ = traced(target)
    check_rows(records)
    sums = {}
    for record in records:
        if record["woken"]["func"] == "main.pongs" and record["state"] == "IO wait":
            sums[record["by"]] = sums.get(record["by"], 0) + record["wakeups"]
    expect(set(sums) == {"netpoll", "itself"} and sum(sums.values()) <= 8 * 5000, f"{sums}")


@test()
def wakeups_processes():
    """Of a program: each process by itself, by its own name"""
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(Target("wakeups", newest(), "pie"))
        os.link(one.path, one.path + "-two")
        two = stack.enter_context(Target("wakeups", "", path=one.path + "-two"))
        with Tool("gowakeups", "-j", one.path).tracing() as tool:
            for target in one, two:
                target.go()
                target.wait_line("done")
            records = tool.stop()
        for target in one, two:
            target.go()
            mine = [r for r in records if r["pid"] == target.target_pid]
            expect({r["comm"] for r in mine} == {os.path.basename(target.path)}, f"{mine}")
            for (waker, woken), known in told(target.out.text()).items():
                compare(mine, waker, woken, known)


def whole(*args):
    with Target("wakeups", newest()) as target:
        done = run([tool_path("gowakeups"), *args, target.path, "--", target.path, "now"])
    expect(done.returncode == 0 and "gowakeups:" not in done.stderr, done.stderr)
    return done


@test()
def wakeups_text():
    """Of a command: the waker, what it wakes, the largest sum last"""
    done = whole()
    first = "Tracing blocked time (us) of goroutines by waker... Hit Ctrl-C to end.\n"
    at = done.stdout.index(first)
    text = done.stdout[at + len(first):]
    found = BLOCK.findall(text)
    left = [line for line in BLOCK.sub("", text).splitlines() if line and line[0] not in "d{"]
    expect(re.match(r"not in the sums: \d+ in processes that ended$", left[0]) and left[1:] == ["Detaching..."], f"{left}")
    sums = [int(block[5]) for block in found]
    expect(len(found) > 10 and sums == sorted(sums), f"{sums}")
    locks = [block for block in found if re.search(r"^    main\.unlocks wakeups\.go:\d+$", block[0], re.M)]
    expect(len(locks) == 1 and locks[0][3] == "sync.Mutex.Lock" and locks[0][6] == str(ROUNDS)
           and re.search(r"^    main\.locks wakeups\.go:\d+$", locks[0][4], re.M), f"{locks}")
    sleeps = [block for block in found if re.search(r"^    main\.sleeps ", block[4], re.M)]
    expect([(block[0], block[6]) for block in sleeps] == [("    [timer]\n", str(3 * ROUNDS))], f"{sleeps}")


@test()
def wakeups_folded():
    done = whole("-f", "--state", "chan *")
    lines = re.findall(r"^main\.main;main\.tryAll;main\.tryChannels;main\.try;main\.gives;\[chan receive\];main\.try\.func1 (\d+)$",
                       done.stdout, re.M)
    expect(len(lines) == 1 and int(lines[0]) >= ROUNDS * 3000 * (1 - outliers()), done.stdout)
    states = re.findall(r";\[(.+)\];\S+ \d+$", done.stdout, re.M)
    expect(set(states) == {"chan receive", "chan send"} and "Detaching" not in done.stdout, done.stdout)
    expect(re.search(r"^\[timer\];\[chan receive\];main\.try\.func1 \d+$", done.stdout, re.M), done.stdout)


@test()
def wakeups_full():
    """Stacks that maps have no room for are said to be lost."""
    with Target("wakeups", newest()) as target:
        with Tool("gowakeups", "-j", "-p", target.target_pid, env=dict(os.environ, GOTOOLS_ROOM="1")).tracing() as tool:
            target.go()
            target.wait_line("done")
            records = tool.stop()
            lost = re.findall(r"^gowakeups: (\d+) waits have no stack: ", tool.err.text(), re.M)
        target.go()
    expect(len(records) == 1 and bool(lost) == (not records[0]["waker"] or not records[0]["woken"]["stack"]),
           f"{records} {tool.said()}")


@test()
def wakeups_open():
    """Waits that have not ended have no waker, and are told by their number."""
    with Target("unended", newest()) as target:
        with Tool("gowakeups", "-j", "--state", "chan receive", "-p", target.target_pid).tracing() as tool:
            unended(target)
            records = tool.stop()
            text = tool.err.text()
    expect("\nnot in the sums: 5 still waiting\n" in text and all(r["wakeups"] for r in records), f"{text}: {records}")
