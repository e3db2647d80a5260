# SPDX-License-Identifier: Apache-2.0
"""gotrace prints the arguments and results of calls of every kind as the program itself does."""

import collections
import contextlib
import os
import re

from harness import Target, expect, newest, plain_name, test, versions

from gotrace import Tracer, rows, trace_fixture

# what the newest compiler passes in registers is on the stack in 1.15; -N -l has frames of its own
BUILT = [("1.15", "plain"), ("1.19", "nl"), ("1.27", "plain")]
PARTS = {  # of the functions: their pattern, or patterns
    "call0": [":main.call0*"], "call1": [":main.call1*"], "call2": [":main.call2*"],
    "methods": [":main.make*.func1", ":main.(*Point).Call*", ":main.Point.Call*",
                ":main.Color.Call*", ":main.(*Nested).Call*", ":main.Embeds.Call*",
                ":main.IDs.Call*", ":main.Empty.Call*", ":main.(*Node).Call*", ":main.Rates.Call*"],
    "blank": [":main.blank*"], "generic": [":main.Gen*"],
}
NOTHING = r"\w+=(main\.(Empty|Nothing)|\[0\]\w+|struct ?\{\})\{"
NAMES = {"methods": r"Call|make", "generic": r"Gen"}  # what else is in their names


def built():
    """All of them with --all; else what stands for many"""
    if len(versions()) > 5:
        return [(v, f) for v in versions() for f in ("plain", "nl")]
    return [(v, f) for v, f in BUILT if v in versions()]


def built_for_results():
    """Arguments are printed at return too: fewer of the same are left"""
    return [(v, f) for v, f in built() if len(versions()) > 5 or f == "plain" or v == newest()]


def truth(text, kind, part):
    """(function, what it is given or answers)"""
    lines = [line.split("\t") for line in text.splitlines() if line.count("\t") == 2]
    return [(name, said) for name, how, said in lines
            if how == kind and re.search(NAMES.get(part, part), name)]


def parts_of(text):
    """NAME=VALUE parts, those of size 0 last"""
    parts = re.split(r" (?=\w+=|-> )", text)
    return sorted(parts, key=lambda part: part if re.match(NOTHING, part) else "")


def is_same(said, text, version):
    """Where parameters of size 0 are among the others is not known of Go 1.15."""
    return said == text or (version == "1.15" and parts_of(said) == parts_of(text))


def compare(true, got, version, ordered=True):
    """The same calls in the same order, with the same text"""
    if not ordered:
        true, got = sorted(true), sorted(got, key=lambda row: (row.func, row.text))
    names = [name for name, _ in true]
    seen = [plain_name(row.func) for row in got]
    missing = [n for n in dict.fromkeys(names) if n not in seen]
    expect(not missing, f"{len(missing)} functions not seen: {' '.join(missing[:20])}")
    if names != seen:
        lost = collections.Counter(names) - collections.Counter(seen)
        more = collections.Counter(seen) - collections.Counter(names)
        expect(False, f"{len(seen)} calls, not {len(names)}, or in another order: missing {dict(lost)}"
               f", too many {dict(more)}")
    wrong = {}
    for (name, said), row in zip(true, got):
        if not is_same(said, row.text.rstrip(), version) and name not in wrong:
            wrong[name] = f"{name}: {row.text} | in truth: {said}"
    expect(not wrong, f"{len(wrong)} wrong: " + "; ".join(list(wrong.values())[:12]))


def check(part, built_as):
    version, flavour = built_as
    text, said = trace_fixture("args", version, *PARTS[part], flavour=flavour)
    compare(truth(said, "p", part), rows(text), version)


def both(given, answered):
    return f"{given} -> {answered}".strip() if answered else given


def true_lines(said, part, how):
    """What gotrace should print; how: "r" at return, arguments as they were at entry, and results"""
    given = truth(said, "p", part)
    if how != "r":
        return given
    return [(name, both(given, answered)) for (name, given), (_, answered) in zip(given, truth(said, "r", part))]


def check_returns(part, built_as):
    version, flavour = built_as
    text, said = trace_fixture("args", version, *("r" + p for p in PARTS[part]), flavour=flavour)
    compare(true_lines(said, part, "r"), rows(text), version)


MOST = ["call0", "call1", "call2", "methods"]


@test(built_as=built)
def trace_args(built_as):
    """Arguments, and results: all on one run of the program, by a tracer for each part of it"""
    version, flavour = built_as
    jobs = [(part, "") for part in MOST]
    if built_as in built_for_results():
        jobs += [(part, "r") for part in MOST]
    with Target("args", version, flavour) as target, contextlib.ExitStack() as tracers:
        running = []
        for part, how in jobs:  # one compiles at a time
            for tracer in running[-1:]:
                tracer.attached()
            patterns = [how + pattern for pattern in PARTS[part]]
            running.append(tracers.enter_context(Tracer("-p", target.target_pid, *patterns)))
        running[-1].attached()
        target.go()
        texts = [tracer.rest() for tracer in running]
        expect(target.wait() == 0, f"the target ended with {target.child.returncode}: {target.said()}")
        said = target.out.text()
    for (part, how), text in zip(jobs, texts):
        compare(true_lines(said, part, how), rows(text), version)


def named(text):
    """NAME=VALUE parts alone, of values that are no structs"""
    return " ".join(re.findall(r'\b\w+=(?:"[^"]*"|[\w*.]+\("[^"]*"\)|\S+)', text))


@test(version=lambda: ["1.15", "1.19", newest()] if len(versions()) > 5 else ["1.15", newest()],
      tables=["yes", "no"], where=lambda version, tables: tables == "yes" or version == newest(),
      seldom=lambda tables, **_: tables == "no")
def trace_all_functions(version, tables):
    """Hundreds of signatures at once, by tables of steps and by compiled code"""
    patterns = [p for part in MOST for p in PARTS[part]]
    with Target("args", version) as target:
        with Tracer("-p", target.target_pid, *patterns,
                    env=dict(os.environ, GOTOOLS_TABLES=tables)) as tracer:
            tracer.attached()
            target.go()
            text = tracer.rest()
        target.wait()
        said = target.out.text()
    true = [(n, t) for part in MOST for n, t in truth(said, "p", part)]
    compare(true, rows(text), version, ordered=False)


@test(built_as=[("1.15", "plain"), ("1.19", "plain"), ("1.19", "nl"), ("1.27", "plain")])
def trace_blank(built_as):
    """Parameters without a name, or unused; their types are not known before 1.22."""
    version, flavour = built_as
    text, said = trace_fixture("args", version, *PARTS["blank"], flavour=flavour)
    true, got = truth(said, "p", "blank"), rows(text)
    if int(version.split(".")[1]) < 22:
        true = [(name, named(given)) for name, given in true]
        got = [row._replace(text=named(row.text)) for row in got]
    compare(true, got, version)


GENERIC = [("1.19", "plain"), ("1.27", "plain"), ("1.27", "nl")]


@test(built_as=GENERIC)
def trace_generic(built_as):
    """A hidden dictionary comes first."""
    check("generic", built_as)


@test(built_as=GENERIC)
def trace_generic_results(built_as):
    check_returns("generic", built_as)
