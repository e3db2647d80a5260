# SPDX-License-Identifier: Apache-2.0
"""goheap --retained: what keeps objects alive, of a program that keeps some in known ways."""

import json
import os
import re
import tempfile

from harness import Target, expect, json_lines, newest, run, test, tool_path, two_versions, versions

from test_goheap_objects import STOPPED
from test_gostacks_core import ONE_AT_A_TIME, crash, crashing


def retained(what, *args, stop=True):
    done = run([tool_path("goheap"), "--retained", what, *(["--stop"] if stop else []), *map(str, args)])
    expect(done.returncode == 0 and re.fullmatch(STOPPED if stop else "", done.stderr),
           f"goheap --retained {what} {args}: {done.returncode}: {done.stderr}")
    return done.stdout


def told(target):
    return json.loads(next(line for line in target.out.text().splitlines() if line.startswith("{")))


def step(at):
    name = at["go_type"] or f"? {at['size']}"
    return name + (" " + at["field"] if at.get("field") else "") + (" (more)" if at.get("repeated") else "")


def chains(rows):
    """{path: (objects, bytes, and what they keep)}; the path begins with its root."""
    found = {}
    for row in rows:
        expect(row["type"] == "retained" and not any(at.get("cut") for at in row.get("path", [])), f"{row}")
        root = {"stack": lambda r: f"{r['func']}{' and others' if r['others'] else ''}", "variable": lambda r: r["name"],
                "none": lambda r: None}.get(row["root"], lambda r: r["root"])(row)
        path = (root, *map(step, row.get("path", [])))
        expect(path not in found, f"twice: {path}")
        found[path] = tuple(row[n] for n in ("objects", "bytes", "retained_objects", "retained_bytes"))
    return found


def same(found, want):
    expect(found == want, f"{found}, not {want}")


def compare_specials(ask, version):
    """What only finalizers and cleanups keep: objects of 144, 160 and 176 bytes. All words of a g count: now and then
    a register had one of them, or one begins where a stack ends."""
    kinds = [("main.sealed", "finalizer", 20, 144), ("main.note", "finalizer", 1, 160)]
    kinds += [("main.token", "cleanup", 1, 176)] if version >= "1.24" else []
    paths = []
    for what, root, count, size in kinds:
        found = ask(what)
        same([sum(numbers[i] for numbers in found.values()) for i in (0, 1)], [count, count * size])
        expect(all(path[0] in (root, None) or path[0].startswith("runtime.all") for path in found), f"{found}")
        paths += [path for path in found if path[0] == root]
    closure = "? 32" if version == "1.15" else "? 24"  # a size that there was no class for
    known = {("finalizer", "main.sealed"), ("finalizer", closure, "main.note")}
    expect(paths and all(path in known or path[::len(path) - 1] == ("cleanup", "main.token") for path in paths), f"{paths}")


def compare(ask, truth, version, named=True):
    """Objects of 128, 112, 96, 80, 64, 48 and 32 bytes: see the fixture."""
    kept, group = ("main.kept", "map.bucket[string]*main.room .elems[]") if named else (None, "")
    if version >= "1.24":
        group = "map.group[string]*main.room .slots[].elem"
    elif not named:
        group = "map.bucket[string]*main.room .elems[]"
    # main.shared keeps what all of them refer to
    guests = {
        (kept, "main.house .chain", "main.link .guest (more)", "main.guest"): (1000, 64000, 2000, 112000),
        (kept, "main.house .rooms", "map[string]*main.room", group, "main.room .guests", "[]*main.guest", "main.guest"):
            (100, 6400, 200, 11200),
        (kept, "main.house .left", "main.guest"): (1, 64, 2, 112),
    }
    same(chains(ask("main.guest")), guests)
    same(chains(ask("main.visitor")),
         {("main.visit and others", "? 64", "main.visitor"): (3, 240, 6, 384)})
    same(chains(ask("main.link")), {(kept, "main.house .chain", "main.link"): (1000, 32000, 3000, 144000)})
    # all words of a g count: what a register had, and the end of its stack, where another object begins
    wasted = chains(ask("main.waste"))
    same([sum(numbers[i] for numbers in wasted.values()) for i in (0, 1)], [10, 1120])
    for path in wasted:
        expect(path[0] is None or path[0].startswith("runtime.all"), f"{wasted}")
    (path, numbers), *more = chains(ask("main.ticket")).items()
    expect(not more and numbers == (1, 96, 2, 144) and path[-1] == "main.ticket" and
           path[-2].startswith("func main.leak") and (not named or path[0].startswith("runtime.all")),
           f"{path}: {numbers}")
    compare_specials(lambda what: chains(ask(what)), version)
    # by address: of unknown types, and into an object
    same(chains(ask(hex(truth["dark"]))),
         {("main.dark" if named else None, "? 128", "? 128"): (1, 128, 29, 3712)})
    same(chains(ask(hex(truth["guest"] + 8))), {(kept, "main.house .left", "main.guest"): (1, 64, 2, 112)})
    same(chains(ask(hex(truth["link"]))), {(kept, "main.house .chain", "main.link"): (1, 32, 3000, 144000)})


