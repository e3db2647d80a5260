# SPDX-License-Identifier: Apache-2.0
"""gotrace's predicates are computed as C does, for every call on any thread."""

from harness import TESTS, Target, expect, json_lines, test, tracks

from gotrace import Tracer, texts, trace_fixture

BUILT = [("1.15", "plain"), ("1.19", "plain"), ("1.27", "plain"), ("1.27", "nl")]
FUNCTION = "main.filtered"


def predicates():
    """What tests/fixtures/predicates.go counts, from its source"""
    with open(f"{TESTS}/fixtures/predicates.go", encoding="utf-8") as source:
        text = source.read()
    for prefix, table in ("p:", "entries"), ("r:", "returns"):
        body = text.split(f"var {table} = ")[1].split("\n}\n")[0]
        for line in body.splitlines():
            key, found, _ = line.strip().partition(" func(c *call)")
            if found:
                key = key.strip().removesuffix(":").strip()
                yield prefix, key[1:-1] if key[0] == "`" else key.strip('"')


def check(built_as, prefix):
    """All predicates at once, each as a PROBE of its own"""
    version, flavour = built_as
    every = [text for way, text in predicates() if way == prefix]
    start = "r:" if prefix == "r:" else ":"
    probes = [f'{start}{FUNCTION} ({text}) "#{i}"' for i, text in enumerate(every)]
    text, said = trace_fixture("predicates", version, *probes, flavour=flavour)
    got = texts(text)
    true = {t["func"]: t["calls"] for t in tracks(said)}
    wrong = []
    for i, predicate in enumerate(every):
        seen = got.count(f"#{i}")
        if seen != true[prefix + predicate]:
            wrong.append(f"{predicate}: {seen} events, {true[prefix + predicate]} in truth")
    expect(not wrong, "; ".join(wrong))


@test(built_as=BUILT)
def trace_predicates(built_as):
    check(built_as, "p:")


@test(built_as=BUILT)
def trace_return_predicates(built_as):
    check(built_as, "r:")


@test(version=["1.15", "1.27"])
def trace_predicate_values(version):
    """Each event that passed holds what passed."""
    text, said = trace_fixture("predicates", version,
                               f':{FUNCTION} (n % 7 == 3) "%d %s", n, name',
                               words=["goroutines=30", "calls=100"])
    got = [int(t.split()[0]) for t in texts(text)]
    true = [t for t in tracks(said) if t["func"] == "p:n % 7 == 3"][0]["calls"]
    expect(len(got) == true and all(n % 7 == 3 for n in got), f"{len(got)} events, {true} in truth")


@test()
def trace_predicate_json():
    text, _ = trace_fixture("predicates", "1.27", "-j", f':{FUNCTION} (n == 3) "%d", n')
    events = [e for e in json_lines(text) if e.get("func") == FUNCTION]
    expect(len(events) > 0, f"no events: {text[:300]}")


@test()
def trace_warnings():
    """What was probably not meant is said, and traced as it is; a PROBE without a match is named."""
    with Target("predicates", "1.27") as target:
        with Tracer("-p", target.target_pid, f":{FUNCTION} (n & 3 == 1 || word < -1) \"%d\", n",
                    f":{FUNCTION}x") as tracer:
            tracer.attached()
            target.go()
            out, said = tracer.rest(), tracer.err.text().splitlines()
            told = {t["func"]: t["calls"] for t in target.truth()}
    expect(len(texts(out)) == told["p:n & 3 == 1"], f"{len(texts(out))} events, in truth {told}")
    expect("gotrace: warning: (n & 3 == 1) is (n & (3 == 1)); did you mean ((n & 3) == 1)?" in said, said)
    expect("gotrace: warning: (word < -1) is always false: word is from 0 to 4294967295" in said, said)
    expect(any(f'no function matches "{FUNCTION}x"; near names: {FUNCTION}' in line for line in said), said)
