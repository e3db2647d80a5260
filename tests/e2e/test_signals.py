# SPDX-License-Identifier: Apache-2.0
"""Signals at any moment, from the first instruction on: the tool ends in order, and leaves nothing."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time

from harness import Process, Target, Tool, expect, newest, run, test, tool_path

MOMENTS = {"gofunccount": 20, "gofunclatency": 7, "gotrace": 7, "gofuncs": 4, "gohttpsnoop": 7}
SCRIPT = ["sh", "-c", '"$@" & echo "started $!"; wait $!; echo "status $?"', "sh"]
STARTS = {"default": {}, "background": {},
          "ignored": {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)}}
BOUND = 20  # seconds, to the end; a busy machine detaches slowly
CLONE_NEWNS, MS_BIND, MS_REC, MS_PRIVATE = 0x20000, 0x1000, 0x4000, 0x40000


def command(tool, target):
    path = tool_path(tool)
    return {"gofuncs": [path, "-v", f"{target.path}:*"],
            "gotrace": [path, f"{target.path}:main.digest"],
            "gohttpsnoop": [path, target.path]}.get(tool, [path, f"{target.path}:main.*"])


def status_field(pid, field):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return next(line.split()[1] for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return None


def takes(pid, number, shell=None):
    """Until it does not ignore the signal any more: what comes before, the kernel throws away.
    `shell`: what the process was before."""
    end = time.monotonic() + BOUND
    while status_field(pid, "Name:") == shell or int(status_field(pid, "SigIgn:") or "0", 16) >> (number - 1) & 1:
        expect(time.monotonic() < end, "still ignores the signal")
        time.sleep(0.001)


def own_shared_memory(place):
    """The folder `place` as /dev/shm, for this test alone, where it can be had"""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        return
    libc.mount(place.encode(), b"/dev/shm", None, MS_BIND, None)


def descendants(place):
    """Processes whose TMPDIR is this test's"""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"TMPDIR={place}\0".encode() in file.read() and status_field(pid, "State:") != "Z":
                    found.append(int(pid))
        except OSError:
            pass
    return found


def settles(what, good):
    """Within a moment"""
    end = time.monotonic() + BOUND
    while not good(found := what()):
        expect(time.monotonic() < end, f"left behind: {found}")
        time.sleep(0.02)


