# SPDX-License-Identifier: Apache-2.0
"""gostacks --core: of a core file, what gostacks has said of the process before, and what its own runtime says."""

import ctypes
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

from harness import (TESTS, Skip, Target, each_release, expect, fixture, json_lines, newest, run, some_versions,
                     test, tool_path)

sys.path.insert(0, TESTS + "/e2e")

# pylint: disable=wrong-import-position
from test_gostacks import compare, compare_json, compare_texts, gostacks, parse, true_text

ONE_AT_A_TIME = threading.Lock()  # gcore writes a gigabyte of what Go has only reserved
SECONDS = 60
TGKILL = 234


def core_versions():
    return sorted({*some_versions(), "1.23"})


def read_core(core, binary, *args):
    done = run([tool_path("gostacks"), "--core", core, binary, *map(str, args)])
    expect(done.returncode == 0 and not done.stderr, f"gostacks --core {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def dumps_here():
    """Does the kernel write core files into the working directory?"""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        pattern = file.read().strip()
    return not re.search(r"^\||/", pattern) and pattern.startswith("core")


def crashing(folder):
    """The command of a target that leaves a core file in the folder"""
    if not dumps_here():
        raise Skip("core files go elsewhere: kernel.core_pattern")
    return lambda path: ["env", "-C", folder, "GOTRACEBACK=crash", "prlimit", "--core=unlimited", path]


def crash(target, folder, tid=None):
    """By a signal to the process, or to this thread of it"""
    ctypes.CDLL(None).syscall(TGKILL, target.target_pid, tid or target.target_pid, signal.SIGABRT)
    return core_of(target, folder)


def core_of(target, folder):
    status = target.wait()
    expect(status == -signal.SIGABRT, f"it ended with {status}: {target.said()}")
    found = glob.glob(folder + "/core*")
    expect(len(found) == 1, f"{found}: no core file")
    return found[0]


# --- the same as of the process ---

def live_and_core(text):
    """What a core cannot tell is left out of what was said of the process."""
    text = re.sub(r"(file descriptor \d+): .*", r"\1", text)
    return re.sub(r"waits until \d+\.\d+ seconds from now", "waits in time.Sleep", text)


WAYS = (["-a"], ["--full"], ["-f"], [], ["-s", "select"], ["-a", "-s", "waiting", "main.*"], ["-g", 1],
        ["-r", r"main\.(sends|locks)$"])


def look_at(pid):
    return {str(way): live_and_core(gostacks(*way, pid)) for way in WAYS}, json_lines(gostacks("-j", pid))


def compare_looks(looks, core, path):
    for way in WAYS:
        got = read_core(core, path, *way)
        expect(got == looks[0][str(way)], f"{way}:\n{got}\nof the process:\n{looks[0][str(way)]}")


def compare_records(live, records):
    """Times are by the last that was noted: all durations are shorter by the same."""
    shorter = set()
    for before, now in zip(live, records):
        before, now = dict(before), dict(now)
        since, noted = before.pop("since_ns"), now.pop("since_ns")
        expect((since is None) == (noted is None), f"{now}: {noted}, of the process {since}")
        shorter |= {since - noted} if since is not None else set()
        waits = before["waits_for"] and dict(before["waits_for"])
        if waits and waits["kind"] == "fd":
            waits["file"] = None
        if waits and waits["kind"] == "timer":
            waits["due_ns"] = None
        before["waits_for"] = waits
        expect(before == now, f"{now}, of the process {before}")
    expect(len(live) == len(records) and len(shorter) <= 1, f"{len(records)} of {len(live)}; {shorter}")


def compare_all(text, looks, core, path):
    truth = parse(text)
    expect(len(truth) >= 26, f"only {len(truth)} goroutines")
    compare(truth, parse(read_core(core, path, "-a")))
    compare_texts(text, read_core(core, path, "--full"))
    records = json_lines(read_core(core, path, "-j"))
    compare_json(truth, records)
    # one that is woken keeps the time that it waited from until it runs, and shows none
    everyone = json_lines(read_core(core, path, "-j", "--system"))
    expect(any(r["since_ns"] == 0 or r["state"] == "runnable" for r in everyone), f"the latest time noted is none: {everyone}")
    compare_records(looks[1], records)
    compare_looks(looks, core, path)


@test(version=core_versions)
def gostacks_core_gcore(version):
    measure_gcore(version, "strip")


@test()
def gostacks_core_gcore_pie():
    measure_gcore(newest(), "pie")


def measure_gcore(version, flavour):
    if not shutil.which("gcore"):
        raise Skip("no gdb")
    with Target("parked", version, flavour, args=["many=3"]) as target, ONE_AT_A_TIME:
        text = true_text(target, version)
        looks = look_at(target.target_pid)
        # /tmp may be in memory
        with tempfile.TemporaryDirectory(prefix="bcc-gotools-", dir=os.environ.get("BCC_GOTOOLS_CACHE")) as folder:
            made = run(["gcore", "-o", folder + "/core", str(target.target_pid)])
            expect(made.returncode == 0, f"gcore: {made.stderr[-400:]}")
            compare_all(text, looks, f"{folder}/core.{target.target_pid}", target.path)


@test(version=core_versions, flavour=["strip", "pie", "cgo", "cgopie"], where=each_release("strip"))
def gostacks_core_kernel(version, flavour):
    """It crashes by a signal, whose handlers stand on all threads' stacks then."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        with Target("parked", version, flavour, args=["many=3"], argv=crashing(folder)) as target:
            text = true_text(target, version)
            looks = look_at(target.target_pid)
            compare_all(text, looks, crash(target, folder), target.path)


@test(version=core_versions, flavour=["strip", "cgopie"], where=each_release("strip"))
def gostacks_core_waits(version, flavour):
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        with Target("waits", version, flavour, argv=crashing(folder)) as target:
            live = json_lines(gostacks("-j", target.target_pid))
            text = live_and_core(gostacks("-a", target.target_pid))
            core = crash(target, folder)
            records = json_lines(read_core(core, target.path, "-j"))
            compare_records(live, records)
            expect(read_core(core, target.path, "-a") == text, "other text")
            kinds = {r["waits_for"]["kind"] for r in records if r["waits_for"]}
            expect(kinds >= {"channel", "select", "mutex", "fd", "timer", "syscall"}, f"{kinds}")


# --- those that run ---

def running(text):
    """{goid: functions of main, innermost first} of those that run, by a traceback"""
    found = {}
    for part in re.split(r"\n(?=goroutine \d+ )", text):
        head = re.match(r"goroutine (\d+) .*\[running[],]", part.strip())
        if head:
            frames = part.split("created by")[0]
            found[int(head[1])] = [n for n in re.findall(r"^(main\.\S+)\(", frames, re.M) if not re.search("func|gowrap", n)]
    return {goid: names for goid, names in found.items() if names}


def functions(core, path):
    """{goid: functions of main} of all"""
    return {r["goid"]: [f["func"] for f in r["frames"] if f["func"].startswith("main.") and
                        not re.search("func|gowrap", f["func"])]
            for r in json_lines(read_core(core, path, "-j"))}


def busiest(pid):
    """The thread that has had most of a processor"""
    taken = {}
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        taken[int(path.split("/")[4])] = (fields[0] == "R", int(fields[11]))
    return max(taken, key=taken.get)


@test(version=core_versions, flavour=["strip", "cgopie"], where=each_release("strip"))
def gostacks_core_running(version, flavour):
    """As the runtime itself prints it when it dies: where the thread was when the signal came, whose handler is
    on another stack"""
    seen = 0
    for _ in range(6):
        with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
            with Target("spins", version, flavour, argv=crashing(folder)) as target:
                target.works(0.2)
                core = crash(target, folder, busiest(target.target_pid))
                truth = running(target.err.text())
                got = functions(core, target.path)
        for goid, names in truth.items():
            expect(got[goid] == names, f"goroutine {goid}: {got[goid]}, in truth {names}")
        seen += len(truth)
    expect(seen >= 2, f"only {seen} that run")


@test(version=core_versions, how=["panic", "nil", "other", "overflow"])
def gostacks_core_of(version, how):
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        with Target("crashes", version, "strip", args=[how], argv=crashing(folder)) as target:
            target.go()
            core = core_of(target, folder)
            truth = running(target.err.text())
            got = functions(core, target.path)
            stacks = {r["goid"]: r["stack"] for r in json_lines(read_core(core, target.path, "-j"))}
            expect(len(truth) == 1 and stacks[min(truth)] == ("cut" if how == "overflow" else "whole"),
                   f"{truth}: {stacks}")
            for goid, names in truth.items():
                expect(len(names) >= (40 if how == "overflow" else 1), f"{names}")
                shown = min(len(names), 40)  # of many, the runtime prints those at both ends
                expect(got[goid][:shown] == names[:shown], f"{got[goid]}, in truth {names}")
                expect(how == "overflow" or len(got[goid]) == len(names), f"{got[goid]}, in truth {names}")


# --- what is no core file of this program, or not all of one ---

def refused(core, binary, *args, status=1):
    done = run([tool_path("gostacks"), "--core", core, binary, *args])
    expect(done.returncode == status and not done.stdout, f"{args}: {done}")
    return done.stderr


@test()
def gostacks_core_refuses():
    binary = fixture("parked", "1.19", "strip")
    for args, why in ((["-p", "1"], "-p is for programs that run"), (["-n", "x"], "-n is for"),
                      (["--all"], "--all is for"), (["-i", "1"], "-i is for"), (["--stop"], "--stop is for"),
                      (["-d", "1"], "-d and -T need -i"), (["-T"], "-d and -T need -i"),
                      (["--", "ls"], "starts no COMMAND")):
        expect(why in refused("x", binary, *args, status=2), f"{args}: not {why}")
    done = run([tool_path("gostacks"), "--core", "x"])
    expect(done.returncode == 2 and "--core needs BINARY" in done.stderr, f"{done}")
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        os.mkfifo(folder + "/fifo")
        expect("not a regular file" in refused(folder + "/fifo", binary), "it reads a FIFO")
        expect("not a core file, but a program" in refused(binary, folder + "/core"), "it takes a program")
        expect("No such file" in refused(folder + "/none", binary), "it finds what is not there")
        for name, content in (("text", b"no core file\n"), ("zst", b"\x28\xb5\x2f\xfd" + bytes(100)), ("empty", b"")):
            with open(f"{folder}/{name}", "wb") as file:
                file.write(content)
            said = refused(f"{folder}/{name}", binary)
            expect("not a core file" in said and ("zstd -d" in said) == (name == "zst"), said)


@test(version=some_versions, flavour=["strip", "pie"])
def gostacks_core_untold(version, flavour):
    """Without the pages that have the build ID, by which it would be known, it is taken for the program's."""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        def command(path):
            return ["sh", "-c", 'echo 0x23 >/proc/self/coredump_filter && exec "$@"', "sh", *crashing(folder)(path)]

        with Target("parked", version, flavour, args=["many=3"], argv=command) as target:
            text = true_text(target, version)
            core = crash(target, folder)
            done = run([tool_path("gostacks"), "--full", "--core", core, target.path])
            expect(done.returncode == 0 and re.fullmatch(r"gostacks: the core file does not tell which program it is "
                                                         rf"of: taken for {target.path}'s\n", done.stderr), f"{done}")
            compare_texts(text, done.stdout)
            other = fixture("parked", version, "strip" if flavour == "pie" else "pie")
            expect("another program" in refused(core, other), f"it takes {other}")


def cut_at(core, folder, size):
    path = folder + "/cut"
    with open(core, "rb") as whole, open(path, "wb") as cut:
        cut.write(whole.read(size))
    return path


@test(version=some_versions)
def gostacks_core_other(version):
    """Another build's; and one of which the end is missing"""
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        with Target("parked", version, "strip", argv=crashing(folder)) as target:
            core = crash(target, folder)
            for other in fixture("spins", version, "strip"), fixture("parked", version, "pie"), \
                    fixture("parked", "1.24", "strip"):
                expect("another program" in refused(core, other), f"it takes {other}")
            expect("not a Go program" in refused(core, "/bin/ls"), "it takes ls")
            whole = os.path.getsize(core)
            size = whole - 5000
            done = run([tool_path("gostacks"), "--core", cut_at(core, folder, size), target.path])
            expect(done.returncode == 0 and re.search(r"cut off: 5000 of \d+ bytes are missing", done.stderr), f"{done}")
            for size in 100000, 5000, 600, 100, 10:
                said = refused(cut_at(core, folder, size), target.path)
                expect(re.search(r"bytes are missing|is truncated|not a core file", said), f"{size}: {said}")
            lies(core, folder, target.path, random.Random(version))


def lies(core, folder, binary, dice):
    """Bytes of the headers, notes and memory that are in use are others: it comes to an end, in a short time."""
    with open(core, "rb") as file:
        data = bytearray(file.read())
    used = [at for at in range(0, len(data), 512) if any(data[at:at + 512])]
    for number in range(30):
        for _ in range(1 << number // 3):
            at = dice.choice(used) + dice.randrange(64) * 8 if number % 3 else dice.randrange(64 * 16) * 8
            word = dice.choice([0, 1, 2**31, 2**32 - 1, 2**47, 2**63, 2**64 - 1, 2**64 - 8, dice.randrange(2**64),
                                int.from_bytes(data[at:at + 8], "little") + dice.choice([-4096, -8, 1, 8])])
            data[at:at + 8] = (word % 2**64).to_bytes(8, "little")
        with open(folder + "/lies", "wb") as file:
            file.write(data)
        for args in ["-j"], ["--full", "--system"]:
            done = subprocess.run([tool_path("gostacks"), "--core", folder + "/lies", binary, *args],
                                  capture_output=True, timeout=SECONDS, check=False)
            expect(done.returncode in (0, 1), f"{args}: {done.returncode}: {done.stderr[-400:]}")
            expect(not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr), f"{args}: control characters")
            for line in done.stdout.splitlines() if "-j" in args else []:
                json.loads(line)
