# SPDX-License-Identifier: Apache-2.0
"""What probes cost, as the tools say it themselves (-v, --max-cost), beside what their target loses: its
own processor time for the same work, traced and untraced by turns.

Both figures are of one round: in each the tool begins and ends anew, as it says what hits cost at its
end. How long its program runs it samples once that has run often enough: before, that is not contained."""

import re

import blocked
import percall
from process import Failed
from stats import Row

LIMIT = ["--max-cost", "100000"]  # says what -v says, without the BPF program
ROUNDS = 5
CALLS, REQUESTS = 40000, 30000
TOLD = re.compile(r": (\d+) hits \(\d+ a second\) of ([\d.]+) us each: ")

# by the call: the tool, and what it is asked for
OF_CALLS = {"gofunccount": ["{}"], "gofunclatency": ["{}"], "gotrace, predicate false": ["{} (n < 0)"],
            "gotrace, r: and false": ["r:{} (n < 0)"], "gotrace, to /dev/null": ["{}"]}
# by the request, which waits for a lock and for another goroutine
OF_REQUESTS = ["gofunclatency", "gofunclatency --states", "gorunqlat", "gooffcputime", "gowakeups"]


def cost_told(text, what):
    """ns of all hits, as the tool says"""
    line = TOLD.search(text)
    if not line:
        raise Failed(f"{what} does not say what hits cost: {text[-1000:]}")
    return int(line[1]) * float(line[2]) * 1e3


def call_rounds(world, what, entry):
    """(told, true) ns of a call, of each round"""
    for number in range(ROUNDS):
        copy = percall.Copy(what, world.target("1.27", f"told-{re.sub('[^a-z]', '', what)}-{number}"))
        idle = copy.batch(CALLS)
        patterns = [pattern.format(f"{copy.program}:{entry}") for pattern in OF_CALLS[what]]
        argv = [world.tool(what.partition(",")[0]), *LIMIT, *patterns]
        if what.endswith("/dev/null"):
            argv = ["sh", "-c", 'echo Tracing; exec "$@" >/dev/null', "sh", *argv]
        copy.trace(argv, "PID" if "false" in what else "Tracing")
        before = copy.calls
        true = copy.batch(CALLS) - idle
        copy.end()
        calls = copy.calls - before
        told = cost_told(copy.tracer.errors(), what)
        # calls that showed that it traces were hits too
        hits = int(TOLD.search(copy.tracer.errors())[1])
        per_call = 2 if what.startswith("gofunclatency") or "r:" in what else 1
        if hits < per_call * calls:
            raise Failed(f"{what}: {hits} hits of {calls} calls")
        yield told / hits * per_call, true


def request_rounds(world, what):
    words = what.split()
    for number in range(ROUNDS):
        copy = blocked.Copy(world, f"told-{'-'.join(words)}-{number}")
        copy.ask("requests", REQUESTS // 10)
        idle = copy.ask("requests", REQUESTS)[0]
        patterns = ["main.request"] if words[0] == "gofunclatency" else []
        copy.trace(blocked.said([world.tool(words[0]), *words[1:], *LIMIT, "-p", copy.pid, *patterns]))
        true = copy.ask("requests", REQUESTS)[0] - idle
        yield cost_told(copy.end(), what) / REQUESTS, true


def row(what, rounds):
    told, true = zip(*rounds)
    return Row(what, "its target's loss", told, true, "ns")


def told(world):
    for what in OF_CALLS:
        yield row(f"a call, {what}", call_rounds(world, what, "main.checked"))
    for what in OF_REQUESTS:
        yield row(f"a request, {what}", request_rounds(world, what))
