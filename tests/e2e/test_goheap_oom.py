# SPDX-License-Identifier: Apache-2.0
"""goheap --watch-oom: a program that comes near the limit of its memory cgroup is read before the kernel kills it."""

import contextlib
import re
import signal
import time

from harness import Target, Tool, expect, json_lines, newest, run, test, tool_path, two_versions

from test_memory import memory_cgroup

LIMIT = 128  # MB
IS_READ = r".*\n.* bytes in use, "  # why it was read comes before that


@contextlib.contextmanager
def confined(version):
    """A program in a cgroup of its own, whose profile has each allocation, and that cgroup's folder"""
    with memory_cgroup(LIMIT << 20) as group:
        enter = f"echo $$ >{group}/cgroup.procs; GODEBUG=memprofilerate=1 exec "
        with Target("grows", version, "strip", argv=lambda path: ["sh", "-c", enter + path]) as target:
            yield target, group


def grow(tool, target, megabytes):
    """While the tool does not look: it sees what is collected and published."""
    tool.signal(signal.SIGSTOP)
    target.say(str(megabytes))
    target.wait_line(f"grown {megabytes}")
    tool.signal(signal.SIGCONT)


def until(tool, pattern):
    """Waits until it has said this."""
    end = time.monotonic() + 100
    while not re.search(pattern, tool.out.text()):
        expect(time.monotonic() < end, f"never {pattern}: {tool.said()}")
        time.sleep(0.02)


def in_use(tool, low, high):
    """Waits for what is read between so many percent of the limit."""
    numbers = "|".join(map(str, range(low, high)))
    until(tool, rf"of {LIMIT}M in use, ({numbers})%, in /{IS_READ}")


@test(version=two_versions)
def goheap_oom_killed(version):
    with confined(version) as (target, _):
        with Tool("goheap", "--watch-oom", "-p", target.target_pid) as tool:
            until(tool, rf" grows \({target.target_pid}\): {IS_READ}")
            grow(tool, target, 70)
            in_use(tool, 50, 75)
            grow(tool, target, 45)
            in_use(tool, 90, 98)
            before_burst = tool.out.text()
            target.say("burst")
            until(tool, r"has ended: the kernel has killed a process of its cgroup for want of memory\. The last reading is \d")
            expect(tool.wait() == 0, tool.said())
        expect(target.wait() == -signal.SIGKILL, target.said())
        start, half, *near, end = re.split(r"^\d\d:\d\d:\d\d grows ", tool.out.text(), flags=re.M)[1:]
        expect("main.grows" not in start + end and near, tool.said())
        for block, grown in ((half, 70), *((b, 115) for b in near)):
            row = re.search(r"^ *(\d+) +(\d+) +[\d.]+%\n +main\.grows ", block, re.M)
            if row and block not in before_burst:  # a collection while it takes all may have published more
                grown = max(grown, int(row[1]) >> 20)
            # and some bytes for the collector that an allocation has started
            expect(row and 0 <= int(row[1]) - (grown << 20) < 1024 and 0 <= int(row[2]) - grown < 8,
                   f"not {grown}: {block[:999]}")


@test()
def goheap_oom_json():
    """As JSON: why it was read, before what was read; and that it has ended by itself"""
    with confined(newest()) as (target, group):
        with Tool("goheap", "--watch-oom", "-j", "-p", target.target_pid) as tool:
            tool.wait_line('{"type":"oom",')
            grow(tool, target, 70)
            until(tool, '"event":"near"')
            target.child.stdin.close()
            expect(tool.wait() == 0, tool.said())
        records = json_lines(tool.out.text())
        events = [r for r in records if r["type"] == "oom"]
        expect([e["event"] for e in events] == ["start", "near", "ended"], f"{events}")
        near = events[1]
        expect(near["cgroup"] == group and near["limit_bytes"] == LIMIT << 20 and
               0.5 * near["limit_bytes"] <= near["used_bytes"] < near["limit_bytes"], f"{near}")
        expect(list(near) == ["type", "pid", "comm", "event", "used_bytes", "limit_bytes", "cgroup"], f"{near}")


@test()
def goheap_oom_refused():
    for args, words in ((["--pprof", "x", "-p", "1"], "--pprof is for a single snapshot: not with --watch-oom"),
                        (["-f", "-p", "1"], "-f and --watch-oom exclude each other"),
                        (["--core", "x", "y"], "--watch-oom is for programs that run: not with --core")):
        done = run([tool_path("goheap"), "--watch-oom", *args])
        expect(done.returncode == 2 and words in done.stderr, f"{args}: {done.returncode}: {done.stderr}")
