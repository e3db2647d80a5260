# SPDX-License-Identifier: Apache-2.0
"""Programs that break tracers which follow calls: how every call ended, exactly."""

from harness import Target, Tool, compare_counts, compare_latency, newest, test, versions

def some_versions():
    return sorted({versions()[0], "1.19", newest()}, key=lambda v: int(v[2:]))


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
