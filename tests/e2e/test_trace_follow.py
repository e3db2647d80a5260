# SPDX-License-Identifier: Apache-2.0
"""gotrace --follow and gofunclatency --follow against a program whose goroutines note themselves which request they
work for."""

import collections
import re

from gotrace import Tracer
from harness import Target, Tool, expect, newest, test, two_versions
from test_gotree_follow import BELOW, noted, losses

FUNCS = ["main.root", *BELOW]
FLAVOURS = {"version": ["1.15", "1.19", "1.23", "1.27"], "flavour": ["plain", "strip"],
            "where": lambda version, flavour: flavour == "strip" or version in ("1.15", "1.27")}


def traced(target, *probes, **options):
    """The program's requests, gotrace's events, and what it said"""
    with Tracer("-j", "--follow", "main.root", "-p", target.target_pid, *probes, **options) as tool:
        tool.attached()
        target.go()
        return noted(target), tool.records(), tool.err.text()


def ended(how):
    """What goes on when the request has ended returns later."""
    return "return" if how == "running" else how


def truth_of(request):
    """{goid: [(function, how it ended)]}, in the order of their beginnings"""
    root = [("main.root", request["root"]["how"]), *((c["func"], ended(c["how"])) for c in request["root"]["calls"])]
    below = {g["goid"]: [(c["func"], ended(c["how"])) for c in g["calls"]] for g in request["goroutines"]}
    return {request["root"]["goid"]: root} | {goid: calls for goid, calls in below.items() if calls}


def by_root(events):
    """{number: {goid: [(function, how it ended)]}}"""
    roots = collections.defaultdict(lambda: collections.defaultdict(list))
    for e in events:
        roots[e["root"]][e["goid"]].append((e["func"], e["how"]))
    return roots


def compare(requests, events, said, returns):
    """Each call, in its goroutine, with its request: at entries in their order, and how they ended"""
    roots = by_root(events)
    expect(sorted(roots) == list(range(1, len(requests) + 1)), f"numbers {sorted(roots)} of {len(requests)}: {said}")
    for number, goroutines in roots.items():
        (goid,) = goroutines.keys() & requests.keys()
        shape, truth = requests[goid]["shape"], truth_of(requests[goid])
        expect(goroutines.keys() == truth.keys(), f"{shape} {number}: {sorted(goroutines)}, truth {sorted(truth)}")
        for g, calls in truth.items():
            got, true = goroutines[g], [(func, "entry") for func, _ in calls]
            if returns:
                got, true = sorted(got), sorted(calls)
            expect(got == true, f"{shape} {number}: {g}: {got}, truth {true}")
    expect(not [line for line in losses(said) if not line.startswith("Tracing ")], said)


@test(**FLAVOURS)
def trace_follow_calls(version, flavour):
    """Fan-out, group, stages, goroutines that start others, panics, Goexit, pools: each call, and ROOT's own"""
    with Target("follow", version, flavour) as target:
        requests, events, said = traced(target, *(f'{func} "called"' for func in FUNCS))
    expect(len(requests) == 7, f"{len(requests)}")
    compare(requests, events, said, False)


@test(**FLAVOURS)
def trace_follow_returns(version, flavour):
    """The same of returns: calls that began below are told when they return, even after ROOT"""
    with Target("follow", version, flavour) as target:
        requests, events, said = traced(target, *(f'r:{func} "returned"' for func in FUNCS))
    compare(requests, events, said, True)


@test(version=two_versions, shape=["again", "thrown", "left"], returns=[False, True])
def trace_follow_ends(version, shape, returns):
    """ROOT that calls itself, and that ends by a panic, by Goexit: deeper calls after it are none of it"""
    with Target("follow", version, args=["shape=" + shape, "roots=3"]) as target:
        probes = [("r:" if returns else "") + f'{func} "called"' for func in FUNCS]
        requests, events, said = traced(target, *probes)
    how = {"again": "return", "thrown": "panic", "left": "exit"}[shape]
    for request in requests.values():
        request["root"]["how"] = how
    compare(requests, events, said, returns)


@test(version=two_versions)
def trace_follow_crowd(version):
    """20 requests at once, each with what is its own"""
    with Target("follow", version, args=["shape=nested", "roots=3", "goroutines=20"]) as target:
        requests, events, said = traced(target, *(f'{func} "called"' for func in FUNCS))
    expect(len(requests) == 60, f"{len(requests)}")
    compare(requests, events, said, False)


@test(version=two_versions)
def trace_follow_tables(version):
    """Arguments read by tables, at entries and returns"""
    with Target("follow", version) as target:
        requests, events, said = traced(target, "r:main.*", env={"GOTOOLS_TABLES": "yes"})
    compare(requests, [e for e in events if e["func"] in FUNCS], said, True)
    with Target("follow", version) as target:
        requests, events, said = traced(target, "main.*", env={"GOTOOLS_TABLES": "yes"})
    compare(requests, [e for e in events if e["func"] in FUNCS], said, False)


@test(version=two_versions)
def trace_follow_states(version):
    """With states of calls: more is traced in the runtime then"""
    with Target("follow", version) as target:
        requests, events, said = traced(
            target, *(f'r:{func} "%d %d %d %d %d", $running, $runnable, $blocked, $syscall, $unknown' for func in FUNCS))
    compare(requests, events, said, True)
    for e in events:
        if e["how"] == "return":
            expect(sum(map(int, e["message"].split())) == e["latency_ns"], f"{e}")


