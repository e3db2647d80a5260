# SPDX-License-Identifier: Apache-2.0
"""gotrace's $running, $runnable, $blocked, $syscall: the parts of each call's latency, to the nanosecond."""

import os
import re
import signal

from harness import (PROBE_NS, Target, each_release, expect, fixture, json_lines, newest, outliers, run,
                     test, tool_path, two_versions, versions)

from gotrace import Tracer, texts

ROUNDS = 20
STATES = ["running", "runnable", "blocked", "syscall", "unknown"]
PARTS = '"%{latency:%d} %{running:%d} %{runnable:%d} %{blocked:%d} %{syscall:%d} %{unknown:%d}", $latency, ' + \
        ", ".join("$" + state for state in STATES)


def said_of(tracer):
    """What it says on stderr that is about losses"""
    return [line for line in tracer.err.text().splitlines()
            if line.startswith("gotrace:") and not re.search(r": \d+ hits a second of .* of a processor", line)]


def traced(target, *probes, env=None):
    """(its events, by function; what it says) of the target's calls until these are done"""
    with Tracer("-j", "-p", target.target_pid, *probes, env=env) as tracer:
        tracer.attached()
        target.go()
        target.wait_line("done")
        events = [event for event in tracer.stop() if event.get("type") == "call"]
        by_function = {}
        for event in events:
            by_function.setdefault(event["func"], []).append(event)
        return by_function, said_of(tracer)


def check_parts(events):
    """The parts of each event sum up to its latency, and all of them are known."""
    for event in events:
        parts = [event[state] for state in STATES]
        expect(sum(parts) == event["latency"] == event["latency_ns"], f"{event}")
        expect(event["unknown"] == 0 and all(0 <= part <= event["latency"] for part in parts), f"{event}")


def variable(state):
    """Where the time is of what the fixture says that its calls waited for"""
    return state if state in ("running", "runnable", "syscall") else "blocked"


def compare(known, events):
    """Every call was in the state, and all together for as long as they were kept there."""
    part = variable(known["state"])
    times = [event[part] for event in events]
    expect(len(events) == known["calls"] == ROUNDS and all(times), f"{known}: {times}")
    least = (1 - outliers()) * (known["least"] - PROBE_NS * ROUNDS)
    expect(least <= sum(times) <= known["most"], f"{known}: {sum(times)} ns: {times}")


