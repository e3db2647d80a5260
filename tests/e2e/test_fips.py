# SPDX-License-Identifier: Apache-2.0
"""Programs in FIPS mode hash their own code when they start: they must live, and compute what they
always do, while everything in them is traced."""

import os
import tempfile

from harness import (Target, Tool, compare_counts, compare_latency, expect, newest, private_copy,
                     run, test, tool_path, tracks)

FIPS = dict(os.environ, GODEBUG="fips140=on")
INSIDE = "crypto/internal/fips140/sha512.(*Digest).Sum"
OUTSIDE = "crypto/sha512.Sum512"
PROBES = {"gofunccount": "*", "gofunclatency": "*", "gotrace": 'crypto/* "%d", $goid'}


def since_fips():
    return list(dict.fromkeys(["1.24", newest()]))


def expect_same(path, plain):
    """A new process of the file, in FIPS mode, ends as it did before."""
    again = run([path, "now"], env=FIPS)
    expect(again.returncode == 0, f"ended with {again.returncode}: {again.stderr[:300]}")
    expect(sum_of(again) == sum_of(plain), "another sum")


def sum_of(result):
    return next(line for line in result.stdout.splitlines() if line.startswith("sum "))


def started_while_traced(tool, version, flavour):
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "fips", version, flavour)
        plain = run([path, "now"], env=FIPS)
        expect(plain.returncode == 0, plain.stderr[:300])
        with Tool(tool, "-j", f"{path}:{PROBES[tool]}") as tracer:
            tracer.tracing()
            expect_same(path, plain)
            records = tracer.stop()
            said = tracer.err.text()
        expect("because FIPS mode checks their code" in said and "--fips" in said, said)
        return tracks(plain.stdout), records


@test(version=since_fips, flavour=["plain", "strip", "pie", "cgo", "cgopie"])
def fips_counted(version, flavour):
    truth, records = started_while_traced("gofunccount", version, flavour)
    compare_counts(truth, records, only=[OUTSIDE])


@test(version=since_fips, tool=["gofunclatency", "gotrace"])
def fips_traced(version, tool):
    _, records = started_while_traced(tool, version, "plain")
    expect(sum(r.get("count", 1) for r in records) > 40, f"{len(records)} records")


@test(version=since_fips, tool=["gofunccount", "gofunclatency"], flavour=["plain", "pie"])
def fips_taken(version, tool, flavour):
    """With --fips, of a process that runs already"""
    with Target("fips", version, flavour) as target:
        args = ["-F"] if tool == "gofunclatency" else []
        with Tool(tool, "-j", *args, "--fips", "-p", target.pid, INSIDE, OUTSIDE) as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            records = tracer.records()
            expect("--fips: a program that starts in FIPS mode" in tracer.err.text(),
                   tracer.said())
    compare = compare_latency if tool == "gofunclatency" else compare_counts
    compare(truth, records, only=[INSIDE, OUTSIDE])


@test(version=since_fips)
def fips_named(version):
    """Named alone, nothing is left, and the way out is said."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "fips", version)
        for pattern in (INSIDE, "crypto/internal/fips140/sha512.*"):
            result = run([tool_path("gofunccount"), f"{path}:{pattern}"])
            expect(result.returncode == 1, f"{pattern}: {result.returncode}")
            expect("\nhint: --fips " in result.stderr, result.stderr)


@test(version=since_fips)
def fips_listed(version):
    """gofuncs says the same, and its scripts leave them out or warn."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "fips", version)
        args = [tool_path("gofuncs"), f"{path}:{INSIDE}"]
        expect("no probe FIPS mode" in run([*args, "-v"]).stdout, "not said by -v")
        expect("entry  " in run([*args, "-v", "--fips"]).stdout, "not taken by --fips")
        for tracer in ("bpftrace", "bpftrace:latency", "bpftrace:args", "uprobe_events", "perf"):
            probes = [line for line in run([*args, f"--emit={tracer}"]).stdout.splitlines()
                      if path in line and "0x" in line and not line.startswith(("#", "//"))]
            said = run([*args, "--fips", f"--emit={tracer}"]).stdout
            # the runtime's hooks may stay
            expect(not probes or tracer == "bpftrace:latency", f"{tracer}: {probes}")
            expect("WARNING: --fips" in said, f"{tracer}: {said}")
