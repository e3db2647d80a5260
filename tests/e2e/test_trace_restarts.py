# SPDX-License-Identifier: Apache-2.0
"""Functions that use none of their parameters keep none while the stack grows: those are said to be
lost, and what is printed is right."""

import platform

from harness import expect, some_versions, test

from gotrace import texts, trace_fixture

DEPTHS = 120  # of each function one call at each, in this order
LOST = "<optimised out>"
PROBES = {
    ':main.unused "%d %d", goarg1, goarg2 + 1': lambda n: [str(n), str(n + 2)],
    ':main.unusedMany "%d %d %d %d", goarg1, goarg9, goarg10, goarg11':
        lambda n: [str(n), "9", str(n + 10), str(n + 11)],
    'r:main.unusedText "%q %d", goarg1, len(goarg1)': lambda n: [f'"{n}"', "4"],
}
IS_ARM = platform.machine() == "aarch64"
ON_STACK = [] if IS_ARM else [2, 3]  # of main.unusedMany


def parts(text):
    return text.replace(LOST, "<lost>").split()


def check(version, func, got, truth):
    """Some calls have lost what came in registers: all of it, and nothing else. To Go 1.16, on
    arm64 1.17, nothing comes in registers."""
    expect(len(got) == DEPTHS, f"{func}: {len(got)} calls, not {DEPTHS}")
    lost = 0
    for depth, text in enumerate(got):
        true = truth(7000 + depth)
        gone = [part if func == "main.unusedMany" and i in ON_STACK else "<lost>"
                for i, part in enumerate(true)]
        expect(parts(text) in (true, gone), f"{func}: {text}, in truth {' '.join(true)}")
        lost += parts(text) == gone
    in_registers = int(version.split(".")[1]) >= (18 if IS_ARM else 17)
    expect((lost > 0) == in_registers and lost < DEPTHS // 2,
           f"{func}: {lost} calls have lost their arguments")


@test(version=some_versions)
def lost_arguments(version):
    """Values are the program's own, or lost where the stack grew."""
    text, _ = trace_fixture("restarts", version, *PROBES, flavour="pie")
    for probe, truth in PROBES.items():
        func = probe.split()[0].split(":")[1]
        check(version, func, texts(text, func), truth)


@test(version=some_versions)
def lost_in_predicates(version):
    """What is lost is compared with nothing: those calls are left out."""
    text, _ = trace_fixture("restarts", version, ':main.unused (goarg1 < 7000 || goarg1 > 7119) "%d", '
                            "goarg1")
    expect(not texts(text), f"{texts(text)[:3]}")
