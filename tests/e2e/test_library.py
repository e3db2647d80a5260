# SPDX-License-Identifier: Apache-2.0
"""A library of Go, linked into a program of C."""

import os
import shutil
import tempfile

from harness import (TESTS, Process, Tool, compare_latency, counted, expect, newest, run, test,
                     toolchain)

TOOLS = ["gofunccount", "gofunclatency", "gotrace"]
SOURCES = TESTS + "/fixtures/library"


def build(folder, version):
    """Path of the program; libgo.so lies beside it."""
    goroot = toolchain(version)
    module = f"{folder}/library"
    os.mkdir(module)
    shutil.copy(f"{SOURCES}/lib.go", module)
    shutil.copytree(f"{SOURCES}/mix", f"{module}/mix")
    with open(f"{module}/go.mod", "w", encoding="utf-8") as file:
        file.write("module library\n")
    env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GO111MODULE="on", GOFLAGS="-mod=mod",
               GOWORK="off", GOPROXY="off", CGO_ENABLED="1",
               GOCACHE=os.path.dirname(goroot) + "/gocache")
    for command in ([f"{goroot}/bin/go", "build", "-buildmode=c-shared", "-o",
                     f"{folder}/libgo.so", "."],
                    ["gcc", "-o", f"{folder}/host", f"{SOURCES}/host.c", f"-L{folder}", "-lgo",
                     "-Wl,-rpath,$ORIGIN"]):
        built = run(command, env=env, cwd=module)
        expect(built.returncode == 0, built.stderr[-400:])
    return f"{folder}/host"


def naps(records):
    return counted(records).get("main.nap", 0) + sum(
        r.get("count", 1) for r in records if r.get("type") in ("latency", "call"))


@test(tool=TOOLS, version=lambda: ["1.19", newest()], way=["multi", "stub"],
      seldom=lambda version, way, **_: (way == "stub") == (version == newest()))
def library(tool, version, way):
    """In any way of attaching; libraries lie elsewhere in each process"""
    env = dict(os.environ, GOTOOLS_ATTACH=way)
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder, version)
        with Process([host]) as target:
            target.wait_line("ready")
            with Tool(tool, "-j", "-p", target.pid, f"{folder}/libgo.so:main.nap", env=env) as tracer:
                tracer.tracing()
                target.say()
                expect(naps(tracer.records()) == 50, "not 50 calls")
            expect(target.wait() == 0, target.said())


@test(tool=TOOLS)
def library_command(tool):
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder, newest())
        with Tool(tool, "-j", f"{folder}/libgo.so:main.nap", "--", host, "now") as tracer:
            expect(naps(tracer.records()) == 50, "not 50 calls")


def track(name, calls):
    return {"func": name, "calls": calls, "returned": calls, "panicked": 0, "exited": 0,
            "running": 0, "ns": []}


TRUTH = [track("main.nap", 50), track("library/mix.Twice", 50), track("library/mix.once", 100)]


@test(version=lambda: list(dict.fromkeys(["1.15", "1.19", newest()])))
def library_assembly(version):
    """Where the goroutine's register is used for something else, g is found by the library's own
    word for it; in Go before 1.17 everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder, version)
        with Tool("gofunclatency", "-jF", f"{folder}/libgo.so:main.nap",
                  f"{folder}/libgo.so:library/mix.*", "--", host, "now") as tracer:
            compare_latency(TRUTH, tracer.records())


@test(version=lambda: list(dict.fromkeys(["1.15", newest()])))
def library_assembly_printed(version):
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder, version)
        with Tool("gotrace", "-j", f'r:{folder}/libgo.so:library/mix.* "%d %d", $goid, $latency',
                  "--", host, "now") as tracer:
            calls = [r for r in tracer.records() if r.get("type") == "call"]
        expect(len(calls) == 150, f"{len(calls)} calls")
        expect(all(c["goid"] and c["latency_ns"] for c in calls), f"{calls[:3]}")
