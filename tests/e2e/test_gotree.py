# SPDX-License-Identifier: Apache-2.0
"""gotree against a program that notes the calls below each call of main.root itself."""

import json
import os
import re
import shutil
import tempfile

from harness import (Failure, Skip, Target, Tool, expect, fixture, newest, run, some_versions, test, tool_path,
                     two_versions)

BELOW = ["main.belowAll", "main.belowLeaf", "main.belowLoop", "main.belowDeep", "main.belowThrow", "main.belowFail",
         "main.belowRecover", "main.belowExit", "main.root"]
HOWS = {"all": "return", "exit": "exit", "panic": "panic", "wide": "return", "deep": "return",
        "slow": "return", "busy": "return"}
KEPT = 2048  # calls of one tree, ROOT's with them


def noted(target):
    """{goid: what the target has noted}"""
    target.wait()
    lines = [line[5:] for line in target.out.text().splitlines() if line.startswith("tree ")]
    trees = [json.loads(line) for line in lines]
    return {tree["goid"]: tree for tree in trees}


def trees_of(records):
    trees = [r for r in records if r["type"] == "call_tree"]
    expect(all(list(t)[0] == "type" for t in trees), "\"type\" is not the first key")
    expect(len({t["goid"] for t in trees}) == len(trees), "a goroutine has two trees")
    return {t["goid"]: t for t in trees}


def check_times(tree):
    """Calls in the order in which they began; each within its caller."""
    path = [{"start": 0, "latency": tree["latency"], "depth": 0}]
    before = 0
    for call in tree["calls"]:
        expect(call["start"] >= before, f"not in the order of their beginnings: {call}")
        before = call["start"]
        while path[-1]["depth"] >= call["depth"]:
            path.pop()
        caller = path[-1]
        expect(caller["depth"] == call["depth"] - 1, f"no caller: {call}")
        expect(call["start"] + call["latency"] <= caller["start"] + caller["latency"],
               f"{call} goes on after its caller {caller}")
        path.append(call)


def compare(tree, truth):
    got = [(c["func"], c["depth"], c["how"]) for c in tree["calls"] if c["func"] in BELOW]
    true = [(c["func"], c["depth"], c["how"]) for c in truth["calls"]]
    if got != true:
        at = next((i for i, (g, t) in enumerate(zip(got, true)) if g != t), min(len(got), len(true)))
        raise Failure(f"{truth['shape']}: {len(got)} calls, truth {len(true)}; from {at} on {got[at:at + 3]}, "
                      f"truth {true[at:at + 3]}")
    expect(tree["func"] == "main.root" and tree["how"] == HOWS[truth["shape"]], f"{tree['func']} {tree['how']}")
    check_times(tree)


def trace(target, *args):
    with Tool("gotree", "-j", "-p", target.target_pid, *args) as tool:
        tool.tracing()
        target.go()
        truth = noted(target)
        return truth, trees_of(tool.records()), tool.err.text()


@test(version=some_versions, flavour=["plain", "strip"])
def gotree_calls(version, flavour):
    """Recursion, panics recovered, Goexit, stacks that grow, ROOT within ROOT: each call, its depth and its end"""
    with Target("calltree", version, flavour) as target:
        truth, trees, said = trace(target, "main.root", *BELOW[:-1])
    expect(truth.keys() == trees.keys() and len(truth) == 6, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])
        expect(len(tree["calls"]) == len(truth[goid]["calls"]), f"others than asked for: {tree}")
        expect(tree["cut"] == 0 and tree["pid"] == target.target_pid, f"{tree['cut']} {tree['pid']}")


