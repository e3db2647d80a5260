# SPDX-License-Identifier: Apache-2.0
"""-n NAME and --all: programs that are found by what runs."""

import collections
import os
import re
import shutil
import tempfile

from harness import Target, Tool, expect, fixture, newest, run, test, tool_path, versions

WORK = "main.workCall"


class Named:
    """Programs of the same source with names of their own"""

    def __init__(self, **calls):
        self.folder = tempfile.mkdtemp(prefix="running-")
        self.tag = os.path.basename(self.folder)[8:]  # other tests run beside this one
        self.targets = {}
        self.calls = calls

    def __enter__(self):
        os.chmod(self.folder, 0o755)
        for name, (calls, version) in self.calls.items():
            path = shutil.copy(fixture("process", version), self.path(name))
            self.targets[name] = Target("process", version, args=["once", f"calls={calls}"], path=path)
        return self

    def __exit__(self, *what):
        for target in self.targets.values():
            target.__exit__(*what)
        shutil.rmtree(self.folder)

    def go(self):
        for target in self.targets.values():
            target.go()
        for target in self.targets.values():
            target.truth()

    def path(self, name):
        return f"{self.folder}/{name if name == 'other' else self.tag + name}"


def counts(records):
    return {r.get("binary", ""): r["count"] for r in records
            if r.get("type") in ("count", "latency") and r.get("func") == WORK}


@test(tool=["gofunccount", "gofunclatency"])
def running_by_name(tool):
    """Those with the name are traced, of each its own calls; not another one of the same source"""
    more = ["-F"] if tool == "gofunclatency" else []
    with Named(one=(30, newest()), two=(50, newest()), other=(70, newest())) as named:
        with Tool(tool, "-j", *more, "-n", named.tag, WORK) as tracer:
            tracer.tracing()
            named.go()
            got = counts(tracer.stop())
        expect(got == {named.path("one"): 30, named.path("two"): 50}, f"counted {got}")
        said = tracer.err.text()
        expect(f"2 programs: {named.folder}/" in said, f"stderr: {said}")
        expect(named.path("other") not in said, f"stderr: {said}")


@test(alone=True)
def running_all():
    """All that run, of unlike releases of Go; text names the programs"""
    with Named(one=(30, newest()), older=(50, versions()[0])) as named:
        with Tool("gofunccount", "--all", f":{WORK}") as tracer:
            tracer.tracing()
            named.go()
            tracer.stop()
            text = tracer.out.text()
    rows = dict(line.rsplit(None, 1) for line in text.splitlines() if line.startswith(WORK))
    for name, calls in (("one", "30"), ("older", "50")):
        expect(rows.get(f"{WORK} ({named.tag}{name})") == calls, f"printed {rows}")


@test()
def running_one():
    """Of one program names are as always, and gotrace's -n looks for commands"""
    with Named(one=(30, newest())) as named:
        with Tool("gofunccount", "-j", "-n", named.tag + "one", WORK) as tracer, \
                Tool("gotrace", "-j", "-n", named.tag + "one", WORK) as trace:
            tracer.tracing()
            trace.tracing()
            named.go()
            records = tracer.stop()
            expect(counts(records) == {"": 30}, f"counted {counts(records)}")
            events = [r for r in trace.stop() if r.get("func") == WORK]
            expect(len(events) == 30, f"gotrace printed {len(events)}")


@test()
def running_by_file():
    """The file has the name, the command has another: a command is 15 bytes long at most"""
    with Named(withaverylongname=(30, newest())) as named:
        with Tool("gofunccount", "-j", "-n", "withaverylongname", f":{WORK}") as tracer:
            tracer.tracing()
            named.go()
            got = counts(tracer.stop())
    expect(got == {"": 30}, f"counted {got}")


@test()
def running_replaced():
    """Of a program that was upgraded, the processes of the old file are traced, and those of the new one"""
    with Named(one=(30, newest())) as named:
        path = named.path("one")
        shutil.copy(path, path + ".new")
        os.rename(path + ".new", path)
        with Target("process", newest(), args=["once", "calls=50"], path=path) as new, \
                Tool("gofunccount", "-j", "-n", named.tag, WORK) as tracer:
            tracer.tracing()
            new.go()
            new.truth()
            named.go()
            got = sorted(r["count"] for r in tracer.stop() if r.get("type") == "count")
    expect(got == [30, 50], f"counted {got}")


