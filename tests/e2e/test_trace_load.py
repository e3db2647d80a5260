# SPDX-License-Identifier: Apache-2.0
"""gotrace against programs that do not care for it: nothing is lost without a word, nothing is
made up, and whatever happens to the tracer the program does not suffer."""

import collections
import os
import re
import signal
import subprocess
import tempfile
import time

from harness import (PATIENCE, Process, Target, Tool, compare_counts, compare_latency, expect, json_lines, newest,
                     of_older, private_copy, run, test, tool_path, tracks)

from gotrace import Tracer, rows, texts, trace, trace_fixture
from test_etcd import GETS, PUTS, Etcd, free_port
from test_safety import busy

EDGES = ["1.15", "1.27"]  # arguments on the stack, and in registers
HOSTILE = {"recursion": 5000, "crowd": 3000, "unwinding": 40, "faults": 100, "nesting": 20,
           "leaving": 50}
WAYS = {"return": "returned", "panic": "panicked", "exit": "exited"}


def said_number(said, words):
    """The number in the message that says so; 0: there is no such message"""
    found = re.search(rf"^gotrace: (\d+) [^\n]*{words}", said, re.M)
    return int(found[1]) if found else 0


def ways(events, name):
    """How a function's calls ended: {"returned": N, ...}"""
    got = dict.fromkeys(WAYS.values(), 0)
    for event in events:
        if event.get("func") == name:
            got[WAYS[event["how"]]] += 1
    return got


def follow(case, version, n):
    """gotrace's return probes at a hostile program: its truth, gotrace's events and messages"""
    with Target("hostile", version, args=[case, f"n={n}"]) as target:
        functions = [f"r:main.{f}" for f in ("deepCall", "deepEnd", "inCrowd", "derefs", "catches",
                                             "rethrows", "defers", "throws", "quits", "stays")]
        text, said = trace(target, "-j", *functions)
        return tracks(target.out.text()), json_lines(text), said


def missing(truth, events):
    """How many endings were not printed; none is printed too often, no return is lost"""
    lost = 0
    for track in truth:
        got = ways(events, track["func"])
        expect(got["returned"] == track["returned"],
               f"{track['func']}: {got} printed, {track['returned']} returned")
        for way in "panicked", "exited":
            expect(got[way] <= track[way], f"{track['func']}: {got} printed, {track[way]} {way}")
            lost += track[way] - got[way]
    return lost


@test(case=list(HOSTILE), version=EDGES)
def load_hostile(case, version):
    """How every call ended, exactly, and how many were still going on"""
    truth, events, said = follow(case, version, HOSTILE[case])
    lost = missing(truth, events)
    expect(lost == 0, f"{lost} calls that ended are not printed: {said}")
    running = sum(t["running"] for t in truth)
    got = said_number(said, "had not returned")
    expect(got == running, f"{got} calls had not returned, in truth {running}")


@test()
def load_waiting_once():
    """A call that several PROBEs wait for is one call that has not returned."""
    with Target("hostile", newest(), args=["leaving", f"n={HOSTILE['leaving']}"]) as target:
        _, said = trace(target, "r:main.stays", 'r:main.stays "%d", $goid', "r:main.s*", "r:main.defers")
        running = sum(t["running"] for t in tracks(target.out.text()) if t["func"] in ("main.stays", "main.defers"))
    expect(said_number(said, "had not returned") == running > 0, f"in truth {running}: {said}")


@test(version=EDGES)
def load_deep_panics(version):
    """More calls end at once than the kernel side can print: the rest is counted, and those that
    return later are right."""
    truth, events, said = follow("unwinding", version, 1500)
    lost, told = missing(truth, events), said_number(said, "ended too many at once")
    expect(lost == told > 1000, f"{lost} are not printed, {told} are told")
    expect(not said_number(said, "had not returned"), said)


@test()
def load_too_deep():
    """More calls at a time than there is room to wait for: how many is told, and those that there
    was room for are right."""
    with Target("hostile", newest(), args=["recursion", "n=132000"]) as target:
        text, said = trace(target, 'r:main.deepCall (retval % 1000 == 0) "%d %d", n, retval')
        true = sum(t["calls"] for t in tracks(target.out.text()) if t["func"] == "main.deepCall")
    got = [row.split() for row in texts(text)]
    expect(got and all(n == result for n, result in got), f"wrong: {got[:5]}")
    expect(true == 264002, f"{true} calls")
    untracked = said_number(said, "not tracked")
    expect(untracked == true - 2 * 131072, f"{untracked} of {true} not tracked: {said}")


