# SPDX-License-Identifier: Apache-2.0
"""Goroutines read from a process's memory, against what its own runtime says of them."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from harness import (TESTS, Target, Tool, each_release, expect, fixture, json_lines, of_older, run, some_versions,
                     test, tool_path, versions)

HEADER = re.compile(r"^goroutine (?P<goid>\d+) \[(?P<state>[^],]+)(?:, \d+ minutes)?(?:, locked to thread)?"
                    r"(?:, synctest bubble \d+)?\](?: \{.*\})?:$")
CREATOR = re.compile(r"^created by (?P<func>\S+)(?: in goroutine (?P<goid>\d+))?$")
POSITION = re.compile(r"^\t(?P<file>.+):(?P<line>\d+)(?P<off> \+0x[0-9a-f]+)?$")
FIXTURE = TESTS + "/fixtures/parked/parked.go"


def gostacks(*args, status=0):
    done = run([tool_path("gostacks"), *map(str, args)])
    expect(done.returncode == status, f"gostacks {args}: {done.returncode}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


def parse(text):
    """{goid: (state, [(func, file, line, off)], creator)} of a traceback"""
    found = {}
    for part in text.strip().split("\n\n"):
        lines = [line for line in part.split("\n") if not re.match(r"\t(waits|is in system call) ", line)]
        header = HEADER.match(lines[0])
        expect(header, f"no goroutine: {lines[0]!r}")
        frames, creator = [], None
        for call, position in zip(lines[1::2], lines[2::2]):
            created, at = CREATOR.match(call), POSITION.match(position)
            expect(at, f"no position: {position!r} of {call!r}")
            where = at["file"], int(at["line"]), at["off"]
            if created:
                creator = created["func"], created["goid"], *where
            else:
                frames.append((re.sub(r"\([^()]*\)$", "", call), *where))
        found[int(header["goid"])] = (header["state"], frames, creator)
    return found


def true_text(target, version):
    """What pprof says"""
    target.go()
    target.wait_line("===")
    while target.out.text().count("===") < 2:
        time.sleep(0.01)
    text = target.out.text().split("===")[1]
    while "[syscall]" not in gostacks("-g", 1, target.target_pid):
        time.sleep(0.01)  # the first goroutine has not come to its next command yet
    return text


def true_dump(target, version):
    return parse(true_text(target, version))


def compare(truth, got):
    """All but the first goroutine, which wrote the truth"""
    expect(truth.keys() == got.keys(), f"{truth.keys() ^ got.keys()} are only in one")
    for goid, want in truth.items():
        if goid != 1:
            expect(want == got[goid], f"goroutine {goid}: {got[goid]}, in truth {want}")


def compare_texts(truth, got):
    """To the letter, with what is in arguments; but of the first goroutine"""
    truths, gots = ({int(t.split(" ", 2)[1]): t for t in text.strip().split("\n\n")} for text in (truth, got))
    expect(truths.keys() == gots.keys(), f"{truths.keys() ^ gots.keys()} are only in one")
    for goid, want in truths.items():
        expect(goid == 1 or want == gots[goid], f"goroutine {goid}:\n{gots[goid]}\nin truth\n{want}")
    expect("locked to thread" in got and re.search(r"main\.holdsMany\((0x\w+\??, ){10}\.\.\.\)", got), f"{got}")


def short(func):
    """As tracebacks have it: JSON has the type arguments"""
    return re.sub(r"\[.*\]", "[...]", func)


def compare_json(truth, records):
    for record in records:
        state, frames, creator = truth[record["goid"]]
        if record["goid"] == 1:
            continue
        expect(record["state"] == state and record["stack"] == "whole", f"{record}: {state}")
        got = [(short(f["func"]).replace("runtime.gopanic", "panic"), f["file"], f["line"]) for f in record["frames"]]
        expect(got == [f[:3] for f in frames], f"{got}, in truth {frames}")
        by = record["created_by"]
        goid = str(by["goid"]) if by["goid"] else None
        expect((short(by["func"]), goid, by["file"], by["line"]) == creator[:4], f"{by}: {creator}")
    expect({r["goid"] for r in records} == truth.keys(), "goroutines are missing")


LABELS = [  # of two goroutines each; bytes that are not UTF-8 are replaced
    {"user": "u1"}, {"path": "/a/b_c.d", "user": "u2"}, {"": ""}, {"a b": "c:d"}, {'q"\\': "\n\r\t\0\x1b\x7f"},
    {"\u03a3": "\u1234\U00045678"}, {"broken": "a\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd"}, {"a": "1", "m": "-", "z": ""}]


def check_labels(records, version):
    expect(all("labels_cut" not in r for r in records), "labels are missing")
    if int(version.split(".")[1]) < 24:
        expect(all(r["labels"] is None for r in records), f"labels of {version}")
        return
    got = [r["labels"] for r in records if r["labels"]]
    expect(len(got) == 2 * len(LABELS) and all(got.count(want) == 2 for want in LABELS), f"{got}")


def check_since(records, begun):
    """The target has collected garbage twice, which notes that a goroutine waits."""
    longest = (time.monotonic() - begun) * 1e9
    for record in records:
        if record["goid"] != 1 and record["state"] != "syscall":
            expect(record["since_ns"] and record["since_ns"] <= longest, f"{record}, since {longest}")


def compare_groups(truth, text):
    title = re.search(r"\): (\d+) goroutines: 2 in system calls, (\d+) waiting\n", text)
    expect(title and int(title[1]) == int(title[2]) + 2 == len(truth), text[:200])
    counts = [int(n) for n in re.findall(r"^ *(\d+)  \S", text, re.M)]
    expect(sum(counts) == len(truth) and counts == sorted(counts, reverse=True), f"{counts}")


def compare_folded(truth, text):
    got = {}
    for line in text.splitlines():
        stack, count = line.rsplit(" ", 1)
        got[stack] = got.get(stack, 0) + int(count)
    want = {}
    for goid, (state, frames, _) in truth.items():
        names = [f[0].replace("panic", "runtime.gopanic") if f[0] == "panic" else f[0] for f in frames]
        stack = ";".join(names[::-1] + [f"[{state}]"])
        if goid != 1:
            want[stack] = want.get(stack, 0) + 1
    missing = {k: v for k, v in want.items() if got.get(k) != v}
    expect(not missing and sum(got.values()) == len(truth), f"{missing} are not in {got}")


def measure(version, flavour):
    begun = time.monotonic()
    with Target("parked", version, flavour, args=["many=3"]) as target:
        text = true_text(target, version)
        truth = parse(text)
        expect(len(truth) >= 26, f"only {len(truth)} goroutines")
        pid = target.target_pid
        compare(truth, parse(gostacks("-a", pid)))
        compare_texts(text, gostacks("--full", pid))
        records = json_lines(gostacks("-j", "-p", pid))
        compare_json(truth, records)
        check_labels(records, version)
        check_since(records, begun)
        compare_groups(truth, gostacks(pid))
        compare_folded(truth, gostacks("-f", pid))
        target.go()
        expect(target.wait() == 0, target.said())


@test(version=lambda: sorted({*versions(), "1.23", "1.24"}), flavour=["plain", "strip"], where=each_release("strip"))
def gostacks_parked(version, flavour):
    measure(version, flavour)


@test(setting=["0", "0,tracebacklabels=1", "1,tracebacklabels=x", "2", "1,tracebacklabels=-1", ""])
def gostacks_labels(setting):
    """They are in tracebacks if GODEBUG says so, in JSON always."""
    with Target("parked", "1.27", "strip",
                argv=lambda path: ["env", f"GODEBUG=a=1,tracebacklabels={setting},b", path]) as target:
        text = true_text(target, "1.27")
        expect(("{user: u1}:" in text) == (setting in ("0,tracebacklabels=1", "1,tracebacklabels=x", "")), f"{text}")
        compare_texts(text, gostacks("--full", target.target_pid))
        expect(("{user: u1}:" in text) == ("{user: u1}:" in gostacks("-a", target.target_pid)), "-a differs")
        check_labels(json_lines(gostacks("-j", target.target_pid)), "1.27")


@test(version=some_versions, flavour=["pie", "nl", "cgo", "cgopie"])
def gostacks_built(version, flavour):
    measure(version, flavour)


@test(version=some_versions)
def gostacks_picks(version):
    with Target("parked", version, "strip", args=["many=3"]) as target:
        truth = true_dump(target, version)
        pid = target.target_pid
        for state in ("select", "chan receive", "syscall"):
            wanted = {goid for goid, what in truth.items() if what[0] == state} | \
                ({1} if state == "syscall" else set())
            expect(parse(gostacks("-a", "-s", state, pid)).keys() == wanted, state)
        waiting = parse(gostacks("-a", "-s", "waiting", pid)).keys()
        expect(waiting == {g for g in truth if g != 1 and truth[g][0] != "syscall"}, f"{waiting}")
        one = max(truth)
        expect(parse(gostacks("-g", one, pid)) == {one: truth[one]}, f"not goroutine {one}")
        expect("no goroutine 99999" in gostacks("-g", 99999, pid, status=1), "it finds number 99999")
        with_system = {r["goid"]: r for r in json_lines(gostacks("-j", "--system", pid))}
        expect(truth.keys() < with_system.keys(), "no goroutines of the runtime")
        for goid in with_system.keys() - truth.keys():
            frames, stack = with_system[goid]["frames"], with_system[goid]["stack"]
            expect(frames and frames[-1]["func"].startswith("runtime.") or stack in ("running", "changed"),
                   f"{with_system[goid]}")


PATTERNS = {  # and functions of which one is on each stack
    ("main.deep",): {"main.deep"}, ("main.(*seven).wait",): {"main.throughInterface"},
    ("main.seven.wait",): {"main.seven.wait"},
    ("main.inlinedReceive",): {"main.inlinedReceive"}, (":main.sends",): {"main.sends"},
    ("main.sends", "main.locks"): {"main.sends", "main.locks"}, ("main.read*",): {"main.readLocks", "main.readsPipe"},
    ("-r", r"main\.(sends|locks)$"): {"main.sends", "main.locks"}, ("-s", "chan send", "main.*"): {"main.sends"},
    ("runtime.throw",): set(),
}


@test(version=some_versions)
def gostacks_patterns(version):
    with Target("parked", version, "strip", args=["many=3"]) as target:
        truth = true_dump(target, version)
        pid = target.target_pid
        for args, names in PATTERNS.items():
            wanted = {g for g, (_, frames, _) in truth.items() if names & {f[0] for f in frames}}
            expect(len(wanted) >= len(names), f"{args}: only {wanted}")
            got = {r["goid"] for r in json_lines(gostacks("-j", pid, *args))}
            expect(got == wanted, f"{args}: {got}, in truth {wanted}")
        # the runtime's own functions are on the stacks, too, though not shown
        waiting = {g for g, (state, _, _) in truth.items() if state == "select"}
        expect({r["goid"] for r in json_lines(gostacks("-j", "runtime.selectgo", pid))} == waiting, f"{waiting}")
        expect(" 0 goroutines\n" in gostacks(pid, "runtime.throw"), "goroutines in runtime.throw")


# --- several processes ---

@test(version=some_versions)
def gostacks_several(version):
    name = f"several-{version.replace('.', '')}"
    with tempfile.TemporaryDirectory(prefix="bcc-gotools-") as folder:
        path = f"{folder}/{name}"
        shutil.copy(fixture("parked", version, "strip"), path)
        with Target("parked", version, path=path) as one, Target("parked", version, path=path) as two:
            truths = {t.target_pid: true_dump(t, version) for t in (one, two)}
            pids = sorted(truths)
            for args in (pids, ["-p", pids[0], "-p", pids[1], pids[0]], ["-n", name]):
                records = json_lines(gostacks("-j", *args))
                expect([r["pid"] for r in records] == sorted(r["pid"] for r in records), f"{args}: out of order")
                for pid, truth in truths.items():
                    compare_json(truth, [r for r in records if r["pid"] == pid])
                expect({r["pid"] for r in records} == set(pids), f"{args}: other processes")
            check_texts(name, truths, pids)
            everything = json_lines(gostacks("-j", "--all"))
            expect(set(pids) <= {r["pid"] for r in everything}, "--all is not all")
            one.child.kill()
            one.child.wait()
            done = run([tool_path("gostacks"), "-j", *map(str, pids)])
            expect(done.returncode == 1 and "no process with PID" in done.stderr, f"{done.stderr}")
            compare_json(truths[two.target_pid], json_lines(done.stdout))
    expect("no Go program runs whose name contains" in gostacks("-n", name, status=1), "it finds what has ended")


def check_texts(name, truths, pids):
    """Of which process each goroutine is, stands above all of them; folded stacks begin with it."""
    parts = re.split(rf"^(\d+) {name} \(go1\.\d+\): .*\n\n", gostacks("-a", *pids), flags=re.M)
    expect([int(p) for p in parts[1::2]] == pids, f"{parts[1::2]}, not {pids}")
    for pid, text in zip(pids, parts[2::2]):
        compare(truths[pid], parse(text))
    titles = re.findall(rf"^(\d+) {name} \(go1\.\d+\): (\d+) goroutines: ", gostacks(*pids), re.M)
    expect([(int(p), int(n)) for p, n in titles] == [(p, len(truths[p])) for p in pids], f"{titles}")
    counts = dict.fromkeys(pids, 0)
    for line in gostacks("-f", *pids).splitlines():
        counts[int(re.match(rf"{name}-(\d+);", line)[1])] += int(line.rsplit(" ", 1)[1])
    expect(counts == {p: len(truths[p]) for p in pids}, f"{counts}")
    # a process without any that are asked for has no title
    expect(gostacks("-s", "no such state", *pids) == "", "titles of nothing")


# --- goroutines that come and go ---

def line_of(text, path=FIXTURE):
    with open(path, encoding="utf-8") as file:
        return next(n for n, line in enumerate(file, 1) if text in line)


def sides():
    """{function: (line of its call of itself, of middle, of it in churnOnce)}"""
    return {f"main.{f}": (line_of(f"return {f}(n-1, ch)"), line_of(f"func {f}(") + 2, line_of(f"\t{f}(n%5, ch)"))
            for f in ("left", "right")}


def check_churning(record, table, middle):
    """Could the program ever have such a stack?"""
    expect(record["state"] != "running" or not record["frames"], f"{record}")
    frames = [(f["func"], f["line"]) for f in record["frames"] if f["func"].startswith("main.")]
    names = [name for name, _ in frames]
    if "main.churnOnce" not in names:
        expect("main.left" not in names and "main.right" not in names, f"{record}")
        return False
    outer = names.index("main.churnOnce")
    expect(re.match(r"main\.churn\.(func|gowrap)", names[outer + 1]) and outer + 2 == len(names), f"{record}")
    inner = frames[:outer]
    if not inner:
        return False
    side = inner[-1][0]
    expect(side in table and frames[outer][1] == table[side][2], f"{record}")
    if inner[0][0] == "main.middle":
        expect(inner[0][1] in middle and inner[1] == (side, table[side][1]), f"{record}")
        inner = inner[2:]
        expect(all(f == (side, table[side][0]) for f in inner), f"{record}")
        return True
    expect(all(name == side for name, _ in inner), f"{record}")
    expect(all(line == table[side][0] for _, line in inner[1:]), f"{record}")
    return False


@test(version=some_versions, seldom=of_older)
def gostacks_churning(version):
    table, middle = sides(), [line_of("func middle(") + i for i in (0, 1)]
    seen, unread, read = 0, 0, 0
    with Target("parked", version, "strip", args=["churn=200", "many=1000"]) as target:
        for _ in range(20):
            records = json_lines(gostacks("-j", target.target_pid))
            for record in records:
                seen += check_churning(record, table, middle)
            stable = [r for r in records if r["frames"] and r["frames"][0]["func"] == "main.receives"]
            expect(len(stable) >= 1000, f"only {len(stable)} of those that stay")
            unread += sum(r["stack"] in ("changed", "unknown") for r in records)
            read += len(records)
            with open(f"/proc/{target.target_pid}/status", encoding="utf-8") as file:
                expect("TracerPid:\t0" in file.read(), "the target is traced")
        target.go()
        target.go()
        expect(target.wait() == 0, target.said())
        churned = int(re.search(r"churned (\d+)", target.out.text())[1])
    expect(seen >= 100, f"only {seen} stacks of goroutines that come and go")
    expect(churned >= 1000, f"only {churned} goroutines came and went")
    expect(unread <= read / 100, f"{unread} of {read} stacks could not be read")


@test(version=some_versions)
def gostacks_swinging(version):
    """Goroutines that run and wait about as fast as they are read: while one runs, what is left of an old call lies
    below a new one. Each function is called where only it is, and waits where only it does."""
    path = TESTS + "/fixtures/swings.go"
    true = {f: (line_of(f"func {f}(", path) + 4, line_of(f"\t{f}(turn", path)) for f in ("left", "right")}
    seen = set()
    with Target("swings", version, "strip", args=["many=200", "pairs=2"]) as target:
        with Tool("gostacks", "-j", "-i", "5ms", "-d", "4", target.target_pid) as tool:
            expect(tool.wait() == 0, tool.said())
            records = json_lines(tool.out.text())
        target.go()
        target.go()
        expect(target.wait() == 0, target.said())
    for record in records:
        frames = [(f["func"].removeprefix("main."), f["line"]) for f in record["frames"]]
        if record["state"] == "chan receive" and "swing" in dict(frames):
            side = frames[0][0]
            expect(frames[:2] == [(side, true[side][0]), ("swing", true[side][1])], f"{record}")
            seen.add(side)
    swung = int(re.search(r"swung (\d+)", target.out.text())[1])
    expect(seen == set(true) and len(records) >= 30, f"only {len(records)} changes, with {seen}")
    expect(swung >= 1000, f"only {swung} turns")


# --- what is refused ---

@test()
def gostacks_refuses():
    with subprocess.Popen(["sleep", "60"]) as sleep:
        try:
            expect("not a Go program" in gostacks(sleep.pid, status=1), "sleep is a Go program")
        finally:
            sleep.kill()
    said = gostacks(sleep.pid, status=1)
    expect("no process with PID" in said, f"of a process that has ended: {said}")
    for args, why in (([], "no PID, -n NAME or --all given"), (["main.*"], "no PID, -n"),
                      ([1, "--all"], "exclude each other"), (["-n", "x", "--all"], "exclude each other"),
                      (["-p", "x"], "not a process ID"), (["-f", "-j", 1], "exclude each other"),
                      ([0], "not a process ID"), (["-r", 1, "("], "regular expression"),
                      (["-i", 1, "-a", 1], "-i shows what has changed"), (["-d", 5, 1], "-d and -T need -i"),
                      (["--stop", "-i", 1, 1], "not with -i"),
                      (["-g", "0", 1], "not a goroutine's ID"), ([1, "--", "ls"], "starts no COMMAND")):
        expect(why in gostacks(*args, status=2), f"{args}: not {why}")


@test(tool=["gostacks", "goheap"])
def readers_patterns(tool):
    """A PATTERN that no function has is no answer; of several, those that have one count. Inlined ones have."""
    with Target("parked", "1.27", "strip", ["many=3"]) as target:
        done = run([tool_path(tool), str(target.target_pid), "main", "nothing.*"])
        expect((done.returncode, done.stdout) == (1, ""), f"{done}")
        expect(done.stderr.startswith(f'{tool}: no function matches "main"\nhint: '), done.stderr)
        done = run([tool_path(tool), str(target.target_pid), "main", "main.main", ":runtime.*"])
        expect(done.returncode == 0 and str(target.target_pid) in done.stdout, f"{done}")
        expect(re.fullmatch(f'{tool}: warning: no function matches "main"; .*\n', done.stderr), done.stderr)


@test()
def gostacks_no_such_state():
    """Half of a state's name is none; those that have it in theirs are named."""
    with Target("parked", "1.27", args=["many=3"]) as target:
        done = run([tool_path("gostacks"), "-s", "CHAN", str(target.target_pid)])
        expect(done.returncode == 0 and ": 0 goroutines" in done.stdout, f"{done}")
        said = done.stderr.removeprefix('gostacks: no goroutine is in state "CHAN"; there are ').rstrip("\n")
        states = dict(reversed(re.fullmatch(r'(\d+) in "(.*)"', one).groups()) for one in said.split(", "))
        for state, count in states.items():
            expect(state.startswith("chan "), f"{states}")
            shown = gostacks("-s", state, target.target_pid)
            expect(shown.split(": ")[1].startswith(f"{count} goroutine"), f"{state}: {count}: {shown}")
        done = run([tool_path("gostacks"), "-s", "runnable", str(target.target_pid)])
        expect(done.returncode == 0 and not done.stderr, f"{done}")


