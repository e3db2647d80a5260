# SPDX-License-Identifier: Apache-2.0
"""goleaks --exact: every birth and end of a goroutine, against how many the program itself has started."""

import os
import re
import subprocess
import time

from harness import Target, Tool, expect, json_lines, some_versions, test, tool_path, versions


PATIENCE = 60  # seconds, of which a look and a command take a fraction


def command(target, text):
    """Until what it has started has come to rest"""
    before = target.out.text().count("told")
    target.say(text)
    end = time.monotonic() + PATIENCE
    while target.out.text().count("told") == before:
        expect(time.monotonic() < end and target.child.poll() is None, f"{text}: nothing is told: {target.said()}")
        time.sleep(0.005)


def told(target):
    """{creator: (born, ended)}, by the program"""
    last = re.findall(r"^told(.*)$", target.out.text(), re.M)[-1]
    return {name: (int(born), int(ended)) for name, born, ended in re.findall(r" (\S+)=(\d+)-(\d+)", last)}


def since(before, now):
    counts = {name: (born - before.get(name, (0, 0))[0], ended - before.get(name, (0, 0))[1])
              for name, (born, ended) in now.items()}
    return {name: count for name, count in counts.items() if count != (0, 0)}


def sums(records):
    """{creator: (born, ended)} of all looks"""
    found = {}
    for record in records:
        by = record["created_by"]
        if by and by["func"].startswith("main."):
            born, ended = found.get(by["func"], (0, 0))
            found[by["func"]] = born + record["born"], ended + record["ended"]
    return {name: counts for name, counts in found.items() if counts != (0, 0)}


def wait_for(tool, truth):
    end = time.monotonic() + PATIENCE
    while (got := sums(json_lines(tool.out.text()))) != truth:
        more = [name for name, count in got.items() if count > truth.get(name, (0, 0))]
        expect(time.monotonic() < end and tool.child.poll() is None and not more,
               f"{truth} is not seen, but {got}: {tool.err.text()[-500:]}")
        time.sleep(0.05)


def check_lives(records, truth):
    """Of looks while it stands still: what lives is what was born and has not ended."""
    expect(records, "no look")
    last = {r["created_by"]["func"]: r["live"] for r in records if r["created_by"]}
    for name, (born, ended) in truth.items():
        expect(last.get(name, 0) == born - ended, f"{name}: {last.get(name)} live, of {born} born {ended} ended")


def measure(version, flavour, steps):
    with Target("births", version, flavour) as target:
        command(target, "stays 3")  # before it is looked at
        before = told(target)
        with Tool("goleaks", "--exact", "-j", "-i", "100ms", target.target_pid) as tool:
            tool.wait_line('{"type":"leak"')
            for text in steps:
                command(target, text)
                truth = since(before, told(target))
                wait_for(tool, truth)
            looked = len(json_lines(tool.out.text()))
            records = tool.stop()
        expect(sums(records) == truth, f"{sums(records)}, in truth {truth}")
        expect(sum(born for born, _ in truth.values()) == sum(int(s.split()[1]) for s in steps if "ends" not in s),
               f"{truth}")
        expect(not tool.err.text(), f"{tool.err.text()}")
        check_lives(records[looked:], told(target))


@test(version=versions, flavour=["strip"])
def goleaks_exact(version, flavour):
    measure(version, flavour, ("brief 60000", "chains 20000", "exits 10000", "closures 10000", "stays 500", "ends 300",
                               "stays 7"))


@test(version=some_versions, flavour=["pie", "nl", "cgopie"])
def goleaks_exact_built(version, flavour):
    measure(version, flavour, ("brief 3000", "chains 1000", "exits 500", "closures 500", "stays 50", "ends 30"))


@test(version=some_versions)
def goleaks_exact_text(version):
    """As without: by the minute, and a last look at the end"""
    with Target("births", version, "strip") as target:
        with Tool("goleaks", "--exact", "-i", "1h", target.target_pid) as tool:
            tool.wait_line(f"{target.target_pid} births")
            command(target, "brief 5000")
            command(target, "stays 2")
            tool.stop()
        last = tool.out.text().split(" goroutine")[-1]
        rows = {row[3]: row for row in
                re.findall(r"^ *(\d+) +(\d+) +(\d+) +[-+]\d+ .* main\.(start\w+) births\.go:\d+$", last, re.M)}
        expect(rows.keys() == {"startBrief", "startStays"}, f"{tool.out.text()}")
        brief, stays = rows["startBrief"], rows["startStays"]
        expect(brief[0] == brief[1] and int(brief[0]) > 0 and brief[2] == "0", f"{brief}")
        expect(stays[1] == "0" and stays[2] == "2", f"{stays}")


@test(version=some_versions)
def goleaks_exact_ends(version):
    """With the process, or after the time given; and only where probes may be attached"""
    with Target("births", version, "strip") as target:
        command(target, "stays 3")
        with Tool("goleaks", "--exact", "-i", "50ms", "-d", "300ms", target.target_pid) as tool:
            expect(tool.wait() == 0, f"{tool.said()}")
        looks = tool.out.text().count("  BORN ")
        expect(2 <= looks <= 7, f"{looks} looks in 300 ms")
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
                               tool_path("goleaks"), "--exact", str(target.target_pid)],
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 1 and not done.stdout and "goleaks: " in done.stderr, f"{done}")
        with Tool("goleaks", "--exact", "-i", "100ms", target.target_pid) as tool:
            tool.wait_line("  BORN")
            target.child.kill()
            expect(tool.wait() == 0, f"{tool.said()}")


@test(version=some_versions)
def goleaks_exact_losses(version):
    """More go statements than there is room for: it says how many are not counted."""
    with Target("births", version, "strip") as target:
        command(target, "stays 3")
        with Tool("goleaks", "--exact", "-j", "-i", "100ms", target.target_pid,
                  env=dict(os.environ, GOTOOLS_ROOM="1")) as tool:
            tool.wait_line('{"type":"leak"')
            command(target, "stays 10")
            command(target, "brief 70")
            tool.stop()
        counted = sum(born + ended for born, ended in sums(json_lines(tool.out.text())).values())
        lost = re.search(r"^goleaks: (\d+) births and ends were not counted: more go statements", tool.err.text(), re.M)
        expect(lost and counted + int(lost[1]) >= 150 and int(lost[1]) > 0, f"{counted} counted: {tool.err.text()}")
