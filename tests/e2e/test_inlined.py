# SPDX-License-Identifier: Apache-2.0
"""Functions that exist only as inlined copies."""

import re

from harness import (Target, Tool, compare_counts, compare_latency, counted, expect, test,
                     versions)

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


@test(version=versions, flavour=["plain", "strip"])
def println_count(version, flavour):
    with Target("hello", version, flavour) as target:
        truth, records, said = trace("gofunccount", target, ":fmt.Println")
        compare_counts(truth, records)
        expect("fmt.Println is inlined: tracing 2 copies, in main.greet, main.part" in said,
               f"no word of the copies: {said}")


@test(version=versions, flavour=["plain", "strip"])
def println_latency(version, flavour):
    with Target("hello", version, flavour) as target:
        truth, records, _ = trace("gofunclatency", target, "-F", ":fmt.Println")
        compare_latency(truth, records)


@test(version=versions, flavour=["plain", "strip", "pie"])
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
        _, records, _ = trace("gofunccount", target, ":main.*")
        expect("main.forward" not in counted(records), "a pattern took inlined copies")


@test(version=versions)
def forwarder_latency(version):
    with Target("inlined", version) as target:
        truth, records, _ = trace("gofunclatency", target, "-F", ":main.forwardTimed")
        compare_latency(truth, records, only=["main.forwardTimed"])