def text_changed(pid):
    """Bytes of the process's text that are not as in its file: breakpoints"""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps:
        first = next(line for line in maps if "r-xp" in line)
    begin, end = (int(a, 16) for a in first.split()[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as memory, open(f"/proc/{pid}/exe", "rb") as file:
        memory.seek(begin)
        file.seek(int(first.split()[2], 16))
        inside, outside = memory.read(end - begin), file.read(end - begin)
    return sum(a != b for a, b in zip(inside, outside)) if inside != outside else 0


def seconds_to_start(argv, env):
    """Until it traces, or has printed all"""
    begun = time.monotonic()
    with Process(argv, stdin=subprocess.DEVNULL, env=env) as tool:
        tool.wait_line(("Tracing", "PID  ", "main."))
        return time.monotonic() - begun


def end_at(argv, how, number, moment, place, env=None):
    """Starts the tool so, sends the signal: the exit status as a shell has it"""
    env = dict(env or os.environ, TMPDIR=place)
    argv = [*SCRIPT, *argv] if how == "background" else argv
    with Process(argv, stdin=subprocess.DEVNULL, env=env, **STARTS[how]) as tool:
        pid = int(tool.wait_line("started").split()[1]) if how == "background" else tool.pid
        takes(pid, number, "sh" if how == "background" else None)
        time.sleep(moment)
        begun = time.monotonic()
        caught = int(status_field(pid, "SigCgt:") or "0", 16) >> (number - 1) & 1
        if status_field(pid, "State:") not in (None, "Z"):
            os.kill(pid, number)
        status = tool.wait()
        took = time.monotonic() - begun
        expect(took < BOUND, f"at {moment} s: {took:.1f} s to the end")
        if how == "background":
            status = int(tool.out.text().rpartition("status ")[2])
        return status if status >= 0 else 128 - status, caught, tool.out.text(), tool.err.text()


def check_end(tool, how, number, moment, end):
    status, caught, out, err = end
    what = f"{tool} {how} signal {number} at {moment} s: {status}: {out[-200:]} | {err[-300:]}"
    begun = any(w in out + err for w in ("Tracing", "PID  "))
    early = "ended by a signal before tracing had begun" in err
    if tool == "gofuncs":
        expect(status in (0, 128 + number), what)
    elif status == 128 + number:  # before main; a recipe becomes gotrace
        expect(not begun and not early and (not caught or tool == "gohttpsnoop"), what)
    else:
        # a word of either kind, but for a signal between the two
        expect(status == 0 and (early or begun), what)
        if begun and tool.startswith("gofunc"):
            expect("Detaching..." in out, what)
    return early


@test(tool=list(MOMENTS), how=list(STARTS),
      seldom=lambda tool, how: list(MOMENTS).index(tool) % len(STARTS) != list(STARTS).index(how))
def ended_at_any_moment(tool, how):
    fixture = "recipes" if tool == "gohttpsnoop" else "steady"
    count = MOMENTS[tool]
    with Target(fixture, newest()) as target, tempfile.TemporaryDirectory() as place:
        own_shared_memory(place)
        early, argv = 0, command(tool, target)
        kept, compiled = dict(os.environ), dict(os.environ, GOTOOLS_CACHE="no")
        seconds_to_start(argv, kept)
        spans = [(env, 1.25 * seconds_to_start(argv, env)) for env in (kept, compiled)]
        for i in range(count):
            number = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP][i % 3]
            env, span = spans[i % 2]
            moment = span * i / count
            early += check_end(tool, how, number, moment, end_at(argv, how, number, moment, place, env))
            expect(not os.listdir(place), f"at {moment} s: left in TMPDIR: {os.listdir(place)}")
        expect(early or tool == "gofuncs", "no signal came before the probes")
        settles(lambda: descendants(place), lambda found: not found)
        settles(lambda: text_changed(target.target_pid), lambda changed: not changed)


@test(how=["default", "ignored"])
def ended_while_a_shell(how):
    """A recipe is ended before it has become gotrace, which takes what a shell that ignores it cannot."""
    with tempfile.TemporaryDirectory() as place:
        held = f"{place}/sed"  # what quotes a blank
        with open(held, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\n[ -e "$0.begun" ] || { : >"$0.begun" && read -r go <"$0.go"; }\n'
                       f'exec {shutil.which("sed")} "$@"\n')
        os.chmod(held, 0o755)
        os.mkfifo(held + ".go")
        env = dict(os.environ, PATH=f"{place}:{os.environ['PATH']}")
        with Process([tool_path("gohttpsnoop"), f"{place}/no program"], env=env, **STARTS[how]) as recipe:
            settles(lambda: os.path.exists(held + ".begun"), bool)
            os.kill(recipe.pid, signal.SIGINT)
            with open(held + ".go", "w", encoding="ascii") as go:
                go.write("go\n")
            status, err = recipe.wait(), recipe.err.text()
        expect(status == 0 and "ended by a signal before tracing had begun" in err, f"{status}: {err}")


@test(tool=["gofunccount", "gotrace"])
def ended_before_command(tool):
    """A command that is held is not let go, and ends."""
    with Target("steady", newest()) as target, tempfile.TemporaryDirectory() as place:
        argv = [tool_path(tool), f"{target.path}:main.digest", "--", "touch", f"{place}/ran"]
        for moment in 0, 0.03:
            status, _, out, err = end_at(argv, "ignored", signal.SIGINT, moment, place)
            expect(status == 0 and "before tracing had begun" in err and not out, f"{status}: {out} | {err}")
            settles(lambda: descendants(place), lambda found: not found)
            expect(not os.listdir(place), "the command ran")


@test()
def hangup_under_nohup():
    """nohup has SIGHUP ignored, which stays so."""
    with Target("steady", newest()) as target:
        with Tool("gofunccount", f"{target.path}:main.digest", argv=[
                "sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]) as tracer:
            tracer.tracing()
            tracer.signal(signal.SIGHUP)
            time.sleep(0.5)
            expect(tracer.child.poll() is None, "ended by SIGHUP")
            tracer.signal(signal.SIGINT)
            expect(tracer.wait() == 0 and "main.digest" in tracer.out.text(), tracer.said())


@test(tool=["gofunccount", "gofunclatency", "gotrace"])
def hangup_ends(tool):
    """... and elsewhere ends the tool like SIGTERM, with what was gathered."""
    with Target("steady", newest()) as target:
        with Process(command(tool, target)) as tracer:
            tracer.wait_line("PID " if tool == "gotrace" else "Tracing")
            target.works(0.5)
            tracer.signal(signal.SIGHUP)
            want = {"gofunccount": "main.digest", "gofunclatency": "avg = ", "gotrace": "main.digest"}[tool]
            expect(tracer.wait() == 0 and want in tracer.out.text(), tracer.said())


@test(tool=["gofunccount", "gofunclatency"])
def second_interrupt_leaves(tool):
    """While it prints to somebody who does not read"""
    with Target("steady", newest()) as target:
        with subprocess.Popen([tool_path(tool), "-j", "-F" if tool == "gofunclatency" else "-T", "-i", "0.05",
                               f"{target.path}:main.*"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              pipesize=4096) as tracer:
            expect(any(b"Tracing" in line for line in iter(tracer.stderr.readline, b"")), "does not trace")
            target.works(3)  # the pipe is full
            tracer.send_signal(signal.SIGINT)
            time.sleep(0.5)
            expect(tracer.poll() is None, "ended by the first, with lines yet to be printed")
            tracer.send_signal(signal.SIGINT)
            begun = time.monotonic()
            status = tracer.wait(20)
            expect(status == 130 and time.monotonic() - begun < BOUND, f"status {status}")
        settles(lambda: text_changed(target.target_pid), lambda changed: not changed)


@test()
def hostile_folder():
    """The compiler takes no header from the folder that the tool is started in."""
    with Target("steady", newest()) as target, tempfile.TemporaryDirectory() as place:
        for name in ("probe.h", "shared/cookie.h", "linux/types.h", "linux/ptrace.h", "include/linux/bpf.h",
                     "uapi/linux/bpf.h", "asm/page.h", "bcc/bpf.h"):
            path = os.path.join(place, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write("#error a stranger's header\n")
        for tool in "gofunccount", "gotrace":
            done = run([*command(tool, target), "-d", "0.2"], cwd=place, env=dict(os.environ, GOTOOLS_CACHE="no"))
            expect(done.returncode == 0 and "stranger" not in done.stderr, done.stderr)


@test(tool=["gofunccount", "gofunclatency"], seldom=lambda tool: tool == "gofunclatency")
def ended_while_attaching(tool):
    """The kernel leaves breakpoints behind where the process that attaches is ended meanwhile by another
    of its threads: all functions of a program take it some tenths of a second."""
    with Target("web", newest()) as target, tempfile.TemporaryDirectory() as place:
        early = 0
        for moment in range(90):
            argv = [tool_path(tool), f"{target.path}:*"]
            end = end_at(argv, "default", signal.SIGINT, moment / 75, place)
            early += check_end(tool, "default", signal.SIGINT, moment / 75, end)
            out = end[2]
            if "Detaching" in out:
                break
        expect(early > 3, "no signal came before the probes")
        settles(lambda: text_changed(target.target_pid), lambda changed: not changed)
