# SPDX-License-Identifier: Apache-2.0
"""A page of code with a breakpoint is memory that the traced process pays for: how much that is, and
what becomes of processes that may not have it."""

import contextlib
import os
import re
import shutil
import tempfile

from cgroups import cgroup
from harness import Process, Tool, expect, newest, run, test, tool_path, toolchain

LIMIT = 10 << 20


def memory_cgroup(limit):
    """A folder of processes that may have so many bytes"""
    return cgroup("memory", {"memory.max": limit}, {"memory.limit_in_bytes": limit})


@contextlib.contextmanager
def compiler(limit=None):
    """Go's compiler, that waits for its source: (process, path, folder of the cgroup)"""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bcc-gotools-"))
        group = stack.enter_context(memory_cgroup(limit)) if limit else "/nowhere"
        path = os.path.join(folder, "compile")
        shutil.copy(toolchain(newest()) + "/pkg/tool/linux_amd64/compile", path)
        os.mkfifo(folder + "/in.go")
        enter = f"echo $$ >{group}/cgroup.procs; " if limit else ""
        process = stack.enter_context(Process(
            ["sh", "-c", enter + f"exec {path} -p main -o /dev/null {folder}/in.go"]))
        for _ in range(1000):
            if os.readlink(f"/proc/{process.pid}/exe") == path and \
                    "fifo_open" in open(f"/proc/{process.pid}/wchan", encoding="utf-8").read():
                break
            run(["sleep", "0.01"])
        yield process, path, group


def compile_something(process, path):
    """Its exit status"""
    source = os.path.dirname(path) + "/in.go"
    with Process(["sh", "-c", f"echo 'package main; func main() {{}}' >{source}"]):
        return process.wait(60)


def private_text(pid, path):
    """kB of the mapping of the code that are not the file's"""
    smaps = open(f"/proc/{pid}/smaps", encoding="utf-8").read()
    return int(re.search(r"r-xp .*" + re.escape(path) + r"\n(?:.*\n)*?Anonymous: +(\d+)", smaps)[1])


@test()
def estimate_is_what_it_takes():
    with compiler() as (process, path, _), \
            Tool("gofunccount", "-v", "-p", process.pid, "*") as tool:
        tool.tracing()
        said = re.search(r"Breakpoints take .* of memory \((\d+) pages", tool.out.text())
        kb = private_text(process.pid, path)
        expect(kb == 4 * int(said[1]) > 1000, f"{kb} kB are private; {said[0]}")
        expect(compile_something(process, path) == 0, process.said())


@test(tool=["gofunccount", "gotrace"])
def too_little_memory(tool):
    """It would be killed: refused, and the process goes on."""
    pattern = "* \"%d\", $goid" if tool == "gotrace" else "*"
    with compiler(LIMIT) as (process, path, group):
        with Tool(tool, "-p", process.pid, pattern) as tracer:
            status = tracer.wait()
        said = tracer.err.text()
        expect(status == 1 and "too little to be safe" in said, tracer.said())
        expect(re.search(rf"breakpoints take .* in process {process.pid}, and memory cgroup {group} "
                         r"has room for [0-9.]+ [KM]iB", said), said)
        expect("hint:" in said and "--force" in said, said)
        status = compile_something(process, path)
        expect(status == 0, f"the compiler ended with {status}: {process.said()}")


@test()
def forced():
    """What the user insists on: here the kernel kills the process, or has no memory for the probes, or what
    is left is enough."""
    with compiler(LIMIT) as (process, _, _):
        with Tool("gofunccount", "--force", "-d", "0.1", "-p", process.pid, "*") as tool:
            status = tool.wait()
            said = tool.err.text()
            expect("breakpoints take" in said, said)
            expect(re.search("^gofunccount: cannot attach", said, re.M) if status else
                   "too little" not in said, said)


@test()
def enough_memory():
    """More than a tenth of what is left is said, less is not."""
    with compiler(40 << 20) as (process, path, _):
        with Tool("gofunccount", "-d", "0.1", "-p", process.pid, "*") as tool:
            expect(tool.wait() == 0 and "breakpoints take" in tool.err.text(), tool.said())
        with Tool("gofunccount", "-d", "0.1", "-p", process.pid, "main.*") as tool:
            expect(tool.wait() == 0 and "breakpoints take" not in tool.err.text(), tool.said())
        expect(compile_something(process, path) == 0, process.said())


@test()
def every_process_of_the_file():
    """Without -p all that run the file pay, each in its own cgroup."""
    with compiler(LIMIT) as (process, path, group):
        with Process([path, "-V=full"]) as other, \
                Tool("gofunccount", "-d", "0.1", path + ":*") as tool:
            expect(tool.wait() == 1 and f"in process {process.pid}" in tool.err.text()
                   and group in tool.err.text(), tool.said())
            other.wait()
        expect(compile_something(process, path) == 0, process.said())


@test()
def descendants_pay_as_the_command():
    """What COMMAND starts, and that none runs yet of, is in COMMAND's memory cgroup, which is the tool's. The
    tool's program was compiled before: what it takes itself does not depend on who ran before."""
    with tempfile.TemporaryDirectory() as folder, memory_cgroup(64 << 20) as group:
        path = shutil.copy(f"{toolchain(newest())}/pkg/tool/linux_amd64/compile", folder)
        env = dict(os.environ, GOTOOLS_CACHE=folder + "/programs")
        before = run([tool_path("gofunccount"), f"{path}:main.main", "--", path, "-V"], env=env)
        expect(before.returncode == 0, before.stderr)
        with Process(["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh", tool_path("gofunccount"),
                      f"{path}:*", "--", "sh", "-c", f"{path} -V"], env=env) as tool:
            tool.wait()
            if "breakpoints take" not in tool.err.text() and tool.child.returncode < 0:
                raise Skip("the tool itself takes more memory here")
            expect(re.search(r"breakpoints take .* in process \d+, and memory cgroup "
                             rf"{group} has room for [0-9.]+ [KM]iB", tool.err.text()), tool.said())