@test(version=two_versions)
def gotree_crowd(version):
    """100 goroutines at once, each with a tree of its own; the functions are those of ROOT's package"""
    with Target("calltree", version, args=["goroutines=100", "roots=3"]) as target:
        truth, trees, said = trace(target, "main.root")
    expect(truth.keys() == trees.keys() and len(truth) == 300, f"{len(trees)} trees of {len(truth)}: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])


def wide(target, *args):
    """One call of ROOT that makes 5001"""
    with Tool("gotree", "-p", target.target_pid, *args, "main.root", "main.below*") as tool:
        tool.tracing()
        target.go()
        truth = next(iter(noted(target).values()))
        tool.wait()
        return truth, tool.out.text()


@test()
def gotree_cut():
    """A tree that does not fit: the calls that began first, whole, and how many of which function are cut"""
    with Target("calltree", newest(), args=["shape=wide", "roots=1"]) as target:
        truth, text = wide(target, "-j")
    tree = json.loads(text)
    calls = len(truth["calls"])
    expect(len(tree["calls"]) == KEPT - 1 and calls == 5001, f"{len(tree['calls'])} of {calls}")
    expect(tree["cut"] == calls - KEPT + 1, f"cut {tree['cut']} of {calls}")
    expect(tree["cut_funcs"] == [{"func": "main.belowLeaf", "calls": tree["cut"]}], f"{tree['cut_funcs']}")
    truth["calls"] = truth["calls"][:KEPT - 1]
    compare(tree, truth)


@test(version=two_versions)
def gotree_cut_deep(version):
    """A recursion that does not fit: calls that are cut end none of those that are kept"""
    with Target("calltree", version, args=["shape=deep", "roots=1"]) as target:
        truth, trees, said = trace(target, "main.root", "main.belowDeep")
    (goid, tree), = trees.items()
    expect(len(tree["calls"]) == KEPT - 1 and tree["cut"] == 3001 - KEPT + 1, f"{tree['cut']} {said}")
    truth[goid]["calls"] = truth[goid]["calls"][:KEPT - 1]
    compare(tree, truth[goid])
    outermost = tree["calls"][0]
    expect(tree["latency"] - outermost["start"] - outermost["latency"] < tree["latency"] / 10,
           f"{outermost} has ended before its time, {tree['latency']}")


@test()
def gotree_cut_text():
    with Target("calltree", newest(), args=["shape=wide", "roots=1"]) as target:
        _, text = wide(target)
    expect(f"\ncut: {5001 - KEPT + 1} calls that began after the first {KEPT}: main.belowLeaf {5001 - KEPT + 1}\n" in text,
           f"not said what was cut: {text}")
    expect(re.search(rf"100%    main.belowLoop\n.* main.belowLeaf x{KEPT - 2}, avg \S+, max \S+\n", text), text)


@test()
def gotree_slower():
    """Only calls of ROOT that took longer; how many were faster"""
    with Target("calltree", newest(), args=["shape=slow", "roots=3"]) as target:
        _, trees, said = trace(target, "--slower", "10s", "main.root")
    expect(not trees and "gotree: 3 calls took less than --slower: not shown\n" in said, f"{trees} {said}")
    with Target("calltree", newest(), args=["shape=slow", "roots=3"]) as target:
        truth, trees, said = trace(target, "--slower", "30ms", "main.root")
    expect(truth.keys() == trees.keys() and "not shown" not in said, f"{trees} {said}")
    expect(all(tree["latency"] >= 30e6 for tree in trees.values()), f"{trees}")


@test()
def gotree_trial():
    """What is called too often is left out of the functions that nobody has named, and told; not if it is named"""
    with Target("calltree", newest(), args=["shape=busy", "roots=2"]) as target:
        truth, trees, said = trace(target, "main.root")
    expect(re.search(r"^gotree: 1 function is called too often, and left out: main\.busyOften \(\d+ calls a "
                     r"second\)\nhint: ", said, re.M), said)
    expect(truth.keys() == trees.keys() and len(trees) == 2, f"{trees}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])
        expect("main.busyOften" not in {call["func"] for call in tree["calls"]}, f"{tree}")
    with Target("calltree", newest(), args=["shape=busy", "roots=2"]) as target:
        _, trees, said = trace(target, "main.root", "main.busy*")
    expect("too often" not in said, said)
    expect(all([call["func"] for call in tree["calls"]] == ["main.busyOften"] for tree in trees.values()), f"{trees}")


@test()
def gotree_hung():
    """Calls that never return: shown at the end, running, with what they have called"""
    with Target("calltree", newest(), args=["shape=hung", "roots=2"]) as target:
        with Tool("gotree", "-j", "-p", target.target_pid, "main.root", "main.below*") as tool:
            tool.tracing()
            target.go()
            target.wait_line("hung")
            trees = trees_of(tool.stop())
    expect(len(trees) == 2, f"{trees}")
    for tree in trees.values():
        got = [(c["func"], c["depth"], c["how"]) for c in tree["calls"]]
        expect(tree["how"] == "running" and tree["latency"] > 50e6, f"{tree}")
        expect(got == [("main.belowLoop", 1, "return")] + 2 * [("main.belowLeaf", 2, "return")], f"{got}")


@test()
def gotree_room():
    """More calls of ROOT at a time than there is room for: said, and the others are whole"""
    with Target("calltree", newest(), args=["shape=slow", "roots=1", "goroutines=20"]) as target:
        with Tool("gotree", "-j", "-p", target.target_pid, "main.root", env={"GOTOOLS_ROOM": "8"}) as tool:
            tool.tracing()
            target.go()
            truth = noted(target)
            trees = trees_of(tool.records())
            said = tool.err.text()
    lost = re.search(r"gotree: (\d+) calls have no tree: more at a time than there is room for\n", said)
    expect(lost and int(lost[1]) + len(trees) == 20 and trees, f"{len(trees)} trees: {said}")
    for goid, tree in trees.items():
        compare(tree, truth[goid])


@test()
def gotree_text():
    """-M: so many trees. Lines fit a terminal; siblings of one function are one line."""
    with Target("calltree", newest()) as target:
        with Tool("gotree", "-M", "1", "-p", target.target_pid, "main.root", *BELOW[:-1]) as tool:
            tool.tracing()
            target.go()
            tool.wait()
            text = tool.out.text()
        target.wait()
    expect(text.count("main.root took") == 1, text)
    lines = text[text.index("main.root took"):].split("\n")
    expect(re.match(r"main\.root took \S+: goroutine \d+ of .*, PID \d+$", lines[0]), lines[0])
    rows = [re.match(r" +\S+ +\S+ +<?\d+%  ( *)(\S+)( x\d+)?.*?(\(.*\))?$", line) for line in lines[2:]]
    rows = [(len(row[1]) // 2, *row.groups("")[1:]) for row in rows if row]
    expect(rows[:5] == [(0, "main.root", "", ""), (1, "main.belowAll", "", ""), (2, "main.belowLoop", "", ""),
                        (3, "main.belowLeaf", " x3", ""), (2, "main.belowDeep", "", "")], f"{rows[:5]} {text}")
    expect((2, "main.belowRecover", " x2", "") in rows and (3, "main.belowFail", "", "(panicked)") in rows, f"{rows}")
    expect(all(len(line) <= 80 for line in lines[1:]), f"too wide: {text}")


@test()
def gotree_perfetto():
    """--perfetto: each call is a complete event on its goroutine's track; the tool's rows are the same"""
    with tempfile.TemporaryDirectory() as folder, Target("calltree", newest()) as target:
        path = os.path.join(folder, "trace.json")
        _, trees, _ = trace(target, "--perfetto", path, "main.root", *BELOW[:-1])
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    expect(names == {goid: f"goroutine {goid}" for goid in trees}, f"{names}")
    for goid, tree in trees.items():
        got = [e for e in events if e["ph"] == "X" and e["tid"] == goid]
        true = [{"func": "main.root", "start": 0, "latency": tree["latency"], "how": tree["how"]}, *tree["calls"]]
        start = got[0]["ts"]
        expect([(e["name"], e["args"]["how"], e["pid"]) for e in got] ==
               [(c["func"], c["how"], target.target_pid) for c in true], "other calls")
        expect(all(abs(e["dur"] * 1000 - c["latency"]) < 1 and abs((e["ts"] - start) * 1000 - c["start"]) < 2
                   for e, c in zip(got, true)), "other times")


@test(version=two_versions)
def gotree_inlined(version):
    """Copies that begin at the very place where their function does are below it, and their ends are seen"""
    with Target("copies", version, args=["rounds=3"]) as target:
        with Tool("gotree", "-j", "--inlined", "-p", target.target_pid, "main.loops", "main.sumTo") as tool:
            tool.tracing()
            target.go()
            target.wait()
            trees = tool.records()
    for tree in trees:
        got = [(c["func"], c["depth"], c["how"]) for c in tree["calls"]]
        expect(got == 4 * [("main.sumTo", 1, "return")], f"{got}")
    expect(len(trees) == 3, f"{trees}")


@test()
def gotree_module():
    """Without PATTERNs: ROOT's own module, as the program tells it; of another module ROOT's package"""
    etcd = shutil.which("etcd")
    if not etcd:
        raise Skip("etcd is not installed")
    with tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(etcd, folder)
        for root, count, scope in (("go.etcd.io/etcd/etcdserver.(*EtcdServer).Put", 5000, "module go.etcd.io/etcd"),
                                   ("go.uber.org/zap.(*Logger).Info", 20, "package go.uber.org/zap")):
            ended = run([tool_path("gotree"), "-d", "0.1", f"{path}:{root}"])
            said = re.search(r", with (\d+) functions of (.*)\.\.\. Hit", ended.stdout)
            expect(said and said[2] == scope and int(said[1]) >= count, f"{ended.stdout} {ended.stderr}")


@test()
def gotree_refusals():
    """Errors that say what to do"""
    plain, gccgo = fixture("calltree", newest()), fixture("hello", "gccgo")
    cases = [([plain + ":main.root", "/bin/true:main.*"], 1, "PATTERNs are of the program that ROOT is of"),
             ([plain + ":main.rood"], 1, "main.root"),
             ([gccgo + ":main.main"], 1, "gofunclatency --summary"),
             (["--slower", "fast", plain + ":main.root"], 2, "is not a time, such as 10ms"),
             (["-M", "0", plain + ":main.root"], 2, "is not a number of trees"),
             (["--perfetto", "/no/such/folder/x.json", plain + ":main.root"], 1, "--perfetto")]
    for args, status, words in cases:
        ended = run([tool_path("gotree"), "-d", "1", *args])
        expect(ended.returncode == status and words in ended.stderr, f"{args}: {ended.returncode} {ended.stderr}")
