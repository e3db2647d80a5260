# SPDX-License-Identifier: Apache-2.0
"""What processes do while they are traced, and where they live."""

import os
import re
import shutil
import signal
import tempfile

from harness import (Skip, Target, Tool, compare_counts, compare_latency, counted, expect, json_lines,
                     newest, private_copy, run, test, tool_path, tracks)
from processes import Process

TOOLS = ["gofunccount", "gofunclatency"]
WORK = "main.workCall"


def calls(records):
    """How often the tool saw main.workCall, whichever tool it is."""
    return counted(records).get(WORK, 0) + sum(
        r["count"] + r["panicked"] for r in records if r.get("type") == "latency")


def see(tool, target, *pattern):
    """Traces a target to its end: what the tool saw"""
    with Tool(tool, "-j", "-p", target.target_pid, *pattern) as tracer:
        tracer.tracing()
        target.go()
        return tracer.records()


@test(tool=TOOLS)
def two_processes(tool):
    """-p takes one of two processes of one binary; without -p both are seen."""
    with Target("process", newest(), args=["calls=30"]) as one, \
            Target("process", newest(), args=["calls=500"], path=one.path) as two:
        with Tool(tool, "-j", f"{one.path}:{WORK}") as both, \
                Tool(tool, "-j", "-p", one.target_pid, f":{WORK}") as first:
            both.tracing()
            first.tracing()
            two.go()
            two.truth()
            one.go()
            one.truth()
            expect(calls(first.records()) == 30, f"-p saw {calls(first.records())} of 30 calls")
            seen = calls(both.stop())
            expect(seen == 530, f"saw {seen} of both processes' 530 calls")


@test(tool=TOOLS)
def path_and_pid(tool):
    """BINARY and -p together"""
    with Target("process", newest()) as one:
        expect(calls(see(tool, one, f"{one.path}:{WORK}")) == 100, "not 100 calls")


NOBODY = 'no process runs "{}" now: waiting for one to start\n'
NOBODY_DID = 'no process ran "{}" while it was traced\n'


def said_of(tool, lines, path):
    return "".join(f"{tool}: {line}".format(path) for line in lines)


@test(tool=TOOLS)
def nobody_runs(tool):
    """A copy of the file that runs, or one that was replaced: said at once, with who runs another, and at the end."""
    with Target("process", newest()) as target, tempfile.TemporaryDirectory() as folder:
        path = shutil.copy(target.path, f"{folder}/process")
        hint = 'hint: process [0-9]+ runs another file of this name, "[^"\n]+/process": -p [0-9]+\n'
        done = run([tool_path(tool), "-d", "0.2", f"{path}:{WORK}"])
        wanted = said_of(tool, [NOBODY], path) + hint + said_of(tool, [NOBODY_DID], path)
        expect(done.returncode == 1 and re.fullmatch(wanted, done.stderr), f"{done}")
        with Tool(tool, "-j", f"{path}:{WORK}") as tracer:
            tracer.tracing()
            expect(not tracer.stop() or tool == "gofunclatency", tracer.said())
            expect(NOBODY_DID.format(path) in tracer.err.text(), tracer.said())
        shutil.copy(target.path, f"{folder}/new")
        os.rename(f"{folder}/new", target.path)
        done = run([tool_path(tool), "-d", "0.2", f"{target.path}:{WORK}"])
        expect(done.returncode == 1 and f"hint: process {target.target_pid} runs what was at this path before: "
               f"-p {target.target_pid}\n" in done.stderr, f"{done}")


@test(tool=TOOLS)
def runs_later(tool):
    """A file whose first process starts, and ends, while it is traced"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        with Tool(tool, "-j", "-d", "3", f"{path}:{WORK}") as tracer:
            tracer.tracing()
            expect(run([path, "once", "now", "calls=50"]).returncode == 0, "the program failed")
            expect(calls(tracer.records()) == 50, tracer.said())
            expect(tracer.err.text().count("no process") == 1, tracer.err.text())


@test(tool=TOOLS)
def child(tool):
    """A child of the traced process is another process."""
    with Target("process", newest(), args=["child"]) as target:
        seen = calls(see(tool, target, f":{WORK}"))
        expect(seen == 100, f"-p saw {seen} of 100 calls")
    with Target("process", newest(), args=["child"]) as target:
        with Tool(tool, "-j", f"{target.path}:{WORK}") as tracer:
            tracer.tracing()
            target.go()
            target.wait()
            seen = calls(tracer.stop())
            expect(seen == 400, f"without -p saw {seen} of 400 calls")


def command(tool, *args):
    """Runs the tool on a command; its records, and the truth that the command told"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        args = [a.replace("PATH", path) for a in args]
        with Tool(tool, "-j", *args, "--", path, "once", "now", "calls=50") as tracer:
            records = tracer.records()
            return records, tracks(tracer.out.text())


