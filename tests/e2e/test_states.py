# SPDX-License-Identifier: Apache-2.0
"""gofunclatency --states, on a program that knows what its calls wait for, and how long at least."""

import os
import re
import socket
import tempfile
import time

from harness import (PROBE_NS, Target, Tool, each_release, expect, fixture, json_lines, newest, outliers,
                     private_copy, run, test, tool_path, toolchain, tracks, versions)

ROUNDS = 20
LINE = r"     {} +(\d+) +(\d+) +(\d+(?:\.\d)?) +(\d+\.\d)%\n"


def begun(target, *args, **kwargs):
    return Tool("gofunclatency", "--states", "-j", *args, *(["-p", target.target_pid] if target else []),
                **kwargs).tracing()


def told(target):
    """What the fixture knows: {function: its line}"""
    return {line["state_of"]: line for line in target.truth()}


def words(state, version):
    """What this release of Go calls it"""
    minor = int(version.split(".")[1])
    since = {"sync.Mutex.Lock": 20, "sync.RWMutex.RLock": 20, "sync.RWMutex.Lock": 20, "sync.WaitGroup.Wait": 24}
    return "semacquire" if minor < since.get(state, 0) else state


def states_of(record):
    """{state: its part} of a record, whose parts are its total to the nanosecond"""
    parts = list(record["states"].values())
    expect(all(list(part) == ["calls", "total"] for part in parts), f"{parts}")
    totals = [part["total"] for part in parts]
    expect(sum(totals) == record["total"], f"{record['func']}: {sum(totals)} of {record['total']} ns: {parts}")
    expect(totals == sorted(totals, reverse=True) and all(0 < part["calls"] <= record["count"] for part in parts),
           f"{record}")
    states = record["states"]
    expect(not {"unknown", "waiting", "work of the runtime"} & set(states), f"{record['func']}: {parts}")
    return states


def by_function(tool, records):
    """{function: its record}; the tool has nothing to say but what its hits cost, and, on a machine with far too much
    to do, that the kernel has not taken the probes away after three seconds."""
    said = [line for line in tool.err.text().splitlines() if line.startswith("gofunclatency:")
            and not re.search(r": \d+ hits a second of .* of a processor|: a traced call waits for memory that does not", line)]
    expect(not said, f"{said}")
    return {record["func"]: record for record in records if record.get("type") == "latency"}


def compare(known, record, version):
    """Every call waited, and for as long as it was kept waiting; the rest is the scheduler's, and the probes'."""
    states, name = states_of(record), record["func"]
    state = words(known["state"], version)
    expect(record["count"] == known["calls"] == ROUNDS, f"{name}: {record['count']} calls, {known}")
    expect(state in states and states[state]["calls"] == states["running"]["calls"] == ROUNDS, f"{name}: {states}, {known}")
    least = (1 - outliers()) * (known["least"] - PROBE_NS * ROUNDS)
    expect(least <= states[state]["total"] <= known["most"], f"{name}: {states}, {known}")


@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def states_waits(version, flavour):
    """Each wait is under Go's own name for it, for all calls and as long as it took, however the calls nest or end."""
    with Target("states", version, flavour) as target:
        with begun(target, "-F", "main.*") as tool:
            target.go()
            target.wait_line("done")
            found = by_function(tool, tool.stop())
        target.go()
        truth = told(target)
        minor = int(version.split(".")[1])
        expect(len(truth) == 16 + (minor >= 23) + 2 * flavour.startswith("cgo"), f"{list(truth)}")
        for name, known in truth.items():
            compare(known, found[name], version)
        hold, sleeps = 5_000_000 // 5, states_of(found["main.recurses"])["sleep"]
        expect(sleeps["calls"] == 3 * ROUNDS and sleeps["total"] >= 6 * ROUNDS * hold, f"{sleeps}")
        for name, ending, calls in ("main.panics", "panicked", 3 * ROUNDS), ("main.exits", "exited", ROUNDS):
            expect(found[name][ending] == calls and found[name]["states"] == {}, f"{found[name]}")
        for record in found.values():
            states_of(record)


