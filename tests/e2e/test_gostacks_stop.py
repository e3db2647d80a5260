# SPDX-License-Identifier: Apache-2.0
"""gostacks --stop: all goroutines at one instant, running ones too, and the process goes on."""

import random
import re
import signal
import subprocess
import sys
import time

from harness import TESTS, Target, expect, json_lines, run, some_versions, test, tool_path, two_versions

sys.path.insert(0, TESTS + "/e2e")

# pylint: disable=wrong-import-position
from test_gostacks import compare, compare_texts, parse, true_text

# PTRACE_SEIZE, from another process
SEIZE = """import ctypes, sys, time
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0, ctypes.get_errno()
print("traced", flush=True)
time.sleep(1000)"""


def stopped(*args):
    done = run([tool_path("gostacks"), "--stop", *map(str, args)])
    expect(done.returncode == 0, f"gostacks --stop {args}: {done.returncode}: {done.stderr}")
    expect(re.fullmatch(r"gostacks: process \d+ was stopped for \d+\.\d{3} ms\n", done.stderr), f"{done.stderr}")
    return done.stdout


def check_free(pid):
    """Neither traced nor stopped"""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = file.read()
    expect("TracerPid:\t0\n" in status and re.search(r"^State:\t[RSD] ", status, re.M), status[:200])


@test(version=some_versions, flavour=["strip", "cgopie"])
def gostacks_stop_parked(version, flavour):
    with Target("parked", version, flavour, args=["many=3"]) as target:
        text = true_text(target, version)
        compare(parse(text), parse(stopped("-a", target.target_pid)))
        compare_texts(text, stopped("--full", target.target_pid))
        check_free(target.target_pid)
        target.go()
        expect(target.wait() == 0, target.said())


def check_spinning(record):
    """Is it where its creator has sent it, and there alone? It may just answer a signal, which has a
    stack of its own."""
    names = [f["func"] for f in record["frames"] if f["func"].startswith("main.")]
    if not record["frames"]:
        expect(record["state"] == "running" and record["stack"] == "running", f"{record}")
        return None
    if "main.dive" in names:
        depth = names.count("main.dive")
        expect(names[:depth + 1] in (["main.spin"] + ["main.dive"] * depth, ["main.dive"] * depth + names[depth:depth + 1])
               and record["stack"] == "whole", f"{record}")
        expect(set(names[depth + 1:]) <= {"main.main.func1", "main.main.gowrap1"}, f"{record}")
        return depth - 1 if names[0] == "main.spin" else None
    return None


@test(version=two_versions)
def gostacks_stop_running(version):
    depths, seen, unread, looks = set(), {"main.holdEven": 0, "main.holdOdd": 0}, 0, 40
    with Target("spins", version, "strip") as target:
        for _ in range(looks):
            records = json_lines(stopped("-j", target.target_pid))
            depths |= {check_spinning(r) for r in records}
            unread += sum(not r["frames"] for r in records)
            hold = {f["func"] for r in records for f in r["frames"]} & seen.keys()
            expect(len(hold) < 2, f"both hold: {records}")
            for name in hold:
                seen[name] += 1
        check_free(target.target_pid)
        expect(depths >= {0, 1, 2}, f"only {depths}")
        expect(min(seen.values()) >= 1, f"{seen}: both should hold now and then")
        expect(unread <= looks, f"{unread} stacks of {looks} looks could not be read")
        target.go()
        expect(target.wait() == 0 and "goes on" in target.out.text(), target.said())


@test(version=some_versions)
def gostacks_stop_killed(version):
    """Whenever the tool is killed, the process goes on."""
    dice = random.Random(version)
    with Target("spins", version, "strip") as target:
        for _ in range(25):
            with subprocess.Popen([tool_path("gostacks"), "--stop", str(target.target_pid)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tool:
                time.sleep(dice.random() * 0.06)
                tool.send_signal(signal.SIGKILL)
        target.works(0.2)
        check_free(target.target_pid)
        target.go()
        expect(target.wait() == 0 and "goes on" in target.out.text(), target.said())


@test(version=some_versions)
def gostacks_stop_traced(version):
    """Somebody else traces it: it cannot be stopped, but read."""
    with Target("spins", version, "strip") as target:
        with subprocess.Popen([sys.executable, "-c", SEIZE, str(target.target_pid)], stdout=subprocess.PIPE,
                              text=True) as other:
            try:
                expect(other.stdout.readline() == "traced\n", "it cannot be traced")
                done = run([tool_path("gostacks"), "--stop", str(target.target_pid)])
                expect(done.returncode == 1 and f"process {other.pid} traces it" in done.stderr, f"{done}")
                done = run([tool_path("gostacks"), str(target.target_pid)])
                expect(done.returncode == 0 and "goroutines" in done.stdout, f"{done}")
            finally:
                other.kill()
        target.go()
        expect(target.wait() == 0, target.said())
