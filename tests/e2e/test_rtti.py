# SPDX-License-Identifier: Apache-2.0
"""Types and methods as read from a program's file against what reflection says in the program."""

import os

from harness import each_release, expect, fixture, run, some_versions, test, tool_path, toolchain, versions

ETCD = "/usr/bin/etcd"


def ask(path, what, *args):
    """The driver's answers, a line for each argument"""
    answered = run([tool_path("e2e-rtti"), path, what, *args])
    expect(answered.returncode == 0, f"e2e-rtti ended with {answered.returncode}: {answered.stderr}")
    return answered.stdout.splitlines()


def compare(what, got, want):
    wrong = [f"{g} | in truth {w}" for g, w in zip(got, want) if g != w]
    expect(len(got) == len(want), f"{what}: {len(got)} answers, {len(want)} in truth")
    expect(not wrong, f"{what}: {len(wrong)} of {len(want)} wrong: {' || '.join(wrong[:3])}")


def truth_of(path):
    told = run([path])
    expect(told.returncode == 0, f"the fixture ended with {told.returncode}: {told.stderr[-300:]}")
    found = {"type": [], "named": [], "func": []}
    for line in told.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        if kind in ("named", "func"):
            found[kind].append(rest)
        else:
            found["type"].append(line)
    return found


def check_types(path, truth):
    addresses = [line.split()[0] for line in truth]
    compare("types", ask(path, "type", *addresses), truth)
    every = ask(path, "each")
    compare("all types", sorted(set(every) & set(truth)), sorted(truth))
    expect(len(set(line.split()[0] for line in every)) == len(every), "a type was found twice")


def check_names(path, truth):
    pairs = [line.rsplit(" ", 1) for line in truth]
    names = [name for name, _ in pairs]
    want = [address if names.count(name) == 1 else name for name, address in pairs]
    answers = ask(path, "named", *names)
    got = [a[:-len(" none")] if a.endswith(" none") else a.split()[0] for a in answers]
    compare("names", got, want)
    expect(names.count("main.local") == 2, "two types of one name are missing")


@test(version=versions, flavour=["plain", "strip", "nosect", "pie", "cgopie"], where=each_release("strip"))
def types_by_reflection(version, flavour):
    path = fixture("types", version, flavour)
    truth = truth_of(path)
    expect(len(truth["type"]) > 150, f"only {len(truth['type'])} types")
    check_types(path, truth["type"])
    check_names(path, truth["named"])


@test(version=some_versions, flavour=["plain", "strip", "pie", "cgopie"])
def methods_by_reflection(version, flavour):
    path = fixture("types", version, flavour)
    truth = sorted(set(truth_of(path)["func"]))
    expect(len(truth) > 100, f"only {len(truth)} methods")
    compare("methods", ask(path, "func", *[line.split()[0] for line in truth]), truth)


def check_agreement(path, least):
    """Of each signature: is it what tracebacks know of the function's arguments?"""
    answers = ask(path, "agree")
    agree = int(answers[-1].split()[0])
    expect(len(answers) == 1, f"{len(answers) - 1} signatures differ: {' | '.join(answers[:3])}")
    expect(agree >= least, f"only {agree} signatures")


@test(version=versions)
def signatures_agree(version):
    check_agreement(os.path.join(toolchain(version), "bin/go"), 4000)


@test()
def signatures_agree_in_etcd():
    expect(os.path.exists(ETCD), "etcd-server is not installed")
    check_agreement(ETCD, 10000)
    request = ask(ETCD, "named", "net/http.Request")[0]
    expect("Method string @0;URL *url.URL @16;" in request, request)
