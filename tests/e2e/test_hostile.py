# SPDX-License-Identifier: Apache-2.0
"""Programs that break tracers which follow calls: how every call ended, exactly."""

from harness import (Target, Tool, compare_counts, compare_latency, expect, newest, some_versions,
                     test, two_versions)

CASES = {"recursion": 10000, "crowd": 10000, "unwinding": 1500, "faults": 100, "nesting": 20,
         "leaving": 50}


@test(case=list(CASES), version=some_versions)
def hostile_latency(case, version):
    with Target("hostile", version, args=[case, f"n={CASES[case]}"]) as target:
        with Tool("gofunclatency", "-j", "-F", "-p", target.target_pid, ":main.*") as tracer:
            tracer.tracing()
            target.go()
            compare_latency([t for t in target.truth() if t["calls"]], tracer.records())


@test(case=list(CASES), version=lambda: [newest()])
def hostile_count(case, version):
    with Target("hostile", version, args=[case, f"n={CASES[case]}"]) as target:
        with Tool("gofunccount", "-j", "-p", target.target_pid, ":main.*") as tracer:
            tracer.tracing()
            target.go()
            compare_counts(target.truth(), tracer.records())


@test(version=two_versions)
def ended_goroutines(version):
    """Of a goroutine that has ended nothing is kept, though all of the runtime is timed."""
    with Target("hostile", version, args=["crowd", "n=3000"]) as target:
        with Tool("gofunclatency", "-j", "-F", "-p", target.target_pid, ":*") as tracer:
            tracer.tracing()
            target.go()
            target.truth()
            records = [r for r in tracer.records() if r["type"] == "latency"]
            compare_latency([{"func": "main.inCrowd", "calls": 3000, "returned": 3000, "panicked": 0,
                              "exited": 0, "running": 0, "ns": []}], records)
            running = sum(r["running"] for r in records)
            expect(running < 1000, f"{running} calls are said to be going on")
