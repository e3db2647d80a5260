# SPDX-License-Identifier: Apache-2.0
"""What goroutines wait for, against the addresses and the state that the program itself tells."""

import json
import re
import time

from harness import (Skip, Target, each_release, expect, json_lines, run, some_versions, test, tool_path,
                     versions)

HOUR = 3600e9


def look(*args):
    done = run([tool_path("gostacks"), *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"gostacks {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def function(record):
    return next((f["func"] for f in record["frames"]
                 if re.match(r"main\.(\(\*\w+\)\.)?[a-z]\w*$", f["func"], re.I) and not f["func"].startswith("main.start")), None)


def key(what):
    return json.dumps({k: v for k, v in what.items() if k != "func"}, sort_keys=True)


def name(want, flavour):
    """What a lock is called"""
    never = want["named"] == "never" or (flavour == "strip" and want["named"] in ("symbol", "debug"))
    return None if never else want["name"]


def compare(want, record, goids, elapsed, flavour):
    got = dict(record["waits_for"] or {})
    if "named" in want:
        want = {**{k: v for k, v in want.items() if k != "named"}, "name": name(want, flavour)}
    want = {k: v for k, v in want.items() if k != "func"}
    holder = want.pop("held_by", None)
    if holder == "unsure":
        got.pop("maybe_held_by")
    elif holder:
        held = got.pop("maybe_held_by")
        expect(goids[holder] in held, f"{record['goid']}: not held by {goids[holder]}, but {held}")
        if want["maybe_deadlock"]:
            expect(held == [goids[holder]], f"{held} hold it, not {goids[holder]} alone")
    if want["kind"] == "timer":
        expect(HOUR - elapsed * 1e9 <= got.pop("due_ns") <= HOUR, f"{record}")
    if want["kind"] == "syscall":
        expect(got.pop("tid") > 0, f"{record}")
    if want["kind"] == "select":
        for side in want, got:
            side["cases"] = sorted(map(key, side["cases"]))
    expect(got == want, f"{got}, in truth {want}")


def measure(version, flavour, *args):
    begun = time.monotonic()
    with Target("waits", version, flavour, args=args) as target:
        records = json_lines(look("-j", target.target_pid))
        elapsed = time.monotonic() - begun
        truths = json.loads(re.search(r"^truth (.*)$", target.out.text(), re.M)[1])
        by_function = {}
        for record in records:
            by_function.setdefault(function(record), []).append(record)
        goids = {name: found[0]["goid"] for name, found in by_function.items()}
        for want in truths:
            found = by_function.get(want["func"], [])
            expect(found, f"nothing in {want['func']}: {by_function.keys()}")
            if want["kind"] == "cond" and version != "gccgo" and int(version.split(".")[1]) < 26:
                want = None
            for record in found:
                if want:
                    compare(want, record, goids, elapsed, flavour)
                else:
                    expect(record["waits_for"] is None, f"{record}")
        expect(by_function["main.receivesNil"][0]["waits_for"] is None, "a nil channel")
        compare_text(truths, look("-a", target.target_pid), version, flavour)
        full = look("--full", target.target_pid)
        expect("main.(*store).locksFirst(0x" in full and "\twaits " not in full and "(*store).mu" not in full, f"{full}")
        compare_groups(truths, goids, look(target.target_pid))


def compare_groups(truths, goids, text):
    """Two that do the same and wait for one thing say so; one alone says so of a lock only, and those with a
    channel each do not; of those that wait for each other, a line above all tells who they are."""
    said = re.findall(r"^ +2  .*\n        waits (.*)\n", text, re.M)
    known = {t["func"]: t for t in truths}
    expect(len(re.findall("^ +2  ", text, re.M)) == 3, f"{text}")
    others = re.findall("^ +1  .*\n +waits (.*)", text, re.M)
    alone = [t for t in truths if t["kind"] in ("mutex", "rwmutex") and t["func"] != "main.locks"]
    words = {"mutex": "sync.Mutex", "rwmutex": "sync.RWMutex"}
    expect(len(said) == 2 and len(re.findall("^ +waits ", text, re.M)) == 2 + len(alone), f"{text}")
    expect(sorted(" ".join(re.split("[ ,;]", line)[1:3]) for line in others) ==
           sorted(f"{words[t['kind']]} {t['addr']}" for t in alone), f"{others}")
    two = ["main.(*store).locksFirst", "main.(*store).locksOther"]
    circle = [f"{known[name]['addr']} main.(*store).mu" for name in two]
    expect(sorted(line for line in others if "deadlock" in line) ==
           sorted(f"for sync.Mutex {lock}; held? by goroutine {goids[name]}; deadlock?" for lock, name
                  in zip(circle, two[::-1])), f"{others}")
    first, other = (goids[name] for name in two)
    if first > other:
        first, other, circle = other, first, circle[::-1]
    expect(text.splitlines()[1] == f"deadlock? goroutine {first} -> sync.Mutex {circle[0]} -> goroutine {other} -> "
           f"sync.Mutex {circle[1]} -> goroutine {first}", f"{text[:600]}")
    job, lock = known["main.receivesJob"]["addr"], known["main.locks"]["addr"]
    expect(f"to receive from chan main.job {job}, 0 of 3, with 2 others" in said, f"{said}, not {job}")
    expect(any(re.match(rf"for sync\.Mutex {lock}( main\.\(\*store\)\.mu)?, with 1 other; held\? by goroutine ", line)
               for line in said), f"{said}, not {lock}")


def compare_text(truths, text, version, flavour):
    """The same in words, under each goroutine's first line"""
    words = {"mutex": "sync.Mutex", "rwmutex": "sync.RWMutex", "waitgroup": "sync.WaitGroup", "cond": "sync.Cond"}
    for want in truths:
        parts = [p for p in text.split("\n\n") if f"\n{want['func']}(...)\n" in p]
        expect(parts, f"no {want['func']}")
        said = "\n".join(line for line in parts[0].splitlines() if re.match(r"\t(waits |is in )", line))
        if want["kind"] in words:
            expected = f"\twaits for {words[want['kind']]} {want['addr']}"
            if want["kind"] == "cond" and int(version.split(".")[1]) < 26:
                expected = ""
            else:
                called = name(want, flavour)
                expected += f" {called}" if called else ""
                expect(re.fullmatch(re.escape(expected) + "([,;].*)?", said), f"{want}: {said}")
            expect(("; deadlock?" in said) == want.get("maybe_deadlock", False), f"{want}: {said}")
        elif want["kind"] == "fd":
            verb = "read from" if want["direction"] == "read" else "write to"
            expected = f"\twaits to {verb} file descriptor {want['fd']}: {want['file']}"
        elif want["kind"] == "syscall":
            expected = "\tis in system call read, thread "
        elif want["kind"] == "timer":
            expected = "\twaits until 3"
        else:
            expected = ""
            for case in want.get("cases", [want]):
                verb = {"receive": "receive from", "send": "send to"}[case["direction"]]
                expected = f"\twaits to {verb} chan {case['elem']} {case['addr']}, {case['len']} of {case['cap']}"
                expect(expected in said, f"{want['func']}: {said}, not {expected}")
        expect(expected in said, f"{want['func']}: {said}, not {expected}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def gostacks_waits(version, flavour):
    measure(version, flavour)


@test(version=some_versions, flavour=["pie", "nl", "cgopie"])
def gostacks_waits_built(version, flavour):
    measure(version, flavour)


@test(version=some_versions)
def gostacks_waits_six(version):
    try:
        with open("/proc/net/if_inet6", encoding="utf-8") as file:
            if not re.search(r"\blo$", file.read(), re.M):
                raise Skip("no IPv6")
    except OSError as error:
        raise Skip("no IPv6") from error
    measure(version, "strip", "six")


@test(version=some_versions, flavour=["plain", "strip"])
def gostacks_waits_contended(version, flavour):
    """No lock has another's name, even if its goroutines wait for another one by the time that they are looked at."""
    with Target("contended", version, flavour) as target:
        truth, found = json.loads(re.search(r"^truth (.*)$", target.out.text(), re.M)[1]), []
        for _ in range(60):
            waits = [r["waits_for"] for r in json_lines(look("-j", target.target_pid))]
            found += [(w["addr"], w["name"]) for w in waits if w and w["kind"] in ("mutex", "rwmutex")]
        named = [(addr, called) for addr, called in found if called]
        expect(len(named) > len(found) / 2 > 100, f"{len(named)} of {len(found)} have names")
        wrong = {(called, truth.get(addr)) for addr, called in named if called != truth.get(addr)}
        expect(not wrong, f"{wrong}")


@test(version=["1.19", "1.27"])
def gostacks_many_holders(version):
    """Of many who may hold a lock some are named, and the others are a number: all of them together are those who do."""
    with Target("readers", version, args=["n=11"]) as target:
        text = look("-a", target.target_pid)
        said = re.search(r"^\twaits for sync\.RWMutex .*; held\? by goroutine ([0-9, ]+) or (\d+) more", text, re.M)
        expect(said, text)
        named = said[1].split(", ")
        holders = {r["goid"] for r in json_lines(look("-j", target.target_pid)) if function(r) == "main.holds"}
        expect(len(named) == 8 and set(map(int, named)) <= holders, f"{said[0]}, in truth {holders}")
        expect(len(named) + int(said[2]) == len(holders) == 11, said[0])


@test(version=versions, flavour=["plain", "strip"])
def gostacks_keepers(version, flavour):
    """Who holds a lock is named alone, by the code that it goes on with; where nobody's tells it, who sleeps with a
    pointer to the lock is told to keep one."""
    with Target("keepers", version, flavour) as target:
        records = json_lines(look("-j", target.target_pid))
        text = look("-a", target.target_pid)
    goids = {function(record): record["goid"] for record in records}
    waits = {function(record): record["waits_for"] for record in records}
    first, second = waits["main.waits"], waits["main.waitsSecond"]
    expect(first["maybe_held_by"] == [goids["main.holds"]] and "pointer_kept_by" not in first, f"{first}, {goids}")
    expect(second["maybe_held_by"] == [goids["main.looksSecond"]] and
           second["pointer_kept_by"] == [goids["main.sleepsSecond"]], f"{second}, {goids}")
    said = re.findall(r"^\twaits for sync\.Mutex \w+ main\.\(\*account\)\.mu(.*)$", text, re.M) or \
        re.findall(r"^\twaits for sync\.Mutex \w+(.*)$", text, re.M)
    expect(sorted(said) == sorted([
        f"; held? by goroutine {goids['main.holds']}",
        f"; held? by goroutine {goids['main.looksSecond']}; goroutine {goids['main.sleepsSecond']} keeps a pointer to it"]),
        f"{said}, {goids}")
