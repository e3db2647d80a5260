# SPDX-License-Identifier: Apache-2.0
"""What gotrace reads by tables of steps is what compiled code reads: of the same calls of the same
process, two tracers print the same. And when which of the two serves."""

import os
import re
import signal

from harness import TESTS, Skip, Target, expect, fixture, json_lines, newest, run, test

from gotrace import Tracer, rows
from test_losses import told
from test_trace_args import PARTS

ALL = [pattern for part in PARTS.values() for pattern in part]
WILD = [f":main.takes{what}" for what in ("Text", "Bytes", "Interface", "Error", "Map", "Ring", "Others")]
PROGRAMS = {  # the functions of fixtures
    "args": ALL, "traced": [":main.*"], "pointers": WILD, "restarts": [":main.unused*"],
    "stringers": [":main.show*"], "after": [":main.fill", ":main.array", ":main.numbers", ":main.write"]}
HEADER = re.compile(r"(TIME.* )?(CPU +)?PID  ")
SERVED = re.compile(r"^gotrace: arguments are read by (?!code instead)(.*)", re.M)


def by(tables, **more):
    return dict(os.environ, GOTOOLS_TABLES=tables, **more)


def kernel():
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def served(tracer):
    """How, by what -v says"""
    return SERVED.search(tracer.err.text())[1]


def both_ways(target, *args):
    """The outputs of two tracers of the same calls: by tables and by code; and what these say of it"""
    with Tracer("-v", "-p", target.target_pid, *args, env=by("yes")) as tables:
        tables.attached()
        with Tracer("-v", "-p", target.target_pid, *args, env=by("no")) as code:
            code.attached()
            target.go()
            texts = tables.rest(), code.rest()
            said = served(tables), served(code)
    status = target.wait()
    expect(status == 0, f"the target ended with {status}: {target.said()}")
    if kernel() >= (5, 12):
        expect(" table" in said[0] and "table" not in said[1], f"served by {said}")
    else:
        expect("tables need atomic compare and exchange in BPF, of Linux 5.12" in said[0], f"served by {said}")
    return texts, said


def compare(got, true):
    wrong = [pair for pair in zip(got, true) if pair[0] != pair[1]]
    expect(true, "no calls")
    expect(got == true, f"{len(got)} calls by tables, {len(true)} by code; unlike: {wrong[:5]}")


@test(program=["args/1.15/strip", "args/1.27/strip", "traced/1.15/plain", "traced/1.27/plain",
               "pointers/1.15/plain", "pointers/1.27/plain", "restarts/1.27/pie", "stringers/1.27/plain"],
      seldom=lambda program: program in ("args/1.27/strip", "traced/1.15/plain", "pointers/1.15/plain"))
def tables_same(program):
    """Numbers, strings, slices, structs, pointers, maps, interfaces, floats: where DWARF tells types,
    or argument tables words; wild ones, and those that are lost"""
    name, version, flavour = program.split("/")
    with Target(name, version, flavour) as target:
        (tables, code), _ = both_ways(target, *PROGRAMS[name])
    compare(sorted(rows(tables)), sorted(rows(code)))


@test(program=["args/1.15/strip", "args/1.27/strip", "traced/1.15/plain", "traced/1.27/plain",
               "pointers/1.15/plain", "pointers/1.27/plain", "stringers/1.27/plain", "after/1.27/plain"],
      seldom=lambda program: program in ("args/1.15/strip", "traced/1.27/plain", "pointers/1.27/plain",
                                         "stringers/1.27/plain"))
def tables_same_at_return(program):
    """Arguments, results, and what calls have filled, on stacks that have moved; calls that panic, recurse"""
    name, version, flavour = program.split("/")
    with Target(name, version, flavour) as target:
        (tables, code), _ = both_ways(target, *("r" + pattern for pattern in PROGRAMS[name]))
    compare(sorted(rows(tables)), sorted(rows(code)))


@test(seldom=lambda: True)
def tables_same_gccgo():
    with Target("args", "gccgo") as target:
        (tables, code), _ = both_ways(target, "-U", ":main.Call0*")
    compare(rows(tables, stacks=True), rows(code, stacks=True))


@test(seldom=lambda: True)
def tables_at_return_gccgo():
    with Target("args", "gccgo") as target:
        (tables, code), _ = both_ways(target, "-U", "r:main.Call0*")
    compare(rows(tables, stacks=True), rows(code, stacks=True))


@test(version=["1.15", "gccgo"])
def tables_packed(version):
    """Parts of registers, by gccgo; the same on the stack"""
    with Target("packed", version) as target:
        (tables, code), _ = both_ways(target, ":main.TakesPacked")
    compare(rows(tables), rows(code))
    true = [f"a=[3]uint8{{1, 2, {200 + n}}} b=[7]uint8{{1, 2, 3, 4, 5, 6, {100 + n}}} c=[5]uint8{{9, 8, 7, 6, {n}}}"
            for n in range(5)]
    expect([row.text for row in rows(tables)] == true, tables)


@test(version=["1.15", "1.27"], options=[("-Z", "5"), ("-U", "-C", "-t"), ("-j", "-U")])
def tables_options(version, options):
    """Longer and shorter texts, stacks behind them, JSON"""
    with Target("traced", version) as target:
        (tables, code), _ = both_ways(target, *options, ":main.*")
    if "-j" in options:
        lines = [[{k: v for k, v in row.items() if k not in ("time", "ts")} for row in json_lines(text)
                  if row.get("type") == "call"] for text in (tables, code)]
    else:
        lines = [re.sub(r"^\d+[:.][\d:.]+ ", "", text, flags=re.M).splitlines() for text in (tables, code)]
        lines = [text[next(n for n, line in enumerate(text) if HEADER.match(line)):] for text in lines]
    compare(*lines)


