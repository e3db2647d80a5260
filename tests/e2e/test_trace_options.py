# SPDX-License-Identifier: Apache-2.0
"""gotrace's options: whom it traces, how much, and what each line has."""

import os
import re
import subprocess
import threading
import time

from harness import (Target, Tool, expect, newest, run, test, tool_path, tracks)

from gotrace import Tracer, rows, texts, trace, trace_fixture

ADD = ':main.add "%d %d", a, b'


@test()
def trace_most_events():
    """-M N ends after N events."""
    with Target("predicates", newest(), args=["calls=2000"]) as target:
        with Tracer("-M", 7, "-p", target.target_pid, ':main.filtered "%d", n') as tracer:
            tracer.attached()
            target.go()
            expect(len(rows(tracer.rest())) == 7, "not seven events")
        target.truth()


@test()
def trace_two_processes():
    """-p takes one of two processes of one binary; without -p both are seen."""
    with Target("traced", newest()) as one, Target("traced", newest(), path=one.path) as two:
        with Tracer(one.path + ADD) as both, Tracer("-p", one.target_pid, ADD) as first:
            both.attached()
            first.attached()
            two.go()
            two.truth()
            one.go()
            one.truth()
            expect([r.pid for r in rows(first.rest())] == [one.target_pid], "-p: not its process")
            time.sleep(0.2)
            both.signal(2)
            seen = sorted(r.pid for r in rows(both.rest()))
            expect(seen == sorted([one.target_pid, two.target_pid]), f"seen: {seen}")


@test(version=["1.15", "1.19", "1.27"], options=[[], ["-U"], ["-G", "1"]])
def trace_every_process(version, options):
    """Without -p"""
    with Target("traced", version) as target:
        with Tracer(*options, target.path + ADD, f'r:{target.path}:main.add "%d", retval') as tracer:
            tracer.attached()
            target.go()
            target.truth()
            time.sleep(0.3)
            tracer.signal(2)
            expect(texts(tracer.rest()) == ["42 13", "55"], f"{tracer.said()}")


@test()
def trace_thread_and_goroutine():
    """-L TID and -G GOID"""
    text, _ = trace_fixture("migrate", newest(), "-G", 1, ':main.sleeping "%d", n')
    expect(rows(text) == [], "main does not sleep")
    with Target("migrate", newest(), args=["calls=60"]) as target:
        with Tracer("-p", target.target_pid, ':main.sleeping "%d", n') as every:
            every.attached()
            with Tracer("-L", target.target_pid, ':main.sleeping "%d", n', "-p",
                        target.target_pid) as one:
                one.attached()
                target.go()
                target.truth()
                mine, all_rows = rows(one.rest()), rows(every.rest())
    expect(len(all_rows) == 1200, f"{len(all_rows)} of 1200 calls")
    true = [(r.goid, r.text) for r in all_rows if r.tid == target.target_pid]
    expect(sorted((r.goid, r.text) for r in mine) == sorted(true), "-L: other calls")


@test()
def trace_one_goroutine():
    with Target("traced", newest(), args=["rounds=4"]) as target:
        text, _ = trace(target, "-G", 1, ADD)
        expect(len(rows(text)) == 4 and all(r.goid == 1 for r in rows(text)), text)


@test()
def trace_filters():
    """-n: processes whose name holds it; -f: lines that hold it"""
    for options, count in ((["-n", "trac"], 4), (["-n", "other"], 0), (["-f", "none"], 1),
                           (["-f", "nowhere"], 0)):
        text, _ = trace_fixture("traced", newest(), *options, ':main.(*Store).Get "%s", key')
        expect(len(rows(text)) == count, f"{options}: {len(rows(text))} lines, not {count}")


COLUMNS = [  # options, header, what each row begins with
    (["-t"], r"TIME +PID ", r"\d+\.\d{6} +\d+ "),
    (["-t", "-u"], r"TIME +PID ", r"1\d{9}\.\d{6} +\d+ "),
    (["-T"], r"TIME +PID ", r"\d\d:\d\d:\d\d +\d+ "),
    (["-C"], r"CPU +PID ", r"\d{1,3} +\d+ "),
    (["-T", "-C"], r"TIME +CPU +PID ", r"\d\d:\d\d:\d\d +\d{1,3} +\d+ "),
]


@test(number=range(len(COLUMNS)))
def trace_columns(number):
    options, header, start = COLUMNS[number]
    text, _ = trace_fixture("traced", newest(), *options, ':main.(*Store).Get "%s", key')
    lines = text.splitlines()
    expect(re.match(header, lines[0]), f"header: {lines[0]}")
    expect(len(lines) == 5, f"{len(lines)} lines")
    for line in lines[1:]:
        expect(re.match(start, line), f"row: {line}")


@test()
def trace_unix_time():
    before = time.time()
    text, _ = trace_fixture("traced", newest(), "-t", "-u", ADD)
    at = float(text.splitlines()[1].split()[0])
    expect(before <= at <= time.time(), f"{at} is not between {before} and {time.time()}")


@test()
def trace_aggregate():
    """-A: each distinct line once, with its count, rarest first; when and where it was is no part
    of it"""
    text, _ = trace_fixture("traced", newest(), "-A", "-T", "-t", "-C", ':main.(*Store).Get "%s", key',
                            ':main.(*Store).Get (key == "two") "rarer"', ':main.slowly "%d", ms',
                            words=["rounds=9"])
    keys = dict.fromkeys(("one", "none", "two", "nothing", "rarer", "10", "20", "30"), 9)
    for key, count in keys.items():
        counts = re.findall(rf" {key}\n-->COUNT (\d+)$", text, re.M)
        expect(counts == [str(count)], f"{key}: {counts}")


