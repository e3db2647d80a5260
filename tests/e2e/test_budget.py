# SPDX-License-Identifier: Apache-2.0
"""Files that are made to be slow or large to read: each ends in words, within 2 s of CPU time for
each MB of it (none counts as less than 1 MB) and 512 MB of memory."""

import os
import random
import resource
import struct
import subprocess
import tempfile

from harness import Skip, expect, test, tool_path
import hostiledwarf as dwarf
from hostilefile import NOP, RET, GoFile

SECONDS, MEMORY = 2, 512  # for each MB of the file; MB
WAIT = 30  # seconds of CPU time: then it is ended
JCC, ADD = b"\x0f\x84", b"\x83\xc0\x01"


def rets(count):
    """Each return's stack pointer is looked up in a table as long as the function."""
    file = GoFile()
    file.function(RET * count, file.record(file.name("main.f"), pcsp=file.pc(
        (1, 8 * (i & 1)) for i in range(count))))
    return file


def shared_tree(functions, nodes):
    """Functions of one byte, which all have the same large inline tree."""
    file = GoFile()
    inlined = file.name("main.inlined")
    record = file.inlined(file.name("main.f"), [(inlined, 0)] * nodes, [(1, nodes - 1)])
    for _ in range(functions):
        file.function(RET, record)
    return file


def chain(functions, depth):
    """Functions which share a chain of calls inlined into each other."""
    file = GoFile()
    inlined = file.name("main.inlined")
    record = file.inlined(file.name("main.f"), [(inlined, max(k - 1, 0)) for k in range(depth)],
                          [(1, k) for k in range(depth)])
    for _ in range(functions):
        file.function(NOP * (depth - 1) + RET, record)
    return file


def fan(blocks):
    """Blocks that go on to the next or to the last."""
    return b"".join(JCC + struct.pack("<i", 6 * (blocks - k - 1)) for k in range(blocks))


def deep_blocks(count):
    file = GoFile()
    code = fan(count) + NOP * 2 + RET
    record = file.inlined(file.name("main.f"), [(file.name("main.inlined"), 0)],
                          [(6 * count, -1), (2, 0), (1, -1)], pcsp=file.pc([(len(code), 0)]))
    file.function(code, record)
    return file


def copies(count):
    """A function of that many blocks, each a copy of its own."""
    file = GoFile()
    code = fan(count) + NOP * 2 + RET
    inlined = file.name("main.inlined")
    record = file.inlined(
        file.name("main.f"), [(inlined, 6 * k) for k in range(count)],
        [(6, k) for k in range(count)] + [(3, -1)], pcsp=file.pc([(len(code), 0)]),
        pcfile=file.pc([(len(code), 0)]), pcln=file.pc((6, k) for k in range(1, count + 1)))
    file.function(code, record)
    return file


def moved(count, stray):
    """Copies that no instruction shows the place of, each behind branches of the caller's: where
    do lines say that the call is? `stray`: behind all of these."""
    file = GoFile()
    code = b"".join(JCC + struct.pack("<i", 9 * (count - k - 1) + 3) + ADD for k in range(count))
    code += NOP * 2 + RET
    inlined, runs = file.name("main.inlined"), []
    for k in range(count):
        runs += [(6, -1), (3, k)]
    record = file.inlined(
        file.name("main.f"), [(inlined, 9 * count + 2 if stray else 9 * k) for k in range(count)],
        runs + [(3, -1)], pcsp=file.pc([(len(code), 0)]), pcfile=file.pc([(len(code), 0)]),
        pcln=file.pc([(9, k + 1) for k in range(count)] + [(3, count + 1)]))
    file.function(code, record)
    return file


def shared_name(functions, size):
    file = GoFile()
    record = file.record(file.name("main." + "a" * size))
    for _ in range(functions):
        file.function(RET, record)
    return file


