# SPDX-License-Identifier: Apache-2.0
"""Goroutines by go statement, against how many the program itself has started and ended by each."""

import os
import re
import struct
import subprocess
import sys
import time

from harness import PATIENCE, TESTS, Target, Tool, expect, json_lines, newest, run, some_versions, test, tool_path

sys.path.insert(0, TESTS + "/e2e")

# pylint: disable=wrong-import-position
from test_gostacks_changes import command

PPOLL = 271  # number of the system call
CREATORS = {"main.startJobs": "main.job", "main.startSends": "main.send"}


def line_of(text):
    with open(TESTS + "/fixtures/leaks.go", encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if line.strip() == text)


def told(target):
    """(born, ended) of each, by the program"""
    jobs, ended, sends = map(int, re.findall(r"^told (\d+) (\d+) (\d+)$", target.out.text(), re.M)[-1])
    return {"main.startJobs": (jobs, ended), "main.startSends": (sends, 0)}


def sums(records):
    """{creator: (born, ended)} since the program began; what lives is always the difference."""
    found = {}
    for record in records:
        expect(record["type"] == "leak", f"{record}")
        by = record["created_by"]
        if not by or by["func"] not in CREATORS:
            continue
        born, ended = found.get(by["func"], (record["first_live"], 0))
        born, ended = born + record["born"], ended + record["ended"]
        found[by["func"]] = born, ended
        expect(record["live"] == born - ended, f"{record}: {born} born, {ended} ended")
        expect(by["line"] == line_of("go " + CREATORS[by["func"]].replace("main.", "") + "()") and
               os.path.basename(by["file"]) == "leaks.go", f"{by}")
    return {name: found.get(name, (0, 0)) for name in CREATORS}


def wait_for(tool, truth):
    end = time.monotonic() + PATIENCE
    while sums(json_lines(tool.out.text())) != truth:
        expect(time.monotonic() < end, f"{truth} is not seen: {tool.said()}")
        time.sleep(0.02)


def sleeps_for(pid):
    """Seconds that ppoll is asked to wait at most; None: it does not wait so"""
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
        if words[0] != str(PPOLL):
            return None
        with open(f"/proc/{pid}/mem", "rb") as file:
            file.seek(int(words[3], 16))
            return struct.unpack("q", file.read(8))[0]
    except (IndexError, OSError):
        return None


@test()
def goleaks_default_interval():
    """It looks again in a minute."""
    with Target("leaks", newest(), "strip") as target, Tool("goleaks", target.target_pid) as tool:
        end = time.monotonic() + PATIENCE
        while (seconds := sleeps_for(tool.pid)) is None:
            expect(time.monotonic() < end and tool.child.poll() is None, f"it does not wait: {tool.said()}")
            time.sleep(0.01)
        expect(50 < seconds <= 60, f"the next look is in {seconds} s")


@test(version=some_versions, flavour=["strip", "pie"])
def goleaks_counts(version, flavour):
    begun = time.monotonic()
    with Target("leaks", version, flavour) as target:
        command(target, "jobs 5")
        with Tool("goleaks", "-j", "-i", "100ms", target.target_pid) as tool:
            for text in ("sends 3", "jobs 40", "end 41", "sends 2", "end 4", "sends 1", "jobs 1"):
                wait_for(tool, told(target))
                command(target, text)
            records = tool.stop()
        expect(sums(records) == told(target), f"{sums(records)}, in truth {told(target)}")
        check_ends(records, (time.monotonic() - begun) * 1e9)


def check_ends(records, longest):
    """The last that was said of each"""
    last = {r["created_by"]["func"]: r for r in records if r["created_by"]}
    jobs, sends = last["main.startJobs"], last["main.startSends"]
    expect(jobs["state"] == "chan receive" and sends["state"] == "chan send", f"{jobs} {sends}")
    expect(not jobs["only_grows"], f"{jobs}: it has shrunk")
    for record in jobs, sends:
        expect(record["oldest_ns"] is None or record["oldest_ns"] <= longest, f"{record}, in {longest}")
        expect(record["watched_ns"] <= longest, f"{record}, in {longest}")
    expect(sends["oldest_ns"], f"{sends}: the first has been there for long")


@test(version=some_versions)
def goleaks_verdict(version):
    with Target("leaks", version, "strip") as target:
        command(target, "jobs 3")
        with Tool("goleaks", "-T", "-i", "100ms", target.target_pid) as tool:
            tool.wait_line("  BORN")
            count = 0
            while "only grows" not in tool.out.text():
                expect(count < 2000 and tool.child.poll() is None, f"{tool.said()}")
                command(target, "sends 1")
                count += 1
                time.sleep(0.05)
            tool.stop()
        text = tool.out.text()
    rows = re.findall(r"^ *(\d+|-) +(\d+|-) +(\d+) +([-+]\d+|-) +(\w+|-)  (chan \w+) +main\.(start\w+) leaks\.go:(\d+)\n"
                      r"( +only grows: from \d+ to \d+ in \d+s, and none has ended)?", text, re.M)
    expect(rows and rows[0][:6] == ("-", "-", "3", "-", "-", "chan receive"), f"{text[:600]}")
    for row in rows:
        expect(row[5] == {"startJobs": "chan receive", "startSends": "chan send"}[row[6]], f"{row}")
        expect(not row[8] or row[6] == "startSends", f"{row}")
        expect(row[3] == "-" or int(row[3]) == int(row[0]) and row[1] == "0", f"{row}")
    expect(any(row[8] for row in rows), f"no verdict: {text[-800:]}")


@test(version=some_versions)
def goleaks_ends(version):
    """With the process, or after the time given"""
    with Target("leaks", version, "strip") as target:
        command(target, "jobs 3")
        with Tool("goleaks", "-i", "50ms", "-d", "300ms", "-p", target.target_pid) as tool:
            expect(tool.wait() == 0, f"{tool.said()}")
        looks = tool.out.text().count("  BORN ")
        expect(2 <= looks <= 7, f"{looks} looks in 300 ms")
        for words in ["-d", "300ms"], ["-i", "9", "-d", "300ms"]:
            with Tool("goleaks", *words, "-p", target.target_pid) as tool:
                expect(tool.wait() == 0, f"{tool.said()}")
            looks = tool.out.text().count("  BORN ")
            expect(looks == 2, f"{words}: {looks} looks, not one at the start and one at the end")
        with Tool("goleaks", "-i", "100ms", target.target_pid) as tool:
            tool.wait_line("  BORN")
            target.child.kill()
            said = f"goleaks: process {target.target_pid} has ended\n"
            expect(tool.wait() == 0 and tool.err.text() == said, f"{tool.said()}")


@test()
def goleaks_refuses():
    with subprocess.Popen(["sleep", "60"]) as sleep:
        try:
            done = run([tool_path("goleaks"), str(sleep.pid)])
            expect(done.returncode == 1 and "not a Go program" in done.stderr and not done.stdout, f"{done}")
        finally:
            sleep.kill()
    for args, why in (([], "no PID given"), (["1", "2"], "one PID"), (["-p", "1", "1"], "one PID"),
                      (["x"], "not a process ID"), (["-i", "0", "1"], "not a positive number of seconds"),
                      (["-d", "x", "1"], "not a positive number of seconds"), (["1", "--", "ls"], "starts no COMMAND")):
        done = run([tool_path("goleaks"), *args])
        expect(done.returncode == 2 and why in done.stderr, f"{args}: {done.returncode}: {done.stderr}")
