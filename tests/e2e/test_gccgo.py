# SPDX-License-Identifier: Apache-2.0
"""Programs of gccgo, and libgo.so."""

from harness import compare_counts, compare_latency, test
from test_fixtures import measure

NAMES = ["calls", "early", "grow", "many", "migrate", "panics", "preempt", "recurse"]


def without_removed(compare):
    """GCC leaves out the calls of a function that does nothing."""
    def chosen(truth, records):
        compare(truth, records, {t["func"] for t in truth} - {"main.emptyCall"})
    return chosen


@test(name=NAMES, flavour=["plain", "static"])
def count_gccgo(name, flavour):
    measure("gofunccount", name, "gccgo", flavour, without_removed(compare_counts))


@test(name=NAMES, flavour=["plain", "static"])
def latency_gccgo(name, flavour):
    measure("gofunclatency", name, "gccgo", flavour, without_removed(compare_latency), "-F")
