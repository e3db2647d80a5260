# SPDX-License-Identifier: Apache-2.0
"""goheap: what it reads of a program's profile of allocations, against the program's own runtime.MemProfile,
stack by stack and number by number."""

import json
import math
import os
import random
import re
import signal
import subprocess
import tempfile
import time

import pprof
from harness import (Target, Tool, each_release, expect, fixture, json_lines, newest, run, some_versions,
                     test, tool_path, two_versions, versions)

from test_gostacks_core import ONE_AT_A_TIME, core_of, crash, crashing
from test_gostacks_lies import lie, mappings, words

NUMBERS = ("inuse_objects", "inuse_bytes", "alloc_objects", "alloc_bytes")
RUNTIME = ("runtime.", "internal/runtime/")


def goheap(*args):
    done = run([tool_path("goheap"), *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"goheap {args}: {done.returncode}: {done.stderr}")
    return done.stdout


# --- the truth ---

def told(target, number=0):
    """What the target has told the nth time"""
    found = [line for line in target.out.text().splitlines() if line.startswith("{")]
    return json.loads(found[number])


def ask(target, word, number):
    """What it tells once it is asked"""
    target.say(word)
    end = time.monotonic() + 100
    while sum(line.startswith("{") for line in target.out.text().splitlines()) <= number:
        expect(time.monotonic() < end, f"the target tells nothing: {target.said()}")
        time.sleep(0.02)
    return told(target, number)


def shown(frames):
    """As runtime/pprof's writeHeapProto has them"""
    while frames and frames[-1][0] == "runtime.goexit":
        frames.pop()
    first = next((n for n, frame in enumerate(frames) if not frame[0].startswith(RUNTIME)), 0)
    return tuple(frames[first:])


def scale(objects, size, rate):
    """runtime/pprof's scaleHeapSample"""
    if not objects or not size:
        return 0, 0
    if rate <= 1:
        return objects, size
    factor = 1 / (1 - math.exp(-(size / objects) / rate))
    return int(objects * factor), int(size * factor)


def add(rows, frames, numbers):
    old = rows.get(frames, ([0] * 4, [0] * 4))
    rows[frames] = tuple([a + b for a, b in zip(*pair)] for pair in zip(old, numbers))


def true_rows(truth):
    """{frames: (numbers as counted, numbers as pprof scales them)}"""
    rows = {}
    for record in truth["records"]:
        frames = shown([(f["Func"], f["File"], f["Line"]) for f in record["Frames"]])
        alloc = record["AllocObjects"], record["AllocBytes"]
        inuse = alloc[0] - record["FreeObjects"], alloc[1] - record["FreeBytes"]
        numbers = [*inuse, *alloc], [*scale(*inuse, truth["rate"]), *scale(*alloc, truth["rate"])]
        if alloc[0]:
            add(rows, frames, numbers)
    return rows


def short(name):
    """As runtime.CallersFrames has the instantiations of a generic function"""
    return re.sub(r"\[.*\]", "[...]", name)


def frames_of(record):
    return tuple((short(f["func"]), f["file"], f["line"]) for f in record["frames"])


def read_rows(records):
    rows, seen = {}, set()
    for record in records:
        expect(record["type"] == "heap" and str(record["frames"]) not in seen, f"twice: {record}")
        seen.add(str(record["frames"]))
        add(rows, frames_of(record), ([record["sampled"][n] for n in NUMBERS], [record[n] for n in NUMBERS]))
    return rows


def compare(truth, records, least=1):
    want, got = true_rows(truth), read_rows(records)
    wrong = [f"{got.get(key)}, in truth {want.get(key)}: {[f[0] for f in key]}"
             for key in {*want, *got} if want.get(key) != got.get(key)]
    expect(not wrong and len(want) >= least, f"{len(wrong)} of {len(want)} stacks: " + "\n".join(wrong[:4]))
    expect({r["rate"] for r in records} == {truth["rate"]}, f"{records[0]['rate']}: not {truth['rate']}")


def compare_collection(truth, records, number):
    ended = truth["ends"][(number + 255) % 256]
    for record in records:
        expect((record["collection"], record["collected_ns"]) == (number, ended),
               f"of {record['collection']} at {record['collected_ns']}, in truth of {number} at {ended}")


# --- each number ---

@test(version=versions, flavour=["plain", "strip"], where=each_release("strip"))
def goheap_all(version, flavour):
    """Each allocation is sampled, inlined calls and deep stacks are in it."""
    with Target("allocs", version, flavour, ["rate=1", "shallow"]) as target:
        records, truth = json_lines(goheap("-j", target.target_pid)), told(target)
        compare(truth, records, 12)
        compare_collection(truth, records, truth["collections"])
        names = {tuple(f["func"] for f in r["frames"][:2]) for r in records}
        expect(("main.inlined", "main.throughInlined") in names, f"no inlined call: {names}")
        truth = ask(target, "once", 1)
        records = json_lines(goheap("-j", target.target_pid))
        compare(truth, records, 12)
        compare_collection(truth, records, truth["collections"] - 1)


@test(version=two_versions, flavour=["pie", "cgo", "cgopie", "nosect"])
def goheap_built(version, flavour):
    with Target("allocs", version, flavour, ["rate=1", "shallow"]) as target:
        compare(told(target), json_lines(goheap("-j", target.target_pid)), 12)


@test(version=some_versions)
def goheap_sampled(version):
    """By the default rate, and another: pprof's correction is the same."""
    for args in ["rounds=900", "shallow"], ["rounds=300", "shallow", "rate=4096"]:
        with Target("allocs", version, "strip", args) as target:
            compare(told(target), json_lines(goheap("-j", target.target_pid)), 3)


@test(version=two_versions)
def goheap_no_collection(version):
    """Before the first collection it is of all that was allocated."""
    with Target("allocs", version, "strip", ["rate=1", "shallow", "unpublished"]) as target:
        records = json_lines(goheap("-j", target.target_pid))
        text = goheap(target.target_pid)
        truth = ask(target, "tell", 0)
    want = {k: v for k, v in true_rows(truth).items() if any(f[0] == "main.allocates" for f in k)}
    got = {k: v for k, v in read_rows(records).items() if any(f[0] == "main.allocates" for f in k)}
    expect(want == got and len(want) > 9, f"{len(want)}, {len(got)}: {list(got.items())[:3]}")
    expect({r["collection"] for r in records} == {None}, f"{records[0]}")
    expect("no collection's numbers are published yet" in text, text[:300])


@test(version=two_versions)
def goheap_busy(version):
    """It allocates and collects all the time: what is read is of some moment, and no two."""
    with Target("allocs", version, "strip", ["rate=1", "rounds=5"]) as target:
        target.say("busy")
        target.wait_line("busy")
        last = 0
        for _ in range(6):
            done = run([tool_path("goheap"), "-j", str(target.target_pid)])
            expect(done.returncode == 0, f"{done.returncode}: {done.stderr}")
            if "changed each time" in done.stderr:
                continue
            rows = {key[0][2]: numbers[0] for key, numbers in read_rows(json_lines(done.stdout)).items()
                    if key[0][0] == "main.keeps"}
            for inuse_objects, inuse, objects, size in rows.values():
                expect((inuse_objects, inuse) == (objects, size), f"it keeps {inuse} of {size} bytes")
            expect(sum(r[2] for r in rows.values()) >= last, "fewer than before")
            last = sum(r[2] for r in rows.values())


# --- how it is printed ---

def different(want, got):
    return "\n".join(f"{got.get(key)}, in truth {want.get(key)}: {key}" for key in {*want, *got}
                     if got.get(key) != want.get(key))[:2000]


def text_rows(text):
    rows, key = {}, None
    for line in text.splitlines():
        found = re.fullmatch(r" *(\d+) +(\d+) +([\d.]+)%", line)
        if found:
            key = (int(found[1]), int(found[2]), float(found[3]))
            rows.setdefault(key, []).append([])
        elif line.startswith(" " * 8) and key:
            rows[key][-1].append(line.split()[0])
    return rows


@test()
def goheap_text():
    with Target("allocs", newest(), "strip", ["rate=1", "shallow"]) as target:
        pid, truth = target.target_pid, true_rows(told(target))
        for options, at in ([], 0), (["--alloc"], 2):
            text = goheap(*options, pid)
            total = sum(numbers[1][at + 1] for numbers in truth.values())
            title = rf"{pid} allocs \(go1\.\d+\): {total} bytes (in use|allocated), \d+ objects; every allocation"
            expect(re.match(title, text), text[:200])
            expect(re.search(r"\nas of collection 2 of 2, \d+\.\d s ago\n", text), text[:200])
            sizes = [int(n) for n in re.findall(r"^ *(\d+) +\d+ +[\d.]+%$", text, re.M)]
            want = sorted((n[1][at + 1] for n in truth.values() if n[1][at + 1]), reverse=True)
            expect(sizes == want, f"{sizes[:5]}, in truth {want[:5]}")
            for (size, _, share), stacks in text_rows(text).items():
                expect(abs(share - 100 * size / total) < 0.06 and all(stacks), f"{size}: {share} % of {total}")
        folded = {tuple(k.split(";")): int(n) for k, n in re.findall(r"(.*) (\d+)\n", goheap("-f", pid))}
        want = {}
        for key, numbers in truth.items():
            names = tuple(f[0] for f in reversed(key))
            want[names] = want.get(names, 0) + numbers[1][1]
        got = {}
        for line in goheap("-f", pid).splitlines():
            names, _, size = line.rpartition(" ")
            got[tuple(names.split(";"))] = got.get(tuple(names.split(";")), 0) + int(size)
        expect(got == {k: n for k, n in want.items() if n} and folded, f"{len(got)} of {len(want)}")
        picked = json_lines(goheap("-j", pid, "main.(*store).*"))
        expect(picked and all(any(f["func"] == "main.(*store).puts" for f in r["frames"]) for r in picked),
               f"{picked[:1]}")


@test(version=two_versions)
def goheap_pprof(version):
    """It is what the program's own runtime/pprof writes, and what -j prints, deep stacks too."""
    with Target("allocs", version, "strip", ["rate=1"]) as target, tempfile.TemporaryDirectory() as folder:
        path = folder + "/heap.pb.gz"
        records = json_lines(goheap("-j", "--pprof", path, target.target_pid))
        profile = pprof.Profile(path)
        expect(profile.types == ["alloc_objects/count", "alloc_space/bytes", "inuse_objects/count",
                                 "inuse_space/bytes"] and profile.shown == 3, f"{profile.types} {profile.shown}")
        want = {(key,): [*numbers[1][2:], *numbers[1][:2]] for key, numbers in read_rows(records).items()}
        got = {(tuple((short(f), *at) for f, *at in key),): n for (key,), n in profile.rows().items()}
        expect(got == want, different(want, got))
        expect(max(len(key) for key, in want) > (100 if version != "1.15" else 20), "no deep stack")
        target.say(f"write {folder}/own")
        target.wait_line("written")
        own = {key: n for key, n in pprof.Profile(folder + "/own").rows("bytes").items() if any(n)}
        expect(own == profile.rows("bytes"), different(own, profile.rows("bytes")))
        for numbers in "alloc_objects", "inuse_space":  # pprof finds nothing that differs
            top = pprof.say(path, "-top", f"-sample_index={numbers}", f"-diff_base={folder}/own")
            expect("nodes accounting for 0, " in top, top[:500])
        expect(any(len(lines) > 1 for *_, lines in profile.locations.values()), "inlined calls are apart")
        sizes = {int(s[2]["bytes"]) for s in profile.samples}
        expect({1 << 14, 3072, 704} <= sizes, f"{sizes}")
        goheap("--alloc", "--pprof", path, target.target_pid)
        expect(pprof.Profile(path).shown == 1, "--alloc")


@test()
def goheap_interval():
    """What has grown since the last time, and nothing where no collection was"""
    with Target("allocs", newest(), "strip", ["rate=1", "shallow"]) as target:
        with Tool("goheap", "-i", "200ms", target.target_pid) as tool:
            tool.wait_line("no other collection since")
            truth = ask(target, "more", 1)
            tool.wait_line("        GREW")
            tool.wait_line("no other collection since")
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0 and not tool.err.text(), tool.said())
            grown = {int(n) for n in re.findall(r"^ +\+(\d+) +\d+ +\d+$", tool.out.text(), re.M)}
    want, before = true_rows(truth), true_rows(told(target))
    rises = {n[1][1] - before.get(k, ([], [0, 0]))[1][1] for k, n in want.items()}
    expect(grown == {n for n in rises if n > 0}, f"{sorted(grown)}, in truth {sorted(rises)}")


