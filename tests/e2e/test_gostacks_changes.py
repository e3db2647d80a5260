# SPDX-License-Identifier: Apache-2.0
"""What changes from one look at a process to the next, against what the program says it has done."""

import re
import time

from harness import PATIENCE, Target, Tool, expect, json_lines, some_versions, test

STATES = {"main.job": "chan receive", "main.send": "chan send"}


def command(target, text):
    """{function: how many goroutines are in it} when they have come to rest"""
    told = target.out.text().count("told ")
    target.say(text)
    end = time.monotonic() + PATIENCE
    while target.out.text().count("told ") == told:
        expect(time.monotonic() < end and target.child.poll() is None, f"{text}: nothing is told: {target.said()}")
        time.sleep(0.005)
    jobs, ended, sends = map(int, re.findall(r"^told (\d+) (\d+) (\d+)$", target.out.text(), re.M)[-1])
    return {"main.job": jobs - ended, "main.send": sends}


def sums(records):
    """The same by what was reported: a count is always the sum of the changes up to there."""
    counts, states = {}, {}
    for record in records:
        expect(record["type"] == "change" and record["change"], f"{record}")
        frames = record["frames"]
        if not frames or frames[0]["func"] not in STATES:
            continue  # of the first goroutine, that may call from two places in one line
        key = (frames[0]["func"], record["state"], record["stack"], str(record["created_by"]), str(frames))
        counts[key] = counts.get(key, 0) + record["change"]
        expect(counts[key] == record["count"], f"{record}: {counts[key]} by now")
    for (function, state, *_), count in counts.items():
        name = function if state == STATES[function] else f"{function} {state}"
        if count:
            expect(name not in states, f"{name} twice: {counts}")
            states[name] = count
    return {function: 0 for function in STATES} | states


def wait_for(tool, truth):
    end = time.monotonic() + PATIENCE
    while sums(json_lines(tool.out.text())) != truth:
        expect(time.monotonic() < end, f"{truth} is not seen: {tool.said()}")
        time.sleep(0.02)


@test(version=some_versions)
def gostacks_changes(version):
    with Target("leaks", version, "strip") as target:
        truth = command(target, "jobs 5")
        with Tool("gostacks", "-j", "-i", "100ms", target.target_pid) as tool:
            for text in ("sends 3", "jobs 40", "end 41", "end 4", "jobs 1"):
                wait_for(tool, truth)
                truth = command(target, text)
            records = tool.stop()  # the last change is told at the end
            expect(sums(records) == truth, f"{sums(records)}, in truth {truth}")
        expect(truth == {"main.job": 1, "main.send": 3}, f"{truth}")


@test(version=some_versions)
def gostacks_changes_text(version):
    with Target("leaks", version, "strip") as target:
        command(target, "jobs 5")
        command(target, "sends 2")
        with Tool("gostacks", "-T", "-i", "150ms", "-d", "60", target.target_pid) as tool:
            tool.wait_line("COUNT   STATE")
            command(target, "sends 7")
            tool.wait_line("     9      +7   chan send")
            command(target, "end 5")
            tool.wait_line("     0      -5   chan receive")
            tool.stop()
            text = tool.out.text()
        first, *others = re.split(r"^\d\d:\d\d:\d\d\n", text, flags=re.M)[1:]
        expect("     5  chan receive\n        main.job " in first and "CHANGE" not in first, f"{first}")
        for part in others:
            expect(re.match(rf"{target.target_pid} leaks \(go1\.\d+\): \d+ goroutines?: ", part), f"{part}")
            if "COUNT   CHANGE   STATE" not in part:
                expect(part.strip().count("\n") == 0, f"{part}")
        expect(re.search(r"chan receive\n        main\.job leaks\.go:\d+\n        created by main\.startJobs leaks\.go:\d+",
                         text), f"{text}")


@test(version=some_versions)
def gostacks_changes_end(version):
    """With the process, with the time that was given, and of several processes with the last"""
    with Target("leaks", version, "strip") as one, Target("leaks", version, "strip") as two:
        with Tool("gostacks", "-i", "100ms", one.target_pid, two.target_pid) as tool:
            tool.wait_line(f"{two.target_pid} leaks")
            one.child.kill()
            one.child.wait()
            looks = tool.out.text().count(f"{two.target_pid} leaks")
            while tool.child.poll() is None and tool.out.text().count(f"{two.target_pid} leaks") < looks + 3:
                time.sleep(0.02)
            command(two, "jobs 3")
            tool.wait_line("     3      +3   chan receive")
            two.child.kill()
            said = "".join(f"gostacks: process {pid} has ended\n" for pid in (one.target_pid, two.target_pid))
            expect(tool.wait() == 0 and tool.err.text() == said, f"{tool.said()}")
    with Target("leaks", version, "strip") as target:
        with Tool("gostacks", "-i", "50ms", "-d", "300ms", target.target_pid) as tool:
            expect(tool.wait() == 0, f"{tool.said()}")
        titles = tool.out.text().count(" leaks (go1")
        expect(2 <= titles <= 7, f"{titles} looks in 300 ms")
        with Tool("gostacks", "-i", "100ms", target.target_pid) as tool:
            tool.wait_line(f"{target.target_pid} leaks")
            target.child.kill()
            said = f"gostacks: process {target.target_pid} has ended\n"
            expect(tool.wait() == 0 and tool.err.text() == said, f"{tool.said()}")
