# SPDX-License-Identifier: Apache-2.0
"""$ctx("main.keyType") and $traceid in gotrace and goargdist: what the context of a call carries, as the program itself
finds it there."""

import collections
import os

import redisserver
from gotrace import trace
from harness import Skip, Target, Tool, expect, fixture, json_lines, of_newest, run, test, tool_path

KEYS = {"request": '"main.requestKey"', "one": '"main.numberedKey", 1', "minus": '"main.numberedKey", -2',
        "tenant": '"main.namedKey", "tenant"', "plain": '"string", "request_id"', "pointer": '"*main.pointerKey"'}
UNKNOWN = "<unknown context>"
TOO_DEEP, FOREIGN, BEFORE_FOREIGN, NUMBER, NIL = 7, 15, 16, 11, 18
# what is called with a context, and what is to be said of it in a stripped program: before Go 1.18 there are no tables of
# parameters, and no table has types
FUNCS = {"main.handle": "(ctx context.Context, id int)", "main.named": "(name string, ctx context.Context, id int)",
         "main.request": "(id int, r *net/http.Request)", "main.(*shop).Serve": "(id int, ctx context.Context)",
         "main.(*stream).Send": ""}


def probes(version, flavour, funcs=FUNCS):
    """{function: its PROBE without r:}"""
    signed = flavour == "strip" and version < "1.18"
    return {f: f":{f}{s}" if signed or f == "main.request" else f":{f}" for f, s in funcs.items()}


def as_read(told, key, found_out=False):
    """What is printed for a key of KEYS, by what the program tells; found_out: by what two words are found to be, a nil
    context is not seen to be one"""
    if found_out and told["id"] == NIL:
        return UNKNOWN
    if told["id"] in (TOO_DEEP, FOREIGN) or (told["id"] == BEFORE_FOREIGN and key != "request"):
        return UNKNOWN
    if told["id"] == NUMBER and key == "request":
        return "5"
    return told[key] if told[key] else "nil"


def traced(name, version, flavour, *probes):
    with Target(name, version, flavour, ["calls=3"]) as target:
        text, said = trace(target, "-j", *probes)
        told = [t for t in json_lines(target.out.text()) if "id" in t]
    return told, [(e["func"], e["message"]) for e in json_lines(text)], said


def expect_same(got, true):
    got = collections.Counter(got)
    expect(got == true, f"more: {list((got - true).items())[:3]}, fewer: {list((true - got).items())[:3]}")


@test(version=["1.15", "1.19", "1.21", "1.23", "1.27"], flavour=["plain", "strip"])
def trace_contexts(version, flavour):
    """By parameters' types, by what two words are found to be where types are not known, and of a struct that has the
    context; chains of all kinds of contexts, nil among them."""
    values = ", ".join(f"$ctx({key})" for key in KEYS.values())
    told, got, said = traced("contexts", version, flavour,
                             *(f'r{probe} "%s|%s|%s|%s|%s|%s", {values}' for probe in probes(version, flavour).values()))
    true = collections.Counter()
    for one in told:
        for func in FUNCS:
            found_out = flavour == "strip" and version > "1.18" and func not in ("main.request", "main.(*stream).Send")
            true[func, "|".join(as_read(one, key, found_out) for key in KEYS)] += 3
    expect_same(((f, m.encode().decode("unicode_escape").encode("latin-1").decode(errors="replace") if "\\x" in m else m)
                 for f, m in got), true)
    expect("lost" not in said, said)


@test(version=["1.15", "1.19", "1.27"], flavour=["strip"])
def trace_contexts_predicates(version, flavour):
    """Compared as strings; a context without the key has an empty one."""
    tests = {'$ctx("main.requestKey") == "r-1"': lambda t: t["request"] == "r-1",
             '$ctx("main.requestKey") != "r-1"': lambda t: t["request"] != "r-1",
             '$ctx("main.namedKey", "tenant") == ""': lambda t: t["tenant"] == "",
             'hasprefix($ctx("string", "request_id"), "of the")': lambda t: t["plain"].startswith("of the"),
             '$ctx("main.numberedKey", 100) != nil': lambda t: t["user"] != "",
             '$ctx("main.numberedKey", 101).(int) == 7': lambda t: t["number"] == 7,
             '$ctx("main.numberedKey", 100).(*main.user).Name == "Ada" && id < 100': lambda t: t["user"] == "Ada"}
    told, got, _ = traced("contexts", version, flavour,
                          *(f':main.handle(ctx context.Context, id int) ({text}) "{n} %d", id'
                            for n, text in enumerate(tests)),
                          'r:main.(*shop).Serve(id int, ctx context.Context) ($ctx("main.requestKey") == "r-2" && $latency >= 0) "r %s", $ctx("main.namedKey", "tenant")')
    true = collections.Counter()
    for one in told:
        unknown = one["id"] in (TOO_DEEP, FOREIGN)
        for n, (text, holds) in enumerate(tests.items()):
            if unknown or (one["id"] == BEFORE_FOREIGN and "requestKey" not in text) or \
                    (one["id"] == NUMBER and '"r-1"' in text):
                continue
            if holds(one):
                true[f"{n} {one['id']}"] += 3
        if one["request"] == "r-2":
            true["r acme"] += 3
    expect_same((m for _, m in got), true)


