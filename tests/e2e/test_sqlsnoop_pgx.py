# SPDX-License-Identifier: Apache-2.0
"""gosqlsnoop shows each statement that pgx executes once, and as often as PostgreSQL has it."""

import collections
import contextlib
import re
import tempfile

import postgresserver
from harness import Target, expect, json_lines, of_newest, test

from test_recipes import at_once, in_time, rows, three_ways

BUILDS = [("1.19", "strip"), ("1.27", "strip"), ("1.27", "plain")]


@contextlib.contextmanager
def client(built_as):
    with tempfile.TemporaryDirectory() as folder, postgresserver.start(folder) as server:
        try:
            with Target("pgx", *built_as, args=[f"host={folder} user=postgres database=postgres"]) as target:
                yield target, folder
        finally:
            server.terminate()
            server.wait()


def truth_of(target):
    return [t for t in json_lines(target.out.text()) if "How" in t]


def shown(told, args=False):
    """HOW, AFFECTED and the statement, as they are to be printed: an EXEC that failed has affected nothing"""
    affected = "-" if told["How"] == "EXEC" and told["Error"] else told["Affected"]
    more = " " + told["Args"] if args else ""
    return told["How"], affected, told["Text"] + more + told["Error"].replace("ERROR", "", 1)


def executed(folder):
    """Statements that came to the server, without those of a batch that have no rows"""
    log = postgresserver.text_of(folder)
    return [s for s in re.findall(r"LOG:  (?:statement|execute [^:]*): (.*)", log) if s != "UPDATE things SET n = n"]


@test(built_as=BUILDS, seldom=of_newest)
def statements_of_pgx(built_as):
    with client(built_as) as (target, folder):
        texts, noise = at_once("gosqlsnoop", target, [], ["-a"], ["-A"])
        told, wire = truth_of(target), executed(folder)
    expect("lost" not in noise and "not printed" not in noise, noise)
    for text, args in zip(texts, (False, True)):
        got = [(row[2], row[4], row[5]) for row in rows(text, 6)]
        expect(got == [shown(t, args) for t in told], f"{text}: {told}")
    expect("secret" not in texts[0], "an argument is shown")
    for row, t in zip(rows(texts[0], 6), told):
        in_time("gosqlsnoop", row[3], t["Ns"])
        expect("pg_sleep" not in t["Text"] or float(row[3]) >= 50, f"it took 50 ms: {row}")
    # two had an error before they were executed
    expect(len(wire) == len(told) - 2, f"{len(wire)} came to the server of {len(told)}: {wire}")
    true = collections.Counter(" ".join(shown(t)[::2]) for t in told)
    got = collections.Counter()
    for line in texts[2].splitlines()[1:]:
        number, text = line.split(None, 1)
        got[" ".join(text.split())] += int(number)
    expect(got == collections.Counter({" ".join(k.split()): n for k, n in true.items()}), f"{got}: {true}")


@test()
def statements_of_pgx_that_failed():
    """-x and -m; JSON has a name for each value"""
    with client(("1.19", "strip")) as (target, _):
        failed, slow, calls = three_ways("gosqlsnoop", target, "45ms", "-aj")
        told = truth_of(target)
    expect([row[5] for row in rows(failed, 6)] == [shown(t)[2] for t in told if t["Error"]], failed)
    expect([row[5] for row in rows(slow, 6)] == [t["Text"] for t in told if "pg_sleep" in t["Text"]], slow)
    expect([(c["statement"], str(c.get("affected", c.get("rows", "-"))), c.get("error", "")) for c in calls] ==
           [(t["Text"], shown(t)[1], re.sub(r"^ERROR: (.*) \(.*\)$", r"\1", t["Error"])) for t in told], calls[:5])