@test()
def load_unreadable_predicate():
    """A predicate that meets memory that is not there drops the call, and these are counted."""
    with Target("pointers", newest()) as target:
        text, said = trace(target, ":main.takesText (s[0] != 70000)")
        true = next(t["calls"] for t in tracks(target.out.text()) if t["func"] == "main.takesText")
    lost = said_number(said, "not printed: the predicate has no value: memory could not be read")
    expect(lost >= 63, f"{lost} of {true} told, 63 have wild pointers: {said}")
    expect(len(rows(text)) + lost == true, f"{len(rows(text))} printed, {lost} told, {true} in truth")


@test()
def load_system_stack():
    """What never returns on a system stack did not panic."""
    text, _ = trace_fixture("migrate", newest(), "r:runtime.schedule", 'r:runtime.execute "%d", $latency',
                            words=["goroutines=3"])
    got = {row.func: set() for row in rows(text)}
    for row in rows(text):
        got[row.func].add(row.text.split()[-1])
    expect(got == {"runtime.schedule": {"<left>"}, "runtime.execute": {"(left)"}}, f"{got}")


def attach_modes():
    return ["multi", "perf", "stub"]


@test(attach=attach_modes, version=EDGES)
def load_preempted(attach, version):
    """Every call once, with its own argument and result, though it starts anew all the time"""
    calls = 4000
    env = dict(os.environ, GOTOOLS_ATTACH=attach)
    with Target("preempt", version, args=[f"calls={calls}"]) as target:
        with Tracer("-p", target.target_pid, ':main.checkedCall "%d", n', 'r:main.leafCall "%d %d", n, retval',
                    env=env) as tracer:
            tracer.attached()
            target.go()
            target.truth()
            text = tracer.rest()
    expect(texts(text, "main.checkedCall") == [str(n) for n in range(calls)], "calls are wrong")
    expect(texts(text, "main.leafCall") == [f"{n} {n ^ 5}" for n in range(calls)], "results are wrong")


@test(attach=attach_modes)
def load_one_place(attach):
    """Two PROBEs at one place, each with its own format"""
    env = dict(os.environ, GOTOOLS_ATTACH=attach)
    with Target("preempt", newest(), args=["calls=500"]) as target:
        with Tracer("-p", target.target_pid, ':main.checkedCall "%d", n',
                    ':main.checkedCall (n % 2 == 1) "odd %d", n', env=env) as tracer:
            tracer.attached()
            target.go()
            target.truth()
            text = tracer.rest()
    want = sorted([str(n) for n in range(500)] + [f"odd {n}" for n in range(1, 500, 2)])
    expect(sorted(texts(text, "main.checkedCall")) == want, "calls are wrong")


@test(version=EDGES)
def load_predicates(version):
    """Chosen calls only, at entry and at return, with stacks"""
    text, _ = trace_fixture("preempt", version, "-U", ':main.checkedCall (n % 7 == 3) "%d", n',
                            'r:main.leafCall (retval % 11 == 1) "%d", n', words=["calls=3000"])
    got = rows(text, stacks=True)
    entries = [row.text for row, _ in got if row.func == "main.checkedCall"]
    returns = [row.text for row, _ in got if row.func == "main.leafCall"]
    expect(entries == [str(n) for n in range(3000) if n % 7 == 3], "wrong calls at entry")
    expect(returns == [str(n) for n in range(3000) if (n ^ 5) % 11 == 1], "wrong calls at return")
    for row, stack in got:
        expect(stack[0].startswith(row.func) and any(s.startswith("main.main ") for s in stack),
               f"{row}: {stack}")


@test(version=EDGES)
def load_grown(version):
    """Stacks move under calls that are waited for."""
    text, said = trace_fixture("grow", version, 'r:main.copiedInFlight "%d %d", n, retval',
                               'r:main.big3k "%d", n', ':main.goDown "%d", n', words=["goroutines=30"])
    true = {t["func"]: t["calls"] for t in tracks(said)}
    got = [int(t.split()[0]) for t in texts(text, "main.copiedInFlight")]
    expect(got == list(range(30)), f"main.copiedInFlight: {got}")
    expect(texts(text, "main.big3k") == [str(n) for n in range(30)], "main.big3k")
    expect(len(texts(text, "main.goDown")) == true["main.goDown"], "main.goDown")


