# SPDX-License-Identifier: Apache-2.0
"""A library of Go, linked into a program of C."""

import os
import tempfile

from harness import TESTS, Process, Tool, counted, expect, newest, run, test, toolchain

TOOLS = ["gofunccount", "gofunclatency", "gotrace"]
SOURCES = TESTS + "/fixtures/library"


def build(folder, version):
    """Path of the program; libgo.so lies beside it."""
    goroot = toolchain(version)
    env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GO111MODULE="off", GOFLAGS="",
               CGO_ENABLED="1", GOCACHE=os.path.dirname(goroot) + "/gocache")
    for command in ([f"{goroot}/bin/go", "build", "-buildmode=c-shared", "-o",
                     f"{folder}/libgo.so", f"{SOURCES}/lib.go"],
                    ["gcc", "-o", f"{folder}/host", f"{SOURCES}/host.c", f"-L{folder}", "-lgo",
                     "-Wl,-rpath,$ORIGIN"]):
        built = run(command, env=env)
        expect(built.returncode == 0, built.stderr[-400:])
    return f"{folder}/host"


def naps(records):
    return counted(records).get("main.nap", 0) + sum(
        r.get("count", 1) for r in records if r.get("type") in ("latency", "call"))


@test(tool=TOOLS, version=lambda: ["1.19", newest()])
def library(tool, version):
    with tempfile.TemporaryDirectory() as folder:
        host = build(folder, version)
        with Process([host]) as target:
            target.wait_line("ready")
            with Tool(tool, "-j", "-p", target.pid, f"{folder}/libgo.so:main.nap") as tracer:
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
