# SPDX-License-Identifier: Apache-2.0
"""gosqlsnoop shows each statement once, as its caller saw it, by all doors of database/sql."""

import collections
import json
import re

from harness import Target, Tool, expect, json_lines, newest, of_newest, of_older, test

from test_recipes import at_once, in_time, rows, three_ways

BUILDS = [("1.15", "strip"), ("1.19", "strip"), ("1.27", "strip"), ("1.27", "plain")]


def shown(told, args=False):
    """HOW, AFFECTED and the statement, as they are to be printed"""
    text = told["Text"].replace("\n", "\\n") + (f" {told['Args']}" if args else "")
    affected = "-" if told["Affected"] < 0 else str(told["Affected"])
    return told["How"], affected, text + (f": {told['Error']}" if told["Error"] else "")


def truth_of(text):
    """What the callers saw, and how many statements came to the drivers"""
    told = [json.loads(line) for line in text.splitlines() if line.startswith('{"How"')]
    executed = int(re.search(r"^executed (\d+)$", text, re.M)[1])
    # two did not come to a driver, as there was no connection; of two the first try was a bad connection
    expect(len(told) == executed - 2 + 2, f"{len(told)} statements, {executed} came to the drivers")
    return told


@test(built_as=BUILDS, seldom=of_newest)
def statements(built_as):
    with Target("sql", *built_as) as target:
        texts, noise = at_once("gosqlsnoop", target, [], ["-a"], ["-A"])
        told = truth_of(target.out.text())
    expect("lost" not in noise and "not printed" not in noise, noise)
    for text, args in zip(texts, (False, True)):
        got = rows(text, 6)
        expect([(row[2], row[4], row[5]) for row in got] == [shown(t, args) for t in told], text[:2000])
        expect(all(row[1] == "1" for row in got), text)
    for row, t in zip(rows(texts[0], 6), told):
        in_time("gosqlsnoop", row[3], t["Ns"])
        expect("slow" not in t["Text"] or float(row[3]) >= 30, f"it took 30 ms: {row}")
    true = collections.Counter(f"{how} {text}" for how, _, text in map(shown, told))
    expect([line.split(None, 2) for line in sorted(texts[2].splitlines()[1:])] ==
           [line.split(None, 2) for line in sorted(f"{n} {what}" for what, n in true.items())], texts[2][:2000])


@test(version=["1.15", "1.27"], seldom=of_older)
def statements_that_failed(version):
    """-x and -m; JSON has a name for each value"""
    with Target("sql", version, "strip") as target:
        failed, slow, calls = three_ways("gosqlsnoop", target, "25ms", "-aj")
        told = truth_of(target.out.text())
    failed, slow = rows(failed, 6), rows(slow, 6)
    expect([row[5] for row in failed] == [shown(t)[2] for t in told if t["Error"]], failed)
    expect([row[5] for row in slow] == [t["Text"] for t in told if "slow" in t["Text"]], slow)
    expect([(call["func"].rsplit(".", 1)[1], call["statement"], call.get("error", ""),
             call.get("affected", -1)) for call in calls] ==
           [({"EXEC": "ExecContext", "QUERY": "QueryContext"}[t["How"]], t["Text"], t["Error"], t["Affected"])
            for t in told], calls[:5])
    expect("42" in json.dumps(calls[0]["args"]) and "values" not in calls[0], calls[0])


@test(version=lambda: ["1.15", newest()])
def rows_read(version):
    """As the page says to count the rows of queries: two of each that is read to its end, one of a QueryRow"""
    with Target("sql", version, "strip") as target, \
            Tool("goargdist", "-j", "-p", target.target_pid, "-C",
                 "r:database/sql.(*Rows).Next (goret1 == true) rs") as tool:
        tool.wait_line("Tracing ")
        target.go()
        expect(target.wait() == 0, f"the target failed: {target.said()}")
        records = tool.records()
        told = truth_of(target.out.text())
    read = sum(t["How"] == "QUERY" and not t["Error"] for t in told)
    one = sum(t["Text"].endswith("WHERE id = 1") for t in told)
    prepared = sum(t["How"] == "QUERY" and "prepared" in t["Text"] for t in told)  # every other one is a QueryRow
    true = 2 * read - one - prepared // 2
    rows_of = sum(r["count"] for r in records)
    expect(rows_of == true > 0, f"{rows_of} rows, in truth {true}: {records[:3]}")