@test(version=EDGES)
def load_early(version):
    """Calls that began before are not printed when they return."""
    text, said = trace_fixture("early", version, 'r:main.waiting "%d %d", depth, retval')
    true = tracks(said)[0]["calls"]
    got = texts(text)
    expect(len(got) == true and all(len(set(t.split())) == 1 for t in got), f"{len(got)} of {true}: {got}")


@test(version=["1.19"])
def load_ending(version):
    """Returns stop being probed before entries do: no call seems to panic then."""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "server", version, "sw")
        port = f"port={free_port()}"
        with Process([path, port]) as server:
            server.wait_line("serving")
            with Process([path, "load", port, "seconds=60"]):
                with Tracer("-p", server.pid, "-d", "1",
                            'r::main.(*Shop).Buy(name string) (sold int)') as tracer:
                    out = tracer.rest()
                expect(out.count("main.(*Shop).Buy") > 20, f"hardly any call: {out[:500]}")
                expect("panicked" not in out, f"{out.count('panicked')} calls seem to panic")


class Unread:
    """gotrace with an output that nobody reads for now"""

    def __init__(self, target, *args):
        self.child = subprocess.Popen([tool_path("gotrace"), "-p", str(target.target_pid), *args],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.head = self.child.stdout.readline()
        expect(b"PID" in self.head, f"{self.head}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.communicate()


def hot(target):
    begun = time.monotonic()
    target.go()
    target.truth()
    return time.monotonic() - begun


@test(alone=True)
def load_overflow():
    """A reader that does not read: the program runs on, and what is lost is counted."""
    calls = 300_000
    with Target("traced", newest(), args=[f"hot={calls}"]) as target, \
            Tracer("-p", target.target_pid, ":main.add (a == -1)") as tracer:
        tracer.attached()
        alone = hot(target)
        tracer.rest()
    with Target("traced", newest(), args=[f"hot={calls}"]) as target, \
            Unread(target, ':main.add "%d", a') as tracer:
        took = hot(target)
        time.sleep(0.5)
        out, err = tracer.child.communicate(timeout=PATIENCE)
        got = [int(t) for t in texts(out.decode())]
        lost = said_number(err.decode(), "events lost")
        expect(len(got) + lost == calls + 1 and lost > 1000, f"{len(got)} printed, {lost} lost of {calls + 1}")
        expect(got[1:] == sorted(set(got[1:])), "printed twice, or out of order")
        expect(took < 4 * alone + 0.5, f"{took:.2f} s, without events {alone:.2f} s")


@test(number=[2, 15])
def load_unread_interrupted(number):
    """A second signal ends a tracer that waits for its reader."""
    with Target("traced", newest(), args=["hot=300000"]) as target, \
            Unread(target, ':main.add "%d", a') as tracer:
        hot(target)
        time.sleep(0.5)
        tracer.child.send_signal(number)
        time.sleep(0.5)
        expect(tracer.child.poll() is None, "ended by the first signal, with events yet to be printed")
        tracer.child.send_signal(number)
        expect(tracer.child.wait(PATIENCE) == 128 + number, f"status {tracer.child.returncode}")


@test(version=EDGES, options=[[], ["r:"], ["%+v"]])
def load_wild_pointers(version, options):
    """Pointers to nothing, lengths from elsewhere, rings: printed as what they are, or as unreadable"""
    names = ["takesText", "takesBytes", "takesInterface", "takesError", "takesMap", "takesRing", "takesOthers"]
    probes = [f":main.{n}" for n in names]
    if options == ["r:"]:
        probes = [f"r:main.{n}" for n in names]
    elif options:
        probes = [f':main.{n} "%+v %v %d", goarg1, goarg1, n' for n in names[:-1]]
        probes.append(':main.takesOthers "%+v %v %+v %d", c, f, list, n')
    text, said = trace_fixture("pointers", version, *probes)
    for track in tracks(said):
        got = texts(text, track["func"])
        if track["func"] != "main.takesCold":
            expect(len(got) == track["calls"] > 60, f"{track['func']}: {len(got)} of {track['calls']}")
            expect(any("<fault>" in t for t in got), f"{track['func']}: what is unreadable?")
            expect(all(len(t) < 3000 for t in got), f"{track['func']}: endless")
    numbers = [int(re.search(r"(?:n=)?(\d+)(?: = \d+| -> \d+)?$", t)[1]) for t in texts(text, "main.takesText")]
    expect(numbers == [n // 2 for n in range(126)], f"arguments after it are wrong: {numbers[:9]}")


@test(sleepable=["yes", "no"])
def load_cold(sleepable):
    """Memory that was never touched is read, or said to be not there."""
    env = dict(os.environ, **({"GOTOOLS_SLEEPABLE": "no"} if sleepable == "no" else {}))
    with Target("pointers", newest()) as target, \
            Tracer("-p", target.target_pid, ':main.takesCold "%s"  , s', env=env) as tracer:
        tracer.attached()
        target.go()
        target.truth()
        got = texts(tracer.rest())
        true = "<fault>" if sleepable == "no" else ("never touched..." * 3)[:40]
        expect(got == [true], f"{got}, not {true}")


@test()
def load_dead():
    """Memory that is waited for without end holds up neither other events nor the tool's end."""
    with Target("dead", newest()) as target, \
            Tracer("-p", target.target_pid, ":main.takesDead", ":main.takesLive") as tracer:
        tracer.attached()
        target.go()
        target.wait_line("{")
        time.sleep(0.5)
        tracer.signal(signal.SIGINT)
        text = tracer.rest()
        expect(texts(text, "main.takesLive") == [f"n={n}" for n in range(20)], text)
        expect("waits for memory that does not come" in tracer.err.text(), tracer.err.text())


@test(probe=[":", "r:"])
def load_late(probe):
    """A handler that waits for memory finds its own variables when it goes on, whatever ran on its CPU."""
    # before Linux 6.6 nobody else on its CPU would get on meanwhile: see gotools(7)
    waits = tuple(map(int, os.uname().release.split("-")[0].split(".")[:2])) >= (6, 6)
    env = os.environ if waits else {**os.environ, "GOTOOLS_SLEEPABLE": "no"}
    probes = [probe.rstrip(":") + ":main.takes" + name for name in ("Late", "Beside")]
    with Target("dead", newest(), args=["late"]) as target, Tracer("-p", target.target_pid, *probes, env=env) as tracer:
        tracer.attached()
        target.go()
        calls = {track["func"]: track["calls"] for track in target.truth() if track["func"] in (
            "main.takesLate", "main.takesBeside")}
        expect(len(calls) == 2, f"{calls}")
        text = tracer.rest()
        result = {"main.takesLate": " = 1705", "main.takesBeside": " = 347"} if probe == "r:" else {}
        late = '"' + 40 * "L" + '"' if waits else "<fault>"
        values = {"main.takesLate": f"before=777 s={late} after=888", "main.takesBeside":
                  'before=111 s="live live live" after=222'}
        for name, count in calls.items():
            got = collections.Counter(re.sub(" -> | = ", " = ", t) for t in texts(text, name))
            true = collections.Counter({values[name] + result.get(name, ""): count})
            expect(got == true and count, f"{name}: {got}, in truth {true}: {tracer.err.text()}")


@test(signals=["9", "2", "2 2", "15", "2 9"], version=lambda: ["1.19", newest()],
      seldom=lambda signals, version: (len(signals) == 1) == (version == "1.19"))
def load_killed(signals, version):
    """At any moment, with everything of package main traced in all ways"""
    with busy("steady", version) as target:
        for moment in 0.02, 0.3, 0.8, 1.5:
            with Tracer("-U", "-p", target.target_pid, "r:main.*", ":main.*", ':runtime.morestack*') as tracer:
                time.sleep(moment)
                for number in signals.split():
                    tracer.signal(int(number))
                tracer.wait()
        expect(target.child.poll() is None, target.said())


@test(version=lambda: ["1.19", newest()], seldom=of_older)
def load_stress(version):
    """Everything that the runtime does, with what package main calls printed at both ends"""
    with busy("stress", version) as target:
        with Tracer("-M", 30000, "-d", 3, "-p", target.target_pid, "r:main.*", "main.*", ":runtime.newstack",
                    "r:runtime.mallocgc") as tracer:
            text = tracer.rest()
            expect(len(rows(text)) > 1000, f"{len(rows(text))} events")


@test()
def load_company():
    """Two of us and both other tools at one place, all right"""
    with Target("recurse", newest()) as target:
        pid = target.target_pid
        with Tool("gofunccount", "-j", "-p", pid, ":main.*") as count, \
                Tool("gofunclatency", "-F", "-j", "-p", pid, ":main.*") as latency, \
                Tracer("-p", pid, 'r:main.pingOnce "%d %d", n, retval', ":main.pingOnce") as one, \
                Tracer("-p", pid, ':main.pingOnce "%d", n', 'r:main.pingOnce "%d", n') as two:
            count.tracing()
            latency.tracing()
            one.attached()
            two.attached()
            target.go()
            truth = target.truth()
            compare_counts(truth, count.records())
            compare_latency(truth, latency.records())
            calls = sum(t["calls"] for t in truth if t["func"] == "main.pingOnce")
            for tracer in one, two:
                got = len(rows(tracer.rest()))
                expect(got == 2 * calls, f"{got} events of {calls} calls: {tracer.err.text()}")


@test(mode=["self", "other", "child", "fatal", "killed"])
def load_process(mode):
    """The program becomes another, starts children, dies."""
    with Target("process", newest(), args=[mode]) as target:
        with Tracer("-j", "-p", target.target_pid, "r:main.workCall") as tracer:
            tracer.attached()
            target.go()
            target.wait()
            events = json_lines(tracer.rest())
            returned = [e for e in events if e["how"] == "return"]
            true = 200 if mode == "self" else 100
            expect(len(returned) == true, f"{len(returned)} of {true} calls")
            got = said_number(tracer.err.text(), "had not returned")
            fatal = [e for e in events if e["how"] == "panic"]
            expect(len(fatal) + got == (mode == "fatal"), f"{len(fatal)} panics, {got} not returned")


@test(command=["now", "now self", "now killed"])
def load_command(command):
    """-- COMMAND, from its first call to its end"""
    with tempfile.TemporaryDirectory() as folder:
        path = private_copy(folder, "process", newest())
        done = run([tool_path("gotrace"), ':main.workCall "%d", n', "main.atInit", "--", path, *command.split()])
        got = texts(done.stdout, "main.workCall")
        rounds = 2 if "self" in command else 1
        expect(got == [str(n) for n in range(100)] * rounds, f"{len(got)} calls: {done.stderr[-300:]}")
        expect(len(texts(done.stdout, "main.atInit")) == rounds, "not from the beginning")


SERVER = "go.etcd.io/*/etcdserver.(*EtcdServer)."


@test()
def load_etcd():
    """A stripped program under load: its requests, by its own type information and by a signature"""
    with tempfile.TemporaryDirectory() as folder, Etcd(folder) as etcd:
        etcd.ready()
        with Tracer("-j", "-U", "-p", etcd.pid, f'r:{SERVER}Put "%s %s %v", goarg3.Key, goarg3.Value, goret2',
                    f'{SERVER}Range "%s", goarg3.Key') as tracer, \
                Tracer("-p", etcd.pid, f'{SERVER}Range(ctx any, r *struct{{Key []byte}}) '
                       '(STRCMP("key7", r.Key)) "%s", r.Key') as chosen:
            tracer.attached()
            chosen.attached()
            etcd.load()
            tracer.signal(signal.SIGINT)
            chosen.signal(signal.SIGINT)
            events = json_lines(tracer.rest())
            puts = [e["message"] for e in events if e["func"].endswith(".Put")]
            gets = [e["message"] for e in events if e["func"].endswith(".Range")]
            expect(puts == [f"key{i} value{i} nil" for i in range(PUTS)], f"{puts[:5]}")
            expect(gets == [f"key{i}" for i in range(GETS)], f"{gets[:5]}")
            expect(texts(chosen.rest()) == ["key7"], chosen.said())
            expect(all(len(e.get("stack", [])) > 3 for e in events), f"{events[0]}")
        etcd.load()
