# SPDX-License-Identifier: Apache-2.0
"""gotrace: what it prints of calls, when, and in which columns."""

import collections
import json
import os
import re

from harness import Target, expect, json_lines, newest, run, test, tool_path, tracks

from gotrace import HEADER, rows, texts, trace, trace_fixture

ABIS = ["1.15", "1.27"]  # arguments on the stack, and in registers
GET = "main.(*Store).Get"


def expect_texts(got, true):
    expect(got == true, f"{got}, not {true}")


@test(version=ABIS)
def trace_layout(version):
    """The header, and rows below it: bcc's columns, with the goroutine's"""
    with Target("traced", version) as target:
        text, _ = trace(target, ':main.add "%d %d", goarg1, goarg2')
        lines = text.splitlines()
        expect(lines[0] == HEADER, f"header: {lines[0]}")
        row = rows(text)[0]
        expect(row.pid == target.target_pid and row.tid >= row.pid and row.goid == 1, f"{row}")
        line = f"{row.pid:<7} {row.tid:<7} {row.goid:<7} {'traced':<15} {'main.add':<16} 42 13"
        expect(lines[1] == line and len(lines) == 2, f"{lines[1:]}, not {line}")


@test(version=ABIS)
def trace_arguments(version):
    """Every way to name an argument"""
    probes = [':main.add "%d %d", goarg1, goarg2', ':main.add "%d", a + b', ":main.add",
              ':main.add "%v", goargs', ':main.add "%x %o %5d|%-5d|%05d %c", a, a, b, b, b, a',
              ':main.add "%u %i %ld %lld %hd", a, b, a, b, a', ':main.add "%v %v", arg1, arg2',
              ':main.add "hello %% %s", $func']
    text, _ = trace_fixture("traced", version, *probes)
    expect_texts(texts(text), ["42 13", "55", "a=42 b=13", "a=42 b=13", "2a 52    13|13   |00013 *",
                               "42 13 42 13 42", "42 13", "hello % main.add"])


@test(version=ABIS)
def trace_values(version):
    text, _ = trace_fixture(
        "traced", version, ":main.greet", ':main.greet "%s %q %v %d", name, name, name, len(name)',
        ':main.greet "%v|%t|%d|%v", opts, opts.Loud, opts.Level, opts.Loud',
        ':main.greet "%-6s|%6s|%.2s|%c", name, name, name, name[0]')
    expect_texts(texts(text), [
        'name="bob" n=3 opts=main.Opts{Loud:true, Level:2}', 'bob "bob" "bob" 3',
        "main.Opts{Loud:true, Level:2}|true|2|true", "bob   |   bob|bo|b"])


@test(version=ABIS)
def trace_fields(version):
    """Pointers are followed, to nil and beyond."""
    text, _ = trace_fixture(
        "traced", version, f':{GET} "%s %s %d %s", s.Name, s.inner.Name, s.inner.hits, key',
        f':{GET} "%s", s.inner.inner.Name', f':{GET} "%p %v", s.inner.inner, s.inner.inner == nil',
        f':{GET} "%d", len(s.entries)')
    got = texts(text)
    keys = ["one", "none", "two", "nothing"]
    expect_texts(got[0::4], [f"shop inner 0 {key}" for key in keys])
    expect_texts(set(got[1::4]), {"<nil pointer>"})
    expect_texts(set(got[2::4]), {"0x0 true"})
    expect_texts(set(got[3::4]), {"2"})


@test(version=ABIS)
def trace_results_named(version):
    """Results, and arguments as they were at entry, whatever the callee did to them"""
    text, _ = trace_fixture(
        "traced", version, 'r:main.changes "%d %s|%d %s %v", n, text, twice, echo, err',
        'r:main.changes (err != nil) "%d %v", n, err', 'r:main.changes "%d %d", retval, goret1',
        'r:main.changes "%v", list', 'r:main.changes "%d", *p')
    true = []
    for n in range(1, 6):
        err = "too much" if n > 3 else "nil"
        true.append(f"{n} text {n}|{2 * n} text {n}! {err}")
        true += [f"{n} too much"] if n > 3 else []
        true += [f"{2 * n} {2 * n}", f"[]int{{{n}, {n + 1}}}", f"{n}"]
    expect_texts(texts(text), true)


@test(version=["1.15", "1.19", "1.27"])
def trace_error_messages(version):
    """What the text of an error says, where it is kept; else its type and value"""
    text, _ = trace_fixture("traced", version, ':main.failing "%v", err', ':main.failing "%s", err')
    true = ["boom", "wrapped: boom", "number 5", "open /nonexistent/file: no such file or directory",
            "no such file or directory", "main.Code(3)", '*main.Detail{Op:"op", Code:4}', "nil"]
    expect_texts(texts(text)[0::2], true)
    expect_texts(texts(text)[1::2][:3], true[:3])


