# SPDX-License-Identifier: Apache-2.0
"""gotrace and gofunclatency --follow-channels against a program whose calls are handed the number of the request that they
work for, by channels, in pools of workers."""

import collections
import json
import re

from gotrace import Tracer
from harness import Target, Tool, expect, newest, test, two_versions

FLAVOURS = {"version": ["1.15", "1.19", "1.22", "1.23", "1.26", "1.27"], "flavour": ["plain", "strip"],
            "where": lambda version, flavour: flavour == "strip" or version in ("1.15", "1.27")}


def noted(target):
    """{number of a call: number of its request}, where it has one"""
    target.wait()
    (line,) = [line for line in target.out.text().splitlines() if line.startswith("truth ")]
    return {int(call): request for call, request in json.loads(line[6:]).items() if request}


def traced(target, *args, **options):
    """{number of a call: number of the call of ROOT}, {the same: as the program knows it}, and what was said"""
    with Tracer("-j", "--follow", "main.root", *args, "-p", target.target_pid, 'main.step(request, call int) "%d", call',
                **options) as tool:
        tool.attached()
        target.go()
        truth, events, said = noted(target), tool.records(), tool.err.text()
    got = {int(e["message"]): e["root"] for e in events}
    expect(len(got) == len(events), f"{len(events)} events of {len(got)} calls: {said}")
    return got, truth, said


def losses(said):
    return [line for line in re.findall("^gotrace: (.*)$", said, re.M) if not re.match(r"process \d+ has ended$", line)]


def compare(got, truth):
    """Each call that is there belongs to a request, and calls of one request to one call of ROOT"""
    more, missing = sorted(got.keys() - truth.keys()), sorted(truth.keys() - got.keys())
    expect(not more and not missing, f"{len(got)} of {len(truth)}: too many {more[:9]}, missing {missing[:9]}")
    requests = collections.defaultdict(set)
    for call, root in got.items():
        requests[truth[call]].add(root)
    expect(all(len(roots) == 1 for roots in requests.values()), f"{dict(requests)}")
    expect(sorted(min(roots) for roots in requests.values()) == list(range(1, len(requests) + 1)), f"{dict(requests)}")


@test(**FLAVOURS)
def trace_channels_calls(version, flavour):
    """Channels with and without buffers, select, pipelines, pools, timers, jobs of others meanwhile: each call"""
    with Target("channels", version, flavour) as target:
        got, truth, said = traced(target, "--follow-channels")
    expect(len(set(truth.values())) == 20, f"{len(set(truth.values()))} requests")
    compare(got, truth)
    expect(losses(said) == [], said)


@test(version=two_versions)
def trace_channels_crowd(version):
    """Many requests at once, and with jobs of others or without"""
    for noise in (0, 6):
        with Target("channels", version, args=["goroutines=16", "requests=8", f"noise={noise}"]) as target:
            got, truth, said = traced(target, "--follow-channels")
        expect(len(set(truth.values())) == 128, f"{len(set(truth.values()))} requests")
        compare(got, truth)
        expect(losses(said) == [], said)


@test(version=two_versions)
def trace_channels_without(version):
    """Without the option no worker of before is followed"""
    with Target("channels", version) as target:
        got, truth, _ = traced(target)
    expect(len(got) < len(truth) / 4 and set(got) <= set(truth), f"{len(got)} of {len(truth)}")


@test(version=two_versions)
def trace_channels_states(version):
    """With states of calls, for which more is traced in the runtime"""
    with Target("channels", version) as target:
        with Tracer("-j", "--follow-channels", "--follow", "main.root", "-p", target.target_pid,
                    'r:main.step(request, call int) "%d %d", call, $running + $runnable + $blocked + $syscall + $unknown') as tool:
            tool.attached()
            target.go()
            truth, events = noted(target), tool.records()
    compare({int(e["message"].split()[0]): e["root"] for e in events}, truth)


@test(version=two_versions)
def latency_channels(version):
    """The same calls, counted"""
    with Target("channels", version) as target:
        with Tool("gofunclatency", "-j", "--follow", "main.root", "--follow-channels", "-p", target.target_pid,
                  "main.step") as tool:
            tool.tracing()
            target.go()
            truth, (record,), said = noted(target), tool.records(), tool.err.text()
    expect(record["count"] == len(truth), f"{record['count']} of {len(truth)}: {said}")


@test(version=two_versions, returns=[False, True])
def dist_channels(version, returns):
    """goargdist counts the same calls by their requests"""
    with Target("channels", version) as target:
        with Tool("goargdist", "-j", "--follow", "main.root", "--follow-channels", "-p", target.target_pid, "-C",
                  ("r:" if returns else "") + "main.step(request, call int) request") as tool:
            tool.tracing()
            target.go()
            truth, records, said = noted(target), tool.records(), tool.err.text()
    got = {int(r["values"]["request"]): r["count"] for r in records if r["type"] == "argdist"}
    expect(got == collections.Counter(truth.values()), f"{got} {collections.Counter(truth.values())} {said}")


@test()
def trace_channels_room():
    """No room for all goroutines at a time: what is not followed is told, the rest is right"""
    with Target("channels", newest(), args=["noise=0"]) as target:
        got, truth, said = traced(target, "--follow-channels", env={"GOTOOLS_ROOM": "6"})
    lost = re.search(r"gotrace: (\d+) values in channels were not followed: more than there is room for\n", said)
    expect(lost and set(got) < set(truth), f"{len(got)} of {len(truth)}: {said}")
    requests = collections.defaultdict(set)
    for call, root in got.items():
        requests[root].add(truth[call])
    expect(all(len(r) == 1 for r in requests.values()), f"{dict(requests)}")


@test()
def trace_channels_refused():
    """The option says what it needs, before or after what it needs"""
    for name in ("gotrace", "gofunclatency", "goargdist"):
        with Tool(name, "--follow-channels", *(["-C"] if name == "goargdist" else []), "main.step") as tool:
            expect(tool.wait() == 2 and "--follow-channels needs --follow ROOT" in tool.err.text(), tool.err.text())
