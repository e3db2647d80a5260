#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tools on programs that know the truth about themselves, and compares.

    harness.py --group e2e --build FOLDER [--versions "1.19 1.27"] [--all] [NAME...]

A test is a function decorated with @test in tests/GROUP/test_*.py; an executable file in
tests/GROUP that is no .py is a test as well (exit status 77: skipped). Prints a line for each."""

import argparse
import functools
import glob
import importlib
import itertools
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import zlib

TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, TESTS + "/lib")

# pylint: disable=wrong-import-position
from processes import PATIENCE, Failure, Process, run
from redisserver import GOCODE
from results import Runner, Skip, matches, unknown, write_lines

REGISTRY = []
OPTIONS = argparse.Namespace(build="", versions=[], group=["e2e"], crowded=False, all=False, names=[])


def test(alone=False, where=lambda **_: True, seldom=lambda **_: False, **matrix):
    """Registers a test, once for each combination of the matrix's values (a callable is asked for
    them when the versions are known) for which `where` is true. `alone`: nothing else may run meanwhile.
    `seldom`: of which ones that take long it is enough that they run where all are asked for, or they are."""
    def register(function):
        REGISTRY.append((function, alone, where, seldom, matrix))
        return function
    return register


def expand():
    """(name, callable, alone) for each registered test; a test's group is its folder's name. First one of each,
    then those that are alike: what the first has compiled is there by then, and does not have to be waited for."""
    alike = [list(variants(*registered)) for registered in REGISTRY]
    for nth in itertools.zip_longest(*alike):
        yield from filter(None, nth)


def variants(function, alone, where, seldom, matrix):
    group = os.path.basename(os.path.dirname(function.__code__.co_filename))
    combinations = [{}]
    for key, values in matrix.items():
        values = values() if callable(values) else values
        combinations = [dict(c, **{key: v}) for c in combinations for v in values]
    for c in enough(function.__name__, seldom, [c for c in combinations if where(**c)]):
        yield "/".join([group, function.__name__, *map(str, c.values())]), functools.partial(function, **c), alone


BUILT = ("version", "flavour", "built_as", "built")  # keys of a matrix that tell how a fixture is built


def of_newest(**combination):
    """For `seldom`: is it about the newest Go?"""
    return newest() in str(combination)


def of_older(**combination):
    return not of_newest(**combination)


def without_all(expanded):
    """How many tests `expanded` leaves out"""
    some, before = len([*expanded()]), OPTIONS.all
    OPTIONS.all = True
    every = len([*expanded()])
    OPTIONS.all = before
    return every - some


def enough(name, seldom, combinations):
    """Which of a test's variants run where neither all nor certain ones are asked for. Of those that differ by how
    their fixture is built alone: one, drawn once and for all by the test's name, of the newest Go for half of the
    names, of an older for the others, so that many tests together have every version and flavour."""
    if OPTIONS.all or OPTIONS.names:
        return combinations
    alike = {}
    for c in (c for c in combinations if not seldom(**c)):
        alike.setdefault(str([(k, v) for k, v in c.items() if k not in BUILT]), []).append(c)
    chosen = []
    for what, several in alike.items():
        new = [c for c in several if newest() in str(c)]
        kinds = [some for some in (new, [c for c in several if c not in new]) if some]
        draw, kind = divmod(zlib.crc32((name + what).encode()), len(kinds))
        chosen.append(kinds[kind][draw % len(kinds[kind])])
    return [c for c in combinations if c in chosen]


def expect(condition, message):
    if not condition:
        raise Failure(message)


def versions():
    return OPTIONS.versions


def newest():
    return OPTIONS.versions[-1]


def some_versions():
    """The oldest, one between and the newest; all with --all"""
    every = versions()
    return every if len(every) > 5 else list(dict.fromkeys([every[0], "1.19", newest()]))


def two_versions():
    """The oldest and the newest; all with --all"""
    every = versions()
    return every if len(every) > 5 else list(dict.fromkeys([every[0], newest()]))


def each_release(chosen):
    """For `where`: one flavour of each release, as its runtime and its tables are laid out in their own way; the
    others, which are read in their own way, of the oldest and the newest (all with --all)"""
    return lambda version, flavour, **_: flavour == chosen or version in two_versions()


def tool_path(name):
    path = os.path.join(OPTIONS.build, name)
    if not os.access(path, os.X_OK):
        raise Failure(f"{name} is not built")
    return path


def fixture(name, version, flavour="plain"):
    """Path of the cached test program; trace a copy: other tests may trace this file. Go finds Debian's packages where
    it looks for some by default: in the folder go of $HOME."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as home:
        os.symlink(GOCODE, home + "/go")
        built = run([TESTS + "/fixture", name, version, flavour], timeout=400, env=dict(os.environ, HOME=home))
    expect(built.returncode == 0, f"cannot build {name}: {built.stderr[-400:]}")
    return built.stdout.strip()


