# SPDX-License-Identifier: Apache-2.0
"""What inlined copies were given, as gotrace prints it and as the program knows: equal, or said to
be optimised out."""

import collections
import json
import re

from harness import Target, expect, test, versions

from gotrace import rows, trace

NAMES = """add noted callsOne greet length (*Point).Move Point.Sum (*Point).Kept inner outer scale mixed
    small wide points big arr one list bytesOf many area through apply sumTo addTo bump bumpLeaf
    clamp magnitude swapped gcd setTo setLeaf rest countdown addressed unused bits""".split()
RETURNS = ["noted", "callsOne", "greet", "(*Point).Kept", "inner", "sumTo", "bump", "magnitude"]
FOLDED = ["main.add", "main.length", "main.Point.Sum", "main.bumpLeaf"]  # no code is left of some
ABSENT, FLOAT = "<optimised out>", "<float in register>"
LEAST = 0.5  # of all arguments are there; 0.42 in 1.15


def parts(text):
    return dict(part.split("=", 1) for part in re.split(r" (?=\w+=)", text) if part)


def some():
    return versions() if len(versions()) > 5 else [v for v in ("1.19", "1.27") if v in versions()]


def truth_of(text):
    """function -> what each call was given, in order"""
    truth = collections.defaultdict(list)
    for line in text.splitlines():
        if line.startswith("main.") and line.count("\t") == 1:
            name, given = line.split("\t")
            truth[name].append(parts(given))
    return truth


def compare(truth, got, names):
    """(arguments that are right, all), of functions none of whose copies has gone"""
    right = total = 0
    for name in ("main." + n for n in names):
        if name in FOLDED and len(got[name]) < len(truth[name]):
            continue
        expect(len(got[name]) == len(truth[name]), f"{name}: {len(got[name])} calls")
        for given, seen in zip(truth[name], got[name]):
            expect(list(given) == list(seen), f"{name}: {seen}, not {given}")
            for key, value in given.items():
                total += 1
                right += seen[key] == value
                expect(seen[key] in (value, ABSENT, FLOAT) or value == '"?"',
                       f"{name}: {key} is {value}, got {seen}")
    return right, total


def traced(version, how, names):
    """(arguments that are right, all) of calls traced at entry ("") or return ("r:")"""
    got = collections.defaultdict(list)
    with Target("copies", version) as target:
        text, _ = trace(target, "-j", *(f"{how}:main.{n}" for n in names))
        for call in map(json.loads, text.splitlines()):
            given = call["message"].split("-> ")[0].strip()
            got[call["func"]].append(parts(given))
        return compare(truth_of(target.out.text()), got, names)


@test(version=some())
def arguments(version):
    right, total = traced(version, "", NAMES)
    expect(right >= total * LEAST or version == "1.15", f"{right} of {total} are there")


@test(version=some())
def arguments_at_return(version):
    right, _ = traced(version, "r:", RETURNS)
    expect(right, "none is there")


@test(version=some())
def predicate(version):
    """Of copies where it cannot be computed none is traced; others are."""
    with Target("copies", version) as target:
        text, said = trace(target, ':main.bump (x == 1) "%d %d", x, y', ":main.swapped (a == 1)")
        expect("it is optimised out in this inlined copy" in said, f"no word of it: {said}")
        got = [row.text.split() for row in rows(text)]
        expect(got and all(x == "1" for x, *_ in got), f"got {got}")
