# SPDX-License-Identifier: Apache-2.0
"""Signals, intervals, output, tracers that come, go and are killed."""

import os
import re
import signal
import subprocess
import tempfile
import time

from harness import (PATIENCE, Target, Tool, compare_counts, compare_latency, counted, expect, json_lines,
                     newest, private_copy, run, test, tool_path, two_versions)

TOOLS = ["gofunccount", "gofunclatency"]
CLOCK = re.compile(r"^\d\d:\d\d:\d\d$", re.M)


@test(tool=TOOLS, number=[signal.SIGINT, signal.SIGTERM])
def ends_by_signal(tool, number):
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Tool(tool, f"{target.path}:main.digest") as tracer:
            tracer.tracing()
            target.works(0.3)
            tracer.signal(number)
            expect(tracer.wait() == 0, f"ended with {tracer.child.returncode}")
            out = tracer.out.text()
            expect("Detaching..." in out, f"no last word: {out}")
            if tool == "gofunccount":
                expect(re.search(r"^FUNC {32} +COUNT\n(?:main\.digest +[1-9]\d*)\n", out, re.M), out)
            else:
                expect(re.search(r"^ +nsecs +: count +distribution$", out, re.M), out)
                expect(re.search(r"^avg = \d+ nsecs, total: \d+ nsecs, count: \d+$", out, re.M), out)
                expect(re.search(r"^p50 = \d+, p90 = \d+, p99 = \d+, max = \d+ nsecs$", out, re.M), out)
        target.go()
        target.wait()


@test(tool=TOOLS)
def second_interrupt(tool):
    """Two signals at a time, as timeout(1) sends them, are one: all is printed. (One that comes later
    leaves at once: second_interrupt_leaves.)"""
    with Target("steady", newest()) as target:
        with Tool(tool, f"{target.path}:*") as tracer:
            tracer.tracing()
            time.sleep(0.2)
            tracer.signal(signal.SIGINT)
            tracer.signal(signal.SIGINT)
            expect(tracer.wait() == 0, tracer.said())
            expect("Detaching..." in tracer.out.text() and not tracer.err.text().count("ended by"), tracer.said())
        right(target)


@test(tool=TOOLS)
def early_interrupt(tool):
    """Ctrl-C before the probes are there ends it at once, in order, and the target is as it was."""
    with Target("steady", newest()) as target:
        with Tool(tool, f"{target.path}:*") as tracer:
            while not caught(tracer.pid):
                time.sleep(0.001)
            tracer.signal(signal.SIGINT)
            begun = time.monotonic()
            expect(tracer.wait() == 0 and time.monotonic() - begun < 10, tracer.said())
            expect(tracer.err.text() == f"{tool}: ended by a signal before tracing had begun\n" and
                   not tracer.out.text(), tracer.said())
        right(target)


def caught(pid):
    """Does the process handle SIGINT?"""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt")) & 2


def right(target):
    """The target's own checks still find everything right."""
    target.works(0.2)
    target.go()
    status = target.wait()
    out = target.out.text()
    checked = re.search(r"^checked (\d+)$", out, re.M)
    expect(status == 0 and checked and int(checked[1]) > 0, f"the target went wrong: {target.said()}")


@test(tool=TOOLS)
def duration(tool):
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Tool(tool, "-d", "1", f"{target.path}:main.digest") as tracer:
            tracer.tracing()
            begun = time.monotonic()
            expect(tracer.wait() == 0, tracer.said())
            took = time.monotonic() - begun
            expect(0.9 <= took < 6, f"-d 1 took {took:.1f} s")
        right(target)


@test()
def interval_clears():
    """-i prints and clears: the parts add up to the whole."""
    with Target("migrate", newest(), args=["calls=900", "goroutines=4"]) as target:
        with Tool("gofunccount", "-j", "-T", "-i", 1, "-p", target.target_pid,
                  ":main.sleeping") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            records = tracer.records()
            parts = [r for r in records if r["type"] == "count"]
            expect(len(parts) >= 2 and all("time" in r for r in parts), f"{parts}")
            compare_counts(truth, records, only=["main.sleeping"])


@test(tool=TOOLS)
def interval_text(tool):
    with Target("steady", newest(), args=["threads=1"]) as target:
        result = run([tool_path(tool), "-T", "-i", "1", "-d", "3", f"{target.path}:main.digest"])
        expect(result.returncode == 0, result.stderr)
        expect(len(CLOCK.findall(result.stdout)) == 3, f"not 3 times: {result.stdout}")
        right(target)


