# SPDX-License-Identifier: Apache-2.0
"""goprofile --off-cpu: goroutines that know for how long they ran, waited and were runnable."""

import collections
import datetime
import os
import re
import signal
import time

import pprof
from harness import (PROBE_NS, Target, Tool, expect, fixture, json_lines, newest, run, test, tool_path, two_versions,
                     versions)

from test_locks import delayed

HZ = 299
ROW = re.compile(r"((?:    \S+ \S+:\d+\n|    \[.+\]\n)+)    - {16}(\S+) \((\d+)\): (.+)\n        (\d+)\n\n")


def end(tool):
    tool.signal(signal.SIGINT)
    expect(tool.wait() == 0, tool.said())


class Measured:
    """A run of the tool and the fixture. `known`: what this tells of its functions; `late`: for how long the kernel kept its
    threads waiting; `most`: how long the tool measured at most"""

    def __init__(self, version, flavour, *options, ends=False, ms=400):
        with Target("wall", version, flavour, [f"ms={ms}"]) as target:
            begun = time.monotonic_ns()
            self.pprof = f"{target.folder.name}/out.pb.gz"
            with Tool("goprofile", "--off-cpu", "-F", HZ, *[self.pprof if o == "PPROF" else o for o in options],
                      "-p", target.target_pid) as tool:
                tool.wait_line("Time (us)")
                target.go()
                target.wait_line("done")
                self.late = delayed(target.target_pid)
                if ends:
                    target.go()
                    expect(tool.wait() == 0, tool.said())
                else:
                    end(tool)
                self.most = time.monotonic_ns() - begun
                self.text = tool.out.text()
                expect(not re.search("lost|left out|could not", tool.err.text()), tool.err.text())
                if "PPROF" in options:
                    self.profile = pprof.Profile(self.pprof)
            if not ends:
                target.go()
            self.pid = target.target_pid
            self.known = {t["func"]: t for t in json_lines(
                "\n".join(line for line in target.out.text().splitlines() if line.startswith("{")))}


def names(record):
    return [frame["func"] for frame in record["stack"]]


def total(records, function, *states):
    return sum(r["total_ns"] for r in records if function in names(r) and (not states or r["state"] in states))


def near(what, got, least, most):
    expect(least <= got <= most, f"{what}: {got}, not from {least:.0f} to {most:.0f}")


def sampled(ns):
    """What chance may do to samples of so much time: 6 sigma, a tick at its ends, and clocks that differ"""
    return 6 * (ns / 1e9 * HZ) ** 0.5 * 1e9 / HZ + 0.15 * ns + 3e9 / HZ


def check(records, measured):
    known, late = measured.known, measured.late
    runs, mixes, yields, idles = (known[f"main.{name}"] for name in ("runs", "mixes", "yields", "idles"))
    for one in runs, mixes:
        near(f"{one['func']} runs", total(records, one["func"], "running"), one["on"] - sampled(one["on"]),
             one["on"] + sampled(one["on"]))
        # all that is known of it is its time
        near(one["func"], total(records, one["func"]), one["wall"] - late - sampled(one["on"]),
             one["wall"] + sampled(one["on"]))
    expect(not [r for r in records if "main.runs" in names(r) and r["state"] not in ("running", "runnable")], "main.runs waits")
    # not where it was taken from its processor, or came out of a system call
    waits = [r for r in records if any(name.startswith("runtime.chan") for name in names(r))]
    off = total(waits, "main.mixes", "chan receive", "chan send", "runnable")
    near("main.mixes waits", off, mixes["off"] - late - PROBE_NS * mixes["offs"], mixes["off"] + PROBE_NS * mixes["offs"])
    off = total(records, "main.yields", "runnable")
    near("main.yields is runnable", off, yields["off"] - late - PROBE_NS * yields["offs"],
         yields["wall"])
    near("main.idles", total(records, "main.idles", "chan receive"), idles["offs"] * idles["wall"], idles["offs"] * measured.most)
    expect({r["state"] for r in records if "main.idles" in names(r)} == {"chan receive"}, "main.idles does not only wait")


@test(version=versions)
def off_cpu(version):
    """Running, waiting and runnable are a goroutine's time; those that wait all of the time count as well."""
    measured = Measured(version, "plain", "-j")
    records = json_lines(measured.text)
    check(records, measured)
    expect(all(set(r) == {"type", "pid", "comm", "state", "total_ns", "stack"} and r["type"] == "wall" and
               r["pid"] == measured.pid for r in records), f"{records[0]}")
    system = [r for r in records if r["state"] != "running" and names(r)[-1].startswith("runtime.") and
              names(r)[-1] != "runtime.main"]
    expect(not system, f"the runtime's own goroutines wait: {system[:2]}")


@test(version=two_versions, flavour=["strip", "cgopie"])
def off_cpu_built(version, flavour):
    """... to the end of the process"""
    measured = Measured(version, flavour, "-j", ends=True)
    check(json_lines(measured.text), measured)