def suffixes(functions, size):
    """Names that are the ends of one."""
    file = GoFile()
    name = file.name("main." + "a" * size)
    for k in range(functions):
        file.function(RET, file.record(name + 5 + k * (size // functions)))
    return file


def inlined_name(nodes, size):
    file = GoFile()
    name = file.name("main." + "a" * size)
    record = file.inlined(file.name("main.f"), [(name, 0)] * nodes, [(1, k) for k in range(nodes)])
    file.function(NOP * (nodes - 1) + RET, record)
    return file


def random_names(functions, size):
    """Regular expressions come to ever new states in these."""
    chance, file = random.Random(1), GoFile()
    for _ in range(functions):
        name = "".join("ab"[bit == "1"] for bit in f"{chance.getrandbits(size):0{size}b}")
        file.function(RET, file.record(file.name(name)))
    return file


def long_file_name(functions, size):
    file = GoFile()
    file.files = b"/" + b"a" * size + b"\0"
    record = file.record(file.name("main.f"), pcfile=file.pc([(1, 0)]), pcln=file.pc([(1, 1)]))
    for _ in range(functions):
        file.function(RET, record)
    return file


PLAIN = [[], ["-v", "--inlined"], ["-j", "--inlined"], ["--emit=bpftrace"],
         ["--emit=bpftrace:latency"], ["--emit=bpftrace:args"], ["--emit=uprobe_events"],
         ["--emit=perf"]]
DETAILS = [["-v", "--inlined"], ["-j", "--inlined"]]
REGEX = [["-r"]]
TYPES = [["-v"], ["-j"], ["--emit=bpftrace:args"], ["--emit=uprobe_events"]]
# the others do part of what these do
DEAREST = {id(PLAIN): [[], ["-v", "--inlined"], ["--emit=bpftrace:args"]], id(TYPES): [["-v"], ["--emit=bpftrace:args"]]}
GIVEN_UP = "than a file of its size should"
LONG_LIST = "left out: the list is too long for a file of this size"
LEFT_OUT = "left out: too many, or too long names, for a file of this size"
CASES = {
    "rets": (lambda: rets(20000), PLAIN, ""),
    "rets_many": (lambda: rets(1000000), PLAIN, ""),
    "shared_tree": (lambda: shared_tree(100000, 60000), PLAIN, LEFT_OUT),
    "chain": (lambda: chain(1000, 300), PLAIN, LEFT_OUT),
    "copies": (lambda: copies(2000), PLAIN, ""),
    "copies_many": (lambda: copies(100000), DETAILS, LONG_LIST),
    "moved": (lambda: moved(3000, False), PLAIN, ""),
    "moved_far": (lambda: moved(3000, True), PLAIN, ""),
    "moved_many": (lambda: moved(60000, True), DETAILS, ""),
    "long_file_name": (lambda: long_file_name(50000, 1000000), PLAIN, LONG_LIST),
    "deep_blocks": (lambda: deep_blocks(400000), PLAIN, ""),
    "shared_name": (lambda: shared_name(50000, 1000000), PLAIN, LEFT_OUT),
    "suffixes": (lambda: suffixes(20000, 1000000), PLAIN, LEFT_OUT),
    "inlined_name": (lambda: inlined_name(50000, 1000000), PLAIN, LEFT_OUT),
    "bomb_info": (lambda: dwarf.bomb("info", 1500), TYPES, GIVEN_UP),
    "bomb_str": (lambda: dwarf.bomb("str", 1500), TYPES, GIVEN_UP),
    "bomb_loc": (lambda: dwarf.bomb("loc", 1500), TYPES, ""),
    "old_bomb": (lambda: dwarf.old_bomb(1500), TYPES, GIVEN_UP),
    "units": (lambda: dwarf.units(30000, 100000), TYPES, GIVEN_UP),
    "shared_ranges": (lambda: dwarf.shared_ranges(30000, 65000), TYPES, GIVEN_UP),
    "parameters": (lambda: dwarf.parameters(2000, 100, 1, 1000000, False), TYPES, ""),
    "suffixed_parameters": (lambda: dwarf.parameters(200, 900, 1, 1000000, True), TYPES, ""),
    "type_names": (lambda: dwarf.parameters(200, 900, 900, 1000000, True), TYPES, GIVEN_UP),
    "structs": (lambda: dwarf.structs(200, 900, 8, 100000), TYPES, GIVEN_UP),
    "symbols": (lambda: dwarf.symbols(50000, 1000000), DETAILS, ""),
    "regex_states": (lambda: random_names(40, 60000), REGEX, ""),
}


def not_sanitized():
    """Sanitizers take time and memory of their own, and the tools do not watch theirs."""
    if os.environ.get("GOTOOLS_SANITIZED"):
        raise Skip("what sanitizers cost says nothing")


class Cost:
    """What a command took: its exit status, seconds of CPU, MB at the most, and stderr."""

    def __init__(self, argv):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (WAIT, WAIT))
        with tempfile.TemporaryFile() as errors:
            with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=errors, preexec_fn=limit) as child:
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            self.errors = errors.read(100000).decode("utf-8", "replace")
        self.status, self.memory = child.returncode, usage.ru_maxrss // 1024
        self.seconds = usage.ru_utime + usage.ru_stime


@test(case=list(CASES))
def budget(case):
    not_sanitized()
    make, options, words = CASES[case]
    with tempfile.TemporaryDirectory(prefix="gotools-budget-") as folder:
        path = folder + "/hostile"
        make().write(path)
        megabytes = max(1, os.path.getsize(path) / 1e6)
        pattern = ":.*a.{16}b" if options is REGEX else ":*"
        for option in options if os.environ.get("GOTOOLS_EVERY") else DEAREST.get(id(options), options):
            cost = Cost([tool_path("gofuncs"), *option, path + pattern])
            said = f"{' '.join(option)}: {cost.seconds:.1f} s, {cost.memory} MB, {cost.status}: " \
                   f"{cost.errors[-300:]}"
            expect(cost.status in (0, 1), said)
            expect(cost.status == 0 or cost.errors.startswith("gofuncs: ") or
                   "\ngofuncs: " in cost.errors, said)
            expect(cost.seconds < SECONDS * megabytes, said)
            expect(cost.memory < MEMORY, said)
            shown = option[:1] == ["-v"] or option[:1] == ["-j"]
            expect(words in cost.errors or not shown, said)


START = {"moved_many": 0, "shared_name": 1, "structs": 1, "bomb_info": 1}


@test(case=list(START), tool=["gofunccount", "gotrace"])
def budget_start(case, tool):
    """What reads the same files to trace them; its compiler takes time and memory as well."""
    not_sanitized()
    make = CASES[case][0]
    with tempfile.TemporaryDirectory(prefix="gotools-budget-") as folder:
        path = folder + "/hostile"
        make().write(path)
        cost = Cost([tool_path(tool), "--inlined", "-d", "0.1", path + ":*"])
        said = f"{cost.seconds:.1f} s, {cost.memory} MB, {cost.status}: {cost.errors[-300:]}"
        expect(cost.status in (0, 1), said)
        expect(cost.seconds < 2 + SECONDS * max(1, os.path.getsize(path) / 1e6), said)
        expect(cost.memory < MEMORY, said)
        expect(tool == "gofunccount" or not START[case] or cost.status == 1, said)
