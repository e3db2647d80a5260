# SPDX-License-Identifier: Apache-2.0
"""gotree --follow against a program whose goroutines note themselves which request they work for."""

import json
import os
import re
import tempfile

from harness import Target, Tool, expect, newest, test, two_versions

BELOW = ["main.below" + name for name in ("Step", "Work", "Deep", "Throw", "Catch", "Exit", "Fan", "Group", "Stage",
                                          "Stages", "Nested", "Ends", "Pool", "Relay", "Stream", "Late", "Hand")]
LIMIT = 256  # goroutines of a request


def no_gc(path):
    """The collector's workers take room like others."""
    return ["env", "GOGC=off", path]


def noted(target):
    """{goid of main.root's goroutine: request}"""
    target.wait()
    lines = [line[5:] for line in target.out.text().splitlines() if line.startswith("tree ")]
    return {r["root"]["goid"]: r for r in map(json.loads, lines)}


def trees_of(records):
    trees = [r for r in records if r["type"] == "call_tree"]
    expect(len({t["goid"] for t in trees}) == len(trees), "a goroutine has two trees")
    return {t["goid"]: t for t in trees}


def trace(target, *args, **options):
    follow = "--follow-channels" if options.pop("channels", False) else "--follow"
    with Tool("gotree", "-j", follow, "-p", target.target_pid, *args, "main.root", *BELOW, **options) as tool:
        tool.tracing()
        target.go()
        return noted(target), trees_of(tool.records()), tool.err.text()


def losses(said):
    return [line for line in re.findall("^gotree: (.*)$", said, re.M) if not re.match(r"process \d+ has ended$", line)]


def told(branch):
    """What both sides know of a goroutine"""
    calls = [(c["func"], c["depth"], c["how"]) for c in branch["calls"]]
    return {"by": branch["by"], "call": branch["call"], "how": branch["how"], "calls": calls}


def received(branches):
    """What goroutines did with what they received: they may have done that several times"""
    return sorted((b["goid"], str(told(b))) for b in branches if b["calls"])


def compare(tree, truth, channels=False):
    shape = truth["shape"]
    got = [(c["func"], c["depth"], c["how"]) for c in tree["calls"]]
    true = [(c["func"], c["depth"], c["how"]) for c in truth["root"]["calls"]]
    expect(got == true, f"{shape}: root {got}, truth {true}")
    started = [g for g in tree["goroutines"] if g["func"]]
    got = {g["goid"]: told(g) for g in started}
    true = {g["goid"]: told(g) for g in truth["goroutines"]}
    expect(len(got) == len(started), f"{shape}: a goroutine is there twice")
    expect(got.keys() == true.keys(), f"{shape}: {sorted(got)}, truth {sorted(true)}")
    for goid, branch in true.items():
        expect(got[goid] == branch, f"{shape}: {goid}: {got[goid]}, truth {branch}")
    got, true = received(g for g in tree["goroutines"] if not g["func"]), received(truth["received"] if channels else [])
    expect(got == true, f"{shape}: received {got}, truth {true}")


def check_times(tree):
    """Starters stand before what they start; that begins within the starter's call, but if it was received."""
    known = [{"goid": tree["goid"], "start": 0, "latency": tree["latency"], "calls": tree["calls"]}]
    for g in tree["goroutines"]:
        starter = known[g["parent"]]
        call = starter["calls"][g["call"] - 1] if g["call"] else starter
        expect(starter["goid"] == g["by"], f"{g} not by {starter}")
        expect(call["start"] <= g["start"] and (not g["func"] or g["start"] <= call["start"] + call["latency"]),
               f"{g} not in {call}")
        for c in g["calls"]:
            expect(g["start"] <= c["start"] and c["start"] + c["latency"] <= g["start"] + g["latency"], f"{c} not in {g}")
        expect(not g["func"] or g["func"].startswith("main."), g["func"])
        known.append(g)


