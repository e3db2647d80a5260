# SPDX-License-Identifier: Apache-2.0
"""What a whole run costs: attaching and detaching, the start, memory."""

import os
import time

import world as w
from process import Process, run, undisturbed
from stats import Row

ROUNDS = 7
FEW = "os.*"  # a package whose functions the others attach to and leave in seconds, not minutes
FEW_ROUNDS = 3
# with the arguments of each: how many functions of prometheus these are, and seconds at most
TSDB, ALL = "github.com/prometheus/prometheus/tsdb*", "github.com/prometheus/*"
# what is traced, what it is called; at most so many seconds
SIGNATURES = {("", TSDB): ("1,487 functions with arguments", 5), ("", ALL): ("5,530 functions with arguments", 6),
              ("r:", TSDB): ("1,487 functions with results", 15)}
SETTLE = 0.3  # seconds between the line that says a tool traces and the interrupt, not counted


def bare_seconds(world, program, record):
    text = run([world.path("bare_attach"), program, record.offsets])
    return sum(map(int, text.split())) / 1e9


def attach_rounds(world, program, what):
    ours, bare = [], []
    with undisturbed():
        for _ in range(ROUNDS):
            record = world.recorded("attach", [world.tool("gofunccount"), f"{program}:*"])
            ours.append(record.seconds())
            bare.append(bare_seconds(world, program, record))
    return Row(f"attach and detach {record.probes} functions, {what}", "bare system calls", ours,
               bare, "s", 3, limit=1)


def attach(world):
    """Go's compiler, idle and with a process of it running (held by a pipe nobody writes)."""
    program = world.compiler("1.27")
    yield attach_rounds(world, program, "not running")
    pipe = world.path("never.go")
    os.mkfifo(pipe)
    compiler = Process([program, "-o", "/dev/null", "-p", "p", pipe])
    writer = os.open(pipe, os.O_WRONLY)
    try:
        yield attach_rounds(world, program, "running")
    finally:
        compiler.child.kill()
        compiler.finish()
        os.close(writer)


def whole_run(argv, word, env=None):
    """Seconds to the line that says it traces, seconds from the interrupt to the end."""
    tool = Process(argv, env)
    ready = tool.wait_for(word)
    time.sleep(SETTLE)
    return ready, tool.interrupt(), tool


def others(world):
    """The same few functions, by ours, bpftrace and bcc: from start to end, untraced between."""
    program = world.target("1.19", "others")
    ours = [world.tool("gofunccount"), f"{program}:{FEW}"]
    tree = world.recorded("others", ours).tree
    runs = {"ours": (ours, "Tracing", None)}
    if w.have("bpftrace"):
        # it attaches in order, and forgets an interrupt that comes before all is attached
        script = (f'uprobe:{program}:"{FEW}" {{ @[probe] = count(); }} '
                  'interval:ms:10 { printf("tick\\n"); }')
        runs["bpftrace"] = (["bpftrace", "-e", script], "tick", None)
    if w.have("funccount-bpfcc"):
        runs["bcc"] = (["funccount-bpfcc", f"{program}:{FEW}"], "Tracing",
                       {"BCC_KERNEL_SOURCE": tree, "BCC_PROBE_LIMIT": "100000"})
    seconds = {name: [] for name in runs}
    for _ in range(FEW_ROUNDS):
        for name, how in runs.items():
            seconds[name].append(sum(whole_run(*how)[:2]))
    for name in list(runs)[1:]:
        yield Row(f"start, attach and detach {FEW}", name, seconds["ours"], seconds[name], "s")


def start_pair(ours, bare):
    """Seconds to the first probe and to the compiled program, and peak memory of both, in MB."""
    ready, _, tool = whole_run(ours, "Tracing")
    compiler = Process(bare)
    compiled = compiler.wait_for("compiled")
    compiler.finish()
    return ready, compiled, tool.peak_mb(), compiler.peak_mb()


def start_pairs(world):
    """Ours on prometheus and libbcc's bare compile of the same program, in turn; kept, since the
    figures of time and memory come from the same runs."""
    if not world.pairs:
        ours = [world.tool("gofunccount"), f"{world.prometheus()}:*"]
        bare = [world.path("bare_compile"), world.recorded("start", ours).folder]
        with undisturbed():
            world.pairs = [start_pair(ours, bare) for _ in range(ROUNDS)]
    return world.pairs


def start(world):
    pairs = start_pairs(world)
    yield Row("start to first probe, 63,000 functions", "bare compile",
              [p[0] for p in pairs], [p[1] for p in pairs], "s", 1.3)


def memory(world):
    """The target allows 1.5 times the bare compile and the names: taken off ours first."""
    pairs = start_pairs(world)
    names = w.symbol_bytes(world.prometheus()) / 1e6
    yield Row(f"peak memory there, less {names:.1f} MB of names",
              "bare compile", [p[2] - names for p in pairs], [p[3] for p in pairs], "MB", 1.5)


def again(world):
    """A start like one before, whose compiled program is kept, and one that compiles"""
    program = world.target("1.19", "again")
    kept = {"GOTOOLS_CACHE": world.path("programs")}
    for tool, word in ("gofunccount", "Tracing"), ("gofunclatency", "Tracing"), ("gotrace", "PID"):
        argv = [world.tool(tool), f"{program}:main.*"]
        whole_run(argv, word, kept)
        ours, first, peaks = [], [], []
        with undisturbed():
            for _ in range(ROUNDS):
                for seconds, env in (ours, kept), (first, None):
                    ready, _, done = whole_run(argv, word, env)
                    seconds.append(ready)
                    peaks.append(done.peak_mb())
        yield Row(f"{tool} started again: to first probe", "compiled anew", ours, first, "s", 0.6)
        yield Row(f"{tool} started again: peak memory", "compiled anew", peaks[::2], peaks[1::2], "MB", 0.4)


def signatures(world):
    """gotrace's start where many functions have different signatures: by tables, and by compiled code"""
    for (when, pattern), (functions, limit) in SIGNATURES.items():
        ours, code, peaks = [], [], []
        with undisturbed():
            for way, seconds in (("yes", ours), ("no", code)):
                ready, _, tool = whole_run([world.tool("gotrace"), f"{when}{world.prometheus()}:{pattern}"],
                                           "PID", {"GOTOOLS_TABLES": way})
                seconds.append(ready)
                peaks.append(tool.peak_mb())
        what = f"gotrace of {functions}"
        yield Row(f"{what}: start", "compiled code", ours, code, "s", 0.3, limit)
        yield Row(f"{what}: peak memory", "compiled code", peaks[:1], peaks[1:], "MB", 0.8, 400)
