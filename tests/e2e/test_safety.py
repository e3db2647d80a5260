# SPDX-License-Identifier: Apache-2.0
"""What a tracer must never do to a program: change what it computes, stop it, leave something
behind. Everything in it is probed at once, while it checks what it computes."""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import tempfile
import time

from harness import (Target, Tool, compare_counts, counted, expect, newest, run, some_versions,
                     test, toolchain, versions)

TOOLS = ["gofunccount", "gofunclatency"]
# What is compiled: without imports, and the smaller where each call takes the longer.
PACKAGES = {"gofunccount": "unicode/utf8", "gofunclatency": "unicode/utf16"}


def compilers():
    """The newest; with --all an old one, too"""
    return sorted({"1.19", newest()}) if len(versions()) > 5 else [newest()]


class Compiler:
    """A private copy of a version's compiler, and a command that compiles one package with it"""

    def __init__(self, folder, version, package):
        self.goroot = toolchain(version)
        self.path = os.path.join(folder, "compile")
        self.output = os.path.join(folder, "out.o")
        shutil.copy(f"{self.goroot}/pkg/tool/linux_amd64/compile", self.path)
        sources = [s for s in sorted(glob.glob(f"{self.goroot}/src/{package}/*.go"))
                   if not s.endswith("_test.go")]
        config = os.path.join(folder, "importcfg")
        open(config, "w", encoding="utf-8").close()
        self.command = [self.path, "-p", package, "-complete", "-importcfg", config,
                        "-o", self.output, *sources]
        self.env = dict(os.environ, GOROOT=self.goroot)

    def digest(self):
        with open(self.output, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        os.unlink(self.output)
        return digest


@test(tool=TOOLS, version=compilers, seldom=lambda version, **_: version != newest())
def compile_traced(tool, version):
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(folder, version, PACKAGES[tool])
        result = run(compiler.command, env=compiler.env)
        expect(result.returncode == 0, result.stderr)
        plain = compiler.digest()
        with Tool(tool, "-j", f"{compiler.path}:*") as tracer:
            tracer.tracing()
            result = run(compiler.command, env=compiler.env, timeout=240)
            expect(result.returncode == 0, f"the compiler failed: {result.stderr[-300:]}")
            expect(compiler.digest() == plain, "the compiler's output is another")
            records = tracer.stop()
        if tool == "gofunccount":
            expect(len(counted(records)) > 1000, f"{len(counted(records))} functions were called")
        else:
            expect(records[0]["count"] > 10000, f"{records[0]['count']} calls")


def executable_maps(pid):
    """(address, length, file offset) of the executable's code in a process"""
    exe = os.readlink(f"/proc/{pid}/exe")
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            span, mode, off, _, _, *name = line.split(maxsplit=5)
            if "x" in mode and name and name[0].strip() == exe:
                low, high = (int(a, 16) for a in span.split("-"))
                yield low, high - low, int(off, 16)


def expect_untouched(pid):
    """No breakpoint is left: the code in memory is the code in the file."""
    found = False
    with open(f"/proc/{pid}/exe", "rb") as file, open(f"/proc/{pid}/mem", "rb") as memory:
        for addr, size, off in executable_maps(pid):
            found = True
            file.seek(off)
            memory.seek(addr)
            expect(file.read(size) == memory.read(size)[:size], "breakpoints were left behind")
    expect(found, "the process has no code")


@contextlib.contextmanager
def busy(name, version, flavour="plain", args=()):
    """A fixture that works and checks itself until told to end; what it checked in the end"""
    with Target(name, version, flavour, args=args) as target:
        yield target
        expect(target.child.poll() is None, f"the target died: {target.said()}")
        expect_untouched(target.target_pid)
        target.go()
        status = target.wait(120)
        said = target.out.text()
        expect(status == 0 and "WRONG" not in said, f"the target ended with {status}: {target.said()}")
        checks = int(re.search(r"checked (\d+)", said).group(1))
        expect(checks > 0, "the target checked nothing")


def trace_for(seconds, target, tool, *args):
    """Traces a busy target; it must live, and what the tool says must make sense."""
    with Tool(tool, "-j", *args) as tracer:
        tracer.tracing()
        end = time.monotonic() + seconds
        while time.monotonic() < end and target.child.poll() is None:
            time.sleep(0.1)
        expect(target.child.poll() is None, f"the target died: {target.said()}")
        expect(sum(r["count"] for r in tracer.stop()) > 0, "nothing was called")


@test(tool=TOOLS, version=some_versions)
def everything(tool, version):
    """All functions of a program that collects, grows, preempts, signals, forks and panics"""
    with busy("stress", version, "cgo" if version == "1.19" else "plain") as target:
        trace_for(3, target, tool, f"{target.path}:*")


@test(alone=True)
def everything_twice():
    """Both tools at once on all functions, under full load on all CPUs"""
    with busy("steady", newest(), args=[f"threads={os.cpu_count()}"]) as target:
        with Tool("gofunccount", "-j", f"{target.path}:*") as counter:
            counter.tracing()
            trace_for(3, target, "gofunclatency", "-F", f"{target.path}:*")
            expect(counted(counter.stop()).get("main.fib", 0) > 0, "nothing was counted")


@test(tool=TOOLS, version=lambda: sorted({"1.19", newest()}))
def refused_first(tool, version):
    """Functions that begin with lock or int3 are left out and named, and the others are right."""
    with Target("refused", version, args=["n=3000"]) as target:
        with Tool(tool, "-j", "-v", f"{target.path}:main.adds*",
                  f"{target.path}:runtime.breakpoint") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            records = tracer.stop()
            said = tracer.err.text()
    if tool == "gofunccount":
        compare_counts(truth, records, only=["main.addsPlainly"])
    else:
        expect(records[0]["count"] == 3000, f"{records[0]['count']} calls of 3000")
    for name in "main.addsLocked", "runtime.breakpoint":
        expect(f"{name} is left out" in said, f"{name} is not named: {said[-300:]}")