@test(pattern=["PATH:main.*", "main.*", ":main.*"])
def command_count(pattern):
    """-- COMMAND counts from the first instruction: package initialisation too."""
    records, truth = command("gofunccount", pattern)
    expect(len(truth) == 2, "the command did not tell its truth")
    compare_counts(truth, records)


@test()
def command_latency():
    records, truth = command("gofunclatency", "-F", "main.*")
    compare_latency(truth, records)


@test(tool=TOOLS)
def command_from_path(tool):
    """BINARY and COMMAND are looked up in PATH."""
    with tempfile.TemporaryDirectory() as folder:
        private_copy(folder, "process", newest())
        env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        with Tool(tool, "-j", f"process:{WORK}", "--", "process", "once", "now", env=env) as tracer:
            seen = calls(tracer.records())
            expect(seen == 100, f"saw {seen} of 100 calls")


@test(tool=["gofunccount", "gotrace"])
def command_goes_on(tool):
    """The command outlives the tracing, unharmed."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "steady", newest())
        with Tool(tool, "-j", "-d", "0.5", "main.descend", "--", path, "threads=1") as tracer:
            tracer.wait_line("ready")
            expect(tracer.child.wait(30) == 0, tracer.said())
            tracer.say()
            tracer.wait_line("checked")


@test(tool=TOOLS)
def mount_namespace(tool):
    """The file is on a mount that only the process sees."""
    if run(["unshare", "-m", "--propagation", "private", "true"]).returncode:
        raise Skip("no mount namespace of its own (in a chroot without a mounted root)")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        hidden = os.path.join(folder, "hidden")
        os.mkdir(hidden)
        script = f"mount -t tmpfs none {hidden} && cp {path} {hidden}/ && exec {hidden}/process"
        with Target("process", newest(), path=path, argv=lambda _: [
                "unshare", "-m", "--propagation", "private", "sh", "-c", script]) as target:
            expect(not os.listdir(hidden), "the mount is seen outside")
            expect(calls(see(tool, target, f"{hidden}/process:{WORK}")) == 100, "not 100 calls")
        with Target("process", newest(), path=path, argv=lambda _: [
                "unshare", "-m", "--propagation", "private", "sh", "-c", script]) as target:
            expect(calls(see(tool, target, f":{WORK}")) == 100, "not 100 calls by its PID")


@test(tool=TOOLS)
def changed_root(tool):
    """The process has another root: BINARY is a path of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        for pattern in f":{WORK}", f"/process:{WORK}":
            with Target("process", newest(), path=path,
                        argv=lambda _: ["chroot", folder, "/process"]) as target:
                expect(calls(see(tool, target, pattern)) == 100, f"not 100 calls by {pattern}")


@test(tool=TOOLS)
def pid_namespace(tool):
    """The process thinks that its PID is another."""
    with Target("process", newest(), argv=lambda p: [
            "unshare", "-p", "-f", "--kill-child", p]) as target:
        pid = int(run(["pgrep", "-P", str(target.pid)]).stdout)
        expect(target.target_pid == 1, "no PID namespace")
        with Tool(tool, "-j", "-p", pid, f":{WORK}") as tracer:
            tracer.tracing()
            target.go()
            expect(calls(tracer.records()) == 100, "not 100 calls")