@test(version=["1.15", "1.19", "1.23", "1.27"], flavour=["plain", "strip"],
      where=lambda version, flavour: flavour == "strip" or version in ("1.15", "1.27"))
def gotree_follow_calls(version, flavour):
    """Fan-out, group, stages, goroutines that start others, panics, Goexit, pools: each goroutine and each call"""
    with Target("follow", version, flavour) as target:
        truth, trees, said = trace(target)
    expect(truth.keys() == trees.keys() and len(truth) == 7, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])
        check_times(tree)
    expect(not losses(said), said)


@test(version=two_versions)
def gotree_follow_crowd(version):
    """20 requests at once, each with what is its own"""
    with Target("follow", version, args=["shape=nested", "roots=3", "goroutines=20"]) as target:
        truth, trees, said = trace(target)
    expect(truth.keys() == trees.keys() and len(truth) == 60, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])


@test(version=["1.15", "1.19", "1.21", "1.22", "1.23", "1.24", "1.25", "1.26", "1.27"], flavour=["plain", "strip"],
      where=lambda version, flavour: flavour == "strip" or version in ("1.19", "1.27"))
def gotree_channels_calls(version, flavour):
    """Pools that are there before the requests: what is done for each value, below the call that has sent it"""
    with Target("follow", version, flavour) as target:
        truth, trees, said = trace(target, channels=True)
    expect(truth.keys() == trees.keys() and len(truth) == 7, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid], channels=True)
        check_times(tree)
    expect(not losses(said), said)


@test(version=two_versions)
def gotree_channels_handed(version):
    """Buffers, select, pools that hand work on and start goroutines, streams, work that goes on after ROOT: 20 requests at
    once"""
    with Target("follow", version, args=["shape=handed", "roots=3", "goroutines=20"]) as target:
        truth, trees, said = trace(target, channels=True)
    expect(truth.keys() == trees.keys() and len(truth) == 60, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid], channels=True)
        check_times(tree)
    expect(not losses(said), said)


def printed(shape, option):
    """The tree of a call of this shape, as text"""
    with Target("follow", newest(), args=[f"shape={shape}", "roots=1"]) as target:
        with Tool("gotree", option, "-p", target.target_pid, "main.root", *BELOW) as tool:
            tool.tracing()
            target.go()
            target.wait()
            tool.wait()
            return tool.out.text()


@test()
def gotree_channels_text():
    """What was received is a line below the call that has sent it, and what goes on is told"""
    text = printed("handed", "--follow-channels")
    expect("through channels, with" in text, text)
    expect(re.search(r"\n[^\n]+%    main\.belowHand\n[^\n]+%      received x3, avg [^\n]+\n", text), text)
    expect(re.search(r"%        main\.belowRelay\n[^\n]+%          go main\S+ \[goroutine \d+\]\n", text), text)
    expect(re.search(r"%          received \[goroutine \d+\]\n[^\n]+%            main\.belowStep\n", text), text)
    expect(re.search(r"%      main\.belowLate \(running\)\n", text), text)
    expect("\n1 goroutine goes on after main.root has ended\n" in text, text)


@test()
def gotree_channels_room():
    """No room for all that is received: that is told, the rest is right"""
    with Target("follow", newest(), args=["shape=shared", "roots=1"]) as target:
        truth, trees, said = trace(target, channels=True, env={"GOTOOLS_ROOM": "4"})
    (goid, tree), = trees.items()
    lost = re.search(r"gotree: (\d+) goroutines were not followed: more than there is room for\n", said)
    expect(lost and int(lost[1]) == 7 and len(tree["goroutines"]) == 3, f"{tree} {said}")
    got, true = received(tree["goroutines"]), received(truth[goid]["received"])
    expect(all(branch in true for branch in got), f"{got} {true}")


@test()
def gotree_follow_slower():
    """Goroutines of requests that are not shown make room: 5 at a time, of 40, where there is room for 64"""
    with Target("follow", newest(), args=["shape=fan", "roots=40"]) as target:
        truth, trees, said = trace(target, "--slower", "10s", env={"GOTOOLS_ROOM": "64"})
    expect(not trees and len(truth) == 40, f"{trees}")
    expect(losses(said) == ["40 calls took less than --slower: not shown"], said)


