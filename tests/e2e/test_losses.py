# SPDX-License-Identifier: Apache-2.0
"""What is lost is told, with its number and the reason; nothing is made up in its place."""

import os
import re
import subprocess

from harness import (Target, Tool, compare_latency, expect, fixture, newest, test, tool_path)

from gotrace import Tracer

UNREADABLE = "not tracked: memory of the goroutine could not be read"
HOT = [f":main.{name}" for name in ("computes", "uses", "recovers", "throws")]


def cannot_wait():
    return dict(os.environ, GOTOOLS_SLEEPABLE="no")


def told(tracer, words, when=""):
    """The sum of the numbers in messages that say so"""
    return sum(map(int, re.findall(rf"^\w+: {when}(\d+) [^\n]*{words}", tracer.err.text(), re.M)))


def follow_collapsing(tracer, version, *options, env=None):
    """A program with pages that are away for moments: its truth, what a tool prints of it, and the tool"""
    with Target("collapse", version) as target:
        with tracer("-j", "-p", target.target_pid, *options, env=env) as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            collapsed = re.search(r"^collapsed (\d+)$", target.out.text(), re.M)
            expect(collapsed and int(collapsed[1]) > 100, f"nothing collapsed: {target.said()}")
            return truth, tracer.records(), tracer


def latency(*args, **kwargs):
    return Tool("gofunclatency", *args, **kwargs)


@test(version=["1.19", "1.27"])
def away(version):
    """Pages that are away for a moment cost no call."""
    truth, records, tracer = follow_collapsing(latency, version, "-F", *HOT)
    compare_latency(truth, records)
    expect("not tracked" not in tracer.err.text(), tracer.said())


@test(version=["1.19", "1.27"])
def away_unread(version):
    """Where the kernel's programs may not wait for pages, what is lost is told, each call once: at each
    interval its own, and all at the end."""
    truth, records, tracer = follow_collapsing(latency, version, "-F", "-i", 1, *HOT, env=cannot_wait())
    true = sum(t["calls"] for t in truth)
    got = sum(r[k] for r in records for k in ("count", "panicked", "exited", "lost", "running"))
    untracked = told(tracer, UNREADABLE)
    expect(got + untracked == true, f"{got} and {untracked} untracked of {true}")
    expect(told(tracer, UNREADABLE, "in all ") == untracked, tracer.err.text())
    panics = {r["func"]: r["panicked"] for r in records if r["panicked"]}
    expect(set(panics) <= {"main.throws"}, f"panics of {panics}")


@test(sleepable=["yes", "no"])
def away_traced(sleepable):
    """gotrace knows the goroutine of each call, or says of how many it does not."""
    truth, events, tracer = follow_collapsing(Tracer, "1.19", "r:main.recovers", ":main.throws",
                                              env=None if sleepable == "yes" else cannot_wait())
    for track in truth[2:]:
        got = sum(e["func"] == track["func"] for e in events)
        lost = told(tracer, UNREADABLE) if sleepable == "no" else 0
        expect(track["calls"] - lost <= got <= track["calls"], f"{got} of {track['calls']}: {tracer.said()}")
    nameless = sum(e["goid"] == 0 for e in events)
    expect(nameless == told(tracer, "printed without GOID"), f"{nameless} nameless: {tracer.said()}")
    expect(sleepable == "no" or not nameless and UNREADABLE not in tracer.err.text(), tracer.said())


@test(tool=["gotrace", "gotrace -j", "gotrace -A", "gofunclatency", "gofunclatency -i 0.1"])
def output_full(tool):
    """What keeps the output from being written is named."""
    name, *options = tool.split()
    path = fixture("traced", newest())
    with open("/dev/full", "wb") as full:
        done = subprocess.run([tool_path(name), *options, "main.*", "--", path, "now", "hot=100000"],
                              stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=100)
    expect(done.returncode == 1 and f"{name}: cannot write the output: No space left on device" in done.stderr,
           f"{done}")
