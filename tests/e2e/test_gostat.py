# SPDX-License-Identifier: Apache-2.0
"""gostat: what it reads of a program's runtime, against the program's own runtime.MemStats, number by number."""

import json
import os
import random
import re
import resource
import signal
import subprocess
import tempfile
import time

from harness import (Failure, Target, Tool, expect, json_lines, newest, run, test, tool_path, two_versions,
                     versions)

from test_gostacks_lies import lie, mappings, words
from test_metrics import OPENMETRICS, SETTLES_S, Metrics, prometheus

UNKNOWN = {"1.15": {"heap_bytes", "allocated_bytes", "mallocs", "frees", "heap_objects"}}  # what only ReadMemStats itself counts
SUMS = {"sys_bytes", "heap_sys_bytes"}  # which are published, but not printed


def gostat(*args):
    done = run([tool_path("gostat"), *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"gostat {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def once(pid):
    """The last of several looks: after the first, what was read before is read at once"""
    lines = json_lines(gostat("-j", "-i", "20ms", "-d", "70ms", pid))
    expect(len(lines) > 1, f"{lines}")
    return lines[-1]


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
                 if key not in SUMS and got[key] != (None if key in UNKNOWN.get(version, ()) else value)}
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


class Published(Metrics):
    """gostat --metrics at a port of the kernel's choice"""

    def __init__(self, *args, **kwargs):
        super().__init__("gostat", *args, **kwargs)
        line = self.wait_line("gostat: metrics: http://")
        self.port = int(re.search(r":(\d+)/metrics$", line.strip())[1])

    def text(self, openmetrics=False):
        status, _, text = self.get(headers=OPENMETRICS if openmetrics else None)
        expect(status == 200, f"{status}: {text}")
        return text

    def pids(self):
        return {int(pid) for pid in re.findall(r'^gostat_process_info\{pid="(\d+)"', self.text(), re.M)}

    def await_pids(self, wanted):
        end = time.monotonic() + 60
        while (got := self.pids()) != wanted:
            expect(time.monotonic() < end, f"{got}, not {wanted}: {self.said()}")
            time.sleep(0.1)


def samples_of(text, pid):
    """{name: number}, with the state where there is one"""
    found = re.findall(rf'^(\w+)\{{pid="{pid}",comm="[^"]*"(?:,(?:state|go_version)="([^"]*)")?\}} (\S+)$', text, re.M)
    expect(len({sample[:2] for sample in found}) == len(found), f"twice: {text}")
    return {name + (f"/{more}" if more else ""): float(value) if re.search(r"[.e]", value) else int(value)
            for name, more, value in found}


PUBLISHED = {  # by what the program tells
    "goroutines": ["go_goroutines"], "gomaxprocs": ["go_sched_gomaxprocs_threads"], "gogc": ["go_gc_gogc_percent"],
    "gomemlimit_bytes": ["go_gc_gomemlimit_bytes"], "heap_goal_bytes": ["go_memstats_next_gc_bytes"],
    "heap_bytes": ["go_memstats_alloc_bytes", "go_memstats_heap_alloc_bytes"],
    "heap_inuse_bytes": ["go_memstats_heap_inuse_bytes"], "heap_idle_bytes": ["go_memstats_heap_idle_bytes"],
    "heap_released_bytes": ["go_memstats_heap_released_bytes"], "heap_sys_bytes": ["go_memstats_heap_sys_bytes"],
    "sys_bytes": ["go_memstats_sys_bytes"], "stack_bytes": ["go_memstats_stack_inuse_bytes"],
    "runtime_bytes": ["gostat_runtime_bytes"], "allocated_bytes": ["go_memstats_alloc_bytes_total"],
    "mallocs": ["go_memstats_mallocs_total"], "frees": ["go_memstats_frees_total"],
    "heap_objects": ["go_memstats_heap_objects"],
    "gc_cycles": ["go_gc_duration_seconds_count"], "gc_cpu_fraction": ["go_memstats_gc_cpu_fraction"],
}


def compare_published(target, version, truth, text):
    """What differs from what the program has told, which may be that it has done something since"""
    got = samples_of(text, target.target_pid)
    unknown = {name for key in UNKNOWN.get(version, ()) for name in PUBLISHED[key]}
    expect(not unknown & set(got), f"known of {version}: {got}")
    wrong = {name: (got.get(name), truth[key]) for key in truth if key in PUBLISHED for name in PUBLISHED[key]
             if got.get(name) != truth[key] and name not in unknown}
    if round(got["go_gc_duration_seconds_sum"] * 1e9) != truth["gc_pause_total_ns"]:
        wrong["pause"] = got, truth
    if got["go_memstats_last_gc_time_seconds"] != truth["last_gc_ns"] / 10**9:
        wrong["last_gc_ns"] = got, truth
    expect(set(truth) - set(PUBLISHED) <= {"pid", "gc_pause_total_ns", "last_gc_ns"}, f"not compared: {truth}")
    states = [got[f"gostat_goroutines/{n}"] for n in ("running", "runnable", "waiting", "syscall")]
    expect(sum(states) == got["go_goroutines"] and states[2] >= 40, f"{got}")
    kernel = of_the_kernel(target.target_pid)
    expect(got["go_threads"] == int(kernel["Threads"]), f"{got['go_threads']} threads: {kernel['Threads']}")
    expect(got["process_open_fds"] == len(os.listdir(f"/proc/{target.target_pid}/fd")), f"{got}")
    expect(got["process_max_fds"] == resource.prlimit(target.target_pid, resource.RLIMIT_NOFILE)[0], f"{got}")
    expect(abs(got["process_resident_memory_bytes"] - 1024 * int(kernel["VmRSS"])) < 4 << 20, f"{got}: {kernel}")
    expect(0 <= got["process_cpu_seconds_total"] < 100, f"{got}")
    expect(got[f"gostat_process_info/go{version}"] == 1, f"{got}")
    return wrong


@test(version=versions)
def gostat_published(version):
    """Each sample of a scrape is what the program has in its own numbers at that moment, in either format."""
    with Target("stats", version, "strip") as target, Published(target.target_pid) as tool:
        for openmetrics in False, True:
            truth, end = tell(target, "more"), time.monotonic() + SETTLES_S
            while wrong := compare_published(target, version, truth, tool.text(openmetrics)):
                expect(time.monotonic() < end, f"never what it tells: {wrong}")
                time.sleep(0.1)
                truth = tell(target)
        expect(not tool.out.text(), f"lines: {tool.out.text()}")
        checked = run([prometheus("promtool"), "check", "metrics"], input=tool.text())
        expect((checked.returncode, checked.stdout + checked.stderr) == (0, ""), f"{checked}")
        target.say("end")
        target.child.kill()
        expect(tool.wait() == 0 and not tool.out.text(), tool.said())


@test()
def gostat_published_by_name():
    """Of those that were given, one that has ended is in no scrape any more; of those with a name, one that has
    come later is in it, and without any the tool stays."""
    with Target("stats", newest(), "strip") as one:
        name = os.path.basename(one.path)
        with Target("stats", newest(), "strip") as two, Published("-n", name) as named:
            named.await_pids({one.target_pid, two.target_pid})
            with Published(one.target_pid, two.target_pid) as given:
                expect(given.pids() == {one.target_pid, two.target_pid}, f"{given.pids()}")
                two.child.kill()
                two.wait()
                given.await_pids({one.target_pid})
                one.child.kill()
                expect(given.wait() == 0, given.said())
            named.await_pids(set())
            with Target("stats", newest(), "strip") as three:
                named.await_pids({three.target_pid})
            expect(named.stop() == [], named.said())


@test()
def gostat_published_in_a_file():
    """Written at once, each INTERVAL, and at the end"""
    with Target("stats", newest(), "strip") as target, tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.prom"

        def collections():
            with open(path, encoding="utf-8") as file:
                return samples_of(file.read(), target.target_pid)["go_gc_duration_seconds_count"]

        with Tool("gostat", "--metrics", path, "-i", "200ms", target.target_pid) as tool:
            end = time.monotonic() + 60
            while not os.path.exists(path):
                expect(time.monotonic() < end, tool.said())
                time.sleep(0.05)
            truth = tell(target, "more")["gc_cycles"]
            while collections() != truth:
                expect(time.monotonic() < end, tool.said())
                time.sleep(0.05)
            truth = tell(target, "more")["gc_cycles"]
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0 and not tool.out.text(), tool.said())
        expect(collections() == truth, f"{collections()}, not {truth}")


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
