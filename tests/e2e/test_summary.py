# SPDX-License-Identifier: Apache-2.0
"""gofunclatency --summary: the histograms of -F as one table, most time first."""

import re

from harness import Target, Tool, compare_latency, expect, fixture, newest, run, some_versions, test, tool_path

HEAD = re.compile(r"^ +CALLS +TOTAL +AVG +P50 +P99 +MAX FUNC$", re.M)
ROW = re.compile(r"^ +(\d+) +(\d+) +(\d+)(\.\d|\.\d{3})? +(\d+) +(\d+) +(\d+) (main\.\S+)$", re.M)
UNRETURNED = re.compile(r"^not in the table: (\S+): (.*)$", re.M)
UNITS = {"nsecs": ([], 1, None), "usecs": (["-u"], 1000, 2), "msecs": (["-m"], 1_000_000, 4)}


def table(text):
    """{function: (calls, total, avg, p50, p99, max)} in the table's order"""
    expect(len(HEAD.findall(text)) == 1, f"not one head: {text}")
    return {row[7]: (*map(int, row[:3]), *map(int, row[4:7])) for row in ROW.findall(text)}


def true_rows(truth, rows):
    for track in truth:
        got = rows.get(track["func"])
        returned = track["returned"]
        if not track["ns"] and not track["panicked"] and not track["exited"]:
            continue  # is counted only
        expect((got or [0])[0] == returned, f"{track['func']}: {got} of {returned} that returned")
        if got and track["ns"]:
            expect(got[1] <= sum(track["ns"]) + 20 * returned, f"{got} of {track}")


@test(version=some_versions, name=["panics", "recurse"])
def summary_json(version, name):
    """The objects of -F, those with most time first"""
    with Target(name, version) as target:
        with Tool("gofunclatency", "-j", "--summary", "-p", target.target_pid, "main.*") as tool:
            tool.tracing()
            target.go()
            truth, records = target.truth(), tool.records()
    compare_latency(truth, records)
    totals = [r["total"] for r in records]
    expect(totals == sorted(totals, reverse=True) and len(totals) > 3, f"not in order: {totals}")


@test(unit=UNITS)
def summary_text(unit):
    """Rows as the target itself counted them, in order; calls that did not return are beneath, by function."""
    options, ns, decimals = UNITS[unit]
    with Target("panics", newest()) as target:
        with Tool("gofunclatency", "--summary", *options, "-p", target.target_pid, "main.*") as tool:
            tool.tracing()
            target.go()
            truth = target.truth()
            expect(tool.wait() == 0, tool.said())
    text = tool.out.text()
    rows = table(text)
    true_rows([dict(t, ns=[d // ns + 1 for d in t["ns"]]) for t in truth], rows)
    expect(f"\ntimes in {unit}\n" in text, text)
    totals = [row[1] for row in rows.values()]
    expect(totals == sorted(totals, reverse=True) and len(totals) > 8, f"not in order: {totals}")
    expect(all(row[0] > 0 for row in rows.values()), f"rows of nothing: {rows}")
    for calls, total, avg, p50, p99, most in rows.values():
        expect(p50 <= p99 <= most <= total and avg in (total // calls, total // calls + 1), f"{rows}")
    expect({len(row[3]) for row in ROW.findall(text)} == {decimals or 0}, text)
    said = dict(UNRETURNED.findall(text))
    for track in truth:
        parts = [f"{track[how]} ended by {what}" for how, what in (("panicked", "a panic"), ("exited", "runtime.Goexit"))
                 if track[how]]
        expect(said.get(track["func"], "") == ", ".join(parts), f"{track}: {said}")


@test()
def summary_intervals():
    """-i begins from zero each time: the tables add up; a table without calls says so."""
    with Target("recurse", newest()) as target:
        with Tool("gofunclatency", "--summary", "-i", "0.3", "-p", target.target_pid, "main.*") as tool:
            tool.tracing()
            tool.wait_line("no call returned")
            target.go()
            truth = target.truth()
            expect(tool.wait() == 0, tool.said())
    sums = {}
    for row in ROW.findall(tool.out.text()):
        sums[row[7]] = sums.get(row[7], 0) + int(row[0])
    for track in truth:
        expect(sums.get(track["func"], 0) == track["calls"], f"{track['func']}: {sums}")


@test()
def summary_inlined():
    """A name that has copies only has a row as a function has."""
    path = fixture("shown/jobs", newest(), "alone")
    result = run([tool_path("gofunclatency"), "--summary", "main.isBlank", "main.fib", "--", path])
    rows = table(result.stdout)
    expect(rows["main.isBlank"][0] > 0 and rows["main.fib"][0] == 21891, result.stdout)


@test()
def summary_excludes_states():
    result = run([tool_path("gofunclatency"), "--summary", "--states", "true:main.main"])
    expect(result.returncode == 2 and "--summary and --states exclude each other" in result.stderr, f"{result}")


@test(version=["1.15", "1.27"], flavour=["plain", "strip"])
def summary_errors(version, flavour):
    """Calls that returned an error, as the target itself counted them; where the last result is none, or not known,
    it is null."""
    with Target("fails", version, flavour) as target:
        with Tool("gofunclatency", "-j", "--summary", "--errors", "-p", target.target_pid, "main.do*",
                  "main.(*store).Put") as tool:
            tool.tracing()
            target.go()
            truth = {t["func"]: t for t in target.truth()}
            rows = {r["func"]: r for r in tool.records() if r["type"] == "latency"}
    expect(rows.pop("main.doRecovers.func1")["errors"] is None and rows.keys() == truth.keys(), f"{rows.keys() ^ truth.keys()}")
    for name, row in rows.items():
        true = truth[name]
        known = true["told"] and (flavour == "plain" or name == "main.(*store).Put")
        wanted = true["errors"] if known else None
        expect((row["count"], row["errors"]) == (true["calls"], wanted), f"{name}: {row['errors']} of {row['count']}, {true}")


@test()
def summary_errors_text():
    with Target("fails", newest()) as target:
        with Tool("gofunclatency", "--summary", "--errors", "-p", target.target_pid, "main.doA*", "main.doN*") as tool:
            tool.tracing()
            target.go()
            truth = {t["func"]: t for t in target.truth()}
            expect(tool.wait() == 0, tool.said())
    text = tool.out.text()
    expect(re.search(r"^ +CALLS .* MAX  ERRORS FUNC$", text, re.M), text)
    expect(re.search(rf"^ +800 .* {truth['main.doAlone']['errors']} main.doAlone$", text, re.M), text)
    expect(re.search(r"^ +800 .* - main.doNothing$", text, re.M), text)
    result = run([tool_path("gofunclatency"), "--errors", "true:main.main"])
    expect("--errors is a part of --summary: give both" in result.stderr and result.returncode == 2, f"{result}")