@test(version=versions)
def goheap_retained_all(version):
    with Target("retains", version, "plain") as target:
        compare(lambda what: json_lines(retained(what, "-j", target.target_pid)), told(target), version)


@test(version=two_versions, flavour=["strip", "pie", "cgopie"])
def goheap_retained_built(version, flavour):
    with Target("retains", version, flavour) as target:
        compare(lambda what: json_lines(retained(what, "-j", target.target_pid)), told(target), version,
                flavour != "strip")


@test(version=two_versions)
def goheap_retained_core(version):
    with tempfile.TemporaryDirectory() as folder, ONE_AT_A_TIME, \
            Target("retains", version, "plain", argv=crashing(folder)) as target:
        truth = told(target)
        core = crash(target, folder)
        compare(lambda what: json_lines(retained(what, "-j", "--core", core, target.path, stop=False)), truth, version)


@test(version=versions)
def goheap_retained_queued(version):
    """What waits until a finalizer or a cleanup is done that never is: objects of 192 and 208 bytes. The finalizer
    that runs is in its queue still; what a cleanup that runs has been given is on its stack, or garbage."""
    with Target("retains", version, "strip", ["queue"]) as target:
        finalizers = chains(json_lines(retained("main.queued", "-j", target.target_pid)))
        same([sum(numbers[i] for numbers in finalizers.values()) for i in (0, 1)], [150, 150 * 192])
        expect(finalizers.get(("queued finalizer", "main.queued"), [0])[0] >= 149, f"{finalizers}")
        if version < "1.24":
            return
        cleanups = chains(json_lines(retained("main.message", "-j", target.target_pid)))
        queued = [numbers[0] for path, numbers in cleanups.items() if path[0] == "queued cleanup"]
        expect(30 - os.cpu_count() <= sum(queued) <= 30, f"{cleanups}")


@test()
def goheap_retained_text():
    with Target("retains", newest(), "strip") as target:
        pid = target.target_pid
        text = retained("main.[gv]", "-r", pid)
        rows = json_lines(retained("main.[gv]", "-r", "-j", pid))
        expect(text.startswith(f"{pid} retains (go{newest()}): 70704 bytes in 1104 objects\n"
                               "without them, 123696 bytes in 2208 objects would be garbage\n"), text[:300])
        found = re.findall(r"^ *(\d+) +(\d+) +(\d+) 0x[0-9a-f]+$", text, re.M)
        expect([tuple(map(int, numbers)) for numbers in found] ==
               [(r["retained_bytes"], r["bytes"], r["objects"]) for r in rows], f"{found}")
        for part in [r"^        goroutine \d+ and others, main.visit$", r"^        variable retains\+0x[0-9a-f]+$",
                     r"^        main.link .guest \(more than one\)$", r"^        main.house .left$"]:
            expect(re.search(part, text, re.M), f"{part}: {text}")
        expect(max(map(len, text.splitlines())) <= 80, "wider than 80 columns")
        expect("garbage, until it is swept" in retained("main.waste", pid), "garbage is not said to be it")


@test()
def goheap_retained_refused():
    for args, message in [
            (["main.T", "1"], "--retained needs a process that stands still"),
            (["main.T", "--stop", "1", "main.*"], "--retained names the type: no PATTERN stands with it"),
            (["main.T", "--stop", "--objects", "1"], "--objects and --retained exclude each other"),
            (["main.T", "--stop", "-f", "1"], "-f shows the profile: not with --retained"),
            (["0x", "--stop", "1"], "--retained 0x: not an address"),
            (["0xc00000000000000001", "--stop", "1"], "--retained 0xc00000000000000001: not an address")]:
        done = run([tool_path("goheap"), "--retained", *args])
        expect(done.returncode == 2 and f"goheap: {message}\n" in done.stderr, f"{done.returncode}: {done.stderr}")
    with Target("retains", newest(), "strip") as target:
        for what, message in [("main.nothing", 'no type of the objects in its heap matches "main.nothing"'),
                              ("HOUSE", "types with this in their names: main.house\n"),
                              ("0x1000", "0x1000 is in no object of its heap")]:
            done = run([tool_path("goheap"), "--retained", what, "--stop", str(target.target_pid)])
            expect(done.returncode == 1 and message in done.stderr and not done.stdout, f"{what}: {done.stderr}")
