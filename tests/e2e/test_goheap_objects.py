# SPDX-License-Identifier: Apache-2.0
"""goheap --objects: the objects in a program's heap by their types, against what the program itself has counted and
against its runtime.MemStats."""

import json
import os
import random
import re
import signal
import subprocess
import tempfile

from harness import Target, expect, json_lines, newest, run, test, tool_path, two_versions, versions

from test_goheap import address_of, peek, poke
from test_gostacks_core import ONE_AT_A_TIME, crash, crashing
from test_gostacks_lies import lie, mappings, words

STOPPED = r"goheap: process \d+ was stopped for \d+\.\d{3} ms\n"
DARK_BYTES = 208  # of one that only code tells of
ALLSPANS = {"1.15": 0x10138, "1.19": 0x10140}  # from runtime.mheap_; 0x10148 since


def objects(*args, stop=True):
    done = run([tool_path("goheap"), "--objects", *(["--stop"] if stop else []), *map(str, args)])
    expect(done.returncode == 0 and re.fullmatch(STOPPED if stop else "", done.stderr),
           f"goheap --objects {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def told(target):
    return json.loads(next(line for line in target.out.text().splitlines() if line.startswith("{")))


def by_name(rows):
    found = {}
    for row in rows:
        expect(row["type"] == "objects" and row["objects"] > 0, f"{row}")
        name = row["go_type"] or (row["what"] if row["what"] != "unknown" else (row["size"], row["pointers"]))
        expect(name not in found, f"twice: {row}")
        found[name] = row
    return found


def compare(truth, rows):
    found = by_name(rows)
    total = sum(r["objects"] for r in rows), sum(r["bytes"] for r in rows)
    expect(total == (truth["objects"], truth["bytes"]), f"{total}, in truth {truth['objects']}, {truth['bytes']}")
    wrong = {name: (found.get(name), count) for name, count in truth["types"].items()
             if name != "strings" and (name not in found or found[name]["objects"] != count)}
    expect(not wrong, f"{wrong}")
    # the runtime has some of its own, which are of no type that the program counts
    strings = found["strings"]["objects"]
    expect(0 <= strings - truth["types"]["strings"] < 200, f"{strings} strings")
    expect(not any("main.dark" in str(name) for name in found), "what nothing tells the type of has one")
    dark = found[(DARK_BYTES, True)]["objects"]
    expect(0 <= dark - truth["dark"] < 50, f"{dark} of {truth['dark']} of no known type")


@test(version=versions)
def goheap_objects_all(version):
    with Target("objects", version, "strip") as target:
        compare(told(target), json_lines(objects("-j", target.target_pid)))


@test(version=two_versions, flavour=["pie", "cgo", "cgopie", "nosect"])
def goheap_objects_built(version, flavour):
    with Target("objects", version, flavour) as target:
        # cgo has a thread of its own, which may begin later
        rows, truth = json_lines(objects("-j", target.target_pid)), told(target)
        if "cgo" in flavour:
            truth["objects"], truth["bytes"] = (sum(r[n] for r in rows) for n in ("objects", "bytes"))
        compare(truth, rows)


@test()
def goheap_objects_many():
    """Twenty times as many, and twice: the target goes on as it was."""
    with Target("objects", newest(), "strip", ["scale=20"]) as target:
        for _ in range(2):
            rows = json_lines(objects("-j", target.target_pid))
            compare(told(target), rows)
            expect(by_name(rows)["map[string]*main.inner (table)"]["objects"] > 1, "a large map has one table")


@test(version=two_versions)
def goheap_objects_core(version):
    with tempfile.TemporaryDirectory() as folder, ONE_AT_A_TIME, \
            Target("objects", version, "strip", argv=crashing(folder)) as target:
        truth = told(target)
        live = by_name(json_lines(objects("-j", target.target_pid)))
        core = crash(target, folder)
        rows = json_lines(objects("-j", "--core", core, target.path, stop=False))
        compare(truth, rows)
        for row in rows:
            row["pid"] = target.target_pid
        expect(by_name(rows) == live, "not the same as of the process")


@test()
def goheap_objects_text():
    with Target("objects", newest(), "strip") as target:
        pid, truth = target.target_pid, told(target)
        text = objects(pid)
        rows = {row["bytes"]: row for row in json_lines(objects("-j", pid))}
        expect(text.startswith(f"{pid} objects (go{newest()}): {truth['bytes']} bytes in {truth['objects']} objects\n"),
               text[:200])
        found = re.findall(r"^ *(\d+) +(\d+) +([\d.]+)% (.*)$", text, re.M)
        expect([int(row[0]) for row in found] == sorted((int(row[0]) for row in found), reverse=True), "not sorted")
        expect({int(row[0]) for row in found} == set(rows), "other rows than with -j")
        names = {row[3] for row in found}
        expect({"main.outer", "bytes of strings", f"? {DARK_BYTES} bytes, with pointers",
                "? pointers of several types lead to it", "func main.fillMore.func1"} <= names, f"{names}")
        known = sum(r["bytes"] for r in rows.values() if r["what"] not in ("unknown", "several"))
        expect(abs(float(re.search(r"known are ([\d.]+)% of the bytes", text)[1]) -
                   100 * known / truth["bytes"]) < 20, text[:200])
        expect(max(map(len, text.splitlines())) <= 80, "wider than 80 columns")
        picked = json_lines(objects("-j", pid, "main.*er"))
        expect({r["go_type"] for r in picked} == {"main.outer", "main.keeper", "main.inner"}, f"{picked}")


REFUSED = {
    "alone": ([], "--objects needs a process that stands still"),
    "alloc": (["--stop", "--alloc"], "--alloc shows the profile: not with --objects"),
    "folded": (["--stop", "-f"], "-f shows the profile: not with --objects"),
    "interval": (["--stop", "-i", "1"], "-i shows the profile: not with --objects"),
    "watch": (["--stop", "--watch-oom"], "--watch-oom shows the profile: not with --objects"),
    "pprof": (["--stop", "--pprof", "/dev/null"], "--pprof shows the profile: not with --objects"),
    "core": (["--stop", "--core", "/dev/null", "/bin/true"], "--stop is for programs that run: not with --core"),
}


@test(what=REFUSED)
def goheap_objects_refused(what):
    args, message = REFUSED[what]
    done = run([tool_path("goheap"), "--objects", *args, *([] if what == "core" else ["1"])])
    expect(done.returncode == 2 and f"goheap: {message}\n" in done.stderr, f"{done.returncode}: {done.stderr}")
    done = run([tool_path("goheap"), "--stop", "1"])
    expect(done.returncode == 2 and "--stop is for --objects and --retained" in done.stderr, done.stderr)


# --- lies ---

def ends_well(pid, *more):
    """In a short time, and harmlessly"""
    for options in ["--retained", "*", "-j"], *more, ["--objects", "-j"], ["--objects"]:
        with subprocess.Popen([tool_path("goheap"), "--stop", *options, str(pid)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            out, err = child.communicate(timeout=100)
        expect(child.returncode in (0, 1), f"{options}: {child.returncode}: {err[-400:]}")
        expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out + err), "control characters")
        for line in out.splitlines() if "-j" in options else []:
            json.loads(line)
    return err.decode()


LIES = {  # of a span that is in use, all Go 1.22 and later
    "many pages": lambda mem, span: poke(mem, span + 32, 1 << 60),
    "pages of others": lambda mem, span: poke(mem, span + 32, 1 << 30),
    "no size": lambda mem, span: poke(mem, span + 104, 0),
    "many objects": lambda mem, span: os.pwrite(mem, b"\xff\xff", span + 50),
    "no bits": lambda mem, span: poke(mem, span + 64, 0xdead0000),
    "elsewhere": lambda mem, span: poke(mem, span + 24, -8192),
}


def span_in_use(mem, place):
    array, count = peek(mem, place), peek(mem, place + 8)
    return next(span for span in (peek(mem, array + 8 * i) for i in range(count))
                if os.pread(mem, 1, span + 99) == b"\1" and peek(mem, span + 32) == 1)


@test(lie=[*LIES, "a circle"])
def goheap_objects_lie(lie):
    with Target("objects", newest(), "plain") as target:
        os.kill(target.target_pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{target.target_pid}/mem", os.O_RDWR)
        try:
            place = address_of(target.path, "runtime.mheap_") + ALLSPANS.get(newest(), 0x10148)
            if lie == "a circle":  # all entries of the list are the same span
                array, count = peek(mem, place), peek(mem, place + 8)
                span = span_in_use(mem, place)
                for i in range(count):
                    poke(mem, array + 8 * i, span)
            else:
                LIES[lie](mem, span_in_use(mem, place))
            text = ends_well(target.target_pid)
            expect("its heap cannot be read: not as Go's runtime leaves it" in text, f"{lie}: {text}")
        finally:
            os.close(mem)
            target.child.kill()


@test()
def goheap_objects_core_lie():
    """A core file tells of an object of 8 TiB, which is not there: it takes no longer for that."""
    with tempfile.TemporaryDirectory() as folder, ONE_AT_A_TIME, \
            Target("objects", newest(), "plain", argv=crashing(folder)) as target:
        mem = os.open(f"/proc/{target.target_pid}/mem", os.O_RDWR)
        try:
            place = address_of(target.path, "runtime.mheap_") + ALLSPANS.get(newest(), 0x10148)
            array, count = peek(mem, place), peek(mem, place + 8)
            last = max((span for span in (peek(mem, array + 8 * i) for i in range(count))
                        if os.pread(mem, 1, span + 99) == b"\1"), key=lambda span: peek(mem, span + 24))
            poke(mem, last + 32, 1 << 30)      # pages
            poke(mem, last + 104, 1 << 43)     # bytes of an object
            os.pwrite(mem, b"\1\0\1\0", last + 48)  # it is one, and allocated
            os.pwrite(mem, b"\0", last + 98)  # large, with pointers
        finally:
            os.close(mem)
        core = crash(target, folder)
        done = run([tool_path("goheap"), "--objects", "-j", "--core", core, target.path], timeout=60)
        expect(done.returncode == 0 and "not all pointers were followed" in done.stderr,
               f"{done.returncode}: {done.stderr}")
        rows = by_name(json_lines(done.stdout))
        expect(rows[(None, True)]["bytes"] >= 1 << 43 and "main.outer" in rows, "it is not in the rows, or no other is")


@test(version=two_versions)
def goheap_objects_lies(version):
    dice = random.Random(f"objects {version}")
    with Target("objects", version, "strip") as target:
        pid = target.target_pid
        os.kill(pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            known = words(mem, mappings(pid))
            for number in range(8):
                for _ in range(20 << number):
                    os.pwrite(mem, lie(dice, known), dice.choice(known)[0])
                ends_well(pid, ["--retained", hex(dice.choice(known)[0])])
        finally:
            os.close(mem)
            target.child.kill()


@test()
def goheap_objects_other():
    with subprocess.Popen(["sleep", "1000"]) as child:
        done = run([tool_path("goheap"), "--objects", "--stop", str(child.pid)])
        child.kill()
    expect(done.returncode == 1 and "not a Go program" in done.stderr, done.stderr)