def toolchain(version):
    found = run([TESTS + "/toolchain", version], timeout=400)
    expect(found.returncode == 0, f"no Go {version}: {found.stderr[-200:]}")
    return found.stdout.strip()


class Target(Process):
    """A fixture in a private copy (probes act on the file), waiting for go()."""

    def __init__(self, name, version, flavour="plain", args=(), path=None, argv=None):
        """`path`: a copy that exists already; `argv(path)`: the command that starts it."""
        self.folder = tempfile.TemporaryDirectory(prefix="bcc-gotools-")
        self.path = path or private_copy(self.folder.name, name, version, flavour)
        super().__init__([*(argv(self.path) if argv else [self.path]), *args])
        try:
            self.target_pid = int(self.wait_line("ready").split()[1])
        except Failure:
            self.__exit__()
            raise

    def go(self):
        self.say()

    def works(self, seconds):
        """Returns when the target has had so much of a processor: on a loaded machine, later."""
        enough, end = self.cpu_seconds() + seconds, time.monotonic() + PATIENCE
        while self.cpu_seconds() < enough:
            expect(time.monotonic() < end, f"the target does not work: {self.said()}")
            time.sleep(0.02)

    def cpu_seconds(self):
        with open(f"/proc/{self.target_pid}/stat", encoding="utf-8", errors="replace") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def truth(self, timeout=PATIENCE):
        """Lets the target end; returns what it tells: a list of tracks."""
        status = self.wait(timeout)
        expect(status == 0, f"the target ended with {status}: {self.said()}")
        return tracks(self.out.text())

    def __exit__(self, *args):
        ended = self.child.poll()
        super().__exit__(*args)
        self.folder.cleanup()
        if ended and args and isinstance(args[1], Failure):
            said = self.out.text()[-200:] + " | " + self.err.text()[:1000]
            raise Failure(f"{args[1]}; the target had ended with {ended}: {said}")


def private_copy(folder, name, version, flavour="plain"):
    path = os.path.join(folder, name)
    shutil.copy(fixture(name, version, flavour), path)
    return path


class Tool(Process):
    """A tool, running; wait for its probes with tracing()."""

    def __init__(self, name, *args, argv=(), **kwargs):
        """`argv`: a command that starts it"""
        super().__init__([*argv, tool_path(name), *map(str, args)], **kwargs)

    def tracing(self):
        self.wait_line("Tracing ")
        return self

    def records(self, timeout=PATIENCE, status=0):
        """Its JSON output, after it has ended by itself."""
        got = self.wait(timeout)
        expect(got == status, f"{self.argv[0]} ended with {got}: {self.said()}")
        return json_lines(self.out.text())

    def stop(self, number=signal.SIGINT, timeout=PATIENCE):
        self.signal(number)
        return self.records(timeout)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def tracks(text):
    return [t for t in json_lines(text) if "calls" in t]


