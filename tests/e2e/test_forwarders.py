# SPDX-License-Identifier: Apache-2.0
"""Arguments of inlined functions of Go's standard library, read in stripped programs from the calls
that their copies make; and the table of these functions, against Go's sources."""

import collections
import json
import re

from harness import (TESTS, Target, expect, fixture, run, some_versions, test, tool_path,
                     toolchain, versions)

from gotrace import rows, trace

GONE = "<optimised out>"
# in every release; others are functions of their own, or something else, in some
ALWAYS = {"fmt.Println", "fmt.Printf", "fmt.Print", "strings.Split", "strings.SplitN", "os.Open",
          "os.Create", "os.Rename", "strings.Contains", "strings.ReplaceAll",
          "net/url.QueryEscape", "path/filepath.Join", "regexp.Compile", "flag.Int", "bytes.Split"}


def split(text):
    """NAME=VALUE parts"""
    return re.split(r" (?=\w+=)", text)


def is_same(said, told):
    """Each parameter is what the program passed, or is said to be gone"""
    said, told = split(said), split(told)
    return len(said) == len(told) and all(
        s == t or s == t.split("=")[0] + "=" + GONE for s, t in zip(said, told))


def missing(told, got):
    """The first told that does not come in its place among what was got: the program's own packages
    call these functions as well"""
    rest = iter(got)
    for text in told:
        if not any(is_same(said, text) for said in rest):
            return text
    return None


def told_by(path):
    """{function: what is passed to it, call by call}"""
    told = collections.defaultdict(list)
    for line in run([path, "now"]).stdout.splitlines():
        name, tab, text = line.partition("\t")
        if tab and re.match(r"[\w/]+\.\w+$", name):
            told[name].append(text)
    return told


def releases():
    """With --all: each takes seconds"""
    return versions() if len(versions()) > 5 else []


@test(version=some_versions)
def arguments(version):
    told = told_by(fixture("forwarders", version, "strip"))
    with Target("forwarders", version, "strip") as target:
        text, said = trace(target, "--full-names", *(":" + name for name in told))
    got = collections.defaultdict(list)
    for row in rows(text):
        got[row.func].append(row.text)
    # where the callee is inlined as well, nothing may be known
    inlined = {name for name in told if f"{name} is inlined" in said and any(got[name])}
    expect(ALWAYS <= inlined, f"nothing of {ALWAYS - inlined}")
    for name in inlined:
        lost = missing(told[name], got[name])
        expect(lost is None, f"{name}: {lost} is not in its place in {got[name][:9]}")
    gone = [text for name in ALWAYS for text in got[name] if GONE in text]
    expect(not gone, f"not known: {gone[:3]}")


@test()
def table_as_made():
    """No row was changed since the tables were made, of releases that are not at hand either."""
    checked = run([TESTS + "/stdlib/table", "--digest"])
    expect(checked.returncode == 0, checked.stdout)


@test(version=releases)
def table(version):
    """Each row is what the release's sources say."""
    toolchain(version)
    checked = run([TESTS + "/stdlib/table", "--check", version], timeout=400)
    expect(checked.returncode == 0, checked.stdout[-2000:])


def listed(path):
    """{name: what gofuncs says of the function}"""
    done = run([tool_path("gofuncs"), "-j", path + ":*"])
    expect(done.returncode == 0, done.stderr)
    return {r["func"]: r["functions"][0] for r in map(json.loads, done.stdout.splitlines())
            if r["functions"]}


def places(function):
    return [[(v["size"], v["in"]) for v in function[key]] for key in ("args", "results")]


@test(version=some_versions)
def library_signatures(version):
    """What is known of the standard library's functions in a stripped program is what debug
    information says of the same program."""
    true, got = (listed(fixture("forwarders", version, f)) for f in ("plain", "strip"))
    known = [n for n in got if got[n]["types_from"] == "library"
             and true[n]["types_from"] == "debuginfo"]
    for name in known:
        expect(places(got[name]) == places(true[name]), f"{name}: {got[name]}, {true[name]}")
    names = [n for n in known if [v["name"] for v in got[n]["args"]] ==
             [v["name"] for v in true[n]["args"]]]
    expect(len(known) > 100 and len(names) >= 0.97 * len(known),
           f"{len(known)} known, {len(names)} by name: {[n for n in known if n not in names][:5]}")


@test()
def library_values():
    """A function of the standard library in a stripped program, by its parameters' names"""
    with Target("hello", "1.19", "strip", args=["lines=2"]) as target:
        text, _ = trace(target, 'r::fmt.Fprintln "%v %d %v", a, n, err')
    got = [row.text for row in rows(text)]
    expect(got[0] == '[]interface {}{"hello", 0} 8 nil' and len(got) == 4 and
           got[1].startswith('[]interface {}{"goodbye", 0, "/'), f"{text}")
