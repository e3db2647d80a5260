# SPDX-License-Identifier: Apache-2.0
"""gocancels, on a program that cancels contexts in each way that there is, and says who did so and whom it has woken."""

import re

from harness import Target, Tool, each_release, expect, fixture, json_lines, newest, run, test, tool_path, two_versions, versions

KEYS = ["type", "pid", "goid", "how", "error", "cause", "age_ns", "woken", "children", "contested", "stack",
        "created_by", "wakes"]
ERRORS = {"call": "context canceled", "deadline": "context deadline exceeded"}
TOLD = 8    # goroutines that are told of each
TEXT = 128  # bytes of an error's text


def minor(version):
    return int(version.split(".")[1])


def traced(target, *args):
    """The tool's records, what the target says, and what the tool says beside"""
    with Tool("gocancels", "-j", *args, "-p", target.target_pid).tracing() as tool:
        target.go()
        expect(target.wait() == 0, target.said())
        return tool.records(), json_lines(target.out.text()), tool.err.text()


def outside(stack):
    """The first function that is not of package context"""
    return next((f["func"] for f in stack if not f["func"].startswith("context.")), "")


def check_error(record, true, version):
    error, cause = record["error"], record["cause"]
    expect((cause is None) == (minor(version) < 20), f"{record}")
    if true["How"] in ERRORS:
        expect(error["text"] == ERRORS[true["How"]], f"{record}: {true}")
    got, text = cause or error, true["Cause"]
    if text.startswith("*"):
        expect((got["go_type"], got["text"]) == (text, None), f"{record}: {true}")
    elif text:
        expect(got["text"] == text[:TEXT] and got.get("cut", False) == (len(text) > TEXT), f"{record}: {true}")
    elif cause:
        expect(cause == error, f"{record}: {true}")


def check(record, true, version):
    expect(list(record) == KEYS and record["type"] == "cancel", f"{record}")
    expect((record["how"], outside(record["stack"]), outside(record["created_by"]["stack"]), record["children"]) ==
           (true["How"], true["By"], true["Creator"], true["Children"]), f"{record}: {true}")
    expect(true["Least"] <= record["age_ns"] <= true["Most"], f"{record}: {true}")
    check_error(record, true, version)
    if true["Woken"] < 0:
        return
    expect(record["woken"] == true["Woken"] + true["Watchers"], f"{record}: {true}")
    expect(len(record["wakes"]) == min(record["woken"], TOLD), f"{record}")
    ours = [w for w in record["wakes"] if outside(w["stack"]) in ("main.waits", "main.selects")]
    expect(len(ours) == min(true["Woken"], TOLD), f"{record}: {true}")
    goids = [w["goid"] for w in record["wakes"]]
    expect(0 not in goids and len(set(goids)) == len(goids), f"{goids}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def gocancels_all(version, flavour):
    with Target("cancels", version, flavour) as target:
        records, told, said = traced(target, "-a")
        expect(all(r["pid"] == target.target_pid for r in records), f"{records}")
    expect(said.count("\n") == 2, said)
    expect([(r["how"], r["woken"]) for r in records] == [(t["How"], t["Woken"] + t["Watchers"]) for t in told],
           f"{[(r['how'], r['woken'], outside(r['stack'])) for r in records]}: {told}")
    for record, true in zip(records, told):
        check(record, true, version)


@test(version=two_versions)
def gocancels_waited(version):
    """Without -a those alone that somebody waited for, of whom package context itself is none"""
    with Target("cancels", version, "pie") as target:
        records, told, _ = traced(target)
    told = [t for t in told if t["Woken"]]
    expect(len(records) == len(told) >= 8, f"{len(records)} of {len(told)}: {records}")
    for record, true in zip(records, told):
        check(record, true, version)


@test(version=two_versions)
def gocancels_races(version):
    """A context that two goroutines cancel at once is told once."""
    with Target("cancels", version, "strip", ["races"]) as target:
        records, told, said = traced(target, "-a")
    expect(len(records) == len(told) > 200 and said.count("\n") == 2,
           f"{len(records)} of {len(told)}: {said}: {[r['how'] for r in records]} {[t['How'] for t in told]}")
    for record, true in zip(records, told):
        check(record, true, version)


LINE = re.compile(r"^(\d+) +(\d+) +(\S+) +(\d+) (.*)$")


@test()
def gocancels_text():
    with Target("cancels", newest(), "plain") as target:
        with Tool("gocancels", "-p", target.target_pid).tracing() as tool, \
                Tool("gocancels", "-A", "-a", "-p", target.target_pid).tracing() as counting:
            target.go()
            expect(target.wait() == 0 and tool.wait() == 0 and counting.wait() == 0, target.said())
            told, text, counts = json_lines(target.out.text()), tool.out.text(), counting.out.text()
    heads = [m.groups() for m in map(LINE.match, text.splitlines()) if m]
    shown = [t for t in told if t["Woken"]]
    expect([(int(h[0]), int(h[3])) for h in heads] == [(target.target_pid, t["Woken"] + t["Watchers"]) for t in shown], text)
    for (*_, what), true in zip(heads, shown):
        who = {"deadline": "its deadline", "parent": "its parent"}.get(true["How"], true["By"])
        expect(what.startswith(who), f"{what}: {true}")
    expect(": out of order\n" in text and "for a reason\\x1b\n" in text and "*main.quit\n" in text, text)
    expect("\n        created by main.create cancels.go:" in text and "woke 3 in main.waits cancels.go:" in text, text)
    expect("woke 8 in main.waits" in text and "        woke 12 more\n" in text and "        and 3 children\n" in text, text)
    lines = [line for line in counts.splitlines() if re.match(r" *\d+ ", line)]
    expect(sum(int(line.split()[0]) for line in lines) == len(told), counts)
    expect(len(lines) < len(told), counts)


@test()
def gocancels_refuses():
    """A program without such contexts"""
    got = run([tool_path("gocancels"), "--", fixture("hello", newest())])
    expect(got.returncode == 1 and "has no contexts that can be cancelled" in got.stderr, f"{got}")


@test(version=two_versions)
def gocancels_before(version):
    """Of what was created before, the age is not known."""
    with Target("cancels", version, "strip", ["early"]) as target:
        records, told, _ = traced(target)
    expect(records[0]["age_ns"] is None and records[0]["created_by"] is None, f"{records[0]}")
    expect(records[0]["woken"] == told[0]["Woken"] == 2, f"{records[0]}: {told[0]}")
    expect(records[1]["age_ns"] > 0, f"{records[1]}")
