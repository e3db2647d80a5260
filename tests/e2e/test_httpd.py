# SPDX-License-Identifier: Apache-2.0
"""gohttpd on a server of HTTP/1 and of HTTP/2 over TLS, whose client tells what it got."""

import collections
import json

from harness import Target, expect, some_versions, test, versions

from test_recipes import Recipe, new_versions, rows


def asked(told, no_size="-"):
    """What gohttpd shows of a request, as its client saw it. A handler that has taken the connection tells
    nobody what it answers; one that panics has no results, and `no_size` says so for the second of them."""
    status, size = told["status"] or "<panicked>", told["bytes"] if told["status"] else no_size
    if told["uri"] == "/hijack":
        expect(told["status"] == 418, f"the client got {told}")
        status = 0
    return told["method"], str(status), str(size), told["uri"]


def same(got, truth):
    got, true = collections.Counter(got), collections.Counter(truth)
    expect(got == true and true, f"too many: {list((got - true).items())}, missing: {list((true - got).items())}")


def truth_of(target):
    expect(target.wait() == 0, f"the target ended otherwise: {target.said()}")
    return [json.loads(line) for line in target.out.text().splitlines() if line[0] == "{"]


def shown(text):
    """Lines as (method, status, bytes, URI), and latencies in ms by method and URI"""
    lines = [(row[2], row[3], row[5], row[6].replace(" (panicked)", "")) for row in rows(text, 7)]
    times = collections.defaultdict(list)
    for row in rows(text, 7):
        if "<" not in row[4]:
            times[row[2], row[6]].append(float(row[4]))
    return lines, times


@test(version=some_versions, flavour=["plain", "strip"])
def requests_served(version, flavour):
    """Each once, with its status and size, whatever the protocol, many at once as well"""
    with Target("httpd", version, flavour, args=["many=30"]) as target:
        with Recipe("gohttpd", "-p", target.target_pid) as each, \
                Recipe("gohttpd", "-A", "-p", target.target_pid) as counted:
            each.attached()
            counted.attached()
            target.go()
            text, counts = each.rest(), counted.rest()
            truth = truth_of(target)
            noise = each.err.text()
    protocols = collections.Counter(told["proto"] for told in truth if told["status"])
    expect(protocols["HTTP/1.1"] > 40 and protocols["HTTP/2.0"] > 40, f"the client spoke {protocols}")
    lines, times = shown(text)
    same(lines, [asked(told) for told in truth])
    for told in truth:
        # these are answered in part or whole before their handler returns
        if told["uri"] in ("/hijack", "/large"):
            continue
        took = times[told["method"], told["uri"]]
        expect(not took or min(took) <= told["ns"] / 1e6 + 0.001, f"{took} ms, in truth {told}")
    expect(len(times["PUT", "/slow"]) == 2 and min(times["PUT", "/slow"]) >= 30, times["PUT", "/slow"])
    expect("lost" not in noise and "not printed" not in noise, noise)
    same([" ".join(line.split()).replace(" (panicked)", "") for line in counts.splitlines()[1:]],
         [f"{n} {method} {status} {path}" for (method, status, path), n in collections.Counter(
             (method, status, uri.partition("?")[0])
             for method, status, _, uri in map(asked, truth)).items()])


@test(version=new_versions)
def requests_that_failed(version):
    """-x, and -m; a handler's panic leaves no status to choose by, and is counted."""
    with Target("httpd", version, "strip", args=["rounds=3"]) as target:
        with Recipe("gohttpd", "-x", "-p", target.target_pid) as failed, \
                Recipe("gohttpd", "-m", "25ms", "-p", target.target_pid) as slow:
            failed.attached()
            slow.attached()
            target.go()
            lines, slow_lines = shown(failed.rest())[0], shown(slow.rest())[0]
            truth = [asked(told) for told in truth_of(target)]
    same(lines, [told for told in truth if told[1] in ("404", "503")])
    same(slow_lines, [told for told in truth if told[3] == "/slow"])
    expect("not printed: ended by a panic" in failed.err.text(), failed.err.text())


@test(version=lambda: [*versions()[:1], *versions()[-1:]])
def requests_as_json(version):
    """A name for each value; of a program that has HTTP/2, and does not speak it"""
    with Target("httpd", version, "strip") as target:
        with Recipe("gohttpd", "-j", "--", target.path, "now", "h1") as recipe:
            lines = [json.loads(line) for line in recipe.rest().splitlines() if line.startswith("{")]
    calls = [line for line in lines if line.get("type") == "call"]
    expect(all(call["how"] == ("panic" if call["uri"] in ("/panic", "/late") else "return") for call in calls), calls)
    same([(call["method"], str(call["status"]), str(call["bytes"]), call["uri"]) for call in calls],
         [asked(line, "<panicked>") for line in lines if "proto" in line])
    expect(all(call["latency_ns"] > 0 and "values" not in call for call in calls), calls)
