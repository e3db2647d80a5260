# SPDX-License-Identifier: Apache-2.0
"""Functions without names: each call notes itself by the name that Go's runtime has for the function that it is in."""

from harness import Target, Tool, compare_counts, counted, expect, plain_name, test


def count(version, flavour, *patterns):
    with Target("closures", version, flavour) as target:
        with Tool("gofunccount", "-j", "--inlined", "-p", target.target_pid, *patterns) as tool:
            tool.tracing()
            target.go()
            return target.truth(), tool.records()


@test(version=["1.19", "1.24", "1.27"], flavour=["strip"])
def closures_count(version, flavour):
    """Bodies that are alike, inlined ones, those of inlined functions: one in each place up to Go 1.26, then one in all"""
    truth, records = count(version, flavour, "main.*")
    compare_counts(truth, records)
    # nothing else that is such a function was called; but main.main's own at the end, and what go and defer wrap
    known = {plain_name(track["func"]) for track in truth}
    more = {name: n for name, n in counted(records).items() if ".func" in name and name not in known}
    expect(set(more) <= {"main.main.func1", "main.started.func3"}, f"{more}")


@test(version=["1.24", "1.27"])
def closures_pattern(version):
    """One pattern for what is one function in the source, however the release names its bodies"""
    truth, records = count(version, "plain", "main.*maker.func*")
    true = sum(track["calls"] for track in truth if "maker.func" in track["func"])
    got = counted(records)
    expect(sum(got.values()) == true > 0, f"{got}, in truth {true}")
    expect(("main.maker.func1" in got) == (version == "1.27"), f"{got}")