@test(version=["1.15", "1.19", "1.24", "1.27"])
def trace_deep(version):
    """%+v follows pointers, and shows what maps hold."""
    entries = []
    for _ in range(4):  # of a big map the first group is shown, which may be empty: that depends on the map's seed
        text, _ = trace_fixture("traced", version, ':main.deeply "%+v", p', ':main.deeply "%+v", m',
                                ':main.deeply "%+v", big', ':main.deeply "%v %+v", none, none',
                                ':main.deeply "%+v", s', ':main.deeply "%v", m')
        got = texts(text)
        entries = re.findall(r"(\d+):(\d+)", got[2])
        if entries:
            break
    expect_texts(got[:2] + got[3:4] + got[5:],
                 ["&main.Opts{Loud:true, Level:3}", 'map[string]int{"one":1}', "nil nil",
                  "map[string]int(len 1)"])
    expect(got[2].startswith("map[int]int{") and got[2].endswith("...}") and entries, got[2])
    expect(all(a == b for a, b in entries), got[2])
    expect(got[4].startswith('&main.Store{Name:"shop", '), got[4])


@test(version=ABIS)
def trace_latency(version):
    text, said = trace_fixture("traced", version, 'r:main.slowly "%d %d", ms, $latency')
    true = next(t["ns"] for t in tracks(said) if t["func"] == "main.slowly")
    for line, ms, ns in zip(texts(text), (10, 20, 30), true):
        got = line.split()
        expect(int(got[0]) == ms, f"{line}, not {ms}")
        expect(ms * 1000000 <= int(got[1]) <= ns, f"{line}: its caller saw {ns} ns")
    expect(len(texts(text)) == 3, f"not three: {text}")


@test(version=ABIS)
def trace_errors(version):
    text, said = trace_fixture("traced", version, f'r:{GET} (err != nil) "%s: %v", key, err',
                               words=["rounds=20"])
    true = next(t["calls"] for t in tracks(said) if t["func"].startswith("failures"))
    got = texts(text)
    expect(true == 40 and len(got) == true, f"{len(got)} failures, {true} in truth")
    expect(got[:2] == ['none: no key "none" in shop', 'nothing: no key "nothing" in shop'],
           f"{got[:2]}")


@test(version=ABIS)
def trace_entry_and_return(version):
    """Both ends of the same calls, in order of time"""
    text, _ = trace_fixture("traced", version, f':{GET} "in %s", key', f'r:{GET} "out %s", key')
    true = [f"{way} {key}" for key in ("one", "none", "two", "nothing") for way in ("in", "out")]
    expect_texts(texts(text), true)


@test(version=["1.15", "1.19", "1.27"])
def trace_recursion(version):
    """Each level's own arguments and result"""
    text, _ = trace_fixture("recurse", version, 'r:main.pingOnce "%d %d", n, retval')
    got = collections.Counter(texts(text))
    true = collections.Counter(f"{n} {n}" for i in range(20) for n in range(i, -1, -2))
    expect(got == true, f"{(got - true) or (true - got)}")


@test(version=["1.15", "1.19", "1.27"])
def trace_stack_growth(version):
    """Stacks that grow, and move, between entry and return; restarts are no calls."""
    text, said = trace_fixture("recurse", version, ':main.descendOnce "in %d", n',
                               'r:main.descendOnce "out %d %d", n, $latency > 0')
    true = next(t["calls"] for t in tracks(said) if t["func"] == "main.descendOnce")
    got = collections.Counter(texts(text))
    expect(sum(got.values()) == 2 * true, f"{sum(got.values())} events of {true} calls")
    wrong = [n for n in range(301) if got[f"in {n}"] != 5 or got[f"out {n} 1"] != 5]
    expect(not wrong, f"wrong at n = {wrong[:5]}: {got[f'in {wrong[:1]}']}")


def ways(text, func):
    """How the calls of a function ended: {"panic": N, ...}"""
    said = collections.Counter()
    for row in rows(text):
        if row.func == func:
            low = row.text.lower()
            said["panicked" if "panic" in low else "exited" if "exit" in low else "returned"] += 1
    return said


@test(version=["1.15", "1.19", "1.23", "1.27"])
def trace_panics(version):
    """Calls that end by a panic or by Goexit print as such."""
    funcs = ["outermost", "throws", "recoversItself", "panicsAgain", "recursesThenPanics",
             "leavesByGoexit", "insideGoexit"]
    text, said = trace_fixture("panics", version, *(f"r:main.{f}" for f in funcs))
    for track in tracks(said):
        name = track["func"]
        if name.removeprefix("main.") in funcs:
            got = ways(text, name)
            for way in "panicked", "exited", "returned":
                expect(got[way] == track[way], f"{name}: {got[way]} {way}, in truth {track[way]}")


