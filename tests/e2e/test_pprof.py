# SPDX-License-Identifier: Apache-2.0
"""--pprof: what `go tool pprof` makes of the file is what the tool itself has printed of the same run."""

import os
import re
import shutil
import signal
import stat
import tempfile
import time

import pprof
from harness import (Target, Tool, expect, fixture, json_lines, newest, plain_name, run, some_versions, test, tool_path,
                     two_versions)

from test_goleaks import command
from test_offcpu import BLOCK

ALL_FLAGS = "[FN][FL][LN][IN]"


def frames_of(stack):
    return tuple((frame["func"], frame["file"] or "", frame["line"] or 0) for frame in stack)


def by_stack(rows):
    """{(frames, ...): values} of what comes in parts"""
    sums = {}
    for key, values in rows:
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(values)), values)]
    return sums


def offcpu_rows(records):
    return by_stack(((frames_of(r["stack"]), r["state"], str(r["pid"]), r["comm"]), [r["waits"], r["total_ns"]])
                    for r in records if r["waits"])


def wakeup_rows(records):
    return by_stack(((frames_of(r["waker"]) or ((f"[{r['by']}]", "", 0),), r["state"], str(r["pid"]), r["comm"], r["by"],
                      r["woken"]["func"]), [r["wakeups"], r["total_ns"]]) for r in records)


def lock_rows(records):
    """Those who wait and those who held; of all intervals"""
    for lock in records:
        same_of_all = [lock["name"] or lock["addr"], lock["addr"], lock["kind"], str(lock["pid"]), lock["comm"]]
        for r in lock["waiters"]:
            yield ((frames_of(r["stack"]) or (("[lost]", "", 0),), *same_of_all, r["op"], None),
                   [r["waits"], r["total_ns"], 0])
        for r in lock["holders"]:
            yield ((frames_of(r["stack"]) or ((f"[{r['held_by']}]", "", 0),), *same_of_all, None, r["held_by"]),
                   [0, 0, r["ns"]])


TRACERS = {"gooffcputime": (offcpu_rows, ["state", "pid", "comm"], ["waits/count", "delay/nanoseconds"]),
           "gowakeups": (wakeup_rows, ["state", "pid", "comm", "by", "woken"], ["wakeups/count", "delay/nanoseconds"]),
           "golocks": (lambda records: by_stack(lock_rows(records)),
                       ["lock", "addr", "kind", "pid", "comm", "op", "held_by"],
                       ["waits/count", "delay/nanoseconds", "held/nanoseconds"])}


def same(got, wanted):
    wrong = [f"{key}: {got.get(key)} in the file, {wanted.get(key)} printed" for key in {*got, *wanted}
             if got.get(key) != wanted.get(key)]
    expect(not wrong and wanted, "\n".join(wrong[:5]))


def agrees(path, rows, types, version):
    """-top and -traces say the same as the rows that the tool has printed"""
    for index, (name, unit) in enumerate(text.split("/") for text in types):
        known = {func: sums for func, sums in pprof.functions(rows, index).items() if sums[1]}
        same(pprof.top(path, name, unit, version), known)
        same(by_stack(((tuple(funcs),), [value]) for value, funcs in pprof.traces(path, name, unit, version)),
             by_stack(((tuple(frame[0] for frame in key[0]),), [values[index]]) for key, values in rows.items()
                      if values[index]))


def maps(pid, path):
    """(from, to, offset) of what a process may execute of a file"""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        found = re.findall(r"^(\w+)-(\w+) r-xp (\w+) \S+ \d+ +(.+)$", file.read(), re.M)
    return [tuple(int(n, 16) for n in numbers) for *numbers, name in found if name.replace(" (deleted)", "") == path]


def build_id(path):
    found = re.search(r"Build ID: ([0-9a-f]+)", run(["readelf", "-nW", path]).stdout)
    return found.group(1) if found else ""


def check_places(profile, where, path, build):
    """One mapping, as the kernel has it; all addresses are in it"""
    expect([*profile.mappings.values()] == [(*where[0], path, build)], f"{profile.mappings}, {where} {path} {build}")
    expect(profile.flags == {ALL_FLAGS}, f"{profile.flags}")
    for addr, mapping, lines in profile.locations.values():
        if mapping is None:
            expect(addr == 0 and lines[0][0].startswith("["), f"{lines}")
        else:
            expect(where[0][0] <= addr < where[0][1], f"{addr:#x} {lines}")


