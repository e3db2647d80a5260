# SPDX-License-Identifier: Apache-2.0
"""With -p and -- COMMAND the probes are in that process alone: others of the same file run without
breakpoints, on the pages of the file."""

import json
import os
import re
import tempfile

from harness import (Target, Tool, counted, expect, json_lines, newest, private_copy, run, test, tool_path,
                     tracks)

WORK = "main.workCall"
WAYS = ["multi", "perf", "stub"]
THREADS = 5  # of the fixture


def calls(records):
    return counted(records).get(WORK, 0) + sum(
        r["count"] for r in records if r.get("type") == "latency")


def way_of(way):
    return dict(os.environ, GOTOOLS_ATTACH=way)


def site(path):
    """File offset of the probe"""
    said = run([tool_path("gofuncs"), "-j", "-v", f"{path}:{WORK}"]).stdout
    return json.loads(said.splitlines()[0])["functions"][0]["entry"]["off"]


def text_of(pid, path):
    """(address, file offset, kB of private changed memory) of the mapping of the file's code"""
    found = None
    for line in open(f"/proc/{pid}/smaps", encoding="utf-8"):
        head = re.match(r"([0-9a-f]+)-[0-9a-f]+ r-xp ([0-9a-f]+) \S+ \d+ +(.*)\n", line)
        if head and head[3] == path:
            found = [int(head[1], 16), int(head[2], 16), 0]
        elif re.match(r"[0-9a-f]+-", line) and found:
            break
        elif found and line.startswith("Anonymous:"):
            found[2] = int(line.split()[1])
    expect(found, f"{pid} has no code of {path}")
    return found


def text_and_dirt(pid, path, off):
    """The byte that stands at a file offset in a process's memory, and its private pages, in kB"""
    addr, begin, dirt = text_of(pid, path)
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        mem.seek(addr + off - begin)
        return mem.read(1), dirt


def expect_untouched(name, pid, path, off, byte):
    got, dirt = text_and_dirt(pid, path, off)
    expect(got == byte, f"{name} process has {got} where {byte} stands in the file")
    expect(dirt == 0, f"{name} process has {dirt} kB of changed code")


@test(way=WAYS, tool=["gofunccount", "gofunclatency", "gotrace"])
def others_are_left_alone(way, tool):
    """A process that runs already, and one that is started while another one is traced"""
    with Target("alone", newest()) as one, \
            Target("alone", newest(), path=one.path) as before:
        off = site(one.path)
        with open(one.path, "rb") as file:
            file.seek(off)
            byte = file.read(1)
        with Tool(tool, "-j", "-p", one.target_pid, f":{WORK}", env=way_of(way)) as tracer:
            tracer.tracing()
            with Target("alone", newest(), path=one.path) as after:
                got, dirt = text_and_dirt(one.target_pid, one.path, off)
                expect(got == b"\xcc" and dirt > 0, f"no breakpoint in the traced process: {got}")
                expect_untouched("a running", before.target_pid, one.path, off, byte)
                expect_untouched("a new", after.target_pid, one.path, off, byte)
                after.go()
                after.truth()
            before.go()
            before.truth()
            one.go()
            one.truth()
            records = tracer.records()
    seen = len([r for r in records if r["type"] == "call"]) if tool == "gotrace" else calls(records)
    expect(seen == 100 * THREADS, f"saw {seen} of {100 * THREADS} calls")


