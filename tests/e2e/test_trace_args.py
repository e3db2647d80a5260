# SPDX-License-Identifier: Apache-2.0
"""gotrace prints the arguments and results of calls of every kind as the program itself does."""

from harness import expect, test, versions

from gotrace import rows, trace_fixture

# what the newest compiler passes in registers is on the stack in 1.15; -N -l has frames of its own
BUILT = [("1.15", "plain"), ("1.19", "plain"), ("1.23", "plain"), ("1.27", "plain"),
         ("1.19", "nl"), ("1.27", "nl")]
PATTERNS = [":main.call*", ":main.make*.func1", ":main.(*Point).Call*", ":main.Point.Call*",
            ":main.Color.Call*", ":main.(*Nested).Call*", ":main.Embeds.Call*", ":main.IDs.Call*",
            ":main.Empty.Call*", ":main.(*Node).Call*", ":main.Rates.Call*"]


def built():
    """All of them with --all; else what stands for many"""
    if len(versions()) > 5:
        return [(v, f) for v in versions() for f in ("plain", "nl")]
    return [(v, f) for v, f in BUILT if v in versions()]


def truth(text, kind, prefix=""):
    """(function, what it is given or answers)"""
    lines = [line.split("\t") for line in text.splitlines() if line.count("\t") == 2]
    return [(name, said) for name, how, said in lines if how == kind and (
        name.startswith(prefix) if prefix else "main.blank" not in name and "main.Gen" not in name)]


def compare(true, got):
    """The same calls in the same order, with the same text"""
    names = [name for name, _ in true]
    seen = [row.func for row in got]
    missing = [n for n in dict.fromkeys(names) if n not in seen]
    expect(not missing, f"{len(missing)} functions not seen: {' '.join(missing[:20])}")
    expect(names == seen, f"{len(seen)} calls, not {len(names)}, or in another order")
    wrong = {}
    for (name, said), row in zip(true, got):
        if said != row.text.rstrip() and name not in wrong:
            wrong[name] = f"{name}: {row.text} | in truth: {said}"
    expect(not wrong, f"{len(wrong)} wrong: " + "; ".join(list(wrong.values())[:12]))


def check(built_as, patterns, prefix=""):
    version, flavour = built_as
    text, said = trace_fixture("args", version, *patterns, flavour=flavour)
    compare(truth(said, "p", prefix), rows(text))


def both(given, answered):
    return f"{given} -> {answered}".strip() if answered else given


def check_returns(built_as, patterns, prefix=""):
    """Arguments as they were at entry, and results"""
    version, flavour = built_as
    text, said = trace_fixture("args", version, *("r" + p for p in patterns), flavour=flavour)
    true = [(name, both(given, answered)) for (name, given), (_, answered) in zip(
        truth(said, "p", prefix), truth(said, "r", prefix))]
    compare(true, rows(text))


@test(built_as=built)
def trace_args(built_as):
    check(built_as, PATTERNS)


@test(built_as=built)
def trace_results(built_as):
    check_returns(built_as, PATTERNS)


@test(built_as=[("1.15", "plain"), ("1.19", "plain"), ("1.27", "plain"), ("1.19", "nl")])
def trace_blank(built_as):
    """Parameters without a name, or unused"""
    check(built_as, [":main.blank*"], "main.blank")


@test(built_as=[("1.19", "plain"), ("1.27", "plain"), ("1.27", "nl")])
def trace_generic(built_as):
    """A hidden dictionary comes first."""
    check(built_as, [":main.Gen*"], "main.Gen")


@test(built_as=[("1.19", "plain"), ("1.27", "plain")])
def trace_generic_results(built_as):
    check_returns(built_as, [":main.Gen*"], "main.Gen")