@test()
def gotree_follow_wide():
    """More goroutines than are followed of a request: each is there, and the others are told apart"""
    with Target("follow", newest(), args=["shape=wide", "roots=1"], argv=no_gc) as target:
        truth, trees, said = trace(target)
    (goid, tree), = trees.items()
    hows = [g["how"] for g in tree["goroutines"]]
    expect(len(hows) == 300 and hows.count("unfollowed") == 300 - LIMIT, f"{len(hows)} {hows.count('unfollowed')}")
    expect(losses(said) == [f"{300 - LIMIT} goroutines were not followed: more than there is room for"], said)
    true = {g["goid"]: told(g) for g in truth[goid]["goroutines"]}
    for g in tree["goroutines"]:
        if g["how"] != "unfollowed":
            expect(told(g) == true[g["goid"]], f"{g}, truth {true[g['goid']]}")


@test()
def gotree_follow_cut():
    """go statements after the calls that a tree has room for"""
    with Target("follow", newest(), args=["shape=wide", "roots=1", "wide=2500"], argv=no_gc) as target:
        _, trees, _ = trace(target)
    (tree,) = trees.values()
    expect(len(tree["goroutines"]) == 2046 and tree["cut_goroutines"] == 2500 - 2046, f"{tree['cut_goroutines']}")


@test()
def gotree_follow_text():
    """Goroutines of one function are a line below the call that started them; those that go on are told"""
    text = printed("pool", "--follow")
    lines = text[text.index("main.root took"):].split("\n")
    expect(re.search(r"%    go main\.\S+ x3, avg \S+, max \S+ \(3 go on\)$", lines[3]), text)
    expect(re.search(r"%      main\.belowPool x3, avg \S+, max \S+ \(3 running\)$", lines[4]), text)
    expect(re.search(r"%        main\.belowStep x3, ", lines[5]), text)
    expect("\n3 goroutines go on after main.root has ended\n" in text, text)


@test()
def gotree_follow_perfetto():
    """A track for each goroutine, with all of it as the outermost slice"""
    with tempfile.TemporaryDirectory() as folder, Target("follow", newest(), args=["shape=fan", "roots=1"]) as target:
        path = os.path.join(folder, "trace.json")
        _, trees, _ = trace(target, "--perfetto", path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    (tree,) = trees.values()
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    expect(names == {goid: f"goroutine {goid}" for goid in [tree["goid"], *(g["goid"] for g in tree["goroutines"])]}, f"{names}")
    for g in tree["goroutines"]:
        slices = [e["name"] for e in events if e["tid"] == g["goid"] and e["ph"] == "X"]
        expect(slices == ["go " + g["func"], *(c["func"] for c in g["calls"])], f"{slices}")


@test()
def gotree_follow_room():
    """No room for all trees at a time: what is not followed is told, the rest is right"""
    with Target("follow", newest(), args=["shape=fan", "roots=1"]) as target:
        with Tool("gotree", "-j", "--follow", "-p", target.target_pid, "main.root", *BELOW,
                  env={"GOTOOLS_ROOM": "4"}) as tool:
            tool.tracing()
            target.go()
            truth = noted(target)
            (goid, tree), = trees_of(tool.records()).items()
            said = tool.err.text()
    lost = re.search(r"gotree: (\d+) goroutines were not followed: more than there is room for\n", said)
    hows = [g["how"] for g in tree["goroutines"]]
    expect(lost and hows.count("unfollowed") == int(lost[1]) >= 1 and len(hows) == 5, f"{hows} {said}")
    true = {g["goid"]: told(g) for g in truth[goid]["goroutines"]}
    expect(all(told(g) == true[g["goid"]] for g in tree["goroutines"] if g["how"] != "unfollowed"), f"{tree}")
