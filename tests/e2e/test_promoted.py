# SPDX-License-Identifier: Apache-2.0
"""Promoted methods, which leave by a jump to the embedded type's method: their calls end when that
returns. The fixture times them from outside."""

import re

from harness import Target, Tool, compare_latency, expect, test

from gotrace import rows, trace
from test_recipes import Recipe

RELEASES = ["1.15", "1.19", "1.24", "1.27"]
FORWARDERS = ["main.(*ByPointer).Work", "main.(*ByValue).Work", "main.(*Deeper).Work", "main.(*ByPointer).Spin"]
METHODS = ["main.(*Core).Work", "main.(*Core).Spin"]
AT_RUN_TIME = "main.(*ByInterface).Work"  # in 1.27 a jump to what its field holds


def traced(version, patterns, *options, flavour="plain", args=()):
    """What the target tells, the tool's records, and what it said"""
    with Target("promoted", version, flavour, args=args) as target:
        with Tool("gofunclatency", "-j", *options, "-p", target.target_pid, *patterns) as tool:
            tool.tracing()
            target.go()
            truth = target.truth()
            return truth, tool.records(), tool.err.text()


def only(truth, names):
    return [track for track in truth if track["func"] in names]


@test(version=RELEASES, flavour=["plain", "strip"])
def promoted_latency(version, flavour):
    """Each call is of its function, and as long as its caller saw: with the method that is jumped to and
    without, which is called directly at the same depth too"""
    for names in FORWARDERS, FORWARDERS + METHODS, FORWARDERS[:1], METHODS:
        truth, records, said = traced(version, names, "-F", flavour=flavour)
        compare_latency(only(truth, names), records)
        expect({r["func"] for r in records} == set(names), f"{records}")
        expect("by a jump" not in said, said)


@test(version=RELEASES)
def promoted_states(version):
    """--states: its time is where the method spends it."""
    names = FORWARDERS + METHODS
    truth, records, _ = traced(version, names, "-F", "--states", args=["rounds=10"])
    compare_latency(only(truth, names), records)
    for record in records:
        states = {state: times["total"] for state, times in record["states"].items()}
        expect(sum(states.values()) == record["total"], f"{record['func']}: {states} of {record['total']}")
        slept = sum(ns for state, ns in states.items() if state == "sleep")
        if record["func"].endswith("Work"):
            expect(slept > 0.5 * record["total"], f"{record['func']} slept {slept} of {record['total']}")


@test(version=RELEASES)
def promoted_at_run_time(version):
    """A jump to what is known only when it is made: such calls are counted by themselves."""
    truth, records, said = traced(version, [AT_RUN_TIME, FORWARDERS[0]], "-F")
    rounds = only(truth, [AT_RUN_TIME])[0]["calls"]
    compare_latency(only(truth, FORWARDERS[:1]), records)
    record = next(r for r in records if r["func"] == AT_RUN_TIME)
    note = re.search(r"^main\.\(\*ByInterface\)\.Work leaves by a jump, .* try '\*\.Work'$", said, re.M)
    if record["count"]:
        expect(record["count"] == rounds and not record["jumped"] and not note, f"{record}, {said}")
    else:
        expect(record["jumped"] == rounds and note and record["running"] == 0, f"{record}, {said}")
    expect(version != "1.27" or record["jumped"], f"1.27 calls: {record}")


@test()
def promoted_text():
    """... in the text output, too"""
    with Target("promoted", "1.27") as target:
        with Tool("gofunclatency", "-p", target.target_pid, AT_RUN_TIME) as tool:
            tool.tracing()
            target.go()
            target.truth()
            expect(tool.wait() == 0, tool.said())
    expect("no call returned\nnot in the histogram: 30 left by a jump\n" in tool.out.text(), tool.said())




CALL = re.compile(r"^told (\S+) (\S+) (\S+) (\S+) (.*)$", re.M)


def told_calls(target):
    """(what it was given, what it returned) of each call that returned, by function, in order"""
    calls = {}
    for name, ns, what, n, err in CALL.findall(target.out.text()):
        for func in {name, METHODS[0]}:
            calls.setdefault(func, []).append(f"{ns} {what} -> {n} {'nil' if err == '<nil>' else 'error'}")
    return calls


