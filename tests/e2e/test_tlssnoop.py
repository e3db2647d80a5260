# SPDX-License-Identifier: Apache-2.0
"""gotlssnoop shows what programs read and write by crypto/tls, as they say it themselves."""

import collections
import json
import re

from harness import Target, expect, test, versions

from gotrace import Tracer


class Snoop(Tracer):
    """gotrace, started by the recipe"""

    def __init__(self, *args):
        super(Tracer, self).__init__("gotlssnoop", *args)  # pylint: disable=bad-super-call


def told(text):
    """READ or WRITE, bytes, data"""
    lines = [line.split(None, 2) for line in text.splitlines() if line[:5] in ("READ ", "WRITE")]
    return collections.Counter((how, int(count), data) for how, count, data in lines)


def snooped(text):
    return collections.Counter((how, int(count), data) for _, _, how, count, data in
                               (line.split(None, 4) for line in text.splitlines() if line[:1].isdigit()))


def same(got, true):
    expect(true and got == true, f"too many: {list((got - true).items())[:5]}, missing: {list((true - got).items())[:5]}")


@test(built_as=[("1.15", "strip"), ("1.19", "strip"), ("1.23", "strip"), ("1.27", "strip"), ("1.27", "plain")])
def tlssnoop(built_as):
    """All of it, at both ends"""
    with Target("tls", *built_as) as target:
        with Snoop("-Z", "4096", "-p", target.target_pid) as snoop:
            snoop.attached()
            target.go()
            got = snooped(snoop.rest())
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            expect("lost" not in snoop.err.text(), snoop.err.text())
            true = told(target.out.text())
    same(got, true)


def short(calls):
    return collections.Counter({call: n for call, n in calls.items() if call[1] <= 80})


def written_in_hex(true):
    return collections.Counter((how, count, json.loads(data).encode().hex()) for how, count, data in true.elements()
                               if how == "WRITE")


@test()
def tlssnoop_options():
    """One direction, in hexadecimal; and JSON"""
    with Target("tls", "1.27", "strip", args=["calls=6"]) as target:
        with Snoop("-wx", "-p", target.target_pid) as write, Snoop("-j", "-p", target.target_pid) as both, \
                Snoop("-r", "-p", target.target_pid) as read:
            write.attached()
            both.attached()
            read.attached()
            target.go()
            got, objects = snooped(write.rest()), [json.loads(line) for line in both.rest().splitlines()]
            got_read = snooped(read.rest())
            expect(target.wait() == 0, f"the target failed: {target.said()}")
            true = told(target.out.text())
    true = short(true)
    same(short(got), written_in_hex(true))
    same(short(got_read), collections.Counter({call: n for call, n in true.items() if call[0] == "READ"}))
    got = collections.Counter((call["func"].split(".")[-1].upper(), call["bytes"], json.dumps(call["data"]))
                              for call in objects)
    same(short(got), true)


def streams(lines):
    """What was shown of each stream, in order: HOW, and what was said"""
    said = collections.defaultdict(list)
    for line in lines:
        headers = re.fullmatch(r"\d+ +\d+ +(READ|WRITE) +HTTP/2 stream (\d+): (.*)", line)
        if headers:
            said[headers[2]].append((headers[1], headers[3]))
    return [tuple(text) for text in said.values()]


def exchange(told):
    """What both ends have of a request of HTTP/2, by what its client got"""
    answer = [(how, str(told["status"])) for how in ("WRITE", "READ")] if told["status"] else []
    return (("WRITE", told["method"] + " " + told["uri"]), ("READ", told["method"] + " " + told["uri"]), *answer)


@test(version=versions, flavour=["plain", "strip"])
def tlssnoop_http2(version, flavour):
    """Method, path and status of each request and answer, at both ends, by stream"""
    with Target("httpd", version, flavour, args=["many=20"]) as target:
        with Snoop("-p", target.target_pid) as snoop, Snoop("-r", "-j", "-p", target.target_pid) as read:
            snoop.attached()
            read.attached()
            target.go()
            lines = [line for line in snoop.rest().splitlines() if line[:1].isdigit()]
            objects = [json.loads(line) for line in read.rest().splitlines()]
            expect(target.wait() == 0, f"the target failed: {target.said()}")
    truth = [json.loads(line) for line in target.out.text().splitlines() if line[0] == "{"]
    # the panics of HTTP/1 have no protocol
    truth = [told for told in truth if told["proto"] == "HTTP/2.0"]
    expect(len(truth) > 30, f"{len(truth)} requests of HTTP/2")
    got = [tuple((how, re.sub("https://[^/]*", "", text)) for how, text in said) for said in streams(lines)]
    same(collections.Counter(got), collections.Counter(map(exchange, truth)))
    got = [(call["stream"], call.get("method"), call.get("uri"), call.get("status")) for call in objects if "stream" in call]
    requests = [(method, uri) for _, method, uri, _ in got if method]
    same(collections.Counter(requests), collections.Counter((told["method"], told["uri"]) for told in truth))
    statuses = collections.Counter(status for _, _, _, status in got if status)
    same(statuses, collections.Counter(told["status"] for told in truth if told["status"]))
