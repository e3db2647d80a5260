# SPDX-License-Identifier: Apache-2.0
"""$label("key") in gotrace and goargdist: a goroutine's label, as the goroutine itself has set it."""

import collections

from gotrace import trace
from harness import Target, Tool, expect, fixture, json_lines, run, test, tool_path

LONG = "k" * 64
HANDLE = ":main.handle(id int, within map[string]string) int"
INNER = ":main.inner(id int) int"


def as_read(labels, key):
    """A label's value, of which 80 bytes are read; what a goroutine has no label for is empty."""
    value = labels.get(key, "")
    return value[:80] + "..." if len(value) > 80 else value


def traced(name, version, flavour, *probes):
    """The target's goroutines, by number, and the messages' values of each PROBE's function"""
    with Target(name, version, flavour) as target:
        text, said = trace(target, "-j", *probes)
        told = {t["id"]: t for t in json_lines(target.out.text()) if "id" in t}
    expect("could not read" not in said, said)
    return told, [(e["func"], tuple(e["values"])) for e in json_lines(text)]


@test(version=["1.15", "1.19", "1.23", "1.24", "1.27"], flavour=["plain", "strip"])
def trace_labels(version, flavour):
    """Of a call with r: as they are when it begins, and with after() as they are when it returns."""
    keys = ["tenant", "request", LONG]
    list_of = ", ".join(f'$label("{key}")' for key in keys)
    told, got = traced("labels", version, flavour,
                       f'r{HANDLE} "%d %s %s %s %s", id, {list_of}, after($label("tenant"))',
                       f'{INNER} "%d %v", id, $label("request")')
    true = collections.Counter()
    for n, t in told.items():
        true["main.handle", (n, *(as_read(t["labels"], key) for key in keys), as_read(t["inner"], "tenant"))] += t["calls"]
        true["main.inner", (n, as_read(t["inner"], "request"))] += t["calls"]
    got = collections.Counter(got)
    expect(got == true, f"more: {list((got - true).items())[:3]}, fewer: {list((true - got).items())[:3]}")


@test(version=["1.15", "1.23", "1.24", "1.27"])
def trace_labels_predicates(version):
    tests = {'$label("tenant") == "acme"': lambda l: l.get("tenant") == "acme",
             '$label("tenant") != "acme"': lambda l: l.get("tenant") != "acme",
             'hasprefix($label("tenant"), "one of ") && id > 9': None,
             'STRCMP("empty", $label("request"))': lambda l: l.get("request") == "empty",
             'len($label("tenant")) == 200': lambda l: len(l.get("tenant", "")) == 200}
    told, got = traced("labels", version, "plain",
                       *(f'{HANDLE} ({text}) "{n} %d", id' for n, text in enumerate(tests)),
                       f'r{HANDLE} ($label("tenant") == "acme" && goret1 > 2) "r %d", id')
    got = collections.Counter(values for _, values in got)
    true = collections.Counter()
    for n, t in told.items():
        labels = t["labels"]
        for holds in tests.values():
            if holds(labels) if holds else labels.get("tenant", "").startswith("one of ") and n > 9:
                true[(n,)] += t["calls"]
        if labels.get("tenant") == "acme" and n + 1 > 2:
            true[(n,)] += t["calls"]
    expect(got == true, f"{got}, in truth {true}")


@test(version=["1.19", "1.27"])
def argdist_labels(version):
    with Target("labels", version, "strip") as target:
        with Tool("goargdist", "-j", "-p", target.target_pid, "-C", f'{HANDLE} $label("tenant")') as tool:
            tool.tracing()
            target.go()
            records = tool.records()
        true = collections.Counter()
        for t in json_lines(target.out.text()):
            true[as_read(t["labels"], "tenant")] += t["calls"]
    got = {r["values"]['$label("tenant")']: r["count"] for r in records}
    expect(got == true, f"{got}, in truth {true}")


@test(version=["1.15", "1.27"])
def trace_labels_hostile(version):
    """What is no set of labels is said to be so, or leads to nothing; the target goes on."""
    with Target("mislabelled", version, "plain", ["ms=20"]) as target:
        text, said = trace(target, "-j", ':main.adds "%v|%v", $label("k"), $label("l")')
    found = collections.Counter(v for e in json_lines(text) for v in e["message"].split("|"))
    expect(found['"v"'] and found["<fault>"] and found["<too many labels>"], f"{found}; {said}")
    expect(set(found) <= {'""', '"v"', "<fault>", "<too many labels>"}, f"{found}")


@test()
def trace_labels_refused():
    binary = fixture("labels", "1.27")

    def refused(expr, path=binary):
        ended = run([tool_path("gotrace"), f"{path}{HANDLE} {expr}"])
        expect(ended.returncode == 1, f"{expr}: ended with {ended.returncode}")
        return ended.stderr
    expect('expected "("' in refused('"%s", $label'), "no key")
    expect("a label's key in double quotes" in refused('"%s", $label(id)'), "a key that is no text")
    expect("string is not a number" in refused('($label("tenant") > 1)'), "a number")
    expect("more than 64 bytes" in refused(f'"%s", $label("{LONG}k")'), "a long key")
    expect("gccgo" in refused('"%s", $label("k")', fixture("hello", "gccgo")), "gccgo")
