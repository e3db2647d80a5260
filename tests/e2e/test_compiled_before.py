# SPDX-License-Identifier: Apache-2.0
"""BPF programs that are kept: the second start compiles nothing, and sees what the first saw."""

import glob
import os
import tempfile

from harness import Target, Tool, compare_counts, compare_latency, expect, newest, run, test, tool_path

ARGUMENTS = {"gofunccount": [], "gofunclatency": ["-F"], "gotrace": [], "gorunqlat": ["-d", "0.3"]}
PATTERN = "main.*.Promoted"


def check(tool, truth, records):
    expect(sum(t["calls"] for t in truth) == 300, f"of the program: {truth}")
    if tool == "gofunccount":
        compare_counts(truth, records)
    elif tool == "gofunclatency":
        compare_latency(truth, records)
    elif tool == "gotrace":
        for track in truth:
            got = sum(1 for r in records if r["type"] == "call" and r["func"] == track["func"])
            expect(got == track["calls"], f"{track['func']}: {got} calls, {track['calls']} true")
    else:
        expect(any(r["type"] == "runqlat" for r in records), f"{records}")


def start(tool, folder, version=None, pattern=PATTERN):
    """Traces a program: did the tool compile? It does so in a process of its own, and says so under -v."""
    with Target("calls", version or newest()) as target:
        what = [target.path] if tool == "gorunqlat" else [f"{target.path}:{pattern}"]
        with Tool(tool, "-v", "-j", *ARGUMENTS[tool], *what, env=dict(os.environ, GOTOOLS_CACHE=folder)) as tracer:
            tracer.tracing()
            loaded = "was compiled before: taken from" not in tracer.err.text()
            target.go()
            truth = [t for t in target.truth() if t["func"].endswith(".Promoted")]
            check(tool, truth, tracer.records() if tool == "gorunqlat" else tracer.stop())
    return loaded


@test(tool=list(ARGUMENTS))
def compiled_before(tool):
    with tempfile.TemporaryDirectory() as place:
        folder = place + "/programs"
        expect(start(tool, folder), "the first start does not compile")
        kept = glob.glob(folder + "/*")
        expect(len(kept) == 1, f"kept: {kept}")
        expect(not start(tool, folder), "the second start compiles")
        with open(kept[0], "r+b") as file:
            file.seek(-9, os.SEEK_END)
            byte = file.read(1)[0] ^ 0x55
            file.seek(-9, os.SEEK_END)
            file.write(bytes([byte]))
        expect(start(tool, folder), "a damaged program is loaded")
        expect(not start(tool, folder), "the damaged program is not replaced")
        expect(start(tool, "no"), "compiled before, though nothing is kept")


@test(tool=list(ARGUMENTS))
def compiled_for_others(tool):
    """What differs by Go's release alone, or by how many functions are traced, is not compiled again."""
    with tempfile.TemporaryDirectory() as place:
        folder = place + "/programs"
        expect(start(tool, folder, "1.23"), "the first start does not compile")
        expect(not start(tool, folder), f"compiled again for Go {newest()}")
        if tool in ("gofunccount", "gofunclatency"):
            expect(not start(tool, folder, pattern="main.*"), "compiled again for more functions")


@test(command=["gooffcputime", "gowakeups", "golocks", "gogc", "gogc --assists", "goallocs", "goprofile", "gostackcount",
               "gotree", "gorunqlat --slower 1", "gofunclatency --states"],
      seldom=lambda command: command not in ("goprofile", "gotree", "gofunclatency --states"))
def kept_of(command):
    """A program that compiles without a warning is kept, whatever process it was compiled for."""
    tool, *options = command.split()
    patterns = {"gostackcount": [":main.*"], "gofunclatency": [":main.*"], "gotree": [":main.main", "main.*"]}.get(tool, [])
    with tempfile.TemporaryDirectory() as place:
        kept = set()
        for _ in range(2):
            with Target("steady", newest()) as target:
                done = run([tool_path(tool), *options, "-d", "0.2", "-p", str(target.target_pid),
                            *patterns], env=dict(os.environ, GOTOOLS_CACHE=place + "/programs"))
            expect(done.returncode == 0, done.stderr)
            kept.update(glob.glob(place + "/programs/*"))
        expect(len(kept) == 1, f"kept: {kept}")


@test(tool=["gostat", "gostacks", "goheap", "gofunccount"])
def no_compiler_for(tool):
    """What compiles nothing does not load libbcc."""
    done = run([tool_path(tool), "--version"], env=dict(os.environ, LD_DEBUG="files"))
    expect("libelf" in done.stderr and "libbcc" not in done.stderr, done.stderr[-300:])
