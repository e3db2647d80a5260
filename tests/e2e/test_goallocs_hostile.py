# SPDX-License-Identifier: Apache-2.0
"""goallocs on programs that are no easy targets: what they have allocated is counted, whatever becomes of them."""

import json
import random
import re
import signal
import subprocess

from harness import Target, Tool, expect, json_lines, newest, test, two_versions

from test_goallocs import ALL
from test_gostacks_lies import make_liar

N = 1000


class Traced:
    """A run of the fixture, to its end: the tool's rows, and what it said"""

    def __init__(self, version, flavour, mode, *options, ends=0):
        with Target("strange", version, flavour, [mode, f"n={N}"]) as target, \
                Tool("goallocs", *ALL, "-j", *options, "-p", target.target_pid) as tool:
            tool.wait_line("Tracing allocations")
            target.go()
            expect(target.wait() == ends, target.said())
            expect(tool.wait() == 0, tool.said())
            self.records, self.said = json_lines(tool.out.text()), tool.err.text()

    def of(self, function, kind=""):
        """[(type, objects)] of what this function has allocated"""
        return [(r["go_type"], r["objects"]) for r in self.records
                if function in [f["func"] for f in r["stack"]] and r["go_type"].startswith(kind)]


@test(version=two_versions)
def allocs_made_types(version):
    """Types that the program has made as it runs are in no file: each is told by its address."""
    traced = Traced(version, "strip", "made")
    got = traced.of("main.makesMade", "type 0x")
    expect(len(set(got)) == N and all(objects == 1 for _, objects in got), f"{len(got)} types: {got[:5]}")
    expect(traced.of("main.makesNode") == [("main.node", N)], f"{traced.of('main.makesNode')}")


@test(version=two_versions)
def allocs_long_name(version):
    """A name of 38,000 bytes is whole, and on one line."""
    name = "struct { A *uint8; B *uint8 }"
    for _ in range(5):
        name = "struct { " + "; ".join(f"{field} {name}" for field in "ABCD") + " }"
    (got, objects), = Traced(version, "strip", "long").of("main.makesLong")
    expect((got, objects) == (name, 1), f"{objects}, {len(got)} bytes, in truth {len(name)}: {got[:100]}")


@test(version=two_versions, mode=["other", "dies"])
def allocs_to_the_end(version, mode):
    """What it had allocated when it executed another program, or was killed"""
    traced = Traced(version, "pie", mode, ends=-signal.SIGKILL if mode == "dies" else 0)
    expect(traced.of("main.makesNode") == [("main.node", N)], f"{traced.of('main.makesNode')}: {traced.said}")


@test(version=two_versions)
def allocs_executes_itself(version):
    """... at other addresses: what is seen of it has the same types and functions; what may be missing is said."""
    traced = Traced(version, "pie", "again")
    got = traced.of("main.makesNode")
    expect({name for name, _ in got} == {"main.node"}, f"{got}")
    missing = re.search("executed another program.*not seen", traced.said)
    seen = sum(objects for _, objects in got)
    expect(N <= seen <= 2 * N if missing else seen == 2 * N, f"{seen} of {2 * N}: {traced.said}")


@test(version=two_versions)
def allocs_lies(version):
    """A program whose memory is all lies: it ends, and is harmless."""
    dice = random.Random(f"allocs {version}")
    with Target("allocated", version, "strip", ["rounds=100000000"]) as target:
        pid = target.target_pid
        with Tool("goallocs", *ALL, "-j", "-p", pid) as tool:
            tool.wait_line("Tracing allocations")
            target.go()
            target.works(0.1)
            make_liar(pid, dice)
            try:  # it goes on as far as it can
                target.child.wait(0.3)
            except subprocess.TimeoutExpired:
                pass
            tool.signal(signal.SIGINT)
            expect(tool.wait() in (0, 1), f"{tool.said()}")
            out, said = tool.out.text(), tool.out.text() + tool.err.text()
        target.child.kill()
    expect(not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", said), "control characters")
    expect("main.node" in {json.loads(line)["go_type"] for line in out.splitlines()}, out[-500:])