@test(unit=["-u", "-m"])
def unit(unit):
    with Target("steady", newest(), args=["threads=1"]) as target:
        result = run([tool_path("gofunclatency"), unit, "-F", "-d", "1",
                      f"{target.path}:main.digest"])
        name, decimal = {"-u": ("usecs", r"\.\d"), "-m": ("msecs", r"\.\d\d\d")}[unit]
        expect(result.returncode == 0, result.stderr)
        expect("Function = main.digest" in result.stdout, result.stdout)
        expect(re.search(rf"^ +{name} +: count +distribution$", result.stdout, re.M), result.stdout)
        expect(re.search(rf"^avg = \d+{decimal} {name}, total: \d+ {name}, count: \d+$", result.stdout, re.M),
               result.stdout)
        right(target)


@test()
def one_histogram():
    """Without -F all functions share one histogram, whose function is null."""
    with Target("recurse", newest()) as target:
        with Tool("gofunclatency", "-j", "-p", target.target_pid, ":main.p[io]ngOnce",
                  "-r") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            records = [r for r in tracer.records() if r["type"] == "latency"]
            expect(len(records) == 1 and records[0]["func"] is None, f"{records}")
            both = [t for t in truth if t["func"] in ("main.pingOnce", "main.pongOnce")]
            expect(records[0]["count"] == sum(t["calls"] for t in both), f"{records}")


@test()
def several_patterns():
    with Target("recurse", newest()) as target:
        with Tool("gofunccount", "-j", "-p", target.target_pid, ":main.pingOnce",
                  ":main.desc*") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            records = tracer.records()
            compare_counts(truth, records, only=["main.pingOnce", "main.descendOnce"])
            expect("main.pongOnce" not in counted(records), "a function that was not asked for")


@test(tool=TOOLS)
def two_tracers(tool):
    """Two tools at the same places at the same time"""
    with Target("panics", newest()) as target:
        with Tool("gofunccount", "-j", "-p", target.target_pid, ":main.*") as count, \
                Tool("gofunclatency", "-F", "-j", "-p", target.target_pid, ":main.*") as latency:
            count.tracing()
            latency.tracing()
            target.go()
            truth = target.truth()
            compare_counts(truth, count.records())
            compare_latency(truth, latency.records())


@test(tool=TOOLS, pattern=["main.*", "*"])
def killed_tracer(tool, pattern):
    """SIGKILL in mid-run leaves a target that computes as before."""
    with Target("steady", newest()) as target:
        with Tool(tool, "-p", target.target_pid, f":{pattern}") as tracer:
            tracer.tracing()
            target.works(0.5)
            tracer.signal(signal.SIGKILL)
            tracer.wait()
        right(target)


@test(tool=TOOLS, version=two_versions)
def cycles(tool, version):
    """Tracers come and go on a busy target."""
    with Target("steady", version) as target:
        for pattern in ("main.*", "*", "main.*"):
            with Tool(tool, "-p", target.target_pid, f":{pattern}") as tracer:
                tracer.tracing()
                time.sleep(0.1)
                tracer.signal(signal.SIGINT)
                expect(tracer.wait() == 0, tracer.said())
        right(target)


@test(tool=TOOLS)
def shows_program(tool):
    """-v shows the BPF program."""
    with Target("steady", newest(), args=["threads=1"]) as target:
        result = run([tool_path(tool), "-v", "-d", "1", f"{target.path}:main.digest"])
        expect(result.returncode == 0, result.stderr)
        expect("bpf_" in result.stdout + result.stderr, "no BPF program")
        right(target)


@test()
def lists_functions():
    with Target("calls", newest()) as target:
        result = run([tool_path("gofuncs"), f"{target.path}:main.(*Thing).*"])
        names = result.stdout.split()
        expect("main.(*Thing).Pointer" in names and
               all(n.startswith("main.(*Thing).") for n in names), result.stdout)
        result = run([tool_path("gofuncs"), "-j", "-p", str(target.target_pid), ":main.*"])
        names = [r.get("func") for r in json_lines(result.stdout)]
        expect("main.emptyCall" in names, result.stdout[:300])
        target.go()
        target.truth()


@test()
def one_instant():
    """All functions are counted over the same time: one that always calls another once has as many
    calls, but for those under way at either end."""
    threads = 2
    with Target("steady", newest(), args=[f"threads={threads}"]) as target:
        with Tool("gofunccount", "-j", "-p", target.target_pid, ":*") as tracer:
            tracer.tracing()
            target.works(1)
            counts = counted(tracer.stop())
        outer, inner = counts["main.throws"], counts["main.throwsBelow"]
        expect(outer > 10 and abs(outer - inner) <= threads, f"{outer} and {inner} calls")
        right(target)