@test(version=["1.15", "1.19", "1.27"])
def off_cpu_intervals(version):
    """Intervals have what came in them, of waits that go on as well, and add up to the whole"""
    measured = Measured(version, "plain", "-j", "-T", "-i", "200ms")
    records = json_lines(measured.text)
    check(records, measured)
    idles = [r for r in records if "main.idles" in names(r)]
    expect(len(idles) >= 5, f"{idles}")
    # five goroutines wait all of the time, from one tick to the next, however late it is; it is never early
    begun, *_, end_of = [datetime.datetime.fromisoformat(r["time"].rstrip("Z")) for r in idles[:-1]]
    wall = (end_of - begun).total_seconds() * 1e9
    near("main.idles in intervals", sum(r["total_ns"] for r in idles[1:-1]), 0.85 * 5 * wall, 1.15 * 5 * wall)
    near("an interval", wall / len(idles[1:-1]), 0.17e9, 60e9)
    expect(all("time" in r for r in records), f"{records[0]}")


def labelled(records, function, labels):
    return [r for r in records if function in names(r) and r["labels"] == labels]


@test(version=["1.15", "1.19", "1.23", "1.27"])
def off_cpu_labels(version):
    """Labels of those that run, wait, are runnable, and waited already; -i as well"""
    measured = Measured(version, "plain", "-j", "--labels", "-i", "1s")
    records = json_lines(measured.text)
    check(records, measured)
    idles = [r for r in records if "main.idles" in names(r)]
    if int(version.split(".")[1]) < 24:  # they waited already, and labels are in maps
        expect(idles and all(r["labels"] == {} and r["labels_cut"] for r in idles), f"{idles[:1]}")
    else:
        for kind, count in ("even", 3), ("odd", 2):
            some, wall = labelled(idles, "main.idles", {"kind": kind}), measured.known["main.idles"]["wall"]
            near(f"main.idles, {kind}", sum(r["total_ns"] for r in some), count * wall, count * measured.most)
    mixes = [r for r in records if "main.mixes" in names(r)]
    expect(mixes and mixes == labelled(records, "main.mixes", {"tenant": "acme"}), f"{mixes}")
    expect({r["state"] for r in mixes} >= {"running", "chan receive", "runnable"}, f"{mixes}")
    runs = [r for r in records if "main.runs" in names(r)]
    expect(runs and runs == labelled(records, "main.runs", {}), f"{runs}")


@test()
def off_cpu_labels_key():
    """That of one key, as text and by itself beside -p"""
    text = Measured(newest(), "strip", "--labels=kind", ms=100).text
    rows = re.findall(r"    - +wall \(\d+\) \{kind: (\w+)\}: chan receive\n", text)
    expect(sorted(rows) == ["even", "odd"] and "acme" not in text, text[-900:])


@test()
def off_cpu_text():
    """Times in us, the largest last, with the state behind the process; and folded, with it last"""
    text = Measured(newest(), "plain", ms=100).text
    rows = ROW.findall(text)
    times = [int(row[4]) for row in rows]
    expect(len(rows) > 5 and times == sorted(times), text[-600:])
    expect(rows[-1][3] == "chan receive" and "    main.idles wall.go:" in rows[-1][0], f"{rows[-1]}")
    lines = Measured(newest(), "strip", "-f", ms=100).text.splitlines()
    found = [re.fullmatch(r"wall\S*-\d+;(.+;)\[(.+)\] (\d+)", line) for line in lines]
    expect(all(found) and {m[2] for m in found} >= {"running", "runnable", "chan receive", "sleep"}, f"{lines[:3]}")
    on = [m for m in found if m[1].startswith("runtime.main;main.main;main.measures;main.runs;")]
    expect({m[2] for m in on} >= {"running"}, f"{lines[-5:]}")


@test()
def off_cpu_pprof():
    """One profile: the same rows, ns"""
    measured = Measured(newest(), "plain", "-j", "--pprof", "PPROF", ms=100)
    records, profile = json_lines(measured.text), measured.profile
    got, want = collections.Counter(), collections.Counter()
    for (_, state), values in profile.rows("state").items():
        got[state] += values[0]
    for r in records:
        want[r["state"]] += r["total_ns"]
    expect(profile.types == ["time/nanoseconds"] and got == want, f"{profile.types}, {got}, {want}")


@test()
def off_cpu_full():
    """What there is no room for is said."""
    with Target("wall", newest(), args=["ms=50"]) as target:
        with Tool("goprofile", "--off-cpu", "-j", "-p", target.target_pid, env=dict(os.environ, GOTOOLS_ROOM="2")) as tool:
            tool.wait_line("Time (us)")
            target.go()
            target.wait_line("done")
            end(tool)
            said = tool.err.text()
        target.go()
    expect(re.search(r"^goprofile: \d+ goroutines that waited already are left out: more of them than there is room for$", said,
                     re.M), said)
    expect(re.search(r"^goprofile: \d+ waits were lost: more ", said, re.M), said)


@test()
def off_cpu_refused():
    def refused(*args):
        done = run([tool_path("goprofile"), "--off-cpu", "-d", "1", *map(str, args)])
        expect(done.returncode == 1, f"{args}: {done}")
        return done.stderr
    pid = os.getpid()
    expect("hint: name it: -p PID" in refused() + refused(fixture("wall", newest())), "no process")
    expect("not with --cgroup: the" in refused("-p", pid, "--cgroup", "/"), "a cgroup")
    expect("--labels: of a key, 128 bytes" in refused("-p", pid, "--labels=" + 129 * "x"), "a long key")
    expect("not a Go program" in refused("-p", pid), "no Go program")
