# SPDX-License-Identifier: Apache-2.0
"""goredissnoop shows each command that redigo sends, as who sends it sees it, and as often as Redis has it."""

import collections
import contextlib
import json
import re
import tempfile

import redisserver
from harness import Target, expect, of_newest, of_older, test

from test_recipes import at_once, in_time, rows, three_ways

BUILDS = [("1.15", "strip"), ("1.19", "strip"), ("1.27", "strip"), ("1.27", "plain")]


@contextlib.contextmanager
def client(built_as):
    with tempfile.TemporaryDirectory() as folder, redisserver.start(folder) as server:
        try:
            with Target("redis", *built_as, args=[folder + "/socket"]) as target:
                yield target
        finally:
            server.kill()


def truth_of(text):
    """Each call, and how many of each command the server has had"""
    told = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    return told, {name: int(n) for name, n in re.findall(r"^wire (\S+) (\d+)$", text, re.M)}


def error_of(told):
    return f'redis.Error("{told["Error"]}")' if told["Error"] else ""


def shown(told, args=False):
    """HOW and COMMAND, as they are to be printed; all errors here are the server's"""
    more = (told["Args"] or "nil") if args else told["Key"]
    more = " " + more if more and told["How"] != "RECV" else ""
    return told["How"], told["Command"] + more + (f": {error_of(told)}" if told["Error"] else "")


@test(built_as=BUILDS, seldom=of_newest)
def commands(built_as):
    with client(built_as) as target:
        texts, noise = at_once("goredissnoop", target, [], ["-a", "-Z", "200"], ["-A"])
        told, wire = truth_of(target.out.text())
    expect("lost" not in noise and "not printed" not in noise, noise)
    expect("secret" not in texts[0] + texts[2] and "hunter2" not in texts[0] + texts[2], "a password is shown")
    for text, args in zip(texts, (False, True)):
        got = rows(text, 5)
        expect([(row[2], row[4]) for row in got] == [shown(t, args) for t in told], f"{got}: {told}")
    got = rows(texts[0], 5)
    for row, t in zip(got, told):
        if t["How"] != "DO" or t["Command"] not in ("AUTH", "EVAL", "EVALSHA"):
            in_time("goredissnoop", row[3], t["Ns"])
        expect(t["Command"] != "BLPOP" or float(row[3]) >= 50, f"it took 50 ms: {row}")
    sent = collections.Counter(row[4].split()[0].rstrip(":").upper() for row in got if row[2] != "RECV")
    expect(sent - collections.Counter(INFO=1) == collections.Counter(wire), f"{sent}: {wire}")
    true = collections.Counter(" ".join(shown(t)) for t in told)
    lines = [line.split(None, 1) for line in texts[2].splitlines()[1:]]
    expect({" ".join(text.split()): int(n) for n, text in lines} == {" ".join(k.split()): n for k, n in true.items()}, texts[2])


@test(version=["1.15", "1.27"], seldom=of_older)
def commands_that_failed(version):
    """-x and -m; JSON has a name for each value"""
    with client((version, "strip")) as target:
        failed, slow, calls = three_ways("goredissnoop", target, "45ms")
        told, _ = truth_of(target.out.text())
    failed, slow = rows(failed, 5), rows(slow, 5)
    expect([row[4] for row in failed] == [shown(t)[1] for t in told if t["Error"]] != [], failed)
    expect("BLPOP" in {row[4].split()[0] for row in slow}, slow)
    expect([(call.get("command", "-"), "key" in call, call.get("error", "")) for call in calls] ==
           [(t["Command"], t["Key"] != "", t["Error"]) for t in told], calls[:5])
    expect("values" not in calls[0], calls[0])