@test()
def pid_namespace_of_both():
    """The tool is in the process's PID namespace: process IDs are those that it sees there."""
    inside = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    if run([*inside, "true"]).returncode:
        raise Skip("no PID namespace with a /proc of its own")
    with tempfile.TemporaryDirectory() as folder:
        command = ["--", private_copy(folder, "process", newest()), "once", "now"]
        done = run([*inside, tool_path("gofunccount"), "-j", WORK, *command])
        expect(calls(json_lines(done.stdout)) == 100, f"not 100 calls: {done}")
        done = run([*inside, tool_path("gotrace"), "-j", WORK + ' "%d", $pid', *command])
        pids = {(e["pid"], e["message"]) for e in json_lines(done.stdout) if e.get("type") == "call"}
        expect(len(pids) == 1 and 1 < min(pids)[0] < 10 and min(pids)[1] == str(min(pids)[0]),
               f"PIDs {pids}")


@test(tool=[*TOOLS, "gotrace"])
def pid_namespace_outside(tool):
    """In a PID namespace, processes outside it that run the same file are left out, and their hits counted."""
    inside = ["unshare", "-p", "-f", "--kill-child", "--mount-proc"]
    if run([*inside, "true"]).returncode:
        raise Skip("no PID namespace with a /proc of its own")
    script = '"$1" -j "$2:$3" & tool=$!; read -r _; "$2" once now calls=30 >/dev/null; kill -INT $tool; wait $tool'
    with Target("process", newest(), args=["calls=50"]) as outer, \
            Process([*inside, "bash", "-c", script, "bash", tool_path(tool), outer.path, WORK]) as tracer:
        tracer.wait_line("Tracing ")
        outer.go()
        outer.truth()
        tracer.say()
        expect(tracer.wait() == 0, tracer.said())
        records = json_lines(tracer.out.text())
        seen = sum(r.get("type") == "call" for r in records) if tool == "gotrace" else calls(records)
        expect(seen == 30, f"{seen} of 30 calls inside, 50 outside: {tracer.said()}")
        hits = 50 * (1 + (tool == "gofunclatency"))
        expect(f"{tool}: {hits} hits of processes outside this PID namespace were left out\n" in tracer.err.text(),
               tracer.err.text())


@test(tool=[*TOOLS, "gotrace"])
def pid_namespace_below(tool):
    """The tool is in a PID namespace of its own, and the process in another one below it."""
    inside = ["unshare", "-p", "-f", "--kill-child"]
    if run([*inside, "--mount-proc", "true"]).returncode:
        raise Skip("no PID namespace with a /proc of its own")
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        pattern = WORK + (' "%d %d", $pid, $tid' if tool == "gotrace" else "")
        script = os.path.join(folder, "script")
        with open(script, "w", encoding="utf-8") as out:
            out.write("""mkfifo "$1/in"; exec 8<>"$1/in"
                unshare -p -f --kill-child "$2" once <&8 >"$1/out" & waiter=$!
                until grep -q ready "$1/out"; do sleep 0.05; done
                mkfifo "$1/said"; exec 7<>"$1/said"
                pid=$(pgrep -P $waiter)
                "$3" -j -p "$pid" "$4" 2>"$1/said" & tool=$!
                grep -q -m 1 Tracing <&7; echo >&8; wait $tool; echo "pid $pid"
                """)
        done = run([*inside, "--mount-proc", "bash", script, folder, path, tool_path(tool), pattern])
        records = json_lines(done.stdout)
        expect("ready 1" in open(f"{folder}/out", encoding="utf-8").read(), "no namespace below")
        pid = int(done.stdout.splitlines()[-1].split()[1])
        if tool == "gotrace":
            records = [r for r in records if r.get("type") == "call"]
            own = {(r["pid"], r["message"].split()[0]) for r in records}
            expect(len(records) == 100 and own == {(pid, str(pid))}, f"{len(records)}: {own}, {pid}")
            threads = {(r["tid"], int(r["message"].split()[1])) for r in records}
            expect(all(a == b and pid <= a < pid + 100 for a, b in threads), f"threads {threads}")
        else:
            expect(calls(records) == 100, f"not 100 calls: {done}")


@test()
def proc_of_another_namespace():
    """PIDs of /proc are not the kernel's for this tool: refused, not traced by mistake."""
    inside = ["unshare", "-p", "-f", "--kill-child"]
    if run([*inside, "true"]).returncode:
        raise Skip("no PID namespace")
    with Target("process", newest()) as target:
        done = run([*inside, tool_path("gofunccount"), "-d", "1", "-p", str(target.target_pid), WORK])
        expect(done.returncode == 1 and "/proc belongs to another PID namespace" in done.stderr,
               f"{done}")