# --- what is not to be had ---

@test(version=two_versions)
def goheap_off(version):
    with Target("allocs", version, "strip", ["rate=0"]) as target:
        done = run([tool_path("goheap"), str(target.target_pid)])
        expect(done.returncode in (0, 1), done.stderr)
        # what was sampled before it was turned off is left
        expect("sampling is off now" in done.stdout or
               "it samples no allocations: its runtime.MemProfileRate is 0" in done.stderr, done.stderr)


@test()
def goheap_unlinked():
    """Where nothing uses the profile, the linker turns it off: the remedy is said."""
    with Target("calls", newest(), "strip") as target:
        done = run([tool_path("goheap"), str(target.target_pid)])
        expect(done.returncode == 1 and not done.stdout, f"{done.returncode}: {done.stdout}")
        expect("its linker has turned that off" in done.stderr and "hint: " in done.stderr, done.stderr)


# --- core files ---

@test(version=two_versions)
def goheap_core(version):
    with tempfile.TemporaryDirectory() as folder, ONE_AT_A_TIME, \
            Target("allocs", version, "strip", ["rate=1", "shallow"], argv=crashing(folder)) as target:
        live = json_lines(goheap("-j", target.target_pid))
        core = crash(target, folder)
        expect(json_lines(goheap("-j", "--core", core, target.path)) == live, "not the same as of the process")
        text = goheap("--core", core, target.path, "main.(*store).*")
        expect(re.search(r"\nas of collection 2 of 2\n", text), text[:300])


