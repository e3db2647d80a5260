# SPDX-License-Identifier: Apache-2.0
"""since(x): how old a time is, as the program itself finds it before the call and after."""

import re

from gotrace import trace
from harness import Target, Tool, expect, json_lines, newest, test

NONE, LATE, EARLY = 1000, 1001, 1002
CLOCKS_APART = 1_000_000  # ns that the two clocks may be set apart meanwhile


def truth_of(text):
    """{id: age before the call, after it, age of the time that finish() sets}"""
    return {int(n): (int(a), int(b), int(c)) for n, a, b, c in
            re.findall(r"^told (\d+) (-?\d+) (-?\d+) (-?\d+)$", text, re.M)}


def expect_between(what, got, low, high):
    expect(low - CLOCKS_APART <= got <= high + CLOCKS_APART, f"{what}: {got}, in truth {low} to {high}")


@test(version=["1.15", "1.27", "gccgo"])
def since_all_kinds(version):
    """Of parameters, fields, behind pointers; at entry and at return; in predicates and arithmetic"""
    with Target("ages", version) as target:
        text, said = trace(
            target, "-j", ':main.take "%d %d %d %d %d", j.id, since(j.queued), since(at), since(named), since(behind)',
            'r:main.take "%d %d", j.id, since(j.queued)',
            'r:main.finish "%d %d %d", j.id, since(j.queued), since(after(j.queued))',
            ':main.take (since(at) > 1h || -since(at) > 50m) "old %d %d", j.id, since(at) / 1000000')
        told = truth_of(target.out.text())
    expect("lost" not in said, said)
    messages = [(e["func"], e["how"], e["message"]) for e in json_lines(text)]
    expect(len(told) == 4 * 7 + 3, told)
    old = set()
    for func, how, message in messages:
        words = message.split()
        if words[0] == "old":
            old.add(int(words[1]))
            low, high = (age / 1000000 for age in told[int(words[1])][:2])
            expect(low - 2 <= int(words[2]) <= high + 2, f"{message}: {told}")
            continue
        n, ages = int(words[0]), words[1:]
        before, after, later = told[n]
        if n >= NONE:
            expect(set(ages[:1]) == {"-" if n == NONE else "<out"} or func == "main.finish", message)
            continue
        for i, age in enumerate(ages):
            if func == "main.finish":
                expect_between(message, int(age), *((0, later) if i else (after, after + later + 50_000_000)))
            else:
                expect_between(message, int(age), before, after)
                expect(how == "entry" or int(age) >= before + 3_000_000 - CLOCKS_APART, f"{message}: not at return")
    expect(old == {n for n in told if n < NONE and n % 10 in (3, 4, 5, 6)}, old)
    expect(len(messages) == 3 * len(told) + len(old), len(messages))


@test()
def since_in_histograms():
    """Of goargdist: how old jobs are when they are taken"""
    with Target("ages", newest()) as target, \
            Tool("goargdist", "-j", "-p", target.target_pid, "-H", ":main.take (j.id % 10 == 0 && j.id < 1000) since(j.queued)",
                 "-C", ":main.take since(at) < 0") as tool:
        tool.wait_line("Tracing ")
        target.go()
        expect(target.wait() == 0, target.said())
        records = tool.records()
        told = truth_of(target.out.text())
    ages = sorted(age for n, (age, _, _) in told.items() if n < NONE and n % 10 == 0)
    histogram = next(r["buckets"] for r in records if "buckets" in r)
    rows = sorted((low, high) for low, high, count in histogram for _ in range(count))
    expect(len(rows) == len(ages) == 4, f"{histogram}, in truth {ages}")
    for (low, high), age in zip(rows, ages):
        expect(low <= age + CLOCKS_APART and age <= high + 10 * CLOCKS_APART, f"{histogram}, in truth {ages}")
    counts = {str(r["values"]["since(at) < 0"]): r["count"] for r in records if "values" in r}
    expect(counts == {"-": 1, "<out of range>": 2, "True": 4, "False": 24}, counts)


@test(probe=["goarg1", "j.id", "goarg9", "5", "since(at)"])
def since_of_what_is_no_time(probe):
    with Target("ages", newest()) as target:
        tool = Tool("gotrace", "-p", target.target_pid, f':main.take "%d", since({probe})')
        with tool:
            status, said = tool.wait(), tool.err.text()
        expect(status == 1 and "col " in said and ("not a time" in said or "goarg9" in said), f"{status}: {said}")
