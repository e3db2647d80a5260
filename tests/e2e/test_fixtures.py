# SPDX-License-Identifier: Apache-2.0
"""gofunccount and gofunclatency against the truth of the fixtures, of every Go version and way of
building."""

from harness import (Target, Tool, compare_counts, compare_latency, some_versions, test,
                     versions)

ALL = ["calls", "early", "grow", "many", "migrate", "panics", "preempt", "recurse"]
BUILT = ["migrate", "panics", "recurse"]  # in every flavour
FLAVOURS = ["sw", "strip", "nosect", "pie", "nl", "cgo", "cgopie"]


def measure(tool, name, version, flavour, compare, *options):
    """Attaches to a fixture by -p, lets it run to its end, and compares."""
    with Target(name, version, flavour) as target:
        pid = target.target_pid
        with Tool(tool, "-j", "-p", pid, *options, ":main.*") as tracer:
            tracer.tracing()
            target.go()
            truth = target.truth()
            compare(truth, tracer.records())


@test(name=ALL, version=versions)
def count(name, version, flavour="plain"):
    measure("gofunccount", name, version, flavour, compare_counts)


@test(name=ALL, version=versions)
def latency(name, version, flavour="plain"):
    measure("gofunclatency", name, version, flavour, compare_latency, "-F")


def generic_versions():
    return [v for v in versions() if v != "1.15"]


@test(version=generic_versions)
def count_generics(version):
    count("generics", version)


@test(version=generic_versions)
def latency_generics(version):
    latency("generics", version)


@test(name=BUILT, version=some_versions, flavour=FLAVOURS)
def built(name, version, flavour):
    """Both tools at once on one process"""
    with Target(name, version, flavour) as target:
        pid = target.target_pid
        with Tool("gofunccount", "-j", "-p", pid, ":main.*") as counter, \
                Tool("gofunclatency", "-j", "-F", "-p", pid, ":main.*") as timer:
            counter.tracing()
            timer.tracing()
            target.go()
            truth = target.truth()
            compare_counts(truth, counter.records())
            compare_latency(truth, timer.records())


@test(version=some_versions)
def latency_two_files(version):
    """Each file's panics are told by its own runtime's hooks."""
    with Target("recurse", version) as first, Target("panics", version) as second, \
            Tool("gofunclatency", "-F", "-j", f"{first.path}:main.*",
                 f"{second.path}:main.*") as tracer:
        tracer.tracing()
        said = []
        for target in (first, second):
            target.go()
            said.append(target.truth())
        records = tracer.stop()
    names = [{t["func"] for t in truth} for truth in said]
    for truth in said:
        compare_latency(truth, records, {t["func"] for t in truth} - (names[0] & names[1]))
