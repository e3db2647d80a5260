# SPDX-License-Identifier: Apache-2.0
"""Arguments of inlined functions of Go's standard library, read in stripped programs from the calls
that their copies make; and the table of these functions, against Go's sources."""

import collections
import re

from harness import (TESTS, Target, expect, fixture, run, some_versions, test, toolchain,
                     versions)

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
        text, said = trace(target, *(":" + name for name in told))
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


@test(version=releases)
def table(version):
    """Each row is what the release's sources say."""
    toolchain(version)
    checked = run([TESTS + "/forwarders/table", "--check", version], timeout=400)
    expect(checked.returncode == 0, checked.stdout[-2000:])
