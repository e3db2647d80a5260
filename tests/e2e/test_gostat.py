# SPDX-License-Identifier: Apache-2.0
"""gostat: what it reads of a program's runtime, against the program's own runtime.MemStats, number by number."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import time

from harness import Failure, Target, expect, json_lines, newest, run, test, tool_path, two_versions, versions

from test_gostacks_lies import lie, mappings, words

UNKNOWN = {"1.15": {"heap_bytes", "allocated_bytes"}}  # what only ReadMemStats itself counts


def gostat(*args):
    done = run([tool_path("gostat"), *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"gostat {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def once(pid):
    return json_lines(gostat("-j", "-i", "9", "-d", "1ms", pid))[0]


def tell(target, word="tell"):
    before = target.out.text().count("{")
    target.say(word)
    end = time.monotonic() + 100
    while target.out.text().count("}") <= before:
        expect(time.monotonic() < end, f"it tells nothing: {target.said()}")
        time.sleep(0.01)
    return json.loads(target.out.text().splitlines()[-1])


def of_the_kernel(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return dict(re.findall(r"^(\w+):\s*(\d+)", file.read(), re.M))


def quiet(target, version, word):
    """What it tells and what was read, when nothing happened between the two: the runtime's own threads take a
    span for a stack at times, and the program says then that it has."""
    truth = tell(target, word)
    for _ in range(10):
        got = once(target.target_pid)
        wrong = {key: value for key, value in truth.items()
                 if got[key] != (None if key in UNKNOWN.get(version, ()) else value)}
        if not wrong:
            return got
        before, truth = truth, tell(target)
        still = {key: got[key] for key in wrong if truth[key] == before[key]}
        expect(not still, f"{still}, in truth {wrong}: {got}")
    raise Failure(f"never what it tells: {got}: {wrong}")


def parts(got):
    names = "heap_inuse stack runtime rss_file rss_shmem rss_rest".split()
    return [got[f"{name}_bytes"] for name in names] + [got["heap_idle_bytes"] - got["heap_released_bytes"]]


def compare(target, version, word):
    got = quiet(target, version, word)
    states = [got[n] for n in ("running", "runnable", "waiting", "syscall")]
    expect(sum(states) == got["goroutines"] and got["waiting"] >= 40, f"{got}")
    kernel = of_the_kernel(target.target_pid)
    expect(got["threads"] == int(kernel["Threads"]), f"{got['threads']} threads: {kernel['Threads']}")
    for key, name in ("rss_bytes", "VmRSS"), ("rss_file_bytes", "RssFile"), ("rss_shmem_bytes", "RssShmem"):
        expect(abs(got[key] - 1024 * int(kernel[name])) < 4 << 20, f"{got[key]}: {kernel[name]}")
    expect(got["rss_bytes"] == sum(parts(got)), f"the parts do not add up: {got}")
    expect(got["swap_bytes"] == 1024 * int(kernel["VmSwap"]), f"{got['swap_bytes']}: {kernel['VmSwap']}")
    expect(got["fds"] == len(os.listdir(f"/proc/{target.target_pid}/fd")), f"{got['fds']} descriptors")
    limit = resource.prlimit(target.target_pid, resource.RLIMIT_NOFILE)[0]
    expect(got["fds_limit"] == limit, f"{got['fds_limit']}: {limit}")
    expect(got["type"] == "stat" and got["go_version"] == f"go{version}", f"{got}")


@test(version=versions, flavour=["strip"])
def gostat_counts(version, flavour):
    with Target("stats", version, flavour) as target:
        compare(target, version, "tell")
        compare(target, version, "more")


@test(version=two_versions, flavour=["plain", "pie", "cgo"])
def gostat_built(version, flavour):
    with Target("stats", version, flavour) as target:
        compare(target, version, "more")


@test()
def gostat_memory_limit():
    """A goal that a memory limit has part in is not known."""
    with Target("stats", newest(), "strip", argv=lambda path: ["env", "GOMEMLIMIT=4GiB", path]) as target:
        got = once(target.target_pid)
        expect(got["heap_goal_bytes"] is None, "a goal in spite of the limit")
        expect(got["gomemlimit_bytes"] == 4 << 30, f"{got['gomemlimit_bytes']}")


def in_bytes(text):
    number, unit = re.fullmatch(r"(-?[\d.]+)([KMG]?)", text).groups()
    return float(number) * 1024 ** " KMG".index(unit or " ")


@test(version=two_versions)
def gostat_memory(version):
    """Rows that add up to the resident memory. Go 1.15 gives memory back so that the kernel may leave it there
    (MADV_FREE), and that has a row of its own."""
    with Target("stats", version, "strip") as target:
        truth = tell(target, "free")
        text = gostat("--memory", target.target_pid)
        head, *lines = text.splitlines()
        found = re.fullmatch(rf"stats \({target.target_pid}\): ([\d.]+M) resident, 0 swapped out", head)
        rows = [line.split(None, 1) for line in lines if line.startswith(" ")]
        expect(found and all(len(line) < 80 for line in lines), text)
        expect(abs(sum(in_bytes(n) for n, _ in rows) - in_bytes(found[1])) < 1 << 20, text)
        given_back = [in_bytes(n) for n, what in rows if what.startswith("given back")]
        expect(len(given_back) == (version == "1.15"), text)
        expect(not given_back or given_back[0] > 1 << 20, f"{text}{truth}")
        expect(lines[-2].startswith(f"GOGC 150, GOMEMLIMIT {'-' if version == '1.15' else 'off'}, goal of "), text)
        got = json_lines(gostat("-j", "--memory", target.target_pid))[0]
        expect((got["lazyfree_bytes"] > 0) == (version == "1.15"), f"{got}")
        expect(once(target.target_pid)["lazyfree_bytes"] is None, "counted without being asked for")


@test(version=two_versions)
def gostat_no_collections(version):
    """Where collections are off, there is no goal: the runtime has the largest number then."""
    with Target("allocated", version, "strip") as target:
        head, line = gostat("-i", "9", "-d", "1ms", target.target_pid).splitlines()
        expect(re.match(rf" *{target.target_pid} allocated +(\d+ +){{4}}[\d.KM-]+ +off ", line), f"{head}\n{line}")
        expect(once(target.target_pid)["gogc"] == -1, "another GOGC in JSON")
        if version not in UNKNOWN:
            expect(once(target.target_pid)["heap_goal_bytes"] == 2 ** 64 - 1, "another goal in JSON")


@test(version=versions)
def gostat_idle(version):
    """Processors that have nothing to do: all of a program that waits, all but those with goroutines that work"""
    with Target("stats", version, "strip") as target:
        for busy in 0, 1, 2:
            if busy:
                target.say("spin")
            for _ in range(200):  # the runtime looks for work for a while, and a processor stays with a system call
                got = once(target.target_pid)["processors_idle"]
                if got == 3 - busy:
                    break
                time.sleep(0.05)
            expect(got == 3 - busy, f"{got} idle, with {busy} busy of 3")


@test()
def gostat_lines():
    """What has happened in each interval"""
    with Target("stats", newest(), "strip") as target:
        pid = target.target_pid
        with subprocess.Popen([tool_path("gostat"), "-i", "300ms", str(pid)], stdout=subprocess.PIPE, text=True) as tool:
            lines = [tool.stdout.readline(), tool.stdout.readline()]
            truth = tell(target, "more")
            while len(lines) < 100 and not re.search(r" 1 +[\d.]+[num]s ", lines[-1]):
                lines.append(tool.stdout.readline())
            tool.send_signal(signal.SIGINT)
            rest = tool.communicate(timeout=100)[0]
        expect(tool.returncode == 0 and rest is not None, f"{tool.returncode}")
        expect(lines[0].split() == "PID COMMAND GORS RUN RUNQ THR HEAP GOAL ALLOC GC PAUSE RSS CPU".split(), lines[0])
        expect(re.match(rf" *{pid} stats +41 +\d+ +\d+ +\d+ +[\d.]+M +[\d.]+M +- +- +- +[\d.]+M +-\n", lines[1]), lines[1])
        expect(len(lines) < 100, f"no collection in {lines[-3:]}")
        heap = float(re.match(r" *\d+ stats +(\d+ +){4}([\d.]+)M", lines[-1])[2])
        expect(abs(heap - truth["heap_bytes"] / 2**20) <= 0.6, f"{lines[-1]}: {truth['heap_bytes']}")
        expect(all(len(line) <= 81 for line in lines), "lines too long")


@test()
def gostat_several():
    with Target("stats", newest(), "strip") as one, Target("stats", newest(), "strip", ["waiting=7"]) as two:
        records = json_lines(gostat("-j", "-i", "200ms", "-d", "300ms", one.target_pid, two.target_pid))
        counts = {(r["pid"], r["goroutines"]) for r in records}
        expect(counts == {(one.target_pid, 41), (two.target_pid, 8)}, f"{counts}")


@test(version=two_versions)
def gostat_lies(version):
    """A program that lies about its goroutines and all the rest: it ends, and is harmless."""
    dice = random.Random(f"stat {version}")
    with Target("stats", version, "strip") as target:
        pid = target.target_pid
        os.kill(pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            known = words(mem, mappings(pid))
            for number in range(5):
                for _ in range(200 << number):
                    os.pwrite(mem, lie(dice, known), dice.choice(known)[0])
                for options in ["-j"], []:
                    done = run([tool_path("gostat"), *options, "-i", "9", "-d", "1ms", str(pid)])
                    expect(done.returncode in (0, 1), f"{done.returncode}: {done.stderr[-300:]}")
                    expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr), "control characters")
        finally:
            os.close(mem)
            target.child.kill()