@test()
def gostacks_refuses_gccgo():
    with Target("stacks", "gccgo", "plain") as target:
        expect("built by gccgo" in gostacks(target.target_pid, status=1), "it reads gccgo's goroutines")


@test(version=some_versions)
def gostacks_without_privileges(version):
    """One's own processes need no root, and others' are refused."""
    with Target("parked", version, "strip") as target:
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all",
                               tool_path("gostacks"), str(target.target_pid)],
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 1 and "Permission denied" in done.stderr and "CAP_SYS_PTRACE" in done.stderr,
               f"{done}")


@test(version=some_versions)
def gostacks_of_a_user(version):
    """The target runs as somebody else than root, and so does the tool."""
    scope = "/proc/sys/kernel/yama/ptrace_scope"
    forbidden = False
    if os.path.exists(scope):
        with open(scope, encoding="utf-8") as file:
            forbidden = file.read().strip() != "0"
    with Target("parked", version, "strip",
                argv=lambda path: ["setpriv", "--reuid=65534", "--clear-groups", path]) as target:
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", tool_path("gostacks"),
                               str(target.target_pid)], capture_output=True, text=True, check=False)
        if forbidden:
            expect("ptrace_scope" in done.stderr, f"{done}")
        else:
            expect(done.returncode == 0 and "main.receives" in done.stdout, f"{done}")
