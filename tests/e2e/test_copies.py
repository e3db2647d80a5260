# SPDX-License-Identifier: Apache-2.0
"""What inlined copies were given, as gotrace prints it and as the program knows: equal, or said to
be optimised out."""

import collections
import json
import os
import re
import tempfile

from harness import TESTS, Target, expect, run, test, tool_path, toolchain, versions

from gotrace import rows, trace

NAMES = """add noted callsOne greet length (*Point).Move Point.Sum (*Point).Kept inner outer scale
    mixed small wide points big arr one list bytesOf many area through apply sumTo addTo bump
    bumpLeaf clamp magnitude swapped gcd setTo setLeaf rest countdown addressed unused
    bits""".split()
RETURNS = ["noted", "callsOne", "greet", "(*Point).Kept", "inner", "sumTo", "bump", "magnitude"]
FOLDED = ["main.add", "main.length", "main.Point.Sum", "main.bumpLeaf"]  # no code is left of some
ABSENT, FLOAT = "<optimised out>", "<float in register>"
SCALAR = re.compile(r'-?\d+$|true$|false$|"(?:[^"\\]|\\.)*"$')
LIBRARY = re.compile(r"(strconv|strings|bytes|unicode/utf8|math/big|encoding/json|regexp)\.")
COPIES_MAX = 60
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
def copies(version):
    right, total = traced(version, "", NAMES)
    expect(right >= total * LEAST or version == "1.15", f"{right} of {total} are there")


@test(version=some())
def copies_at_return(version):
    right, _ = traced(version, "r:", RETURNS)
    expect(right, "none is there")


@test(version=some())
def copies_predicate(version):
    """Of copies where it cannot be computed none is traced; others are."""
    with Target("copies", version) as target:
        text, said = trace(target, ':main.bump (x == 1) "%d %d", x, y', ":main.swapped (a == 1)")
        expect("it is optimised out in this inlined copy" in said, f"no word of it: {said}")
        got = [row.text.split() for row in rows(text)]
        expect(got and all(x == "1" for x, *_ in got), f"got {got}")


def symbols(path):
    lines = [line.split(None, 2) for line in run(["nm", path]).stdout.splitlines()]
    return {parts[2] for parts in lines if len(parts) == 3 and parts[1] in "tT"}


def scalars(target, names):
    """function -> how often it was given which number, bool or string as which parameter, and how
    many arguments were seen"""
    text, _ = trace(target, "-j", *(f":{n}" for n in names))
    given, seen = collections.defaultdict(collections.Counter), 0
    for call in map(json.loads, text.splitlines()):
        for key, value in parts(call["message"]).items():
            seen += 1
            if SCALAR.match(value):
                given[call["func"]][key, value] += 1
    return given, seen


def without_inlining(folder, version):
    """The fixture of the same sources, and its libraries, with each function for itself"""
    goroot, path = toolchain(version), os.path.join(folder, "stdlib")
    env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GO111MODULE="off", GOFLAGS="",
               GOCACHE=os.path.join(os.path.dirname(goroot), "gocache"), CGO_ENABLED="0")
    sources = [f"{TESTS}/fixtures/{name}.go" for name in ("stdlib", "control")]
    built = run([f"{goroot}/bin/go", "build", "-gcflags=all=-l", "-o", path, *sources], env=env,
                timeout=300)
    expect(built.returncode == 0, f"cannot build it: {built.stderr}")
    return path


@test(version=lambda: [v for v in ("1.15", "1.19", "1.27") if len(versions()) > 5])
def copies_in_library(version):
    """What copies in Go's own library are given is what its functions are given where nothing is
    inlined."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder, \
            Target("stdlib", version) as inlined, \
            Target("stdlib", version, path=without_inlining(folder, version)) as plain:
        names = sorted(n for n in symbols(plain.path) - symbols(inlined.path)
                       if LIBRARY.match(n) and not re.search(r"[\[\u00b7]|\.func|-fm|\.init", n))
        known = run([tool_path("gofuncs"), "--inlined", f"{inlined.path}:*"]).stdout.splitlines()
        names = [n for n in names if n in set(known)][:COPIES_MAX]
        expect(len(names) > 20, f"copies of {names} only")
        given, _ = scalars(inlined, names)
        calls, _ = scalars(plain, names)
    expect(sum(sum(c.values()) for c in given.values()) > 200, "too little was seen")
    for name, counts in given.items():
        expect(not counts - calls[name], f"{name}: {counts - calls[name]}")
