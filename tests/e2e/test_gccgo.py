# SPDX-License-Identifier: Apache-2.0
"""Programs of gccgo, and libgo.so."""

import re
import tempfile

from harness import (Process, Target, Tool, compare_counts, compare_latency, counted, expect,
                     fixture, run, test, tool_path, versions)
from test_fixtures import measure

FEW = ["segments", "calls", "panics"]
CALLS = 20
MORE = ["early", "grow", "many", "migrate", "preempt", "recurse"]


def names():
    return FEW + MORE if len(versions()) > 5 else FEW


def without_removed(compare):
    """GCC leaves out the calls of a function that does nothing."""
    def chosen(truth, records):
        compare(truth, records, {t["func"] for t in truth} - {"main.emptyCall"})
    return chosen


@test(name=names)
def count_gccgo(name, flavour="plain"):
    measure("gofunccount", name, "gccgo", flavour, without_removed(compare_counts))


@test(name=names)
def latency_gccgo(name, flavour="plain"):
    measure("gofunclatency", name, "gccgo", flavour, without_removed(compare_latency), "-F")


@test(name=lambda: ["panics"] if len(versions()) <= 5 else names())
def latency_gccgo_static(name):
    latency_gccgo(name, "static")


def goids(records):
    return sorted(r["goid"] for r in records if r.get("type") == "call")


@test(flavour=lambda: ["plain", "static"] if len(versions()) > 5 else ["plain"])
def trace_gccgo(flavour):
    """Goroutines know their IDs; calls that a panic or Goexit ends are not said to return."""
    with Target("segments", "gccgo", flavour) as target, \
            Tool("gotrace", "-j", "-p", target.target_pid, 'main.tell "x"', 'r:main.tell "x"',
                 'r:main.catches "x"') as tracer:
        tracer.tracing()
        target.go()
        target.truth()
        own = [int(g) for g in re.findall(r"^goroutine (\d+)$", target.out.text(), re.M)]
        records = tracer.records()
    got = {f: goids([r for r in records if r.get("func") == f]) for f in ("main.tell", "main.catches")}
    expect(own and got["main.tell"] == sorted(own + own), f"{got['main.tell']}, in truth {own}")
    expect(len(got["main.catches"]) == len(own), f"{len(got['main.catches'])} calls of catches")


def ways():
    tools, how = ["gofunccount", "gofunclatency", "gotrace"], ["go:", "pid", "command"]
    return [(t, h) for t in tools for h in how] if len(versions()) > 5 else list(zip(tools, how))


@test(way=ways)
def libgo(way):
    """libgo.so is not the test's own: what other programs do with it is left out."""
    tool, how = way
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/hello"
        run(["cp", fixture("greets", "gccgo", "alone"), path])
        if how == "command":
            with Tool(tool, "-j", "go:fmt.Println", "--", path, CALLS, "now") as tracer:
                check_libgo(tool, tracer.records(), True)
            return
        with Process([path, str(CALLS)]) as target:
            target.wait_line("ready")
            pid = ["-p", target.pid] if how == "pid" else []
            with Tool(tool, "-j", *pid, "go:fmt.Println") as tracer:
                tracer.tracing()
                target.say()
                expect(target.wait() == 0, target.said())
                check_libgo(tool, tracer.records() if pid else tracer.stop(), bool(pid))


def check_libgo(tool, records, alone):
    if tool == "gofunccount":
        got = counted(records).get("fmt.Println", 0)
    else:
        got = sum(r.get("count", 1) for r in records if r.get("type") in ("latency", "call"))
    expect(got == CALLS or (got > CALLS and not alone), f"{got} calls of fmt.Println, not {CALLS}")


@test()
def list_gccgo():
    """Names as Go has them, of the program and of the library."""
    listed = run([tool_path("gofuncs"), f"{fixture('calls', 'gccgo')}:main.*"]).stdout.split("\n")
    for name in ("main.(*Thing).Pointer", "main.Thing.Value", "main.main", "main.init"):
        expect(name in listed, f"no {name}")
    listed = run([tool_path("gofuncs"), "go:net/http.*"]).stdout.split("\n")
    for name in ("net/http.(*conn).serve", "net/http.Header.Get", "net/http.HandlerFunc.ServeHTTP"):
        expect(name in listed, f"no {name}")


@test()
def stripped_gccgo():
    got = run([tool_path("gofuncs"), f"{fixture('greets', 'gccgo', 'strip')}:main.*"])
    expect("main.main" in got.stdout.split(), got.stderr)


@test()
def refused_gccgo():
    with tempfile.TemporaryDirectory() as folder:
        run(["strip", "-o", f"{folder}/bare", fixture("calls", "gccgo", "static")])
        got = run([tool_path("gofuncs"), f"{folder}/bare:main.*"])
        expect(got.returncode == 1 and "a gccgo program without symbols" in got.stderr, got.stderr)
