# SPDX-License-Identifier: Apache-2.0
"""Goroutines that wait for each other for ever, and healthy ones that only seem to."""

import json
import re

from harness import Target, each_release, expect, json_lines, run, some_versions, test, tool_path, versions

PAIRS = ["plain", "deferred", "early", "loop", "inner", "readers", "closures", "crossed", "peer", "pool"]
MORE = ["three", "fields", "array", "mixed", "channels", "five", "mixed5", "variables"]


def look(*args):
    done = run([tool_path("gostacks"), *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"gostacks {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def circles(text):
    return [line for line in text.splitlines() if line.startswith("deadlock?")]


def measure(kind, version, flavour):
    """The one circle, by what its members wait for, in its order; each of them says so, and nobody else."""
    with Target("circles", version, flavour, args=[kind]) as target:
        want = json.loads(re.search(r"^truth (.*)$", target.out.text(), re.M)[1])
        text = look(target.target_pid)
        told = circles(text)
        expect(len(told) == 1, f"{told}, not one")
        if kind.startswith("mixed"):
            expect(text.count("; deadlock?\n") == len(want), f"each of them is alone in what it does, and says so: {text}")
        steps = told[0].split(" -> ")
        objects = [re.match(r"(chan int|\S+) 0x[0-9a-f]+", step)[0] for step in steps[1::2]]
        expect(want[0] in objects, f"{told[0]}, in truth {want}")
        first = objects.index(want[0])
        expect(objects[first:] + objects[:first] == want, f"{told[0]}, in truth {want}")
        goids = [int(re.fullmatch(r"goroutine (\d+)", step)[1]) for step in [steps[0][len("deadlock? "):], *steps[2::2]]]
        expect(goids[0] == goids[-1], told[0])
        waits = {r["goid"]: r["waits_for"] or {} for r in json_lines(look("-j", target.target_pid))}
        dead = {goid for goid, what in waits.items() if what.get("maybe_deadlock")}
        expect(dead == set(goids), f"{dead} say so, the circle is of {goids}")
        for goid, after in zip(goids, goids[1:]):
            held = waits[goid].get("maybe_held_by", [after])
            expect(held[0] == after, f"{after} holds what {goid} waits for, before others: {held}")


@test(version=versions, flavour=["plain", "strip"], kind=["plain", "fields", "mixed5"], where=each_release("strip"))
def gostacks_circles(version, flavour, kind):
    measure(kind, version, flavour)


@test(version=some_versions, kind=PAIRS + MORE)
def gostacks_circles_all(version, kind):
    measure(kind, version, "strip")


@test(version=some_versions, flavour=["nl", "pie", "cgopie"], kind=["deferred", "inner", "mixed", "loop", "variables", "fields"])
def gostacks_circles_built(version, flavour, kind):
    measure(kind, version, flavour)


def no_circles(text):
    expect("deadlock" not in text, re.findall(".*deadlock.*", text)[:2])
    return text


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def gostacks_stale_words(version, flavour):
    """What calls that have returned have left on the stack holds nothing."""
    with Target("seeming", version, flavour, args=["stale"]) as target:
        text = no_circles(look(target.target_pid))
        expect(len(re.findall(r"^ +waits for sync\.Mutex ", text, re.M)) == 2 and "held?" not in text, text)


@test(version=some_versions, flavour=["strip", "nl"])
def gostacks_let_go(version, flavour):
    """Who has let a lock go before it waits for the next comes behind who has it."""
    with Target("seeming", version, flavour, args=["slow"]) as target:
        no_circles(look(target.target_pid))
        records = json_lines(look("-j", target.target_pid))
        by_function = {f["func"]: r for r in records for f in r["frames"]}
        holder = by_function["main.(*server).holdBoth"]["goid"]
        for name in "forth", "back":
            waits = by_function[f"main.(*server).{name}"]["waits_for"]
            expect(waits["maybe_held_by"][:1] == [holder], f"{name} waits for {waits}, {holder} has it")


@test(version=some_versions)
def gostacks_seeming_circles(version):
    """Locks that are handed on, a ring of channels that is served, a pool with its jobs: nothing is stuck."""
    with Target("seeming", version, "strip", args=["busy"]) as target:
        for _ in range(20):
            no_circles(look(target.target_pid))
