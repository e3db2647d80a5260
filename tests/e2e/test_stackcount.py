# SPDX-License-Identifier: Apache-2.0
"""gostackcount: counts of calls by stack, against what the program's own runtime says of each call's
callers."""

import collections
import re

import pprof
from harness import (Target, Tool, compare_counts, expect, fixture, json_lines, newest, run, some_versions, test,
                     tool_path, versions)

from test_stacks import FUNCTIONS, shown

# what is shown of a stack whose place is inlined is the place, and what it is inlined into
INNERMOST = re.compile(r" in ")


def frames_of(record):
    return [(frame["func"], frame["file"], frame["line"]) for frame in record["stack"]]


def true_counts(truth):
    counts = collections.Counter()
    for stack in truth:
        names = INNERMOST.split(stack["place"])
        counts[tuple(names), tuple(shown([tuple(c.values()) for c in stack["callers"]]))] += 1
    return counts


def counted(records, places):
    counts = collections.Counter()
    depth = {names[0]: len(names) for names in places if len(names) == 1}
    for record in records:
        frames = frames_of(record)
        expect(frames[0][0] == record["func"], f"{record['func']}: {frames[:2]}")
        inner = depth.get(record["func"], 2)
        counts[tuple(f[0] for f in frames[:inner]), tuple(shown(frames[inner:]))] += record["count"]
    return counts


def compare(truth, records):
    want = true_counts(truth)
    got = counted(records, [names for names, _ in want])
    wrong = [f"{key[0]} {got[key]} times, in truth {want[key]}: {[f[0] for f in key[1]]}"
             for key in {*got, *want} if got[key] != want[key]]
    expect(not wrong and want, f"{len(wrong)} of {len(want)} stacks: " + "\n".join(wrong[:4]))


def trace(version, flavour, *options, patterns=None):
    """What the target tells, and what the tool prints"""
    with Target("stacks", version, flavour) as target:
        patterns = patterns or [f"{target.path}:{name}" for name in FUNCTIONS]
        with Tool("gostackcount", *options, "-p", target.target_pid, *patterns) as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            return json_lines(target.out.text()), tool


@test(version=versions)
def stackcount(version):
    """Deep stacks, inlined calls, panics, closures, reflection, signals: all are whole."""
    truth, tool = trace(version, "plain", "-j")
    compare(truth, json_lines(tool.out.text()))
    deepest = max(len(frames_of(r)) for r in json_lines(tool.out.text()))
    expect(deepest > 300, f"the deepest stack has {deepest} frames")


@test(version=some_versions, flavour=["strip", "pie", "nl", "cgo", "cgopie"])
def stackcount_built(version, flavour):
    truth, tool = trace(version, flavour, "-j")
    compare(truth, json_lines(tool.out.text()))


def text_rows(text):
    """{(frame, ...): count} of the default output"""
    rows, frames = {}, []
    for line in text.splitlines():
        if re.fullmatch(r" {8}\d+", line):
            rows[tuple(frames)] = int(line)
            frames = []
        elif line.startswith("    "):
            frames.append(line.strip())
    return rows


def brief(record):
    return tuple(f"{f['func']} {f['file'].rpartition('/')[2]}:{f['line']}" for f in record["stack"])


@test()
def stackcount_text():
    """The same as JSON has, the most frequent last, and a line for the process with -P"""
    patterns = ["main.framed", "main.leaf"]
    _, tool = trace(newest(), "plain", "-j", patterns=patterns)
    want = {brief(r): r["count"] for r in json_lines(tool.out.text())}
    _, tool = trace(newest(), "plain", patterns=patterns)
    got = text_rows(tool.out.text())
    expect(got == want, f"{set(got.items()) ^ set(want.items())}")
    counts = list(got.values())
    expect(counts == sorted(counts), f"{counts}")
    _, tool = trace(newest(), "plain", "-P", patterns=patterns)
    expect(re.search(r"^    -                (stacks|-) \(\d+\)$", tool.out.text(), re.M), tool.out.text()[-300:])


