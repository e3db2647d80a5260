# SPDX-License-Identifier: Apache-2.0
"""What it costs to know what goroutines wait for, how many waits a second are told without a loss, and
what tracers of threads make of the same waits: perf sched, and by stack bpftrace and bcc's offcputime,
where they can run."""

import json
import re
import time
from statistics import median

import world as w
from process import Failed, Process, run
from stats import Row

VERSION = "1.27"
ROUNDS, REQUESTS, NAPS, WAITS_MS = 15, 1500, 500, 2000
GOROUTINES = 8  # that nap
FUNCTIONS = ["main.waitsForChannel", "main.waitsForLock", "main.waitsForTimer"]
# of the threads of one process: by stack, for how long in ns they were off their processors
OFF_CPU = """tracepoint:sched:sched_switch {
    if (pid == %s) { @since[tid] = nsecs; @stack[tid] = ustack(perf); }
    $since = @since[args->next_pid];
    if ($since) { @off[@stack[args->next_pid]] = sum(nsecs - $since); delete(@since[args->next_pid]); }
} END { clear(@since); clear(@stack); }"""


class Copy:
    """A running target and, but for the untraced one, its tracer."""

    def __init__(self, world, role):
        self.program = world.target(VERSION, role.replace(" ", "-"), "blocked.go")
        self.target = Process([self.program])
        self.target.wait_for("ready")
        self.pid = str(self.target.child.pid)
        self.costs, self.rates, self.done, self.tracer = [], [], 0, None

    def ask(self, what, number):
        self.target.tell(f"{what} {number}\n")
        return [float(word) for word in self.target.line().split()]

    def trace(self, argv, word="Tracing", env=None):
        self.tracer = Process(argv, env)
        self.tracer.wait_for(word)
        return self

    def end(self):
        """What its tracer said"""
        if self.tracer:
            self.tracer.interrupt()
        self.target.finish()
        return self.tracer.text + self.tracer.errors() if self.tracer else ""


def interleave(copies, what, number):
    for turn in range(ROUNDS):
        for copy in copies[turn % len(copies):] + copies[:turn % len(copies)]:
            answer = copy.ask(what, number)
            copy.costs.append(answer[0])
            copy.rates += answer[1:]
            copy.done += number


def above(copy, idle):
    floor = median(idle.costs)
    return [cost - floor for cost in copy.costs]


def calls_of(text):
    return sum(map(int, re.findall(r"count: (\d+)", text)))


def states(world):
    idle, plain, whole = (Copy(world, role) for role in ("untraced", "alone", "states"))
    tool = world.tool("gofunclatency")
    plain.trace([tool, f"{plain.program}:main.request"])
    whole.trace([tool, "--states", f"{whole.program}:main.request"])
    interleave([idle, plain, whole], "requests", REQUESTS)
    idle.end()
    for copy in plain, whole:
        text = copy.end()
        if calls_of(text) != copy.done:
            raise Failed(f"{calls_of(text)} of {copy.done} requests were timed\n{text[-1000:]}")
    yield Row("a request with two waits, --states", "gofunclatency alone", above(whole, idle), above(plain, idle), "ns")
    yield Row("the same", "not traced", whole.costs, idle.costs, "ns")


def told(text, functions):
    """(waits, ns) that JSON tells of goroutines that were blocked in one of the functions"""
    rows = [json.loads(line) for line in text.splitlines() if line.startswith('{"type":')]
    mine = [row for row in rows
            if any(frame["func"] in functions for frame in row.get("stack") or row["woken"]["stack"])]
    return sum(row.get("waits", 0) + row.get("wakeups", 0) for row in mine), sum(row["total_ns"] for row in mine)


def said(argv):
    """The command, with what it says on stderr in between"""
    return ["sh", "-c", 'exec "$@" 2>&1', "sh", *argv]


