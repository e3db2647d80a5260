# SPDX-License-Identifier: Apache-2.0
"""What listing all functions costs gofuncs, beside those that list symbols: in a program that has
them; and in stripped ones, where there is nothing for the others to list."""

import os
import subprocess
import time

import world as w
from process import Failed, run, undisturbed
from stats import Row

ROUNDS = 9
VERSION = "1.27"
TIME = "/usr/bin/time"  # of the package of that name
BUILD_PATIENCE = 900  # seconds for Go's compiler to be built anew
DETAILS_SECONDS, DETAILS_MB, NAMES_MB = 4, 160, 40  # of 60,000 functions


def measured(argv):
    """Seconds, and lines of a program's output"""
    start = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        lines = sum(block.count(b"\n") for block in iter(lambda: child.stdout.read(1 << 20), b""))
    return time.monotonic() - start, lines


def interleaved(*commands):
    """For each command, [(seconds, lines), ...], run in turn"""
    with undisturbed():
        rounds = [[measured(argv) for argv in commands] for _ in range(ROUNDS)]
    return list(zip(*rounds))


def peak_mb(argv):
    """Peak resident memory; by a program that has little of its own, as a child begins with what
    its parent had."""
    if not os.path.exists(TIME):
        raise Failed("memory is not measured: no " + TIME)
    done = subprocess.run([TIME, "-f", "%M", *argv], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, check=False, text=True)
    return int(done.stderr.split()[-1]) / 1024


def row(what, ours, beside, other, *aims):
    return Row(what, beside, [r[0] for r in ours], [r[0] for r in other], "s", *aims)


def memory(ours, beside, other_mb, *aims):
    return Row("  peak memory", beside, [peak_mb(ours)], [other_mb], "MB", *aims)


def go_environment(goroot):
    cache = os.path.join(w.cache_folder(), "gocache")
    return {**os.environ, "GOROOT": goroot, "GOTOOLCHAIN": "local", "GO111MODULE": "on",
            "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0", "GOCACHE": cache}


def unstripped(world, goroot):
    """Go's compiler with symbols, some 20,000 functions: as it is packaged it has none."""
    program = world.path("compile-symbols")
    done = subprocess.run([goroot + "/bin/go", "build", "-o", program, "cmd/compile"],
                          env=go_environment(goroot), cwd=goroot + "/src", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=BUILD_PATIENCE)
    if done.returncode:
        raise Failed(f"Go's compiler cannot be built: {done.stdout[-400:]}")
    return program


def others(goroot, program):
    """Who lists symbols, and how"""
    nm = run([goroot + "/bin/go", "tool", "-n", "nm"], env=go_environment(goroot)).strip()
    yield "go tool nm", [nm, program]
    if w.have("bpftrace"):
        yield "bpftrace -l", ["bpftrace", "-l", f"uprobe:{program}:*"]


def with_symbols(world):
    goroot = world.goroot(VERSION)
    program = unstripped(world, goroot)
    ours = [world.tool("gofuncs"), f"{program}:*"]
    for name, argv in others(goroot, program):
        us, them = interleaved(ours, argv)
        if not them[0][1]:
            raise Failed(f"{name} lists nothing of {program}")
        yield row(f"list {us[0][1]:,} functions with symbols", us, name, them, 1)
        yield memory(ours, name, peak_mb(argv), 1)


def stripped(world):
    """The others list none of these: they are beside reading the file."""
    programs = {"prometheus": world.prometheus()}
    if w.have("etcd"):
        programs["etcd"] = run(["which", "etcd"]).strip()
    for name, program in programs.items():
        commands = {option: [world.tool("gofuncs"), *option.split(), f"{program}:*"]
                    for option in ("", "-v", "-j")}
        *runs, read = interleaved(*commands.values(), ["md5sum", program])
        count, size = runs[0][0][1], os.path.getsize(program) / 1e6
        is_big = count > 50000
        for (option, argv), ours in zip(commands.items(), runs):
            what = f"list {option or 'names of'} {count:,} functions of {name}, stripped"
            yield row(what, ours, "md5sum", read, None if option else 1,
                      DETAILS_SECONDS if option and is_big else None)
            yield memory(argv, "the file", size, None,
                         (DETAILS_MB if option else NAMES_MB) if is_big else None)


def listed(world):
    yield from with_symbols(world)
    yield from stripped(world)
