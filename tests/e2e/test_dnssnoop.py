# SPDX-License-Identifier: Apache-2.0
"""godnssnoop shows each name that is looked up, as who asks sees it, and as often as a server is asked."""

import collections
import json

from harness import Target, expect, of_newest, of_older, test

from test_recipes import Recipe, in_time, rows, three_ways

BUILDS = [("1.15", "strip"), ("1.19", "strip"), ("1.27", "strip"), ("1.27", "plain")]
SHARED = "slow.shared.test."


def truth_of(text):
    """Each lookup, and how often the server was asked for a name, by "NAME TYPE" """
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    told = [line for line in lines if "Kind" in line]
    return told, next((line["wire"] for line in lines if "wire" in line), {})


def shown(told):
    """KIND, N and NAME, as they are to be printed"""
    if told["Error"]:
        return told["Kind"], "-", f"{told['Name']}: {told['Error']}"
    return told["Kind"], str(told["N"]), told["Name"]


@test(built_as=BUILDS, seldom=of_newest)
def names_looked_up(built_as):
    with Target("dns", *built_as) as target:
        with Recipe("godnssnoop", "-p", target.target_pid) as each, \
                Recipe("godnssnoop", "-A", "-p", target.target_pid) as counted:
            each.attached()
            counted.attached()
            target.go()
            got, counts = rows(each.rest(), 6), counted.rest()
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            told, wire = truth_of(target.out.text())
            noise = each.err.text()
    expect("lost" not in noise and "not printed" not in noise, noise)
    shared = [row for row in got if row[5] == SHARED]
    expect(len(shared) == wire[f"{SHARED} 1"], f"{len(shared)} lookups, the server was asked {wire[SHARED + ' 1']} times")
    got = [row for row in got if row[5] != SHARED]
    expect([(row[2], row[4], row[5]) for row in got] == [shown(t) for t in told], f"{got}: {told}")
    for row, t in zip(got, told):
        in_time("godnssnoop", row[3], t["Ns"])
        expect("slow" not in t["Name"] or float(row[3]) >= 30, f"it took 30 ms: {row}")
    lines = [line.split(None, 2) for line in counts.splitlines()[1:]]
    true = collections.Counter((kind, text) for kind, _, text in map(shown, told))
    expect({(kind, text): int(n) for n, kind, text in lines if text != SHARED} == true, counts)
    # all lookups of addresses ask for an A record, and for nothing else that is one
    asked = sum(n for what, n in wire.items() if what.endswith(" 1"))
    expect(asked == len(shared) + sum(t["Kind"] in ("ip", "ip4", "host", "cname") for t in told), f"{wire}: {told}")


@test(version=["1.15", "1.27"], seldom=of_older)
def names_that_failed(version):
    """-x and -m; JSON has a name for each value"""
    with Target("dns", version, "strip") as target:
        failed, slow, calls = three_ways("godnssnoop", target, "25ms")
        told, _ = truth_of(target.out.text())
    failed, slow = rows(failed, 6), rows(slow, 6)
    expect([row[5] for row in failed] == [shown(t)[2] for t in told if t["Error"]], failed)
    expect({row[5] for row in slow} >= {"slow.test.", SHARED}, slow)
    calls = [call for call in calls if call["name"] != SHARED]
    expect([(call["kind"], call["name"], call.get("error", ""), call.get("results", 0)) for call in calls] ==
           [(t["Kind"], t["Name"], t["Error"], t["N"]) for t in told], calls[:5])
    expect("values" not in calls[0], calls[0])


@test(how=["go", "cgo"])
def names_of_the_system(how):
    """By the resolver of a program with cgo, Go's or that of the C library"""
    with Target("dns", "1.27", "cgo", args=["system"], argv=lambda path: ["env", f"GODEBUG=netdns={how}", path]) as target:
        with Recipe("godnssnoop", "-p", target.target_pid) as names:
            names.attached()
            target.go()
            got = rows(names.rest(), 6)
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            told, _ = truth_of(target.out.text())
    expect([row[2] for row in got] == ["ip", "host"] and {row[5] for row in got} == {"localhost"}, got)
    expect([row[4] for row in got] == [str(t["N"]) for t in told], f"{got}: {told}")
