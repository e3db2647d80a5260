# SPDX-License-Identifier: Apache-2.0
"""What it costs to follow calls of ROOT: a request that hands a value to another goroutine and gets one back, and
a goroutine that is started elsewhere."""

from blocked import REQUESTS, Copy, above, interleave
from stats import Row

STARTS = 1500
NEVER = "10s"  # no request takes so long: no tree is printed


def requests(world, rows, others):
    """Rows of `what: (tool, beside)`, each of the tools with its arguments"""
    idle = Copy(world, "untraced")
    copies = {name: Copy(world, name) for name in others}
    for name, (tool, *args) in others.items():
        copies[name].trace([world.tool(tool), "-p", copies[name].pid, *args])
    interleave([idle, *copies.values()], "requests", REQUESTS)
    for copy in [idle, *copies.values()]:
        copy.end()
    return [Row(what, beside, above(copies[ours], idle), above(copies[theirs], idle), "ns")
            for what, beside, ours, theirs in rows]


def follow(world):
    times, tree = ["gofunclatency", "main.asked"], ["gotree", "--slower", NEVER, "main.request", "main.asked"]
    yield from requests(
        world, [("a call below ROOT, --follow", "gofunclatency alone", "followed", "alone"),
                ("the same, and two values, --follow-channels", "gofunclatency alone", "channels", "alone"),
                ("a request and a call below it, gotree --follow", "gotree alone", "grown", "tree")],
        {"alone": times, "followed": [*times, "--follow", "main.request"],
         "channels": [*times, "--follow", "main.request", "--follow-channels"],
         "tree": tree, "grown": [*tree, "--follow"]})
    idle, followed, grown = (Copy(world, role) for role in ("untraced", "followed", "grown"))
    followed.trace([world.tool("gofunclatency"), "-p", followed.pid, "--follow", "main.request", "main.asked"])
    grown.trace([world.tool("gotree"), "-p", grown.pid, "--follow", "main.request", "main.asked"])
    interleave([idle, followed, grown], "starts", STARTS)
    for copy in idle, followed, grown:
        copy.end()
    yield Row("a goroutine's start and end elsewhere, --follow", "not traced", followed.costs, idle.costs, "ns")
    yield Row("the same, gotree --follow", "not traced", grown.costs, idle.costs, "ns")
