# SPDX-License-Identifier: Apache-2.0
"""Programs of gccgo, and libgo.so."""

from harness import compare_counts, compare_latency, test
from test_fixtures import measure

NAMES = ["calls", "early", "grow", "many", "migrate", "panics", "preempt", "recurse"]


@test(name=NAMES, flavour=["plain", "static"])
def count_gccgo(name, flavour):
    measure("gofunccount", name, "gccgo", flavour, compare_counts)


@test(name=NAMES, flavour=["plain", "static"])
def latency_gccgo(name, flavour):
    measure("gofunclatency", name, "gccgo", flavour, compare_latency, "-F")
