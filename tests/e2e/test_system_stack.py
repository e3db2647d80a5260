# SPDX-License-Identifier: Apache-2.0
"""Code on the runtime's system stacks: what never returns there, and stacks that go on from one stack
to another."""

import re
import tempfile

from harness import Tool, expect, newest, private_copy, test, versions

LEFT = re.compile(r"(\d+) calls left on a system stack")


def some():
    return list(dict.fromkeys([versions()[0], newest()]))


def left(version, flavour="plain"):
    """runtime.park_m looks for other work when it has parked a goroutine, and never returns: the next
    one begins where it stood. No panic ends it."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "migrate", version, flavour)
        with Tool("gofunclatency", "-j", f"{path}:runtime.park_m", "--", path, "now") as tracer:
            record = next(r for r in tracer.records() if r.get("type") == "latency")
            said = LEFT.search(tracer.err.text())
        expect(said and int(said[1]) > 1000, f"{said}, {record}")
        expect(record["count"] == record["panicked"] == record["exited"] == 0, f"{record}")


@test(version=some)
def left_on_system_stack(version):
    left(version)
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "migrate", version)
        with Tool("gotrace", "-j", "-M", "20", f'r:{path}:runtime.park_m "%d", $goid', "--", path,
                  "now") as tracer:
            calls = [r for r in tracer.records() if r.get("type") == "call"]
    expect(calls and all(c["how"] == "left" and c["goid"] == 0 for c in calls), f"{calls[:3]}")


@test()
def left_on_system_stack_of_gccgo():
    left("gccgo", "static")


@test(version=lambda: [newest()])
def frames_across_stacks(version):
    """A go statement runs on the thread's system stack, two functions deep: their callers are on the
    goroutine's."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "migrate", version)
        with Tool("gotrace", "-U", "-M", "6", f"{path}:runtime.newproc1", "--", path,
                  "now") as tracer:
            expect(tracer.wait() == 0, tracer.said())
            text = tracer.out.text()
    stacks = [re.findall(r"^ {8}(\S+) \+0x", part, re.M) for part in text.split("\n\n")]
    # the first goroutine is made on the first thread's own
    stacks = [names for names in stacks if names and names[-1] != "runtime.rt0_go"]
    expect(len(stacks) >= 3, text)
    for names in stacks:
        expect(names[:3] == ["runtime.newproc1", "runtime.newproc.func1", "runtime.systemstack"] and
               names[-1] == "runtime.main", f"{names}")
