# SPDX-License-Identifier: Apache-2.0
"""What is lost is told, with its number and the reason; nothing is made up in its place."""

import os
import re
import subprocess

from harness import (Target, Tool, compare_latency, expect, fixture, newest, run, test, tool_path)

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
    expect(told(tracer, UNREADABLE, "in total ") == untracked, tracer.err.text())
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


def room(entries):
    return dict(os.environ, GOTOOLS_ROOM=str(entries))


def brief(tracer, *words, patterns, options=(), env=None, version="1.19"):
    """A program whose processes end inside calls: its truth, what a tool prints of them, and the tool"""
    with Target("brief", version, args=words) as target:
        with tracer("-j", *options, *[p.replace("PATH", target.path) for p in patterns], env=env) as tracer:
            tracer.tracing()
            target.go()
            return target.truth(), tracer.stop(), tracer


def unfinished(truth):
    return sum(t["running"] for t in truth)


@test(how=["exit", "kill", "exec"], version=["1.19", "1.27"])
def processes_end(how, version):
    """Calls of processes that end inside them are told so, and of no other that has the same ID: neither
    as running on, nor as ended by panics."""
    truth, records, tracer = brief(latency, "runs=150", "goroutines=7", "depth=40", how,
                                   patterns=["PATH:main.(waits|descends|ends|returns)$"], options=["-r", "-F"], version=version)
    compare_latency([t for t in truth if t["running"] or t["returned"]], records)
    expect("not tracked" not in tracer.err.text(), tracer.said())


@test()
def processes_end_intervals():
    """They are told in the interval that sees them end."""
    truth, records, _ = brief(latency, "runs=100", "goroutines=7", "depth=40", "pause=10", "exit",
                              patterns=["PATH:main.descends"], options=["-i", 0.3])
    parts = [r["process_ended"] for r in records if r["process_ended"]]
    expect(len(parts) > 2 and sum(parts) == truth[1]["running"], f"{parts} of {truth[1]['running']}")


@test()
def processes_end_traced():
    truth, events, tracer = brief(Tracer, "runs=100", "goroutines=7", "depth=40", "exit",
                                  patterns=["r:PATH:main.waits", "r:PATH:main.descends", "r:PATH:main.ends"])
    ended = told(tracer, "had not returned when their process ended")
    expect(ended == unfinished(truth), f"{ended} of {unfinished(truth)}: {tracer.said()}")
    expect(not events and told(tracer, "had not returned when tracing") == 0, tracer.said())


@test(tool=["gofunclatency", "gotrace"])
def processes_make_room(tool):
    """What ended processes leave behind is cleared away while tracing goes on: the maps do not fill up."""
    follow = latency if tool == "gofunclatency" else Tracer
    patterns = ["PATH:main.waits"] if tool == "gofunclatency" else ["r:PATH:main.waits"]
    truth, records, tracer = brief(follow, "runs=50", "goroutines=200", "pause=150", "exit", patterns=patterns,
                                   env=room(4000))
    ended = told(tracer, "had not returned when their process ended")
    if tool == "gofunclatency":
        ended = sum(r["process_ended"] for r in records)
    expect(ended == truth[0]["running"] == 10000, f"{ended} of {truth[0]['running']}: {tracer.said()}")
    expect("not tracked" not in tracer.err.text(), tracer.said())


@test()
def processes_forked():
    """What a child of fork does before it executes another program, it does not go on with after that."""
    with Target("process", newest(), args=["child"]) as target:
        with latency("-j", "-F", f"{target.path}:syscall.*", f"{target.path}:runtime.*") as tracer:
            tracer.tracing()
            target.go()
            target.wait()
            records = tracer.stop()
            running = {r["func"]: r["running"] for r in records if r["running"]}
            expect(not running, f"running on: {running}")
            expect(any(r["process_ended"] for r in records), "no call in a process that ended")


@test(tool=["gofunclatency", "gotrace"], version=["1.19", "1.27"])
def panics_make_room(tool, version):
    """Panics from deep inside leave nothing behind in a process that lives on."""
    follow = latency if tool == "gofunclatency" else Tracer
    patterns = ["PATH:main.throws"] if tool == "gofunclatency" else ["r:PATH:main.throws"]
    truth, records, tracer = brief(follow, "recovers=100", "depth=100", patterns=patterns, env=room(500),
                                   version=version)
    got = sum(r["panicked"] for r in records) if follow is latency else \
        sum(e["how"] == "panic" for e in records) + told(tracer, "ended too many at once")
    expect(got == truth[-1]["panicked"] == 10100, f"{got} of {truth[-1]['panicked']}: {tracer.said()}")
    expect("not tracked" not in tracer.err.text(), tracer.said())


@test(full=["goroutines", "deep calls"])
def full(full):
    """Which map was full is said, and of how many calls."""
    words = ["goroutines=500", "depth=1"] if full == "goroutines" else ["goroutines=1", "depth=500"]
    truth, records, tracer = brief(latency, "runs=1", *words, "exit",
                                   patterns=["PATH:main.waits", "PATH:main.descends"], env=room(100))
    untracked = told(tracer, rf"not tracked: the map of {full} is full \(100 at a time\)")
    got = sum(r["process_ended"] for r in records)
    true = truth[0]["running"] + truth[1]["running"]
    expect(untracked and got + untracked == true, f"{got} and {untracked} of {true}: {tracer.said()}")


@test()
def full_traced():
    truth, _, tracer = brief(Tracer, "runs=1", "goroutines=500", "depth=1", "exit", patterns=["r:PATH:main.waits"],
                             env=room(100))
    untracked = told(tracer, "not tracked: the map of calls that have not returned is full")
    ended = told(tracer, "had not returned when their process ended")
    expect(untracked and ended + untracked == truth[0]["running"], tracer.said())


@test(size=[250, 1000, 4096])
def strings_whole(size):
    """Room for long strings takes none from short ones."""
    path = fixture("traced", newest())
    names = [f"{how}:main.{name}" for how in ("", "r") for name in ("wide", "thrice", "failing", "changes")]
    plain, long = (run([tool_path("gotrace"), "-Z", str(z), *names, "--", path, "now"]) for z in (80, size))
    expect(plain.returncode == long.returncode == 0, f"{long}")
    # one of p's strings is longer than that
    got, true = (re.findall(r"main\.(?:wide|thrice|failing|changes) .*",
                            re.sub(r'("[^"]{80})[^"]*"(\.\.\.)?', r'\1"...', re.sub("0x[0-9a-f]+", "0x", done.stdout)))
                 for done in (long, plain))
    expect(len(true) > 20 and got == true, f"{set(got) ^ set(true)}")