@test(way=WAYS)
def command_alone(way):
    """The command is known before it executes its program."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "alone", newest())
        off = site(path)
        with Target("alone", newest(), path=path) as other, \
                Tool("gofunccount", "-j", WORK, "--", path, "once", env=way_of(way)) as tracer:
            ready = int(tracer.wait_line("ready").split()[1])
            expect(text_and_dirt(ready, path, off)[0] == b"\xcc", "no breakpoint in the command")
            got, dirt = text_and_dirt(other.target_pid, path, off)
            expect(got != b"\xcc" and dirt == 0, f"the other process has {got}, {dirt} kB")
            tracer.say()
            seen = calls(tracer.records())
            truth = tracks(tracer.out.text())[0]["calls"]
            expect(seen == truth == 100 * THREADS, f"saw {seen} of {truth} calls")


@test(way=WAYS)
def forked_child(way):
    """It inherits breakpoints, runs them unharmed, and is not counted."""
    with Target("alone", newest(), args=["fork"]) as target, \
            Tool("gofunccount", "-j", "-p", target.target_pid, ":main.*Call",
                 env=way_of(way)) as tracer:
        tracer.tracing()
        target.go()
        counts = counted(tracer.records())
        target.truth()
        expect("child ended with 0 -1" in target.out.text(), target.said())
        expect(counts == {WORK: 100 * THREADS}, f"saw {counts}")


@test(way=WAYS, tool=["gofunccount", "gofunclatency"])
def executes_unseen(way, tool):
    """Another thread than the first one executes a program, which the kernel's filter by process
    does not follow: the tool does, and says what it cannot have seen."""
    with Target("alone", newest(), args=["raw"]) as target, \
            Tool(tool, "-j", "-p", target.target_pid, f":{WORK}", env=way_of(way)) as tracer:
        tracer.tracing()
        target.go()
        seen = calls(tracer.records())
        truth = sum(t["calls"] for t in target.truth() if t["func"] == WORK)
        said = tracer.err.text()
        expect(truth == 200 * THREADS, f"{truth} calls were made")
        expect(re.search(r"executed another program.* [0-9.]+ ms .*not seen", said), said)
        expect(100 * THREADS <= seen <= truth, f"saw {seen} of {truth} calls")


def wait_ready_again(target):
    with target.arrived:
        target.arrived.wait_for(lambda: target.out.text().count("ready") == 2, 60)


@test(tool=["gofunccount", "gotrace"])
def followed_after_execve(tool):
    """... and sees what comes once it is attached anew."""
    with Target("alone", newest(), args=["raw", "again"]) as target, \
            Tool(tool, "-j", "-p", target.target_pid, f":{WORK}") as tracer:
        tracer.tracing()
        target.go()
        wait_ready_again(target)
        for _ in range(200):
            if text_and_dirt(target.target_pid, target.path, site(target.path))[0] == b"\xcc":
                break
        target.go()
        records = tracer.records()
        seen = len([r for r in records if r["type"] == "call"]) if tool == "gotrace" \
            else calls(records)
        expect(seen == 200 * THREADS, f"saw {seen} of {200 * THREADS} calls: {tracer.said()}")


@test()
def filter_by_thread():
    """A kernel that takes a thread's ID for the process's: every process has the breakpoints, and
    one is counted."""
    env = dict(os.environ, GOTOOLS_ALONE="no")
    with Target("alone", newest()) as one, Target("alone", newest(), path=one.path) as other:
        off = site(one.path)
        with Tool("gofunccount", "-j", "-p", one.target_pid, f":{WORK}", env=env) as tracer:
            tracer.tracing()
            expect(text_and_dirt(other.target_pid, one.path, off)[0] == b"\xcc", "no breakpoint")
            other.go()
            other.truth()
            one.go()
            expect(calls(tracer.records()) == 100 * THREADS, "not its own calls alone")


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def named(folder, name, version):
    path = f"{folder}/{name}"
    os.rename(private_copy(folder, "alone", version), path)
    return path


@test(version=["1.15", "1.27"])
def first_thread_ended(version):
    """A process whose first thread has ended is a zombie to who looks at it by its PID, and lives on in its other
    threads: it is traced, and its goroutines are read."""
    with tempfile.TemporaryDirectory() as folder, \
            Target("alone", version, args=["first"], path=named(folder, "first_ended", version)) as target:
        pid = target.target_pid
        expect(state_of(pid) == "Z", f"state {state_of(pid)}")
        for options in [pid], ["--stop", pid], ["-n", "first_ended"]:
            done = run([tool_path("gostacks"), "-j", *map(str, options)])
            expect(done.returncode == 0, f"{options}: {done}")
            funcs = {f["func"] for r in json_lines(done.stdout) if r["pid"] == pid for f in r.get("frames") or []}
            expect("main.rest" in funcs, f"{options}: {done}")
        tools = [Tool(*args, "-j", "-p", pid) for args in (
            ["gofunccount", WORK], ["gofunclatency", WORK], ["gotrace", f"r:{WORK}"])]
        with tools[0], tools[1], tools[2]:
            for tracer in tools:
                tracer.tracing()
            target.go()
            target.truth()
            seen = [calls(tracer.records()) for tracer in tools[:2]]
            seen.append(sum(r.get("how") == "return" for r in tools[2].records()))
        expect(seen == [100 * THREADS] * 3, f"{seen} of {100 * THREADS} calls")


@test(way=WAYS)
def first_thread_ends(way):
    """It ends while the process is traced: where the kernel then shows no calls of others, the tool says so."""
    with Target("alone", newest(), args=["first", "later"]) as target, \
            Tool("gofunccount", "-j", "-p", target.target_pid, f":{WORK}", env=way_of(way)) as tracer:
        tracer.tracing()
        target.go()
        if way != "multi":
            tracer.records(status=1)
            said = tracer.err.text()
            expect("the first thread of process" in said and "hint: trace it again" in said, said)
        target.go()
        target.truth()
        if way == "multi":
            seen = calls(tracer.records())
            expect(seen == 100 * THREADS, f"saw {seen} of {100 * THREADS} calls")