@test(tool=TOOLS)
def pid_not_permitted(tool):
    """In a container that was given too few capabilities"""
    limits = ["setpriv", "--bounding-set=-all,+bpf,+perfmon"]
    with Target("process", newest()) as target:
        done = run([*limits, tool_path(tool), "-p", str(target.target_pid), WORK])
        expect(done.returncode == 1 and done.stderr == f"{tool}: cannot read /proc/{target.target_pid}/exe: "
               "Permission denied\nhint: processes of others need root with CAP_SYS_PTRACE\n", f"{done}")
        limits[1] += ",+sys_ptrace"
        done = run([*limits, tool_path(tool), "-d", "0.1", "-p", str(target.target_pid), WORK])
        expect(done.returncode == 0, f"{done}")


@test(tool=TOOLS)
def deleted(tool):
    """The executable was deleted, as upgrades do, or has another in its place."""
    with Target("process", newest()) as target:
        os.unlink(target.path)
        expect(calls(see(tool, target, f":{WORK}")) == 100, "not 100 calls")
    with Target("process", newest()) as target:
        shutil.copy("/bin/true", target.path + ".new")
        os.rename(target.path + ".new", target.path)
        expect(calls(see(tool, target, f":{WORK}")) == 100, "not 100 calls after an upgrade")


@test(tool=TOOLS)
def deleted_while_traced(tool):
    with Target("process", newest()) as target:
        with Tool(tool, "-j", "-p", target.target_pid, f":{WORK}") as tracer:
            tracer.tracing()
            os.unlink(target.path)
            target.go()
            expect(calls(tracer.records()) == 100, "not 100 calls")


@test(tool=TOOLS)
def executes_itself(tool):
    with Target("process", newest(), args=["self"]) as target:
        seen = calls(see(tool, target, f":{WORK}"))
        truth = sum(t["calls"] for t in target.truth() if t["func"] == WORK)
        expect(seen == truth == 200, f"saw {seen} of {truth} calls, 200 meant")


@test(tool=TOOLS)
def executes_itself_from_a_thread(tool):
    with Target("process", newest(), args=["thread"]) as target:
        seen = calls(see(tool, target, f":{WORK}"))
        truth = sum(t["calls"] for t in target.truth() if t["func"] == WORK)
        expect(seen == truth == 200, f"saw {seen} of {truth} calls, 200 meant")


@test(tool=TOOLS)
def executes_another(tool):
    with Target("process", newest(), args=["other"]) as target:
        expect(calls(see(tool, target, f":{WORK}")) == 100, "not 100 calls")


@test(tool=TOOLS)
def is_killed(tool):
    with Target("process", newest(), args=["killed"]) as target:
        expect(calls(see(tool, target, f":{WORK}")) == 100, "not 100 calls")
        expect(target.wait() == -signal.SIGKILL, "the target did not die so")


@test()
def dies_of_a_panic():
    with Target("process", newest(), args=["fatal"]) as target:
        record = [r for r in see("gofunclatency", target, "-F", f":{WORK}")
                  if r["type"] == "latency"][0]
        got = [record[k] for k in ("count", "panicked", "exited", "running")]
        expect(got == [100, 1, 0, 0], f"count, panicked, exited, running: {got}")
        expect(target.wait() == 2 and "told to" in target.err.text(), "no panic of the target's")


@test(tool=TOOLS)
def ends_before(tool):
    """The process is gone when the tool looks for it."""
    with Target("process", newest()) as target:
        target.go()
        target.truth()
        result = run([tool_path(tool), "-p", str(target.target_pid), f":{WORK}"])
        expect(result.returncode == 1 and str(target.target_pid) in result.stderr,
               f"status {result.returncode}: {result.stderr}")


@test(version=["1.15", "1.27"])
def executes_within_a_call(version):
    """The calls that an execve ends are not taken for calls of the new program's goroutines, which
    have the same numbers."""
    with Target("leaves", version) as target:
        records = see("gofunclatency", target, "-F", ":main.leaves", ":main.comesLater")
        compare_latency(target.truth(), records, only=["main.comesLater"])
        left = [r for r in records if r.get("func") == "main.leaves"]
        expect(all(r["count"] == r["panicked"] == r["exited"] == r["lost"] == 0 for r in left), f"{left}")