def waits(world):
    """Each nap has three hits of the one probe."""
    roles = ["idle", "gooffcputime", "gowakeups", "empty program"]
    copies = dict(zip(roles, (Copy(world, role) for role in roles)))
    for name in "gooffcputime", "gowakeups":
        copies[name].trace(said([world.tool(name), "-j", copies[name].program]))
    record = world.recorded("waits", [world.tool("gooffcputime"), copies["gooffcputime"].program])
    empty = copies["empty program"]
    empty.trace([world.path("bare_attach"), empty.program, record.offsets, "hold"], "attached")
    interleave(list(copies.values()), "naps", NAPS)
    for name, copy in copies.items():
        text = copy.end()
        if name.startswith("go"):
            count, made = told(text, ["main.nap"])[0], GOROUTINES * copy.done
            if count != made:
                raise Failed(f"{name} told {count} of {made} waits\n{text[-1000:]}")
            print(f"{name}: {median(copy.rates):,.0f} waits a second, none of {made:,} lost; "
                  f"{median(copies['idle'].rates):,.0f} a second without it")
    for name in "gooffcputime", "gowakeups":
        yield Row(f"a wait, {name}", "empty program", above(copies[name], copies["idle"]), above(empty, copies["idle"]),
                  "ns")


# --- tracers of threads ---

def of_perf(text):
    """[(ns, stack)] of each time that a thread was off its processor"""
    lines = [(re.search(r"\] +(\d+\.\d+) +\d+\.\d+ +\d+\.\d+", line), line) for line in text.splitlines()]
    return [(float(found[1]) * 1e6, line) for found, line in lines if found]


def of_bpftrace(text):
    return [(int(ns), stack) for stack, ns in re.findall(r"^@off\[(.*?)\]: (\d+)$", text, re.M | re.S)]


def of_bcc(text):
    """With -f: "comm;outermost;...;innermost us" """
    return [(int(us) * 1000, stack) for stack, us in re.findall(r"^(\S.*) (\d+)$", text, re.M)]


def perf_sched(world, copy):
    data = world.path("sched.data")
    tracer = Process(["perf", "sched", "record", "-g", "-o", data])
    time.sleep(2)  # it does not tell when it has begun
    true = copy.ask("waits", WAITS_MS)[0]
    tracer.interrupt()
    return true, of_perf(run(["perf", "sched", "timehist", "-i", data, "--pid", copy.pid, "--max-stack", "64"]))


def by_bpftrace(_, copy):
    copy.trace(["bpftrace", "-e", OFF_CPU % copy.pid], "Attaching")
    time.sleep(2)
    true = copy.ask("waits", WAITS_MS)[0]
    copy.tracer.interrupt()
    return true, of_bpftrace(copy.tracer.text)


def by_bcc(_, copy):
    """It wants the kernel's headers."""
    tracer = Process(["offcputime-bpfcc", "-f", "-U", "-p", copy.pid])
    time.sleep(5)
    true = copy.ask("waits", WAITS_MS)[0]
    if not tracer.alive():
        tracer.fail("ended by itself")
    tracer.interrupt()
    return true, of_bcc(tracer.text)


def by_goroutine(world, copy):
    """What gooffcputime tells of these functions, of 1"""
    copy.trace(said([world.tool("gooffcputime"), "-j", "-p", copy.pid]))
    true = copy.ask("waits", WAITS_MS)[0]
    copy.tracer.interrupt()
    return told(copy.tracer.text, FUNCTIONS)[1] / true


THREADS = {"perf sched": ("perf", perf_sched), "bpftrace": ("bpftrace", by_bpftrace),
           "bcc's offcputime": ("offcputime-bpfcc", by_bcc)}


def threads(world):
    """How much of the time that goroutines were blocked there is to see, of 1"""
    for name, (program, measure) in THREADS.items():
        if not w.have(program):
            print(f"{name} is not installed")
            continue
        ours, others, named, blocked = [], [], 0, 0
        try:
            for number in range(3):
                ours.append(by_goroutine(world, Copy(world, f"goroutines-{program}-{number}")))
                true, found = measure(world, Copy(world, f"{program}-{number}"))
                others.append(sum(ns for ns, _ in found) / true)
                named += sum(ns for ns, stack in found if any(func in stack for func in FUNCTIONS))
                blocked += true
        except Failed as why:
            print(f"{name} is not measured: {str(why)[-300:]}")
            continue
        print(f"{name}: {named / 1e9:.3f} s in the functions in which goroutines are blocked, of {blocked / 1e9:.0f} s")
        yield Row("blocked time found", name, ours, others, "of 1")
