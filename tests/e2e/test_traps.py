# SPDX-License-Identifier: Apache-2.0
"""What the kernel refuses, what it gets wrong, and other tracers at the same places."""

import ctypes
import os
import re
import struct

from harness import (Target, Tool, compare_counts, compare_latency, expect, json_lines, newest, run,
                     some_versions, test, tool_path)

TOOLS = ["gofunccount", "gofunclatency"]
PERF_EVENT_OPEN = 298  # x86-64
EVENTS = "/sys/bus/event_source/devices/uprobe/type"


class ForeignProbe:
    """A uprobe of another tracer: a perf event that counts. bcc 0.26's Python side asks for a
    reference counter at a garbage offset."""

    def __init__(self, path, offset, counter_offset=0):
        self.path = ctypes.create_string_buffer(path.encode())
        kind = int(open(EVENTS, encoding="ascii").read())
        attr = struct.pack("<IIQQQQQIIQQ", kind, 112, counter_offset << 32, 0, 0, 0, 0, 0, 0,
                           ctypes.addressof(self.path), offset).ljust(112, b"\0")
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(PERF_EVENT_OPEN, attr, -1, 0, -1, 8)
        expect(self.fd >= 0, f"no perf event: {os.strerror(ctypes.get_errno())}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


def sites(path, function):
    """File offsets of a function's entry and return sites"""
    listed = json_lines(run([tool_path("gofuncs"), "-v", "-j", f"{path}:{function}"]).stdout)
    found = listed[0]["functions"][0]
    return [found["entry"]["off"], *(r["off"] for r in found["returns"])]


@test(tool=TOOLS)
def shared_sites(tool):
    """Another tracer's probes at the same places change nothing."""
    with Target("recurse", newest()) as target:
        probes = [ForeignProbe(target.path, off) for off in sites(target.path, "main.pingOnce")]
        try:
            with Tool(tool, "-j", "-p", target.target_pid,
                      *(["-F"] if tool == "gofunclatency" else []), ":main.*") as tracer:
                tracer.tracing()
                target.go()
                truth = target.truth()
                compare = compare_counts if tool == "gofunccount" else compare_latency
                compare(truth, tracer.records())
        finally:
            for probe in probes:
                os.close(probe.fd)


@test(tool=TOOLS)
def contradicting_probe(tool):
    """A tracer that asks for a reference counter excludes others: said, not passed over."""
    with Target("recurse", newest(), args=["goroutines=1"]) as target:
        entry = sites(target.path, "main.pingOnce")[0]
        with ForeignProbe(target.path, entry, counter_offset=0x1234560):
            result = run([tool_path(tool), "-d", "1", f"{target.path}:main.pingOnce"])
            expect(result.returncode == 1, f"{result}")
            expect(re.search("another|other|already", result.stderr), result.stderr)
            with Tool(tool, f"{target.path}:main.p[io]ngOnce", "-r") as tracer:
                tracer.tracing()
                target.go()
                target.truth()
                tracer.signal(2)
                expect(tracer.wait() == 0, tracer.said())
                expect("main.pingOnce" in tracer.err.text() or
                       re.search(r"\b1 ", tracer.err.text()), tracer.said())


@test(tool=TOOLS)
def contradicting_reason(tool):
    """It is the reason that is named, though another function is left out for another."""
    with Target("refused", "1.19") as target:
        entry = sites(target.path, "main.addsPlainly")[0]
        with ForeignProbe(target.path, entry, counter_offset=0x1234560):
            result = run([tool_path(tool), "-d", "1", "-p", str(target.target_pid), ":main.adds*"])
            expect(result.returncode == 1 and "another tracer" in result.stderr, f"{result}")


@test(tool=TOOLS, version=some_versions)
def write_barriers(tool, version):
    """Every function of a program that stores pointers under the collector's eyes: to Go 1.19 one
    begins with xchg %rax,%r8, which the kernel takes for a nop when it is probed."""
    with Target("barriers", version) as target:
        with Tool(tool, "-p", target.target_pid, ":*") as tracer:
            tracer.tracing()
            target.go()
            status = target.wait()
            expect(status == 0 and "checked 500" in target.out.text(), target.said())
            expect(tracer.wait() == 0, tracer.said())


@test(tool=TOOLS, version=some_versions)
def refused(tool, version):
    """Functions that the kernel refuses to probe are left out, named under -v; the rest is traced."""
    with Target("process", version) as target:
        with Tool(tool, "-v", "-p", target.target_pid, ":*") as tracer:
            tracer.tracing()
            target.go()
            expect(tracer.wait() == 0, tracer.said())
            expect("runtime.abort is left out" in tracer.err.text(), tracer.err.text()[-600:])


@test(tool=TOOLS, version=["1.15", "1.27"])
def long_nops(tool, version):
    """Linux 6.18 and later make a call of a long nop that is probed, and what is called writes below the stack
    pointer, where goroutines may have no room: no probe stands there, and all calls are seen. A function that
    has no other place is left out."""
    with Target("longnops", version) as target:
        with Tool(tool, "-j", "-p", target.target_pid, *(["-F"] if tool == "gofunclatency" else []),
                  "*/below.*") as tracer:
            tracer.tracing()
            target.go()
            truth = {track["func"]: track["calls"] for track in target.truth()}
            counts = {r["func"].rpartition(".")[2]: r["count"] for r in tracer.records() if r.get("func")}
        written = {r["name"]: r["written"] for r in json_lines(target.out.text()) if "written" in r}
    expect(len(written) == len(truth) == 10 and not any(written.values()), f"written to: {written}")
    expect("below.jump is left out: newer kernels write to the stack" in tracer.err.text(), tracer.err.text())
    wrong = {name for name in truth if counts.get(name) != truth[name]}
    expect(wrong == {"jump"}, f"{wrong}: {counts} of {truth}")