@test()
def running_binaries():
    """Tools of whole programs: the name in place of BINARY sees what BINARY sees"""
    with Named(one=(30, newest())) as named:
        with Tool("goallocs", "-j", "--max-cost", "1000", "-n", named.tag) as found, \
                Tool("goallocs", "-j", "--max-cost", "1000", named.path("one")) as given:
            found.tracing()
            given.tracing()
            named.go()
            got = [sum(r["objects"] for r in tool.stop() if r.get("type") == "alloc") for tool in (found, given)]
    expect(got[0] == got[1] > 0, f"counted {got}")


@test()
def running_unlike():
    """Two that one kernel program cannot serve are named"""
    with Named(one=(30, newest()), two=(50, versions()[0])) as named:
        got = run([tool_path("gofunclatency"), "-n", named.tag, WORK])
    expect(got.returncode == 1, f"status {got.returncode}")
    expect("cannot be traced together" in got.stderr and "-p PID" in got.stderr, got.stderr)


@test()
def running_none():
    """Nobody has the name, or one who is no Go program"""
    got = run([tool_path("gofunccount"), "-n", "no-such-name", WORK])
    expect(got.returncode == 1, f"status {got.returncode}")
    expect('no Go program runs whose name contains "no-such-name"\n' in got.stderr, got.stderr)
    with tempfile.TemporaryDirectory() as folder:
        name = "sleep" + os.path.basename(folder)
        path = shutil.copy("/bin/sleep", f"{folder}/{name}")
        got = run(["sh", "-c", '"$1" 100 & "$2" -n "$4" "$3"; kill $!', "sh", path,
                   tool_path("gofunccount"), WORK, name])
    expect(name in got.stderr and "hint: " in got.stderr and
           "not a Go program" in got.stderr, got.stderr)


@test()
def running_tree():
    """gotree: each program has a ROOT and functions of its own"""
    with Named(one=(30, newest()), two=(20, newest()), other=(70, newest())) as named:
        refused = run([tool_path("gotree"), "--follow", "-d", "1", "-n", named.tag, WORK])
        with Tool("gotree", "-j", "-n", named.tag, WORK) as tracer, \
                Tool("gotree", "-j", "-p", named.targets["one"].target_pid, WORK) as single:
            tracer.tracing()
            single.tracing()
            named.go()
            trees = [r for r in tracer.stop() if r.get("type") == "call_tree"]
            functions = [int(re.search(r"with (\d+) functions", tool.err.text())[1]) for tool in (tracer, single)]
    pids = collections.Counter(tree["pid"] for tree in trees)
    expect(pids == {int(named.targets["one"].target_pid): 30, int(named.targets["two"].target_pid): 20}, f"{pids}")
    expect(functions[0] == 2 * functions[1] > 2, f"{functions} functions")
    expect(refused.returncode == 1 and "in one program only" in refused.stderr, f"{refused}")


@test()
def running_profile():
    """goprofile: the programs of the name, also those that start while it samples"""
    with tempfile.TemporaryDirectory(prefix="running-") as folder:
        os.chmod(folder, 0o755)
        tag = os.path.basename(folder)[8:]
        one = shutil.copy(fixture("spins", newest()), f"{folder}/{tag}one")
        other = shutil.copy(fixture("spins", newest()), f"{folder}/other")
        with Target("spins", newest(), path=one) as spins, Target("spins", newest(), path=other) as others:
            with Tool("goprofile", "-j", "-F", "500", "-d", "2", "-n", tag) as tracer:
                tracer.wait_line("Sampling ")
                spins.go()
                others.go()
                comms = {record["comm"] for record in tracer.records()}
    expect(comms == {f"{tag}one"[:15]}, f"{comms}")


@test()
def running_recipe():
    """A recipe: probes are by what the program has, and its lines of that program"""
    with tempfile.TemporaryDirectory(prefix="running-") as folder:
        os.chmod(folder, 0o755)
        tag = os.path.basename(folder)[8:]
        path = shutil.copy(fixture("httpd", newest(), "strip"), f"{folder}/{tag}")
        with Target("httpd", newest(), args=["rounds=1"], path=path) as named, \
                Target("httpd", newest(), args=["rounds=1"]) as other:
            with Tool("gohttpd", "-j", "-n", tag) as tracer:
                tracer.tracing()
                named.go()
                other.go()
                named.wait()
                other.wait()
                calls = [record for record in tracer.stop() if record.get("type") == "call"]
            expect(calls and {call["pid"] for call in calls} == {int(named.target_pid)}, f"{calls[:3]}")
            true = sum(line[0] == "{" for line in named.out.text().splitlines())
    expect(len(calls) == true, f"{len(calls)} of {true} requests")