def check_lines(profile, path, version):
    """Of each address, all but the outermost call are inlined; first lines are where functions are declared"""
    lines = [line for _, _, lines in profile.locations.values() for line in lines]
    expect(any(len(lines) > 1 for _, _, lines in profile.locations.values()), f"nothing inlined: {path}")
    main = {name: first for name, _, _, first in lines if name.startswith("main.") and ".func" not in name}
    if int(version.split(".")[1]) < 20:
        expect(not any(first for *_, first in lines), f"{lines}")
        return
    source = os.path.join(os.path.dirname(__file__), "../fixtures/states/states.go")
    with open(source, encoding="utf-8") as file:
        declared = {name: n for n, text in enumerate(file, 1) for name in re.findall(r"^func (\w+)\(", text)}
    wrong = {name: first for name, first in main.items() if declared.get(name[5:]) not in (first, None)}
    expect(not wrong and len(main) > 8, f"{wrong} {main}")
    expect(all(first for _, file, _, first in lines if file.endswith(".go")), f"{lines}")


def check_inlined(profile, records):
    """Calls that are inlined into each other are lines of one location"""
    wanted = set()
    for record in records:
        lines = []
        for frame in record["stack"] if record["waits"] else []:
            lines.append(frames_of([frame])[0])
            if not frame.get("inlined"):
                wanted.add(tuple(lines))
                lines = []
    got = {tuple(line[:3] for line in lines) for _, _, lines in profile.locations.values()}
    # what C calls is inlined into a wrapper, which is not shown
    wrong = [lines for lines in got ^ wanted if not any(name == "main.goCalledBack" for name, *_ in lines)]
    expect(not wrong, f"{wrong}")


def traced(tool, target, file, *args):
    """(records, where the program is in memory) of a run of the fixture, whose profile is in `file`"""
    with Tool(tool, "-j", "--pprof", file, *args, "-p", target.target_pid).tracing() as tracer:
        where = maps(target.target_pid, os.path.realpath(target.path))
        target.go()
        target.wait_line("done")
        records = tracer.stop()
    target.go()
    return records, where


def check(tool, version, target, *args, gone=False):
    file, real = os.path.join(target.folder.name, "out.pb.gz"), os.path.realpath(target.path)
    build = build_id(target.path)
    if gone:
        os.unlink(target.path)
    make, labels, types = TRACERS[tool]
    records, where = traced(tool, target, file, *args)
    rows = make(records)
    for reader in "1.15", "1.24":
        profile = pprof.Profile(file, reader)
        expect(profile.types == types and profile.shown == 1, f"{profile.types} {profile.shown}")
        same(profile.rows(*labels), rows)
        agrees(file, rows, types, reader)
    check_places(profile, where, real, build)
    expect(re.search(r"Duration: [\d.]+", profile.head) and tool in profile.head, profile.head)
    expect(os.listdir(target.folder.name).count("out.pb.gz") == 1 and not
           [name for name in os.listdir(target.folder.name) if name.endswith(".tmp")], "files are left")
    if target.argv[0].endswith("states"):
        check_lines(profile, target.argv[0], version)
        check_inlined(profile, records)


@test(version=some_versions, flavour=["plain", "strip", "pie"])
def pprof_offcpu(version, flavour):
    """Row by row, function by function, and each address where the process had it"""
    with Target("states", version, flavour) as target:
        check("gooffcputime", version, target)


@test(flavour=["cgo", "cgopie"])
def pprof_cgo(flavour):
    pprof_offcpu(newest(), flavour)


@test(flavour=["plain", "pie"])
def pprof_deleted(flavour):
    """Of a program whose file is gone: where it was"""
    with Target("states", newest(), flavour) as target:
        check("gooffcputime", newest(), target, gone=True)


@test()
def pprof_contained():
    """Of a program that sees other files: its path is the one that it sees"""
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, "app")
        shutil.copy(fixture("states", newest()), path)
        with Target("states", newest(), path=path, argv=lambda path: ["chroot", root, "/app"]) as target:
            file = os.path.join(target.folder.name, "out.pb.gz")
            _, where = traced("gooffcputime", target, file)
            check_places(pprof.Profile(file), where, "/app", build_id(path))


@test(version=some_versions)
def pprof_wakeups(version):
    """The waker's stack, or what it is where none has one"""
    with Target("wakeups", version, args=["rounds=5"]) as target:
        check("gowakeups", version, target)