COMMANDS = {  # how the command ends: what it is, the tool's status, what is said
    "exits": (["sh", "-c", "{path} nil now; exit 7"], 7, '"sh" exited with status 7'),
    "panics": (["{path}", "panic", "now"], 2, '"{path}" exited with status 2'),
    "killed": (["sh", "-c", "{path} nil now; kill -9 $$"], 137, '"sh" was ended by SIGKILL'),
    "aborts": (["env", "GOTRACEBACK=crash", "{path}", "nil", "now"], 134, '"env" was ended by SIGABRT'),
    "succeeds": (["sh", "-c", "{path} nil now; true"], 0, None),
}


@test(how=list(COMMANDS), tool=["gofunccount", "gotrace"])
def status_of_the_command(how, tool):
    """Its exit status is the tool's, and a crash is reported."""
    argv, status, said = COMMANDS[how]
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "crashes", newest())
        done = run([tool_path(tool), f"{path}:main.crash", "--", *(word.format(path=path) for word in argv)], cwd=place)
    expect(done.returncode == status, f"{done.returncode}, not {status}: {done}")
    expect(done.stdout.count("main.crash") + done.stderr.count("main.crash(") >= 1, f"nothing traced: {done}")
    lines = [line.replace(", core dumped", "") for line in done.stderr.splitlines() if line.startswith(f"{tool}: ")]
    expect(lines == [f"{tool}: {said.format(path=path)}"] if said else not lines, f"{done}")


@test()
def status_after_the_end_of_tracing():
    """A command that goes on, one that Ctrl-C ends with the tool, and an error of the tool's own"""
    with tempfile.TemporaryDirectory() as place:
        path = private_copy(place, "crashes", newest())
        done = run([tool_path("gofunccount"), "-d", "0.2", f"{path}:main.*", "--", "sh", "-c", "sleep 1; exit 3"])
        expect(done.returncode == 0 and "exited" not in done.stderr, f"{done}")
        done = run([tool_path("gofunccount"), "-d", "0.2", f"{path}:main.nothing", "--", "sh", "-c", "exit 3"])
        expect(done.returncode == 1 and "exited" not in done.stderr, f"{done}")
        done = run(["sh", "-c", '"$@" >/dev/full', "sh", tool_path("gofunccount"), f"{path}:main.*", "--", path, "panic",
                    "now"])
        expect(done.returncode == 1 and "cannot write the output" in done.stderr, f"{done}")


@test(tool=["gofunccount", "gotrace", "goprofile"])
def stopped_process(tool):
    """Of a process that is stopped nothing is seen, and a line says why."""
    with Target("process", newest()) as target:
        args = [tool_path(tool), "-p", str(target.target_pid), "-d", "0.1",
                *([] if tool == "goprofile" else [":main.workCall"])]
        said = (f"{tool}: process {target.target_pid} is stopped, and does nothing\n"
                f"hint: kill -CONT {target.target_pid} lets it go on\n")
        os.kill(target.target_pid, signal.SIGSTOP)
        done = run(args)
        expect(done.returncode == 0 and said in done.stderr, f"{done}")
        os.kill(target.target_pid, signal.SIGCONT)
        done = run(args)
        expect(done.returncode == 0 and "stopped" not in done.stderr, f"{done}")


@test(tool=["gostat", "gostacks", "goleaks", "goprofile"])
def end_of_who_is_read(tool):
    """A line says that the process has ended; none that the time has."""
    with Target("process", newest()) as target:
        args = [tool_path(tool), "-p", str(target.target_pid), *([] if tool == "goprofile" else ["-i", "0.1"])]
        done = run([*args, "-d", "0.3"])
        expect(done.returncode == 0 and not done.stderr, f"{done}")
        with subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as reader:
            reader.stdout.readline()
            target.go()
            target.truth()
            _, err = reader.communicate(timeout=PATIENCE)
            expect((reader.returncode, err) == (0, f"{tool}: process {target.target_pid} has ended\n"), f"{err}")


@test(tool=TOOLS + ["gotrace"])
def end_of_the_process(tool):
    """A line says that the process of -p has ended; none that tracing has."""
    with Target("process", newest()) as target:
        with Tool(tool, "-p", target.target_pid, ":main.workCall") as tracer:
            end = time.monotonic() + PATIENCE
            while "Tracing " not in tracer.out.text() and "PID " not in tracer.out.text():
                expect(time.monotonic() < end, tracer.said())
                time.sleep(0.01)
            target.go()
            target.truth()
            expect(tracer.wait() == 0, tracer.said())
            said = f"{tool}: process {target.target_pid} has ended"
            expect(said in tracer.err.text().splitlines(), tracer.said())
        done = run([tool_path(tool), "-p", str(os.getpid()), "-d", "0.1", f"{target.path}:main.workCall"])
        expect("has ended" not in done.stderr, f"{done}")