@test()
def trace_duration():
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Tracer("-d", 1, "-p", target.target_pid, ':main.digest (false) "x"') as tracer:
            tracer.attached()
            begun = time.monotonic()
            tracer.rest()
            took = time.monotonic() - begun
        expect(0.9 <= took < 6, f"-d 1 took {took:.1f} s")
        target.go()
        target.wait()


@test()
def trace_shows_program():
    """-v shows the generated program, which nothing of the user's text gets into."""
    with Target("traced", newest()) as target:
        text, err = trace(target, "-v", ':main.greet (name == "zyxwv") "qqq %s", name')
        source = text + err
        expect("SEC(" in source or "int " in source, f"no program: {source[:200]}")
        code = source.split("PID     TID")[0]
        expect("qqq" not in code.split("*/")[-1], "the format is in the program")


@test()
def trace_interrupted():
    """Ctrl-C ends it with status 0; what had happened is printed."""
    with Target("steady", newest(), args=["threads=1"]) as target:
        with Tracer("-p", target.target_pid, ':main.fib (n == 1) "%d", n') as tracer:
            tracer.attached()
            target.works(0.5)
            tracer.signal(2)
            expect(set(texts(tracer.rest())) == {"1"}, "other calls")
        target.go()
        target.wait()


@test()
def trace_live():
    """Lines come while the target runs, not at its end."""
    with Target("web", newest()) as target, Tracer(
            "-p", target.target_pid, ':net/http.(*Server).Serve "serves %d", l != nil') as tracer:
        tracer.attached()
        target.go()
        end = time.monotonic() + 10
        while "serves 1" not in tracer.out.text() and time.monotonic() < end:
            time.sleep(0.05)
        expect("serves 1" in tracer.out.text(), f"nothing yet: {tracer.said()}")
        target.go()
        target.wait()
        tracer.rest()


def calls_of(target, name):
    return next(t["calls"] for t in tracks(target.out.text()) if t["func"] == name)


@test(alone=True)
def trace_slow_reader():
    """A reader that does not read slows no target; what is lost is counted."""
    with Target("traced", newest(), args=["rounds=1", "hot=300000"]) as target:
        with subprocess.Popen([tool_path("gotrace"), "-p", str(target.target_pid), ADD],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tracer:
            expect("PID" in tracer.stdout.readline(), "no header")
            target.go()
            status = target.wait(120)
            lines, err = [], []
            drain = threading.Thread(target=lambda: err.append(tracer.stderr.read()))
            drain.start()
            lines = tracer.stdout.readlines()
            drain.join()
            expect(tracer.wait() == 0 and status == 0, f"{err}")
        lost = sum(int(n) for n in re.findall(r"(\d+) events? (?:was|were|lost)", err[0])[:1])
        true = calls_of(target, "main.add")
        expect(len(lines) + lost == true, f"{len(lines)} lines and {lost} lost of {true}: {err[0]}")
        expect(lost > 0, "nothing was lost: the reader was waited for?")


@test()
def trace_many_probes():
    """Sixteen PROBEs on one function, of two kinds"""
    probes = [f'{"r" if i % 2 else ""}:main.add "#{i} %d", a' for i in range(16)]
    text, _ = trace_fixture("traced", newest(), *probes)
    got = sorted(texts(text))
    expect(got == sorted(f"#{i} 42" for i in range(16)), f"{len(got)} lines: {got[:3]}")


@test()
def trace_regex():
    """-r: parentheses are the expression's, a predicate's after a space"""
    text, _ = trace_fixture("traced", newest(), "-r", r':(main|fmt)\.(add|nothing)$ (a == 42) "%d", b')
    expect(texts(text) == ["13"], f"{texts(text)}")


@test()
def trace_beside_others():
    """Other tools trace the same functions meanwhile."""
    with Target("traced", newest(), args=["rounds=10"]) as target:
        with Tool("gofunccount", "-j", "-p", target.target_pid, ":main.*") as counter, \
                Tool("gofunclatency", "-j", "-p", target.target_pid, ":main.add") as timer:
            counter.tracing()
            timer.tracing()
            text, _ = trace(target, ADD, 'r:main.add "%d", retval')
            expect(texts(text) == ["42 13", "55"] * 10, f"{texts(text)[:4]}")
            counter.wait()
            timer.wait()


@test()
def trace_two_files():
    """PROBEs of two binaries at once"""
    with Target("traced", newest()) as old, Target("predicates", newest(), args=["calls=1", "goroutines=1"]) as new:
        with Tracer(old.path + ADD, new.path + ':main.newCall "call %d", n') as tracer:
            tracer.attached()
            for target in old, new:
                target.go()
                target.truth()
            time.sleep(0.3)
            tracer.signal(2)
            got = texts(tracer.rest())
            expect(got == ["42 13", "call 0"], f"{got[:5]}")


@test()
def trace_help():
    done = run([tool_path("gotrace"), "--help"], env=dict(os.environ, COLUMNS="80"))
    for option in "-p", "-L", "-G", "-Z", "-M", "-t", "-T", "-C", "-n", "-f", "-U", "-K", "-a", "-A":
        expect(re.search(rf"(^|[ \[|]){option}\b", done.stdout, re.M), f"{option} is not in the help")