@test(version=two_versions)
def trace_follow_inlined(version):
    """ROOT is an inlined copy: what is called before and after it, in the same frame, is none of it"""
    with Target("follow", version, args=["shape=small", "roots=1"]) as target:
        with Tracer("-j", "--follow", "main.small", "-p", target.target_pid,
                    *(f'{func} "called"' for func in FUNCS)) as tool:
            tool.attached()
            target.go()
            (request,) = noted(target).values()
            events, said = tool.records(), tool.err.text()
    calls = [c["func"] for c in request["root"]["calls"]]
    expect(calls[:2] == ["main.belowWork", "main.belowStep"] and calls[-3:] == ["main.belowWork", "main.belowStep",
           "main.belowStep"], f"{calls}")
    expect([e["func"] for e in events if e["goid"] == request["root"]["goid"]] == calls[2:-3], f"{events} {said}")
    below = sorted((g["goid"], c["func"]) for g in request["goroutines"] for c in g["calls"])
    got = sorted((e["goid"], e["func"]) for e in events if e["goid"] != request["root"]["goid"])
    expect(got == below, f"{got}, truth {below}: {said}")


@test()
def trace_follow_text():
    """A column says which call of ROOT; with -A there is none"""
    with Target("follow", newest(), args=["shape=again", "roots=2"]) as target:
        with Tracer("--follow", "main.root", "-p", target.target_pid, 'main.belowStep "%d", x') as tool:
            tool.attached()
            target.go()
            text = tool.rest()
    lines = [re.sub(r" +", " ", line) for line in text.splitlines()]
    expect(lines[0] == "ROOT PID TID GOID COMM FUNC -", text)
    expect([re.sub(r" .* ", " ", line) for line in lines[1:]] == ["#1 1", "#1 1", "#1 2", "#2 1", "#2 1", "#2 2"], text)
    with Target("follow", newest(), args=["shape=again", "roots=2"]) as target:
        with Tracer("-A", "--follow", "main.root", "-p", target.target_pid, 'main.belowStep "%d", x') as tool:
            tool.attached()
            target.go()
            text = tool.rest()
    expect(re.findall(r" (\d)\s+-->COUNT (\d+)$", text, re.M) == [("2", "2"), ("1", "4")], text)


@test()
def trace_follow_room():
    """No room for all goroutines at a time: what is not followed is told, the rest is right"""
    with Target("follow", newest(), args=["shape=pool", "roots=1"]) as target:
        requests, events, said = traced(target, *(f'{func} "called"' for func in FUNCS), env={"GOTOOLS_ROOM": "3"})
    lost = re.search(r"gotrace: (\d+) goroutines were not followed: more than there is room for\n", said)
    (request,) = requests.values()
    truth, (got,) = truth_of(request), by_root(events).values()
    expect(lost and len(got) == len(truth) - int(lost[1]) and int(lost[1]) >= 1, f"{got} {said}")
    expect(all(calls == [(func, "entry") for func, _ in truth[goid]] for goid, calls in got.items()), f"{got} {truth}")


@test(version=two_versions, states=[False, True])
def latency_follow(version, states):
    """The same calls, counted"""
    with Target("follow", version) as target:
        with Tool("gofunclatency", "-j", "-F", *(["--states"] if states else []), "--follow", "main.root", "-p",
                  target.target_pid, *FUNCS) as tool:
            tool.tracing()
            target.go()
            requests, records, said = noted(target), tool.records(), tool.err.text()
    true = collections.Counter(call for r in requests.values() for calls in truth_of(r).values() for call in calls)
    for record in records:
        for how, member in (("return", "count"), ("panic", "panicked"), ("exit", "exited")):
            # the pools' goroutines may not have come to their ends when the process ends
            got = record[member] + (record["process_ended"] if how == "return" else 0)
            expect(got == true.pop((record["func"], how), 0), f"{record} {how}")
        if states:
            expect(sum(s["total"] for s in record["states"].values()) == record["total"], f"{record}")
    expect(not true, f"{true} {said}")


@test()
def follow_refused():
    """What cannot be followed is said before anything is traced"""
    with Target("follow", newest()) as target:
        for root, said in (("main.nothing", 'gotrace: --follow: .*: no function matches "main.nothing"'),
                           ("@follow.go:300", 'gotrace: --follow: "@follow.go:300": a line has no return'),
                           ("/bin/true:main.root", 'gotrace: --follow: "/bin/true" is not what is traced')):
            with Tool("gotrace", "--follow", root, "-p", target.target_pid, "main.belowStep") as tool:
                expect(tool.wait() == 1 and re.search(said, tool.err.text()), tool.err.text())
        for name, probe in (("gotrace", "main.belowStep"), ("gofunclatency", "main.belowStep")):
            with Tool(name, "--follow", "main.a", "--follow", "main.b", "-p", target.target_pid, probe) as tool:
                expect(tool.wait() == 2 and '--follow: "main.b" is a second ROOT' in tool.err.text(), tool.err.text())