@test(version=["1.19", "1.27"])
def argdist_contexts(version):
    with Target("contexts", version, "strip", ["calls=3"]) as target:
        with Tool("goargdist", "-j", "-p", target.target_pid, "-C",
                  ':main.handle(ctx context.Context, id int) $ctx("main.requestKey").(string)') as tool:
            tool.tracing()
            target.go()
            records = tool.records()
        told = [t for t in json_lines(target.out.text()) if "id" in t]
    true = sum(3 for t in told if t["request"] == "r-1" and t["id"] not in (TOO_DEEP, FOREIGN))
    counts = {str(list(r["values"].values())[0]): r["count"] for r in records}
    expect(counts.get("r-1") == true, f"{counts}, in truth {true}")


def otel():
    if not os.path.isdir(redisserver.GOCODE + "/src/go.opentelemetry.io/otel/sdk"):
        raise Skip("golang-opentelemetry-otel-dev is not installed")


@test(version=["1.19", "1.27"], flavour=["plain", "strip"], seldom=of_newest)
def trace_traceids(version, flavour):
    """OpenTelemetry's own sources tell the IDs; spans that record and that do not, of another process, and none."""
    otel()
    funcs = {"main.handle": ":main.handle", "main.second": ":main.second",
             "main.request": ":main.request(id int, r *net/http.Request)", "main.(*shop).Serve": ":main.(*shop).Serve"}
    told, got, said = traced("otel", version, flavour,
                             *(f'{probe} "%s", $traceid' for probe in funcs.values()),
                             'r:main.handle ($traceid == "4BF92F3577b34da6a3ce929d0e0e4736") "%d %v", $latency >= 0, $traceid',
                             ':main.(*shop).Serve ($traceid == "") "none"',
                             ':main.ids(t go.opentelemetry.io/otel/trace.TraceID, s go.opentelemetry.io/otel/trace.SpanID) "%v %v", t, s')
    true = collections.Counter()
    for one in told:
        for func in funcs:
            true[func, one["trace"] or "-"] += 3
        if one["trace"].startswith("4bf92f35"):
            true["main.handle", "1 " + one["trace"]] += 3
        if not one["trace"]:
            true["main.(*shop).Serve", "none"] += 3
        true["main.ids", f"{one['trace'] or '0' * 32} {one['span'] or '0' * 16}"] += 3
    expect_same(got, true)
    expect("could not be read" not in said, said)


@test()
def trace_traceid_json():
    otel()
    with Target("otel", "1.27", "strip", ["calls=1"]) as target:
        text, _ = trace(target, "-j", ':main.handle "%s", $traceid')
        told = [t for t in json_lines(target.out.text()) if "id" in t]
    expect([e["values"] for e in json_lines(text)] == [[t["trace"] or "-"] for t in told], text)


@test()
def trace_contexts_refused():
    binary = fixture("contexts", "1.27", "strip")

    def refused(expr, func="main.handle", path=binary):
        ended = run([tool_path("gotrace"), f"{path}:{func} {expr}"])
        expect(ended.returncode == 1, f"{expr}: ended with {ended.returncode}")
        return ended.stderr
    expect("does not use OpenTelemetry" in refused('"%s", $traceid'), "no tracing")
    expect('"main.noKey"' in refused('"%s", $ctx("main.noKey")'), "no such key")
    expect("called with no context" in refused('"%v", $ctx("main.requestKey")', "main.without(id int)"), "no context")
    expect('is no number' in refused('"%v", $ctx("main.namedKey", 5)'), "a number for a string")
    expect('is no string' in refused('"%v", $ctx("main.requestKey", "x")'), "a string for a struct")
    expect("more than 64 bytes" in refused(f'"%v", $ctx("string", "{"x" * 65}")'), "a long key")
    expect('expected "("' in refused('"%v", $ctx'), "no key")
    expect("the type of a key in double quotes" in refused('"%v", $ctx(goarg1, 5)'), "a key that is no text")
    expect("a key is a number or a string" in refused('"%v", $ctx("string", goarg1)'), "a key that is a parameter")
    expect("is no context" in refused('"%v", $ctx(id, "string")', "main.without(id int)"), "a number as context")
    expect("gccgo" in refused('"%v", $ctx("string", "x")', path=fixture("hello", "gccgo"), func="main.main"), "gccgo")
