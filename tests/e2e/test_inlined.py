# SPDX-License-Identifier: Apache-2.0
"""Functions that exist only as inlined copies."""

import collections
import json
import linecache
import re

from harness import (TESTS, Target, Tool, compare_counts, compare_latency, counted, each_release, expect,
                     fixture, run, some_versions, test, tool_path, versions)
from gotrace import trace_fixture

NAMES = ["main.store", "main.forward", "main.sumTo", "main.twice", "main.maybe"]


def trace(tool, target, *args):
    """(truth, records, what the tool said on stderr)"""
    with Tool(tool, "-j", "-p", target.target_pid, *args) as tracer:
        tracer.tracing()
        target.go()
        truth = target.truth()
        return truth, tracer.records(), tracer.err.text()


def not_left_out(names, said):
    """Copies that cannot be counted exactly are left out, but never without a word."""
    return [n for n in names if not re.search(re.escape(n) + r"\b.*(cannot|left out)", said)]


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def println_count(version, flavour):
    with Target("hello", version, flavour) as target:
        truth, records, said = trace("gofunccount", target, ":fmt.Println")
        compare_counts(truth, records)
        expect("fmt.Println is inlined: tracing 2 copies, in main.greet, main.part" in said,
               f"no word of the copies: {said}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def println_latency(version, flavour):
    with Target("hello", version, flavour) as target:
        truth, records, _ = trace("gofunclatency", target, "-F", ":fmt.Println")
        compare_latency(truth, records)


@test(version=versions)
def nops_latency(version):
    """Compilers that align jumps (Go 1.15) put long nops behind copies: none is lost for them."""
    with Target("nops", version) as target:
        truth, records, said = trace("gofunclatency", target, ":fmt.Println")
        expect("left out" not in said, said)
        expect(records[0]["count"] == truth[0]["calls"],
               f"{records[0]['count']} of {truth[0]['calls']}")


@test(version=versions, flavour=["plain", "strip", "pie"], where=each_release("strip"))
def inlined_names(version, flavour):
    with Target("inlined", version, flavour) as target:
        truth, records, said = trace("gofunccount", target, *(":" + n for n in NAMES))
        exact = not_left_out(NAMES, said)
        expect({"main.forward", "main.twice"} <= set(exact), f"left out: {said}")
        compare_counts(truth, records, only=exact)


@test(version=versions)
def inlined_all(version):
    """--inlined takes the copies that a pattern matches; without it patterns take none."""
    with Target("inlined", version) as target:
        truth, records, said = trace("gofunccount", target, "--inlined", ":main.*")
        compare_counts(truth, records, only=not_left_out(NAMES, said))
    with Target("inlined", version) as target:
        _, records, said = trace("gofunccount", target, ":main.*")
        expect("main.forward" not in counted(records), "a pattern took inlined copies")
        expect(re.search(rf"^main\.\*: {only_inlined(target.path)} more names exist only as inlined "
                         "copies, not seen without --inlined$", said, re.M), said)


def only_inlined(path):
    """Names of main that no function has"""
    both, functions = (set(run([tool_path("gofuncs"), *words, f"{path}:main.*"]).stdout.split())
                       for words in (["--inlined"], []))
    expect(functions < both, f"{functions}, {both}")
    return len(both - functions)


@test(version=some_versions)
def inlined_by_recipe(version):
    """Recipes that take patterns take --inlined; without it they say what they leave out."""
    with Target("inlined", version) as target:
        with Tool("gofuncslower", "-j", "-u", "0", "--inlined", "-p", target.target_pid,
                  ":main.forwardT*") as tracer:
            tracer.tracing()
            target.go()
            truth = {t["func"]: t["calls"] for t in target.truth()}["main.forwardTimed"]
            seen = len([r for r in tracer.records() if r["func"] == "main.forwardTimed"])
            expect(seen == truth > 0, f"saw {seen} of {truth} calls")
            expect("more name" not in tracer.said(), tracer.said())
    with Target("recipes", version, args=["once"]) as target:
        for words in [], ["--inlined"]:
            with Tool("goerrors", "-d", "0.1", *words, "-p", target.target_pid, "main.*") as tracer:
                expect(tracer.wait() == 0, tracer.said())
                said = tracer.err.text()
                names = only_inlined(target.path)
                note = f"main.*: {names} more name{'s exist' if names > 1 else ' exists'} only as inlined copies"
                expect((note in said) != bool(words), said)
                expect(("what an inlined copy returns is not known" in said) == bool(words), said)



@test(version=versions)
def forwarder_latency(version):
    with Target("inlined", version) as target:
        truth, records, _ = trace("gofunclatency", target, "-F", ":main.forwardTimed")
        compare_latency(truth, records, only=["main.forwardTimed"])


def source_line(place):
    """The fixture may have been built in another folder."""
    path = re.sub(r".*/tests/fixtures/", TESTS + "/fixtures/", place["file"])
    return linecache.getline(path, place["line"])


def check_chain(name, copy):
    """Each caller's line calls what is inlined there, and the last caller is no copy"""
    called = name
    for caller in copy["callers"]:
        text = source_line(caller)
        expect(called.split(".")[-1] + "(" in text, f"{name}: no call of {called} in {caller}: {text}")
        called = caller["func"]
    expect(called == copy["in"], f"{name}: {called} is not {copy['in']}")
    own = source_line(copy)
    expect(re.search(r"AddInt64|target|slowTarget|store|forward|&1|return|Fprintln|for ", own),
           f"{name}: {own}")


@test(version=some_versions, flavour=["plain", "strip"])
def listed_chains(version, flavour):
    """gofuncs names where each copy was called, through the copies that it stands in."""
    for program, pattern in (("inlined", "main.*"), ("hello", "fmt.Println")):
        done = run([tool_path("gofuncs"), "-j", "--inlined",
                    f"{fixture(program, version, flavour)}:{pattern}"])
        expect(done.returncode == 0, done.stderr)
        copies = [(r["func"], copy) for r in map(json.loads, done.stdout.splitlines())
                  for copy in r["inlined"]]
        fixtures = [(n, c) for n, c in copies if not c["file"].endswith("control.go")]
        for name, copy in fixtures:
            check_chain(name, copy)
        if program == "hello":
            source = "library" if flavour == "strip" else "debuginfo"
            expect([(c["types_from"], [len(a["in"]) for a in c["args"]], c["args_at"]["kind"])
                    for _, c in copies] == [(source, [1 if version == "1.15" else 3],
                                             "inlined-call")] * 2, f"{copies}")
        else:
            expect(any(len(c["callers"]) > 1 for _, c in fixtures), "no copy in a copy")


@test(version=some_versions)
def copies_in_stacks(version):
    """A stack at a probe in a copy begins with it; each caller's line calls the frame before."""
    rounds = 6
    text, said = trace_fixture("inlined", version, "-j", "-U", *(f':{n} "x"' for n in NAMES),
                               flavour="strip", words=[f"rounds={rounds}"])
    lines = collections.Counter()
    for event in map(json.loads, filter(lambda line: '"stack"' in line, text.splitlines())):
        name, stack = event["func"], event["stack"]
        is_copy = stack[0].get("inlined", False) or f"{name} is inlined" not in said
        expect(stack[0]["func"] == name and is_copy, f"{name}: {stack}")
        for called, caller in zip(stack, stack[1:]):
            if called["func"] != "main.main":
                expect(called["func"].split(".")[-1] + "(" in source_line(caller),
                       f"{name}: no call of {called['func']} in {caller}: {source_line(caller)}")
            else:
                expect(caller["func"] == "runtime.main", f"{name}: {caller}")
        lines[name, stack[1]["func"], source_line(stack[1]).strip()] += 1
    stores = [lines["main.store", "main.straight", f"store(n{more}, {value})"]
              for more, value in (("", 1), ("+1", 2), ("+2", 3))]
    expect(stores == [rounds] * 3 or "main.store" in said, f"{lines}")
    expect(lines["main.forward", "main.straight", "return forward(n) + forward(n*3)"] == 2 * rounds
           and lines["main.forward", "main.inLoop", "r += forward(i)"] == 5 * rounds
           and lines["main.forward", "main.twice", "return forward(a)"] == 2, f"{lines}")
