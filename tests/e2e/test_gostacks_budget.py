# SPDX-License-Identifier: Apache-2.0
"""What a look at goroutines may take is in proportion to how many there are, and each look has its own:
GOTOOLS_SECONDS makes what the program's file adds to that shorter than what these looks take."""

import os
import sys
import time

from harness import PATIENCE, TESTS, Target, Tool, expect, test, newest

sys.path.insert(0, TESTS + "/e2e")

# pylint: disable=wrong-import-position
from test_budget import not_sanitized

SECONDS = 0.3
LIMIT = dict(os.environ, GOTOOLS_SECONDS=str(SECONDS))
MANY = 40000


def used(tool):
    """Seconds of a processor, by the tool and all processes that it has started"""
    found, ticks = 0, os.sysconf("SC_CLK_TCK")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(pid) == tool.child.pid:
            found += sum(map(int, fields[11:15]))
        elif int(fields[1]) == tool.child.pid:
            found += sum(map(int, fields[11:13]))
    return found / ticks


def watched(name, *options, mark):
    """It looks on, for longer than a single look may."""
    not_sanitized()
    with Target("parked", newest(), "strip", args=["unsettled", f"many={MANY // 8}"]) as target, \
            Tool(name, *options, target.target_pid, env=LIMIT) as tool:
        end = time.monotonic() + PATIENCE
        while used(tool) < 8 * SECONDS or tool.out.text().count(mark) < 5:
            expect(tool.child.poll() is None, f"it has ended: {tool.said()}")
            expect(time.monotonic() < end, f"{used(tool)} s used: {tool.said()}")
            time.sleep(0.05)
        tool.stop()
        expect(not tool.err.text(), f"{tool.err.text()}")


@test()
def gostacks_budget_watch():
    watched("gostacks", "-i", "1ms", mark=" goroutines: ")


@test()
def goleaks_budget():
    watched("goleaks", "-i", "1ms", mark="  BORN ")


@test(option=["-a", "-j"])
def gostacks_budget_many(option):
    """A single look, which takes longer than one at few goroutines may"""
    not_sanitized()
    counted = ("bash", "-c", 'set -o pipefail; "$0" "$@" | grep -c "main[.]receives[(\\"]"')
    with Target("parked", newest(), "strip", args=["unsettled", f"many={2 * MANY}"]) as target, \
            Tool("gostacks", option, target.target_pid, argv=counted, env=LIMIT) as tool:
        expect(tool.wait() == 0 and not tool.err.text(), f"{tool.said()}")
        count = int(tool.out.text())
    expect(2 * MANY <= count <= 2 * MANY + 2, f"{count} of {2 * MANY}")