@test(version=["1.15", "1.19", "1.27"])
def trace_migrating(version):
    """Calls that go on upon other threads: each with its own arguments"""
    text, said = trace_fixture("migrate", version, ':main.sleeping "in %d", n',
                               'r:main.sleeping "out %d %d", n, retval', 'r:main.trading "got %d %d", n, retval')
    true = {t["func"]: t["calls"] for t in tracks(said)}
    got = collections.Counter(texts(text))
    for n in range(25):
        for line in f"in {n}", f"out {n} {n}", f"got {n} {n}":
            expect(got[line] == 20, f"'{line}' {got[line]} times, not 20")
    expect(sum(got.values()) == 2 * true["main.sleeping"] + true["main.trading"], "too many")


@test(version=["1.15", "1.19", "1.27"])
def trace_order(version):
    """By time, whatever thread it came from: entry before return on each goroutine"""
    text, _ = trace_fixture("migrate", version, "-t", ':main.sleeping "in %d", n',
                            'r:main.sleeping "out %d", n')
    times = [float(line.split()[0]) for line in text.splitlines()[1:]]
    expect(len(times) == 1000 and times == sorted(times), f"{len(times)} lines, not in order")


@test()
def trace_several_functions():
    """What a function does not have prints as ?"""
    text, _ = trace_fixture("traced", newest(), ':main.* "%v %v", a, key')
    got = {row.func: row.text for row in rows(text)}
    expect(got.get("main.add") == "42 ?", f"main.add: {got.get('main.add')}")
    expect(re.match(r'\? "\w+"', got.get(GET, "")), f"{GET}: {got.get(GET)}")
    expect(got.get("main.slowly") == "? ?", f"main.slowly: {got.get('main.slowly')}")


@test()
def trace_escapes():
    """A program's text cannot drive the terminal."""
    text, _ = trace_fixture("traced", newest(), ':main.escapes "%s", text', ":main.escapes")
    expect("\x1b" not in text and "\u009b" not in text and "\x00" not in text, repr(text))
    expect('text="\\x1b[31mred' in text, text)


@test()
def trace_truncated():
    """-Z: what is longer ends in ..."""
    letters = "".join(chr(ord("a") + i % 26) for i in range(200))
    for size, options in (80, []), (20, ["-Z", "20"]), (150, ["-Z", "150"]):
        text, _ = trace_fixture("traced", newest(), *options, ':main.long "%s|%d", text, len(text)',
                                ':main.long "%v", numbers', ':main.long "%s", bytes')
        got = texts(text)
        expect(got[0] == letters[:size] + "...|200", f"-Z {size}: {got[0]}")
        expect(got[1].startswith("[]int{0, 1, 2, 3, 4, 5, 6, 7") and got[1].endswith("...}"), got[1])
        expect(got[2].startswith("0123456789") and got[2].endswith("..."), got[2])
    text, _ = trace_fixture("traced", newest(), "-Z", "200", ':main.long "%s", text')
    expect(texts(text) == [letters], f"-Z 200: {texts(text)}")


@test()
def trace_json():
    text, _ = trace_fixture("traced", newest(), "-j", ":main.greet", f"r:{GET}", "r:main.slowly",
                            ':main.add "%d", a')
    events = [e for e in json_lines(text) if e.get("func")]
    expect(all(json.loads(line) and line.startswith('{"type":') for line in text.splitlines()
               if line.startswith("{")), "the first key is not type")
    greet = next(e for e in events if e["func"] == "main.greet")
    expect({a["name"]: a["value"] for a in greet["args"]} == {
        "name": "bob", "n": 3, "opts": {"Loud": True, "Level": 2}}, f"{greet}")
    expect([e["values"] for e in events if e["func"] == "main.add"] == [[42]], f"{events[:1]}")
    slow = [e for e in events if e["func"] == "main.slowly"]
    expect(len(slow) == 3 and all(10**7 < e["latency_ns"] < 10**9 and e["how"] == "return"
                                  for e in slow), f"latency in {slow[:1]}")
    expect([r["value"] for r in slow[0]["results"]] == [True], f"{slow[:1]}")
    gets = [e for e in events if e["func"] == GET]
    expect(len(gets) == 4 and gets[0]["results"][0] == {"name": "value", "value": "1"}
           and gets[0]["results"][1]["value"] is None and "no key" in json.dumps(gets[1]), f"{gets[:2]}")


def said_of(*args, **kwargs):
    return run([tool_path("gotrace"), *map(str, args)], **kwargs)


@test()
def trace_command():
    """-- COMMAND, from its first instruction"""
    with Target("traced", newest()) as target:
        env = dict(os.environ, PATH=f"{os.path.dirname(target.path)}:{os.environ['PATH']}")
        done = said_of('main.add "%d %d", a, b', "--", target.path, "now", env=env)
        expect(done.returncode == 0 and texts(done.stdout) == ["42 13"], f"{done}")
        done = said_of('traced:main.add "%d %d", a, b', "--", "traced", "now", env=env)
        expect(done.returncode == 0 and texts(done.stdout) == ["42 13"], f"{done}")
        target.go()
        target.wait()
