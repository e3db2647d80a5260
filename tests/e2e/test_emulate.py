# SPDX-License-Identifier: Apache-2.0
"""Returns that a BPF program carries out, where the kernel lets it (from Linux 6.19 on), instead of the
kernel: once, whoever else traces them, and with all that can be read there."""

import os
import platform
import re
import signal
import time
from statistics import median

from harness import (Target, Tool, compare_latency, expect, newest, run, some_versions, test, tool_path, versions)

from gotrace import Tracer, rows, texts
from test_safety import busy
from test_trace_after import PROBES, true_calls

WAYS = ["multi", "perf", "stub"]
EDGES = ["1.15", "1.27"]  # results on the stack, and in registers


def kernel_can():
    return tuple(int(n) for n in re.findall(r"\d+", platform.release())[:2]) >= (6, 19)


UNAWARE = dict(os.environ, GOTOOLS_EMULATE="no")  # as other tracers are


@test(tool=["gofunclatency", "gotrace"], how=["", "--no-emulate", "unaware"])
def emulate_said(tool, how):
    """-v tells who carries returns out."""
    with Target("hello", newest()) as target:
        pattern = f"{'r:' if tool == 'gotrace' else ''}{target.path}:main.main"
        said = run([tool_path(tool), "-v", "-d", "1", pattern, *([how] if how.startswith("-") else [])],
                   env=UNAWARE if how == "unaware" else os.environ)
    how = "emulated by the BPF program" if kernel_can() and not how else "single-stepped by the kernel"
    expect(f"\nReturns are {how}.\n" in said.stdout, f"not {how}: {said.stdout[-300:]} {said.stderr}")


@test()
def emulate_alone():
    """What a tool itself has put at a return, for another of its probes, is no other tracer's."""
    # so much code that the kernel side needs two programs for it
    probes = [f"""r:main.pingOnce "{'%d ' * 24}", {", ".join(f"n*{k}{i}+retval" for i in range(10, 34))}"""
              for k in range(1, 7)]
    with Target("recurse", newest()) as target, Tracer("-v", "-p", target.target_pid, *probes) as tool:
        tool.attached()
        target.go()
        calls = sum(t["calls"] for t in target.truth() if t["func"] == "main.pingOnce")
        said = tool.rest()
        expect("int on_probe_1(" in tool.out.text(), "one program was enough")
        expect(len(texts(said, "main.pingOnce")) == len(probes) * calls, tool.err.text()[-300:])
    expect("another tracer" not in tool.err.text(), tool.err.text()[-300:])


@test()
def emulate_unasked():
    """Where no returns are probed, nothing is tried and nothing said."""
    with Target("hello", newest()) as target:
        said = run([tool_path("gotrace"), "-v", "-d", "1", f"{target.path}:main.main"])
    expect("Returns are" not in said.stdout and "EMULATE" not in said.stdout, said.stdout[-300:])


def timed(name, version, flavour, way):
    env = dict(os.environ, GOTOOLS_ATTACH=way)
    with Target(name, version, flavour) as target:
        with Tool("gofunclatency", "-F", "-j", "-p", target.target_pid, ":main.*", env=env) as tool:
            tool.tracing()
            target.go()
            truth = target.truth()
            compare_latency(truth, tool.records())


@test(name=["recurse", "panics", "preempt"], way=["perf", "stub"])
def emulate_ways(name, way):
    """Deep recursion, panics, preemption all the time; e2e/latency has the usual way"""
    timed(name, newest(), "plain", way=way)


@test(version=EDGES)
def emulate_company(version):
    """Two of each tool at the same returns: each sees every call, and what it answered"""
    probe = 'r:main.pingOnce "%d %d", n, retval'
    with Target("recurse", version) as target:
        pid = target.target_pid
        with Tool("gofunclatency", "-F", "-j", "-p", pid, ":main.*") as one, \
                Tracer("-p", pid, probe, probe) as two, \
                Tool("gofunclatency", "-F", "-j", "-p", pid, ":main.*") as three, \
                Tracer("-p", pid, "r:main.pongOnce", probe) as four:
            for tool in one, three:
                tool.tracing()
            for tool in two, four:
                tool.attached()
            target.go()
            truth = target.truth()
            for tool in one, three:
                compare_latency(truth, tool.records())
            calls = sum(t["calls"] for t in truth if t["func"] == "main.pingOnce")
            for tool, times in (two, 2), (four, 1):
                got = [t.split() for t in texts(tool.rest(), "main.pingOnce")]
                expect(len(got) == times * calls, f"{len(got)} events of {calls} calls: {tool.err.text()}")
                expect(all(n == result for n, result in got), f"wrong: {got[:9]}")


@test(version=EDGES, way=["multi", "perf"])
def emulate_beside(version, way):
    """A tracer that was there first, and knows nothing of such returns, sees what it always sees."""
    probe = 'r:main.pingOnce "%d %d", n, retval'
    with Target("recurse", version) as target:
        pid = target.target_pid
        with Tracer("-p", pid, probe, env=dict(UNAWARE, GOTOOLS_ATTACH=way)) as first:
            first.attached()
            with Tool("gofunclatency", "-F", "-j", "-v", "-p", pid, ":main.*") as second:
                second.tracing()
                with Tool("gofunclatency", "-F", "-j", "--no-emulate", "-p", pid, ":main.*") as third:
                    third.tracing()
                    target.go()
                    truth = target.truth()
                    compare_latency(truth, third.records())
                compare_latency(truth, second.records())
            got = [t.split() for t in texts(first.rest(), "main.pingOnce")]
    calls = sum(t["calls"] for t in truth if t["func"] == "main.pingOnce")
    expect(len(got) == calls and all(len(t) == 2 and t[0] == t[1] for t in got), f"{len(got)} of {calls}: {got[:9]}")
    left = re.search(r"gofunclatency: (\d+) return instructions? (is|are) single-stepped", second.err.text())
    expect(bool(left) == kernel_can() and (not left or 0 < int(left[1]) < 9), second.err.text()[-300:])