@test(version=some_versions, flavour=["plain", "strip"])
def pprof_locks(version, flavour):
    """Who waits and who holds, of all intervals together"""
    with Target("locks", version, flavour) as target:
        check("golocks", version, target, *(["-i", "0.2"] if flavour == "strip" else []))


@test()
def pprof_text():
    """The text of the same run, and processes of a file, each with its own places"""
    with Target("states", newest(), "pie") as target:
        file = os.path.join(target.folder.name, "out.pb.gz")
        command = f"{target.path} now & {target.path} now & wait"
        done = run([tool_path("gooffcputime"), "--pprof", file, target.path, "--", "sh", "-c", command])
        expect(done.returncode == 0, done.stderr)
        profile = pprof.Profile(file)
    stack = re.compile(r"^    (\S+) (\S+):(\d+)$", re.M)
    printed = by_stack(((tuple((f, p, int(n)) for f, p, n in stack.findall(text)), state, pid),
                        [int(waits), int(us)]) for text, _, pid, state, us, waits, _ in BLOCK.findall(done.stdout))
    rows = by_stack(((tuple((plain_name(func), os.path.basename(name), n) for func, name, n in key[0]), *key[1:]), values)
                    for key, values in profile.rows("state", "pid").items())
    expect(len({key[2] for key in rows}) == 2 and len(profile.mappings) == 2, f"{profile.mappings}")
    same({key: [waits, ns // 1000] for key, (waits, ns) in rows.items()}, printed)


@test()
def pprof_generic_names():
    """Methods of types with arguments keep their names: pprof would cut off what is C++ to it."""
    with Target("locks", newest()) as target:
        file = os.path.join(target.folder.name, "out.pb.gz")
        records, _ = traced("golocks", target, file)
        names = {frame["func"] for lock in records for r in lock["waiters"] for frame in r["stack"]
                 if "(" in frame["func"] and "[" in frame["func"]}
        expect(names and names <= {*pprof.top(file, "waits", "count", "1.15")}, f"{names}")


def goroutine_rows(records):
    return by_stack(((frames_of(r["frames"]) or ((f"[{r['stack']}]", "", 0),), r["state"], str(r["pid"]),
                      (r["created_by"] or {"func": None})["func"]), [1]) for r in records)


@test(version=some_versions, flavour=["plain", "strip", "pie"])
def pprof_goroutines(version, flavour):
    """Of several processes, each goroutine counted by where it is"""
    with Target("parked", version, flavour, args=["many=3"]) as one, Target("parked", version, flavour) as other:
        file, pids = os.path.join(one.folder.name, "out.pb.gz"), [str(one.target_pid), str(other.target_pid)]
        done = run([tool_path("gostacks"), "-j", "--pprof", file, *pids])
        where = {maps(target.target_pid, os.path.realpath(target.path))[0] for target in (one, other)}
        expect(done.returncode == 0, done.stderr)
        rows = goroutine_rows(json_lines(done.stdout))
        profile = pprof.Profile(file)
        expect(profile.types == ["goroutines/count"] and profile.shown == 0, f"{profile.types}")
        expect([3] in rows.values(), f"{rows}")
        same(profile.rows("state", "pid", "created_by"), rows)
        agrees(file, rows, profile.types, "1.24")
        expect({mapping[:3] for mapping in profile.mappings.values()} == where and
               {mapping[3] for mapping in profile.mappings.values()} == {*map(os.path.realpath, (one.path, other.path))},
               f"{profile.mappings} {where}")


def leak_rows(looks):
    """What lives at the last look, and what was born and has ended at all of them"""
    rows = [((((leak["created_by"]["func"], leak["created_by"]["file"], leak["created_by"]["line"])
               if leak["created_by"] else ("[unknown]", "", 0)),), [0, leak["born"], leak["ended"]])
            for look in looks for leak in look]
    last = [((((leak["created_by"]["func"], leak["created_by"]["file"], leak["created_by"]["line"])
               if leak["created_by"] else ("[unknown]", "", 0)),), [leak["live"], 0, 0]) for leak in looks[-1]]
    return {(key,): values for key, values in by_stack(rows + last).items() if any(values)}


@test(version=two_versions, exact=["looks", "exact"])
def pprof_leaks(version, exact):
    """By go statement, over all looks"""
    with Target("leaks", version) as target:
        file = os.path.join(target.folder.name, "out.pb.gz")
        command(target, "jobs 3")
        options = ["-i", "100ms", *(["--exact"] if exact == "exact" else [])]
        with Tool("goleaks", "-j", "--pprof", file, *options, target.target_pid) as tool:
            tool.wait_line('{"type":"leak"')
            for text in "sends 3", "jobs 40", "end 41", "sends 2":
                command(target, text)
                time.sleep(0.15)
            records = tool.stop()
        looks = {}
        for record in records:
            looks.setdefault(record["interval_ns"], []).append(record)
        profile = pprof.Profile(file)
        expect(profile.types == ["live/count", "born/count", "ended/count"] and profile.shown == 0, f"{profile.types}")
        rows = leak_rows([*looks.values()])
        same(profile.rows(), rows)
        agrees(file, rows, profile.types, "1.24")
        sums = {key[0][0][0]: values for key, values in rows.items()}
        expect(sums["main.startSends"] == [5, 5, 0] and sums["main.startJobs"] == [2, 40, 41], f"{sums}")


def call_rows(records, message):
    return by_stack(((tuple((f["func"] or "[unknown]", f.get("file") or "", f.get("line") or 0) for f in r["stack"]) +
                      ((("...", "", 0),) if r.get("stack_cut") else ()), message(r), str(r["pid"])), [1]) for r in records)


@test(version=some_versions)
def pprof_creators(version):
    """A recipe's: what each go statement has started, and where"""
    with Target("leaks", version, "pie") as target:
        file = os.path.join(target.folder.name, "out.pb.gz")
        with Tool("gocreators", "-j", "--pprof", file, "-p", target.target_pid).tracing() as tool:
            where = maps(target.target_pid, os.path.realpath(target.path))
            command(target, "jobs 3")
            command(target, "sends 4")
            records = tool.stop()
        profile = pprof.Profile(file)
        rows = call_rows(records, lambda r: r["starts"])
        same(profile.rows("starts", "pid"), rows)
        agrees(file, rows, profile.types, "1.24")
        expect(pprof.top(file, "calls", "count")["main.startSends"] == (0, 4), "not 4 sends")
        check_places(profile, where, os.path.realpath(target.path), build_id(target.path))
        calls = {frame["addr"] - bool(n) for r in records for n, frame in enumerate(r["stack"])}
        expect({addr for addr, *_ in profile.locations.values()} == calls, f"{calls}")


@test()
def pprof_calls():
    """Of gotrace those that it prints, though it prints no stacks"""
    with Target("leaks", newest()) as target:
        file = os.path.join(target.folder.name, "out.pb.gz")
        with Tool("gotrace", "--pprof", file, "-f", "4", "-p", target.target_pid, 'main.start* "%d", n') as tool:
            tool.wait_line("PID")
            for text in "jobs 3", "sends 4", "jobs 4", "sends 4":
                command(target, text)
            tool.signal(signal.SIGINT)
            expect(tool.wait() == 0 and "main.main" not in tool.out.text(), tool.said())
        rows = pprof.Profile(file).rows("func", "message")
        expect({key[1:]: values for key, values in rows.items()} ==
               {("main.startSends", "4"): [2], ("main.startJobs", "4"): [1]}, f"{rows}")
        expect({key[0][-1][0] for key in rows} == {"runtime.main"}, f"{rows}")


@test()
def pprof_refused():
    """A file that cannot be written is refused before anything is traced; what is no file is left alone."""
    with Target("states", newest()) as target:
        folder = target.folder.name
        link, pipe = os.path.join(folder, "link"), os.path.join(folder, "pipe")
        os.symlink("/dev/null", link)
        os.mkfifo(pipe)
        for path, said in ((folder + "/no/out.pb.gz", "No such file"), (folder, "Is a directory"),
                           (link, "no regular file"), (pipe, "no regular file"), ("/dev/null", "no regular file")):
            done = run([tool_path("gooffcputime"), "--pprof", path, "-p", str(target.target_pid)])
            expect(done.returncode == 1 and done.stderr.startswith("gooffcputime: --pprof: ") and said in done.stderr,
                   f"{path}: {done.returncode} {done.stderr}")
        expect(stat.S_ISCHR(os.stat("/dev/null").st_mode) and os.path.islink(link), "something was replaced")
        target.go()
        target.go()