# --- lies ---

def poke(mem, addr, number):
    os.pwrite(mem, (number % 2**64).to_bytes(8, "little"), addr)


def peek(mem, addr):
    return int.from_bytes(os.pread(mem, 8, addr), "little")


def ends_well(pid):
    """In a short time, and harmlessly"""
    for options in ["-j"], [], ["-f"]:
        with subprocess.Popen([tool_path("goheap"), *options, str(pid)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            out, err = child.communicate(timeout=100)
        expect(child.returncode in (0, 1), f"{options}: {child.returncode}: {err[-400:]}")
        expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", out + err), "control characters")
        for line in out.splitlines() if options == ["-j"] else []:
            json.loads(line)
    return err.decode()


def address_of(path, name):
    found = re.search(rf"^(\w+) \w {re.escape(name)}$", run(["nm", path]).stdout, re.M)
    expect(found, f"no {name}")
    return int(found[1], 16)


LIES = {  # by the place of a word in the second bucket: NEXT, ALLNEXT, TYPE, HASH, SIZE, NSTK
    "a circle": lambda mem, first, second: poke(mem, second + 8, second),
    "a larger circle": lambda mem, first, second: poke(mem, last_of(mem, first) + 8, first),
    "nowhere": lambda mem, first, second: poke(mem, second + 8, 0xdead0000),
    "another kind": lambda mem, first, second: poke(mem, second + 16, 2),
    "a huge stack": lambda mem, first, second: poke(mem, second + 40, 1 << 40),
    "a negative stack": lambda mem, first, second: poke(mem, second + 40, -1),
}


def last_of(mem, addr):
    while peek(mem, addr + 8):
        addr = peek(mem, addr + 8)
    return addr


@test(lie=LIES)
def goheap_lie(lie):
    with Target("allocs", newest(), "plain", ["rate=1", "shallow"]) as target:
        pid = target.target_pid
        os.kill(pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            first = peek(mem, address_of(target.path, "runtime.mbuckets"))
            LIES[lie](mem, first, peek(mem, first + 8))
            text = ends_well(pid)
            expect("cannot be read: not as Go's runtime leaves it" in text, f"{lie}: {text}")
        finally:
            os.close(mem)
            target.child.kill()


@test(version=two_versions)
def goheap_lies(version):
    dice = random.Random(f"heap {version}")
    with Target("allocs", version, "strip", ["rate=1", "rounds=5"]) as target:
        pid = target.target_pid
        os.kill(pid, signal.SIGSTOP)
        mem = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        try:
            known = words(mem, mappings(pid))
            for number in range(6):
                for _ in range(200 << number):
                    os.pwrite(mem, lie(dice, known), dice.choice(known)[0])
                ends_well(pid)
        finally:
            os.close(mem)
            target.child.kill()