@test(built_as=lambda: ["1.15-plain", "1.27-pie", *(["1.19-pie", "1.27-plain"] if len(versions()) > 5 else [])])
def emulate_values(built_as):
    """Results, what the call has changed, and the stack at its end, by a tool that runs after another
    has carried the return out"""
    probes = [f"r:main.{name} {tail}" for name, tail in PROBES.items()]
    with Target("after", *built_as.split("-")) as target:
        pid = target.target_pid
        with Tracer("-p", pid, *probes) as one, \
                Tracer("-U", "-p", pid, 'r:main.fill "%d", goret1') as stacks, \
                Tracer("-p", pid, *probes) as two, \
                Tracer("-U", "-p", pid, 'r:main.fill "%d", goret1') as first:
            tools = one, stacks, two, first
            for tool in tools:
                tool.attached()
            target.go()
            said = [tool.rest() for tool in tools]
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            true = [text for name, text in true_calls(target.out.text()) if name in PROBES]
    for got in said[0], said[2]:
        got = texts(got)
        wrong = [f"{g}, in truth {t}" for g, t in zip(got, true) if g != t]
        expect(not wrong and len(got) == len(true), f"{len(got)} of {len(true)}, wrong: {wrong[:5]}")
    seen = [[(row.text, stack) for row, stack in rows(text, stacks=True)] for text in (said[1], said[3])]
    expect(seen[0] == seen[1] and len(seen[0]) > 40, f"{seen[0][:1]} but {seen[1][:1]}")
    expect(all(stack[0].startswith("main.fill ") and len(stack) > 2 for _, stack in seen[0]), f"{seen[0][:1]}")


@test(version=lambda: ["1.15", newest()])
def emulate_chosen(version):
    """-p, where other processes of the file have the breakpoints too"""
    env = dict(os.environ, GOTOOLS_ALONE="no")
    with Target("recurse", version) as target, Target("recurse", version, path=target.path) as other:
        with Tool("gofunclatency", "-F", "-j", "-p", target.target_pid, ":main.*", env=env) as tool, \
                Tracer("-p", target.target_pid, "r:main.pingOnce", env=env) as tracer:
            tool.tracing()
            tracer.attached()
            other.go()
            target.go()
            truth = target.truth()
            compare_latency(truth, tool.records())
            calls = sum(t["calls"] for t in truth if t["func"] == "main.pingOnce")
            expect(len(rows(tracer.rest())) == calls, f"not {calls} events")
            expect(other.truth() and other.child.returncode == 0, "the other process did not end well")


@test(version=lambda: some_versions() if len(versions()) > 5 else [newest()])
def emulate_killed(version):
    """Tools come and are killed while others stay, and the program computes what it should."""
    with busy("steady", version) as target:
        with Tool("gofunclatency", "-F", "-j", "-p", target.target_pid, ":main.*") as stays:
            stays.tracing()
            for moment in 0.05, 0.5, 1.0:
                with Tracer("-p", target.target_pid, "r:main.*") as tracer, \
                        Tool("gofunclatency", "-p", target.target_pid, ":main.*") as tool:
                    tracer.attached()
                    time.sleep(moment)
                    tracer.signal(signal.SIGKILL)
                    tool.signal(signal.SIGKILL)
                    tracer.wait()
                    tool.wait()
            expect(target.child.poll() is None, target.said())
            calls = {r["func"]: r for r in stays.stop()}
            expect(calls["main.fib"]["count"] > 1000, f"{calls['main.fib']}")
            expect(all(r["lost"] == 0 for r in calls.values()), f"{calls}")


PRICE_ROUNDS, PRICE_CALLS = 9, 2000


def price(target, line, calls=PRICE_CALLS):
    """CPU time of a call, in ns"""
    target.say(str(calls))
    return float(target.wait_line(f"took {line} ").split()[2])


@test(alone=True)
def emulate_price():
    """What emulation is for: a timed call beside one whose return is single-stepped, in turns"""
    with Target("priced", newest()) as plain, Target("priced", newest()) as one, \
            Target("priced", newest()) as two, \
            Tool("gofunclatency", "-p", one.target_pid, "main.checked") as first, \
            Tool("gofunclatency", "--no-emulate", "-p", two.target_pid, "main.checked") as second:
        first.tracing()
        second.tracing()
        rounds = [[price(target, n) for target in (plain, one, two)] for n in range(1, PRICE_ROUNDS + 1)]
        for tool in first, second:
            tool.signal(signal.SIGINT)
            tool.wait()
            expect(f"count: {PRICE_ROUNDS * PRICE_CALLS}" in tool.out.text(), f"not all calls: {tool.said()}")
    alone, emulated, stepped = (median(times) for times in zip(*rounds))
    share = median((emulated - alone) / (stepped - alone) for alone, emulated, stepped in rounds)
    print(f"a timed call takes {emulated:.0f} ns, single-stepped {stepped:.0f} ns, untraced {alone:.0f} ns: "
          f"{share:.2f}", flush=True)
    expect(share < 0.9 if kernel_can() else 0.6 < share < 1.6, f"{share:.2f} of what it takes single-stepped")