def shown_calls(out):
    calls = {}
    for row in rows(out):
        text = re.sub(r"(\*main\.NoWork|&main\.NoWork)?\{.*\}|0x\w+$", "error", row.text)
        calls.setdefault(row.func, []).append(text.replace("no work for 7", "error"))
    return calls


@test(version=RELEASES)
def promoted_trace(version):
    """Arguments as they were given, results as the method that is jumped to returns them; each call of its
    own function, whatever else is traced"""
    shown = ' "%d %s -> %d %v", ns, what, goret1, goret2'
    for names in FORWARDERS[:3], [*FORWARDERS[:3], METHODS[0]]:
        with Target("promoted", version, args=["names", "rounds=6", "stay=0"]) as target:
            out, said = trace(target, *("r::" + name + " (ns >= 0)" + shown for name in names))
            told = told_calls(target)
        got = shown_calls(out)
        for name in names:
            expect(got[name] == told[name], f"{name}: {got[name]}, in truth {told[name]}")
        expect("jump" not in said and "without the results" not in said, said)


@test(version=RELEASES)
def promoted_trace_results(version):
    """Predicates on results and times, in the kernel"""
    name = FORWARDERS[0]
    with Target("promoted", version, args=["names", "rounds=9", "stay=0"]) as target:
        out, _ = trace(target, f'r::{name} ($err != nil) "%d", goret1', f"r::{name} ($latency > 400000 && ns > 0)")
        told = told_calls(target)[name]
    got = [row.text for row in rows(out)]
    expect(got.count("4") == sum(call.endswith("error") for call in told) == 3, f"{got}, {told}")
    expect(len(got) == 9, f"{got}, in truth {told}")


@test()
def promoted_trace_order():
    """Several PROBEs of one function print in their order, those of the method before its promoter's."""
    names = [FORWARDERS[0], METHODS[0]]
    with Target("promoted", "1.27", args=["rounds=3", "stay=0"]) as target:
        out, _ = trace(target, *(f'r::{name} (what == "pointer" && ns >= 0) "{i}"' for name in names for i in "12"))
    got = [f"{row.func.split('.')[1]} {row.text}" for row in rows(out)]
    expect(got == 3 * ["(*Core) 1", "(*Core) 2", "(*ByPointer) 1", "(*ByPointer) 2"], f"{got}")


@test(version=RELEASES)
def promoted_trace_at_run_time(version):
    """What leaves by a jump that is known only when it is made has no results, and says so."""
    with Target("promoted", version, args=["rounds=3", "stay=0"]) as target:
        out, said = trace(target, f'r::{AT_RUN_TIME} "%d", goret1')
    jumped = [row.text.endswith("(jumped)") for row in rows(out)]
    expect(len(jumped) == 3 and len(set(jumped)) == 1, out)
    expect(jumped[0] == ("leaves by a jump" in said) and (jumped[0] or version != "1.27"), f"{out}, {said}")


@test(version=["1.15", "1.27"])
def promoted_recipes(version):
    """goerrors counts each error where it comes from, and who passes it on, forwarders as well; gofuncslower prints
    slow calls of promoted methods."""
    errors = re.compile(r"^(\d+) +(main\.\(\*\w+\)\.Work): ", re.M)
    passed_on = re.compile(r"^ +passed on by (main\.\(\*\w+\)\.Work) \((\d+)\)$", re.M)
    with Target("promoted", version, args=["rounds=6", "stay=0"]) as target:
        with Recipe("goerrors", "-p", target.target_pid, "main.*Work") as counted, \
                Recipe("gofuncslower", "-p", target.target_pid, "-m", "400us", "main.(*By*).Work") as slow:
            for tool in counted, slow:
                tool.attached()
            target.go()
            target.truth()
            expect(counted.wait() == 0 and slow.wait() == 0, counted.said() + slow.said())
    expect(errors.findall(counted.out.text()) == [("12", METHODS[0])], counted.said())
    got = dict(passed_on.findall(counted.out.text()))
    expect(got.get(FORWARDERS[0]) == got.get(FORWARDERS[1]) == "2", counted.said())
    for name in FORWARDERS[:2]:
        expect(slow.out.text().count(name + " ") == 4, slow.said())