def plain_name(name):
    """A function's name with [...] for type arguments, as fixtures print it"""
    return re.sub(r"\[.*\]", "[...]", name)


def counted(records):
    """{function: count} of gofunccount's output"""
    counts = {}
    for record in records:
        if record.get("type") == "count":
            name = plain_name(record["func"])
            counts[name] = counts.get(name, 0) + record["count"]
    return counts


def compare_counts(truth, records, only=None):
    got = counted(records)
    wrong = []
    for track in truth:
        name = track["func"]
        if only is not None and name not in only:
            continue
        if got.get(name, 0) != track["calls"]:
            wrong.append(f"{name}: {got.get(name, 0)} counted, {track['calls']} true")
    expect(not wrong, "; ".join(wrong))


SLACK_NS = 20  # kernel and program read the same clock, in two ways
SLOWER = int(os.environ.get("GOTOOLS_SLOWER", "1"))  # times: an emulated machine, as tests/kernels says
PROBE_NS = 100_000 * SLOWER  # what two probes and a busy machine may add to a call, at the most


def outliers():
    """Share of calls that other work may have delayed longer than PROBE_NS between the caller's clock
    and the probe: small, unless more threads want to run than there are CPUs"""
    return 0.25 if OPTIONS.crowded or os.getloadavg()[0] > 2 * os.cpu_count() else 0.05


def at_most(buckets, bound):
    return sum(count for _, high, count in buckets if high <= bound)


def compare_durations(name, ns, record):
    """Each call took no longer by the tool than by its caller's clock, and hardly less."""
    expect(record["total"] <= sum(ns) + SLACK_NS * len(ns),
           f"{name}: {record['total']} ns in total, its callers saw {sum(ns)}")
    expect(record["max"] <= max(ns) + SLACK_NS, f"{name}: max {record['max']} of {max(ns)}")
    late = 0
    for _, high, _ in record["buckets"]:
        got = at_most(record["buckets"], high)
        true = sum(1 for d in ns if d <= high - SLACK_NS)
        expect(got >= true, f"{name}: {got} calls up to {high} ns, {true} in truth")
        late = max(late, got - sum(1 for d in ns if d <= high + PROBE_NS))
    expect(late <= outliers() * len(ns) + 2, f"{name}: {late} of {len(ns)} calls seem too short")


def percentile(buckets, percent):
    """The upper end of the bucket that contains the percentile"""
    rank, seen = sum(count for _, _, count in buckets) * (percent / 100), 0
    return next(high for _, high, count in buckets if (seen := seen + count) >= rank)


def check_numbers(record):
    """Are total, extremes and percentiles those of the buckets?"""
    name, buckets = record["func"], record["buckets"]
    least, most = (sum(bucket[end] * bucket[2] for bucket in buckets) for end in (0, 1))
    expect(least <= record["total"] <= most, f"{name}: total {record['total']} of {buckets}")
    expect(buckets[0][0] <= record["min"] <= buckets[0][1], f"{name}: min {record['min']} of {buckets}")
    expect(buckets[-1][0] <= record["max"] <= buckets[-1][1], f"{name}: max {record['max']} of {buckets}")
    for percent in 50, 90, 99:
        true, got = min(percentile(buckets, percent), record["max"]), record[f"p{percent}"]
        expect(got == true, f"{name}: p{percent} {got}, by the buckets {true}: {buckets}")


def check_record(record):
    """Do the parts of one latency record agree with each other?"""
    name, buckets = record["func"], record["buckets"]
    expect(sum(b[2] for b in buckets) == record["count"], f"{name}: buckets do not add up")
    if record["count"]:
        order = [record[k] for k in ("min", "p50", "p90", "p99", "max")]
        expect(order == sorted(order), f"{name}: min, percentiles and max out of order: {order}")
        check_numbers(record)
    expect(record["unit"] == "ns", f"{name}: unit {record['unit']}")