@test(flavour=["pie", "cgo", "cgopie", "nl"])
def states_flavours(flavour):
    states_waits(newest(), flavour)


@test(version=versions)
def states_collect(version):
    """What the runtime does for a goroutine, or makes it wait for, has a name; nothing is unknown."""
    with Target("states", version, args=["collect", "rounds=40", "hold=2000"]) as target:
        with begun(target, "-F", "main.allocates", "main.work") as tool:
            target.go()
            target.wait_line("done")
            found = by_function(tool, tool.stop())
        target.go()
        target.truth()
        states = {**states_of(found["main.work"]), **states_of(found["main.allocates"])}
        wanted = {"GC assist marking", "GC mark termination", "garbage collection", "wait for GC cycle", "preempted",
                  "runnable", "running"}
        expect(wanted <= set(states), f"{wanted - set(states)} not in {states}")


@test(version=["1.15", "1.27"])
def states_nested(version):
    """Calls inside calls, by many goroutines: what the inner ones slept, the outer ones did, to the nanosecond."""
    with Target("states", version, args=["many"]) as target:
        with begun(target, "-F", "main.inner", "main.outer") as tool:
            target.go()
            target.wait_line("done")
            found = by_function(tool, tool.stop())
        target.go()
        target.truth()
        inner, outer = states_of(found["main.inner"]), states_of(found["main.outer"])
        expect(inner["sleep"]["calls"] == 200 * ROUNDS and outer["sleep"]["calls"] == 100 * ROUNDS, f"{inner}, {outer}")
        expect(inner["sleep"]["total"] == outer["sleep"]["total"], f"{inner}, {outer}")


@test(version=["1.24", "1.27"])
def states_scheduler(version):
    """The functions that make the changes can be traced themselves: each call is in both states."""
    with Target("states", version, args=["rounds=5", "hold=1000"]) as target:
        with begun(target, "-F", "runtime.exitsyscall", "runtime.reentersyscall") as tool:
            target.go()
            target.wait_line("done")
            found = by_function(tool, tool.stop())
        target.go()
        target.truth()
        for record in found.values():
            states = states_of(record)
            expect(all(states[state]["calls"] == record["count"] > 5 for state in ("running", "syscall")), f"{states}")


@test()
def states_intervals():
    """-i, without -F: the parts of each summary add up, and the summaries to the whole."""
    with Target("states", newest(), args=["many", "rounds=200"]) as target:
        with begun(target, "-T", "-i", "0.1", "main.inner", "main.outer") as tool:
            target.go()
            target.wait_line("done")
            records = [record for record in tool.stop() if record.get("type") == "latency"]
            by_function(tool, records)
        target.go()
        target.truth()
        expect(len(records) >= 3, f"{len(records)} records")
        totals, calls = [], 0
        for record in records:
            parts = record["states"]
            totals.append(sum(part["total"] for part in parts.values()))
            expect(totals[-1] == record["total"], f"{record}")
            calls += parts["sleep"]["calls"] if "sleep" in parts else 0
        expect(calls == sum(record["count"] for record in records) == 300 * 200, f"{calls}")