@test(version=["1.15", "1.27"])
def tables_predicates(version):
    """Predicates are code beside the tables; a format that computes is code alone."""
    probes = [":main.add (a == 42)", ':main.greet (name == "bob" && opts.Loud)', ":main.changes (n > 2)",
              ':main.(*Store).Get (key == "one" || s.inner.Name == "x")', ":main.failing (err != nil)",
              ":main.wide (p.L[3] == 'd')", ":main.slowly (ms > 100)", ':main.long "%d", len(text) + 1',
              ":main.escapes"]
    with Target("traced", version) as target:
        (tables, code), said = both_ways(target, *probes)
    expect(said == ("8 tables, and by code for 1 signature", "code for 9 signatures"), f"served by {said}")
    compare(rows(tables), rows(code))
    expect([row.func for row in rows(tables)].count("main.changes") == 3, tables)


@test(version=["1.15", "1.27"])
def tables_predicates_at_return(version):
    """At entry, with results, with both; PROBEs with r: and without beside each other"""
    probes = ["r:main.add (a == 42)", "r:main.add (goret1 == 55)", "r:main.changes (n > 2 && $latency > 0)",
              "r:main.failing (err != nil)", "r:main.failing (err == nil)", ":main.greet", "r:main.greet (n > 1)",
              'r:main.escapes "%d %v", $latency / 1000000000, goargs', "r:main.long ($latency < 0)"]
    with Target("traced", version) as target:
        (tables, code), said = both_ways(target, *probes)
    expect(said[0] == "8 tables, and by code for 1 signature", f"served by {said}")
    compare(rows(tables), rows(code))
    expect([row.func for row in rows(tables)].count("main.changes") == 3, tables)


@test()
def tables_tail():
    """Calls that leave by a jump end where the function returns that they jump to."""
    with Target("promoted", newest()) as target:
        (tables, code), _ = both_ways(target, "r::main.*")
    compare(rows(tables), rows(code))


@test(probe=["", "r"], room=["many", "one"])
def tables_waiting(probe, room):
    """A call that waits for memory keeps its room, whatever runs meanwhile; calls for which there is no
    room are counted."""
    env = by("yes") if room == "many" else by("yes", GOTOOLS_ROOM="1")
    with Target("dead", newest(), args=["late"]) as target, \
            Tracer("-p", target.target_pid, probe + ":main.takesLate", probe + ":main.takesBeside", env=env) as tracer:
        tracer.attached()
        target.go()
        true = sum(track["calls"] for track in target.truth() if track["func"] in (
            "main.takesLate", "main.takesBeside"))
        got = rows(tracer.rest())
    values = {"main.takesLate": f'before=777 s="{40 * "L"}" after=888',
              "main.takesBeside": 'before=111 s="live live live" after=222'}
    wrong = [row for row in got if row.text.split(" -> ")[0] != values[row.func]]
    lost = told(tracer, "made by too many threads") + told(tracer, "not tracked: the map of calls")
    expect(not wrong, f"{wrong[:3]}")
    expect(len(got) + lost == true and (lost > 0) == (room == "one"), f"{len(got)} of {true}: {tracer.err.text()}")


def how(*probes, env=None):
    """How a tracer of a program that does not run serves"""
    with Tracer("-v", *probes, env=env) as tracer:
        tracer.attached()
        tracer.signal(signal.SIGINT)
        tracer.wait()
        return served(tracer)


@test()
def tables_chosen():
    """Where many functions of different signatures are traced"""
    path = fixture("args", "1.15")
    few = how(f"{path}:main.call00*")
    expect(few.startswith("code for "), f"few by {few}")
    many = how(f"{path}:main.call0*", f"{path}:main.call1*")
    expect(re.fullmatch(r"\d+ tables", many), f"many by {many}")
    at_return = how(f"r:{path}:main.call0*", f"r:{path}:main.call1*")
    expect(re.fullmatch(r"\d+ tables", at_return), f"at return by {at_return}")
    stated = how(f"r:{path}:main.call001 \"%d\", $running", f"{path}:main.call002", env=by("yes"))
    expect("for 1 signature" in stated, f"states by {stated}")


REFUSED = {"map": ({"REFUSED_MAP": "rooms"}, "Cannot allocate memory"),
           "program": ({"REFUSED_PROGRAM": "1000"}, "cannot load BPF program on_probe")}


@test(what=list(REFUSED))
def tables_refused(what):
    """A kernel that does not take the tables has the arguments read by code."""
    if os.environ.get("GOTOOLS_SANITIZED"):
        raise Skip("a sanitizer wants to be loaded first")
    env, why = REFUSED[what]
    with Target("traced", newest()) as target:
        library = target.folder.name + "/refuse_bpf.so"
        built = run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, TESTS + "/lib/refuse_bpf.c", "-ldl"])
        expect(built.returncode == 0, built.stderr)
        with Tracer("-v", "-p", target.target_pid, ":main.add", ":main.greet",
                    env=by("yes", LD_PRELOAD=library, **env)) as tracer:
            tracer.attached()
            target.go()
            got = [row.text for row in rows(tracer.rest())]
    said = tracer.err.text()
    expect(served(tracer) == "code for 2 signatures", said)
    expect("read by code instead of tables: " in said and why in said, said)
    expect(got == ["a=42 b=13", 'name="bob" n=3 opts=main.Opts{Loud:true, Level:2}'], f"{got}")