@test()
def stackcount_folded():
    """Nothing but stacks on stdout: the outermost first, then the count"""
    _, tool = trace(newest(), "plain", "-f", patterns=["main.leaf"])
    lines = tool.out.text().splitlines()
    expect(lines and all(re.fullmatch(r"\S+(;\S+)*;main\.leaf \d+", line) for line in lines), f"{lines[:3]}")
    truth, tool = trace(newest(), "plain", "-j", patterns=["main.leaf"])
    expect(sum(int(line.rpartition(" ")[2]) for line in lines) == sum(t["place"] == "main.leaf" for t in truth),
           f"{lines}")


@test()
def stackcount_intervals():
    """Counts of each interval by themselves, with its time; their sum is exact."""
    with Target("calls", newest()) as target:
        with Tool("gostackcount", "-j", "-T", "-i", "50ms", "-p", target.target_pid, "main.*") as tool:
            tool.tracing()
            target.go()
            truth = target.truth()
            records = tool.records()
    expect(len({r["time"] for r in records}) > 1, f"{len(records)} rows, all of one time")
    expect(all(r["type"] == "stackcount" and r["count"] > 0 for r in records), f"{records[:3]}")
    compare_counts(truth, [{**r, "type": "count"} for r in records])


@test(version=some_versions)
def stackcount_system_stack(version):
    """runtime.newproc1 runs on the system stack: its callers are those of the go statement."""
    _, tool = trace(version, "plain", "-j", patterns=["runtime.newproc1"])
    records = json_lines(tool.out.text())
    callers = [[f[0] for f in frames_of(r)] for r in records]
    of_main = [names for names in callers if "main.concurrently" in names]
    expect(of_main and all(names[0] == "runtime.newproc1" for names in callers), f"{callers}")
    expect(all("main.main" in names or "main.concurrently" in names[-1] or "main." in names[-1] for names in of_main),
           f"{of_main}")


@test()
def stackcount_pprof():
    """go tool pprof reads the same counts."""
    with Target("stacks", newest(), "pie") as target:
        file = f"{target.folder.name}/out.pb.gz"
        with Tool("gostackcount", "-j", "--pprof", file, "-p", target.target_pid, "main.framed") as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            records = json_lines(tool.out.text())
        profile = pprof.Profile(file)
    got = {key: values[0] for key, values in profile.rows("func").items()}
    want = collections.Counter()
    for record in records:
        want[tuple(frames_of(record)), record["func"]] += record["count"]
    expect(profile.types == ["count/count"] and got == want, f"{profile.types}, {set(got.items()) ^ set(want.items())}")


@test()
def stackcount_two_programs():
    """Stacks of several programs in one run have each its own names."""
    with Target("stacks", newest()) as one, Target("stacks", newest(), "pie") as other:
        patterns = [f"{t.path}:main.leaf" for t in (one, other)]
        with Tool("gostackcount", "-j", "-P", *patterns) as tool:
            tool.tracing()
            for target in (one, other):
                target.go()
                expect(target.wait() == 0, target.said())
            records = tool.stop()
        for target in (one, other):
            own = [r for r in records if r["pid"] == target.target_pid]
            truth = [t for t in json_lines(target.out.text()) if t["place"] == "main.leaf"]
            compare(truth, own)


@test()
def stackcount_full():
    """Where there is no room for more stacks, calls are counted all the same; what is lost is said."""
    with Target("stacks", newest()) as target:
        with Tool("gostackcount", "-j", "-p", target.target_pid, *FUNCTIONS, argv=["env", "GOTOOLS_ROOM=4"]) as tool:
            tool.tracing()
            target.go()
            expect(target.wait() == 0, target.said())
            expect(tool.wait() == 0, tool.said())
            records = json_lines(tool.out.text())
            calls = len(json_lines(target.out.text()))
    lost = re.search(r"gostackcount: (\d+) calls were not counted: more stacks than there is room for", tool.err.text())
    expect(lost, tool.err.text())
    expect(sum(r["count"] for r in records) + int(lost[1]) == calls, f"{lost[0]}, {calls} calls, {records}")


@test()
def stackcount_refusals():
    done = run([tool_path("gostackcount")])
    expect(done.returncode == 2 and "PATTERN" in done.stderr, done.stderr)
    done = run([tool_path("gostackcount"), f"{fixture('stacks', 'gccgo')}:main.leaf"])
    expect(done.returncode == 1 and "keeps no frame pointers" in done.stderr and "gotrace -U" in done.stderr, done.stderr)