def check_endings(found):
    """Calls that did not return have their parts too."""
    hold = 5_000_000 // 5
    for name, how, calls in ("main.panics", "panic", 3 * ROUNDS), ("main.exits", "exit", ROUNDS):
        events = found[name]
        expect(len(events) == calls and all(event["how"] == how for event in events), f"{name}: {len(events)} events")
        blocked = sorted(event["blocked"] for event in events)
        # until when it sleeps is known before it waits: the kernel may take the processor in between
        expect(all(event["blocked"] + event["running"] >= hold for event in events) and blocked[0] > 0, f"{name}: {blocked}")
        expect(blocked[calls // 4] >= hold, f"{name}: {blocked}")
        expect(all(event["message"].endswith(f" ({how}{'k' * (how == 'panic')}ed)") for event in events), f"{events[0]}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def trace_states(version, flavour):
    """Each call was where the program says that it was; the sums hold however calls nest and end."""
    with Target("states", version, flavour) as target:
        found, said = traced(target, "r:main.* " + PARTS)
        target.go()
        truth = {line["state_of"]: line for line in target.truth()}
    # main itself, and perhaps what it waits in, has not returned
    expect(len(truth) >= 16 and all("had not returned" in line for line in said), f"{list(truth)}, {said}")
    for name, known in truth.items():
        compare(known, found[name])
    for events in found.values():
        check_parts(events)
    # when a sleep ends is settled while it still runs
    depths = sorted((event["blocked"] + event["running"]) // 1_000_000 for event in found["main.recurses"])
    expect(len(depths) == 3 * ROUNDS and depths[0] >= 1 and depths[-ROUNDS] >= 3, f"{depths}")
    check_endings(found)


@test(flavour=["pie", "cgo"])
def trace_states_flavours(flavour):
    trace_states(newest(), flavour)


@test(version=two_versions)
def trace_states_nested(version):
    """Calls inside calls, by many goroutines: the inner ones' parts are in the outer ones, to the nanosecond."""
    with Target("states", version, args=["many"]) as target:
        found, said = traced(target, "r:main.inner " + PARTS, "r:main.outer " + PARTS)
        target.go()
        target.truth()
    inner, outer = found["main.inner"], found["main.outer"]
    expect(len(inner) == 200 * ROUNDS and len(outer) == 100 * ROUNDS and not said, f"{len(inner)}, {len(outer)}, {said}")
    check_parts(inner + outer)
    by_goroutine = {}
    for event in inner + outer:  # in the order of time: two inner ones, then the outer one
        by_goroutine.setdefault(event["goid"], []).append(event)
    for events in by_goroutine.values():
        events.sort(key=lambda event: event["time"])
        for one, two, both in zip(events[::3], events[1::3], events[2::3]):
            expect(one["func"] == two["func"] == "main.inner" and both["func"] == "main.outer", f"{events[:3]}")
            expect(one["blocked"] + two["blocked"] == both["blocked"] > 0, f"{one}, {two}, {both}")
            expect(one["runnable"] + two["runnable"] <= both["runnable"], f"{one}, {two}, {both}")


@test(version=two_versions)
def trace_states_collect(version):
    """While garbage is collected, which stops goroutines wherever they are, nothing is unknown either."""
    with Target("states", version, args=["collect", "rounds=20", "hold=2000"]) as target:
        found, said = traced(target, "r:main.allocates " + PARTS, "r:main.work " + PARTS)
        target.go()
        target.truth()
    expect(len(found["main.allocates"]) == len(found["main.work"]) == 80 and not said, f"{said}")
    check_parts(found["main.allocates"] + found["main.work"])
    expect(all(event["blocked"] for event in found["main.allocates"]), "no wait for the garbage collector")


@test(version=two_versions)
def trace_states_predicate(version):
    """In predicates, and in numbers that are computed; what does not ask for states has them not."""
    known = "$running + $runnable + $blocked + $syscall"
    with Target("states", version) as target:
        with Tracer("-p", target.target_pid, 'r:main.r* ($blocked > $latency / 2) "%d %d", $blocked, $latency - $blocked',
                    'r:main.readsBlocking ($syscall > 1ms && !($blocked > $syscall)) "in %d", $syscall / 1000',
                    f'r:main.locks ({known} == $latency) "whole"', f'r:main.locks ({known} != $latency || $unknown) "not whole"',
                    'r:main.sleeps "%d", $latency', 'p:main.sleeps "begins"') as tracer:
            tracer.attached()
            target.go()
            target.wait_line("done")
            tracer.signal(signal.SIGINT)
            text = tracer.rest()
        target.go()
        truth = {line["state_of"]: line for line in target.truth()}
    for name in "main.reads", "main.readLocks", "main.receives", "main.recursesOnce", "main.recurses":
        lines = [[int(ns) for ns in line.split()] for line in texts(text, name)]
        calls = ROUNDS * (3 if name == "main.recurses" else 1)
        expect((1 - outliers()) * calls <= len(lines) <= calls, f"{name}: {lines}")
        expect(all(blocked > rest for blocked, rest in lines), f"{name}: {lines}")
        if name in truth:
            expect(sum(blocked for blocked, _ in lines) <= truth[name]["most"], f"{name}: {lines}")
    lines = texts(text, "main.readsBlocking")
    expect(len(lines) == ROUNDS and all(re.fullmatch(r"in \d{4,}", line) for line in lines), f"{lines}")
    expect(texts(text, "main.locks") == ["whole"] * ROUNDS, f"{texts(text, 'main.locks')}")
    lines = texts(text, "main.sleeps")
    expect(lines.count("begins") == ROUNDS and len(lines) == 2 * ROUNDS, f"{lines}")
    expect(all(int(line) >= 5_000_000 for line in lines if line != "begins"), f"{lines}")


@test()
def trace_states_cost():
    """The scheduler is probed only if a PROBE asks for states."""
    hits = []
    for asked in "$latency", "$runnable":
        with Target("states", newest()) as target:
            with Tracer("-v", "-p", target.target_pid, f'r:main.sleeps "%d", {asked}') as tracer:
                tracer.attached()
                target.go()
                target.wait_line("done")
                tracer.signal(signal.SIGINT)
                tracer.rest()
                said = re.search(r"^gotrace: (\d+) hits \(\d+ a second\) of ", tracer.err.text(), re.M)
                hits.append(int(said[1]) if said else 0)
            target.go()
            target.truth()
    # each of 20 calls begins and ends, and a hook sees the one Goexit that each round has, and each panic
    expect(2 * ROUNDS <= hits[0] <= 6 * ROUNDS and hits[1] > 10 * hits[0], f"{hits} hits")


@test(version=two_versions)
def trace_states_room_again(version):
    """What is kept of goroutines and calls is given back, however these end: there is room for few at a time."""
    with Target("states", version, args=["deep", "hold=500"]) as target:
        found, said = traced(target, "r:main.exits " + PARTS, "r:main.naps " + PARTS,
                             env={**os.environ, "GOTOOLS_ROOM": "32"})
        target.go()
        target.truth()
    expect(len(found["main.exits"]) == len(found["main.naps"]) == 20 * ROUNDS and not said, f"{said}")
    expect(all(event["how"] == "exit" for event in found["main.exits"]), "not ended by Goexit")
    check_parts(found["main.exits"] + found["main.naps"])


def refused(message, *args):
    result = run([tool_path("gotrace"), *args])
    expect(result.returncode == 1 and not result.stdout and result.stderr.startswith(message), f"{result}")


@test()
def trace_states_refusals():
    """Where they are not known: in words, before tracing"""
    path = fixture("hello", "gccgo")
    refused(f'gotrace: "{path}" is built by gccgo: $blocked is for Go\'s gc compiler only\n', f'r:{path}:main.* "%d", $blocked')