ENDINGS = ("count", "panicked", "exited", "process_ended", "lost", "jumped", "running")


def expected(track):
    """The ENDINGS that gofunclatency should report for a program that has ended"""
    numbers = [track[k] for k in ("returned", "panicked", "exited", "running")]
    if not any(numbers):
        numbers[0] = track["calls"]
    return [*numbers, 0, 0, 0]


def compare_latency(truth, records, only=None):
    by_name = {}
    for record in records:
        if record.get("type") == "latency":
            check_record(record)
            by_name.setdefault(plain_name(record["func"] or ""), []).append(record)
    for track in truth:
        name = track["func"]
        if only is not None and name not in only:
            continue
        found = by_name.get(name, [])
        got = [sum(r[k] for r in found) for k in ENDINGS]
        expect(got == expected(track),
               f"{name}: {dict(zip(ENDINGS, got))}, in truth {dict(zip(ENDINGS, expected(track)))}")
        if len(found) == 1 and len(track["ns"]) == track["returned"] > 0:
            compare_durations(name, track["ns"], found[0])


def script(path):
    """A test that is a program of its own: 0 passes, 77 skips."""
    env = dict(os.environ, BUILD=OPTIONS.build, VERSIONS=" ".join(OPTIONS.versions))
    result = run([path], timeout=600, env=env)
    last = (result.stdout + result.stderr).strip().split("\n")[-1]
    if result.returncode == 77:
        raise Skip(last)
    expect(result.returncode == 0, last)


def scripts(group):
    for path in sorted(glob.glob(f"{TESTS}/{group}/*")):
        if os.path.isfile(path) and os.access(path, os.X_OK) and not path.endswith(".py"):
            # what installs configures the build anew
            yield f"{group}/{os.path.basename(path)}", functools.partial(script, path), group == "e2e"


def wanted(name):
    return not OPTIONS.names or any(matches(name, p) for p in OPTIONS.names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--group", type=str.split, default=["e2e"])
    parser.add_argument("--build", required=True)
    parser.add_argument("--versions", type=str.split, default=["1.19"])
    parser.add_argument("--all", action="store_true", help="every variant of each test")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count() + 1)
    parser.add_argument("--before-alone", type=str.split, default=[], metavar="PIDS",
                        help="processes that have to end before tests that nothing may run beside")
    parser.add_argument("names", nargs="*")
    parser.parse_args(namespace=OPTIONS)
    sys.modules["harness"] = sys.modules["__main__"]
    sys.path[:0] = [f"{TESTS}/{group}" for group in OPTIONS.group]
    for path in sorted(path for group in OPTIONS.group for path in glob.glob(f"{TESTS}/{group}/test_*.py")):
        importlib.import_module(os.path.basename(path)[:-3])
    known = [*expand(), *(script for group in OPTIONS.group for script in scripts(group))]
    chosen = [test for test in known if wanted(test[0])]
    left = without_all(expand)
    if left:
        write_lines([f"# {left} more, alike or long: by --every, or by their names"])
    if not chosen:
        write_lines([f"not ok {'/'.join(OPTIONS.group)}: no test is called {' or '.join(OPTIONS.names)}"])
        return 1
    missing = unknown(OPTIONS.names, OPTIONS.group, [test[0] for test in known])
    write_lines(missing)
    together = [(name, function) for name, function, alone in chosen if not alone]
    in_turn = [(name, function) for name, function, alone in chosen if alone]
    OPTIONS.crowded = OPTIONS.jobs > os.cpu_count()
    passed = Runner(OPTIONS.jobs, OPTIONS.times).run(together)
    OPTIONS.crowded = False
    while in_turn and any(os.path.exists(f"/proc/{pid}") for pid in OPTIONS.before_alone):
        time.sleep(0.2)
    return 0 if Runner(1, OPTIONS.times).run(in_turn) and passed and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