@test()
def states_processes():
    """All processes of a BINARY together, and with -p that one alone."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path, args = private_copy(folder, "states", newest()), ["many", "rounds=5"]
        with Target("states", newest(), path=path, args=args) as first, \
                Target("states", newest(), path=path, args=args) as other, \
                begun(None, "-F", path + ":main.outer") as both, begun(first, "-F", "main.outer") as one:
            for target in first, other:
                target.go()
                target.wait_line("done")
            alone, together = (by_function(tool, tool.stop())["main.outer"] for tool in (one, both))
            for target in first, other:
                target.go()
                target.truth()
            for record, calls in (alone, 500), (together, 1000):
                expect(states_of(record)["sleep"]["calls"] == record["count"] == calls, f"{record}")


def with_room(room):
    """(records, the tool's messages) of three calls inside each other by many goroutines, with room for so many"""
    with Target("states", newest(), args=["many", "rounds=2"]) as target:
        with begun(target, "main.many.func1", "main.outer", "main.inner", env={**os.environ, "GOTOOLS_ROOM": room}) as tool:
            target.go()
            target.wait_line("done")
            records = [record for record in tool.stop() if record.get("type") == "latency"]
            said = tool.err.text()
        target.go()
        target.truth()
        return records, said


@test()
def states_full_map():
    """Calls for whose clock there is no room: their time is unknown, and that is told."""
    [record], said = with_room("8")
    lost = re.search(r"^gofunclatency: (\d+) calls whose states are unknown: there was no room for them$", said, re.M)
    expect(lost and int(lost[1]) == record["states"]["unknown"]["calls"] > 0, f"{said}, {record}")
    expect(sum(part["total"] for part in record["states"].values()) == record["total"], f"{record}")


@test()
def states_full_sums():
    """States for whose sums there is no room: told; the calls' own times are right."""
    [record], said = with_room("1")
    expect(re.search(r"^gofunclatency: \d+ parts of calls not added up: there was no room for them$", said, re.M) and
           "relied" not in said, said)
    parts = sum(part["total"] for part in record["states"].values())
    expect(parts < record["total"] and len(record["states"]) == 1, f"{record}")


@test(unit=["nsecs", "usecs", "msecs"])
def states_text(unit):
    """The table below the histogram, the state that took most first; of a COMMAND"""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "states", newest())
        with Tool("gofunclatency", "--states", *({"usecs": ["-u"], "msecs": ["-m"]}.get(unit, [])), "main.sleeps", "--",
                  path, "now") as tool:
            tool.records()
            text = tool.out.text()
        expect('Tracing 1 functions for "main.sleeps"' in text, text)
        known = next(track for track in tracks(text) if track["state_of"] == "main.sleeps")
        table = re.search(rf"max = \d+ {unit}\n     STATE +CALLS +TOTAL +AVG +SHARE\n((?:     .*%\n)+)\n"
                          r"Detaching\.\.\.\n$", text)
        expect(table, text)
        line = re.match(LINE.format("sleep"), table[1])
        expect(line and int(line[1]) == ROUNDS and ("." in line[3]) == (unit == "usecs"), table[1])
        scale = {"nsecs": 1, "usecs": 1000, "msecs": 1000000}[unit]
        expect(known["least"] // scale <= int(line[2]) <= known["most"] // scale, f"{table[1]}, {known}")
        expect(abs(float(line[3]) - int(line[2]) / ROUNDS) <= 1 and 90 * (1 - outliers()) < float(line[4]) <= 100, table[1])
        shares = sum(float(share) for share in re.findall(r"(\d+\.\d)%\n", table[1]))
        expect(99.7 <= shares <= 100.3, table[1])


# Where the execution trace has other words, or none for what is in no run queue meanwhile
IN_TRACE = {"sync.Mutex.Lock": "sync", "sync.RWMutex.RLock": "sync", "sync.RWMutex.Lock": "sync",
            "sync.WaitGroup.Wait": "sync", "IO wait": "network", "sync.Cond.Wait": "sync.(*Cond).Wait", "coroutine": "",
            "semacquire": "sync", "stopping the world": "running"}
CHANGE = re.compile(r'StateTransition Time=(\d+) (?:Resource=\S+ Reason="(.*)" )?GoID=(\d+) (\w+)->(\w+)(?: Reason="(.*)")?$')
REGION = re.compile(r"G=(\d+) Region(Begin|End) Time=(\d+) Task=0 Type=\"(.*)\"$")


def parsed_trace(version, folder):
    """[kind of line, its fields] of Go's own trace of the fixture"""
    goroot, cache = toolchain(version), os.path.dirname(toolchain(version))
    env = dict(os.environ, GOROOT=goroot, GOTOOLCHAIN="local", GOFLAGS="", GOCACHE=cache + "/gocache",
               HOME=os.environ.get("HOME", "/"))
    kind = "parsed" if int(version.split(".")[1]) >= 24 else "1"
    done = run([goroot + "/bin/go", "tool", "trace", "-d=" + kind, folder + "/trace"], timeout=400, env=env)
    expect(done.returncode == 0, f"go tool trace: {done.stderr[-400:]}")
    for line in done.stdout.splitlines():
        for pattern in CHANGE, REGION:
            match = pattern.search(line)
            if match:
                yield pattern, match.groups()


class Region:
    """One call, by Go's trace: how long it was in each state"""

    def __init__(self, begun):
        self.since, self.state, self.spent, self.changes = begun, "running", {}, 0
        self.before = ""
        self.perhaps = 0  # ns it was runnable, if it was

    def change(self, now, state):
        spent = now - self.since
        # some are made up by the trace's reader, between a coroutine's wait and its run; and from system
        # calls after which the goroutine has at once found another P than the one that it had: but after
        # others it had to wait for one. Others are of a thread that the kernel stopped before it wrote who
        # was woken: the reader shortens them, as it reads events in their order.
        if self.state == "runnable" and "syscall" in self.spent:
            self.perhaps += spent
        elif self.state != "runnable" or spent > 9 or self.before:
            self.spent[self.state] = self.spent.get(self.state, 0) + spent
            self.changes += 1
        self.since, self.before, self.state = now, self.state, state


def traced_regions(version, folder):
    """{function: its calls, by Go's trace}"""
    open_, found = {}, {}
    for pattern, fields in parsed_trace(version, folder):
        if pattern is CHANGE:
            now, before, goid, state, to, behind = fields
            if goid in open_ and state != to:  # each second the trace repeats all states
                open_[goid].change(int(now), (before or behind or "") if to == "Waiting" else to.lower())
        else:
            goid, which, now, name = fields
            if which == "Begin":
                open_[goid] = Region(int(now))
                found.setdefault(name, []).append(open_[goid])
            else:
                open_.pop(goid).change(int(now), "")
    return found


def compare_trace(name, record, regions, delayed):
    """As many calls were in each state, for as long, but for what the probes took, and for how long the kernel may
    have kept a thread waiting between a region's beginning and its call's."""
    expect(record["count"] == len(regions) == ROUNDS, f"{name}: {record['count']} calls, {len(regions)} regions")
    mine, theirs = {}, {}
    for state, part in states_of(record).items():
        if state == "runnable" and not any(state in region.spent for region in regions):
            continue
        calls, total = mine.get(IN_TRACE.get(state, state), (0, 0))
        mine[IN_TRACE.get(state, state)] = (max(calls, part["calls"]), total + part["total"])
    for region in regions:
        for state, spent in region.spent.items():
            calls, total = theirs.get(state, (0, 0))
            theirs[state] = (calls + 1, total + spent)
    # the runtime may take the P between the region's beginning and the call's
    early = {"runnable"} if mine.get("runnable", (0, 0))[0] < theirs.get("runnable", (0, 0))[0] < ROUNDS else set()
    perhaps = [region.perhaps for region in regions if region.perhaps]
    for state in (set(mine) | set(theirs)) - early:
        more = mine.get(state, (0, 0))[0] - theirs.get(state, (0, 0))[0]
        expect(0 <= more <= len(perhaps) * (state == "runnable"), f"{name}: {mine}, by Go's trace {theirs}, {perhaps}: "
               f"{[region.spent for region in regions]}")
    slack = PROBE_NS * sum(region.changes for region in regions) + outliers() * record["total"]
    for state, (_, total) in mine.items():
        most = slack + (delayed if state == "running" else 0)
        least = -slack - (sum(perhaps) if state == "runnable" else 0)
        expect(least <= theirs[state][1] - total <= most, f"{name}: {state} {total} ns, by Go's trace {theirs[state][1]}")


@test(version=lambda: [v for v in versions() if v >= "1.22"])
def states_trace(version):
    """What Go's own execution trace says of the same calls"""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = private_copy(folder, "states", version)
        with Tool("gofunclatency", "--states", "-jF", "main.*", "--", path, "now", "trace", cwd=folder) as tool:
            found = by_function(tool, tool.records())
        regions = traced_regions(version, folder)
        regions.pop("", None)
        expect(len(regions) == 16 + (int(version.split(".")[1]) >= 23), f"{list(regions)}")
        with open(folder + "/delayed", encoding="utf-8") as file:
            delayed = int(file.read())
        for name, calls in regions.items():
            compare_trace(name, found[name], calls, delayed)


@test(version=["1.15", "1.27"])
def states_room_again(version):
    """What calls keep while they run is given back, however they end: room for one call of 21 inside each other is enough."""
    with Target("states", version, args=["deep", "hold=500"]) as target:
        with begun(target, "main.exits", "main.naps", env={**os.environ, "GOTOOLS_ROOM": "32"}) as tool:
            target.go()
            target.wait_line("done")
            [record] = by_function(tool, tool.stop()).values()
        target.go()
        target.truth()
        expect(record["exited"] == record["count"] == states_of(record)["sleep"]["calls"] == 20 * ROUNDS, f"{record}")


def refused(pattern, *args):
    result = run([tool_path("gofunclatency"), "--states", *args])
    expect(result.returncode == 1 and not json_lines(result.stdout) and re.match("gofunclatency: " + pattern, result.stderr),
           f"{result}")


@test()
def states_refusals():
    """Where not all changes of state could be seen and named: in words"""
    path = fixture("hello", "gccgo")
    refused(rf'"{path}" is built by gccgo: --states is for Go\'s gc compiler only\n', path + ":main.*")
    refused(r"runtime\.systemstack cannot be timed: [^\n]*\n$", fixture("states", newest()) + ":runtime.systemstack")
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        paths = [private_copy(folder, "states", version) for version in ("1.21",)]
        os.mkdir(folder + "/other")
        paths.append(private_copy(folder + "/other", "states", "1.22"))
        refused(rf'"{paths[0]}" and "{paths[1]}" cannot be traced together with --states: their Go versions differ too '
                r"much\nhint: trace them in two commands\n", *[path + ":main.main" for path in paths])


@test(version=["1.15", newest()], hog=["hog", ""])
def states_late(version, hog):
    """Data that is in the socket while another goroutine has the only processor counts as IO wait: a line says that it
    may have come earlier. Without such a goroutine there is no such line."""
    with Target("late", version, "strip", args=[hog]) as target:
        with Tool("gofunclatency", "--states", "-p", target.target_pid, "main.receive").tracing() as tool:
            target.go()
            port = int(target.wait_line("port ").split()[1])
            with socket.create_connection(("127.0.0.1", port)) as peer:
                for _ in range(100):
                    time.sleep(0 if hog else 0.005)
                    peer.sendall(time.time_ns().to_bytes(8, "big"))
                    expect(peer.recv(1), "the target has closed its connection")
            late = int(target.wait_line("late ").split()[1])
            target.wait()
            tool.wait()
            shown = tool.out.text()
        said = "IO wait: what they waited for may have come earlier" in shown
        total, waited = (int(re.search(rf"{name}:? +(?:\d+ +)?(\d+)", shown)[1]) for name in ("total", "IO wait"))
    if hog:
        expect(late > 0.8 * total and waited > 0.1 * total, f"{late} of {total} ns late, IO wait {waited}: {shown}")
    expect(said == bool(hog), f"{late} of {total} ns late: {shown}")
